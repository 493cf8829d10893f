"""What a model says of states becomes changes of a record that say where everything is, once."""

from typing import Any

import pytest

from novelgen.chains.scene_record_chain import SceneRecordChain
from novelgen.models.entity import Entity
from novelgen.models.state import EntityStateSnapshot
from novelgen.reading.change_reading import entry_meant
from novelgen.reading.request import SceneRecordResult
from tests.novelgen.reading.keeper_scene import ENTITIES, TEXT_ZH, answer, request
from tests.support.scripted_chat_model import answering
from tests.support.stories import NOW, PROJECT

BOX = Entity(entity_id="I1", entity_type="item", name="the tin box")


def change(entity: str, attribute: str, value: Any = None, **more: Any) -> dict[str, Any]:
    """Return a state change as a model writes it."""
    return {"entity": entity, "attribute": attribute, "value": value, "evidence": "Ben took the key", **more}


def read(*changes: dict[str, Any], before: dict[str, dict[str, Any]], **more: Any) -> SceneRecordResult:
    """Return the result for the good answer with these state changes, after these states."""
    states = [
        EntityStateSnapshot(
            project_id=PROJECT,
            entity_type="item" if entity_id.startswith("I") else "character",
            entity_id=entity_id,
            timestamp=NOW,
            state_data=state,
        )
        for entity_id, state in before.items()
    ]
    model = answering(answer(state_changes=list(changes), **more))
    return SceneRecordChain(model).invoke(request(states=states, entities=[*ENTITIES, BOX]))


def stated(result: SceneRecordResult) -> dict[str, Any]:
    """Return every changed slot of a result with its value."""
    assert result.record is not None
    return {
        f"{each.entity_id}.{name}": value
        for each in result.record.state_changes
        for name, value in each.changes.items()
    }


@pytest.mark.parametrize(
    ("before", "said", "after"),
    [
        ({"I0": {"location_id": "L0"}}, change("I0", "holder", "Ben"), {"I0.holder": "C1", "I0.location_id": None}),
        ({"I0": {"holder": "C0"}}, change("I0", "location_id", "L1"), {"I0.location_id": "L1", "I0.holder": None}),
        ({"I0": {"holder": "C0"}}, change("I0", "holder", "L1"), {"I0.location_id": "L1", "I0.holder": None}),
        ({"I0": {"location_id": "L0"}}, change("I0", "position", "L1"), {"I0.location_id": "L1"}),
        ({"I0": {"holder": "C0"}}, change("I0", "holder", "the tin box"), {"I0.holder": "I1"}),
        ({"I0": {"holder": "C0"}}, change("I0", "location_id", "I1"), {"I0.holder": "I1"}),
        ({}, change("C1", "location_id", "the stairs below L1"), {"C1.place": "the stairs below the lamp room"}),
        ({"I0": {"holder": "C0"}}, change("C1", "inventory", ["I0"], op="add"), {"I0.holder": "C1"}),
        ({"I0": {"holder": "C1"}}, change("C1", "inventory", ["铜钥匙"], op="remove"), {"I0.holder": None}),
        (
            {"C1": {"inventory": ["a rope"]}},
            change("C1", "inventory", ["a knife"], op="add"),
            {"C1.inventory": ["a rope", "a knife"]},
        ),
        (
            {"C1": {"inventory": ["a rope"], "location_id": "L1"}},
            change("C1", "location_id", "in a hansom cab"),
            {"C1.place": "in a hansom cab", "C1.location_id": None},
        ),
        (
            {"C1": {"place": "离了渭州途中"}},
            change("C1", "location_id", "灯室"),
            {"C1.location_id": "L1", "C1.place": None},
        ),
        ({"C1": {"location_id": "L0"}}, change("C1", "location_id", "I1"), {"C1.place": "I1", "C1.location_id": None}),
    ],
)
def test_where_a_thing_is_has_one_truth(
    before: dict[str, dict[str, Any]], said: dict[str, Any], after: dict[str, Any]
) -> None:
    """A holder, a place, a container and an inventory say one thing; the last said clears the others."""
    result = read(said, before=before, characters_present=[])
    assert stated(result) == after
    assert result.unplaced == []


