"""Calling the tools of a stored story."""

from collections.abc import Callable
from typing import Any

import pytest

from novelgen.models.position import StoryPosition
from runtime.stores import MemoryStores
from runtime.story.story import Story

Call = Callable[..., dict[str, Any]]


@pytest.fixture
def call(stores: MemoryStores, project: str) -> Call:
    """Call a tool by name; a planner's on entering a position."""

    def invoke(name: str, /, *, as_of: StoryPosition | None = None, **arguments: Any) -> dict[str, Any]:
        story = Story(stores, project)
        tools = [*story.as_tools(as_of=as_of), *story.as_tools(kind="editor"), *story.as_tools(kind="attachments")]
        answer = next(each for each in tools if each.name == name).invoke(arguments)
        assert isinstance(answer, dict)
        return answer

    return invoke
