"""The same operation by every door, over one folder of projects: each door's call, and what it gives back."""

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import pytest
from click import Argument, Option
from click.testing import CliRunner
from fastapi.testclient import TestClient
from jsonschema import Draft202012Validator
from mcp import Client
from mcp.types import TextContent

from novelgen.errors import NovelgenError
from runtime.doors.answers import error_kind
from runtime.doors.arguments import arguments_of, read_arguments
from runtime.doors.cli.main import command_at
from runtime.doors.cli.main import novelgen as program
from runtime.doors.cli.operation_commands import OPERATION_COMMANDS
from runtime.doors.langchain import build_story_tools
from runtime.doors.mcp.server import Shelf, build_mcp_server
from runtime.doors.operations import BY_NAME, Operation
from runtime.doors.tools import TOOLS, Tool, ToolSet
from runtime.story.story import Story
from tests.runtime.doors.http.serving import client_of
from tests.support.scripted_chat_model import ScriptedChatModel

PROJECT = "demo"
READER = ScriptedChatModel(answer=lambda _: '{"summary": ["Ines goes home in the rain."], "memories": []}')
"""Reads scenes where a model is asked."""


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
        self.stores = client.app.state.novelgen.stores  # type: ignore[attr-defined]
        shelf = Shelf(self.stores, project_id=PROJECT, chat_model=READER)
        self._servers = {tool_set: build_mcp_server(shelf, tool_set=tool_set) for tool_set in get_args(ToolSet)}

    def python(self, operation: Operation, arguments: Mapping[str, Any]) -> Answered:
        """Call the method."""
        reader = READER if operation.name == "extract_scenes" else None
        given, doer = dict(arguments), Story(self.stores.of(PROJECT), PROJECT, chat_model=reader)
        try:
            of = doer.character(given.pop("character_id")) if operation.is_of_character else doer
            values = read_arguments(arguments_of(operation.function, operation.without), given)
            answer = operation.answer(operation.run(of, values))
        except NovelgenError as error:
            return Answered(kind=error_kind(error))
        return Answered(json.loads(answer.model_dump_json(by_alias=True)))

    def http(self, operation: Operation, arguments: Mapping[str, Any]) -> Answered:
        """Send the request."""
        rest = dict(arguments)
        if operation.name == "undo_change" and not rest:
            operation = BY_NAME["undo_last_change"]
        verb, _, path = operation.http.partition(" ")
        rest = _with_place(operation, rest)
        for name in list(rest):
            if f"{{{name}}}" in path:
                path = path.replace(f"{{{name}}}", str(rest.pop(name)) or "%20")
        sent: dict[str, Any] = {"params": rest} if verb in ("GET", "DELETE") else {"json": rest}
        answer = self.client.request(verb, f"/v1/projects/{PROJECT}{path}", **sent)
        if answer.is_success:
            return Answered(answer.json())
        return Answered(kind=answer.json()["type"].removeprefix("urn:novelgen:"))

    def mcp(self, operation: Operation, arguments: Mapping[str, Any]) -> Answered:
        """Call the tool by a client of the SDK; its answer fits the schema that it offers."""
        tool = tool_for(operation, "mcp")
        assert tool is not None

        async def called() -> Answered:
            async with Client(self._servers[tool.tool_sets[0]]) as client:
                result = await client.call_tool(tool.mcp, _with_place(operation, arguments))
            [content] = result.content
            assert isinstance(content, TextContent)
            if result.is_error:
                return _refused(json.loads(content.text))
            Draft202012Validator(tool.answer_schema()).validate(result.structured_content)
            assert content.text.strip()
            return Answered(result.structured_content)

        assert self.client.portal is not None
        return self.client.portal.call(called)

    def langchain(self, operation: Operation, arguments: Mapping[str, Any]) -> Answered:
        """Invoke the tool."""
        offered = tool_for(operation, "langchain")
        assert offered is not None
        given, story = _with_place(operation, arguments), Story(self.stores.of(PROJECT), PROJECT)
        if offered.given_to == "character":
            tools = story.character(given.pop("character_id")).as_tools()
        else:
            tools = build_story_tools(self.stores.of(PROJECT), story, offered.given_to)
        [tool] = [each for each in tools if each.name == offered.langchain]
        answer = tool.invoke(given)
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


def _with_place(operation: Operation, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with the numbers of chapter and scene in place of a scene's position."""
    given = dict(arguments)
    if operation.position and operation.position in given:
        chapter, scene = given.pop(operation.position).split(":")
        given |= {"chapter_index": int(chapter), "scene_index": int(scene)}
    return given


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


def shell_words(called: Operation, arguments: Mapping[str, Any]) -> list[str] | None:
    """Return the words that call an operation's command; None where it has none, or not all of the arguments."""
    entry = OPERATION_COMMANDS.get(called.name)
    command = None if entry is None else command_at(entry.command)
    if entry is None or command is None:
        return None
    taken = {each.name: each for each in command.params}
    if not set(arguments) <= taken.keys():
        return None
    plain, named = [], []
    for name, parameter in taken.items():
        if name not in arguments:
            continue
        values = arguments[name] if isinstance(arguments[name], list) else [arguments[name]]
        if isinstance(parameter, Argument):
            plain += map(str, values)
        elif isinstance(parameter, Option) and parameter.is_flag:
            named.append(parameter.opts[0])
        else:
            named += [word for each in values for word in (parameter.opts[0], str(each))]
    return [*entry.command.split(), PROJECT, *plain, *named]
