"""Attachments by function and by function calling."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from runtime.story_tools.attachment_tools import build_attachment_tools
from tests.runtime.story_tools.guild_story import ENTITIES, scene


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[MemoryStores]:
    """Stores with the guild's story and a note that is about nobody yet."""
    settings = load_settings(projects_dir=tmp_path, memory={"embedding_model": "fake:32"})
    with MemoryStores(settings) as opened:
        opened.create_project("guild", language="en")
        store_entities(opened, "guild", ENTITIES, origin="author")
        ingest_scenes(opened, "guild", [scene(1, 1), scene(1, 2)])
        with opened.database("guild").write() as unit:
            unit.memories.add_note("The Cartographer never sleeps in the Archive.")
        yield opened


def tools(stores: MemoryStores) -> dict[str, Any]:
    """Return the tools by name."""
    return {tool.name: tool for tool in build_attachment_tools(stores, "guild")}


def test_a_model_attaches_and_takes_off(stores: MemoryStores) -> None:
    """The answer says what the memory is attached to now, as JSON."""
    given = {"memory_ids": ["note-N0"], "attached_to": ["Marcus Vale", "book"]}
    answer = tools(stores)["memory_attach"].invoke(given)
    assert answer["success"] is True
    assert answer["changed"] == ["note-N0"]
    assert [(each["target"], each["origin"]) for each in answer["attachments"]["note-N0"]] == [
        ("C1", "manual"),
        ("book", "manual"),
    ]
    after = tools(stores)["memory_detach"].invoke({**given, "attached_to": ["C1"]})
    assert [each["target"] for each in after["attachments"]["note-N0"]] == ["book"]


def test_a_model_looks_before_it_attaches_by_mention(stores: MemoryStores) -> None:
    """By default nothing is attached; an alias counts as the entity."""
    tool = tools(stores)["memory_attach_by_mention"]
    looked = tool.invoke({"entity": "Elena Thorne"})
    assert (looked["attached"], looked["count"]) == (False, 1)
    assert looked["memories"][0]["memory_id"] == "note-N0"
    assert tool.invoke({"entity": "C0", "preview": False})["attached"] is True
    assert tool.invoke({"entity": "C0"})["count"] == 0


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("memory_attach", {"memory_ids": ["note-N0"], "attached_to": ["Markus Vale"]}, "Marcus Vale (C1)"),
        ("memory_attach", {"memory_ids": ["note-N0"], "attached_to": ["chapter:9"]}, "chapter:1"),
        ("memory_detach", {"memory_ids": ["M9"], "attached_to": ["C0"]}, "'M9'"),
        ("memory_detach", {"memory_ids": [], "attached_to": ["C0"]}, "memory_ids"),
        ("memory_attach_by_mention", {"entity": "nobody"}, "nearest"),
        ("memory_attach_by_mention", {"entity": "C0", "project_id": "other"}, "project_id"),
    ],
)
def test_what_goes_wrong_is_data(
    stores: MemoryStores, tool: str, arguments: dict[str, Any], message: str
) -> None:
    """A model reads what to correct, names near what it wrote included."""
    answer = tools(stores)[tool].invoke(arguments)
    assert answer["success"] is False
    assert message in answer["error"]
