"""Export and import of a story."""

from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field

from novelgen.errors import UnknownProjectError, UserInputError
from novelgen.language.language import stated_language
from runtime.care import exporting
from runtime.care.importing import SourceImport, StoredText, import_source
from runtime.files.book_writing import BOOK_WRITERS, BookChapter
from runtime.files.chapter_headings import heading_of
from runtime.files.chapter_text import chapter_number
from runtime.files.paths import write_whole
from runtime.stores import MemoryStores
from runtime.story.base import Progress, async_twin
from runtime.story.condition import StoryCondition, StoryUpkeep
from runtime.story.projects import follow_language


class ProjectExport(BaseModel):
    """The result of an export."""

    folder: Path = Field(description="The folder that holds the memory, or the file that holds the text.")
    files: list[Path]
    left_out: list[str] = Field(
        default_factory=list, description="Files of the project folder that the export does not take along."
    )


class ProjectImport(SourceImport):
    """The result of an import, and the project's contents."""

    condition: StoryCondition | None = Field(
        default=None, description="What the project holds now, and what to do next; None after a dry run."
    )


class StoryTransfer(StoryUpkeep):
    """Export and import of a story."""

    def export(self, folder: str | Path, *, force: bool = False) -> ProjectExport:
        """Write the story's memory to `memory/` in a folder, which an import reads back.

        Settings, characters, words to avoid and plans of the project folder go along beside `memory/`. `config.yaml`
        and written contexts do not. A path that ends in .txt, .md, .docx or .epub is written as a file of the
        story's text.

        Args:
            folder: Where to write.
            force: Whether what an earlier export wrote there is replaced.

        Raises:
            UserInputError: When there is something already.
        """
        folder = Path(folder)
        if (kind := folder.suffix.lower().removeprefix(".")) in BOOK_WRITERS:
            if folder.exists() and not (force and folder.is_file()):
                raise UserInputError(
                    f"{str(folder)!r} exists already; export to a new file, or replace it with --force"
                )
            folder.parent.mkdir(parents=True, exist_ok=True)
            write_whole(folder, self.export_as(kind))
            return ProjectExport(folder=folder, files=[folder])
        files = exporting.export_project(self._stores, self.project_id, folder, force=force)
        paths = self._stores.paths(self.project_id)
        left_out = [
            file.name for file in (paths.config_file, *sorted(paths.folder.glob("scene_*.json"))) if file.exists()
        ]
        return ProjectExport(folder=folder / exporting.MEMORY_FOLDER, files=files, left_out=left_out)

    def export_documents(self) -> dict[str, Any]:
        """Return all project documents by file below `memory/`."""
        return exporting.project_documents(self._stores, self.project_id)

    def export_archive(self) -> bytes:
        """Return the export as a zip archive, complete for `import_source`."""
        return exporting.packed_export(self._stores, self.project_id)

    def export_text(self) -> str:
        """Return the whole story as Markdown, a heading for each chapter and `***` between scenes.

        An import cuts it into the same chapters and scenes, unless their texts hold headings or breaks of their own.
        """
        return self.export_as("md").decode()

    def export_as(self, kind: str) -> bytes:
        """Return the whole story as a file for readers, with the headings of its chapters.

        Args:
            kind: txt, md, docx or epub.

        Raises:
            UserInputError: When there is no such kind.
        """
        if kind not in BOOK_WRITERS:
            raise UserInputError(f"a story cannot be written as {kind!r}; choose one of {', '.join(BOOK_WRITERS)}")
        with self._stores.database(self.project_id).read() as unit:
            project = unit.projects.require()
            scenes = unit.scenes.list_as_of(with_text=True)
        is_chinese = stated_language(project.language) == "zh"
        chapters = []
        for number, chapter in groupby(scenes, key=lambda scene: scene.chapter_index):
            rendered_scenes = list(chapter)
            heading = _heading(number, rendered_scenes[0].title, is_chinese=is_chinese)
            chapters.append(BookChapter(heading, [(scene.text or "").strip() for scene in rendered_scenes]))
        return BOOK_WRITERS[kind].write(chapters, project.name or self.project_id, project.language or "en")

    def import_source(
        self,
        *,
        source: Path,
        dry_run: bool = False,
        index: bool = True,
        update: bool = False,
        replace: bool = False,
        overwrite: bool = False,
        keep_remarks: bool = False,
        every_file: bool = False,
        headings: Sequence[str] = (),
        progress: Progress | None = None,
        index_progress: Progress | None = None,
        on_stored: Callable[[StoredText], Any] | None = None,
    ) -> ProjectImport:
        """Import a path into a new or existing project.

        Without `update` nothing stored changes.
        """
        result = import_source(
            self._stores,
            source,
            project_id=self.project_id,
            dry_run=dry_run,
            index=index,
            update=update,
            replace=replace,
            overwrite=overwrite,
            keep_remarks=keep_remarks,
            every_file=every_file,
            headings=headings,
            progress=progress,
            index_progress=index_progress,
            on_stored=on_stored,
        )
        condition = None if dry_run else self.condition()
        if condition is not None:
            follow_language(self._stores.paths(self.project_id), condition.language)
        return ProjectImport(**dict(result), condition=condition)

    def preview_import(
        self, *, source: Path, update: bool = False, replace: bool = False, headings: Sequence[str] = ()
    ) -> ProjectImport | None:
        """Preview an import into a nonempty project, None for an empty one."""
        if not _has_story(self._stores, self.project_id):
            return None
        return self.import_source(source=source, dry_run=True, update=update, replace=replace, headings=headings)

    aexport = async_twin(export)
    aexport_archive = async_twin(export_archive)
    aexport_as = async_twin(export_as)
    aimport_source = async_twin(import_source)
    apreview_import = async_twin(preview_import)
    aexport_documents = async_twin(export_documents)
    aexport_text = async_twin(export_text)


def _heading(number: int, title: str, *, is_chinese: bool) -> str:
    plain = " ".join(title.partition(" · ")[0].split())
    if chapter_number(plain) == number or (number == 0 and heading_of(plain) is not None):
        return plain
    return f"{f'第{number}章' if is_chinese else f'Chapter {number}'} {plain}".strip()


def is_of_another_story(stores: MemoryStores, project_id: str, *, found: ProjectImport, update: bool = False) -> bool:
    """Return whether a dry run shows a different story.

    An import that was interrupted and is repeated, or one that brings further chapters, finds scenes of its
    own there or names entities of the story; one into the wrong project does neither.
    """
    preview, changes = found.preview, found.changes
    is_own = bool(preview.same_scenes or preview.same_entities)
    is_own = is_own or (
        changes is not None
        and bool(changes.moved_chapters or changes.goes_on or changes.is_same_story or changes.edited_scenes)
    )
    if changes is not None and not is_own:
        # Of a text whose lines broken at a width were kept, every scene is told anew, and no chapter another one.
        chapters = {int(place.partition(":")[0]) for place in preview.changed_scenes}
        is_own = bool(chapters - set(changes.changed_chapters))
    adds = bool(preview.new_scenes or preview.new_entities or (update and preview.changed_scenes))
    return adds and not is_own and _has_story(stores, project_id)


def may_store_twice(*, found: ProjectImport, update: bool = False) -> bool:
    """Return whether a dry run would store an edited manuscript twice."""
    preview = found.preview
    return bool(not update and found.chapters and preview.kept_scenes and preview.new_scenes)


def _has_story(stores: MemoryStores, project_id: str) -> bool:
    try:
        with stores.database(project_id).read() as unit:
            return bool(unit.scenes.list_as_of(last=1))
    except UnknownProjectError:
        return False
