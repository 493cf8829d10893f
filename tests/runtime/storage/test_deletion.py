"""Deleting entities, relationships and threads: who refers to them stays, and it is undone exactly."""

import pytest

from novelgen.errors import UnknownEntityError, UserInputError
from novelgen.memory.knowledge_story import recorded_events
from novelgen.models.entity import Entity
from novelgen.models.position import END_OF_STORY
from runtime.storage.characters import MindCache
from runtime.storage.database import DatabaseManager
from runtime.storage.references import without_id
from tests.runtime.storage.stories import at, change, record, scene, store
from tests.runtime.storage.strangers_story import MINDS, fill, remembered, rows_of
from tests.support.databases import on_both_databases


def test_memories_of_a_deleted_character_stay_without_the_link(database: DatabaseManager) -> None:
    """Seed 000.18: cast, point of view, memories, slots, states, threads, relationships and profiles let go of her."""
    fill(database)
    with database.project("demo").write() as unit:
        done = unit.deletions.delete_entity("C1")
        assert unit.entities.get("C1") is None
        first, second = unit.memories.by_ids(["M1", "M2"])
        assert (first.entities_mentioned, first.slot_type) == (["I0"], None)
        assert second.entities_mentioned == ["C0"]
        assert unit.memories.by_entities(["C1"]) == []
        assert unit.states.snapshots(["C1"]) == []
        (key,) = unit.states.snapshots(["I0"])
        assert "holder" not in key.state_data
        assert [each.relationship_id for each in unit.relationships.list_as_of()] == ["R2"]
        (thread,) = unit.threads.list_as_of()
        assert thread.related_entities == []
        scenes = unit.scenes.list_as_of()
        assert [(each.participants, each.pov) for each in scenes] == [(["C2"], None), (["C0"], None)]
        assert [each.record and each.record.characters_present for each in scenes] == [["C2"], []]
        assert [len(each.record.relationship_changes) for each in scenes if each.record] == [0, 1]
        tom = unit.entities.get("C2")
        assert tom is not None
        assert tom.entity.profile == {"ally": None}
        assert {each.chunk_id for each in unit.outbox.claim(limit=9)} >= {"M1", "M2"}

    assert (done.change.kind, done.change.entity_id, done.change.other_id) == ("delete", "C1", "the stranger")
    assert sorted(done.unlinked_memories) == ["M1", "M2"]
    assert sorted(done.removed_relationships) == ["R0", "R1"]
    assert (done.changed_threads, done.changed_scenes) == (["OL0"], ["S001", "S002"])
    assert done.changed_entities == ["C2", "I0"]


@pytest.mark.parametrize("gone", ["C0", "C1", "C2", "I0"])
def test_an_undone_deletion_leaves_every_row_as_it_was(database: DatabaseManager, gone: str) -> None:
    """Seed 000.18: history, links, moments and the scenes' marks come back exactly."""
    fill(database)
    before = rows_of(database)
    with database.project("demo").write() as unit:
        done = unit.deletions.delete_entity(gone)
    assert rows_of(database) != before
    with database.project("demo").write() as unit:
        assert unit.merges.undo(done.change.change_id).undone_at is not None
    assert rows_of(database) == before


def test_a_mind_goes_with_its_character_and_others_forget_the_id_alone(database: DatabaseManager) -> None:
    """What she knew, remembered, felt and hid is gone, and nothing that stays speaks of her; what happened stays."""
    fill(database)
    with database.project("demo").write() as unit:
        done = unit.deletions.delete_entity("C1")
    assert not any("C1" in row for table in MINDS for row in rows_of(database)[table])
    with database.project("demo").write() as unit:
        assert [(each.character_id, each.learned_from) for each in unit.knowledge.said()] == [("C0", None)]
        told, other = unit.characters.read("C2", model=None).memories
        assert (told.content, told.participants, told.heard_from, told.slot) == ("He was told.", ["C0"], None, None)
        assert other == remembered("CM3", "C2")
        assert unit.play.others("C2") == ["C0"]
        assert [each.secret_id for each in unit.play.secrets("C2")] == ["name"]
        unit.characters.undo("C2")
        assert unit.characters.require("C2", "CM2").participants == []
    assert done.removed_character_memories == ["CM0"]
    assert done.changed_character_memories == ["CM2"]


