"""Contradictions that no rule resolves, of when scenes play, too, which an author can look at and waive."""

from dataclasses import replace

import pytest

from novelgen.language.chronology import TellingScene, scene_times
from novelgen.memory.conflict import Conflict
from novelgen.memory.conflicts import (
    dead_who_act,
    find_conflicts,
    slot_conflicts,
    story_time_conflicts,
    things_held_twice,
)
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.state import StateChange
from tests.novelgen.memory.record_parts import scene, stated, stored

KEY = Entity(entity_id="I0", entity_type="item", name="the brass key", aliases=[EntityAlias(alias="铜钥匙")])
ADA = Entity(entity_id="C0", entity_type="character", name="Ada")
ENTITIES = [KEY, ADA]


def places(conflicts: list[Conflict]) -> list[tuple[str, tuple[int, int], tuple[int, int]]]:
    """Return subject and both places of conflicts."""
    return [
        (
            each.subject,
            (each.first.chapter_index, each.first.scene_index),
            (each.second.chapter_index, each.second.scene_index),
        )
        for each in conflicts
    ]


DEAD_AT_1_1 = stated("C1", "status", "dead, shot at the bridge", (1, 1))


def test_the_dead_do_not_come_on_stage() -> None:
    """After a death in a slot or a memory of one character; a stated return ends it, what lay between conflicts."""
    scenes = [scene(1, 1, "C1"), scene(1, 2), scene(2, 1, "C0", "C1"), scene(3, 1, "C1")]
    found = dead_who_act(scenes, [DEAD_AT_1_1])
    assert places(found) == [("C1", (1, 1), (2, 1)), ("C1", (1, 1), (3, 1))]
    assert found[0].first.says == "status: dead, shot at the bridge"
    assert found[0].second.says == "is present"
    scenes = [scene(1, 1), scene(2, 1, "C1"), scene(3, 1, "C1"), scene(4, 1, "C1")]
    alive = stated("C1", "status", "alive; the coffin was empty", (3, 1))
    assert places(dead_who_act(scenes, [DEAD_AT_1_1, alive])) == [("C1", (1, 1), (2, 1))]
    scenes = [scene(1, 1), scene(2, 1, "C1", "C2")]
    own = stored("M1", "death", "C1", content="Ben fell from the tower.")
    slot = stored("M2", "death", "C2", "C1", slot_type="C2.status")
    unclear = stored("M3", "death", "C1", "C2")
    assert places(dead_who_act(scenes, [], [own])) == [("C1", (1, 1), (2, 1))]
    assert places(dead_who_act(scenes, [], [slot])) == [("C2", (1, 1), (2, 1))]
    assert dead_who_act(scenes, [], [unclear]) == []


@pytest.mark.parametrize(
    ("attribute", "value", "acts"), [("goals", ["revenge"], True), ("goals", None, False), ("location_id", "L2", False)]
)
def test_the_dead_neither_want_nor_learn(attribute: str, value: object, acts: bool) -> None:
    """A body may be moved, robbed and buried; only what the living do is a conflict."""
    found = dead_who_act([scene(1, 1), scene(2, 1)], [DEAD_AT_1_1, stated("C1", attribute, value, (2, 1))])
    assert bool(found) == acts


@pytest.mark.parametrize("time", ["three years earlier", "in a dream", "回忆当年"])
def test_the_past_and_dreams_bring_back_the_dead(time: str) -> None:
    """A scene whose time says flashback, dream or beyond is no conflict."""
    assert dead_who_act([scene(1, 1), scene(2, 1, "C1", time=time)], [DEAD_AT_1_1]) == []


def test_what_does_not_change_conflicts_with_another_value() -> None:
    """Unless a scene reveals it, any story changes it, or the author's last word in the scene resolves it."""
    changes = [
        stated("C1", "identity", "a knife-grinder", (1, 1)),
        stated("C1", "identity", "a knife-grinder", (2, 1)),
        stated("C1", "identity", "the auditor", (3, 1)),
    ]
    found = slot_conflicts([scene(1, 1), scene(2, 1), scene(3, 1)], changes)
    assert places(found) == [("C1.identity", (2, 1), (3, 1))]
    assert (found[0].first.says, found[0].second.says) == ("identity: a knife-grinder", "identity: the auditor")
    changes = [
        *(stated("C1", "goals", [goal], (chapter, 1)) for chapter, goal in ((1, "flee"), (2, "return"))),
        *(stated("I0", "holder", holder, (chapter, 1)) for chapter, holder in ((1, "C0"), (2, "C1"))),
        stated("C2", "identity", "a tinker", (1, 1)),
        stated("C2", "identity", None, (2, 1)),
        StateChange(entity_id="C2", attribute="identity", value="a spy"),
    ]
    assert slot_conflicts([scene(1, 1), scene(2, 1)], changes) == []
    changes = [
        stated("C1", "identity", "a tinker", (1, 1)),
        stated("C1", "identity", "the auditor", (2, 1)),
        stated("C1", "identity", "a tinker", (2, 1)),
    ]
    scenes = [scene(1, 1), scene(2, 1)]
    assert [each.second.value for each in slot_conflicts(scenes, changes[:2])] == ["the auditor"]
    assert slot_conflicts(scenes, changes) == []


