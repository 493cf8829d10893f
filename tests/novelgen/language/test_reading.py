"""What a few words of a record, or the first words of a scene, say of when it plays."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novelgen.language.chronology import TellingScene, opening_words, read_opening, scene_times
from novelgen.language.contradictions import contradictions
from novelgen.language.numerals import chinese_number, english_number
from novelgen.language.reading import is_out_of_time, read_story_time, tells_of_past
from novelgen.models.story_time import DaySpan, ToldTime


def said(told: ToldTime, *names: str) -> dict[str, Any]:
    """Return the named fields that are said."""
    return {name: value for name in names if (value := getattr(told, name))}


PIECES = """
    the next day 99999999999999999999 years ago a dozen hundred thousand nights later July February 30th 31st half past
    to until and between six told ; 1857 - 1870s Monday winter 次日 三五日后 五百年前 正月 三十日 三更
    贞观 元年 闰 廿 百 半 十七八 多 至 千千千 年后 两点半 星期 天 望 初 0 ０ before after
""".split()

DATES = [
    ("July 7th, half past five", {"month": 7, "day": 7}),
    ("Monday, the third of May, 1920", {"year": 1920, "month": 5, "day": 3, "weekday": 1}),
    ("2024-05-06, evening", {"year": 2024, "month": 5, "day": 6}),
    ("late May 1882", {"year": 1882, "month": 5}),
    ("an autumn afternoon, about 1911", {"year": 1911, "is_about": True, "season": "autumn"}),
    ("Christmas Eve", {"month": 12, "day": 24}),
    ("she may go in the summer", {"season": "summer"}),
    ("Tuesday", {"weekday": 2}),
    ("1999年3月5日 星期五", {"year": 1999, "month": 3, "day": 5, "weekday": 5}),
    ("贞观十三年九月", {"era": "贞观", "year": 13, "month": 9, "is_lunar": True}),
    ("建元元年", {"era": "建元", "year": 1}),
    ("正月十五，元宵夜", {"month": 1, "day": 15, "is_lunar": True}),
    ("腊月初七", {"month": 12, "day": 7, "is_lunar": True}),
    ("中秋夜", {"month": 8, "day": 15, "is_lunar": True, "season": "autumn"}),
    ("那年冬天", {"season": "winter"}),
    ("in the counting house", {}),
    ("在账房", {}),
]


@pytest.mark.parametrize(("words", "expected"), DATES)
def test_dates_weekdays_and_seasons_are_read(words: str, expected: dict[str, Any]) -> None:
    """What is given is read, in both languages and calendars; what is not given stays open."""
    fields = ("era", "year", "month", "day", "is_lunar", "is_about", "weekday", "season")
    assert said(read_story_time(words), *fields) == expected


SHIFTS: list[tuple[str, tuple[int, int | None] | None]] = [
    ("the next morning", (1, 1)),
    ("the same rainy evening", (0, 0)),
    ("that night", (0, 0)),
    ("three days later", (3, 3)),
    ("after twenty-two days", (22, 22)),
    ("a fortnight later", (13, 15)),
    ("some days later", (2, None)),
    ("days later", (2, None)),
    ("half an hour later", (0, 1)),
    ("the next day, and after some time", (1, None)),
    ("ten years after the flood", None),
    ("evening", None),
    ("次日清晨", (1, 1)),
    ("同日午后", (0, 0)),
    ("当晚", (0, 0)),
    ("过了三日", (3, 3)),
    ("三五日后", (3, 5)),
    ("过了两三天", (2, 3)),
    ("一两天后", (1, 2)),
    ("三两天后", (2, 3)),
    ("二三十天后", (20, 30)),
    ("two or three days later", (2, 3)),
    ("a day or two later", (1, 2)),
    ("月余后", (28, 60)),
    ("数日后", (2, None)),
    ("一个时辰后", (0, 1)),
    ("离开渡口一个月后", None),
    ("黄昏", None),
]


@pytest.mark.parametrize(("words", "expected"), SHIFTS)
def test_the_time_since_the_scene_before_is_read(words: str, expected: tuple[int, int | None] | None) -> None:
    """Days since the scene told before, as a range where it is vague; time since anything else is none."""
    shift = read_story_time(words).shift
    assert (None if shift is None else (shift.min_days, shift.max_days)) == expected


HOURS: list[tuple[str, str | None, tuple[int, int] | None]] = [
    ("one o'clock in the morning", "morning", (60, 60)),
    ("nine that evening, at 9:15 pm", "evening", (1275, 1275)),
    ("17:30", None, (1050, 1050)),
    ("half past five", None, (330, 1050)),
    ("about half past five in the evening", "evening", (1005, 1095)),
    ("between six and seven, evening", "evening", (1080, 1140)),
    ("三更", "midnight", (1380, 1500)),
    ("卯时", "dawn", (300, 420)),
    ("下午三点半", "afternoon", (930, 930)),
    ("晚春", None, None),
    ("for one of us", None, None),
]


@pytest.mark.parametrize(("words", "part", "minutes"), HOURS)
def test_hours_are_read(words: str, part: str | None, minutes: tuple[int, int] | None) -> None:
    """Clocks, Chinese hours and watches; without a part of the day a clock may be of either half."""
    told = read_story_time(words)
    assert (told.part, told.minutes) == (part, minutes)


def test_a_time_that_goes_on_has_its_end() -> None:
    """From the evening to dawn, from one day to the third; a dream is out of time without being past."""
    night = read_story_time("当夜二更至天明")
    assert night.until is not None
    assert (night.minutes, night.until.part) == ((1260, 1380), "dawn")
    days = read_story_time("that night, next day and night")
    assert days.until is not None
    assert (days.shift, days.until.shift) == (DaySpan(min_days=0, max_days=0), DaySpan(min_days=1, max_days=1))
    assert is_out_of_time("in a dream")
    assert not tells_of_past("in a dream")


def test_what_is_told_now_of_the_past_has_both_times() -> None:
    """The telling has its own day, and what is told of its years; a bare past has no place among the scenes."""
    told = read_story_time("the same evening; told of 1877 to April 1882")
    assert told.tells_of_past
    assert told.shift == DaySpan(min_days=0, max_days=0)
    assert told.past is not None
    assert (told.past.year, told.past.to_year) == (1877, 1882)
    bare = read_story_time("三年前的冬天")
    assert (bare.tells_of_past, bare.shift) == (True, None)
    assert bare.past is not None
    assert bare.past.shift is not None
    assert bare.past.shift.max_days is not None
    assert bare.past.shift.max_days < -900


@pytest.mark.parametrize(
    "words",
    [
        "five years ago",
        "a flashback",
        "the day before",
        "two days before the events",
        "当年",
        "三年前",
        "回忆",
        "很久以前",
    ],
)
def test_words_of_the_past_are_known(words: str) -> None:
    """They say that a scene does not play now."""
    assert tells_of_past(words)


@pytest.mark.parametrize(
    "words",
    [
        "half past six",
        "before midnight",
        "earlier that day",
        "天亮之前",
        "次日",
        "nine days before Orla's Night",
        "大婚前三日",
    ],
)
def test_hours_are_no_past(words: str) -> None:
    """An hour before or past another is an hour of now."""
    assert not tells_of_past(words)


OPENINGS = [
    ("The next morning she rowed out.", "The next morning"),
    ("It was on the following day that the bell broke.", "the following day"),
    ("Three days later, at the mill, nobody spoke.", "Three days later"),
    ("A few days later nobody spoke.", "A few days later"),
    ("Two or three days later, at the mill, nobody spoke.", "Two or three days later"),
    ("A day or two later nobody spoke.", "A day or two later"),
    ("After a couple of weeks, the water fell.", "After a couple of weeks"),
    ("　　次日清晨，雨停了。", "次日清晨"),
    ("却说过了三日，渡船才来。", "过了三日"),
    ("那年冬天，河面结了冰。", "那年冬天"),
    ("“次日再来。”掌柜说。", None),
    ("“The next day,” he said, “we leave.”", None),
    ("She came back the next day.", None),
    ("The next of kin had come.", None),
    ("A few days after the flood nobody spoke.", None),
    ("After ten years at the ferry she knew the river.", None),
    ("After two days, the water fell.", "After two days"),
    ("三日后的约定还在。", None),
    ("同日午后，渡船才来。", "同日午后"),
    ("一日，渡船来了。", None),
    ("", None),
]


@pytest.mark.parametrize(("text", "expected"), OPENINGS)
def test_only_the_first_words_of_a_scene_are_its_time(text: str, expected: str | None) -> None:
    """A scene that opens with a time has it; speech, and what stands further on, counts for nothing."""
    found = opening_words(text)
    assert (found[0] if found else None) == expected
    if found is not None:
        assert text[found[1][0] : found[1][1]] == expected
        assert read_opening(text) is not None
    else:
        assert read_opening(text) is None


def test_numbers_in_words() -> None:
    """Both languages' numerals as stories write them."""
    assert [english_number(each) for each in ("12", "1,200", "twenty-two", "a hundred and ten", "a dozen")] == [
        12,
        1200,
        22,
        110,
        12,
    ]
    assert [chinese_number(each) for each in ("十三", "廿三", "一百零五", "二〇")] == [13, 23, 105, 20]


@given(st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=9).map(" ".join))
def test_any_words_are_read_without_error(words: str) -> None:
    """Records come from models and authors: whatever they say is read, and counts in bounded days."""
    told = read_story_time(words)
    times = scene_times([TellingScene(1, 1, story_time=words), TellingScene(1, 2, story_time=words, text=words)])
    assert told.text == words
    assert [each.told_order for each in times] == [1, 2]
    assert all(each.first <= each.second for each in contradictions(times))
