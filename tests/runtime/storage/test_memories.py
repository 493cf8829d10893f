"""Reading memories as of a position, and what authors do to them."""

import pytest

from novelgen.errors import DatabaseError, UnknownMemoryError
from novelgen.models.position import END_OF_STORY
from runtime.storage.database import DatabaseManager, UnitOfWork
from runtime.storage.memories import DECISIONS
from runtime.storage.models import MemoryEdit, MemoryFilter
from runtime.storage.records import MemoryRow
from tests.runtime.storage.stories import at, memory, scene, store
from tests.support.databases import on_both_databases


@pytest.fixture
def told(database: DatabaseManager) -> DatabaseManager:
    """Three scenes with two memories each, and a note of canon."""
    store(
        database,
        scene(1, 1, memory("A1", importance=9, entities_mentioned=["C0"]), memory("A2", importance=2, tags=["oath"])),
        scene(2, 1, memory("B1", importance=7, entities_mentioned=["C0", "C1"]), memory("B2", importance=7)),
        scene(2, 2, memory("D1", importance=8, entities_mentioned=["C1"]), memory("D2", content_type="scene")),
    )
    with database.project("demo").write() as unit:
        unit.memories.add_note("Magic costs blood.", short="blood magic", entities=["T0"])
    return database


@on_both_databases
def test_a_memory_comes_back_as_it_went_in(database: DatabaseManager) -> None:
    """Every field of the model survives, and the type checks of the model hold for what is read."""
    written = memory(
        "M1",
        "林黛玉 kept the key.",
        short="key kept",
        importance=9,
        tier="important",
        source_span=(3, 17),
        event_type="secret_kept",
        supersedes="M0",
        also_supersedes=["M8", "M9"],
        slot_type="I1.holder",
        verified=False,
        tags=["钥匙", "b"],
        entities_mentioned=["C1", "I1"],
        embedding_id="e1",
    )
    store(database, scene(1, 2, written))
    with database.project("demo").read() as unit:
        (read,) = unit.memories.by_ids(["M1"])

    assert read == written.model_copy(update={"chapter_index": 1, "scene_index": 2})
    assert type(read).model_validate(read.model_dump()) == read


@on_both_databases
def test_memories_are_read_in_the_order_asked_and_only_before_the_position(told: DatabaseManager) -> None:
    """Those of entities by weight, recent ones newest first, those of scenes in story order."""
    with told.project("demo").read() as unit:
        found = unit.memories.by_ids(["D1", "B1", "note-N0", "A1", "nope", "A1"], as_of=at(2, 2))

    assert [chunk.chunk_id for chunk in found] == ["B1", "note-N0", "A1"]
    with told.project("demo").read() as unit:
        found = unit.memories.by_entities(["C0", "C1"], as_of=END_OF_STORY, limit=2)
        assert [chunk.chunk_id for chunk in found] == ["A1", "D1"]
        assert unit.memories.by_entities([]) == []
        assert unit.memories.by_entities(["C1"], as_of=at(2)) == []
    with told.project("demo").read() as unit:
        found = unit.memories.recent_high_signal(as_of=at(2, 2), min_importance=7)

    assert [chunk.chunk_id for chunk in found] == ["B1", "B2", "A1", "note-N0"]
    with told.project("demo").read() as unit:
        found = unit.memories.of_scenes([(2, 2), (1, 1), (9, 9)], content_types=["memory"])
        assert [chunk.chunk_id for chunk in found] == ["A1", "A2", "D1"]
        assert unit.memories.of_scenes([(2, 2)], as_of=at(2, 2)) == []
        assert unit.memories.of_scenes([]) == []


