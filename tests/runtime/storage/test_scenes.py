"""Replacing, deleting and moving scenes with everything that came from them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from novelgen.errors import InvalidPositionError, UnknownProjectError, UnknownSceneError, UserInputError
from novelgen.models.record import RecordedLoopAdvance, RecordedRelationshipChange
from runtime.storage.columns import ScenePlace
from runtime.storage.database import DatabaseManager
from runtime.storage.models import MemoryEdit, MemoryFilter, SceneWrite
from runtime.storage.scene_writer import _hashable_fields
from runtime.storage.scenes import Relocation, chapter_gap, chapter_move, scene_gap, scene_move
from tests.runtime.storage.stories import at, change, everything, memory, record, scene, store
from tests.support.databases import on_both_databases


def _full(chapter: int, number: int, tag: str, **fields: Any) -> SceneWrite:
    """A scene that brings something of every kind, all of it named after `tag`."""
    return scene(
        chapter,
        number,
        memory(f"{tag}-1", f"{tag} hid the key.", entities_mentioned=["C0"], tags=[tag]),
        memory(f"{tag}-2", f"{tag} kept a promise.", source_id=f"{chapter}:{number}:summary:0"),
        text=f"{tag} text",
        participants=["C0", "C1"],
        record=record(
            chapter,
            number,
            open_loops_created=[{"id": f"OL-{tag}", "description": tag}],
            relationship_changes=[
                {"character_a": "C1", "character_b": "C0", "status": tag, "perspective_a": f"{tag} of C1"}
            ],
        ),
        record_origin="supplied",
        extraction_status="done",
        states=[change("C0", "mood", tag), change("C0", "presence", "L0", kind="presence")],
        mentions=[("C0", f"name {tag}")],
        **fields,
    )


def _without(whole: dict[str, Any], tag: str) -> dict[str, Any]:
    """Everything but what one scene brought."""
    return {
        part: {key: value for key, value in content.items() if tag not in str(key)}
        if isinstance(content, dict)
        else [one for one in content if tag not in str(one)]
        for part, content in whole.items()
    }


@on_both_databases
def test_a_scene_is_stored_with_all_that_it_brings(database: DatabaseManager) -> None:
    """Text, record, memories, states, loops, relationships, mentions, words and outbox rows."""
    (result,) = store(database, _full(1, 2, "alpha"))

    assert (result.label, result.is_new, result.chunks_added) == ("S001", True, ["alpha-1", "alpha-2"])
    with database.project("demo").read() as unit:
        stored = unit.scenes.require(at(1, 2))
        assert (stored.scene_id, stored.text, stored.participants) == (result.scene_id, "alpha text", ["C0", "C1"])
        assert stored.record is not None
        assert stored.record.open_loops_created[0].id == "OL-alpha"
        (chunk,) = unit.memories.by_ids(["alpha-1"])
        assert (chunk.chapter_index, chunk.scene_index, chunk.entities_mentioned) == (1, 2, ["C0"])
        assert unit.states.snapshots(["C0"])[0].state_data == {"mood": "alpha", "presence": "L0"}
        assert unit.threads.get("OL-alpha") is not None
        relation = unit.relationships.between("C1", "C0")
        assert relation is not None
        assert (relation.status, relation.perspective_b) == ("alpha", "alpha of C1")
        assert unit.entities.first_mentions() == {("C0", "name alpha"): (1, 2)}
        assert len(unit.lexical.search("key")) == 1
        assert unit.outbox.counts()["pending"] == 2


def test_a_scene_written_again_unchanged_changes_nothing(database: DatabaseManager) -> None:
    """Embeddings stay and nothing is queued for the index."""
    (first,) = store(database, _full(1, 1, "alpha"))
    with database.project("demo").write() as unit:
        unit.embeddings.put("m", {"alpha-1": [1.0], "alpha-2": [2.0]})
        unit.outbox.mark_done(unit.outbox.claim())
    before = everything(database)
    (again,) = store(database, _full(1, 1, "alpha"))

    assert (again.scene_id, again.is_new) == (first.scene_id, False)
    assert again.chunks_unchanged == ["alpha-1", "alpha-2"]
    assert everything(database) == before
    with database.project("demo").read() as unit:
        assert len(unit.embeddings.matrix("m")[0]) == 2
        assert unit.outbox.counts() == {"pending": 0, "done": 2, "failed": 0}


@on_both_databases
def test_a_changed_scene_changes_only_what_came_from_it(database: DatabaseManager) -> None:
    """The scenes before and after it keep everything, byte for byte."""
    store(database, _full(1, 1, "alpha"), _full(1, 2, "beta"), _full(2, 1, "gamma"))
    before = everything(database)
    (result,) = store(database, _full(1, 2, "delta"))
    after = everything(database)

    assert (result.chunks_added, result.chunks_removed) == (["delta-1", "delta-2"], ["beta-1", "beta-2"])
    assert "beta" not in str(after)
    relations = before.pop("relationships"), after.pop("relationships")
    assert _without(after, "delta") == _without(before, "beta")
    assert [one["status"] for one in relations[1][0]["history"]] == ["alpha", "delta", "gamma"]
    assert relations[1][0]["relationship_id"] == relations[0][0]["relationship_id"]


def test_a_changed_memory_loses_its_vector_and_its_neighbour_does_not(database: DatabaseManager) -> None:
    """Only what changed is embedded and indexed again; other tags change the row, not the vector."""
    store(database, scene(1, 1, memory("M1", "old"), memory("M2", "same"), memory("M3", "tagged")))
    with database.project("demo").write() as unit:
        unit.embeddings.put("m", {"M1": [1.0], "M2": [2.0], "M3": [3.0]})
        unit.outbox.mark_done(unit.outbox.claim())
    (result,) = store(
        database, scene(1, 1, memory("M1", "new"), memory("M2", "same"), memory("M3", "tagged", tags=["x"]))
    )

    assert (result.chunks_changed, result.chunks_unchanged) == (["M1", "M3"], ["M2"])
    with database.project("demo").read() as unit:
        assert sorted(unit.embeddings.matrix("m")[0]) == ["M2", "M3"]
        assert [one.chunk_id for one in unit.outbox.claim()] == ["M1"]
        assert unit.memories.filtered_ids(MemoryFilter(tags=["x"])) == ["M3"]


@on_both_databases
def test_what_an_author_did_survives_re_ingest(database: DatabaseManager) -> None:
    """Edits, pins, bans, deletions, notes, states, loops and relationships of an author stay."""
    store(database, scene(1, 1, *(memory(f"M{number}") for number in range(6))))
    with database.project("demo").write() as unit:
        unit.memories.edit("M0", MemoryEdit(content="the author's words"))
        unit.memories.decide("M1", "pin")
        unit.memories.decide("M2", "ban")
        unit.memories.decide("M3", "delete")
        note = unit.memories.add_note("canon of this scene", at=at(1, 1))
        unit.states.append([change("C0", "mood", "grim", chapter_index=1, scene_index=1)])
        unit.relationships.append(
            RecordedRelationshipChange(character_a="C0", character_b="C1", status="wary"), at=at(1, 1)
        )
    (result,) = store(
        database, scene(1, 1, memory("M0", "extracted anew"), memory("M3"), states=[change("C0", "mood", "merry")])
    )

    assert result.chunks_kept == ["M0", "M1", "M2", "M3"]
    assert result.chunks_removed == ["M4", "M5"]
    with database.project("demo").read() as unit:
        active = {one.chunk.chunk_id: one.chunk for one in unit.memories.list_matching()}
        assert set(active) == {"M0", "M1", note.chunk_id}
        assert active["M0"].content == "the author's words"
        assert unit.memories.require("M2").status == "banned"
        assert unit.memories.require("M3").status == "deleted"
        assert unit.states.snapshots(["C0"])[0].state_data == {"mood": "grim"}
        assert unit.relationships.list_as_of(status="wary") != []


@on_both_databases
def test_a_deleted_scene_takes_along_what_came_from_it_and_nothing_else(database: DatabaseManager) -> None:
    """Edited and pinned memories go too, an author's note at its position stays."""
    store(database, _full(1, 1, "alpha"))
    before = everything(database)
    store(database, _full(1, 2, "beta"))
    with database.project("demo").write() as unit:
        unit.memories.decide("beta-1", "pin")
        note = unit.memories.add_note("still true", at=at(1, 2))
        removed = unit.scenes.delete_scene(at(1, 2))
    after = everything(database)

    assert removed == ["beta-1", "beta-2"]
    notes = [one["chunk"]["chunk_id"] for one in after["memories"] if one["chunk"]["content_type"] == "note"]
    assert notes == [note.chunk_id]
    assert after | {"memories": after["memories"][:2]} == before
    with database.project("demo").read() as unit:
        queued = {one.chunk_id: one.operation for one in unit.outbox.claim()}
        assert (queued["beta-1"], queued["beta-2"]) == ("delete", "delete")
        assert unit.lexical.search("beta") == []


