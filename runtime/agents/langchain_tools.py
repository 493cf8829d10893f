"""The three memory tools as LangChain tools for function calling.

The plain functions are in `runtime.memory_tools`. A chain that must not be led to another project binds it:
see `runtime.agents.toolset.build_story_tools`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from langchain_core.tools import BaseTool
from pydantic import BaseModel, ConfigDict, Field, create_model

from novelgen.memory.search import RankedMemory
from novelgen.models.memory import ContentType
from novelgen.models.position import END_OF_STORY, ChapterIndex, SceneIndex, StoryPosition
from runtime.agents.structured_tool import Answer, structured_tool
from runtime.search.story_memory import DEFAULT_CONTEXT_WINDOW, DEFAULT_TOP_K, MAX_TOP_K, StoryMemoryTools
from runtime.stores import MemoryStores

MAX_CONTEXT_WINDOW = 100


class PositionArgument(BaseModel):
    """A point of the story: only what lies strictly before it is read."""

    model_config = ConfigDict(extra="forbid")

    chapter_index: ChapterIndex = Field(description="Chapter that is being entered.")
    scene_index: SceneIndex | None = Field(default=None, description="Scene of that chapter that is being entered.")

    def position(self) -> StoryPosition:
        """Return the position."""
        return StoryPosition(self.chapter_index, self.scene_index)


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")

    project_id: str = Field(min_length=1, description="Id of the project.")


class SearchStoryMemoryArguments(_Arguments):
    """Arguments of search_story_memory_tool."""

    query: str = Field(min_length=1, description="What to look for, in the language of the story.")
    entities: list[str] | None = Field(
        default=None,
        description="Only memories of one of these: ids, names or aliases, chapters as chapter:3, or book.",
    )
    content_type: ContentType | None = Field(default=None, description="Only this kind of memory.")
    tags: list[str] | None = Field(default=None, description="Only memories with one of these tags.")
    top_k: int = Field(default=DEFAULT_TOP_K, ge=1, le=MAX_TOP_K, description="At most so many.")
    min_relevance: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description="Only what fits at least so well: by the likeness of meaning, or by holding the query's words.",
    )
    as_of: PositionArgument | None = Field(
        default=None, description="The scene being planned. Default: the end of what is stored."
    )


class GetEntityStateArguments(_Arguments):
    """Arguments of get_entity_state_tool."""

    entity_id: str = Field(min_length=1, description="Id, name or alias.")
    chapter_index: ChapterIndex | None = Field(
        default=None, description="Chapter at whose beginning to look. Default: after the last stored scene."
    )
    scene_index: SceneIndex | None = Field(
        default=None, description="Scene on entering which to look; needs chapter_index."
    )


class GetRecentTimelineArguments(_Arguments):
    """Arguments of get_recent_timeline_tool."""

    chapter_index: ChapterIndex = Field(description="The chapter in the middle.")
    context_window: int = Field(
        default=DEFAULT_CONTEXT_WINDOW, ge=0, le=MAX_CONTEXT_WINDOW, description="Chapters on either side."
    )
    as_of: PositionArgument | None = Field(
        default=None, description="The scene being planned. Default: the end of what is stored."
    )


_DESCRIPTIONS = {
    "search_story_memory_tool": (
        "Search what the story has established, by meaning and by words. Use it for facts, events,"
        " promises and secrets: one question per call. Returns memories, best first, each with its"
        " chapter and scene and what it is attached_to; one with superseded_by is outdated, and held_by"
        " names the source_id of what holds."
    ),
    "get_entity_state_tool": (
        "Look up how a character, place or thing stands at a point of the story: where it is, what it"
        " holds, wants and knows. Returns null as state when nothing is known of it by then."
    ),
    "get_recent_timeline_tool": (
        "List how characters, places and things stood at the end of the chapters around one chapter, in"
        " story order. Use it to see what changed lately."
    ),
}


def build_memory_tools(
    stores: MemoryStores, *, project_id: str | None = None, as_of: StoryPosition | None = None
) -> list[BaseTool]:
    """Build search_story_memory_tool, get_entity_state_tool and get_recent_timeline_tool over open stores.

    They answer with JSON objects: `{memories: […]}`, with `issues` where something was missing, `{state: {…} or null}`
    and `{snapshots: […]}`; what goes wrong comes back as `{success: false, error, hint}`.

    Args:
        stores: Open stores; they are not closed by the tools.
        project_id: The only project that the tools can reach, which is no argument of theirs then; None lets each
            call name its project.
        as_of: Position that is being planned: no call reads what does not lie strictly before it. None means the
            end of what is stored.
    """
    bodies = _MemoryToolBodies(StoryMemoryTools(stores), as_of or END_OF_STORY)
    tools: list[tuple[str, Callable[..., Answer], type[BaseModel]]] = [
        ("search_story_memory_tool", bodies.search, SearchStoryMemoryArguments),
        ("get_entity_state_tool", bodies.state, GetEntityStateArguments),
        ("get_recent_timeline_tool", bodies.timeline, GetRecentTimelineArguments),
    ]
    if project_id is not None:
        tools = [
            (name, partial(body, project_id=project_id), _without_project(arguments)) for name, body, arguments in tools
        ]
    return [structured_tool(name, _DESCRIPTIONS[name], body, arguments) for name, body, arguments in tools]


def _without_project(arguments: type[BaseModel]) -> type[BaseModel]:
    fields: dict[str, Any] = {
        name: (field.annotation, field) for name, field in arguments.model_fields.items() if name != "project_id"
    }
    return create_model(f"Story{arguments.__name__}", __config__=ConfigDict(extra="forbid"), **fields)


class _MemoryToolBodies:
    def __init__(self, tools: StoryMemoryTools, limit: StoryPosition) -> None:
        self._tools = tools
        self._limit = limit

    def search(self, *, project_id: str, query: str, as_of: PositionArgument | None = None, **filters: Any) -> Answer:
        found = self._tools.rank_story_memory(project_id, query, as_of=self._cut(as_of), **filters)
        answer: Answer = {"memories": [_told(each) for each in found.memories]}
        issues = [issue.message for issue in found.issues]
        return answer | ({"issues": issues} if issues else {})

    def state(self, *, project_id: str, entity_id: str, **position: int | None) -> Answer:
        cut = min(StoryPosition(**position), self._limit)
        state = self._tools.get_entity_state(
            project_id, entity_id, chapter_index=cut.chapter_index, scene_index=cut.scene_index
        )
        return {"state": None if state is None else state.model_dump(mode="json")}

    def timeline(
        self, *, project_id: str, chapter_index: int, as_of: PositionArgument | None = None, **window: int
    ) -> Answer:
        found = self._tools.get_recent_timeline(project_id, chapter_index, as_of=self._cut(as_of), **window)
        return {"snapshots": [snapshot.model_dump(mode="json") for snapshot in found]}

    def _cut(self, asked: PositionArgument | None) -> StoryPosition:
        return self._limit if asked is None else min(asked.position(), self._limit)


def _told(memory: RankedMemory) -> dict[str, Any]:
    told = memory.chunk.model_dump(mode="json", exclude_none=True)
    return told | ({"held_by": memory.held_by.source_id or memory.held_by.chunk_id} if memory.held_by else {})