@on_both_databases
def test_ids_are_filtered_in_sql(told: DatabaseManager) -> None:
    """Entities, types, tags and the cut; newest first; limited."""
    with told.project("demo").read() as unit:
        ids = unit.memories.filtered_ids
        assert ids(MemoryFilter(entities=["C0"])) == ["B1", "A1"]
        assert ids(MemoryFilter(entities=["C0", "C1"], as_of=at(2, 2))) == ["B1", "A1"]
        assert ids(MemoryFilter(tags=["oath"])) == ["A2"]
        assert ids(MemoryFilter(content_types=["note", "scene"])) == ["D2", "note-N0"]
        assert ids(MemoryFilter(as_of=at(1, 1))) == ["note-N0"]
        assert ids(limit=2) == ["D1", "D2"]
    with told.project("demo2").read() as unit:
        assert unit.memories.filtered_ids() == []


@on_both_databases
def test_a_slot_holds_one_value_at_a_time(database: DatabaseManager) -> None:
    """Each later memory of a slot closes the one before it; two in one scene close neither."""
    store(
        database,
        scene(1, 1, memory("S1", slot_type="I1.holder")),
        scene(2, 1, memory("S2", slot_type="I1.holder"), memory("S3", slot_type="I1.holder")),
        scene(3, 1, memory("S4", slot_type="I1.holder"), memory("X1", slot_type="I2.holder")),
    )

    def closed(chapter: int) -> dict[str, str | None]:
        with database.project("demo").read() as unit:
            chunks = unit.memories.by_ids(["S1", "S2", "S3", "S4", "X1"], as_of=at(chapter))
        return {chunk.chunk_id: chunk.superseded_by for chunk in chunks}

    assert closed(2) == {"S1": None}
    assert closed(3) == {"S1": "S2", "S2": None, "S3": None}
    assert closed(4) == {"S1": "S2", "S2": "S4", "S3": "S4", "S4": None, "X1": None}


@pytest.mark.slow
def test_what_holds_is_the_end_of_the_chain_at_the_position(database: DatabaseManager) -> None:
    """By slot and by name, as far as the position is told; what holds itself, and what is banned, is left out."""
    store(
        database,
        scene(1, 1, memory("S1", slot_type="I1.holder"), memory("P1")),
        scene(2, 1, memory("S2", slot_type="I1.holder"), memory("P2", supersedes="P1")),
        scene(3, 1, memory("S3", slot_type="I1.holder"), memory("P3", supersedes="P2")),
        scene(4, 1, memory("E1", supersedes="S3"), memory("L1", supersedes="L2"), memory("L2", supersedes="L1")),
    )

    def holding(chapter: int) -> dict[str, str]:
        with database.project("demo").read() as unit:
            read = unit.memories.by_ids(["S1", "S2", "S3", "P1", "P2", "L1"], as_of=at(chapter))
            found = unit.memories.current_versions(read, as_of=at(chapter))
        return {chunk_id: chunk.chunk_id for chunk_id, chunk in found.items()}

    assert holding(2) == {}
    assert holding(3) == {"S1": "S2", "P1": "P2"}
    assert holding(4) == {"S1": "S3", "S2": "S3", "P1": "P3", "P2": "P3"}
    assert holding(5) == {"S1": "E1", "S2": "E1", "S3": "E1", "P1": "P3", "P2": "P3"}
    with database.project("demo").write() as unit:
        unit.memories.decide("E1", "ban")
    assert holding(5)["S1"] == "S3"


@on_both_databases
def test_one_memory_replaces_several(database: DatabaseManager) -> None:
    """From its scene on, whichever of them is named first, and until it is banned."""
    store(
        database,
        scene(1, 1, memory("A"), memory("B"), memory("C")),
        scene(2, 1, memory("E", supersedes="A", also_supersedes=["B", "E"])),
    )

    def closed(chapter: int) -> dict[str, str | None]:
        with database.project("demo").read() as unit:
            read = unit.memories.by_ids(["A", "B", "C", "E"], as_of=at(chapter))
            found = unit.memories.current_versions(read, as_of=at(chapter))
        assert {chunk_id: chunk.chunk_id for chunk_id, chunk in found.items()} == {
            chunk.chunk_id: "E" for chunk in read if chunk.superseded_by
        }
        return {chunk.chunk_id: chunk.superseded_by for chunk in read}

    assert closed(2) == {"A": None, "B": None, "C": None}
    assert closed(3) == {"A": "E", "B": "E", "C": None, "E": None}
    with database.project("demo").write() as unit:
        unit.memories.decide("E", "ban")
    assert closed(3) == {"A": None, "B": None, "C": None}


