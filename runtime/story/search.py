"""Searching what the story has established, by meaning and by words."""

from __future__ import annotations

from collections.abc import Sequence

from novelgen.memory.search import RankedMemories
from novelgen.models.memory import ContentType, StoryMemoryChunk
from novelgen.models.position import StoryPosition
from novelgen.models.shown import ShownList
from runtime.search.story_memory import DEFAULT_TOP_K
from runtime.story.async_twins import async_twin
from runtime.story.base import Count, Place, Share, StoryBase, Text, position_of


class StorySearch(StoryBase):
    """Searching what the story has established, by meaning and by words."""

    def search(
        self,
        query: Text,
        *,
        entities: Sequence[str] | None = None,
        content_type: ContentType | None = None,
        tags: Sequence[str] | None = None,
        top_k: Count = DEFAULT_TOP_K,
        as_of: Place = None,
        min_relevance: Share = 0.0,
    ) -> list[StoryMemoryChunk]:
        """Search what the story has established, by meaning and by words; best first.

        Args:
            query: What to look for, in the story's language.
            entities: Only memories of one of these: entities, chapters as `chapter:3`, or `book`.
            content_type: Only this kind: scene, dialogue, description, summary, memory or note.
            tags: Only memories with one of these tags.
            top_k: At most so many.
            as_of: Only what lies strictly before this position.
            min_relevance: Only what fits at least so well, from 0 (all) to 1: by the cosine of the embedding model, or
                by the share of the query's words that it holds. With the built-in model .84 (English) or .87
                (Chinese) keeps out what has nothing to do with the story.

        Raises:
            UserInputError: When the query is empty, or the relevance is not from 0 to 1.
            StoreError: When nothing of the search could answer.
        """
        self._awaken()
        found = self._tools.search_story_memory(
            self.project_id,
            query,
            entities=entities,
            content_type=content_type,
            tags=tags,
            top_k=top_k,
            as_of=position_of(as_of),
            min_relevance=min_relevance,
        )
        return ShownList(found)

    def rank_memories(
        self,
        *,
        query: str,
        entities: Sequence[str] = (),
        content_type: ContentType | None = None,
        top_k: int = DEFAULT_TOP_K,
        as_of: StoryPosition | None = None,
    ) -> RankedMemories:
        """Return the memories that fit a query with why, and what holds in place of an outdated one."""
        self._awaken()
        return self._tools.rank_story_memory(
            self.project_id, query, entities=list(entities) or None, content_type=content_type, top_k=top_k, as_of=as_of
        )

    asearch = async_twin(search)
    arank_memories = async_twin(rank_memories)
