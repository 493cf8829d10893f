"""The three memory tools as plain functions: over given stores, over those of the settings, and what they refuse."""

import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

from novelgen.errors import InvalidProjectIdError, UnknownProjectError, UserInputError
from runtime import memory_tools
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.memory_tools import get_entity_state_tool, get_recent_timeline_tool, search_story_memory_tool
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from tests.runtime.agents.guild_story import ENTITIES, scene

pytestmark = pytest.mark.slow

PROJECT = "guild"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Projects with the guild's story, whose stores are closed."""
    folder = tmp_path_factory.mktemp("projects")
    with MemoryStores(load_settings(projects_dir=folder, memory={"embedding_model": "fake:32"})) as opened:
        opened.create_project(PROJECT, language="en")
        store_entities(opened, PROJECT, ENTITIES, origin="author")
        ingest_scenes(opened, PROJECT, [scene(*place) for place in ((1, 1), (1, 2), (2, 1))])
    return folder


@pytest.fixture(scope="module")
def stores(folder: Path) -> Iterator[MemoryStores]:
    """Open stores over them."""
    with MemoryStores(load_settings(projects_dir=folder, memory={"embedding_model": "fake:32"})) as opened:
        yield opened


def test_without_stores_those_of_the_settings_are_opened(
    folder: Path, monkeypatch: pytest.MonkeyPatch, stores: MemoryStores
) -> None:
    """Seed 000.45: a call by name alone works, names and arguments stay, and what is asked wrongly is told."""
    monkeypatch.setenv("NOVELGEN_PROJECTS_DIR", str(folder))
    monkeypatch.setenv("NOVELGEN_MEMORY__EMBEDDING_MODEL", "fake:32")
    state = get_entity_state_tool(PROJECT, "C0")
    assert state is not None
    assert state.state_data["emotional_state"] == "hopeful"
    with pytest.raises(InvalidProjectIdError):
        get_recent_timeline_tool("../guild", 1, stores=stores)
    with pytest.raises(UnknownProjectError):
        get_entity_state_tool("nowhere", "C0", stores=stores)
    with pytest.raises(UserInputError, match="query"):
        search_story_memory_tool(PROJECT, " ", stores=stores)
    assert get_entity_state_tool(PROJECT, "Nobody", stores=stores) is None
    assert set(memory_tools.__all__) >= {
        "get_entity_state_tool",
        "get_recent_timeline_tool",
        "search_story_memory_tool",
    }
    arguments = inspect.signature(search_story_memory_tool).parameters
    assert list(arguments)[:7] == ["project_id", "query", "entities", "content_type", "tags", "top_k", "as_of"]
    assert arguments["stores"].kind is inspect.Parameter.KEYWORD_ONLY
