"""A function that answers with a JSON object, as a LangChain tool that never raises one of our errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel

from runtime.story_tools.refusals import Answer, answered, refused_arguments


def structured_tool(
    name: str, description: str, body: Callable[..., Answer], arguments: type[BaseModel]
) -> BaseTool:
    """Return the tool.

    Args:
        name: Function name, without dots.
        description: What the model is told of it.
        body: Called with the validated arguments by name.
        arguments: Schema of the arguments.
    """
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