def test_unknown_places_are_named(database: DatabaseManager) -> None:
    """Scenes that are not there, projects that are not there, positions that no scene can have."""
    with database.project("demo").write() as unit:
        assert unit.scenes.get(at(7, 7)) is None
        with pytest.raises(UnknownSceneError, match="'7:7' in project 'demo'"):
            unit.scenes.delete_scene(at(7, 7))
        with pytest.raises(UnknownSceneError, match="no scene stands at 7:7"):
            unit.scenes.move_scene(at(7, 7), at(1, 1))
        with pytest.raises(UnknownSceneError, match="names no scene"):
            unit.scenes.move_scene(at(7), at(1, 1))
        with pytest.raises(InvalidPositionError, match="-1"):
            unit.scenes.move_chapter(1, -1)
    with database.project("nobody").write() as unit, pytest.raises(UnknownProjectError, match="'nobody'"):
        unit.scenes.replace_scene(scene(1, 1, project_id="nobody"))
    with database.project("demo").write() as unit, pytest.raises(UserInputError, match="'demo2', not 'demo'"):
        unit.scenes.replace_scene(scene(1, 1, project_id="demo2"))


def test_ids_that_would_mix_scenes_up_are_refused(database: DatabaseManager) -> None:
    """One id twice in a scene, an id of another scene, a memory of another project: nothing is stored."""
    store(database, scene(1, 1, memory("M1")))
    before = everything(database)
    with pytest.raises(UserInputError, match=r"'M1'.*belongs to another scene"):
        store(database, scene(1, 2, memory("M1")))
    with pytest.raises(UserInputError, match="'M5' comes twice"):
        store(database, scene(1, 2, memory("M5"), memory("M5")))
    with pytest.raises(UserInputError, match="'demo2', not 'demo'"):
        store(database, scene(1, 2, memory("M6", project_id="demo2")))

    assert everything(database) == before


