"""Protocols of memory tools, and an adapter for partial memories."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol, runtime_checkable

from novelgen.errors import MemoryAnswerError, MemoryToolError, UserInputError
from novelgen.memory import answers
from novelgen.memory.knowledge_story import KnowledgeStory
from novelgen.memory.outline import RECALLED_SCENES, StoryOutline, StoryRecap
from novelgen.memory.search import (
    ENTITY_RETRIEVER,
    SEMANTIC_RETRIEVER,
    Candidate,
    RetrieverHit,
    SearchQuery,
    SearchRequest,
    SearchResult,
)
from novelgen.memory.story_changes import StoryChanges
from novelgen.models.context import IssueKind, ReportIssue
from novelgen.models.memory import ContentType, StoryMemoryChunk
from novelgen.models.position import StoryPosition
from novelgen.models.state import EntityStateSnapshot

DEFAULT_CHAPTERS_AROUND = 2
"""Chapters before and after the one in the middle of a timeline. The tools call the argument `context_window`."""


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
        """Return an entity's state at a position, or None.

        Ids, names and aliases work.
        """
        ...

    def get_recent_timeline(
        self,
        project_id: str,
        chapter_index: int,
        *,
        context_window: int = DEFAULT_CHAPTERS_AROUND,
        as_of: StoryPosition | None = None,
    ) -> list[EntityStateSnapshot]:
        """Return the snapshots of the chapters around that one, in story order, all before `as_of`."""
        ...


@runtime_checkable
class StoryMemory(MemoryTools, Protocol):
    """Memory tools that also know the story: its entities, recent scenes, threads, and many queries at once."""

    def outline(self, project_id: str, *, as_of: StoryPosition) -> StoryOutline:
        """Return the outline strictly before the position."""
        ...

    def search(self, request: SearchRequest) -> SearchResult:
        """Run all queries of a request over all retrievers and return the candidates, unranked across retrievers."""
        ...

    def get_entity_states(
        self, project_id: str, entity_ids: Sequence[str], *, as_of: StoryPosition
    ) -> list[EntityStateSnapshot]:
        """Return the states of known entities at a position, in the given order."""
        ...


class FurtherReads(Protocol):
    """Reads that a memory may offer beside those of `StoryMemory`, any of them.

    A context does without what is missing.
    """

    def recap(self, project_id: str, *, as_of: StoryPosition, last_scenes: int = RECALLED_SCENES) -> StoryRecap:
        """Return the last scenes strictly before the position, and possible filters, for a planning model."""
        ...

    def memories_before(self, project_id: str, *, as_of: StoryPosition, most: int) -> list[StoryMemoryChunk]:
        """Return all memories and notes strictly before the position in story order; none where more than `most`."""
        ...

    def names_in_text(self, project_id: str, names: Sequence[str], *, as_of: StoryPosition) -> dict[str, list[str]]:
        """Return for each of the names that the text before the position holds all ways in which it says them.

        What they mean is a guess of rules, fit for finding passages and for nothing else. Names that the text does
        not hold are left out.
        """
        ...

    def scene_text(self, project_id: str, chapter_index: int, scene_index: int, *, as_of: StoryPosition) -> str:
        """Return a scene's text strictly before the position, empty if absent."""
        ...

    def knowledge(self, project_id: str, *, as_of: StoryPosition) -> KnowledgeStory:
        """Return the knowledge of the story strictly before the position."""
        ...

    def changes(self, project_id: str, entity_ids: Sequence[str], *, as_of: StoryPosition) -> StoryChanges:
        """Return the changes of entities strictly before the position, with them all holders.

        States can be folded from them as one character saw them. Without entities there is nothing to fold.
        """
        ...

    def read_moments(self, project_id: str, chunk_ids: Sequence[str]) -> dict[str, datetime]:
        """Return the times at which memories were last read, without unread ones."""
        ...


FurtherRead = Literal["recap", "memories_before", "names_in_text", "scene_text", "knowledge", "changes", "read_moments"]


def further_read(memory: object, name: FurtherRead) -> Callable[..., Any] | None:
    """Return a read of `FurtherReads` that a memory offers, or None."""
    read = getattr(memory, name, None)
    return read if callable(read) else None


def as_story_memory(tools: MemoryTools | StoryMemory) -> StoryMemory:
    """Return the tools as they are when they know the story, else an adapter over the three tools.

    Raises:
        UserInputError: When the object has none of the three tools.
    """
    return tools if isinstance(tools, StoryMemory) else PartialStoryMemory(tools)


TOOL_NAMES = ("search_story_memory", "get_entity_state", "get_recent_timeline")
"""The three tools; a memory may also name them as `runtime.memory_tools` does, with `_tool` at the end."""

MOST_PER_SEARCH = 50
"""Memories that one search of the three tools is asked for at most."""


