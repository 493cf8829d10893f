"""Repair of what is derived: the vector index is brought to what the database says, and rebuilt if it must be."""

from __future__ import annotations

from novelgen.errors import DeadlineExceededError, VectorIndexError, VectorIndexOwnedError
from runtime.care.checks import Finding
from runtime.index.index_files import swollen_file
from runtime.ingest.indexing import drain_outbox, reindex, verify_index
from runtime.stores import MemoryStores

_WHAT = "vector index"


def repair_index(stores: MemoryStores, project_id: str) -> list[Finding]:
    """Make the vector index of a project agree with its database; the database is never changed by it.

    What waits in the outbox is done first. Where the index then does not hold exactly what the database says, or
    cannot find a sample of it, it is built anew beside the old one and takes its place.
    """
    done = [*_retried(stores, project_id)]
    problem = _problem(stores, project_id)
    if problem is not None:
        result = reindex(stores, project_id)
        message = (
            f"rebuilt from the database, because {problem}: {result.indexed} memories, "
            f"{result.embedded} texts embedded anew"
        )
        values = {"problem": problem, "indexed": result.indexed, "embedded": result.embedded}
        done.append(Finding(level="ok", what=_WHAT, message=message, kind="index_rebuilt", values=values))
        problem = _problem(stores, project_id)
    return [*done, _outcome(problem)]


def _retried(stores: MemoryStores, project_id: str) -> list[Finding]:
    """Do what waits in the outbox; what fails here is repaired by the rebuild, or stops that."""
    result = drain_outbox(stores, project_id)
    if not (result.indexed or result.removed):
        return []
    message = f"{result.indexed} waiting memories brought to the index, {result.removed} removed from it"
    values = {"indexed": result.indexed, "removed": result.removed}
    return [Finding(level="ok", what="outbox", message=message, kind="outbox_drained", values=values)]


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
        return Finding(level="ok", what=_WHAT, message="agrees with the database", kind="index_repaired")
    return Finding(
        level="broken",
        what=_WHAT,
        message=f"{problem}, after its rebuild as well",
        fix="check the disk; run it again",
        kind="index_beyond_repair",
        values={"problem": problem},
    )
