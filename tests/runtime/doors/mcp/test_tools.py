"""The tools as an agent's client has them: what they offer, answer, store and refuse."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from langchain_core.language_models import BaseChatModel
from mcp import Client
from mcp.types import CallToolResult, Tool

from tests.runtime.doors.mcp.agents import asked, names_of, text_of
from tests.support.scripted_chat_model import answering

READING = {
    "build_scene_context",
    "check_draft",
    "what_changed",
    "search_story_memory",
    "get_entity_state",
    "get_recent_timeline",
    "list_entities",
    "get_entity_card",
    "who_knows",
    "get_character_knowledge",
    "list_threads",
    "list_scenes",
    "read_scene",
    "character_recall",
}
CORRECTING = {"correct_memory", "correct_entity", "merge_entities", "undo_change"}
STORING = {
    "add_note",
    "ingest_scene",
    "extract_scene",
    "add_thread",
    "end_thread",
    "waive_finding",
    "character_remember",
    *CORRECTING,
}

PLAN = {"location": "the Three Herons", "characters": ["Ines", "Sparrow"], "purpose": "Ines hides the key"}
DEAD_MAN = "Ines walked in. Elias Marrow greeted her."

CALLS: dict[str, dict[str, Any]] = {
    "build_scene_context": {"chapter_index": 3, "scene_index": 1, "scene_plan": PLAN, "pov": "Ines"},
    "check_draft": {"text": DEAD_MAN, "chapter_index": 3, "scene_index": 1, "use_model": False},
    "what_changed": {"since": "2:1", "as_of": "2:2"},
    "search_story_memory": {"query": "who holds the heron key", "limit": 2, "as_of": "3:1"},
    "get_entity_state": {"entity": "Ines", "as_of": "2:1"},
    "get_recent_timeline": {"chapter_index": 2, "context_window": 0},
    "list_entities": {"entity_type": "character", "name": "sparr"},
    "get_entity_card": {"entity": "Sparrow"},
    "who_knows": {"memory_id": "M001", "as_of": "2:1"},
    "get_character_knowledge": {"character": "Sparrow", "about": "key", "as_of": "3"},
    "list_threads": {"on_stage": ["Ines"], "limit": 2},
    "list_scenes": {"limit": 2},
    "read_scene": {"chapter_index": 1, "scene_index": 1, "length": 60},
    "add_note": {"text": "Ines never lends her father's watch.", "about": ["Ines"], "start": "2:1"},
    "ingest_scene": {"chapter_index": 7, "scene_index": 1, "text": "Ines went home. It rained."},
    "extract_scene": {"chapter_index": 7, "scene_index": 1},
    "add_thread": {"description": "Who rang the bell at noon?", "characters": ["Sparrow"]},
    "end_thread": {"thread_id": "OL16", "summary": "Sorrel cut it.", "how": "resolved"},
    "waive_finding": {"finding_id": "K0123456789ab", "note": "A ghost."},
    "correct_memory": {"memory_id": "M001", "text": "Ines found a brass key with a heron.", "importance": 9},
    "correct_entity": {"entity": "Sparrow", "alias": "the ringer's boy", "role": "bell-ringer"},
    "merge_entities": {"keep": "Sparrow", "gone": "Captain Varga"},
    "undo_change": {"change_id": 1},
    "character_remember": {"character": "Sparrow", "text": "A stranger gave me an apple.", "importance": 6},
    "character_recall": {"character": "Sparrow", "said": "Did you eat the apple?"},
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


def test_every_tool_answers_as_it_says(demo_folder: Path) -> None:
    """Each tool's answer fits the schema that it offers, and its text is neither empty nor a Python object."""

    async def ask(client: Client) -> dict[str, CallToolResult]:
        return {name: await client.call_tool(name, arguments) for name, arguments in CALLS.items()}

    tools = tools_of(demo_folder)
    assert set(tools) == set(CALLS)
    model = answering(json.dumps({"summary": ["Ines goes home in the rain."], "memories": []}))
    for name, answer in asked(demo_folder, ask, chat_model=model).items():
        assert not answer.is_error, (name, text_of(answer))
        schema = tools[name].output_schema
        assert schema is not None
        Draft202012Validator(schema).validate(answer.structured_content)
        assert text_of(answer).strip()