@on_both_databases
def test_look_alike_projects_do_not_touch_each_other(database: DatabaseManager) -> None:
    """The same scenes and ids in two projects stay apart, whatever happens to one."""
    store(database, _full(1, 1, "alpha"))
    twin = _full(1, 1, "alpha", project_id="demo2")
    chunks = [chunk.model_copy(update={"project_id": "demo2"}) for chunk in twin.chunks]
    store(database, twin.model_copy(update={"chunks": chunks}))
    before = everything(database, "demo2")
    with database.project("demo").write() as unit:
        unit.scenes.insert_gap(at(1, 1))
        unit.scenes.delete_scene(at(1, 2))

    assert everything(database, "demo2") == before
    assert everything(database)["memories"] == []


@on_both_databases
def test_an_inserted_gap_moves_everything_behind_it(database: DatabaseManager) -> None:
    """Positions, bullets, references to bullets, notes and the index follow; ids stay."""
    ended = {"supersedes": "1:2:summary:0", "also_supersedes": ["1:1:summary:0", "1:2:summary:0"]}
    store(database, _full(1, 1, "alpha"), _full(1, 2, "beta"), scene(2, 1, memory("M1", **ended)))
    with database.project("demo").write() as unit:
        unit.memories.add_note("follows beta", at=at(1, 2))
        unit.states.append([change("C9", "mood", "calm", chapter_index=1, scene_index=2)])
        unit.outbox.mark_done(unit.outbox.claim())
        ids = {one.scene_id: one.label for one in unit.scenes.list_as_of()}
        assert unit.scenes.insert_gap(at(1, 2)) == 1
    (result,) = store(database, _full(1, 2, "new"))

    assert result.is_new
    with database.project("demo").read() as unit:
        places = [(one.chapter_index, one.scene_index) for one in unit.scenes.list_as_of()]
        assert places == [(1, 1), (1, 2), (1, 3), (2, 1)]
        moved = unit.scenes.require(at(1, 3))
        assert ids[moved.scene_id] == moved.label == "S002"
        assert moved.record is not None
        assert moved.record.scene_index == 3
        chunks = {one.chunk.chunk_id: one.chunk for one in unit.memories.list_matching()}
        assert (chunks["beta-2"].source_id, chunks["M1"].supersedes) == ("1:3:summary:0", "1:3:summary:0")
        assert chunks["M1"].also_supersedes == ["1:1:summary:0", "1:3:summary:0"]
        assert chunks["new-2"].source_id == "1:2:summary:0"
        assert (chunks["note-N0"].chapter_index, chunks["note-N0"].scene_index) == (1, 3)
        assert unit.states.snapshots(["C9"])[0].scene_index == 3
        loop = unit.threads.get("OL-beta")
        assert loop is not None
        assert (loop.chapter_index, loop.scene_index) == (1, 3)
        assert unit.entities.first_mentions()["C0", "name beta"] == (1, 3)
        queued = {one.chunk_id for one in unit.outbox.claim()}
        assert {"beta-1", "beta-2", "note-N0"} <= queued
        assert not {"alpha-1", "alpha-2"} & queued


