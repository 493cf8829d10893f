"""The vector index of a project: following the database, and building it anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from runtime.ingest.indexing import (
    IndexingResult,
    apply_embedding_settings,
    drain_outbox,
    rebuild_if_bloated,
    reindex,
    verify_after_crash,
    verify_index,
)
from runtime.story.async_twins import async_twin
from runtime.story.base import Progress, StoryBase


class ReindexResult(BaseModel):
    """A vector index that was built anew."""

    chosen: int = 0
    """Memories that are embedded otherwise than before, since a setting changed."""
    indexing: IndexingResult
    verification: str
    is_sound: bool


class StoryIndexing(StoryBase):
    """The vector index of a project: following the database, and building it anew."""

    def reindex(self, *, progress: Progress | None = None) -> ReindexResult:
        """Build the vector index anew, as is needed when the embedding model changes; the database stays as it is.

        Args:
            progress: Called with the memories done and the memories in all.

        Raises:
            StoreError: When the database, the embedding model or the index fails; the old index stays.
        """
        chosen = apply_embedding_settings(self._stores, self.project_id)
        indexing = reindex(self._stores, self.project_id, progress=progress)
        verification = verify_index(self._stores, self.project_id)
        return ReindexResult(
            chosen=chosen, indexing=indexing, verification=str(verification), is_sound=verification.is_sound
        )

    def index_project(self, *, progress: Callable[[int, int], Any] | None = None) -> IndexingResult:
        """Bring the vector index up to what the database says, going on where an earlier run stopped."""
        result = drain_outbox(self._stores, self.project_id, progress=progress)
        return rebuild_if_bloated(
            self._stores, self.project_id, verify_after_crash(self._stores, self.project_id, result)
        )

    areindex = async_twin(reindex)
    aindex_project = async_twin(index_project)
