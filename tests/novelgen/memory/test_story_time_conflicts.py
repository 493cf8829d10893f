"""Contradictions of when scenes play as conflicts that an author can look at and waive."""

import pytest

from novelgen.language.chronology import TellingScene, scene_times
from novelgen.memory.conflicts import find_conflicts, story_time_conflicts
from tests.novelgen.memory.record_parts import stated


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