def test_the_last_of_two_places_in_one_scene_holds() -> None:
    """What is put down and taken is held; additions with quotes of their own end in one list."""
    result = read(change("I0", "location_id", "L1"), change("I0", "holder", "C1"), before={})
    assert stated(result) == {"I0.location_id": None, "I0.holder": "C1"}
    changes = [change("C1", "knowledge", each, op="add") for each in ("the ship passed", "Thorne wants the key")]
    result = read(*changes, before={"C1": {"knowledge": ["the lamp is out"]}})
    assert stated(result) == {"C1.knowledge": ["the lamp is out", "the ship passed", "Thorne wants the key"]}


def test_a_box_is_not_within_itself() -> None:
    """It cannot hold what it is in, and says so; who is at Ada's is not within Ada."""
    result = read(change("I1", "holder", "I0"), change("I1", "holder", "I1"), before={"I0": {"holder": "I1"}})
    assert stated(result) == {}
    assert [each.reason for each in result.unplaced] == ["I1 cannot be within itself"] * 2
    assert stated(read(change("C1", "location_id", "Ada’s"), before={})) == {"C1.place": "Ada’s"}
    assert stated(read(change("I0", "holder", "Ada"), before={})) == {"I0.holder": "C0"}


@pytest.mark.parametrize(
    ("held", "said", "after"),
    [
        (["find Thorne", "keep the light"], change("C1", "goals", "keep the light", op="remove"), ["find Thorne"]),
        (["find Thorne"], change("C1", "goals", ["wait", "find Thorne"], op="add"), ["find Thorne", "wait"]),
        (["find Thorne"], change("C1", "goals", ["sleep"]), ["sleep"]),
        (["find Thorne"], change("C1", "goals", "find Thorne", op="remove"), None),
        (["find Thorne"], change("C1", "goals", op="clear"), None),
        (["守住灯", "找到索恩先生"], change("C1", "目标", "守住灯", op="remove"), ["找到索恩先生"]),
        (None, change("C1", "titles", "keeper", op="add"), ["keeper"]),
    ],
)  # fmt: skip
def test_lists_grow_and_shrink_by_entries(held: Any, said: dict[str, Any], after: Any) -> None:
    """Additions and removals are folded onto the list before; the record has the whole list."""
    before = {"C1": {said["attribute"].replace("目标", "goals"): held}} if held else {}
    result = read(said, before=before)
    assert list(stated(result).values()) == [after]


def test_injuries_stand_beside_each_other_until_they_heal() -> None:
    """A fever does not overwrite a lost toe, and what heals goes alone; a new description is one value."""
    hurt = read(change("C1", "physical_state", "fever", op="add"), before={"C1": {"physical_state": "a toe is lost"}})
    assert stated(hurt) == {"C1.physical_state": ["a toe is lost", "fever"]}
    healed = read(
        change("C1", "physical_state", "fever", op="remove"),
        before={"C1": {"physical_state": ["a toe is lost", "fever"]}},
    )
    assert stated(healed) == {"C1.physical_state": "a toe is lost"}
    told = read(change("C1", "description", "keeper of the light", op="add"), before={"C1": {"description": "a boy"}})
    assert stated(told) == {"C1.description": "keeper of the light"}


def test_what_is_not_there_cannot_be_removed() -> None:
    """The model is not asked again for it; a guess is kept as unverified, without its quote."""
    result = read(
        change("C1", "goals", "marry", op="remove"),
        change("C1", "inventory", "I0", op="remove"),
        before={"C1": {"goals": ["find Thorne"]}, "I0": {"holder": "C0"}},
    )
    assert stated(result) == {}
    assert (result.unplaced, result.model_calls) == ([], 1)
    result = read(change("C0", "identity", "a smuggler", when="probably"), before={})
    assert stated(result) == {"C0.identity": "a smuggler"}
    assert [each.id for each in result.unverified if each.kind == "state_change"] == ["C0.identity"]


