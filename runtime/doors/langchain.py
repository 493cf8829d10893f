"""LangChain tools for planners, editors and characters.

Every answer is a JSON object, the same as over MCP; what goes wrong in a call comes back as `{error: {kind, message,
fix}}` instead of an exception. The project is bound, never an argument, where one is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.tools import BaseTool, StructuredTool

from novelgen.errors import UserInputError
from novelgen.language.language import StoryLanguage
from novelgen.model_calls.prompting import read_prompt_file
from novelgen.models.position import StoryPosition
from novelgen.nearest import did_you_mean
from runtime.doors.answers import refusal
from runtime.doors.tools import LANGCHAIN_NAMES, TOOLS, Tool
from runtime.stores import MemoryStores
from runtime.story.base import StoryBase

if TYPE_CHECKING:
    from runtime.story.character_part import CharacterPart

LOOKING_UP = ("search_story_memory", "get_entity_state", "get_recent_timeline")
"""The three tools of the memory, which who plans over several projects is given alone."""

PROJECT = "project_id"


def build_memory_tools(stores: MemoryStores, *, as_of: StoryPosition | None = None) -> list[BaseTool]:
    """Build the three memory tools over open stores.

    Every call names its project.

    Args:
        stores: Open stores; they are not closed by the tools.
        as_of: Position that is being planned: no call reads what does not lie strictly before it.
    """
    looking_up = [tool for tool in TOOLS if tool.operation.name in LOOKING_UP]
    return [_langchain_tool(tool, stores, None, limit=as_of) for tool in looking_up]


def build_story_tools(
    stores: MemoryStores,
    story: StoryBase,
    given_to: str,
    *,
    as_of: StoryPosition | None = None,
    names: Sequence[str] | None = None,
    reads_only: bool = False,
) -> list[BaseTool]:
    """Build tools for a planner, an editor or `attachments`, limited to one story.

    Nothing at the position `as_of` or beyond is read, and what is stored holds from it on.
    """
    offered = {
        tool.langchain: tool
        for tool in TOOLS
        if tool.langchain and tool.given_to == given_to and (tool.reads or not reads_only)
    }
    for name in names if names is not None else ():
        if name not in offered:
            kind = "tool that changes nothing" if reads_only else "tool"
            raise UserInputError(
                f"there is no {kind} {name!r}{did_you_mean(name, offered)}; there are: {', '.join(offered)}"
            )
    chosen_tools = list(offered.values()) if names is None else [offered[name] for name in names]
    return [
        _langchain_tool(tool, stores, story, limit=as_of, bound=tool.operation.for_readers if reads_only else None)
        for tool in chosen_tools
    ]


def build_character_tools(
    stores: MemoryStores, character: CharacterPart, *, to: str | None, story_as_of: StoryPosition | None
) -> list[BaseTool]:
    """Build tools of one character, limited to its memory."""
    story = StoryBase(stores, character.project_id)
    bound = {"remember_event": {}, "recall_memories": {"to": to, "story_as_of": story_as_of}}
    return [
        _langchain_tool(tool, stores, story, bound={"character_id": character, **bound[tool.operation.name]})
        for tool in TOOLS
        if tool.given_to == "character"
    ]


def attachment_guidance(language: StoryLanguage) -> str:
    """Return system prompt guidance for the attachment tools."""
    return read_prompt_file(f"memory_attachments.{language}.txt").strip()


def _langchain_tool(
    tool: Tool,
    stores: MemoryStores,
    story: StoryBase | None,
    *,
    limit: StoryPosition | None = None,
    bound: Mapping[str, Any] | None = None,
) -> BaseTool:
    """Return a tool that never raises, optionally bound to a story."""
    project = {PROJECT: "Id of the project."} if story is None else {}
    arguments = tool.arguments(project, bound=bound or {})
    folders = [stores.settings.projects_dir]

    def run(**given: Any) -> dict[str, Any]:
        try:
            values = tool.read(arguments, given)
            reached_story_base = story or tool.operation.part(stores, values.pop(PROJECT))
            return tool.answer(reached_story_base, {**values, **(bound or {})}, limit=limit, folders=folders)
        except Exception as error:  # noqa: BLE001 - an agent's loop goes on, whatever happens in a tool
            return refusal(error, names=LANGCHAIN_NAMES, folders=folders)

    return StructuredTool.from_function(
        run,
        name=tool.langchain,
        description=tool.hint.format_map(LANGCHAIN_NAMES),
        args_schema=tool.schema(arguments),
        infer_schema=False,
    )
