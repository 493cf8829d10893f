"""The tools as an agent's client has them: what they offer, answer, store and refuse."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.types import CallToolResult, Tool

from runtime.doors.tools import MCPOffer
from tests.runtime.doors.mcp.agents import READING, asked, text_of
from tests.support.scripted_chat_model import answering

PLAN = {"location": "the Three Herons", "characters": ["Ines", "Sparrow"], "purpose": "Ines hides the key"}

CALLS: dict[str, dict[str, Any]] = {
    "build_scene_context": {"chapter_index": 3, "scene_index": 1, "scene_plan": PLAN, "pov": "Ines"},
    "check_draft": {"text": "Elias Marrow greeted her.", "chapter_index": 3, "scene_index": 1, "use_model": False},
    "what_changed": {"since": "2:1", "until": "2:2"},
    "search_story_memory": {"query": "who holds the heron key", "top_k": 2, "as_of": "3:1"},
    "get_entity_state": {"entity": "Ines", "as_of": "2:1"},
    "get_recent_timeline": {"chapter_index": 2, "context_window": 0},
    "list_entities": {"entity_type": "character", "name": "sparr"},
    "get_entity_card": {"entity": "Sparrow"},
    "who_knows": {"memory_id": "M001", "as_of": "2:1"},
    "get_character_knowledge": {"character": "Sparrow", "about": "key", "as_of": "3"},
    "list_threads": {"on_stage": ["Ines"], "limit": 2},
    "list_scenes": {"limit": 2},
    "read_scene": {"position": "1:1", "length": 60},
    "add_note": {"text": "Ines never lends her father's watch.", "attached_to": ["Ines"], "start": "2:1"},
    "ingest_scene": {"position": "7:1", "text": "Ines went home. It rained."},
    "extract_scene": {"scenes": ["7:1"]},
    "add_thread": {"description": "Who rang the bell at noon?", "characters": ["Sparrow"]},
    "resolve_thread": {"thread_id": "OL16", "summary": "Sorrel cut it."},
    "abandon_thread": {"thread_id": "OL14", "summary": "Forgotten."},
    "waive_finding": {"issue_id": "K0123456789ab", "note": "A ghost."},
    "edit_memory": {"memory_id": "M001", "content": "Ines found a brass key with a heron.", "importance": 9},
    "pin_memory": {"memory_id": "M001"},
    "unpin_memory": {"memory_id": "M001"},
    "ban_memory": {"memory_id": "M001"},
    "unban_memory": {"memory_id": "M001"},
    "delete_memory": {"memory_id": "M002"},
    "correct_entity": {"entity": "Sparrow", "changes": {"alias": "the ringer's boy", "role": "bell-ringer"}},
    "add_card": {"name": "the cracked bell", "kind": "item", "holder": "Sparrow"},
    "rename_card": {"entity": "the cracked bell", "new_name": "the mended bell"},
    "delete_card": {"entity": "the cracked bell"},
    "merge_entities": {"keep": "Sparrow", "gone": "Captain Varga"},
    "undo_change": {"change_id": 1},
    "character_remember": {"character": "Sparrow", "text": "A stranger gave me an apple.", "importance": 6},
    "character_recall": {"character": "Sparrow", "said": "Did you eat the apple?"},
}

BOTH = ("search_story_memory", "list_entities", "get_entity_card", "character_remember", "character_recall")

GAME_CALLS: dict[str, dict[str, Any]] = {name: CALLS[name] for name in BOTH} | {
    "list_character_memories": {"character": "Sparrow"},
    "add_character": {"name": "Gregor", "description": "The blacksmith."},
    "add_location": {"name": "the smithy", "description": "Hot and loud."},
    "add_relationship": {
        "first": "Gregor",
        "second": "Sparrow",
        "relationship_type": "friends",
        "perspective_a": "A good boy.",
        "perspective_b": "He feeds me.",
    },
    "edit_relationship": {"first": "Gregor", "second": "Sparrow", "status": "strained"},
    "list_relationships": {"character": "Gregor"},
    "delete_relationship": {"first": "Gregor", "second": "Sparrow"},
    "character_tell": {"character": "Sparrow", "listener": "Gregor", "what": "apple"},
    "change_feelings": {"character": "Gregor", "deltas": {"trust": 5}},
    "get_feelings": {"character": "Gregor"},
    "keep_secret": {
        "character": "Gregor",
        "secret": {"secret_id": "deal", "text": "Gregor forged the false seal.", "unlock": {"item": "the seal"}},
    },
    "list_secrets": {"character": "Gregor"},
    "check_reply": {"character": "Gregor", "text": "Gregor forged the false seal."},
    "show_item": {"character": "Gregor", "item": "the seal"},
    "reveal_secret": {"character": "Gregor", "secret_id": "deal"},
    "drop_secret": {"character": "Gregor", "secret_id": "deal"},
    "tell_world_event": {"text": "The bell fell.", "witnesses": ["Sparrow"], "told_to": ["Gregor"]},
    "list_world_events": {},
    "set_flag": {"name": "bell_fell", "value": True},
    "list_flags": {},
    "delete_character_memory": {"character": "Sparrow", "memory_id": "CM0"},
    "undo_change": {},
}


def tools_of(projects_dir: Path, **options: Any) -> dict[str, Tool]:
    """Return the tools that a client is offered."""

    async def ask(client: Client) -> list[Tool]:
        return (await client.list_tools()).tools

    return {each.name: each for each in asked(projects_dir, ask, **options)}


def answer_of(projects_dir: Path, tool: str, arguments: Mapping[str, Any], **options: Any) -> CallToolResult:
    """Return what one call is answered."""

    async def ask(client: Client) -> CallToolResult:
        return await client.call_tool(tool, dict(arguments))

    return asked(projects_dir, ask, **options)


@pytest.mark.parametrize(("offer", "calls"), [("story", CALLS), ("game", GAME_CALLS)])
def test_every_tool_answers_as_it_says(demo_folder: Path, offer: MCPOffer, calls: dict[str, dict[str, Any]]) -> None:
    """Each tool's answer fits the schema that it offers, and its text is neither empty nor a Python object."""

    async def ask(client: Client) -> dict[str, CallToolResult]:
        return {name: await client.call_tool(name, arguments) for name, arguments in calls.items()}

    tools = tools_of(demo_folder, offer=offer)
    assert set(tools) == set(calls)
    model = answering(json.dumps({"summary": ["Ines goes home in the rain."], "memories": []}))
    for name, answer in asked(demo_folder, ask, chat_model=model, offer=offer).items():
        assert not answer.is_error, (name, text_of(answer))
        schema = tools[name].output_schema
        assert schema is not None
        Draft202012Validator(schema).validate(answer.structured_content)
        assert text_of(answer).strip()