@pytest.mark.parametrize(
    ("memory", "is_explained"),
    [
        (stored("M1", "identity_revealed", "C1", at=(3, 1)), True),
        (stored("M1", "event", "C1", at=(3, 1), supersedes="M0"), True),
        (stored("M1", "identity_revealed", "C1", at=(2, 1)), False),
        (stored("M1", "identity_revealed", "C2", at=(3, 1)), False),
        (stored("M1", "event", "C1", at=(3, 1)), False),
    ],
)
def test_a_scene_that_reveals_it_resolves_it(memory, is_explained: bool) -> None:  # type: ignore[no-untyped-def]
    """The revelation must be in the scene of the new value and of the same entity."""
    changes = [stated("C1", "identity", "a tinker", (1, 1)), stated("C1", "identity", "the auditor", (3, 1))]
    found = slot_conflicts([scene(1, 1), scene(2, 1), scene(3, 1)], changes, [memory])
    assert bool(found) != is_explained


@pytest.mark.parametrize(
    ("times", "is_conflict"),
    [
        (("3 May, midnight", "3 May,  Midnight"), True),
        (("三月初七夜", "三月初七夜"), True),
        (("3 May, midnight", "4 May, midnight"), False),
        (("same evening", "same evening"), False),
        ((None, None), False),
    ],
)
def test_nobody_is_in_two_places_at_one_time(times: tuple[str | None, str | None], is_conflict: bool) -> None:
    """Two scenes of one dated time that put a character in two places conflict; a move does not."""
    scenes = [scene(1, 1, time=times[0]), scene(2, 1, time=times[1])]
    changes = [stated("C1", "location_id", "L0", (1, 1)), stated("C1", "location_id", "L1", (2, 1))]
    assert bool(slot_conflicts(scenes, changes)) == is_conflict


def held_twice(*changes: StateChange) -> list[tuple[str, tuple[int, int], tuple[int, int]]]:
    """Return what three scenes with these changes hold twice."""
    scenes = [scene(1, 1), scene(2, 1), scene(3, 1)]
    return places(things_held_twice(scenes, list(changes), entities=ENTITIES))


def test_a_thing_in_two_inventories_is_held_twice() -> None:
    """Told once, by any of its names; an inventory that was not written anew is only out of date."""
    first = stated("C0", "inventory", ["brass key", "a lamp"], (1, 1))
    second = stated("C1", "inventory", ["I0"], (2, 1))
    again = stated("C1", "inventory", ["I0", "rope"], (3, 1))
    assert held_twice(first, second, again) == [("I0", (1, 1), (2, 1))]
    first = stated("C0", "inventory", ["铜钥匙"], (1, 1))
    second = stated("C1", "inventory", ["The Brass Key"], (1, 1))
    assert held_twice(first, second) == [("I0", (1, 1), (1, 1))]
    listed = stated("C0", "inventory", ["brass key"], (2, 1))
    holder = stated("I0", "holder", "C1", (2, 1))
    assert held_twice(listed, holder) == [("I0", (2, 1), (2, 1))]
    listed = stated("C0", "inventory", ["brass key"], (1, 1))
    holder = stated("I0", "holder", "C1", (2, 1))
    later = stated("C1", "inventory", ["brass key"], (3, 1))
    assert held_twice(listed, holder, later) == []


@pytest.mark.parametrize(
    "resolution", [stated("C0", "inventory", ["a lamp"], (2, 1)), stated("I0", "holder", "C1", (2, 1))]
)
def test_a_thing_that_changes_hands_is_not(resolution: StateChange) -> None:
    """Leaving the first inventory, or a holder stated in the scene, makes it a transfer."""
    first = stated("C0", "inventory", ["brass key"], (1, 1))
    second = stated("C1", "inventory", ["brass key"], (2, 1))
    assert held_twice(first, resolution, second) == []


STORY: tuple[list[TellingScene], list[StateChange]] = (
    [scene(1, 1), scene(2, 1, "C1"), scene(3, 1)],
    [DEAD_AT_1_1, stated("C0", "inventory", ["brass key"], (1, 1)), stated("C2", "inventory", ["brass key"], (3, 1))],
)


