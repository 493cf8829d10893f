"""Keeping the vector index as small as what it holds: it never frees the place of what was edited away."""

from __future__ import annotations

import logging

from novelgen.errors import ConfigurationError, DeadlineExceededError, StoreError
from runtime.ingest.indexing import IndexingResult, reindex
from runtime.stores import MemoryStores
from runtime.vectors.index_size import kept_vectors
from runtime.vectors.locations import ChromaServer
from runtime.vectors.manager import VectorStoreManager

logger = logging.getLogger(__name__)

MAX_KEPT_PER_MEMORY = 3
SPARE_VECTORS = 2_000
"""Below this an index is never built anew: it costs 2 to 4 MB."""


def compacted(stores: MemoryStores, project_id: str, result: IndexingResult) -> IndexingResult:
    """Build an embedded index anew when it keeps far more vectors than it must hold.

    Measured: every 150 edits of scenes with 6 vectors each left 1 MB behind, without end. A rebuild takes about a
    second per 600 memories and embeds nothing; readers have the old index meanwhile. An index on a Chroma server is
    left to the operator: what other programs store there during a rebuild would be missing from the new one, and the
    server keeps the files of the old one.

    Args:
        stores: The stores.
        project_id: The project.
        result: Of bringing the index up to date; while entries wait, nothing is done.

    Returns:
        The result, with an issue where an index that is too large was not built anew; it stands and answers.

    Raises:
        DatabaseError: When the database fails.
    """
    if result.waiting or not (result.indexed or result.removed):
        return result
    index = stores.vectors(project_id)
    excess = None if index.is_written_to else _excess(stores, project_id, index)
    if excess is None:
        return result
    problem = _left(project_id) if _is_shared(index) else _built_anew(stores, project_id, excess)
    if problem is None:
        return result
    return result.with_issue(f"{excess} {problem}")


def _is_shared(index: VectorStoreManager) -> bool:
    return isinstance(index.location, ChromaServer)


def _excess(stores: MemoryStores, project_id: str, index: VectorStoreManager) -> str | None:
    """Say how many vectors an index keeps where they are far too many; None where they are not."""
    # The files of a server are not ours to see.
    of_files = not _is_shared(index)
    kept = kept_vectors(index.location, index.dimension) if of_files else _removed(stores, project_id)
    if kept <= SPARE_VECTORS:
        return None
    with stores.database(project_id).read() as unit:
        # Those that consolidated memories stand for are held as well, though no read sees them.
        memories = len(unit.memories.index_ids())
    kept += 0 if of_files else memories
    if kept <= SPARE_VECTORS + MAX_KEPT_PER_MEMORY * memories:
        return None
    return f"the vector index keeps {kept} vectors for {memories} memories"


def _removed(stores: MemoryStores, project_id: str) -> int:
    with stores.database(project_id).read() as unit:
        return unit.projects.require().index_removals


def _left(project_id: str) -> str:
    return (
        "and is not built anew by itself, since other programs may write to the Chroma server: run `novelgen "
        f"reindex {project_id}` while nothing else stores scenes"
    )


def _built_anew(stores: MemoryStores, project_id: str, excess: str) -> str | None:
    """Build an embedded index anew; say why not where that fails."""
    logger.info("project %r: %s; building it anew", project_id, excess)
    try:
        reindex(stores, project_id)
    except (StoreError, ConfigurationError, DeadlineExceededError) as error:
        logger.warning("project %r: the vector index was not made smaller: %s", project_id, error)
        return f"and was not made smaller: {error}"
    return None
