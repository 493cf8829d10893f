"""Running days, the time between scenes, and the order lived."""

import pytest

from novelgen.language.chronology import TellingScene, days_apart, scene_times
from novelgen.models.story_time import DaySpan, SceneTime


def told(*story_times: str | None, flashbacks: tuple[int, ...] = ()) -> list[SceneTime]:
    """Return the times of scenes of one chapter with these story times."""
    return scene_times(
        [
            TellingScene(1, number, story_time=each, is_flashback=number in flashbacks)
            for number, each in enumerate(story_times, 1)
        ]
    )


def days(times: list[SceneTime]) -> list[tuple[int | None, str]]:
    """Return day and certainty of each scene."""
    return [(each.story_day, each.certainty) for each in times]


def test_told_days_add_up() -> None:
    """In either language; what follows from the hours is inferred, and days after an unknown are the earliest."""
    english = told("a wet evening", "the next morning", "the same afternoon", "three days later")
    chinese = told("雨夜", "次日清晨", "同日午后", "三日后")
    assert days(english) == days(chinese) == [(1, "told"), (2, "told"), (2, "told"), (5, "told")]
    assert [each.since_previous for each in english][1:] == [
        DaySpan(min_days=1, max_days=1),
        DaySpan(min_days=0, max_days=0),
        DaySpan(min_days=3, max_days=3),
    ]
    assert days(told("evening", "late night", "dawn", "noon")) == [
        (1, "told"),
        (1, "inferred"),
        (2, "inferred"),
        (2, "inferred"),
    ]
    times = told("morning", None, "the next day", "winter", "some weeks later")
    assert days(times) == [(1, "told"), (None, "unknown"), (2, "at_least"), (2, "at_least"), (16, "at_least")]
    assert times[1].since_previous is None


def test_dates_count_days() -> None:
    """Full dates give a certain number, whatever stands between; without a year it is inferred."""
    assert days(told("3 May 1920", None, "10 May 1920")) == [(1, "told"), (None, "unknown"), (8, "told")]
    assert days(told("May 3rd", "May 10th")) == [(1, "told"), (8, "inferred")]
    assert days(told("正月十五", "正月十八")) == [(1, "told"), (4, "inferred")]


def test_days_are_counted_to_what_is_to_come() -> None:
    """So many days before it is now, and tells the day once an earlier scene has told when it is; so does its own."""
    english = told(
        "fifty days before Orla's Night", "two days later", "forty days before Orla's Night", "the same hour"
    )
    english += told("nine days before the wedding", None, "the eve before the wedding", "the wedding, noon")
    chinese = told("深秋，开闸夜前五十天", "两天后", "开闸夜前四十天", "同一时辰")
    chinese += told("大婚前九日", None, "大婚前一天", "大婚，正午")
    assert days(english) == days(chinese)
    assert days(english) == [
        *[(1, "told"), (3, "told"), (11, "told"), (11, "told")],
        *[(1, "told"), (None, "unknown"), (9, "told"), (10, "told")],
    ]
    assert not any(each.is_flashback for each in english)
    assert english[2].since_previous == DaySpan(min_days=8, max_days=8)
    late = told("two days before the fair", "five days later", "the day before the fair")
    assert days(late)[1:] == [(6, "told"), (None, "unknown")]


def test_a_scene_that_goes_on_into_the_next_day_ends_there() -> None:
    """Its last day is told, and the next day after it may be that very day."""
    times = told("次日", "当夜二更至天明", "次日天明", "次日")
    assert (times[1].story_day, times[1].until_day) == (1, 2)
    assert days(times)[2:] == [(2, "inferred"), (3, "inferred")]


def test_a_flashback_does_not_move_the_days() -> None:
    """Dated ones are lived in the order of their years, one into the story has its day there."""
    times = told("noon", "five years ago", "the same evening")
    assert days(times) == [(1, "told"), (None, "unknown"), (1, "told")]
    assert [each.is_flashback for each in times] == [False, True, False]
    assert [each.lived for each in times] == ["now", "before_story", "now"]
    assert [each.lived_order for each in times] == [2, 1, 3]
    times = told("summer, 1905", "that night; told of 1890", "that night; told of 1870 to 1875", "the next day")
    assert [each.lived_order for each in times] == [3, 2, 1, 4]
    assert times[1].story_day == 1
    times = told("monday", "three days later", "the day before", "the same evening")
    assert (times[2].story_day, times[2].lived, times[2].lived_order) == (3, "in_story", 2)


@pytest.mark.parametrize("words", ["a memory", "往事", "a flashback to the harbour"])
def test_a_flashback_without_a_time_has_no_place(words: str) -> None:
    """Nothing is made up: its order is unknown."""
    times = told("noon", words)
    assert (times[1].lived, times[1].lived_order, times[1].story_day) == ("unknown", None, None)


def test_the_record_says_that_a_scene_is_a_flashback() -> None:
    """Although the words alone do not; where it is silent the first words of the text count."""
    times = told("summer, 1905", "spring 1871", flashbacks=(2,))
    assert (times[1].is_flashback, times[1].lived, times[1].lived_order) == (True, "before_story", 1)
    scenes = [
        TellingScene(1, 1, story_time="noon"),
        TellingScene(1, 2, text="The next morning the boat was gone."),
        TellingScene(1, 3, story_time="the same day", text="Three days later nobody cared."),
    ]
    times = scene_times(scenes)
    assert [each.story_day for each in times] == [1, 2, 2]
    assert [each.said_in for each in times] == ["record", "text", "record"]


def test_a_story_that_goes_back_by_its_dates_is_ordered_by_them() -> None:
    """Chapters of two years in turn: days count from the first, and the order lived is that of the dates."""
    times = told("3 May 1943", "3 May 1939", "4 May 1943")
    assert [each.story_day for each in times] == [1, -1460, 2]
    assert [each.lived for each in times] == ["now", "before_story", "now"]
    assert [each.lived_order for each in times] == [2, 1, 3]


def test_days_between_scenes_are_those_of_all_links() -> None:
    """They add up; one link without an upper bound leaves the sum without one; no scenes have no times."""
    times = told("noon", "the next day", "a fortnight later", "winter", "long ago")
    assert days_apart(times, 0, 2) == DaySpan(min_days=14, max_days=16)
    assert days_apart(times, 0, 3) == DaySpan(min_days=14)
    assert days_apart(times, 0, 4) is None
    assert scene_times([]) == []