def test_a_waiver_survives_finding_again_and_moving() -> None:
    """Ids depend on scenes and statements only, so another statement is another conflict, and none is none."""
    scenes, changes = STORY
    dead, held = find_conflicts(scenes, changes, entities=ENTITIES)
    assert (dead.kind, held.kind) == ("dead_acts", "two_holders")
    moved = [scenes[0], replace(scenes[1], chapter_index=5), scenes[2]]
    again = find_conflicts(moved, changes, entities=ENTITIES)
    assert {each.conflict_id for each in again} == {dead.conflict_id, held.conflict_id}
    other = [stated("C1", "status", "dead, drowned", (1, 1)), *changes[1:]]
    ids = {each.conflict_id for each in find_conflicts(scenes, changes, entities=ENTITIES)}
    other_ids = {each.conflict_id for each in find_conflicts(scenes, other, entities=ENTITIES)}
    assert len(ids & other_ids) == 1
    assert find_conflicts([], []) == []


def test_memories_that_a_record_calls_contradictory_conflict() -> None:
    """Both are shown with their scenes; where one is gone there is no conflict."""
    half, more = stored("m1", "promise_made", "C0"), stored("m2", "plan", "C0", "C1", at=(2, 1))
    scenes = [scene(1, 1), scene(2, 1)]
    [found] = find_conflicts(scenes, [], [half, more], contradictions=[("m2", "m1")])
    assert (found.kind, found.subject, found.entity_ids) == ("memories_disagree", "m2", ["C0"])
    assert (found.first.says, found.second.says) == (half.content, more.content)
    assert find_conflicts(scenes, [], [more], contradictions=[("m2", "m1")]) == []


def test_one_dated_hour_in_other_words_is_one_time() -> None:
    """A character is in two places at the same hour of the same day, however the two scenes put it."""
    changes = [stated("C0", "location_id", "L0", (1, 1)), stated("C0", "location_id", "L1", (2, 1))]
    first = scene(1, 1, "C0", time="July 7th, 9:30 in the evening")
    assert (
        len(slot_conflicts([first, scene(2, 1, "C0", time="the 7th of July, evening, half past nine")], changes)) == 1
    )
    assert slot_conflicts([first, scene(2, 1, "C0", time="the 7th of July, evening, ten o'clock")], changes) == []


def times(*story_times: str) -> list[TellingScene]:
    """Return scenes of one chapter with these story times."""
    return [
        TellingScene(1, number, scene_id=f"s{number}", story_time=each, participants=["C0"])
        for number, each in enumerate(story_times, 1)
    ]


def test_a_conflict_of_dates_has_both_sides() -> None:
    """It says what both scenes say and what would follow, and its id lasts when scenes move."""
    scenes = scene_times(times("July 7th", "the next day, July 10th"))
    [conflict] = find_conflicts([], [], times=scenes)
    assert (conflict.kind, conflict.subject, conflict.entity_ids) == ("story_time", "story_time", ["C0"])
    assert conflict.first.says == "story_time: July 7th"
    assert conflict.second.says == "story_time: the next day, July 10th (1 day after 'July 7th')"
    [was] = story_time_conflicts(scene_times(times("July 7th", "the next day, July 10th")))
    moved = [
        TellingScene(4, each.scene_index, each.scene_id, story_time=each.story_time, participants=["C0"])
        for each in times("July 7th", "the next day, July 10th")
    ]
    [now] = story_time_conflicts(scene_times(moved))
    assert (was.conflict_id, now.second.chapter_index) == (now.conflict_id, 4)


AGES = [
    (["noon", "the next day"], 30, 34, 1),
    (["正午", "次日"], "三十岁", "二十岁", 1),
    (["noon", "winter"], 30, 25, 1),
    (["noon", "the next day"], 30, 31, 0),
    (["noon", "ten years later"], 30, 40, 0),
    (["noon", "winter"], 30, 60, 0),
    (["noon", "ten years ago"], 30, 20, 0),
    (["noon", "the next day"], "about thirty", "old", 0),
    (["noon", "the next day"], True, False, 0),
]


@pytest.mark.parametrize(("story_times", "was", "now", "count"), AGES)
def test_ages_are_held_against_the_days_between(story_times: list[str], was: object, now: object, count: int) -> None:
    """Nobody grows younger, or older than time goes by; what is vague, or another time, is left alone."""
    changes = [stated("C0", "age", was, (1, 1)), stated("C0", "age", now, (1, 2))]
    conflicts = story_time_conflicts(scene_times(times(*story_times)), changes)
    assert [(each.subject, each.entity_ids) for each in conflicts] == [("C0.age", ["C0"])] * count
