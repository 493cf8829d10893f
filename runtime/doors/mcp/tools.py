"""Tools of the MCP SDK made of what agents are offered: with or without an argument for the project."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool as SdkTool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import PrivateAttr

from runtime.doors.arguments import Arguments, read_arguments
from runtime.doors.mcp.shelf import Shelf
from runtime.doors.offers import MCP_NAMES, MCP_TOOLS
from runtime.doors.tools import BLOCK, Tool

PROJECT = {"project": "Project id."}

_LISTING = "List the stories with their ids and what each holds. Call it first: every other tool takes the id of one."

_EFFECTS = {"PUT": "replaces", "PATCH": "replaces", "DELETE": "replaces"}


def build_tools(shelf: Shelf, *, is_read_only: bool) -> list[SdkTool]:
    """Return the tools over the stories of a shelf."""
    offered: list[SdkTool] = [_story_tool(shelf, each) for each in MCP_TOOLS if each.reads or not is_read_only]
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