def test_what_is_over_by_now_ends_without_a_quote() -> None:
    """A list that only gets shorter and a state that is cleared owe no quote; what is new does."""
    result = read(
        change("C1", "goals", "marry", op="remove", evidence=""),
        change("C1", "physical_state", op="clear", evidence=""),
        change("C0", "goals", "sleep", op="add", evidence=""),
        before={"C1": {"goals": ["find Thorne", "marry"], "physical_state": "tipsy"}},
    )
    assert stated(result) == {"C1.goals": ["find Thorne"], "C1.physical_state": None, "C0.goals": ["sleep"]}
    assert [each.id for each in result.unverified if each.kind == "state_change"] == ["C0.goals"]


KEEPERS = Entity(entity_id="F0", entity_type="faction", name="the two keepers")


def test_a_group_stands_for_its_members() -> None:
    """Members are ids; where people are listed the group means those who belong to it, told before or right here."""
    told = {
        "characters_present": ["the two keepers"],
        "memories": [{"content": "The lamp went out.", "hidden_from": ["F0"], "evidence": "and I let it go out"}],
    }
    state = EntityStateSnapshot(
        project_id=PROJECT, entity_type="faction", entity_id="F0", timestamp=NOW, state_data={"members": ["C0"]}
    )
    joins = change("F0", "members", ["Ben"], op="add")
    model = answering(answer(state_changes=[joins], **told))
    result = SceneRecordChain(model).invoke(request(states=[state], entities=[*ENTITIES, KEEPERS]))
    assert stated(result) == {"F0.members": ["C0", "C1"]}
    assert result.record is not None
    assert result.record.characters_present == ["C0", "C1"]
    assert result.record.memories[0].hidden_from == ["C0", "C1"]


def test_entries_are_meant_in_other_words_only_when_one_fits() -> None:
    """What fits two names neither; of two that share words with what is removed, the one that shares more."""
    entries = ["find Mr. Thorne in the harbour", "keep the light burning", "keep the boat"]
    assert entry_meant("find Mr. Thorne", entries) == entries[0]
    assert entry_meant("keep", entries) is None
    assert entry_meant("sell the boat house key", ["keep the light"]) is None
    goals = ["find out who sent the letter to Ada", "burn the letter of Mr. Thorne"]
    said = change("C1", "goals", "learn who sent Ada that letter", op="remove")
    assert stated(read(said, before={"C1": {"goals": goals}})) == {"C1.goals": [goals[1]]}
    chinese = ["查明是谁给阿黛送信", "烧掉索恩的信"]
    said = change("C1", "goals", "查明谁给阿黛送信", op="remove")
    assert stated(read(said, before={"C1": {"goals": chinese}})) == {"C1.goals": [chinese[1]]}


@pytest.mark.parametrize(("attribute", "kept"), [("goals", 8), ("knowledge", 8), ("titles", 13)])
def test_lists_that_grow_with_every_scene_keep_the_newest(attribute: str, kept: int) -> None:
    """What somebody pursued or learnt long ago makes room; lists of what somebody is do not."""
    held = [f"thing number {number}" for number in range(12)]
    after = stated(read(change("C1", attribute, "one more", op="add"), before={"C1": {attribute: held}}))
    assert after == {f"C1.{attribute}": [*held, "one more"][-kept:]}


def test_a_group_moves_in_one_entry() -> None:
    """All who are named change alike; who is unknown, and a change of nobody, is listed alone."""
    said = {"entities": ["C0", "Ben", "C9"], "attribute": "location_id", "value": "L1"}
    result = read(said, before={})
    assert stated(result) == {"C0.location_id": "L1", "C1.location_id": "L1"}
    assert [each.field for each in result.unplaced] == ["state_changes[0].entities[2]"]
    result = read({"attribute": "status", "value": "lost"}, before={})
    assert (stated(result), [each.reason for each in result.unplaced]) == ({}, ["names no entity"])


