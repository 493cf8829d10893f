"""Taking a project's files, or a book's folder, in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import click

from novelgen.errors import InvalidFileError, UnknownProjectError, UserInputError
from novelgen.models.context import ReportIssue
from novelgen.models.story_settings import Settings
from runtime.cli.exit_codes import ExitCode
from runtime.cli.index_following import index_state
from runtime.cli.ingest_sources import IngestSources
from runtime.cli.opening import opened_stores
from runtime.cli.output import print_pairs, report_line
from runtime.cli.progress import ProgressCallback, progress_bars
from runtime.cli.session import CliSession
from runtime.ingest.absent_scenes import absent_scenes
from runtime.ingest.compaction import compacted
from runtime.ingest.consolidation import consolidate_beyond_setting
from runtime.ingest.embedding_settings import stored_otherwise
from runtime.ingest.entity_writes import store_entities
from runtime.ingest.import_book import import_book
from runtime.ingest.indexing import IndexingResult, drain_outbox
from runtime.ingest.ingest import SceneIngestResult, ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.projects.files import load_characters, load_entities, load_settings_file
from runtime.stores import MemoryStores


@dataclass
class _Tally:
    """What became of the parts."""

    scenes: list[SceneIngestResult] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @contextmanager
    def noting_failure(self) -> Iterator[None]:
        """Let a part that is wrong be noted, so that it does not stop the others."""
        try:
            yield
        except UserInputError as error:
            self.failures.append(str(error))


def ingest_project(
    session: CliSession,
    project_id: str,
    *,
    files: Sequence[Path],
    records: bool | None,
    chapter: int | None,
) -> None:
    """Store what a project's folder holds and print a summary.

    Raises:
        UnknownProjectError: When there is neither a folder nor a stored project; nothing is created.
        Exit: When a part failed; the others are stored.
    """
    with opened_stores(session, project_id) as stores:
        paths = stores.paths(project_id)
        if not paths.folder.is_dir():
            _require_stored(stores, project_id)
        sources = IngestSources(paths, files=files, records=records, chapter=chapter)
        settings = load_settings_file(paths.settings_file)
        characters, entities = load_characters(paths.characters_file), load_entities(paths.entities_file)
        _ensure_stored(stores, project_id, settings)
        store_entities(stores, project_id, entities, characters=characters)
        with progress_bars("scenes", "index") as (progress, index_progress):
            tally = _take_in(stores, project_id, sources, progress)
            drained = drain_outbox(stores, project_id, progress=index_progress)
            indexing = compacted(stores, project_id, drained)
        _report_consolidation(consolidate_beyond_setting(stores, project_id))
        if not sources.files:
            report_line(
                f"warning: no chapters in {str(paths.chapters)!r}; write chapter_001.json, .txt or .md"
            )
        _print_summary(stores, project_id, tally, indexing)


def import_book_folder(session: CliSession, folder: Path, *, project_id: str, records: bool) -> None:
    """Import a book's folder and print a summary.

    Raises:
        InvalidFileError: When the folder or a file in it is missing or wrong; nothing is created.
    """
    if not folder.is_dir():
        raise InvalidFileError(f"there is no folder {str(folder)!r}; give one that holds scenes.jsonl")
    with opened_stores(session, project_id) as stores:
        with progress_bars("scenes", "index") as (progress, index_progress):
            result = import_book(
                stores,
                folder,
                project_id=project_id,
                records=records,
                progress=progress,
                index_progress=index_progress,
            )
        _report_consolidation(result.consolidation)
        _print_summary(stores, project_id, _Tally(result.scenes), result.indexing)


def _require_stored(stores: MemoryStores, project_id: str) -> None:
    try:
        stores.database(project_id)
    except UnknownProjectError as error:
        folder = stores.paths(project_id).folder
        raise UnknownProjectError(
            f"there is no project {project_id!r}: no folder {str(folder)!r}; make it with "
            f"`novelgen init {project_id}`, or set --projects-dir"
        ) from error


def _ensure_stored(stores: MemoryStores, project_id: str, given: Settings | None) -> None:
    """Create the project, or let what is stored follow what settings.json says, where there is one."""
    settings = given or Settings()
    stores.ensure_project(project_id, name=settings.project_name, language=settings.language)
    with stores.database(project_id).write() as unit:
        stored = unit.projects.require(project_id)
        name, language = settings.project_name or stored.name, settings.language or stored.language
        kept = {"parts": [], **stored.settings}
        parts = [part.model_dump(exclude={"extra"}) for part in settings.parts]
        told = kept if given is None else {**kept, "parts": parts}
        if (name, language, told) != (stored.name, stored.language, kept):
            unit.projects.update(project_id, name=name, language=language, settings=told)


def _take_in(
    stores: MemoryStores, project_id: str, sources: IngestSources, progress: ProgressCallback
) -> _Tally:
    tally = _Tally()
    scenes: list[SceneInput] = []
    for file in sources.files:
        with tally.noting_failure():
            scenes += sources.scenes(file)
    for number, scene in enumerate(scenes, start=1):
        with tally.noting_failure():
            tally.scenes += ingest_scenes(stores, project_id, [scene], index=False).scenes
        progress(number, len(scenes))
    tally.notes = [
        f"scene {place} is stored, but its chapter has it no more; `novelgen scene delete {project_id} {place}`"
        for place in absent_scenes(stores, project_id, scenes)
    ]
    return tally


def _report_consolidation(issues: Sequence[ReportIssue]) -> None:
    for issue in issues:
        report_line(f"warning: {issue.message}")


def _print_summary(stores: MemoryStores, project_id: str, tally: _Tally, indexing: IndexingResult) -> None:
    for scene in tally.scenes:
        for issue in scene.issues:
            report_line(f"warning: {issue.message}")
    for note in tally.notes:
        report_line(f"warning: {note}")
    for failure in tally.failures:
        report_line(f"error: {failure}")
    otherwise = stored_otherwise(stores, project_id)
    if otherwise:
        report_line(
            f"warning: {otherwise} memories of unchanged scenes are not embedded as memory.ingest says; "
            f"`novelgen reindex {project_id}` does it"
        )
    outcomes = [scene.outcome for scene in tally.scenes]
    with stores.database(project_id).read() as unit:
        memories, entities = unit.memories.count(project_id), len(unit.entities.list_all(project_id))
    print_pairs(
        {
            "project": project_id,
            "scenes": f"{outcomes.count('added')} new, {outcomes.count('replaced')} changed, "
            f"{outcomes.count('unchanged')} unchanged, {len(tally.failures)} failed",
            "memories": memories,
            "entities": entities,
            "index": index_state(indexing, project_id),
        }
    )
    if tally.failures:
        report_line("what failed was left out: correct it and run the same command again")
        raise click.exceptions.Exit(ExitCode.FAILED)
