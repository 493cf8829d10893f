"""The vector index of a project: following the database, and building it anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from novelgen.deadlines import run_concurrently
from runtime.ingest.embeddings import apply_embedding_settings
from runtime.ingest.index_upkeep import rebuild_if_bloated, verify_after_crash
from runtime.ingest.indexing import IndexingResult, drain_outbox, reindex, verify_index
from runtime.stores import MemoryStores


class ReindexResult(BaseModel):
    """A vector index that was built anew."""

    chosen: int = 0
    """Memories that are embedded otherwise than before, since a setting changed."""
    indexing: IndexingResult
    verification: str
    is_sound: bool


def reindex_project(
    stores: MemoryStores, project_id: str, *, progress: Callable[[int, int], Any] | None = None
) -> ReindexResult:
    """Let the settings of what is embedded hold, build the index anew and verify it."""
    chosen = apply_embedding_settings(stores, project_id)
    indexing = reindex(stores, project_id, progress=progress)
    verification = verify_index(stores, project_id)
    return ReindexResult(
        chosen=chosen, indexing=indexing, verification=str(verification), is_sound=verification.is_sound
    )


def index_project(
    stores: MemoryStores, project_id: str, *, progress: Callable[[int, int], Any] | None = None
) -> IndexingResult:
    """Bring the vector index up to what the database says, going on where an earlier run stopped."""
    result = drain_outbox(stores, project_id, progress=progress)
    return rebuild_if_bloated(stores, project_id, verify_after_crash(stores, project_id, result))


def await_index(stores: MemoryStores, project_id: str) -> None:
    """Let the vector index load its libraries before a search with a short deadline asks it.

    Waits for as long as one retrieval tool may take. What fails here is left to the search to report.
    """
    timeout_s = stores.settings.memory.tool_timeout_s

    def start() -> None:
        stores.vectors(project_id).wait_started(timeout_s=timeout_s)

    run_concurrently({"start": start}, timeouts_s={"start": timeout_s})
