"""Attachments by function and by function calling."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runtime.agents.attachment_tools import attachment_guidance, build_attachment_tools
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.settings import load_settings
from runtime.stores import MemoryStores
from tests.runtime.agents.guild_story import ENTITIES, scene


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[MemoryStores]:
    """Stores with the guild's story and a note that is about nobody yet."""
    settings = load_settings(projects_dir=tmp_path, memory={"embedding_model": "fake:32"})
    with MemoryStores(settings) as opened:
        opened.create_project("guild", language="en")
        store_entities(opened, "guild", ENTITIES, origin="author")
        ingest_scenes(opened, "guild", [scene(1, 1), scene(1, 2), scene(2, 1)])
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


def test_a_model_makes_a_memory_and_attaches_it(stores: MemoryStores) -> None:
    """Seed 003.19: create_memory takes attachments; without any it hangs on whom it names, else on the book."""
    create = tools(stores)["create_memory"]
    given = create.invoke({"content": "She hates cold tea.", "attached_to": ["Elena Thorne", "chapter:1"]})
    assert given["success"] is True
    assert [(each["type"], each["id"]) for each in given["memory"]["attached_to"]] == [
        ("character", "C0"),
        ("chapter", "chapter:1"),
    ]
    named = create.invoke({"content": "Marcus Vale hates cold tea.", "importance": 4, "tags": ["tea"]})
    assert [each["id"] for each in named["memory"]["attached_to"]] == ["C1"]
    from_there = create.invoke({"content": "Tea is dear.", "chapter_index": 2, "scene_index": 1})
    assert [each["id"] for each in from_there["memory"]["attached_to"]] == ["book"]
    assert (from_there["memory"]["chapter_index"], from_there["memory"]["scene_index"]) == (2, 0)


def test_a_model_replaces_what_a_memory_is_attached_to(stores: MemoryStores) -> None:
    """Seed 003.19: update_memory changes the text and the whole list; list_memories shows where it hangs now."""
    changed = tools(stores)["update_memory"].invoke(
        {"memory_id": "note-N0", "content": "He never sleeps there.", "attached_to": ["C1", "chapter:2"]}
    )
    assert changed["memory"]["content"] == "He never sleeps there."
    assert [each["id"] for each in changed["memory"]["attached_to"]] == ["C1", "chapter:2"]
    listed = tools(stores)["list_memories"].invoke({"attached_to": ["chapter:2"]})
    assert (listed["count"], listed["memories"][0]["memory_id"]) == (1, "note-N0")


@pytest.mark.parametrize(("language", "word"), [("en", "chapter:<number>"), ("zh", "chapter:<章号>")])
def test_a_system_prompt_teaches_attachments(stores: MemoryStores, language: Any, word: str) -> None:
    """Seed 003.20: the text that is shipped tells of every tool by its name, in the story's language."""
    told = attachment_guidance(language)
    assert word in told
    assert {each for each in tools(stores) if each in told} >= {"update_memory", "memory_attach", "memory_detach"}


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("create_memory", {"content": "x", "attached_to": ["Markus Vale"]}, "near it: C1 (Marcus Vale)"),
        ("create_memory", {"content": "  "}, "empty"),
        ("update_memory", {"memory_id": "M9", "content": "x"}, "'M9'"),
        ("update_memory", {"memory_id": "note-N0"}, "nothing to change"),
        ("list_memories", {"attached_to": ["chapter:9"]}, "chapter:2"),
        ("memory_attach", {"memory_ids": ["note-N0"], "attached_to": ["Markus Vale"]}, "Marcus Vale (C1)"),
        ("memory_attach", {"memory_ids": ["note-N0"], "attached_to": ["chapter:9"]}, "chapter:1"),
        ("memory_detach", {"memory_ids": ["M9"], "attached_to": ["C0"]}, "'M9'"),
        ("memory_detach", {"memory_ids": [], "attached_to": ["C0"]}, "memory_ids"),
        ("memory_attach_by_mention", {"entity": "nobody"}, "nearest"),
        ("memory_attach_by_mention", {"entity": "C0", "project_id": "other"}, "project_id"),
    ],
)
def test_what_goes_wrong_is_data(stores: MemoryStores, tool: str, arguments: dict[str, Any], message: str) -> None:
    """A model reads what to correct, names near what it wrote included."""
    answer = tools(stores)[tool].invoke(arguments)
    assert answer["success"] is False
    assert message in answer["error"]
