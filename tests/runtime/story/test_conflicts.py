"""The contradictions of a stored story, and what its author says to them, in real stores."""

import itertools
from functools import partial
from typing import Any

import pytest

from novelgen.errors import UserInputError
from novelgen.models.entity import Entity
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from runtime.story.conflicts import StoryConflicts
from runtime.story.story import Story
from runtime.story.undo import StoryUndo

pytestmark = pytest.mark.usefixtures("unindexed_edits")

_numbers = itertools.count(1)
ENTITIES = [
    Entity(entity_id="C0", entity_type="character", name="Ada"),
    Entity(entity_id="C1", entity_type="character", name="Ben"),
    Entity(entity_id="I0", entity_type="item", name="the brass key"),
]


def scene(chapter: int, states: dict[str, dict[str, Any]], *present: str) -> SceneInput:
    """Return the first scene of a chapter with a record of these states."""
    changes = [{"entity_id": entity_id, "changes": values} for entity_id, values in states.items()]
    record = SceneRecord.model_validate(
        {"chapter_index": chapter, "scene_index": 1, "characters_present": list(present), "state_changes": changes}
    )
    return SceneInput(chapter_index=chapter, scene_index=1, text=f"Chapter {chapter}.", record=record)


@pytest.fixture
def project(stores: MemoryStores) -> str:
    """A story in which Ben is two people and dies, and the key is in two pockets."""
    project_id = f"contradictory-{next(_numbers)}"
    stores.create_project(project_id)
    store_entities(stores, project_id, ENTITIES)
    scenes = [
        scene(1, {"C1": {"identity": "a tinker"}, "C0": {"inventory": ["the brass key"]}}, "C0", "C1"),
        scene(2, {"C1": {"identity": "a spy", "inventory": ["brass key"]}}, "C1"),
        scene(3, {"C1": {"status": "dead"}}, "C0", "C1"),
        scene(4, {}, "C1"),
    ]
    ingest_scenes(stores, project_id, scenes, index=False)
    return project_id


def subjects(stores: MemoryStores, project: str) -> list[tuple[str, str]]:
    """Return kind and subject of what is listed."""
    return [(each.conflict.kind, each.conflict.subject) for each in Story(stores, project).conflicts.list()]


def conflict_id(stores: MemoryStores, project: str, kind: str) -> str:
    """Return the id of the conflict of a kind."""
    return next(
        each.conflict.conflict_id for each in Story(stores, project).conflicts.list() if each.conflict.kind == kind
    )


ALL = [("slot_value", "C1.identity"), ("two_holders", "I0"), ("dead_acts", "C1")]


def test_contradictions_are_listed_with_both_sides(stores: MemoryStores, project: str) -> None:
    """In story order; what neither side settles is refused with the commands that help; waivers add up."""
    assert subjects(stores, project) == ALL
    slot = Story(stores, project).conflicts.list()[0].conflict
    assert (slot.first.says, slot.second.says) == ("identity: a tinker", "identity: a spy")
    held_twice = conflict_id(stores, project, "two_holders")
    with pytest.raises(UserInputError, match=f"record edit {project} 2:1`.*conflicts waive {project} {held_twice}"):
        Story(stores, project).conflicts.settle(conflict_id=held_twice, keep="second")
    for kind in ("dead_acts", "two_holders"):
        Story(stores, project).conflicts.waive(conflict_id=conflict_id(stores, project, kind))
    assert subjects(stores, project) == ALL[:1]


def test_a_waiver_survives_moves_and_new_ingest(stores: MemoryStores, project: str) -> None:
    """A waived conflict stays away after its scene moved and was taken in again, and can be listed."""
    waived = conflict_id(stores, project, "dead_acts")
    Story(stores, project).conflicts.waive(conflict_id=waived, note="it is his ghost")
    with stores.database(project).write() as unit:
        unit.scenes.move_scene(StoryPosition(4, 1), StoryPosition(6, 1))
    ingest_scenes(stores, project, [scene(1, {"C1": {"identity": "a tinker"}}, "C1")], index=False)
    assert ("dead_acts", "C1") not in subjects(stores, project)
    listed = {each.conflict.conflict_id: each for each in Story(stores, project).conflicts.list(with_waived=True)}
    assert (listed[waived].is_waived, listed[waived].note) == (True, "it is his ghost")


