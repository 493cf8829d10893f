"""The seam between the chain and the world: what the memory tools must offer.

`MemoryTools` is the whole that the chain needs at the least; tools that also are `StoryMemory` give it the
known entities, the threads and many queries at once. Both come as one argument; `runtime` has the real
ones, `novelgen.memory.in_memory` a double for tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from novelgen.memory.outline import StoryOutline
from novelgen.memory.search import SearchRequest, SearchResult
from novelgen.models.memory import ContentType, StoryMemoryChunk
from novelgen.models.position import StoryPosition
from novelgen.models.state import EntityStateSnapshot


@runtime_checkable
class MemoryTools(Protocol):
    """The three tools of the specification."""

    def search_story_memory(
        self,
        project_id: str,
        query: str,
        *,
        entities: Sequence[str] | None = None,
        content_type: ContentType | None = None,
        tags: Sequence[str] | None = None,
        top_k: int = 10,
        as_of: StoryPosition | None = None,
    ) -> list[StoryMemoryChunk]:
        """Return the memories that fit the query, best first, all strictly before `as_of`."""
        ...

    def get_entity_state(
        self,
        project_id: str,
        entity_id: str,
        *,
        chapter_index: int | None = None,
        scene_index: int | None = None,
    ) -> EntityStateSnapshot | None:
        """Return the entity's state at that position, or None when it has none; ids, names and aliases work."""
        ...

    def get_recent_timeline(
        self,
        project_id: str,
        chapter_index: int,
        *,
        context_window: int = 2,
        as_of: StoryPosition | None = None,
    ) -> list[EntityStateSnapshot]:
        """Return the snapshots of the chapters around that one, in story order, all before `as_of`."""
        ...


@runtime_checkable
class StoryMemory(MemoryTools, Protocol):
    """Memory tools that also know the story: its entities, recent scenes, threads, and many queries at once."""

    def outline(self, project_id: str, *, as_of: StoryPosition) -> StoryOutline:
        """Return what the story has shown strictly before the position: entities, scenes, loops, relations."""
        ...

    def search(self, request: SearchRequest) -> SearchResult:
        """Run all queries of a request over all retrievers and return the candidates, unranked across retrievers."""
        ...

    def get_entity_states(
        self, project_id: str, entity_ids: Sequence[str], *, as_of: StoryPosition
    ) -> list[EntityStateSnapshot]:
        """Return the states of several entities at a position, in the order asked; unknown ones are left out."""
        ...
