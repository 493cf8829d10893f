"""The same operation by every door, over one folder of projects: each door's call, and what it gives back."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fastapi.testclient import TestClient
from mcp import Client
from mcp.types import TextContent

from novelgen.errors import NovelgenError
from runtime.doors.answers import error_kind
from runtime.doors.arguments import arguments_of, read_arguments
from runtime.doors.cli.main import novelgen as program
from runtime.doors.langchain import build_story_tools
from runtime.doors.mcp.server import build_mcp_server
from runtime.doors.mcp.shelf import Shelf
from runtime.doors.offers import BY_NAME, TOOLS
from runtime.doors.operations import Operation
from runtime.doors.tools import Tool
from runtime.story.story import Story
from tests.runtime.doors.http.serving import client_of

PROJECT = "demo"


@dataclass(frozen=True)
class Answered:
    """What a door gave: an answer, or the kind of a refusal."""

    answer: Any = None
    kind: str = ""


class Doors:
    """All doors of one folder, over the same open stores; the shell opens its own, over a copy."""

    def __init__(self, client: TestClient, shell_folder: Path) -> None:
        self.client = client
        self.shell_folder = shell_folder
        self.stores = client.app.state.house.stores  # type: ignore[attr-defined]
        self._server = build_mcp_server(Shelf(self.stores, project_id=PROJECT))

    def python(self, operation: Operation, arguments: Mapping[str, Any]) -> Answered:
        """Call the method."""
        stores = self.stores.of(PROJECT)
        try:
            values = read_arguments(arguments_of(operation.function, operation.without), arguments)
            answer = operation.answer(operation.function(Story(stores, PROJECT), **values))
        except NovelgenError as error:
            return Answered(kind=error_kind(error))
        return Answered(json.loads(answer.model_dump_json(by_alias=True)))

    def http(self, operation: Operation, arguments: Mapping[str, Any]) -> Answered:
        """Send the request."""
        verb, _, path = operation.http.partition(" ")
        rest = dict(arguments)
        if operation.position and operation.position in rest:
            rest |= dict(zip(("chapter_index", "scene_index"), rest.pop(operation.position).split(":"), strict=True))
        for name in list(rest):
            if f"{{{name}}}" in path:
                path = path.replace(f"{{{name}}}", str(rest.pop(name)) or "%20")
        sent: dict[str, Any] = {"params": rest} if verb in ("GET", "DELETE") else {"json": rest}
        answer = self.client.request(verb, f"/v1/projects/{PROJECT}{path}", **sent)
        if answer.is_success:
            return Answered(answer.json())
        return Answered(kind=answer.json()["type"].removeprefix("urn:novelgen:"))

    def mcp(self, operation: Operation, arguments: Mapping[str, Any]) -> Answered:
        """Call the tool by a client of the SDK."""
        tool = tool_for(operation, "mcp")
        assert tool is not None

        async def called() -> Answered:
            async with Client(self._server) as client:
                result = await client.call_tool(tool.mcp, dict(arguments))
            [content] = result.content
            assert isinstance(content, TextContent)
            if result.is_error:
                return _refused(json.loads(content.text))
            return Answered(result.structured_content)

        assert self.client.portal is not None
        return self.client.portal.call(called)

    def langchain(self, operation: Operation, arguments: Mapping[str, Any]) -> Answered:
        """Invoke the tool."""
        offered = tool_for(operation, "langchain")
        assert offered is not None
        tools = build_story_tools(self.stores.of(PROJECT), Story(self.stores.of(PROJECT), PROJECT), offered.given_to)
        [tool] = [each for each in tools if each.name == offered.langchain]
        answer = tool.invoke(dict(arguments))
        return _refused(answer) if "error" in answer else Answered(answer)

    def shell(self, words: Sequence[str]) -> Answered:
        """Run the command with `--json`."""
        result = CliRunner().invoke(program, ["--projects-dir", str(self.shell_folder), *words, "--json"])
        return (
            Answered(json.loads(result.stdout)) if result.exit_code == 0 else Answered(kind=f"exit {result.exit_code}")
        )


def tool_for(operation: Operation, door: str) -> Tool | None:
    """Return the tool of an operation at a door, where it is offered there."""
    return next((each for each in TOOLS if each.operation is operation and getattr(each, door)), None)


def _refused(answer: Mapping[str, Any]) -> Answered:
    error = answer["error"]
    assert error["message"]
    assert error["fix"]
    return Answered(kind=error["kind"])


@contextlib.contextmanager
def all_doors(folder: Path, shell_folder: Path) -> Iterator[Doors]:
    """All doors of a folder of projects."""
    with client_of(folder) as client:
        yield Doors(client, shell_folder)


def operation(name: str) -> Operation:
    """Return an operation by its name."""
    return BY_NAME[name]


def assert_is_part(part: Any, whole: Any, *, where: str = "answer") -> None:
    """Check that all that a shorter answer tells stands at the same place of the whole one."""
    if isinstance(part, dict):
        for name, value in part.items():
            if name in ("block", "names"):
                continue
            assert name in whole, f"{where}.{name}"
            assert_is_part(value, whole[name], where=f"{where}.{name}")
    elif isinstance(part, list):
        assert len(part) <= len(whole), where
        for number, value in enumerate(part):
            assert_is_part(value, whole[number], where=f"{where}[{number}]")
    else:
        assert part == (pytest.approx(whole, abs=0.001) if isinstance(part, float) else whole), where


def words(*command: str, **options: str) -> Callable[[Mapping[str, Any]], list[str] | None]:
    """Return what makes today's command of an operation's arguments: None where it has not all of them.

    Args:
        command: The command.
        options: Argument to its option; empty: it stands after the project, without a name.
    """

    def made(arguments: Mapping[str, Any]) -> list[str] | None:
        if not set(arguments) <= set(options):
            return None
        plain, named = [], []
        for name, value in arguments.items():
            for each in value if isinstance(value, list) else [value]:
                if not options[name]:
                    plain.append(str(each))
                else:
                    named += [options[name]] if value is True else [options[name], str(each)]
        return [*command, PROJECT, *plain, *named]

    return made


_AS_OF = {"as_of": "--as-of"}

COMMANDS: dict[str, tuple[Callable[[Mapping[str, Any]], list[str] | None], str]] = {
    "search_story_memory": (
        words("search", query="", entities="--entity", content_type="--type", tags="--tag", top_k="--top-k", **_AS_OF),
        "memories",
    ),
    "list_threads": (words("thread", "list", statuses="--status", **_AS_OF), "threads"),
    "list_memories": (
        words("memory", "list", attached_to="--attached-to", content_types="--type", limit="--limit", **_AS_OF),
        "memories",
    ),
    "list_scenes": (words("scene", "list"), "scenes"),
    "list_entities": (words("entity", "list", **_AS_OF), "entities"),
    "list_knowledge": (words("knows", character="", about="--about", **_AS_OF), ""),
    "who_knows": (words("memory", "knowers", memory_id="", **_AS_OF), ""),
    "list_changes": (words("since", since="--from", until="--as-of"), ""),
    "list_story_times": (words("timeline", character="--character", **_AS_OF), ""),
    "get_recent_timeline": (
        words("timeline", chapter_index="--chapter", context_window="--window", **_AS_OF),
        "snapshots",
    ),
    "get_thread_ledger": (words("threads", on_stage="--on-stage", category="--category", **_AS_OF), ""),
    "list_conflicts": (words("conflicts", "list", with_waived="--all"), "conflicts"),
}
"""Operation to today's command, and to the part of the answer that the command prints (empty: the whole).

Once commands are made of the table, each operation has its command there, and prints the whole answer.
"""
