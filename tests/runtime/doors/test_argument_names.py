"""One name for one thing: arguments of all operations, and what their answers call what the next call takes."""

import json
import re

import pytest
from pydantic import TypeAdapter

from runtime.doors.arguments import arguments_of
from runtime.doors.operations import BY_NAME, Operation
from runtime.doors.tools import TOOLS, Tool

SYNONYMS = {
    "character": "character_id",
    "who": "character_id",
    "entity": "entity_id",
    "first": "character_a",
    "second": "character_b",
    "other_character": "other_id",
    "thread_id": "loop_id",
    "open_loop_id": "loop_id",
    "resolution_summary": "summary",
    "memory": "memory_id",
    "chunk": "memory_id",
    "note_id": "memory_id",
    "place": "position",
    "chapter": "chapter_index",
    "scene": "scene_index",
    "project": "project_id",
    "status_is": "status_filter",
}
"""A name that no argument has, to the one that means the same."""

OF_MEMORIES = ("add_note", "edit_memory", "remember_event", "tell_world_event")
"""Operations that write a memory: its words are `content`, and `text` is the text of a scene or a draft."""


@pytest.mark.parametrize("operation", BY_NAME.values(), ids=lambda operation: operation.name)
def test_no_argument_has_a_synonym(operation: Operation) -> None:
    """Neither in the method's signature, which Python, HTTP and the shell share, nor in the path."""
    names = {*arguments_of(operation.function).model_fields, *re.findall(r"{(\w+)}", operation.http)}
    assert {name: SYNONYMS[name] for name in names & SYNONYMS.keys()} == {}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.operation.name)
def test_no_tool_has_a_synonym(tool: Tool) -> None:
    """Agents give a scene as `chapter_index` and `scene_index`, and a project as `project_id`."""
    names = set(tool.arguments({"project_id": "Project id."}).model_fields)
    assert {name: SYNONYMS[name] for name in names & SYNONYMS.keys()} == {}
    assert "position" not in names


@pytest.mark.parametrize("name", OF_MEMORIES)
def test_the_words_of_a_memory_are_its_content(name: str) -> None:
    """As every answer calls them."""
    operation = BY_NAME[name]
    names = set(arguments_of(operation.function).model_fields)
    assert ("content" in names, "text" in names) == (True, False)
    assert '"content"' in json.dumps(TypeAdapter(operation.result).json_schema(mode="serialization"))


def test_memories_are_created_and_updated_with_the_same_arguments() -> None:
    """What a memory is made of can be changed by the same name."""
    created, updated = (set(arguments_of(BY_NAME[name].function).model_fields) for name in ("add_note", "edit_memory"))
    assert {"content", "attached_to", "short", "importance", "tags", "event_type"} <= created & updated


SEEDS_TOOLS = {
    "relationship_create": "character_a! character_b! relationship_type! perspective_a! perspective_b! status"
    " intensity",
    "relationship_update": "character_a! character_b! status event scene_id intensity",
    "relationship_query": "character_id! status_filter",
    "resolve_open_loop": "loop_id! scene_id summary!",
    "create_memory": "content! attached_to",
    "update_memory": "memory_id! content attached_to",
}
"""Arguments of the tools of seeds 000 and 003; `!` where one is needed."""


@pytest.mark.parametrize("name", SEEDS_TOOLS)
def test_the_seeds_tools_take_the_seeds_arguments(name: str) -> None:
    """By one name over MCP and in LangChain."""
    [tool] = [tool for tool in TOOLS if tool.mcp == name]
    assert tool.langchain == name
    fields = tool.arguments({}).model_fields
    wanted = SEEDS_TOOLS[name].split()
    assert {each.rstrip("!") for each in wanted} <= fields.keys()
    assert {field for field, info in fields.items() if info.is_required()} == {
        each.rstrip("!") for each in wanted if each.endswith("!")
    }
