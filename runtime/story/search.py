"""Searching what the story has established, by meaning and by words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from novelgen.memory.search import RankedMemory
from novelgen.models.memory import ContentType, StoryMemoryChunk
from novelgen.models.shown import ShownList
from runtime.search.story_memory import DEFAULT_TOP_K, MAX_TOP_K
from runtime.story.async_twins import async_twin
from runtime.story.base import Place, Share, StoryBase, Text, position_of


class FoundMemory(StoryMemoryChunk):
    """A memory at its place in the answer to a query."""

    score: float = Field(description="From 0 to 1: how well it fits the query.")
    held_by: str | None = Field(
        default=None, description="source_id of the memory that holds in its place; null: it holds itself."
    )


class StorySearch(StoryBase):
    """Searching what the story has established, by meaning and by words."""

    def search(
        self,
        query: Text,
        *,
        entities: Sequence[str] | None = None,
        content_type: ContentType | None = None,
        tags: Sequence[str] | None = None,
        top_k: Annotated[int, Field(ge=1, le=MAX_TOP_K)] = DEFAULT_TOP_K,
        as_of: Place = None,
        min_relevance: Share = 0.0,
    ) -> ShownList[FoundMemory]:
        """Search what the story has established, by meaning and by words; best first.

        What was missing while it was searched (an index, a name that nobody bears) stands in `issues` of the list.

        Args:
            query: What to look for, in the story's language.
            entities: Only memories of one of these: entities, chapters as `chapter:3`, or `book`.
            content_type: Only this kind: scene, dialogue, description, summary, memory or note.
            tags: Only memories with one of these tags.
            top_k: At most so many, 1 to 200.
            as_of: Only what lies strictly before this position.
            min_relevance: Only what fits at least so well, from 0 (all) to 1: by the cosine of the embedding model, or
                by the share of the query's words that it holds. With the built-in model .84 (English) or .87
                (Chinese) keeps out what has nothing to do with the story.

        Raises:
            UserInputError: When the query is empty, or the relevance is not from 0 to 1.
            StoreError: When nothing of the search could answer.
        """
        self._awaken()
        found = self._tools.rank_story_memory(
            self.project_id,
            query,
            entities=entities,
            content_type=content_type,
            tags=tags,
            top_k=top_k,
            as_of=position_of(as_of),
            min_relevance=min_relevance,
        )
        return ShownList(map(_found, found.memories), issues=found.issues)

    asearch = async_twin(search)


def _found(ranked: RankedMemory) -> FoundMemory:
    holder = ranked.held_by
    return FoundMemory(
        **dict(ranked.chunk), score=ranked.score, held_by=holder and (holder.source_id or holder.chunk_id)
    )
