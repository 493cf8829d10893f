"""Searching what the story has established, by meaning and by words."""

from __future__ import annotations

from collections.abc import Sequence

from novelgen.memory.search import RankedMemories
from novelgen.models.memory import ContentType, StoryMemoryChunk
from novelgen.models.position import StoryPosition
from runtime.search.story_memory import DEFAULT_TOP_K, StoryMemoryTools
from runtime.story.indexing import StoryIndexing


class StorySearch(StoryIndexing):
    """Searching what the story has established, by meaning and by words."""

    def search_memories(
        self,
        *,
        query: str,
        entities: Sequence[str] = (),
        content_type: ContentType | None = None,
        tags: Sequence[str] = (),
        top_k: int = DEFAULT_TOP_K,
        as_of: StoryPosition | None = None,
        min_relevance: float = 0.0,
    ) -> list[StoryMemoryChunk]:
        """Return the memories that fit a query, best first."""
        self.await_index()
        return StoryMemoryTools(self._stores).search_story_memory(
            self.project_id,
            query,
            entities=list(entities) or None,
            content_type=content_type,
            tags=list(tags) or None,
            top_k=top_k,
            as_of=as_of,
            min_relevance=min_relevance,
        )

    def rank_memories(
        self,
        *,
        query: str,
        entities: Sequence[str] = (),
        content_type: ContentType | None = None,
        top_k: int = DEFAULT_TOP_K,
        as_of: StoryPosition | None = None,
    ) -> RankedMemories:
        """Return the memories that fit a query with why, what holds in place of an outdated one, and what was missing."""
        self.await_index()
        return StoryMemoryTools(self._stores).rank_story_memory(
            self.project_id, query, entities=list(entities) or None, content_type=content_type, top_k=top_k, as_of=as_of
        )
