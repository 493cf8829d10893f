"""The tools as an agent's client has them; that each answers as the other doors is in test_all_doors.py."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.types import CallToolResult, Tool

from runtime.doors.tools import ToolSet
from tests.runtime.doors.mcp.agents import READING, asked, text_of

PLAN = {"location": "the Three Herons", "characters": ["Ines", "Sparrow"], "purpose": "Ines hides the key"}


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


@pytest.mark.parametrize("tool_set", ["story", "game"])
def test_a_set_of_tools_is_small(demo_folder: Path, tool_set: ToolSet) -> None:
    """What every model that is given the tools pays for stays within 8,200 tokens of four characters."""
    offered = [
        each.model_dump_json(include={"name", "description", "input_schema"}, exclude_none=True)
        for each in tools_of(demo_folder, project_id=None, tool_set=tool_set).values()
    ]
    assert sum(map(len, offered)) < 32_800
    assert '"title":"' not in "".join(offered)


@pytest.mark.slow
def test_a_fixed_project_is_no_argument(demo_folder: Path) -> None:
    """With one project no tool takes one, and none is listed; without, every tool needs one by its id."""
    fixed, many = tools_of(demo_folder), tools_of(demo_folder, project_id=None)
    assert set(many) - set(fixed) == {"list_projects"}
    assert not any("project_id" in each.input_schema["properties"] for each in fixed.values())
    for name in fixed:
        assert "project_id" in many[name].input_schema["required"]
    refused = answer_of(demo_folder, "list_scenes", {"project_id": "demo-zh"})
    assert refused.is_error
    assert "project_id" in text_of(refused)


def test_a_project_is_chosen_from_the_list(demo_folder: Path) -> None:
    """The list tells ids with what each story holds, and a tool with such an id reads that story."""

    async def ask(client: Client) -> tuple[CallToolResult, CallToolResult]:
        listed = await client.call_tool("list_projects", {})
        return listed, await client.call_tool("list_scenes", {"project_id": "demo-zh", "limit": 1})

    listed, scenes = asked(demo_folder, ask, project_id=None)
    assert listed.structured_content is not None
    assert scenes.structured_content is not None
    projects = {each["project_id"]: each for each in listed.structured_content["projects"]}
    assert set(projects) == {"demo", "demo-zh"}
    assert projects["demo-zh"]["scenes"] > len(scenes.structured_content["scenes"]) == 1


@pytest.mark.slow
def test_a_project_is_never_a_path(demo_folder: Path) -> None:
    """What is no id of a listed project is refused, tells no folder of the machine, and makes nothing."""
    before = sorted(demo_folder.rglob("*"))

    async def ask(client: Client) -> list[CallToolResult]:
        wrong = ("../demo", "/etc", "C:\\stories", "demo/data", ".server", "", "nobody")
        return [await client.call_tool("list_scenes", {"project_id": each}) for each in wrong]

    for answer in asked(demo_folder, ask, project_id=None):
        assert answer.is_error
        assert str(demo_folder) not in text_of(answer)
    assert [each for each in sorted(demo_folder.rglob("*")) if each not in before] == []


@pytest.mark.slow
def test_a_read_only_server_offers_no_storing(demo_folder: Path) -> None:
    """A server that may only read lists no tool that stores, and knows none when it is called."""
    assert set(tools_of(demo_folder, is_read_only=True)) == READING
    answer = answer_of(demo_folder, "create_memory", {"content": "It rains."}, is_read_only=True)
    assert answer.is_error
    assert "Unknown tool" in text_of(answer)


@pytest.mark.slow
def test_arguments_may_come_as_json_in_a_text(demo_folder: Path) -> None:
    """Clients that send lists and objects as JSON texts are understood."""
    given = {"chapter_index": 3, "scene_index": 1, "scene_plan": json.dumps(PLAN)}
    answer = answer_of(demo_folder, "build_scene_context", given)
    assert not answer.is_error
    assert "Sparrow" in text_of(answer)


@pytest.mark.slow
def test_a_bug_is_told_without_its_words(demo_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What nobody foresaw is an error of the same shape, and tells nothing of the program."""

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("row 7 of /home/ada/secret.db")

    monkeypatch.setattr("runtime.search.kept_readings.knowledge_rules", broken)
    answer = answer_of(demo_folder, "get_character_knowledge", {"character_id": "Ines"})
    assert answer.is_error
    assert json.loads(text_of(answer))["error"]["kind"] == "bug"
    assert "secret" not in text_of(answer)


def test_an_agent_can_make_the_character_that_an_error_misses(demo_folder: Path) -> None:
    """The error names a tool that is offered; a call that is repeated remembers nothing twice."""
    event = {"character_id": "Lotte", "content": "The player bought bread.", "participants": ["player"]}

    async def ask(client: Client) -> list[CallToolResult]:
        refused = await client.call_tool("character_remember", event)
        made = await client.call_tool("character_generate", {"name": "Lotte", "description": "A baker."})
        return [refused, made, *[await client.call_tool("character_remember", event) for _ in range(2)]]

    refused, made, first, again = asked(demo_folder, ask, tool_set="game")
    assert refused.is_error
    assert "create=True" not in text_of(refused)
    assert "with the tool character_generate" in text_of(refused)
    assert not made.is_error
    assert json.loads(text_of(first))["memory"]["memory_id"] == json.loads(text_of(again))["memory"]["memory_id"]
