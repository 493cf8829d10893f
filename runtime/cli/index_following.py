"""Telling what became of the vector index after a command changed the memory."""

from __future__ import annotations

from runtime.cli.output import index_state, report_indexing
from runtime.services.indexing import follow_database
from runtime.stores import MemoryStores

__all__ = ["follow_index", "index_state"]


def follow_index(stores: MemoryStores, project_id: str) -> None:
    """Bring the vector index up to date and say on stderr when it does not follow; SQL is safe either way."""
    report_indexing(follow_database(stores, project_id), project_id)
