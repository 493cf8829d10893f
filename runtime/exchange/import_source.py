"""Importing whatever a path is: a memory folder, a project of novel-gen, or a manuscript."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shutil import copyfile
from typing import Any

from pydantic import Field

from novelgen.errors import InvalidFileError, UnknownProjectError
from novelgen.models.context import ReportIssue
from runtime.exchange.contents_import import ImportResult, import_story
from runtime.exchange.memory_folder_reading import IncomingStory, is_memory_folder, read_memory_folder
from runtime.exchange.novel_gen_folder import is_novel_gen_folder, read_novel_gen_folder
from runtime.ingest.scene_input import scenes_of_chapter
from runtime.projects.manuscripts import ManuscriptChapter, is_manuscript, read_manuscript
from runtime.storage.transfer.records import ProjectContents
from runtime.stores import MemoryStores

Progress = Callable[[int, int], Any]


class SourceImport(ImportResult):
    """What an import did, with what is particular to its source."""

    chapters: list[ManuscriptChapter] = Field(default_factory=list, description="Of a manuscript.")
    left_out: str = Field(default="", description="What a manuscript has before its first chapter.")
    copied_plans: list[str] = Field(
        default_factory=list, description="Files in the project's chapters folder."
    )


def import_source(
    stores: MemoryStores,
    source: Path,
    *,
    project_id: str,
    dry_run: bool = False,
    index: bool = True,
    progress: Progress | None = None,
) -> SourceImport:
    """Import a path into a project, which is created when there is none; nothing stored is changed.

    Args:
        stores: The stores.
        source: A folder with a memory, a project folder of novel-gen, or a manuscript (.txt, .md, .epub, .docx).
        project_id: The project.
        dry_run: Only tell what would happen.
        index: False leaves the vector index to a later `drain_outbox`.
        progress: Called after each scene with the scenes done and the scenes in all.

    Raises:
        InvalidFileError: When the source is none of these, or a file is wrong.
        UserInputError: When ids mean somebody else in the project.
        DatabaseError: When the database fails; an import can be repeated.
    """
    stores.paths(project_id)
    options: dict[str, Any] = {"dry_run": dry_run, "index": index, "progress": progress}
    if source.is_file() and is_manuscript(source):
        return _import_manuscript(stores, source, project_id, options)
    if source.is_dir() and is_memory_folder(source):
        story = read_memory_folder(source, project_id=project_id, now=stores.clock())
        return SourceImport(**dict(import_story(stores, project_id, story, **options)))
    if source.is_dir() and is_novel_gen_folder(source):
        return _import_novel_gen(stores, source, project_id, options)
    raise InvalidFileError(
        f"{str(source)!r} is neither a folder with 'memory' or 'chapters' nor a manuscript (.txt, .md, .epub, .docx);"
        " check the path"
    )


def _import_manuscript(
    stores: MemoryStores, source: Path, project_id: str, options: dict[str, Any]
) -> SourceImport:
    manuscript = read_manuscript(source)
    scenes = [scene for chapter in manuscript.chapters for scene in scenes_of_chapter(chapter)]
    story = IncomingStory(ProjectContents(name=manuscript.title), scenes)
    result = import_story(stores, project_id, story, **options)
    return SourceImport(**dict(result), chapters=manuscript.preview(), left_out=manuscript.left_out)


def _import_novel_gen(
    stores: MemoryStores, source: Path, project_id: str, options: dict[str, Any]
) -> SourceImport:
    read = read_novel_gen_folder(
        source, project_id=project_id, stored=_stored(stores, project_id), now=stores.clock()
    )
    result = import_story(stores, project_id, read.story, **options)
    issues = list(result.issues)
    if read.unresolved_names:
        message = f"chapter_memory.json names nobody that is known: {read.unresolved_names!r}; add characters"
        issues.append(ReportIssue(stage="import", kind="unresolved", message=message))
    plans = [] if options["dry_run"] else _copied_plans(read.plan_files, stores.paths(project_id).chapters)
    return SourceImport(**{**dict(result), "issues": issues}, copied_plans=plans)


def _stored(stores: MemoryStores, project_id: str) -> ProjectContents:
    try:
        database = stores.database(project_id)
    except UnknownProjectError:
        return ProjectContents()
    with database.read() as unit:
        return unit.exchange.contents()


def _copied_plans(files: list[Path], folder: Path) -> list[str]:
    """Copy plans to where `novelgen context` looks for them; those that are there stay."""
    copied = []
    for file in files:
        if (folder / file.name).exists():
            continue
        folder.mkdir(parents=True, exist_ok=True)
        copyfile(file, folder / file.name)
        copied.append(file.name)
    return copied
