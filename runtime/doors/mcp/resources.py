"""What can be read by address: contexts of scenes, cards, threads and the scenes; never a file's path."""

from __future__ import annotations

import functools
import inspect
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference

from novelgen.errors import NovelgenError, UserInputError
from runtime.doors.mcp.tools import Shelf, text_of
from runtime.doors.offers import MCP_TOOLS
from runtime.doors.tools import tool_of

ROOT = "novelgen://projects"

MAX_COMPLETIONS = 100

JSON = "application/json"


@dataclass(frozen=True, kw_only=True)
class _Resource:
    """Something that can be read by address: what a tool answers, with what the address names.

    Args:
        name: Its name.
        path: Below the root; in braces what it takes: the project, and arguments of the tool.
        operation: Of the tool.
        title: For people.
        description: For models and people.
        most: So many are listed.
    """

    name: str
    path: str
    operation: str
    title: str
    description: str
    most: int | None = None


_RESOURCES = (
    _Resource(
        name="context",
        path="{project}/scenes/{chapter_index}/{scene_index}/context",
        operation="build_context",
        title="Context of a scene",
        description="What the scene at that place must not contradict and should pick up, by the project's own plan of"
        " it; without one call build_scene_context.",
    ),
    _Resource(
        name="card",
        path="{project}/entities/{entity}",
        operation="get_entity",
        title="Card",
        description="Who a character or what a place or thing is, and how it stands; by id, name or alias.",
    ),
    _Resource(
        name="threads",
        path="{project}/threads",
        operation="get_thread_ledger",
        title="Open threads",
        description="The questions, promises and threats that the story has opened and not ended.",
        most=50,
    ),
    _Resource(
        name="scenes",
        path="{project}/scenes",
        operation="list_scenes",
        title="Stored scenes",
        description="The stored scenes with who was on stage and their summaries.",
        most=500,
    ),
)


def add_resources(server: MCPServer[Any], shelf: Shelf) -> None:
    """Let a server offer the resources of a shelf's stories, and complete what their addresses take."""
    for each in _RESOURCES:
        taken = re.findall(r"{(\w+)}", each.path)
        path = each.path
        if shelf.project_id is not None and taken == ["project"]:
            path, taken = path.replace("{project}", quote(shelf.project_id, safe="")), []
        kind = "text/plain" if tool_of(MCP_TOOLS, each.operation).block else JSON
        offer = server.resource(
            f"{ROOT}/{path}", name=each.name, title=each.title, description=each.description, mime_type=kind
        )
        offer(_reader(shelf, each, taken))
    if shelf.project_id is None:

        @server.resource(ROOT, name="projects", title="Projects", description="The stories.", mime_type=JSON)
        async def projects() -> str:
            return await _told(shelf, lambda: json.dumps(shelf.projects(), ensure_ascii=False))

    @server.completion()
    async def complete(
        reference: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion:
        given = (context.arguments if context else None) or {}
        found = await shelf.run(functools.partial(_completions, shelf, argument.name, given.get("project")))
        wanted = argument.value.casefold()
        fitting = [each for each in found if wanted in each.casefold()]
        return Completion(values=fitting[:MAX_COMPLETIONS], total=len(fitting), has_more=len(fitting) > MAX_COMPLETIONS)


def text_for(shelf: Shelf, operation: str, project: str | None, **given: Any) -> str:
    """Return what a tool's call tells as text."""
    tool = tool_of(MCP_TOOLS, operation)
    values = tool.read(tool.arguments({}), given)
    return text_of(tool, tool.answer(shelf.story(project), values, folders=shelf.folders))


def with_signature(call: Callable[..., Any], name: str, parameters: Sequence[inspect.Parameter]) -> Callable[..., Any]:
    """Return a function of keywords with the name and the signature that the SDK shall see."""
    call.__name__ = name
    call.__signature__ = inspect.Signature(parameters, return_annotation=str)  # type: ignore[attr-defined]
    call.__annotations__ = {**{each.name: each.annotation for each in parameters}, "return": str}
    return call


def _reader(shelf: Shelf, resource: _Resource, taken: Sequence[str]) -> Callable[..., Awaitable[str]]:
    async def read(**given: str) -> str:
        project = given.pop("project", None)
        most = {} if resource.most is None else {"limit": resource.most}
        return await _told(shelf, lambda: text_for(shelf, resource.operation, project, **given, **most))

    parameters = [inspect.Parameter(each, inspect.Parameter.KEYWORD_ONLY, annotation=str) for each in taken]
    return with_signature(read, resource.name, parameters)


async def _told(shelf: Shelf, read: Callable[[], str]) -> str:
    try:
        return await shelf.run(read)
    except UserInputError as error:
        raise ResourceNotFoundError(shelf.told(error)) from error
    except NovelgenError as error:
        raise ResourceError(shelf.told(error)) from error


def _completions(shelf: Shelf, argument: str, project: str | None) -> list[str]:
    """Return what an argument could be; nothing where the story that it depends on is not known."""
    try:
        if argument == "project":
            return [each["project_id"] for each in shelf.projects()["projects"]]
        if argument in ("entity", "pov"):
            found = shelf.story(project).entities("character" if argument == "pov" else None)
            return [each.name for each in found]
    except NovelgenError:
        return []
    return []
