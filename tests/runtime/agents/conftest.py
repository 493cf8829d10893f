"""A stored story for the tools, in a project of its own for every test."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from novelgen.models.position import StoryPosition
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from runtime.story.story import Story
from tests.runtime.agents.guild_story import ENTITIES, scene

_numbers = itertools.count(1)
Call = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStores]:
    """Stores without any project."""
    folder = tmp_path_factory.mktemp("projects")
    with MemoryStores(load_settings(projects_dir=folder, memory={"embedding_model": "fake:64"})) as opened:
        yield opened


@pytest.fixture
def project(stores: MemoryStores) -> str:
    """The guild's story, whose vector index was not made yet."""
    project_id = f"guild-{next(_numbers)}"
    stores.create_project(project_id, language="en")
    store_entities(stores, project_id, ENTITIES, origin="author")
    ingest_scenes(stores, project_id, [scene(*place) for place in ((1, 1), (1, 2), (2, 1))], index=False)
    return project_id


@pytest.fixture
def call(stores: MemoryStores, project: str) -> Call:
    """Call a tool by name; a planner's on entering a position."""

    def invoke(name: str, /, *, as_of: StoryPosition | None = None, **arguments: Any) -> dict[str, Any]:
        story = Story(stores, project)
        tools = [*story.tools(as_of=as_of), *story.editing_tools(), *story.attachment_tools()]
        answer = next(each for each in tools if each.name == name).invoke(arguments)
        assert isinstance(answer, dict)
        return answer

    return invoke