@pytest.mark.parametrize("offer", ["story", "game"])
def test_the_offer_is_small(demo_folder: Path, offer: MCPOffer) -> None:
    """What every model that is given the tools pays for stays within 7,500 tokens of four characters."""
    offered = [
        each.model_dump_json(include={"name", "description", "input_schema"}, exclude_none=True)
        for each in tools_of(demo_folder, project_id=None, offer=offer).values()
    ]
    assert sum(map(len, offered)) < 30_000
    assert '"title":"' not in "".join(offered)


def test_a_fixed_project_is_no_argument(demo_folder: Path) -> None:
    """With one project no tool takes one, and none is listed; without, every tool needs one by its id."""
    fixed, many = tools_of(demo_folder), tools_of(demo_folder, project_id=None)
    assert set(many) - set(fixed) == {"list_projects"}
    assert not any("project" in each.input_schema["properties"] for each in fixed.values())
    for name in fixed:
        assert "project" in many[name].input_schema["required"]
    refused = answer_of(demo_folder, "list_scenes", {"project": "demo-zh"})
    assert refused.is_error
    assert "project" in text_of(refused)


def test_a_project_is_chosen_from_the_list(demo_folder: Path) -> None:
    """The list tells ids with what each story holds, and a tool with such an id reads that story."""

    async def ask(client: Client) -> tuple[CallToolResult, CallToolResult]:
        listed = await client.call_tool("list_projects", {})
        return listed, await client.call_tool("list_scenes", {"project": "demo-zh", "limit": 1})

    listed, scenes = asked(demo_folder, ask, project_id=None)
    assert listed.structured_content is not None
    assert scenes.structured_content is not None
    projects = {each["project_id"]: each for each in listed.structured_content["projects"]}
    assert set(projects) == {"demo", "demo-zh"}
    assert projects["demo-zh"]["scenes"] > len(scenes.structured_content["scenes"]) == 1