@pytest.mark.parametrize("dead", ["dead, drowned", "已死"])
def test_the_dead_keep_their_body_and_what_it_holds(dead: str) -> None:
    """Death ends goals, mood, disguise and a journey; place and things held stay."""
    state = {
        "goals": ["find Thorne"], "emotional_state": "calm", "disguise": "a monk", "place": "in a cab",
        "location_id": "L1", "inventory": ["a rope"],
    }  # fmt: skip
    result = read(change("C1", "status", dead), before={"C1": state, "I0": {"holder": "C1"}})
    assert stated(result) == {
        "C1.status": dead, "C1.goals": None, "C1.emotional_state": None, "C1.disguise": None, "C1.place": None,
    }  # fmt: skip
    assert result.unverified == [], "an ending bears the quote of the death"


def test_a_goal_of_the_dead_is_not_kept() -> None:
    """What a scene gives to somebody who dies in it ends; a death is written as the story's language says it."""
    result = read(change("C1", "goals", ["live"]), change("C1", "alive", False), before={})
    assert stated(result) == {"C1.goals": None, "C1.status": "dead"}
    model = answering(answer(state_changes=[change("C1", "alive", False, evidence="阿本收起钥匙")]))
    assert stated(SceneRecordChain(model).invoke(request(TEXT_ZH, states=[]))) == {"C1.status": "已死"}


def test_what_is_for_now_ends_when_its_bearer_is_seen_again() -> None:
    """Mood and posture of the scene before are cleared for whoever appears, unless they are stated anew."""
    before = {
        "C0": {"emotional_state": "angry", "for_now": ["coat off"], "goals": ["sleep"]},
        "C1": {"emotional_state": "sad"},
    }
    result = read(change("C1", "mood", "glad"), before=before, characters_present=["C0", "C1"])
    assert stated(result) == {"C1.emotional_state": "glad", "C0.emotional_state": None, "C0.for_now": None}
    assert not [each for each in result.unverified if each.kind == "state_change"]
    unseen = read(change("C1", "mood", "glad"), before=before, characters_present=["C1"])
    assert stated(unseen) == {"C1.emotional_state": "glad"}


def test_who_is_on_stage_is_no_longer_elsewhere() -> None:
    """A place that the scene contradicts ends; one that it names stays."""
    before = {"C0": {"location_id": "L0"}, "C1": {"place": "on the stairs"}}
    result = read(before=before, location="L1", characters_present=["C0", "C1"])
    assert stated(result) == {"C0.location_id": None, "C1.place": None}
    same = read(before={"C0": {"location_id": "L1"}}, location="L1", characters_present=["C0"])
    assert stated(same) == {}
    nowhere = read(before=before, location="", characters_present=["C0", "C1"])
    assert stated(nowhere) == {}


@pytest.mark.parametrize("value", [None, "none (wig removed)", "无", []])
def test_what_is_over_is_cleared(value: Any) -> None:
    """A disguise that is off is no disguise called none."""
    assert stated(read(change("C1", "disguise", value), before={})) == {"C1.disguise": None}


def test_an_earlier_time_does_not_touch_the_present() -> None:
    """A change or a scene of the past states nothing that holds now, and the report says so."""
    told = read(change("C1", "status", "a boy", when="before"), change("C1", "goals", ["x"]), before={})
    assert stated(told) == {"C1.goals": ["x"]}
    assert any("earlier time" in issue.message and "status" in issue.message for issue in told.issues)
    whole = read(change("C1", "goals", ["x"]), before={"C0": {"emotional_state": "sad"}}, is_flashback=True)
    assert whole.record is not None
    assert (stated(whole), whole.record.is_flashback, len(whole.record.memories)) == ({}, True, 2)
