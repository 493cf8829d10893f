"""Tools of the MCP SDK made of what agents are offered: one project or a shelf of them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from langchain_core.language_models import BaseChatModel
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool as SdkTool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import PrivateAttr

from novelgen.errors import UnknownProjectError, UserInputError
from novelgen.language.language import StoryLanguage, stated_language, story_language
from runtime.doors.answers import refusal, told
from runtime.doors.arguments import Arguments, read_arguments
from runtime.doors.tools import BLOCK, MCP_NAMES, MCP_TOOLS, MCPOffer, Tool
from runtime.stores import MemoryStores
from runtime.story.projects import ProjectStores, StoryProjects
from runtime.story.story import Story

Result = TypeVar("Result")

CALLS_AT_ONCE = 16


class Shelf:
    """The stories that a server of tools reaches; safe to share between threads."""

    def __init__(
        self, stores: ProjectStores, *, project_id: str | None = None, chat_model: BaseChatModel | None = None
    ) -> None:
        self._stores = stores
        self._chat_model = chat_model
        self._lock = threading.Lock()
        self._threads: CapacityLimiter | None = None
        self._opened: dict[str, tuple[MemoryStores, Story]] = {}
        self.project_id = project_id
        self.folders = (stores.settings.projects_dir,)
        """Folders of this machine of which nobody is told even the name."""

    def story(self, project_id: str | None = None) -> Story:
        """Return a story."""
        name = self.project_id if project_id is None else project_id
        if name is None:
            raise UserInputError("no project is named; pass the id of one")
        if self.project_id not in (None, name):
            raise UnknownProjectError(f"this server has project {self.project_id!r} alone, not {name!r}")
        stores = self._stores.of(name)
        StoryProjects(stores, name).require_project_files()
        with self._lock:
            of, story = self._opened.get(name, (None, None))
            if story is None or of is not stores:
                story = Story(stores, name, chat_model=self._chat_model)
                self._opened[name] = stores, story
        return story

    def language(self, story: Story) -> StoryLanguage:
        """Return the language in which an author of the story is spoken to."""
        language = StoryProjects(self._stores.of(story.project_id), story.project_id).language_of_project()
        return stated_language(language) or story_language(story.project_id)

    async def run(self, body: Callable[[], Result]) -> Result:
        """Run what blocks in a thread; a bounded number runs at once, whoever still waits for it."""
        if self._threads is None:
            self._threads = CapacityLimiter(CALLS_AT_ONCE)
        return await to_thread.run_sync(body, limiter=self._threads)

    def projects(self) -> dict[str, Any]:
        """Return what each project that can be reached holds, as JSON."""
        listed = [each for each in self._stores.overviews() if self.project_id in (None, each.project_id)]
        return {
            "projects": [each.model_dump(mode="json", exclude_none=True) for each in told(listed, folders=self.folders)]
        }

    def refusal(self, error: Exception) -> dict[str, Any]:
        """Return what a model is told of an error, without paths of this machine."""
        return refusal(error, names=MCP_NAMES, folders=self.folders)

    def told(self, error: Exception) -> str:
        """Return the same in words."""
        refused = self.refusal(error)["error"]
        return f"{refused['message']}. {refused['fix']}"


PROJECT = {"project": "Project id."}

_LISTING = "List the stories with their ids and what each holds. Call it first: every other tool takes the id of one."

_EFFECTS = {"PUT": "replaces", "PATCH": "replaces", "DELETE": "replaces"}


def build_tools(shelf: Shelf, *, offer: MCPOffer, is_read_only: bool) -> list[SdkTool]:
    """Return the tools over the stories of a shelf that belong to an offer."""
    chosen = [each for each in MCP_TOOLS if offer in each.shelves and (each.reads or not is_read_only)]
    offered: list[SdkTool] = [_story_tool(shelf, each) for each in chosen]
    return [_listing(shelf), *offered] if shelf.project_id is None else offered


class StoryTool(SdkTool):
    """A tool whose errors tell a model what to do, and whose text is what a model reads best."""

    _shelf: Shelf = PrivateAttr()
    _call: Callable[[dict[str, Any]], tuple[dict[str, Any], str]] = PrivateAttr()

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        """Run it."""
        try:
            answer, text = await self._shelf.run(lambda: self._call(arguments))
        except Exception as error:  # noqa: BLE001 - whatever happens in a tool, its client is told what to do
            refused = json.dumps(self._shelf.refusal(error), ensure_ascii=False)
            return CallToolResult(content=[TextContent(type="text", text=refused)], is_error=True)
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=answer)


def text_of(tool: Tool, answer: Mapping[str, Any]) -> str:
    """Return what a model reads: the block of what is read as one, with what was missing, else the JSON."""
    if not tool.reads or BLOCK not in answer:
        return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    issues = answer.get("issues") or answer.get("report", {}).get("issues", ())
    missing = [f"(missing: {each['stage']}: {each['message']})" for each in issues]
    return "\n".join([answer[BLOCK].rstrip() or "(nothing is known by then)", *missing])


def _story_tool(shelf: Shelf, tool: Tool) -> StoryTool:
    arguments = tool.arguments(PROJECT if shelf.project_id is None else {})

    def call(given: dict[str, Any]) -> tuple[dict[str, Any], str]:
        values = tool.read(arguments, given)
        answer = tool.answer(shelf.story(values.pop("project", None)), values, folders=shelf.folders)
        return answer, text_of(tool, answer)

    verb = tool.operation.http.partition(" ")[0]
    effect = "reads" if tool.reads else tool.effect or _EFFECTS.get(verb, "adds")
    hints = ToolAnnotations(
        read_only_hint=effect == "reads",
        destructive_hint=effect in ("replaces", "changes"),
        idempotent_hint=effect in ("reads", "adds-once", "replaces"),
        open_world_hint=tool.asks_model,
    )
    hint = tool.hint.format_map(MCP_NAMES)
    return _sdk_tool(shelf, tool.mcp, hint, call, hints, tool.schema(arguments), tool.answer_schema())


def _listing(shelf: Shelf) -> StoryTool:
    def call(given: dict[str, Any]) -> tuple[dict[str, Any], str]:
        read_arguments(Arguments, given)
        answer = shelf.projects()
        return answer, json.dumps(answer, ensure_ascii=False)

    hints = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    answer = {"type": "object", "properties": {"projects": {"type": "array", "items": {"type": "object"}}}}
    return _sdk_tool(shelf, "list_projects", _LISTING, call, hints, schema, answer)


def _sdk_tool(
    shelf: Shelf,
    name: str,
    hint: str,
    call: Callable[[dict[str, Any]], tuple[dict[str, Any], str]],
    hints: ToolAnnotations,
    schema: dict[str, Any],
    answer: dict[str, Any],
) -> StoryTool:
    tool = StoryTool(
        fn=call,
        name=name,
        title=name.replace("_", " ").capitalize(),
        description=hint,
        parameters=schema,
        fn_metadata=FuncMetadata(arg_model=ArgModelBase, output_schema=answer),
        is_async=True,
        annotations=hints,
    )
    tool._shelf, tool._call = shelf, call
    return tool
