"""What a project's folder holds for ingest: its chapters with their records."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from novelgen.errors import InvalidFileError, UserInputError
from runtime.files.paths import ProjectPaths
from runtime.files.project_files import chapter_files, load_chapter, load_records, record_files
from runtime.ingest.scene_input import SceneInput, scenes_of_chapter


class IngestSources:
    """The chapters to take in.

    Args:
        paths: The project's files.
        files: Chapter files to take in place of those in chapters/; none means those.
        records: True wants the records in records/, False leaves them, None takes them where they are.
        chapter: Only this chapter; None means all.

    Raises:
        UserInputError: When the chapter or the wanted records are not there.
        InvalidFileError: When two files claim one chapter.
    """

    def __init__(
        self, paths: ProjectPaths, *, files: Sequence[Path], records: bool | None, chapter: int | None
    ) -> None:
        self._records = {} if records is False else record_files(paths.records)
        if records and not self._records:
            raise UserInputError(
                f"there are no records in {str(paths.records)!r}; write chapter_001_records.json there, or "
                "leave out --records"
            )
        self.files = list(files) or _chosen(chapter_files(paths.chapters), chapter, paths)
        self._chapter = chapter if files else None

    def scenes(self, file: Path) -> list[SceneInput]:
        """Return the scenes of a chapter's file, each with its record where there is one.

        Raises:
            InvalidFileError: When the chapter or its records are wrong.
        """
        chapter = load_chapter(file)
        number = chapter.chapter_number
        if self._chapter not in (None, number):
            raise InvalidFileError(
                f"{str(file)!r} is chapter {number}, not {self._chapter}; leave out --chapter"
            )
        records = load_records(self._records[number]) if number in self._records else []
        return scenes_of_chapter(chapter, records)


def _chosen(found: dict[int, Path], chapter: int | None, paths: ProjectPaths) -> list[Path]:
    if chapter is None:
        return list(found.values())
    if chapter not in found:
        there = ", ".join(map(str, found)) or "none"
        raise UserInputError(f"no chapter {chapter} in {str(paths.chapters)!r}; there are: {there}")
    return [found[chapter]]