def test_hints_tell_what_a_tool_does(demo_folder: Path) -> None:
    """Reading tools say that they read alone; what takes the place of something says that it is destructive."""
    tools = tools_of(demo_folder)
    hints = {name: tool.annotations for name, tool in tools.items()}
    assert {name for name, each in hints.items() if each and each.read_only_hint} == READING
    assert {name for name, each in hints.items() if each and each.destructive_hint} == {
        "ingest_scene",
        "extract_scene",
        *CORRECTING,
    }
    assert {name for name, each in hints.items() if each and each.open_world_hint} == {"extract_scene"}
    idempotent = {name for name, each in hints.items() if each and each.idempotent_hint}
    assert idempotent == READING | {"ingest_scene", "waive_finding", "correct_memory", "correct_entity"}
    assert all(tool.description and tool.title for tool in tools.values())


def test_the_offer_is_small(demo_folder: Path) -> None:
    """What every model that is given the tools pays for stays within 6,000 tokens of four characters."""
    offered = [
        each.model_dump_json(include={"name", "description", "input_schema"}, exclude_none=True)
        for each in tools_of(demo_folder, project_id=None).values()
    ]
    assert sum(map(len, offered)) < 24_000
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
    assert projects["demo-zh"]["scenes"] == scenes.structured_content["in_all"]


@pytest.mark.parametrize("project", ["../demo", "/etc", "C:\\stories", "demo/data", ".server", "", "nobody"])
def test_a_project_is_never_a_path(demo_folder: Path, project: str) -> None:
    """What is no id of a listed project is refused, tells no folder of the machine, and makes nothing."""
    before = sorted(demo_folder.rglob("*"))
    answer = answer_of(demo_folder, "list_scenes", {"project": project}, project_id=None)
    assert answer.is_error
    assert str(demo_folder) not in text_of(answer)
    assert [each for each in sorted(demo_folder.rglob("*")) if each not in before] == []


@pytest.mark.parametrize(
    ("tool", "arguments", "fix"),
    [
        ("who_knows", {"memory_id": "M99999"}, "search_story_memory"),
        ("get_entity_card", {"entity": "Nobody"}, "list_entities"),
        ("read_scene", {"chapter_index": 99, "scene_index": 1}, "list_scenes"),
        ("build_scene_context", {"chapter_index": 99, "scene_index": 1}, "scene_plan"),
        ("end_thread", {"thread_id": "OL999", "summary": "Gone."}, "open are"),
        ("waive_finding", {"finding_id": "M001"}, "K0123456789ab"),
        ("extract_scene", {"chapter_index": 1, "scene_index": 1}, "NOVELGEN_MODEL"),
        ("search_story_memory", {"query": "   "}, "query"),
        ("search_story_memory", {"query": "key", "path": "/etc/passwd"}, "path"),
        ("list_scenes", {"limit": 0}, "limit"),
        ("get_entity_state", {"entity": "Ines", "as_of": "3:x"}, "as_of"),
        ("check_draft", {"chapter_index": 3, "scene_index": 1}, "text"),
    ],
)
def test_errors_tell_the_fix(demo_folder: Path, tool: str, arguments: dict[str, Any], fix: str) -> None:
    """What goes wrong is an error of the tool that a model can read: what was wrong, and what to do."""
    answer = answer_of(demo_folder, tool, arguments)
    assert answer.is_error
    assert fix in text_of(answer)
    assert "Traceback" not in text_of(answer)
    assert "pydantic" not in text_of(answer)


def test_nothing_known_is_no_error(demo_folder: Path) -> None:
    """A state of somebody whom the story does not show by then is null, and the text says what to do."""
    answer = answer_of(demo_folder, "get_entity_state", {"entity": "Ines", "as_of": "1:1"})
    assert not answer.is_error
    assert answer.structured_content is not None
    assert answer.structured_content["state"] is None
    assert "list_entities" in text_of(answer)


def test_nothing_later_is_told(demo_folder: Path) -> None:
    """What is read as of a scene holds nothing that the story establishes there or later."""

    async def ask(client: Client) -> list[CallToolResult]:
        as_of = {"as_of": "2:1"}
        return [
            await client.call_tool("search_story_memory", {"query": "the heron key", "limit": 50, **as_of}),
            await client.call_tool("get_recent_timeline", {"chapter_index": 2, **as_of}),
            await client.call_tool("get_character_knowledge", {"character": "Ines", **as_of}),
            await client.call_tool("list_threads", as_of),
            await client.call_tool("who_knows", {"memory_id": "M001", **as_of}),
        ]

    for answer in asked(demo_folder, ask):
        assert not answer.is_error
        told = json.dumps(answer.structured_content)
        assert '"1:' in told
        assert not any(f'"{chapter}:' in told for chapter in range(2, 10))


