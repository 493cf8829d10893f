"""Times of scenes that cannot all be true: dates, weekdays, hours of one day, seasons, years ago."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from novelgen.language.chronology import FIRST_GREGORIAN_YEAR, calendar_day, days_apart, days_between
from novelgen.models.story_time import SEASONS, DaySpan, SceneTime, Season, ToldTime

MAX_SCENES_BACK = 12
"""A date is held against those of so many scenes before it; one of them may be of the same thread of the story."""

_SEASON_DAYS = 40
"""Within so many days no season turns into its opposite."""

_WITHIN_A_YEAR_DAYS = 300
_SLACK_MINUTES = 30
_UNSURE_YEARS = 2
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


class Contradiction(NamedTuple):
    """An impossible time of one scene or of two."""

    rule: str
    first: int
    second: int
    expected: str


def contradictions(times: Sequence[SceneTime]) -> list[Contradiction]:
    """Return the certain contradictions between the times of a story.

    Only what is told is held against what is told, never what was inferred. A date that merely lies before the
    last one is none: stories go back and forth.
    """
    matching_contradictions: list[Contradiction] = []
    for index in range(len(times)):
        matching_contradictions += list(contradictions_of(times, index))
    return matching_contradictions


def contradictions_of(times: Sequence[SceneTime], index: int) -> Iterator[Contradiction]:
    """Yield the contradictions of one scene's time, one per rule."""
    story_time = times[index].told
    if story_time is None:
        return
    yield from _weekday_of_date(story_time, index)
    yield from _lunar_season(story_time, index)
    if times[index].is_flashback:
        yield from _years_ago(times, index)
        return
    yield from _weekday_after_days(times, index)
    yield from _date_after_days(times, index)
    yield from _hour_of_same_day(times, index)
    yield from _opposite_season(times, index)


def _weekday_of_date(story_time: ToldTime, index: int) -> Iterator[Contradiction]:
    day = calendar_day(story_time)
    if day is None or story_time.weekday is None or day.year < FIRST_GREGORIAN_YEAR or story_time.is_about:
        return
    if day.isoweekday() != story_time.weekday:
        yield Contradiction("weekday", index, index, f"{day.isoformat()} is a {WEEKDAYS[day.weekday()]}")


def _weekday_after_days(times: Sequence[SceneTime], index: int) -> Iterator[Contradiction]:
    story_time = times[index].told
    if story_time is None or story_time.weekday is None:
        return
    for before, earlier in _present_before(times, index):
        if earlier.weekday is None:
            continue
        apart = days_apart(times, before, index)
        days = _exact_days(earlier, story_time, apart)
        if days is not None and (earlier.weekday + days - story_time.weekday) % 7:
            expected_weekday = WEEKDAYS[(earlier.weekday - 1 + days) % 7]
            yield Contradiction("weekday", before, index, f"{_days(days)} later it is {expected_weekday}")
        return


def _exact_days(earlier: ToldTime, story_time: ToldTime, apart: DaySpan | None) -> int | None:
    """The number of days between two scenes, by dates or told spans."""
    if apart is None:
        return None
    if apart.is_exact:
        return apart.min_days
    dated_distance = days_between(earlier, story_time)
    if dated_distance is None or dated_distance.likely is None:
        return None
    is_within_year = apart.max_days is not None and apart.max_days <= _WITHIN_A_YEAR_DAYS
    return dated_distance.likely if dated_distance.is_told or is_within_year else None


def _date_after_days(times: Sequence[SceneTime], index: int) -> Iterator[Contradiction]:
    """A scene that says both its date and how long after the scene before it plays."""
    story_time = times[index].told
    if story_time is None or story_time.shift is None or not story_time.is_dated:
        return
    nearest: Contradiction | None = None
    for before, earlier in _present_before(times, index):
        dated_distance = days_between(earlier, story_time)
        apart = days_apart(times, before, index)
        if dated_distance is None or apart is None or apart.max_days is None or apart.max_days > _WITHIN_A_YEAR_DAYS:
            continue
        if _fits(dated_distance.likely, dated_distance.span, apart) or _fits(
            dated_distance.likely, dated_distance.span, story_time.shift
        ):
            return
        between = _days(apart.min_days) if apart.is_exact else f"{apart.min_days}-{apart.max_days} days"
        nearest = nearest or Contradiction("date", before, index, f"{between} after {earlier.text!r}")
    if nearest is not None:
        yield nearest


