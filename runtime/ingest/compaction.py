"""Keeping the vector index as small as what it holds: it never frees the place of what was edited away."""

from __future__ import annotations

import logging

from novelgen.errors import ConfigurationError, DeadlineExceededError, StoreError
from runtime.ingest.indexing import IndexingResult, reindex
from runtime.stores import MemoryStores
from runtime.vectors.index_size import kept_vectors

logger = logging.getLogger(__name__)

MOST_KEPT_PER_MEMORY = 3
SPARE_VECTORS = 2_000
"""Below this an index is never built anew: it costs 2 to 4 MB."""


def compacted(stores: MemoryStores, project_id: str, result: IndexingResult) -> IndexingResult:
    """Build an embedded index anew when it keeps far more vectors than it must hold.

    Measured: every 150 edits of scenes with 6 vectors each left 1 MB behind, without end. A rebuild takes about a
    second per 600 memories and embeds nothing; readers have the old index meanwhile.

    Args:
        stores: The stores.
        project_id: The project.
        result: Of bringing the index up to date; while entries wait, nothing is done.

    Returns:
        The result, with an issue where the index could not be built anew; the old one stands then.

    Raises:
        DatabaseError: When the database fails.
    """
    if result.waiting or not (result.indexed or result.removed):
        return result
    index = stores.vectors(project_id)
    kept = kept_vectors(index.location, index.dimension)
    if kept <= SPARE_VECTORS or index.is_written_to:
        return result
    with stores.database(project_id).read() as unit:
        # Those that consolidated memories stand for are held as well, though no read sees them.
        memories = len(unit.memories.index_ids(project_id))
    if kept <= SPARE_VECTORS + MOST_KEPT_PER_MEMORY * memories:
        return result
    logger.info(
        "project %r: its index keeps %d vectors for %d memories; building it anew", project_id, kept, memories
    )
    try:
        reindex(stores, project_id)
    except (StoreError, ConfigurationError, DeadlineExceededError) as error:
        logger.warning("project %r: the vector index was not made smaller: %s", project_id, error)
        return result.with_issue(
            f"the vector index keeps {kept} vectors for {memories} memories and was not made smaller: {error}"
        )
    return result