def test_a_read_only_server_offers_no_storing(demo_folder: Path) -> None:
    """A server that may only read lists no tool that stores, and knows none when it is called."""
    assert set(tools_of(demo_folder, is_read_only=True)) == READING
    answer = answer_of(demo_folder, "add_note", CALLS["add_note"], is_read_only=True)
    assert answer.is_error
    assert "Unknown tool" in text_of(answer)


def test_the_dead_man_is_found_and_waived(demo_folder: Path) -> None:
    """A check tells both quotes; once waived, the same finding is counted and not told."""

    async def ask(client: Client) -> list[CallToolResult]:
        draft = CALLS["check_draft"]
        first = await client.call_tool("check_draft", draft)
        assert first.structured_content is not None
        [finding] = first.structured_content["findings"]
        waived = await client.call_tool("waive_finding", {"finding_id": finding["finding_id"]})
        return [first, waived, await client.call_tool("check_draft", draft)]

    first, waived, second = asked(demo_folder, ask)
    assert first.structured_content is not None
    assert second.structured_content is not None
    [finding] = first.structured_content["findings"]
    assert finding["draft_quote"] in DEAD_MAN
    assert finding["evidence"][0]["place"] == "1:1"
    assert not waived.is_error
    assert (second.structured_content["findings"], second.structured_content["waived"]) == ([], 1)


def test_a_scene_is_taken_in_once(demo_folder: Path) -> None:
    """The same text again changes nothing, another one takes its place, and a model's record is stored after it."""
    model = answering(json.dumps({"summary": ["Ines goes home in the rain."], "memories": []}))

    async def ask(client: Client) -> list[dict[str, Any]]:
        place = {"chapter_index": 7, "scene_index": 1}
        texts = ("Ines went home.", "Ines went home.", "Ines went home in the rain.")
        answers = [await client.call_tool("ingest_scene", {**place, "text": each}) for each in texts]
        answers.append(await client.call_tool("extract_scene", place))
        answers.append(await client.call_tool("read_scene", place))
        return [each.structured_content or {} for each in answers]

    *taken, read, stored = asked(demo_folder, ask, chat_model=model)
    assert [each["outcome"] for each in taken] == ["added", "unchanged", "replaced"]
    assert "extract_scene" in taken[0]["next_step"]
    assert read["outcome"] == "done"
    assert stored["text"] == "Ines went home in the rain."


def test_a_record_needs_no_model(demo_folder: Path) -> None:
    """A scene with what it establishes is whole at once; a record that is none is refused with the reason."""
    record = {"characters_present": ["C0"], "summary": ["Ines goes home."]}
    scene = {"chapter_index": 7, "scene_index": 1, "text": "Ines went home."}
    good = answer_of(demo_folder, "ingest_scene", {**scene, "record": record})
    assert good.structured_content is not None
    assert good.structured_content["next_step"] == ""
    bad = answer_of(demo_folder, "ingest_scene", {**scene, "record": {"summary": 3}})
    assert bad.is_error
    assert "summary" in text_of(bad)


def test_arguments_may_come_as_json_in_a_text(demo_folder: Path) -> None:
    """Clients that send lists and objects as JSON texts are understood."""
    given = {"chapter_index": 3, "scene_index": 1, "scene_plan": json.dumps(PLAN)}
    answer = answer_of(demo_folder, "build_scene_context", given)
    assert not answer.is_error
    assert "Sparrow" in text_of(answer)


def test_a_failing_model_is_told(demo_folder: Path) -> None:
    """A model that answers nothing usable fails the reading aloud; the text stays stored."""
    model: BaseChatModel = answering("no", "no", "no", "no")
    answer = answer_of(demo_folder, "ingest_scene", CALLS["ingest_scene"])
    assert not answer.is_error
    answer = answer_of(demo_folder, "extract_scene", CALLS["extract_scene"], chat_model=model)
    assert answer.structured_content is not None
    assert answer.structured_content["outcome"] == "failed"
    assert answer.structured_content["reason"]
    assert names_of(tools_of(demo_folder).values()) >= READING  # type: ignore[arg-type]
