"""Checks of one project: its database, its counts, and whether the index agrees with the database."""

from __future__ import annotations

from novelgen.errors import DatabaseError, NovelgenError, UnknownProjectError
from runtime.diagnosis.findings import Finding
from runtime.ingest.embedding_settings import stored_otherwise
from runtime.ingest.indexing import verify_index
from runtime.storage.records import MemoryFilter
from runtime.stores import MemoryStores


def check_database(stores: MemoryStores, project_id: str) -> Finding:
    """Open the project's database."""
    try:
        stores.database(project_id)
    except UnknownProjectError:
        return Finding(
            level="broken",
            what="database",
            message=f"nothing of project {project_id!r} is stored",
            fix=f"run `novelgen ingest {project_id}`, or restore {_database_name(stores, project_id)} if it is lost",
        )
    except DatabaseError as error:
        return Finding(
            level="broken",
            what="database",
            message=f"{_database_name(stores, project_id)} cannot be used: {error}",
            fix="restore a backup of it, or move it away and run `novelgen ingest` again; contexts stay possible "
            "from the index alone",
        )
    return Finding(level="ok", what="database", message=_database_name(stores, project_id))


def project_counts(stores: MemoryStores, project_id: str) -> dict[str, int]:
    """Count what a project holds.

    Raises:
        DatabaseError: When the database fails.
    """
    with stores.database(project_id).read() as unit:
        scenes = unit.scenes.list_as_of()
        outbox = unit.outbox.counts()
        return {
            "chapters": len({scene.chapter_index for scene in scenes}),
            "scenes": len(scenes),
            "scenes with a record": sum(scene.record is not None for scene in scenes),
            "scenes whose extraction failed": sum(scene.extraction_status == "failed" for scene in scenes),
            "entities": len(unit.entities.list_all()),
            "memories": unit.memories.count(),
            "memories unverified": unit.memories.count(MemoryFilter(unverified_only=True)),
            "state changes unverified": len(unit.states.unverified()),
            "memories banned": unit.memories.count(MemoryFilter(statuses=["banned"])),
            "open loops": len(unit.loops.list_as_of()),
            "waiting for the index": outbox["pending"] + outbox["failed"],
        }


def check_extraction(counts: dict[str, int]) -> Finding | None:
    """Name scenes that are stored without what they established, where there are any."""
    failed = counts["scenes whose extraction failed"]
    if not failed:
        return None
    return Finding(
        level="degraded",
        what="scene records",
        message=f"the extraction of {failed} scenes failed; their text is stored, their facts are not",
        fix="run `novelgen extract --retry`, or supply their records in records/",
    )


def check_index(stores: MemoryStores, project_id: str, *, waiting: int) -> Finding:
    """Compare the vector index with the database."""
    fix = f"run `novelgen reindex {project_id}`"
    built_with = _model_of_index(stores, project_id)
    try:
        configured = stores.embedding_identity.model_name
        if built_with not in (None, configured):
            message = f"built with {built_with!r}, but {configured!r} is configured; it is not asked"
            return Finding(level="degraded", what="vector index", message=message, fix=fix)
        verification = verify_index(stores, project_id)
    except NovelgenError as error:
        message = f"cannot be used, search goes on without it: {error}"
        return Finding(level="degraded", what="vector index", message=message, fix=fix)
    if verification.is_sound:
        return Finding(level="ok", what="vector index", message=f"agrees with the database: {verification}")
    lag = f" ({waiting} changes wait to be brought to it)" if waiting else ""
    message = f"does not agree with the database: {verification}{lag}"
    return Finding(level="degraded", what="vector index", message=message, fix=fix)


def check_embedding_settings(stores: MemoryStores, project_id: str) -> Finding | None:
    """Tell whether scenes were stored under other settings of what is embedded, where any were.

    Raises:
        DatabaseError: When the database fails.
    """
    otherwise = stored_otherwise(stores, project_id)
    if not otherwise:
        return None
    return Finding(
        level="hint",
        what="memory.ingest",
        message=f"{otherwise} memories were stored under other settings of what is embedded",
        fix=f"run `novelgen reindex {project_id}`",
    )


def check_breaker(stores: MemoryStores, project_id: str) -> Finding:
    """Tell whether calls to the index are refused after repeated failures; looks at nothing else."""
    what = "circuit breaker"
    try:
        is_refusing = stores.vectors(project_id).is_refusing
    except NovelgenError as error:
        return Finding(level="degraded", what=what, message=f"the index cannot be opened: {error}")
    if not is_refusing:
        return Finding(level="ok", what=what, message="closed: the index is asked")
    return Finding(
        level="degraded",
        what=what,
        message="open: the index failed again and again and is left alone; it is probed after the cool-down",
        fix=f"run `novelgen doctor {project_id} --repair`",
    )


def _model_of_index(stores: MemoryStores, project_id: str) -> str | None:
    with stores.database(project_id).read() as unit:
        return unit.projects.require().embedding_model


def _database_name(stores: MemoryStores, project_id: str) -> str:
    if stores.settings.database_url is None:
        return str(stores.paths(project_id).database)
    return "the database of the setting database_url"