class PartialStoryMemory:
    """A `StoryMemory` over the three tools, or some of them.

    It takes names in place of ids, since the tools do. Memories and states are cut by position and project once more.
    A tool that is missing raises, and so does an answer of another type; the chain reports both and goes on.

    Args:
        tools: An object with at least one of the three tools.

    Raises:
        UserInputError: When the object has none of them.
    """

    def __init__(self, tools: MemoryTools) -> None:
        results = {name: getattr(tools, name, None) or getattr(tools, f"{name}_tool", None) for name in TOOL_NAMES}
        self._tools: dict[str, Callable[..., Any]] = {name: tool for name, tool in results.items() if tool is not None}
        if not self._tools:
            raise UserInputError(f"{tools!r:.120} has none of the tools of a memory: {', '.join(TOOL_NAMES)}")

    def _tool(self, name: str) -> Callable[..., Any]:
        if name not in self._tools:
            raise MemoryToolError(f"the memory has no {name}; what it would bring is missing")
        return self._tools[name]

    def search_story_memory(self, project_id: str, query: str, **filters: Any) -> list[StoryMemoryChunk]:
        """Ask the search tool."""
        answer = self._tool("search_story_memory")(project_id, query, **filters)
        return answers.read_list("search_story_memory", answer, StoryMemoryChunk)

    def search(self, request: SearchRequest) -> SearchResult:
        """Run the queries and entity searches, one retriever result per list."""
        self._tool("search_story_memory")
        asked_places: list[tuple[int | None, str, SearchQuery]] = [
            (index, SEMANTIC_RETRIEVER, query) for index, query in enumerate(request.queries)
        ]
        if request.queries and request.entity_ids:
            of_entities = request.queries[0].model_copy(update={"entities": list(request.entity_ids)})
            asked_places.append((None, ENTITY_RETRIEVER, of_entities))
        hits: dict[str, list[RetrieverHit]] = {}
        chunks: dict[str, StoryMemoryChunk] = {}
        failures: list[Exception] = []
        for index, retriever, query in asked_places:
            try:
                memories = self.search_story_memory(
                    request.project_id,
                    query.text,
                    entities=query.entities or None,
                    content_type=query.content_type,
                    tags=query.tags or None,
                    top_k=min(request.candidates_per_query, MOST_PER_SEARCH),
                    as_of=request.as_of,
                )
            except MemoryAnswerError as error:
                failures.append(error)
                memories = error.usable or []
            except Exception as error:  # noqa: BLE001 - one query that fails must not cost the others
                failures.append(error)
                continue
            for rank, chunk in enumerate(memories, start=1):
                if chunk.project_id == request.project_id and request.as_of.admits(
                    chunk.chapter_index, chunk.scene_index
                ):
                    chunks[chunk.chunk_id] = chunk
                    hit = RetrieverHit(retriever=retriever, query_index=index, rank=rank, score=None)
                    hits.setdefault(chunk.chunk_id, []).append(hit)
        if failures and len(failures) == len(asked_places) and not chunks:
            raise failures[0]
        candidates = tuple(Candidate(chunk=chunks[name], hits=tuple(hits[name])) for name in sorted(chunks))
        issues = {str(error): _issue_of_search(error) for error in failures}
        return SearchResult(candidates=candidates, issues=tuple(issues.values()))

    def outline(self, project_id: str, *, as_of: StoryPosition) -> StoryOutline:
        """Return an empty outline: these tools do not know the story."""
        return StoryOutline(project_id=project_id)

    def get_entity_state(
        self, project_id: str, entity_id: str, *, chapter_index: int | None = None, scene_index: int | None = None
    ) -> EntityStateSnapshot | None:
        """Ask the state tool."""
        tool = self._tool("get_entity_state")
        answer = tool(project_id, entity_id, chapter_index=chapter_index, scene_index=scene_index)
        return answers.read_one("get_entity_state", answer, EntityStateSnapshot)

    def get_entity_states(
        self, project_id: str, entity_ids: Sequence[str], *, as_of: StoryPosition
    ) -> list[EntityStateSnapshot]:
        """Ask the state tool for one entity after the other."""
        return list(states_by_name(self, project_id, entity_ids, as_of=as_of).values())

    def get_recent_timeline(
        self,
        project_id: str,
        chapter_index: int,
        *,
        context_window: int = DEFAULT_CHAPTERS_AROUND,
        as_of: StoryPosition | None = None,
    ) -> list[EntityStateSnapshot]:
        """Ask the timeline tool."""
        tool = self._tool("get_recent_timeline")
        answer = tool(project_id, chapter_index, context_window=context_window, as_of=as_of)
        return answers.read_list("get_recent_timeline", answer, EntityStateSnapshot)


def states_by_name(
    memory: MemoryTools, project_id: str, names: Sequence[str], *, as_of: StoryPosition
) -> dict[str, EntityStateSnapshot]:
    """Return states by name at a position, the first name of an entity counting.

    Raises:
        MemoryToolError: When the tool is missing, or failed for some names; it keeps the states of the others.
    """
    states: dict[str, EntityStateSnapshot] = {}
    known_ids: set[str] = set()
    failure: Exception | None = None
    for name in names:
        try:
            answer = memory.get_entity_state(
                project_id, name, chapter_index=as_of.chapter_index, scene_index=as_of.scene_index
            )
            state = answers.read_one("get_entity_state", answer, EntityStateSnapshot)
        except Exception as error:  # noqa: BLE001 - one name that fails must not cost the others
            failure = error
            continue
        if state is not None and state.entity_id not in known_ids:
            known_ids.add(state.entity_id)
            states[name] = state
    if isinstance(failure, MemoryToolError):
        raise type(failure)(str(failure), usable=states)
    if failure is not None and states:
        raise MemoryToolError(f"get_entity_state failed: {failure!r:.200}", usable=states) from failure
    if failure is not None:
        raise failure
    return states


def _issue_of_search(error: Exception) -> ReportIssue:
    kind: IssueKind = "malformed" if isinstance(error, MemoryAnswerError) else "unavailable"
    return ReportIssue(stage="search", kind=kind, message=str(error) or type(error).__name__)
