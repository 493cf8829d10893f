"""What a writer does for the vector index after it was brought up to SQL: proof after a kill, and its size."""

from __future__ import annotations

import logging

from novelgen.errors import ConfigurationError, DeadlineExceededError, StoreError
from runtime.index.index_files import kept_vectors
from runtime.index.locations import ChromaServer
from runtime.ingest.indexing import IndexingResult, reindex, verify_index
from runtime.stores import MemoryStores

logger = logging.getLogger(__name__)

MAX_KEPT_PER_MEMORY = 3
SPARE_VECTORS = 2_000
"""Below this an index is never built again for its size: it costs 2 to 4 MB."""

_FAILURES = (StoreError, ConfigurationError, DeadlineExceededError)


def verify_after_crash(stores: MemoryStores, project_id: str, result: IndexingResult) -> IndexingResult:
    """Verify an embedded index whose process was killed at work, and rebuild it when it is not sound.

    Chroma keeps its vectors in several files that are not written at one stroke, so that a kill may cost some of
    them without a word. A reader cannot tell; the next writer looks, once.
    """
    if not _has_followed(result) or not stores.vectors(project_id).in_doubt:
        return result
    try:
        verification = verify_index(stores, project_id)
        if not verification.is_sound:
            logger.warning("project %r: the vector index was interrupted (%s); rebuilding it", project_id, verification)
            reindex(stores, project_id)
    except _FAILURES as error:
        logger.warning("project %r: the interrupted vector index was not verified: %s", project_id, error)
        return result.with_issue(
            f"the vector index was interrupted and could not be proven sound: {error}; run `novelgen doctor --repair`"
        )
    return result


def rebuild_if_bloated(stores: MemoryStores, project_id: str, result: IndexingResult) -> IndexingResult:
    """Rebuild an embedded index when it keeps far more vectors than it must hold: it never frees their place.

    Measured: every 150 edits of scenes with 6 vectors each left 1 MB behind, without end. A rebuild takes about a
    second per 600 memories and embeds nothing; readers have the old index meanwhile. An index on a Chroma server is
    left to the operator: what other programs store there during a rebuild would be missing from the new one, and the
    server keeps the files of the old one.
    """
    if not _has_followed(result) or stores.vectors(project_id).is_written_to:
        return result
    excess = _excess(stores, project_id)
    if excess is None:
        return result
    if isinstance(stores.vectors(project_id).location, ChromaServer):
        return result.with_issue(
            f"{excess} and is not built anew by itself, since other programs may write to the Chroma server: run "
            f"`novelgen reindex {project_id}` while nothing else stores scenes"
        )
    logger.info("project %r: %s; rebuilding it", project_id, excess)
    try:
        reindex(stores, project_id)
    except _FAILURES as error:
        logger.warning("project %r: the vector index was not made smaller: %s", project_id, error)
        return result.with_issue(f"{excess} and was not made smaller: {error}")
    return result


def _has_followed(result: IndexingResult) -> bool:
    return not result.waiting and bool(result.indexed or result.removed)


def _excess(stores: MemoryStores, project_id: str) -> str | None:
    """Say how many vectors an index keeps where they are far too many; None where they are not."""
    index = stores.vectors(project_id)
    # The files of a server are not ours to see: what was removed there is counted in SQL.
    is_counted = isinstance(index.location, ChromaServer)
    with stores.database(project_id).read() as unit:
        kept = unit.projects.require().index_removals if is_counted else kept_vectors(index.location, index.dimension)
        if kept <= SPARE_VECTORS:
            return None
        # Those that consolidated memories stand for are held as well, though no read sees them.
        memories = len(unit.memories.index_ids())
    kept += memories if is_counted else 0
    if kept <= SPARE_VECTORS + MAX_KEPT_PER_MEMORY * memories:
        return None
    return f"the vector index keeps {kept} vectors for {memories} memories"