def test_a_record_that_is_taken_in_again_does_not_bring_a_knower_back(database: DatabaseManager) -> None:
    """Who knows, who must not and who told it let go of the id; a tale without its teller tells nothing."""
    fill(database)
    learned = [
        {"character_id": "C1", "memory_ids": ["M1"]},
        {"character_id": "C2", "memory_ids": ["M1"], "from_id": "C1"},
        {"character_id": "C0", "from_id": "C1"},
    ]
    told = {"memory_id": "M9", "content": "A tale.", "known_by": ["C1", "C2"], "hidden_from": ["C1"]}
    store(database, scene(3, 1, record=record(3, 1, memories=[told], learned=learned)))
    with database.project("demo").write() as unit:
        unit.deletions.delete_entity("C1")
        left = unit.scenes.require(at(3, 1)).record
    assert left is not None
    events = [(each.character_id, each.source_id, each.learned_from) for each in recorded_events(left)]
    assert events == [("C2", "M9", None), ("C2", "M1", None)]


@on_both_databases
def test_memories_at_hand_follow_a_deletion_and_its_undo(database: DatabaseManager) -> None:
    """Who keeps them between recalls sees that somebody is gone, and back again, with the vectors; so is every row."""
    fill(database)
    minds, rows = MindCache(), rows_of(database)

    def minds_now() -> list[tuple[list[tuple[str, list[str]]], list[bool]]]:
        with database.project("demo").read() as unit:
            both = [minds.mind(unit.characters, who, model="m") for who in ("C1", "C2")]
        return [
            ([(each.memory_id, each.participants) for each in mind.memories], mind.has_vector.tolist()) for mind in both
        ]

    before = minds_now()
    assert before[0] == ([("CM0", ["C2"])], [True])
    with database.project("demo").write() as unit:
        done = unit.deletions.delete_entity("C1")
    assert minds_now() == [([], []), ([("CM2", ["C0"]), ("CM3", [])], [False, False])]
    with database.project("demo").write() as unit:
        unit.merges.undo(done.change.change_id)
    assert (minds_now(), rows_of(database)) == (before, rows)


def test_what_comes_back_stands_where_its_scene_stands_by_then(database: DatabaseManager) -> None:
    """A scene that moved while she was gone takes her states, and what she learnt in it, along."""
    fill(database)
    with database.project("demo").write() as unit:
        done = unit.deletions.delete_entity("C1")
    with database.project("demo").write() as unit:
        unit.scenes.move_scene(at(1, 1), at(4, 1))
        unit.merges.undo(done.change.change_id)
        hers = [each for each in unit.knowledge.said() if each.character_id == "C1"]
        assert [(each.chapter_index, each.scene_index) for each in hers] == [(4, 1)]
        assert unit.states.snapshots(["C1"], as_of=at(4)) == []
        assert [each.state_data for each in unit.states.snapshots(["C1"])] == [{"mood": "afraid"}]


def test_a_deletion_whose_rows_changed_since_is_not_undone(database: DatabaseManager) -> None:
    """A scene that was deleted cannot tell where her mood stood, what was written over would be lost: all stays."""
    fill(database)
    store(database, scene(5, 1, states=[change("C1", "mood", "calm")]))
    with database.project("demo").write() as unit:
        done = unit.deletions.delete_entity("C1")
        unit.scenes.delete_scene(at(5, 1))
    for refusal in ("was deleted since", "changed since"):
        with pytest.raises(UserInputError, match=refusal), database.project("demo").write() as unit:
            unit.merges.undo(done.change.change_id)
        store(database, scene(1, 1, participants=["C2"]))
    with database.project("demo").read() as unit:
        assert unit.entities.get("C1") is None


def test_a_relationship_goes_with_its_history_and_comes_back(database: DatabaseManager) -> None:
    """Seed 000.18: both characters stay, and the record that brought it does not bring it again."""
    fill(database)
    before = rows_of(database)
    with database.project("demo").write() as unit:
        done = unit.deletions.delete_relationship("R0")
        assert unit.relationships.between("C1", "C2") is None
        (first, second) = unit.scenes.list_as_of()
        assert [each.record and len(each.record.relationship_changes) for each in (first, second)] == [0, 2]
        assert done.removed_relationships == []
    with database.project("demo").write() as unit:
        unit.merges.undo(done.change.change_id)
    assert rows_of(database) == before


