"""After an index was interrupted at work: proving it against SQL, and building it anew where it lost vectors."""

from __future__ import annotations

import logging

from novelgen.errors import ConfigurationError, DeadlineExceededError, StoreError
from runtime.ingest.indexing import IndexingResult, reindex, verify_index
from runtime.stores import MemoryStores

logger = logging.getLogger(__name__)


def proven(stores: MemoryStores, project_id: str, result: IndexingResult) -> IndexingResult:
    """Verify an embedded index whose process was killed at work, and build it anew when it is not sound.

    Chroma keeps its vectors in several files that are not written at one stroke, so that a kill may cost some of
    them without a word. A reader cannot tell; the next writer looks, once.

    Args:
        stores: The stores.
        project_id: The project.
        result: Of bringing the index up to date; while entries wait, or where nothing was to be done, nothing is.

    Returns:
        The result, with an issue where the index could not be verified or built anew; it stays in doubt then.
    """
    if result.waiting or not (result.indexed or result.removed):
        return result
    if not stores.vectors(project_id).in_doubt:
        return result
    try:
        verification = verify_index(stores, project_id)
        if not verification.is_sound:
            logger.warning(
                "project %r: the vector index was interrupted (%s); building it anew",
                project_id,
                verification,
            )
            reindex(stores, project_id)
    except (StoreError, ConfigurationError, DeadlineExceededError) as error:
        logger.warning("project %r: the interrupted vector index was not proven: %s", project_id, error)
        return result.with_issue(
            f"the vector index was interrupted and could not be proven sound: {error}; "
            "run `novelgen doctor --repair`"
        )
    return result