@pytest.mark.slow
@on_both_databases
def test_a_move_there_and_back_leaves_everything_as_it_was(database: DatabaseManager) -> None:
    """Nothing is lost, doubled or left behind, within a chapter, across chapters and for whole chapters."""
    store(database, *(_full(chapter, number, f"s{chapter}{number}") for chapter in (1, 2, 3) for number in (1, 2)))
    with database.project("demo").write() as unit:
        unit.threads.append(RecordedLoopAdvance(id="OL-s11", note="later"), at=at(5, 1))
    before = everything(database)
    with database.project("demo").write() as unit:
        unit.scenes.move_scene(at(1, 1), at(3, 2))
        unit.scenes.move_chapter(3, 1)
    moved = everything(database)
    with database.project("demo").write() as unit:
        unit.scenes.move_chapter(1, 3)
        unit.scenes.move_scene(at(3, 2), at(1, 1))

    assert [one["text"][:3] for one in moved["scenes"]] == ["s31", "s11", "s32", "s12", "s21", "s22"]
    assert everything(database) == before


def test_scenes_are_listed_as_of_a_position(database: DatabaseManager) -> None:
    """In story order, without texts unless asked, the last ones on request."""
    store(database, scene(2, 1), scene(1, 2, extraction_status="failed", failure_reason="cut"), scene(1, 1))
    with database.project("demo").read() as unit:
        listed = unit.scenes.list_as_of(as_of=at(2, 1))
        assert [(one.chapter_index, one.scene_index, one.text) for one in listed] == [(1, 1, None), (1, 2, None)]
        assert [one.scene_index for one in unit.scenes.list_as_of(as_of=at(2), last=1)] == [2]
        (failed,) = unit.scenes.list_as_of(statuses=["failed"], with_text=True)
        assert (failed.failure_reason, failed.text) == ("cut", "Text of scene 1:2.")


PLACES = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1)
PLACE = st.tuples(st.integers(0, 4), st.integers(0, 6))


def _after(places: set[ScenePlace], relocation: Relocation) -> dict[ScenePlace, ScenePlace]:
    return {place: relocation.places.get(place, place) for place in places}


@given(places=PLACES, target=PLACE, data=st.data())
def test_no_operation_puts_two_scenes_on_one_place(
    places: set[ScenePlace], target: ScenePlace, data: st.DataObject
) -> None:
    """Whatever is done, distinct scenes stay distinct and none is dropped."""
    source = data.draw(st.sampled_from(sorted(places)))
    for relocation in (
        scene_gap(places, target),
        chapter_gap(places, target[0]),
        scene_move(places, source, target),
        chapter_move(places, source[0], target[0]),
    ):
        new = _after(places, relocation)
        assert len(set(new.values())) == len(places)
        assert min(min(place) for place in new.values()) >= 0


@given(places=PLACES, target=PLACE)
def test_a_gap_is_free_and_keeps_the_order(places: set[ScenePlace], target: ScenePlace) -> None:
    """After it nothing stands there, and the scenes follow each other as before."""
    new = _after(places, scene_gap(places, target))

    assert target not in new.values()
    assert [new[place] for place in sorted(places)] == sorted(new.values())


@given(places=PLACES, target=PLACE, data=st.data())
def test_a_moved_scene_stands_at_its_target(places: set[ScenePlace], target: ScenePlace, data: st.DataObject) -> None:
    """And the others keep their order among themselves."""
    source = data.draw(st.sampled_from(sorted(places)))
    new = _after(places, scene_move(places, source, target))
    others = [new[place] for place in sorted(places) if place != source]

    assert new[source] == target
    assert others == sorted(others)


def test_a_chapter_moves_with_what_has_no_scene() -> None:
    """What stands in it as a whole follows; a chapter without scenes cannot move."""
    relocation = chapter_move([(1, 1), (2, 1), (3, 1)], 1, 3)

    assert [relocation.of(chapter, None) for chapter in (1, 2, 3, 4)] == [(3, None), (1, None), (2, None), (4, None)]
    with pytest.raises(UnknownSceneError, match="chapter 9 has no scene"):
        chapter_move([(1, 1)], 9, 1)


FIRST_MARKED_FIELDS = (
    set("chunk_id content content_type embedding_id entities_mentioned event_type importance origin short".split())
    | set("slot_type source_span superseded_by supersedes tags tier verified".split()),
    set("attribute entity_id entity_type kind source_span value verified".split()),
)
"""Fields of a memory and of a change that were in the first marks of scenes; it takes no newer one."""


@pytest.mark.parametrize(
    ("thing", "first_fields"),
    [*zip((memory("M1", "x"), change("C0", "mood", "calm")), FIRST_MARKED_FIELDS, strict=True)],
    ids=["memory", "change"],
)
def test_a_newer_field_at_its_default_leaves_the_marks_of_scenes(thing: BaseModel, first_fields: set[str]) -> None:
    """A new one has `exclude_if`, or its default stands in `_HASH_NEUTRAL_DEFAULTS`."""
    assert _hashable_fields(thing.model_dump(mode="json")).keys() == first_fields