def test_an_edit_makes_a_memory_the_authors(told: DatabaseManager) -> None:
    """New words drop the old short form and the vector; what is not given stays."""
    with told.project("demo").write() as unit:
        unit.embeddings.put("m", {"A1": [1.0], "note-N0": [1.0]})
        edited = unit.memories.edit("A1", MemoryEdit(content="The key was a fake.", entities=["I7"]))
        retagged = unit.memories.edit("note-N0", MemoryEdit(tags=["magic"], importance=10))

        assert (edited.chunk.content, edited.chunk.origin, edited.chunk.importance) == (
            "The key was a fake.",
            "author",
            9,
        )
        assert (retagged.chunk.short, retagged.chunk.importance) == ("blood magic", 10)
        assert unit.memories.filtered_ids(MemoryFilter(entities=["I7"])) == ["A1"]
        assert unit.memories.filtered_ids(MemoryFilter(tags=["magic"])) == ["note-N0"]
        assert len(unit.embeddings.matrix("m")[0]) == 1


def queued(unit: UnitOfWork) -> dict[str, str]:
    """Return what the index is to do with each memory."""
    return {entry.chunk_id: entry.operation for entry in unit.outbox.claim()}


def test_pins_and_bans_are_seen_and_lifted(told: DatabaseManager) -> None:
    """A pin is a tier, a ban hides, a tombstone can be brought back."""
    with told.project("demo").write() as unit:
        unit.memories.decide("A1", "pin")
        assert unit.memories.by_ids(["A1"])[0].tier == "pinned"
        unit.memories.decide("A1", "unpin")
        assert unit.memories.by_ids(["A1"])[0].tier == "regular"
        unit.memories.decide("A1", "ban")
        unit.memories.decide("A2", "delete")
        assert unit.memories.by_ids(["A1", "A2"]) == []
        hidden = unit.memories.list_matching(MemoryFilter(statuses=["banned", "deleted"]))
        assert [(one.chunk.chunk_id, one.status) for one in hidden] == [("A1", "banned"), ("A2", "deleted")]
        assert {"A1": "delete", "A2": "delete"}.items() <= queued(unit).items()
        unit.memories.decide("A2", "unban")
        assert queued(unit)["A2"] == "upsert"
        assert len(unit.memories.by_ids(["A2"])) == 1


def test_a_note_counts_after_the_scene_that_establishes_it(told: DatabaseManager) -> None:
    """A note of a chapter counts from the next chapter on."""
    with told.project("demo").write() as unit:
        of_scene = unit.memories.add_note("sealed door", at=at(2, 1)).chunk_id
        of_chapter = unit.memories.add_note("long winter", at=at(2)).chunk_id
        wanted = [of_scene, of_chapter]
        assert unit.memories.by_ids(wanted, as_of=at(2, 1)) == []
        assert [one.chunk_id for one in unit.memories.by_ids(wanted, as_of=at(2, 2))] == [of_scene]
        assert len(unit.memories.by_ids(wanted, as_of=at(3))) == 2


def test_an_unknown_memory_is_named(told: DatabaseManager) -> None:
    """With its project and how to find the right one; a row of another project never leaves."""
    with told.project("demo").write() as unit:
        assert unit.memories.get("nope") is None
        for decision in DECISIONS:
            with pytest.raises(UnknownMemoryError, match=r"'nope'.*'demo'.*memory list"):
                unit.memories.decide("nope", decision)
        with pytest.raises(UnknownMemoryError, match=r"'nope'.*'demo'.*memory list"):
            unit.memories.require("nope")
    with told.project("demo").read() as unit:
        rows = unit.memories._session.read(MemoryRow)
    refusal = pytest.raises(DatabaseError, match="'demo' was read for 'other'")
    with told.project("other").read() as unit, refusal:
        unit.memories._session.own(rows)
