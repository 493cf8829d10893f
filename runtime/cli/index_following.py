"""Telling what became of the vector index after a command changed the memory."""

from __future__ import annotations

from runtime.cli.output import report_line
from runtime.ingest.indexing import IndexingResult, drain_outbox
from runtime.stores import MemoryStores


def follow_index(stores: MemoryStores, project_id: str) -> None:
    """Bring the vector index up to date and say on stderr when it does not follow; SQL is safe either way."""
    result = drain_outbox(stores, project_id)
    if result.waiting:
        report_line(f"warning: stored, but the index lags: {index_state(result, project_id)}")


def index_state(result: IndexingResult, project_id: str) -> str:
    """Return the state of the index in words, with what failed, and the repair when something waits."""
    reason = f" ({result.issues[0].message})" if result.issues else ""
    if not result.waiting:
        return f"up to date{reason}"
    return f"{result.waiting} memories wait{reason}; run `novelgen reindex {project_id}`"
