"""Memories attached to entities, chapters and the book: derived, and by hand."""

import pytest

from novelgen.errors import UnknownMemoryError
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.memory import Attachment, StoryMemoryChunk
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.storage.database import DatabaseManager
from runtime.storage.models import MemoryFilter
from runtime.story.base import resolved_targets
from tests.runtime.storage.stories import at, memory, scene, store

ENTITIES = [
    Entity(entity_id="C0", entity_type="character", name="黛玉", aliases=[EntityAlias(alias="颦儿")]),
    Entity(entity_id="C1", entity_type="character", name="宝玉"),
    Entity(entity_id="C2", entity_type="character", name="Elena Thorne"),
    Entity(entity_id="L0", entity_type="location", name="潇湘馆"),
    Entity(entity_id="T0", entity_type="term", name="通灵宝玉"),
]
FIRST = memory("M1", "黛玉在潇湘馆葬花。", entities_mentioned=["C0", "L0"])
SECOND = memory("M2", "颦儿烧了诗稿。")
THIRD = memory("M3", "通灵宝玉不见了。", origin="text", content_type="scene", entities_mentioned=["T0"])


@pytest.fixture
def story(database: DatabaseManager) -> DatabaseManager:
    """Two scenes with three memories, one of them linked to nothing."""
    with database.project("demo").write() as unit:
        for entity in ENTITIES:
            unit.entities.upsert(entity, origin="supplied")
    store(database, scene(1, 1, FIRST, SECOND), scene(2, 1, THIRD))
    return database


def attach(database: DatabaseManager, memory_id: str, *targets: str, is_off: bool = False) -> list[str]:
    """Attach one memory, or take it off, and return what changed."""
    with database.project("demo").write() as unit:
        change = unit.attachments.detach if is_off else unit.attachments.attach
        return change([memory_id], resolved_targets(unit, targets, None, by_exact_name=True))


def origins(database: DatabaseManager, memory_id: str) -> dict[str, str]:
    """Return what a memory is attached to, and by what."""
    with database.project("demo").read() as unit:
        return {each.target: each.origin for each in unit.attachments.attachments_of(memory_id)}


def found(database: DatabaseManager, *targets: str, as_of: StoryPosition = END_OF_STORY) -> list[str]:
    """Return the ids of the memories attached to any target."""
    with database.project("demo").read() as unit:
        wanted = MemoryFilter(entities=list(targets), as_of=as_of)
        assert unit.memories.count(wanted) == len(unit.memories.list_matching(wanted))
        return [each.chunk.chunk_id for each in unit.memories.list_matching(wanted)]


def read(database: DatabaseManager, chunk_id: str) -> StoryMemoryChunk:
    """Return a memory as it is read."""
    with database.project("demo").read() as unit:
        (chunk,) = unit.memories.by_ids([chunk_id])
    return chunk


def test_links_are_derived_and_the_book_is_the_default(story: DatabaseManager) -> None:
    """Of a record's memory to its entities and chapter; an unknown memory changes nothing."""
    assert origins(story, "M1") == {"C0": "record", "L0": "record", "chapter:1": "position"}
    assert origins(story, "M2") == {"chapter:1": "position", "book": "default"}
    assert origins(story, "M3") == {"T0": "mention", "chapter:2": "position"}
    with story.project("demo").read() as unit:
        assert unit.attachments.attachments_of("M1")[1] == Attachment(
            kind="location", target="L0", name="潇湘馆", origin="record"
        )
    with story.project("demo").write() as unit, pytest.raises(UnknownMemoryError, match="'M9'"):
        unit.attachments.attach(["M2", "M9"], ["C0"])
    assert origins(story, "M2") == {"chapter:1": "position", "book": "default"}


def test_a_memory_may_be_attached_to_many_things(story: DatabaseManager) -> None:
    """Characters, places, terms, chapters and the book, in one call; entities alone are its entities."""
    attach(story, "M2", "宝玉", "潇湘馆", "通灵宝玉", "chapter:2", "book")
    by_hand = dict.fromkeys(["C1", "L0", "T0", "chapter:2", "book"], "manual")
    assert origins(story, "M2") == by_hand | {"chapter:1": "position"}
    assert read(story, "M2").entities_mentioned == ["C1", "L0", "T0"]


def test_what_is_set_and_taken_off_by_hand_outlives_all_else(story: DatabaseManager) -> None:
    """Pin and ban leave it alone; a new ingest replaces the derived links, and sees no change where there is none."""
    attach(story, "M1", "C1", "chapter:2")
    attach(story, "M1", "L0", is_off=True)
    with story.project("demo").write() as unit:
        for decision in ("pin", "ban", "unban", "unpin"):
            unit.memories.decide("M1", decision)
    by_hand = {"C1": "manual", "chapter:1": "position", "chapter:2": "manual"}
    assert origins(story, "M1") == by_hand | {"C0": "record"}
    (result,) = store(story, scene(1, 1, FIRST, SECOND))
    assert result.chunks_unchanged == ["M1", "M2"]
    store(story, scene(1, 1, FIRST.model_copy(update={"entities_mentioned": ["L0", "C2"]}), SECOND))
    assert origins(story, "M1") == by_hand | {"C2": "record"}
    assert read(story, "M1").entities_mentioned == ["C2", "C1"]


