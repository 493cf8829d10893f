"""The seam between the chain and the world: what the memory tools must offer, and how less is made to answer as all."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol, runtime_checkable

from novelgen.memory.outline import RECALLED_SCENES, StoryChanges, StoryOutline, StoryRecap
from novelgen.memory.search import Candidate, RetrieverHit, SearchRequest, SearchResult
from novelgen.memory.story import KnowledgeStory
from novelgen.models.memory import ContentType, StoryMemoryChunk
from novelgen.models.position import StoryPosition
from novelgen.models.state import EntityStateSnapshot

DEFAULT_CONTEXT_WINDOW = 2
"""Chapters before and after the one that is asked for."""


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
        self, project_id: str, entity_id: str, *, chapter_index: int | None = None, scene_index: int | None = None
    ) -> EntityStateSnapshot | None:
        """Return the entity's state at that position, or None when it has none; ids, names and aliases work."""
        ...

    def get_recent_timeline(
        self, project_id: str, chapter_index: int, *, context_window: int = 2, as_of: StoryPosition | None = None
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


@runtime_checkable
class RecapMemory(Protocol):
    """A memory that can also tell a planning model how the story came to the scene; it is not asked without one."""

    def recap(self, project_id: str, *, as_of: StoryPosition, last_scenes: int = RECALLED_SCENES) -> StoryRecap:
        """Return the last scenes strictly before the position in a few words, and what filters can name there."""
        ...


@runtime_checkable
class TextNames(Protocol):
    """A memory that may also say which names, though no entity bears them, stand in the story's text."""

    def names_in_text(self, project_id: str, names: Sequence[str], *, as_of: StoryPosition) -> dict[str, list[str]]:
        """Return for each of the names that the text before the position holds all ways in which it says them.

        What they mean is a guess of rules, fit for finding passages and for nothing else. Names that the text does
        not hold are left out.
        """
        ...


@runtime_checkable
class SceneTexts(Protocol):
    """A memory that also gives the text of a scene."""

    def scene_text(self, project_id: str, chapter_index: int, scene_index: int, *, as_of: StoryPosition) -> str:
        """Return the text of a scene strictly before the position; empty where none is stored."""
        ...


@runtime_checkable
class KnowingMemory(Protocol):
    """A memory from which it follows who knows what."""

    def knowledge(self, project_id: str, *, as_of: StoryPosition) -> KnowledgeStory:
        """Return the story strictly before the position as it bears on who knows what."""
        ...


@runtime_checkable
class ChangesMemory(Protocol):
    """A memory that also gives single changes, so that they can be folded as one character saw them."""

    def changes(self, project_id: str, entity_ids: Sequence[str], *, as_of: StoryPosition) -> StoryChanges:
        """Return what changed about the entities strictly before the position, and all stated holders."""
        ...


@runtime_checkable
class ReadMoments(Protocol):
    """A memory that also knows when its memories were last read, as far as readers asked for it to be noted."""

    def read_moments(self, project_id: str, chunk_ids: Sequence[str]) -> dict[str, datetime]:
        """Return the moments of those memories that were read; the others are left out."""
        ...


def as_story_memory(tools: MemoryTools | StoryMemory) -> StoryMemory:
    """Return the tools as they are when they know the story, else an adapter that asks what they have."""
    return tools if isinstance(tools, StoryMemory) else PartialStoryMemory(tools)


class PartialStoryMemory:
    """A `StoryMemory` over tools of which only `search_story_memory` must exist.

    What the tools cannot answer is empty, which is not a failure. Whatever they return is cut by position
    and project once more.
    """

    def __init__(self, tools: MemoryTools) -> None:
        self._tools = tools
        self.search_story_memory = tools.search_story_memory

    def search(self, request: SearchRequest) -> SearchResult:
        """Ask the queries one by one; each list counts as one retriever's answer."""
        hits: dict[str, list[RetrieverHit]] = {}
        chunks: dict[str, StoryMemoryChunk] = {}
        for index, query in enumerate(request.queries):
            found = self._tools.search_story_memory(
                request.project_id,
                query.text,
                entities=query.entities or None,
                content_type=query.content_type,
                tags=query.tags or None,
                top_k=min(request.candidates_per_query, 50),
                as_of=request.as_of,
            )
            for rank, chunk in enumerate(found, start=1):
                if chunk.project_id == request.project_id and request.as_of.admits(
                    chunk.chapter_index, chunk.scene_index
                ):
                    chunks[chunk.chunk_id] = chunk
                    hit = RetrieverHit(retriever="semantic", query_index=index, rank=rank, score=None)
                    hits.setdefault(chunk.chunk_id, []).append(hit)
        return SearchResult(
            candidates=tuple(Candidate(chunk=chunks[name], hits=tuple(hits[name])) for name in sorted(chunks))
        )

    def outline(self, project_id: str, *, as_of: StoryPosition) -> StoryOutline:
        """Return an empty outline: these tools do not know the story."""
        return StoryOutline(project_id=project_id)

    def get_entity_state(
        self, project_id: str, entity_id: str, *, chapter_index: int | None = None, scene_index: int | None = None
    ) -> EntityStateSnapshot | None:
        """Ask the tools' own state tool, or return None when they have none."""
        if not hasattr(self._tools, "get_entity_state"):
            return None
        return self._tools.get_entity_state(project_id, entity_id, chapter_index=chapter_index, scene_index=scene_index)

    def get_entity_states(
        self, project_id: str, entity_ids: Sequence[str], *, as_of: StoryPosition
    ) -> list[EntityStateSnapshot]:
        """Ask the tools for one state after the other."""
        states = (
            self.get_entity_state(project_id, each, chapter_index=as_of.chapter_index, scene_index=as_of.scene_index)
            for each in entity_ids
        )
        return [state for state in states if state is not None]

    def get_recent_timeline(
        self, project_id: str, chapter_index: int, *, context_window: int = 2, as_of: StoryPosition | None = None
    ) -> list[EntityStateSnapshot]:
        """Ask the tools' own timeline, or return nothing when they have none."""
        if not hasattr(self._tools, "get_recent_timeline"):
            return []
        return self._tools.get_recent_timeline(project_id, chapter_index, context_window=context_window, as_of=as_of)
