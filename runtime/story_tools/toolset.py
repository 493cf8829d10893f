"""The story tools as LangChain tools for function calling.

Function names cannot hold dots: `memory_search` is memory.search, `character_generate` character.generate,
`location_generate` location.generate, `relationship_create`, `relationship_update` and `relationship_query`
are relationship.create, .update and .query, `open_loop_create` and `open_loop_resolve` open_loop.create and
.resolve. memory.upsert is `entity_tools.memory_upsert`, for code and the command line: a planner that could
change any field could undo the author's work.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from langchain_core.tools import BaseTool
from pydantic import BaseModel

from novelgen.models.position import END_OF_STORY, StoryPosition, require_project_id
from runtime.stores import MemoryStores
from runtime.story_tools import arguments
from runtime.story_tools.card_search import CardSearch
from runtime.story_tools.entity_tools import character_generate, location_generate
from runtime.story_tools.loop_tools import open_loop_create, open_loop_resolve
from runtime.story_tools.refusals import Answer
from runtime.story_tools.relationship_tools import (
    relationship_create,
    relationship_query,
    relationship_update,
)
from runtime.story_tools.story_scope import StoryScope
from runtime.story_tools.structured_tool import structured_tool

_DESCRIPTIONS = {
    "memory_search": (
        "Search the story's memory for characters, locations and scenes by name or meaning. Use it before you"
        " create anything, and whenever you need an id. Returns the best fits with id, name, relevance from 0"
        " to 1 and a snippet."
    ),
    "character_generate": (
        "Create a new character. Only for somebody who is not known yet: search first. Returns the new"
        " character's id."
    ),
    "location_generate": (
        "Create a new location. Only for a place that is not known yet: search first. Returns the new"
        " location's id."
    ),
    "relationship_create": (
        "Record how two characters stand who have no relationship yet, seen from both sides. Returns the"
        " relationship's id."
    ),
    "relationship_update": (
        "Record that the relationship of two characters changed, named in either order: a new status, a new"
        " intensity, or an event between them. Give at least one of the three."
    ),
    "relationship_query": (
        "List how one character stands to others, from that character's side, optionally only relationships"
        " of one status such as strained. Use it before you write a scene with that character."
    ),
    "open_loop_create": (
        "Record a question, promise or threat that the story has opened and must answer later. Returns the"
        " open loop's id."
    ),
    "open_loop_resolve": "Record that an open loop was answered, or that it was dropped (abandoned).",
}


def build_story_tools(
    stores: MemoryStores, project_id: str, as_of: StoryPosition | None = None
) -> list[BaseTool]:
    """Build the tools of a planner for one project.

    Every answer is a JSON object; what goes wrong comes back as `{success: false, error, hint}` instead of
    an exception. What a tool states holds after the last scene before the position.

    Args:
        stores: Open stores; they are not closed by the tools.
        project_id: The only project that the tools can reach.
        as_of: Position that is being planned: only what lies strictly before it is read. None means the end
            of what is stored.

    Returns:
        memory_search, character_generate, location_generate, relationship_create, relationship_update,
        relationship_query, open_loop_create and open_loop_resolve.

    Raises:
        InvalidProjectIdError: When the project id is not a plain, path-free string.
    """
    scope = StoryScope(stores, require_project_id(project_id), as_of or END_OF_STORY)
    bodies: dict[str, tuple[Callable[..., Answer], type[BaseModel]]] = {
        "memory_search": (CardSearch(scope), arguments.MemorySearchArguments),
        "character_generate": (partial(character_generate, scope), arguments.CharacterGenerateArguments),
        "location_generate": (partial(location_generate, scope), arguments.LocationGenerateArguments),
        "relationship_create": (partial(relationship_create, scope), arguments.RelationshipCreateArguments),
        "relationship_update": (partial(relationship_update, scope), arguments.RelationshipUpdateArguments),
        "relationship_query": (partial(relationship_query, scope), arguments.RelationshipQueryArguments),
        "open_loop_create": (partial(open_loop_create, scope), arguments.OpenLoopCreateArguments),
        "open_loop_resolve": (partial(open_loop_resolve, scope), arguments.OpenLoopResolveArguments),
    }
    return [
        structured_tool(name, _DESCRIPTIONS[name], body, schema) for name, (body, schema) in bodies.items()
    ]
