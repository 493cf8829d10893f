"""Row 21: a project id that is no plain string is refused before anything is read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from novelgen.errors import UserInputError
from novelgen.memory.search import SearchRequest
from novelgen.models.plan import ScenePlan
from runtime.context_chain import build_context_chain
from runtime.ingest.indexing import drain_outbox, reindex, verify_index
from runtime.ingest.ingest import ingest_scene
from runtime.ingest.scene_input import SceneInput
from runtime.memory_tools import (
    StoryMemoryTools,
    get_entity_state_tool,
    get_recent_timeline_tool,
    search_story_memory_tool,
)
from runtime.stores import MemoryStores
from tests.faults.matrix import covers
from tests.support.demo_project import settings_for

# fmt: off
BAD_IDS = [
    None, {}, {"$ne": ""}, {"$in": ["demo", "demo-zh"]}, [], ["demo"], 7, "", " ", "demo ", ".", "..", "../demo",
    "demo/../demo-zh", "/etc", "C:\\x", "demo\x00", "demo\n", "nul", "CON.txt", "*", "demo\u202e", "\ud800", "x" * 101,
]
# fmt: on
SCENE = SceneInput(chapter_index=1, scene_index=1, text="text")
PLAN = ScenePlan(scene_number=1, purpose="anything")

DOORS: dict[str, Callable[[MemoryStores, Any], Any]] = {
    "search tool": lambda stores, given: search_story_memory_tool(given, "key", stores=stores),
    "state tool": lambda stores, given: get_entity_state_tool(given, "C0", stores=stores),
    "timeline tool": lambda stores, given: get_recent_timeline_tool(given, 1, stores=stores),
    "chain": lambda stores, given: build_context_chain(stores).invoke(
        {"project_id": given, "chapter_index": 1, "scene_index": 1, "scene_plan": PLAN}
    ),
    "search": lambda stores, given: StoryMemoryTools(stores).search(SearchRequest(project_id=given)),
    "ingest": lambda stores, given: ingest_scene(stores, given, SCENE),
    "creation": lambda stores, given: stores.create_project(given),
    "index": lambda stores, given: stores.vectors(given),
    "drain": drain_outbox,
    "reindex": reindex,
    "verify": verify_index,
}


@covers(21)
@pytest.mark.parametrize("door", DOORS)
def test_no_door_takes_an_id_that_is_no_plain_name(tmp_path: Path, door: str) -> None:
    """Every way in refuses by name, opens no store and creates no file."""
    folder = tmp_path / "projects"
    with MemoryStores(settings_for(folder)) as stores:
        for given in BAD_IDS:
            with pytest.raises((UserInputError, ValidationError), match="project_id"):
                DOORS[door](stores, given)
        assert stores._held == {}
        assert stores._accesses == {}
    assert list(tmp_path.iterdir()) == []