def _fits(likely: int | None, dated_day_span: DaySpan, apart: DaySpan) -> bool:
    least = likely if likely is not None else dated_day_span.min_days
    most = likely if likely is not None else dated_day_span.max_days
    return (apart.max_days is None or least <= apart.max_days) and (most is None or apart.min_days <= most)


def _hour_of_same_day(times: Sequence[SceneTime], index: int) -> Iterator[Contradiction]:
    """Report an hour that passed before the previous scene with the same people."""
    if index == 0:
        return
    now, before = times[index], times[index - 1]
    story_time, earlier = now.told, before.told
    if story_time is None or earlier is None or before.is_flashback or earlier.until is not None:
        return
    is_same_day = story_time.shift is not None and story_time.shift.min_days == story_time.shift.max_days == 0
    if not is_same_day or not set(now.participants) & set(before.participants):
        return
    if story_time.minutes is None or earlier.minutes is None or earlier.part in ("midnight", "small_hours"):
        return
    # After midnight a morning of the same date is still to come.
    goes_on = (
        earlier.part == "night"
        and story_time.minutes[0] < 720
        and story_time.part in ("morning", "dawn", "small_hours")
    )
    # Parts of the day run into each other at their ends; hours of the clock do not, but are rarely meant so closely.
    slack = -_SLACK_MINUTES if story_time.is_clock or earlier.is_clock else _SLACK_MINUTES
    if not goes_on and story_time.minutes[1] - slack <= earlier.minutes[0]:
        yield Contradiction("hour", index - 1, index, f"after {earlier.text!r}")


def _lunar_season(story_time: ToldTime, index: int) -> Iterator[Contradiction]:
    if not story_time.is_lunar or story_time.month is None or story_time.season is None:
        return
    middle = 3 * SEASONS.index(story_time.season) + 2
    distance = abs(story_time.month - middle) % 12
    if min(distance, 12 - distance) > 2:
        yield Contradiction("season", index, index, _season_of_month(story_time.month))


def _season_of_month(month: int) -> Season:
    return SEASONS[(month - 1) // 3]


def _opposite_season(times: Sequence[SceneTime], index: int) -> Iterator[Contradiction]:
    story_time = times[index].told
    season = _season(story_time)
    if story_time is None or season is None:
        return
    for before, earlier in _present_before(times, index):
        was = _season(earlier)
        if was is None:
            continue
        apart = days_apart(times, before, index)
        if apart is None or apart.max_days is None or apart.max_days > _SEASON_DAYS:
            return
        if abs(SEASONS.index(was) - SEASONS.index(season)) == 2:
            yield Contradiction("season", before, index, f"{was}, at most {_days(apart.max_days)} before")
        return


def _season(story_time: ToldTime | None) -> Season | None:
    if story_time is None or story_time.season is not None:
        return story_time.season if story_time is not None else None
    return _season_of_month(story_time.month) if story_time.is_lunar and story_time.month is not None else None


def _years_ago(times: Sequence[SceneTime], index: int) -> Iterator[Contradiction]:
    """So many years ago, with the year, while the year of the story's present is told."""
    story_time = times[index].told
    past = story_time.past if story_time is not None else None
    if past is None or past.year is None or past.shift is None or past.shift.max_days is None:
        return
    for before, earlier in _present_before(times, index):
        if earlier.year is None:
            continue
        if earlier.era != past.era:
            return
        slack = _UNSURE_YEARS if earlier.is_about or past.is_about else 1
        longest_years = -past.shift.min_days / 360
        if longest_years + slack < earlier.year - (past.to_year or past.year):
            yield Contradiction("years_ago", before, index, f"the story is in {earlier.year}")
        return


def _present_before(times: Sequence[SceneTime], index: int) -> Iterator[tuple[int, ToldTime]]:
    for before in range(index - 1, max(-1, index - 1 - MAX_SCENES_BACK), -1):
        earlier = times[before]
        if earlier.told is not None and not earlier.is_flashback:
            yield before, earlier.told


def _days(count: int) -> str:
    return "1 day" if count == 1 else f"{count} days"