@pytest.mark.parametrize(("keep", "identity"), [("first", "a tinker"), ("second", "a spy")])
def test_one_side_can_be_made_true(stores: MemoryStores, project: str, keep: Any, identity: str) -> None:
    """The kept value holds in both scenes, as the author's, and the conflict is gone."""
    Story(stores, project).conflicts.settle(conflict_id=conflict_id(stores, project, "slot_value"), keep=keep)
    assert subjects(stores, project) == ALL[1:]
    with stores.database(project).read() as unit:
        states = [
            unit.states.snapshots(["C1"], as_of=StoryPosition(chapter))[0].state_data["identity"] for chapter in (2, 3)
        ]
    assert states == [identity, identity]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "keep"), [("slot_value", "first"), ("dead_acts", "first"), ("dead_acts", "second")])
def test_what_was_settled_or_meant_so_is_undone(stores: MemoryStores, project: str, kind: str, keep: Any) -> None:
    """Undo brings the contradiction back, whichever way it was put out of the list."""
    story, before = Story(stores, project), subjects(stores, project)
    found = conflict_id(stores, project, kind)
    for act in (partial(story.conflicts.settle, keep=keep), partial(story.conflicts.waive, note="a dream")):
        act(found)
        assert subjects(stores, project) != before
        StoryUndo(stores, project).undo()
        assert subjects(stores, project) == before


def test_the_authors_word_survives_new_ingest(stores: MemoryStores, project: str) -> None:
    """Taking the scene in again with its old record does not bring the conflict back."""
    Story(stores, project).conflicts.settle(conflict_id=conflict_id(stores, project, "slot_value"), keep="first")
    again = scene(2, {"C1": {"identity": "a spy", "goals": ["flee"]}}, "C1")
    ingest_scenes(stores, project, [again], index=False)
    assert ("slot_value", "C1.identity") not in subjects(stores, project)


def test_the_dead_can_turn_out_to_live(stores: MemoryStores, project: str) -> None:
    """Keeping the act states life in the scene of the death, as the author's, before and after a new ingest."""
    settled = Story(stores, project).conflicts.settle(
        conflict_id=conflict_id(stores, project, "dead_acts"), keep="second"
    )
    assert settled.done.startswith("C1 lives after scene 3:1")
    ingest_scenes(stores, project, [scene(3, {"C1": {"status": "dead", "mood": "calm"}}, "C1")], index=False)
    assert subjects(stores, project) == ALL[:2]
    with stores.database(project).read() as unit:
        [ben] = unit.states.snapshots(["C1"])
    assert ben.state_data["status"] == "alive"


def test_a_death_can_hold(stores: MemoryStores, project: str) -> None:
    """Keeping the death takes the dead out of the later scene, whose record is the author's from then on."""
    goals = {"C1": {"goals": ["flee"], "location_id": "L0"}, "C0": {"goals": ["mourn"]}}
    ingest_scenes(stores, project, [scene(4, goals, "C0", "C1")], index=False)
    settled = Story(stores, project).conflicts.settle(
        conflict_id=conflict_id(stores, project, "dead_acts"), keep="first"
    )
    assert settled.done.startswith("C1 is out of scene 4:1")
    assert subjects(stores, project) == ALL[:2]
    with stores.database(project).read() as unit:
        stored = unit.scenes.require(StoryPosition(4, 1))
        ben, ada = unit.states.snapshots(["C1", "C0"])
    assert (stored.record_origin, stored.participants) == ("author", ["C0"])
    assert (ben.state_data["status"], ben.state_data["location_id"]) == ("dead", "L0")
    assert "goals" not in ben.state_data
    assert ada.state_data["goals"] == ["mourn"]


