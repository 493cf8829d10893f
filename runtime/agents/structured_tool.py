"""A function that answers with a JSON object, as a LangChain tool that never raises one of our errors.

What goes wrong in a call comes back as data that a model can act on.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, ParamSpec

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ValidationError

from novelgen.errors import NovelgenError, UnknownEntityError, UnknownProjectError, UnknownSceneError, UserInputError

logger = logging.getLogger(__name__)
Arguments = ParamSpec("Arguments")
Answer = dict[str, Any]

_HINTS: tuple[tuple[type[NovelgenError], str], ...] = (
    (UnknownEntityError, "Call again with the id of a known entity; memory_search finds ids by name."),
    (UnknownSceneError, "Call again with the id of a scene that is stored, such as S001, or leave it out."),
    (UnknownProjectError, "The project is not stored; tell the user, another call will not help."),
    (UserInputError, "Correct the argument that the error names and call again."),
    (NovelgenError, "The memory is out of order, not your call; go on without it, or try once more later."),
)


def structured_tool(name: str, description: str, body: Callable[..., Answer], arguments: type[BaseModel]) -> BaseTool:
    """Return the tool."""
    answer = answered(body)

    def run(**given: Any) -> Answer:
        return answer(**given)

    return StructuredTool.from_function(
        run,
        name=name,
        description=description,
        args_schema=arguments,
        infer_schema=False,
        handle_validation_error=refused_arguments,
    )


def answered(tool: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """Make a tool answer with `{success: false, error, hint}` where it would raise one of our errors."""

    def answer(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        try:
            return tool(*args, **kwargs)
        except NovelgenError as error:
            if not isinstance(error, UserInputError):
                logger.warning("a tool call failed: %s", error)
            hint = next(text for kind, text in _HINTS if isinstance(error, kind))
            return refusal(str(error), hint)

    return answer


def refused_arguments(error: Any) -> Any:
    """Return what a tool answers to arguments that do not fit its schema: which ones, and why."""
    if not isinstance(error, ValidationError):
        return refusal(str(error), "Correct the arguments and call again.")
    problems = [
        f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}" for each in error.errors(include_url=False)
    ]
    return refusal("; ".join(problems), "Correct the arguments that the error names and call again.")


def refusal(error: str, hint: str) -> Answer:
    """Return the answer of a call that did nothing."""
    return {"success": False, "error": error, "hint": hint}
