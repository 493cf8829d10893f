"""Tools of the MCP SDK made of what is offered: with or without an argument for the project, errors with their fix."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, TextContent
from pydantic import ConfigDict, Field, PrivateAttr, ValidationError

from novelgen.errors import NovelgenError
from runtime.doors.mcp.answers import Answer, ProjectsAnswer
from runtime.doors.mcp.offers import OFFERS, READS, ToolOffer
from runtime.doors.mcp.shelf import Shelf

ProjectArgument = Annotated[
    str, Field(min_length=1, max_length=400, description="Id of the project, as list_projects tells it.")
]

LONGEST_VALUE = 200


def build_tools(shelf: Shelf, *, is_read_only: bool) -> list[Tool]:
    """Return the tools over the stories of a shelf."""
    offers = [each for each in OFFERS if each.is_read_only or not is_read_only]
    if shelf.project_id is None:
        offers.insert(0, _listing(shelf))
    return [_tool(shelf, each) for each in offers]


def of_project(shelf: Shelf, body: Callable[..., Any], *, project: Any = ProjectArgument) -> Callable[..., Any]:
    """Return an async function that calls a body in a thread, with a story in place of its first argument."""
    signature = inspect.signature(body, eval_str=True)
    parameters = list(signature.parameters.values())[1:]
    if shelf.project_id is None:
        chosen = inspect.Parameter("project", inspect.Parameter.KEYWORD_ONLY, annotation=project)
        parameters.insert(0, chosen)

    async def call(**given: Any) -> Any:
        chosen = given.pop("project", None)
        return await shelf.run(lambda: body(shelf.story(chosen), **given))

    return with_signature(call, body.__name__, signature.replace(parameters=parameters))


def with_signature(call: Callable[..., Any], name: str, signature: inspect.Signature) -> Callable[..., Any]:
    """Return a function of keywords with the name and the signature that frameworks shall see."""
    call.__name__ = name
    call.__signature__ = signature  # type: ignore[attr-defined]
    call.__annotations__ = {each.name: each.annotation for each in signature.parameters.values()}
    call.__annotations__["return"] = signature.return_annotation
    return call


class StoryTool(Tool):
    """A tool whose errors tell a model what to do, and whose text is what a model reads best."""

    _shelf: Shelf | None = PrivateAttr(default=None)

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        """Run it."""
        try:
            answer = await super().run(arguments, context)
            result = self.fn_metadata.convert_result(answer)
        except ToolError as error:
            raise self._told(error) from error.__cause__
        if not convert_result:
            return answer
        assert isinstance(answer, Answer)
        assert isinstance(result, CallToolResult)
        return result.model_copy(update={"content": [TextContent(type="text", text=answer.as_text())]})

    def _told(self, error: ToolError) -> ToolError:
        cause = error.__cause__
        if isinstance(cause, NovelgenError) and self._shelf is not None:
            return ToolError(self._shelf.told(cause))
        if isinstance(cause, ValidationError):
            return ToolError(f"{_wrong_arguments(cause)}. Correct the arguments that are named and call again.")
        return error


def _tool(shelf: Shelf, offer: ToolOffer) -> StoryTool:
    is_over_projects = offer.body.__name__ == "list_projects"
    tool = StoryTool.from_function(
        offer.body if is_over_projects else of_project(shelf, offer.body),
        title=offer.title,
        description=offer.description,
        annotations=offer.hints,
        structured_output=True,
    )
    assert isinstance(tool, StoryTool)
    tool._shelf = shelf
    # An argument that does not exist, such as a path, is an error and not silently dropped.
    whole = tool.fn_metadata.arg_model
    strict: Any = types.new_class(
        whole.__name__,
        (whole,),
        exec_body=lambda space: space.update(model_config=ConfigDict(extra="forbid"), __module__=__name__),
    )
    tool.fn_metadata.arg_model = strict
    tool.parameters = _untitled(strict.model_json_schema(by_alias=True))
    tool.fn_metadata.output_schema = _untitled(tool.fn_metadata.output_schema)
    return tool


def _untitled(schema: Any) -> Any:
    """Return a schema without the titles that Pydantic makes of names: every model that is offered it pays for them."""
    if isinstance(schema, dict):
        return {
            name: _untitled(value) for name, value in schema.items() if not (name == "title" and isinstance(value, str))
        }
    return [_untitled(each) for each in schema] if isinstance(schema, list) else schema


def _listing(shelf: Shelf) -> ToolOffer:
    async def list_projects() -> ProjectsAnswer:
        return ProjectsAnswer(projects=await shelf.run(shelf.overviews))

    return ToolOffer(
        list_projects,
        "Projects",
        "List the stories with their ids and what each holds. Call it first: every other tool takes the id of one.",
        READS,
    )


def _wrong_arguments(error: ValidationError) -> str:
    problems = [
        f"{'.'.join(map(str, each['loc'])) or 'arguments'} = {repr(each['input'])[:LONGEST_VALUE]}: {each['msg']}"
        for each in error.errors(include_url=False, include_context=False)
    ]
    return "; ".join(problems)