def test_a_death_that_only_a_memory_tells_can_be_undone(stores: MemoryStores, project: str) -> None:
    """Without a stated status the character's life is stated under that name, in the story's language."""
    died = {"memory_id": "M9", "event_type": "death", "content": "阿达死了。", "entities": ["C0"]}
    told = scene(5, {}, "C1")
    record = SceneRecord.model_validate({**told.record.model_dump(), "memories": [died]})
    scenes = [told.model_copy(update={"record": record}), scene(6, {}, "C0")]
    ingest_scenes(stores, project, scenes, index=False)
    with stores.database(project).write() as unit:
        unit.projects.update(language="zh")
    [found] = [each.conflict for each in Story(stores, project).conflicts.list() if each.conflict.subject == "C0"]
    Story(stores, project).conflicts.settle(conflict_id=found.conflict_id, keep="second")
    assert ("dead_acts", "C0") not in subjects(stores, project)
    with stores.database(project).read() as unit:
        assert unit.states.snapshots(["C0"])[0].state_data["status"] == "活着"


def test_a_scene_without_a_record_keeps_its_dead_on_stage(stores: MemoryStores, project: str) -> None:
    """Nothing can be taken from a cast that its author said; the message names the commands that help."""
    bare = SceneInput(chapter_index=5, scene_index=1, text="Ben sang.", staged={"participants": ["C1"]})
    ingest_scenes(stores, project, [bare], index=False)
    listed = [each.conflict for each in Story(stores, project).conflicts.list()]
    [found] = [each for each in listed if each.kind == "dead_acts" and each.second.chapter_index == 5]
    with pytest.raises(UserInputError, match=f"5:1 has no record.*conflicts waive {project} {found.conflict_id}"):
        Story(stores, project).conflicts.settle(conflict_id=found.conflict_id, keep="first")


@pytest.mark.parametrize("act", [StoryConflicts.waive, partial(StoryConflicts.settle, keep="first")])
def test_an_unknown_conflict_is_refused(stores: MemoryStores, project: str, act: Any) -> None:
    """Nothing is waived or settled that was not found."""
    with pytest.raises(UserInputError, match="no conflict 'X0'"):
        act(Story(stores, project), conflict_id="X0")


def of_blood(chapter: int, kind: str, **fields: Any) -> SceneInput:
    """Return the first scene of a chapter that says how Ada and Ben are related."""
    change = {"character_a": "C1", "character_b": "C0", "relationship_type": kind}
    told = {"chapter_index": chapter, "scene_index": 1, "relationship_changes": [change], **fields}
    record = SceneRecord.model_validate(told)
    return SceneInput(chapter_index=chapter, scene_index=1, text=f"Chapter {chapter}.", record=record)


@pytest.fixture
def relatives(stores: MemoryStores) -> str:
    """A story in which Ben is Ada's father, then, in a flashback and later on, her son."""
    project_id = f"relatives-{next(_numbers)}"
    stores.create_project(project_id)
    store_entities(stores, project_id, ENTITIES)
    scenes = [of_blood(1, "father and daughter"), of_blood(2, "daughter and father", is_flashback=True)]
    ingest_scenes(stores, project_id, [*scenes, of_blood(3, "son and mother")], index=False)
    return project_id


def test_relationships_that_exclude_each_other_are_listed(stores: MemoryStores, relatives: str) -> None:
    """Seed 000.15: who is a father in one scene and a son in another is found, what a flashback says is not."""
    [listed] = Story(stores, relatives).conflicts.list()
    assert (listed.conflict.kind, listed.conflict.subject) == ("relationship", "R0")
    assert listed.conflict.first.says == "C0 – C1: daughter and father"
    assert listed.conflict.second.says == "C0 – C1: mother and son"


@pytest.mark.parametrize(("keep", "kind"), [("first", "daughter and father"), ("second", "mother and son")])
def test_one_type_can_be_made_true(stores: MemoryStores, relatives: str, keep: Any, kind: str) -> None:
    """The kept type holds from the first scene on, by the author's word, and the conflict is gone."""
    Story(stores, relatives).conflicts.settle(conflict_id=conflict_id(stores, relatives, "relationship"), keep=keep)
    assert subjects(stores, relatives) == []
    with stores.database(relatives).read() as unit:
        types = {
            relation.relationship_type
            for chapter in (2, 4)
            for relation in unit.relationships.list_as_of(as_of=StoryPosition(chapter))
        }
    assert types == {kind}