def test_a_thread_goes_with_its_events_and_comes_back(database: DatabaseManager) -> None:
    """Seed 000.18: planting, moves and ending in whatever scenes, the author's too."""
    fill(database)
    ended = record(2, 1, open_loops_resolved=[{"id": "OL0", "resolution_summary": "Mary."}])
    store(database, scene(2, 1, record=ended))
    before = rows_of(database)
    with database.project("demo").write() as unit:
        done = unit.deletions.delete_thread("OL0")
        assert unit.threads.get("OL0") is None
        assert (done.change.entity_id, done.change.other_id) == ("OL0", "Who is she?")
        assert done.changed_scenes == ["S001", "S003"]
    with database.project("demo").write() as unit:
        unit.merges.undo(done.change.change_id)
    assert rows_of(database) == before


def test_a_deletion_is_undone_though_its_scenes_were_written_anew(database: DatabaseManager) -> None:
    """A scene that says the same elsewhere is as it was left; its mark is neither that of then nor the last one."""
    fill(database)
    with database.project("demo").write() as unit:
        marks = [unit.story_version(END_OF_STORY)]
        done = unit.deletions.delete_thread("OL0")
        unit.scenes.move_scene(at(1, 1), at(4, 1))
        unit.scenes.replace_scene(scene(4, 1, record=unit.scenes.require(at(4, 1)).record, text="Told anew."))
        marks.append(unit.story_version(END_OF_STORY))
        unit.merges.undo(done.change.change_id)
        (thread,) = unit.threads.list_as_of()
        assert (thread.loop_id, thread.chapter_index) == ("OL0", 4)
        assert unit.story_version(END_OF_STORY) not in marks


def test_what_is_not_stored_cannot_be_deleted(database: DatabaseManager) -> None:
    """Each kind says so, and nothing is kept in the journal."""
    with database.project("demo").write() as unit:
        with pytest.raises(UnknownEntityError, match="no entity 'C9'"):
            unit.deletions.delete_entity("C9")
        with pytest.raises(UserInputError, match="no relationship 'R9'"):
            unit.deletions.delete_relationship("R9")
        with pytest.raises(UserInputError, match="no thread 'OL9'"):
            unit.deletions.delete_thread("OL9")
        assert unit.merges.list_all() == []


def test_a_mask_of_somebody_who_is_gone_is_nobody_else(database: DatabaseManager) -> None:
    """Who turned out to be a deleted character is a character of their own again."""
    fill(database)
    with database.project("demo").write() as unit:
        unit.merges.unmask("C0", "C1", at=at(1, 2))
        assert "C1" not in [each.entity_id for each in unit.entities.list_as_of(as_of=at(2))]
        unit.deletions.delete_entity("C0")
        assert "C1" in [each.entity_id for each in unit.entities.list_as_of(as_of=at(2))]


def test_places_and_lists_let_go_of_a_location(database: DatabaseManager) -> None:
    """Seed 000.18: nobody stands in a place that is gone; what else was said of the scene stays."""
    with database.project("demo").write() as unit:
        unit.entities.upsert(Entity(entity_id="L0", entity_type="location", name="the quay"))
        way = {"connections": [{"location_id": "L0"}, {"location_id": "L2"}], "visitors": ["L0", "C0"]}
        unit.entities.upsert(Entity(entity_id="L1", entity_type="location", name="the inn", profile=way))
    moved = [change("C0", "location_id", "L0"), change("C0", "mood", "calm")]
    store(database, scene(1, 1, location_id="L0", states=moved))
    with database.project("demo").write() as unit:
        unit.deletions.delete_entity("L0")
        (state,) = unit.states.snapshots(["C0"])
        assert state.state_data == {"mood": "calm"}
        assert unit.scenes.require(at(1, 1)).location_id is None
        inn = unit.entities.get("L1")
        assert inn is not None
        assert inn.entity.profile == {"connections": [{"location_id": "L2"}], "visitors": ["C0"]}


def test_longer_texts_keep_an_id_that_they_contain() -> None:
    """Only whole texts are references; C10 is not C1."""
    given = {"note": "C1 is C10", "who": ["C10", "C1"], "C1": 3, "of": {"entity_id": "C1"}, "slot": "C1.eyes"}
    assert without_id(given, "C1") == {"note": "C1 is C10", "who": ["C10"], "slot": None}
