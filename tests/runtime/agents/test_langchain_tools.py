"""The three memory tools for function calling."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage

from runtime.agents.langchain_tools import build_memory_tools
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from tests.runtime.agents.guild_story import ENTITIES, scene
from tests.support.scripted_chat_model import answering, calling


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory, module_database_url: str | None) -> Any:
    """Stores with the guild's story, on either database."""
    folder: Path = tmp_path_factory.mktemp("projects")
    settings = load_settings(
        projects_dir=folder, memory={"embedding_model": "fake:64"}, database_url=module_database_url
    )
    with MemoryStores(settings) as opened:
        opened.create_project("guild", language="en")
        store_entities(opened, "guild", ENTITIES, origin="author")
        ingest_scenes(opened, "guild", [scene(1, 1), scene(1, 2), scene(2, 1)])
        yield opened


def test_a_model_asks_all_three_as_of_a_scene(stores: MemoryStores) -> None:
    """A real loop: answers are JSON, and nothing of the planned scene or later is in them."""
    here = {"chapter_index": 2, "scene_index": 1}
    model = answering(
        calling("search_story_memory_tool", "1", project_id="guild", query="frozen lake", as_of=here),
        calling("get_entity_state_tool", "2", project_id="guild", entity_id="Elena Thorne", **here),
        calling("get_recent_timeline_tool", "3", project_id="guild", chapter_index=2, as_of=here),
        "Done.",
    )
    state = create_agent(model, build_memory_tools(stores)).invoke({"messages": [("user", "Plan 2:1.")]})
    found, entity, timeline = [json.loads(each.content) for each in state["messages"] if isinstance(each, ToolMessage)]
    assert found["memories"]
    assert all(each["chapter_index"] == 1 for each in found["memories"])
    assert entity["state"]["state_data"]["emotional_state"] == "anxious"
    assert {each["chapter_index"] for each in timeline["snapshots"]} == {1}


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        (0, {"project_id": "nowhere", "query": "x"}, "nowhere"),
        (0, {"project_id": "../guild", "query": "x"}, "path separator"),
        (0, {"project_id": "guild", "query": "x", "top_k": 0}, "top_k"),
        (1, {"project_id": "guild", "entity_id": "C0", "scene_index": 1}, "without chapter_index"),
        (2, {"project_id": "guild"}, "chapter_index: Field required"),
    ],
)
def test_what_goes_wrong_is_data(stores: MemoryStores, tool: int, arguments: dict[str, Any], message: str) -> None:
    """A model reads what to correct instead of breaking the loop."""
    answer = build_memory_tools(stores)[tool].invoke(arguments)
    assert answer["success"] is False
    assert message in answer["error"]


def test_what_is_not_known_is_null(stores: MemoryStores) -> None:
    """An entity without a state is no error."""
    state_tool = build_memory_tools(stores)[1]
    assert state_tool.invoke({"project_id": "guild", "entity_id": "the Emperor"}) == {"state": None}
