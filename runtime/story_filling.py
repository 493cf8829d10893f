"""What Python programs take in: finished scenes as texts, files and records, readings by a model, and notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from novelgen.errors import UserInputError
from novelgen.models.given import given_record
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from runtime.async_twins import async_twin
from runtime.files.file_reading import described
from runtime.files.project_files import chapter_files
from runtime.story.base import StoryBase
from runtime.story.ingest import IngestReport, StoryIngest

Progress = Callable[[int, int], Any]
Model = TypeVar("Model", bound=BaseModel)


class StoryFilling(StoryBase):
    """The part of a `Story` that takes in what is written; see there."""

    def ingest(
        self,
        files: str | Path | Sequence[str | Path] = (),
        *,
        text: str | None = None,
        record: SceneRecord | Mapping[str, Any] | None = None,
        chapter_index: int | None = None,
        scene_index: int | None = None,
        title: str = "",
        records: bool | None = None,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Take finished scenes in: a text, files, or what the project's folder holds.

        What is stored already and has not changed is left alone; a changed scene takes the place of what came from
        it before, and of nothing else.

        Args:
            files: Chapter files or folders of them, in place of those in the project's `chapters` folder.
            text: One scene's text, at `chapter_index` and `scene_index`.
            record: What that scene established; without `text`, of the scene that is stored there.
            chapter_index: Chapter of the text; with files, only this chapter.
            scene_index: Scene of the text within its chapter.
            title: Title of that scene.
            records: Of files: True wants their records, False leaves them, None takes those that are there.
            progress: Called after each scene with the scenes done and the scenes in all.

        Returns:
            What became of each scene. Parts that are wrong stand in `failures` and do not stop the others.

        Raises:
            UserInputError: When a text comes without its place, or the record is none.
            DatabaseError: When the database fails.
        """
        if text is None and record is None:
            return StoryIngest(self._stores, self.project_id).ingest_project(
                files=_chapter_files(files), records=records, chapter_index=chapter_index, progress=progress
            )
        if files:
            raise UserInputError("ingest takes either files, or one scene's text and record; leave one of them out")
        if chapter_index is None or scene_index is None:
            raise UserInputError("a scene's text or record needs its place; pass chapter_index and scene_index")
        return StoryIngest(self._stores, self.project_id).ingest_finished_scene(
            position=StoryPosition(chapter_index, scene_index),
            text=text,
            record=None if record is None else _record(record, chapter_index, scene_index),
            title=title,
        )

    aingest = async_twin(ingest)


def _chapter_files(files: str | Path | Sequence[str | Path]) -> list[Path]:
    """Return chapter files, those of a folder in its place."""
    paths = [Path(files)] if isinstance(files, str | Path) else [Path(each) for each in files]
    found: list[Path] = []
    for path in paths:
        in_folder = list(chapter_files(path).values()) if path.is_dir() else [path]
        if not in_folder:
            raise UserInputError(f"there are no chapters in {str(path)!r}; name them chapter_001.json, .txt or .md")
        found += in_folder
    return found


def _record(record: Any, chapter_index: int, scene_index: int) -> SceneRecord:
    try:
        fields = given_record(record, chapter_index=chapter_index, scene_index=scene_index)
    except ValueError as error:
        raise UserInputError(str(error)) from error
    return read_given(SceneRecord, fields)


def read_given(model: type[Model], given: Any) -> Model:
    """Read what a caller holds; what is wrong in it is told as any other wrong argument."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        reason = error.errors()[0].get("ctx", {}).get("error")
        raise UserInputError(str(reason) if reason is not None else described(error)) from error
