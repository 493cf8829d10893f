"""Searching what the story has established, by meaning and by words."""

from __future__ import annotations

from collections.abc import Sequence

from novelgen.memory.search import RankedMemories
from novelgen.models.memory import ContentType, StoryMemoryChunk
from novelgen.models.position import StoryPosition
from runtime.search.story_memory import DEFAULT_TOP_K, StoryMemoryTools
from runtime.services.indexing import await_index
from runtime.stores import MemoryStores


def search_memories(
    stores: MemoryStores,
    project_id: str,
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
    await_index(stores, project_id)
    return StoryMemoryTools(stores).search_story_memory(
        project_id,
        query,
        entities=list(entities) or None,
        content_type=content_type,
        tags=list(tags) or None,
        top_k=top_k,
        as_of=as_of,
        min_relevance=min_relevance,
    )


def rank_memories(
    stores: MemoryStores,
    project_id: str,
    *,
    query: str,
    entities: Sequence[str] = (),
    content_type: ContentType | None = None,
    top_k: int = DEFAULT_TOP_K,
    as_of: StoryPosition | None = None,
) -> RankedMemories:
    """Return the memories that fit a query with why, what holds in place of an outdated one, and what was missing."""
    await_index(stores, project_id)
    return StoryMemoryTools(stores).rank_story_memory(
        project_id, query, entities=list(entities) or None, content_type=content_type, top_k=top_k, as_of=as_of
    )
