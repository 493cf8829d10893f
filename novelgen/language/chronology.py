"""Running days, dates and lived order of scenes from told times."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Literal, NamedTuple

from novelgen.language.numerals import CHINESE_NUMERAL
from novelgen.language.reading import MANY, MONTHS, PART, UNIT, WEEKDAYS, read_story_time, tells_of_past
from novelgen.models.story_time import Certainty, DaySpan, LivedWhen, SceneTime, ToldTime

_LUNAR_MONTH_DAYS = (29, 30)

FIRST_GREGORIAN_YEAR = 1753
"""Before it two calendars ran side by side in English books, and weekdays prove nothing."""


class Distance(NamedTuple):
    """Days between two dates: bounds, the likeliest number and its certainty."""

    span: DaySpan
    likely: int | None
    is_told: bool


def days_between(first: ToldTime, then: ToldTime) -> Distance | None:
    """Return how many days a later told date lies after an earlier told one."""
    if not (first.is_dated and then.is_dated) or first.is_lunar != then.is_lunar:
        return None
    if first.era != then.era and first.era and then.era:
        return None
    both_years = first.year is not None and then.year is not None
    years = (then.year or 0) - (first.year or 0) if both_years else 0
    return _lunar(first, then, years, both_years) if first.is_lunar else _gregorian(first, then, both_years)


def _gregorian(first: ToldTime, then: ToldTime, both_years: bool) -> Distance | None:
    start = calendar_day(first, year=first.year or then.year or 2001)
    end = calendar_day(then, year=then.year or first.year or 2001)
    if start is None or end is None:
        return None
    days = (end - start).days
    if both_years:
        return Distance(DaySpan(min_days=days, max_days=days), days, True)
    if days < 0:
        return Distance(DaySpan(min_days=days + 365, max_days=None), None, False)
    return Distance(DaySpan(min_days=days, max_days=None), days, False)


def _lunar(first: ToldTime, then: ToldTime, years: int, both_years: bool) -> Distance | None:
    months = (then.month or 0) - (first.month or 0) + 12 * years
    days = (then.day or 0) - (first.day or 0)
    if months == 0:
        span = DaySpan(min_days=days, max_days=days if both_years else None)
        return Distance(span, days, both_years) if days >= 0 or both_years else None
    if months < 0:
        return None
    least, most = (months * lunar_month_day + days for lunar_month_day in _LUNAR_MONTH_DAYS)
    # A leap month may stand between, one in about three years.
    return Distance(
        DaySpan(min_days=least, max_days=most + 30 * (1 + months // 30) if both_years else None), None, False
    )


def calendar_day(story_time: ToldTime, *, year: int | None = None) -> date | None:
    """Return a told date as a calendar day, or None if impossible."""
    in_year = year if year is not None else story_time.year
    if story_time.is_lunar or story_time.era or in_year is None or story_time.month is None or story_time.day is None:
        return None
    try:
        return date(in_year, story_time.month, story_time.day)
    except ValueError:
        return None


MAX_OPENING_CHARACTERS = 80
"""A time that opens a scene stands in so many characters, or it is not its opening."""

_MONTH, _WEEKDAY = (f"(?:{'|'.join(names)})" for names in (MONTHS, WEEKDAYS))
_ENGLISH = re.compile(
    rf"""^(?:it\ was\ (?:on\ |in\ |not\ until\ )?|on\ |in\ |at\ |by\ |but\ |and\ |so\ |early\ |late\ |all\ )*(?P<time>
        (?:early\ |late\ )?(?:the\ )?(?:next|following)\ {PART}
      | the\ day\ after\ (?=[a-z]|$) | the\ morrow
      | (?:later\ )?(?:that|the)\ same\ {PART} | (?:later\ )?that\ {PART}
      | {MANY}\ {UNIT}(?:\ or\ two)?\ (?:later|afterwards?|after(?=[,.;]|$)|passed|had\ passed|went\ by)
      | after\ {MANY}\ {UNIT}(?:\ or\ two)?(?=,)
      | (?:{_WEEKDAY}(?:\ (?:morning|afternoon|evening|night))?,?\ (?:the\ )?)?
        (?:\d{{1,2}}(?:st|nd|rd|th)?(?:\ of)?\ {_MONTH}|{_MONTH}\ \d{{1,2}}(?:st|nd|rd|th)?)\b(?:,?\ \d{{4}}\b)?
      | the\ (?:[a-z]+-)?[a-z]+(?:st|nd|rd|th)\ of\ {_MONTH}\b(?:,?\ \d{{4}}\b)?
    )(?![\w'’])""",
    re.IGNORECASE | re.VERBOSE,
)
_CHINESE_PART = "清晨|清早|一早|早上|早晨|天明|天亮|黎明|上午|中午|正午|午后|下午|傍晚|黄昏|入夜|晚上|夜里|深夜|半夜"
_CHINESE = re.compile(
    rf"""^(?:却说|话说|且说|只说|再说|单说|直到|到了|到|等到|及至|至|就在|在)?[，、]?(?P<time>
        (?:[次翌][日晨早晚夜天]|第二[天日]|隔[天日]|转天|[当同][日天晚夜]|是[日夜晚]|这天(?={_CHINESE_PART}))
        (?:{_CHINESE_PART})?
      | (?:又?过了|又过|隔了)(?:[半数几]|{CHINESE_NUMERAL})[余多来]?个?(?:日|天|夜|旬|月|年|星期|礼拜|周)(?![前岁])
      | (?:[半数几]|{CHINESE_NUMERAL})[余多来]?个?(?:日|天|夜|旬|月|年|星期|礼拜|周)(?:之后|以后|过后|后)(?!的)
      | 那年[春夏秋冬][天季]?
      | (?:\d{{4}}年|[\u4e00-\u9fff]{{2}}{CHINESE_NUMERAL}年)?
        (?:正|腊|{CHINESE_NUMERAL})月(?:初?{CHINESE_NUMERAL}[日号]?|[中上下]旬)(?![多余])
    )""",
    re.VERBOSE,
)


def read_opening(text: str) -> ToldTime | None:
    """Read the time with which a scene's text opens, where it clearly opens with one."""
    match = opening_words(text)
    if match is None:
        return None
    story_time = read_story_time(match[0])
    return story_time if story_time.says_something and not story_time.tells_of_past else None


def opening_words(text: str) -> tuple[str, tuple[int, int]] | None:
    """Return the words of time with which a text opens, and where they stand in it."""
    start = len(text) - len(text.lstrip("\ufeff \t\r\n\u3000*#—-"))
    head = text[start : start + MAX_OPENING_CHARACTERS]
    match = _CHINESE.match(head) or _ENGLISH.match(head)
    if match is None:
        return None
    first, last = match.span("time")
    return match["time"], (start + first, start + last)


EVENING_BEGINS = 1080
"""At this minute of a day or later, what comes after with an early hour is the day after."""

_MORNING_ENDS = 720
_YEAR_DAYS = 365
_SEASON_OF_YEARS = 300
_MAX_LIKELY_WIDTH = 12
"""A jump that is known to within so many days gets a likely day; a wider one only its earliest."""

_CERTAINTIES: tuple[Certainty, ...] = ("told", "inferred", "at_least", "unknown")
_ABOUT_YEARS = 2
"""A year that is `about` right may be so many off."""


@dataclass(frozen=True, slots=True)
class TellingScene:
    """A stored scene as far as it bears on when it plays."""

    chapter_index: int
    scene_index: int
    scene_id: str = ""
    title: str = ""
    story_time: str | None = None
    text: str = ""
    is_flashback: bool = False
    participants: Sequence[str] = ()
    location_id: str | None = None
    guessed: Sequence[str] = ()
    """What of it only rules say: participants, location_id."""

    @property
    def place(self) -> tuple[int, int]:
        """Chapter and scene."""
        return (self.chapter_index, self.scene_index)


class _Gap(NamedTuple):
    """Days since the previous scene: bounds, a likely number and its certainty."""

    span: DaySpan
    likely: int
    certainty: Certainty


@dataclass(frozen=True)
class _Now:
    """Where the story stands that is being told: at the end of the scene told last."""

    day: int
    certainty: Certainty
    latest: int | None
    minutes: tuple[int, int] | None = None
    season: str | None = None
    dated: tuple[ToldTime, int, Certainty] | None = None
    weekday: tuple[int, int, Certainty] | None = None
    year: ToldTime | None = None
    has_jumped_years: bool = False
    has_crossed_midnight: bool = False
    events: Mapping[str, tuple[int, Certainty]] = field(default_factory=dict)


def scene_times(scenes: Sequence[TellingScene]) -> list[SceneTime]:
    """Return the times of scenes from their records and openings.

    Nothing is made up: a scene of which nothing is said has no day, and days after it are the earliest that they
    can be.
    """
    now: _Now | None = None
    first_year: ToldTime | None = None
    laid: list[tuple[SceneTime, float | None]] = []
    for order, scene in enumerate(scenes, 1):
        story_time, said_in = _story_time(scene)
        time = SceneTime(
            chapter_index=scene.chapter_index,
            scene_index=scene.scene_index,
            scene_id=scene.scene_id,
            title=scene.title,
            told=story_time,
            said_in=said_in,
            told_order=order,
            location_id=scene.location_id,
            participants=list(scene.participants),
            guessed=list(scene.guessed),
            is_flashback=scene.is_flashback or (story_time is not None and story_time.tells_of_past),
        )
        # Somebody tells it now: the telling has its day, and what is told of another.
        is_told_now = story_time is not None and story_time.tells_of_past and story_time.shift is not None
        if not time.is_flashback or (is_told_now and not scene.is_flashback):
            now = _advance(now, story_time, time)
            first_year = first_year or now.year
        laid.append((time, _lived_at(time, now, first_year)))
    return _in_lived_order(laid)


def _story_time(scene: TellingScene) -> tuple[ToldTime | None, Literal["record", "text"] | None]:
    if scene.story_time and scene.story_time.strip():
        story_time = read_story_time(scene.story_time)
        if scene.is_flashback and story_time.past is None and not tells_of_past(scene.story_time):
            story_time = ToldTime(
                text=story_time.text, tells_of_past=True, past=story_time.model_copy(update={"shift": None})
            )
        return story_time, "record"
    opening = None if scene.is_flashback else read_opening(scene.text)
    return (opening, "text") if opening is not None else (None, None)


def _advance(now: _Now | None, story_time: ToldTime | None, time: SceneTime) -> _Now:
    """Write the day of a scene of the story's present, and return where the story stands after it."""
    if now is None:
        moment = _Now(day=1, certainty="told", latest=1)
        time.story_day, time.certainty = 1, "told"
    else:
        gap = _gap(now, story_time)
        certainty = max(now.certainty, gap.certainty, key=_CERTAINTIES.index)
        if gap.certainty == "unknown":
            certainty = "at_least"
        moment = replace(now, day=now.day + gap.likely, certainty=certainty, latest=_added(now.latest, gap.span))
        moment = _pinned(moment, now, story_time)
        if (countdown := _counted_down(now, story_time)) is not None:
            day, certainty = countdown
            is_exact = _is_sure(certainty) and _is_sure(now.certainty)
            since = day - now.day
            gap = _Gap(DaySpan(min_days=since, max_days=since if is_exact else None), since, certainty)
            moment = replace(moment, day=day, certainty=certainty, latest=day if _is_sure(certainty) else None)
        time.certainty = "unknown" if gap.certainty == "unknown" else moment.certainty
        time.story_day = moment.day if time.certainty != "unknown" else None
        if gap.span != DaySpan(min_days=0):
            time.since_previous = gap.span
        if gap.span.max_days is None or gap.span.max_days > _SEASON_OF_YEARS:
            is_years = (
                story_time is not None and story_time.shift is not None and gap.span.min_days > _SEASON_OF_YEARS // 2
            )
            moment = replace(moment, has_jumped_years=now.has_jumped_years or is_years)
    moment = replace(moment, has_crossed_midnight=False)
    if story_time is None:
        return replace(moment, minutes=None)
    moment = _remembering(moment, story_time)
    return _end_moment(moment, story_time, time)


def _gap(now: _Now, story_time: ToldTime | None) -> _Gap:
    if story_time is None or not story_time.says_something:
        return _Gap(DaySpan(min_days=0), 0, "unknown")
    if story_time.shift is not None:
        return _told_gap(now, story_time, story_time.shift)
    if story_time.event.casefold() in now.events:
        # What days are counted to is over: it tells of before.
        return _Gap(DaySpan(min_days=0), 0, "unknown")
    dated_distance = days_between(now.dated[0], story_time) if now.dated else None
    if dated_distance is not None and now.dated is not None:
        since = now.day - now.dated[1]
        span = DaySpan(min_days=max(0, dated_distance.span.min_days - since))
        if dated_distance.likely is not None and (dated_distance.is_told or dated_distance.likely >= since):
            exact = dated_distance.likely - since
            if dated_distance.is_told and _is_certain(now):
                span = DaySpan(min_days=exact, max_days=exact)
            return _Gap(span, exact, "told" if dated_distance.is_told else "inferred")
        return _Gap(span, span.min_days, "at_least")
    if story_time.weekday is not None and now.weekday is not None and not story_time.is_dated and _is_certain(now):
        days = (story_time.weekday - now.weekday[0] - (now.day - now.weekday[1])) % 7
        return _Gap(DaySpan(min_days=0), days, "inferred")
    return _gap_by_hours(now, story_time)


def _told_gap(now: _Now, story_time: ToldTime, shift: DaySpan) -> _Gap:
    if shift.max_days in (0, 1) and shift.min_days == 0:
        # The night goes on: after midnight it is the next day of the calendar.
        if _comes_early_after_evening(now, story_time):
            return _Gap(DaySpan(min_days=0, max_days=1), 1, "inferred")
        return _Gap(shift, 0, "told" if shift.is_exact else "inferred")
    if shift.min_days == shift.max_days == 1 and now.has_crossed_midnight:
        # The scene before went on into the next day, which may be the very day that is meant.
        ends_early = now.minutes is not None and now.minutes[1] <= _MORNING_ENDS
        return _Gap(DaySpan(min_days=0, max_days=1), 0, "inferred" if ends_early else "at_least")
    if shift.is_exact:
        return _Gap(shift, shift.min_days, "told")
    if shift.max_days is not None and shift.max_days - shift.min_days <= _MAX_LIKELY_WIDTH:
        return _Gap(shift, (shift.min_days + shift.max_days) // 2, "inferred")
    return _Gap(shift, shift.min_days, "at_least")


def _gap_by_hours(now: _Now, story_time: ToldTime) -> _Gap:
    has_new_season = story_time.season is not None and now.season not in (None, story_time.season)
    if has_new_season or story_time.minutes is None or now.minutes is None:
        least = int(has_new_season)
        return _Gap(DaySpan(min_days=least), least, "at_least")
    if _comes_early_after_evening(now, story_time):
        return _Gap(DaySpan(min_days=1), 1, "inferred")
    if story_time.minutes[1] < now.minutes[0]:
        return _Gap(DaySpan(min_days=1), 1, "at_least")
    is_loose = story_time.year is not None or story_time.month is not None or story_time.season is not None
    return _Gap(DaySpan(min_days=0), 0, "at_least" if is_loose else "inferred")


def _comes_early_after_evening(now: _Now, story_time: ToldTime) -> bool:
    if now.minutes is None or story_time.minutes is None:
        return False
    return now.minutes[0] >= EVENING_BEGINS and story_time.minutes[1] <= _MORNING_ENDS


def _pinned(moment: _Now, before: _Now, story_time: ToldTime | None) -> _Now:
    """Fix the days between two full dates."""
    if story_time is None or before.dated is None:
        return moment
    dated_distance = days_between(before.dated[0], story_time)
    if (
        dated_distance is None
        or not dated_distance.is_told
        or dated_distance.likely is None
        or story_time.shift is not None
    ):
        return moment
    day = before.dated[1] + dated_distance.likely
    return replace(moment, day=day, certainty=before.dated[2], latest=day if _is_sure(before.dated[2]) else None)


def _counted_down(now: _Now, story_time: ToldTime | None) -> tuple[int, Certainty] | None:
    """Return the day of a scene counted towards a known event."""
    if story_time is None:
        return None
    text, event = story_time.text.casefold(), story_time.event.casefold()
    if not event:
        # On the day itself it is merely named: `Orla's Night, noon`.
        occasion_names = [
            event for event in now.events if re.match(rf"{re.escape(event)}(?! after|[a-z'’]|[之的前后])", text)
        ]
        event = max(occasion_names, key=len, default="")
    if event not in now.events:
        return None
    day, certainty = now.events[event]
    day -= story_time.days_before or 0
    return (day, certainty) if day >= now.day else None


def _remembering(now: _Now, story_time: ToldTime) -> _Now:
    """Keep a scene's date, weekday, season and events for later scenes."""
    if story_time.event and story_time.days_before is not None and story_time.event.casefold() not in now.events:
        coming = {story_time.event.casefold(): (now.day + story_time.days_before, now.certainty)}
        now = replace(now, events={**now.events, **coming})
    if story_time.is_dated:
        now = replace(now, dated=(story_time, now.day, now.certainty))
    if story_time.weekday is not None:
        now = replace(now, weekday=(story_time.weekday, now.day, now.certainty))
    if story_time.year is not None and not story_time.tells_of_past:
        now = replace(now, year=story_time)
    return replace(now, season=story_time.season or now.season, minutes=story_time.minutes)


def _end_moment(moment: _Now, story_time: ToldTime, time: SceneTime) -> _Now:
    end = story_time.until
    if end is None:
        return moment
    moment = replace(moment, season=end.season or moment.season)
    days: DaySpan | None = end.shift
    if days is None and end.minutes and story_time.minutes and end.minutes[1] < story_time.minutes[0]:
        days = DaySpan(min_days=1, max_days=1)
    minutes = end.minutes or moment.minutes
    if days is None:
        return replace(moment, minutes=minutes, certainty=moment.certainty if end.minutes else "at_least")
    ended_moment = replace(moment, day=moment.day + days.min_days, latest=_added(moment.latest, days), minutes=minutes)
    if days.min_days > 0:
        ended_moment = replace(ended_moment, has_crossed_midnight=True)
        time.until_day = ended_moment.day if time.story_day is not None else None
    return ended_moment if days.is_exact else replace(ended_moment, certainty="at_least")


def _lived_at(time: SceneTime, now: _Now | None, first_year: ToldTime | None) -> float | None:
    """Return the sort position in lived order, None without a sign."""
    if not time.is_flashback:
        time.lived = "now" if now is None or now.day >= 1 else "before_story"
        return None if now is None else float(time.story_day or now.day)
    past = time.told.past if time.told is not None else None
    if past is None:
        return None
    time.lived, at = _lived_then(past, now, first_year)
    if time.lived == "in_story" and at is not None and time.told is not None and time.told.shift is None:
        time.story_day, time.certainty = int(at), now.certainty if now is not None else "unknown"
    return at


def _lived_then(past: ToldTime, now: _Now | None, first_year: ToldTime | None) -> tuple[LivedWhen, float | None]:
    if past.shift is not None and now is not None:
        back = past.shift
        latest, middle = back.max_days or 0, now.day + (back.min_days + (back.max_days or 0)) / 2
        if back.is_exact and _is_sure(now.certainty):
            return ("in_story" if middle >= 1 else "before_story"), middle
        is_before = now.latest is not None and now.latest + latest < 1
        if is_before or (latest <= -_SEASON_OF_YEARS and not now.has_jumped_years):
            return "before_story", middle
        return "unknown", None
    if past.year is not None and first_year is not None and first_year.year is not None and past.era == first_year.era:
        slack = _ABOUT_YEARS if past.is_about or first_year.is_about else 0
        if (past.to_year or past.year) < first_year.year - slack:
            month = (past.month or 1) - 1
            return "before_story", (past.year - first_year.year) * _YEAR_DAYS + month * 30.0 + (past.day or 1)
        return "unknown", None
    if now is not None and now.dated is not None and _is_sure(now.dated[2]):
        dated_distance = days_between(past, now.dated[0])
        if dated_distance is not None and dated_distance.is_told and dated_distance.likely is not None:
            day = now.dated[1] - dated_distance.likely
            return ("in_story" if day >= 1 else "before_story"), float(day)
    return "unknown", None


def _in_lived_order(laid: Sequence[tuple[SceneTime, float | None]]) -> list[SceneTime]:
    placed_times = sorted((at, time.told_order, time) for time, at in laid if at is not None)
    for order, (_, _, time) in enumerate(placed_times, 1):
        time.lived_order = order
    return [time for time, _ in laid]


def days_apart(times: Sequence[SceneTime], first: int, then: int) -> DaySpan | None:
    """Return how many days lie between two scenes of the story's present, by index in the order told."""
    if times[first].is_flashback or times[then].is_flashback:
        return None
    least, most = 0, 0
    unbounded = False
    for scene_time in times[first + 1 : then + 1]:
        if scene_time.is_flashback and scene_time.since_previous is None:
            continue
        span = scene_time.since_previous or DaySpan(min_days=0)
        least += span.min_days
        unbounded = unbounded or span.max_days is None
        most += span.max_days or 0
        if scene_time is not times[then] and scene_time.told is not None and scene_time.told.until is not None:
            lasted = scene_time.told.until.shift or DaySpan(min_days=0, max_days=1)
            least, most = least + lasted.min_days, most + (lasted.max_days or 0)
            unbounded = unbounded or lasted.max_days is None
    return DaySpan(min_days=least, max_days=None if unbounded else most)


def _added(day: int | None, span: DaySpan) -> int | None:
    return None if day is None or span.max_days is None else day + span.max_days


def _is_certain(now: _Now) -> bool:
    return now.certainty == "told"


def _is_sure(certainty: Certainty) -> bool:
    return certainty in ("told", "inferred")
