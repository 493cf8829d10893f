"""Which told times contradict each other, and which only look so."""

import pytest

from novelgen.language.chronology import TellingScene, scene_times
from novelgen.language.contradictions import contradictions


def found(*story_times: str | None, cast: tuple[str, ...] = ("C0",)) -> list[tuple[str, int, int]]:
    """Return rule and the two scenes of each contradiction between scenes with these story times."""
    scenes = [TellingScene(1, number, story_time=each, participants=cast) for number, each in enumerate(story_times, 1)]
    return [(each.rule, each.first + 1, each.second + 1) for each in contradictions(scene_times(scenes))]


WRONG: list[tuple[list[str], tuple[str, int, int]]] = [
    (["Tuesday, 3 May 1920"], ("weekday", 1, 1)),
    (["1920年5月3日，星期二"], ("weekday", 1, 1)),
    (["Monday", "the next day, Thursday"], ("weekday", 1, 2)),
    (["星期一", "次日，星期四"], ("weekday", 1, 2)),
    (["July 7th, a Monday", "two days later, July 9th, a Friday"], ("weekday", 1, 2)),
    (["July 7th", "the next day, July 10th"], ("date", 1, 2)),
    (["July 7th", "the same evening", "the next day, July 5th"], ("date", 1, 3)),
    (["3 May 1920", "the next day, 3 May 1921"], ("date", 1, 2)),
    (["正月十五", "次日，正月十九"], ("date", 1, 2)),
    (["that night", "the same afternoon"], ("hour", 1, 2)),
    (["at 9 pm", "the same day, 3 pm"], ("hour", 1, 2)),
    (["入夜，亥时", "同日午后"], ("hour", 1, 2)),
    (["a summer morning", "the next day, deep winter"], ("season", 1, 2)),
    (["春日", "三日后，深秋"], ("season", 1, 2)),
    (["腊月，盛夏"], ("season", 1, 1)),
    (["spring, 1905", "two years ago, in 1871"], ("years_ago", 1, 2)),
]


@pytest.mark.parametrize(("story_times", "expected"), WRONG)
def test_times_that_cannot_be_are_found(story_times: list[str], expected: tuple[str, int, int]) -> None:
    """Each rule finds its case, in both languages, and nothing else."""
    assert found(*story_times) == [expected]


RIGHT = [
    ["Monday, 3 May 1920"],
    ["Tuesday, 3 May 1620"],
    ["Monday", "the next day, Tuesday"],
    ["Monday", "some weeks later, a Friday"],
    ["July 7th, a Monday", "years later", "July 9th, a Friday"],
    ["July 7th", "the next day, July 8th"],
    ["December 31st", "the next day, January 1st"],
    ["腊月三十", "次日，正月初一"],
    ["July 7th", "July 3rd"],
    ["3 May 1943", "3 May 1939", "the next day, 4 May 1943"],
    ["July 7th", None, "the next day, July 20th"],
    ["that night", "the same morning"],
    ["afternoon", "the same evening"],
    ["seven o'clock in the evening", "the same evening, from seven o'clock"],
    ["not yet seven in the evening", "that evening, past six"],
    ["dawn", "the same afternoon"],
    ["night", "afternoon"],
    ["当夜至次晨", "同日午后"],
    ["a summer morning", "winter"],
    ["a summer morning", "four months later, winter"],
    ["summer", "the next day, autumn"],
    ["九月，深秋"],
    ["spring, 1905", "thirty-four years ago, in 1871"],
    ["spring, about 1905", "in 1871"],
    ["夜", "三年前，午后", "同夜"],
]


@pytest.mark.parametrize("story_times", RIGHT)
def test_times_that_can_be_are_left_alone(story_times: list[str | None]) -> None:
    """What is vague, inferred, or goes back in time contradicts nothing."""
    assert found(*story_times) == []


def test_an_earlier_hour_of_other_people_is_meanwhile() -> None:
    """Two threads of one day may be told one after the other; only the same people cannot be in both."""
    scenes = [
        TellingScene(1, 1, story_time="that night", participants=["C0"]),
        TellingScene(1, 2, story_time="the same afternoon", participants=["C1"]),
    ]
    assert contradictions(scene_times(scenes)) == []
    assert found("that night", "the same afternoon", cast=()) == []