def test_a_reworded_memory_keeps_what_was_set_by_hand(story: DatabaseManager) -> None:
    """A record's memory is the same one while its memory_id is, whatever it says now."""
    attach(story, "M1", "C1")
    attach(story, "M1", "L0", is_off=True)
    reworded = memory("M1b", "黛玉葬了花。", source_id="M1", entities_mentioned=["C0", "L0"])
    other = memory("M4", "与他人无关。", entities_mentioned=["L0"])
    store(story, scene(1, 1, reworded, other, SECOND))
    assert origins(story, "M1b") == {"C0": "record", "C1": "manual", "chapter:1": "position"}
    assert origins(story, "M4") == {"L0": "record", "chapter:1": "position"}


def test_an_unchanged_scene_stays_unchanged(story: DatabaseManager) -> None:
    """Attachments do not make a scene's memories look changed."""
    attach(story, "M1", "C1")
    (result,) = store(story, scene(1, 1, FIRST, SECOND))
    assert result.chunks_unchanged == ["M1", "M2"]


def test_attachments_outlive_an_edit_a_pin_and_a_ban(story: DatabaseManager) -> None:
    """What else an author decides about a memory leaves its attachments alone."""
    attach(story, "M1", "C1", "chapter:2")
    with story.project("demo").write() as unit:
        unit.memories.decide("M1", "pin")
        unit.memories.decide("M1", "ban")
        unit.memories.decide("M1", "unban")
    assert origins(story, "M1") == {
        "C0": "record",
        "C1": "manual",
        "L0": "record",
        "chapter:1": "position",
        "chapter:2": "manual",
    }


def test_memories_that_name_an_entity_are_previewed(story: DatabaseManager) -> None:
    """Aliases count, what is attached already or was taken off does not, nor a longer name that holds it."""
    for _ in range(2):
        with story.project("demo").read() as unit:
            assert [each.chunk_id for each in unit.attachments.mentioning("C0")] == ["M2"]
            assert unit.attachments.mentioning("C1") == []
        attach(story, "M1", "C0", is_off=True)


def test_a_filter_takes_chapters_and_the_book(story: DatabaseManager) -> None:
    """Seed 003.5, 003.6: a chapter has what stands in it and what was attached, the book what has nothing else."""
    attach(story, "M1", "chapter:2")
    assert found(story, "chapter:1") == ["M1", "M2"]
    assert found(story, "chapter:2") == ["M1", "M3"]
    assert found(story, "book") == ["M2"]
    assert found(story, "book", "T0") == ["M2", "M3"]
    assert found(story, "chapter:2", as_of=at(2, 1)) == ["M1"]
    assert attach(story, "M2", "C0") == ["M2"]
    assert (attach(story, "M2", "C0"), attach(story, "M2", "C1", is_off=True)) == ([], [])
    assert found(story, "book") == []
    attach(story, "M2", "C0", is_off=True)
    attach(story, "M1", "book")
    assert found(story, "book") == ["M1", "M2"]


def test_what_is_attached_to_a_chapter_moves_with_it(story: DatabaseManager) -> None:
    """Where a chapter is inserted before it, and where a scene alone moves it stays."""
    attach(story, "M1", "chapter:2")
    with story.project("demo").write() as unit:
        unit.scenes.insert_gap(at(2))
    assert origins(story, "M1") == {"C0": "record", "L0": "record", "chapter:1": "position", "chapter:3": "manual"}
    assert found(story, "chapter:3") == ["M1", "M3"]
    with story.project("demo").write() as unit:
        unit.scenes.move_scene(at(3, 1), at(5, 1))
    assert found(story, "chapter:3") == ["M1"]


def test_a_memory_tells_what_it_is_attached_to(story: DatabaseManager) -> None:
    """Seed 003.2: kinds and ids, entities before chapters before the book; without any the book, by default."""
    attach(story, "M1", "book", "chapter:2", "宝玉")
    told = [(each.type, each.id) for each in read(story, "M1").attached_to]
    assert told == [
        ("character", "C0"),
        ("location", "L0"),
        ("character", "C1"),
        ("chapter", "chapter:2"),
        ("book", "book"),
    ]
    assert [each.model_dump() for each in read(story, "M2").attached_to] == [
        {"type": "book", "id": "book", "is_default": True}
    ]


def test_moments_of_reading_are_told_where_they_were_noted(story: DatabaseManager) -> None:
    """Seed 003.13: what nobody noted is left out."""
    with story.project("demo").write() as unit:
        unit.memories.mark_read(["M1"])
    with story.project("demo").read() as unit:
        moments = unit.memories.read_moments(["M1", "M2"])
        assert moments == {"M1": unit.memories.require("M1").last_accessed_at}