def test_a_project_is_never_a_path(demo_folder: Path) -> None:
    """What is no id of a listed project is refused, tells no folder of the machine, and makes nothing."""
    before = sorted(demo_folder.rglob("*"))

    async def ask(client: Client) -> list[CallToolResult]:
        wrong = ("../demo", "/etc", "C:\\stories", "demo/data", ".server", "", "nobody")
        return [await client.call_tool("list_scenes", {"project": each}) for each in wrong]

    for answer in asked(demo_folder, ask, project_id=None):
        assert answer.is_error
        assert str(demo_folder) not in text_of(answer)
    assert [each for each in sorted(demo_folder.rglob("*")) if each not in before] == []


def test_a_read_only_server_offers_no_storing(demo_folder: Path) -> None:
    """A server that may only read lists no tool that stores, and knows none when it is called."""
    assert set(tools_of(demo_folder, is_read_only=True)) == READING
    answer = answer_of(demo_folder, "add_note", CALLS["add_note"], is_read_only=True)
    assert answer.is_error
    assert "Unknown tool" in text_of(answer)


def test_arguments_may_come_as_json_in_a_text(demo_folder: Path) -> None:
    """Clients that send lists and objects as JSON texts are understood."""
    given = {"chapter_index": 3, "scene_index": 1, "scene_plan": json.dumps(PLAN)}
    answer = answer_of(demo_folder, "build_scene_context", given)
    assert not answer.is_error
    assert "Sparrow" in text_of(answer)


def test_errors_tell_kind_and_fix(demo_folder: Path) -> None:
    """What goes wrong is an error of the tool that a model can read: its kind, what was wrong, and what to do."""
    wrong: list[tuple[str, dict[str, Any], str, str]] = [
        ("who_knows", {"memory_id": "M99999"}, "unknown-memory", "search_story_memory"),
        ("get_entity_card", {"entity": "Nobody"}, "unknown-entity", "list_entities"),
        ("read_scene", {"position": "99:1"}, "unknown-scene", "list_scenes"),
        ("extract_scene", {"scenes": ["1:1"]}, "configuration", "Tell the user"),
        ("list_scenes", {"limit": 0}, "invalid-request", "Correct the argument"),
    ]

    async def ask(client: Client) -> list[CallToolResult]:
        return [await client.call_tool(tool, arguments) for tool, arguments, _, _ in wrong]

    for answer, (tool, _, kind, fix) in zip(asked(demo_folder, ask), wrong, strict=True):
        assert answer.is_error
        error = json.loads(text_of(answer))["error"]
        assert (error["kind"], bool(error["message"])) == (kind, True), tool
        assert fix in error["fix"]


def test_a_bug_is_told_without_its_words(demo_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody foresaw is an error of the same shape, and tells nothing of the program."""

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("row 7 of /home/ada/secret.db")

    monkeypatch.setattr("runtime.search.kept_readings.knowledge_rules", broken)
    answer = answer_of(demo_folder, "get_character_knowledge", {"character": "Ines"})
    assert answer.is_error
    assert json.loads(text_of(answer))["error"]["kind"] == "bug"
    assert "secret" not in text_of(answer)
