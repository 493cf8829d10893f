"""The doctor: looks at the machine and at a project, and repairs what is derived, the vector index."""

from __future__ import annotations

import sqlite3

from novelgen.errors import DatabaseError, DeadlineExceededError, VectorIndexError, VectorIndexOwnedError
from runtime.diagnosis.checks import (
    Diagnosis,
    Finding,
    check_breaker,
    check_chat_model,
    check_database,
    check_embedding_settings,
    check_embeddings,
    check_extraction,
    check_index,
    check_sqlite,
    project_counts,
    versions,
)
from runtime.diagnosis.context_files import check_context_files
from runtime.ingest.indexing import drain_outbox, reindex, verify_index
from runtime.settings import NovelgenSettings
from runtime.stores import MemoryStores
from runtime.vectors.index_size import swollen_file

_WHAT = "vector index"


def diagnose(
    stores: MemoryStores,
    project_id: str | None = None,
    *,
    is_repairing: bool = False,
    is_asking_network: bool = True,
) -> Diagnosis:
    """Look at everything.

    Args:
        stores: The stores.
        project_id: The project; None looks at the machine alone.
        is_repairing: Whether to repair the project's index first.
        is_asking_network: Whether models that are not on this machine are asked.

    Raises:
        StoreError: When the repair fails; the old index stands.
        UnknownProjectError: When nothing of the project that is to be repaired is stored.
    """
    repairs = repair_index(stores, project_id) if is_repairing and project_id is not None else []
    findings = [
        check_sqlite(stores.settings, version=sqlite3.sqlite_version_info),
        check_embeddings(stores, is_asking_network=is_asking_network),
        check_chat_model(stores.settings, is_asking_network=is_asking_network),
    ]
    counts: dict[str, int] = {}
    if project_id is not None:
        findings.append(check_database(stores, project_id))
        if findings[-1].level == "ok":
            counts, of_project = _project_findings(stores, project_id)
            findings += of_project
    return Diagnosis(
        versions=versions(),
        settings=_shown(stores.settings),
        repairs=repairs,
        counts=counts,
        findings=findings,
    )


def repair_index(stores: MemoryStores, project_id: str) -> list[Finding]:
    """Make the vector index of a project agree with its database; the database is never changed by it.

    What waits in the outbox is done first. Where the index then does not hold exactly what the database says, or
    cannot find a sample of it, it is built anew beside the old one and takes its place.

    Args:
        stores: The stores.
        project_id: The project.

    Returns:
        What was done, in order, and how it stands now.

    Raises:
        UnknownProjectError: When no such project is stored.
        ConfigurationError: When the embedding model cannot be used.
        StoreError: When the database, the embedding model or the rebuild fails, or another process owns the
            index; the old index stands.
    """
    done = [*_retried(stores, project_id)]
    problem = _problem(stores, project_id)
    if problem is not None:
        result = reindex(stores, project_id)
        message = (
            f"rebuilt from the database, because {problem}: {result.indexed} memories, "
            f"{result.embedded} texts embedded anew"
        )
        done.append(Finding(level="ok", what=_WHAT, message=message))
        problem = _problem(stores, project_id)
    return [*done, _outcome(problem)]


def _retried(stores: MemoryStores, project_id: str) -> list[Finding]:
    """Do what waits in the outbox; what fails here is repaired by the rebuild, or stops that."""
    result = drain_outbox(stores, project_id)
    if not (result.indexed or result.removed):
        return []
    message = f"{result.indexed} waiting memories brought to the index, {result.removed} removed from it"
    return [Finding(level="ok", what="outbox", message=message)]


def _problem(stores: MemoryStores, project_id: str) -> str | None:
    """Say in what the index differs from the database; None when it does not."""
    try:
        verification = verify_index(stores, project_id)
    except VectorIndexOwnedError:
        raise
    except (VectorIndexError, DeadlineExceededError) as error:
        return f"it cannot be read ({error})"
    if not verification.is_sound:
        return f"it did not agree with it ({verification})"
    return swollen_file(stores.vectors(project_id).location)


def _outcome(problem: str | None) -> Finding:
    if problem is None:
        return Finding(level="ok", what=_WHAT, message="agrees with the database")
    return Finding(
        level="broken",
        what=_WHAT,
        message=f"{problem}, after its rebuild as well",
        fix="check the disk; run it again",
    )


def _project_findings(stores: MemoryStores, project_id: str) -> tuple[dict[str, int], list[Finding]]:
    try:
        counts = project_counts(stores, project_id)
        extraction = check_extraction(counts)
        index = check_index(stores, project_id, waiting=counts["waiting for the index"])
        embedding = check_embedding_settings(stores, project_id)
        breaker = check_breaker(stores, project_id)
        files = check_context_files(stores, project_id)
    except DatabaseError as error:
        message = f"it opens, but cannot be read: {error}"
        return {}, [Finding(level="broken", what="database", message=message, fix="restore a backup of it")]
    found = (extraction, index, embedding, breaker, *files)
    return counts, [finding for finding in found if finding is not None]


def _shown(settings: NovelgenSettings) -> dict[str, object]:
    """Return the settings for the eye: addresses may hold passwords, so they are only named."""
    memory = settings.memory
    return {
        "projects_dir": str(settings.projects_dir.resolve()),
        "database": "SQLite per project" if settings.database_url is None else "database_url",
        "vector index": "embedded per project" if memory.vector_store.url is None else "Chroma server",
        "embedding model": memory.embedding_model,
        "chat model": settings.model,
        "budgets": f"memories {memory.memory_budget}, states {memory.state_budget}, "
        f"timeline {memory.timeline_budget} tokens",
        "search_fallback": memory.search_fallback,
    }
