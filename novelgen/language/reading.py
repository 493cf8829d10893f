"""Reading when something plays out of a few words: dates, days since the scene before, seasons, hours, the past.

Written here: of 22 phrases from novels, Chinese and English, dateparser (1.5, 10 MB with what it needs) read 7, filled
what they leave open from today's date, and took `sat` for a Saturday; calendars such as lunardate answer which day of
ours a lunar one was, which no rule of a story asks.
"""

import re
from typing import Any

from novelgen.language.language import patterns
from novelgen.language.numerals import (
    CHINESE_NUMERAL,
    ENGLISH_NUMERAL,
    ENGLISH_ORDINALS,
    chinese_number,
    chinese_numbers,
    english_number,
    read_hours,
)
from novelgen.models.story_time import SEASONS, DaySpan, Season, ToldTime

_HOUR = (
    r"(?:\w+\s+)?(?:noon|midnight|midday|dawn|dusk|day(?:break|light)?|sun(?:rise|set)|dark|lunch|dinner|supper"
    r"|breakfast)"
)
_CLOCK = rf"(?:half|a quarter|\d|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|{_HOUR})\b"
_YEARS_BACK = r"years? (?:ago|earlier|before)"

PAST = re.compile(
    r"\b(?:flash ?back|told|tells|recall(?:s|ed|ing)?|remember(?:s|ed|ing)?|memor(?:y|ies)|past(?! "
    rf"{_CLOCK})(?<!half past)(?<!half-past)(?<!quarter past)|{_YEARS_BACK}|earlier(?! (?:that|this|the same))"
    rf"|before(?! {_CLOCK})|prologue|events|yesterday|last (?:night|year|week|month)|ago)\b"
    r"|回忆|往事|当年|昔年|昔日|从前|以前|年前|月前|日前|天前|(?<![亮明黑晚午更时刻])之前|追述|倒叙|旧事|自述|昨[日夜晚天]",
    re.IGNORECASE,
)
"""Words for what was; not `before midnight`, nor `half past six`, which are hours of now."""

UNREAL = re.compile(r"\b(?:dreams?|visions?|ghosts?|s[ée]ance)\b|梦|幻|亡魂|鬼魂|地府|前世", re.IGNORECASE)
"""Words for what does not happen as the rest does."""


_EVENT = (
    r"(?!the (?:events?|story|book|novel|beginning|start|opening|present)\b)"
    r"(?:(?:the|his|her|their|my|our) [\w’'-]+|(?-i:[A-Z])[\w’'-]+)(?: (?-i:[A-Z])[\w’'-]+)*"
)
_COUNTDOWN = re.compile(
    rf"\b(?P<number>{ENGLISH_NUMERAL}) (?P<unit>days?|nights?|weeks?|fortnights?) before (?P<event>{_EVENT})"
    rf"|\bthe (?:day|night|morning|evening|afternoon|eve) before (?P<eve>{_EVENT})"
    rf"|[在离距]?(?P<event2>[\u4e00-\u9fff]{{2,8}}?)(?<![以从目先之])前(?P<number2>{CHINESE_NUMERAL})个?(?P<unit2>日|天|夜|周|星期|礼拜)",
    re.IGNORECASE,
)
"""So many days before something that is to come: `nine days before Orla's Night`, `开闸夜前九天`."""


def tells_of_past(story_time: str | None) -> bool:
    """Return whether a time lies in the past, or tells of it."""
    return PAST.search(_COUNTDOWN.sub("", story_time or "")) is not None


def is_out_of_time(story_time: str | None) -> bool:
    """Return whether a scene is out of time: the past, a dream, a ghost."""
    return tells_of_past(story_time) or UNREAL.search(story_time or "") is not None


MAX_CHARACTERS = 200
"""No more of a story time is read; records say it in a few words."""

MAX_COUNT = 100_000
"""So many years or days at most; more is no time of a story."""

MONTHS = "january february march april may june july august september october november december".split()
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTH = rf"(?P<name>{'|'.join(MONTHS)})"
_ORDINAL_WORDS = ENGLISH_ORDINALS[:31]
_DAY = rf"(?P<day>(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?|{'|'.join(reversed(_ORDINAL_WORDS))})\b"
_YEAR = r"(?P<year>1\d{3}|20\d{2}|21\d{2})\b"
_ENGLISH_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?P<year>1\d{3}|2[01]\d{2})-(?P<number>0\d|1[0-2])-(?P<day>[0-2]\d|3[01])\b",
        rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}(?:(?:,\s*|\s+(?:of\s+)?){_YEAR})?",
        rf"\b(?:the\s+)?{_DAY}\s+(?:day\s+)?(?:of\s+)?{_MONTH}\b(?:,?\s+{_YEAR})?",
        rf"\b(?:(?:early|late|mid|in|of|end of|beginning of)[\s-]+)?{_MONTH},?\s+{_YEAR}",
    )
)
_LONE_MONTH = re.compile(
    r"\b(?:(?:[Ii]n|[Ee]arly|[Ll]ate|[Mm]id|[Oo]f)[\s-]+(?:March|May)"
    r"|January|February|April|June|July|August|September|October|November|December)\b"
)
_FOUR_DIGITS = r"(?:1\d{3}|20\d{2}|21\d{2})"
_YEARS = re.compile(
    rf"(?P<about>\b(?:about|around|circa|c\.)\s*)?\b(?P<year>{_FOUR_DIGITS})"
    rf"(?:(?P<decade>s)\b|\s*(?:[-–—]|to|or|and)\s*(?P<to>{_FOUR_DIGITS}))?",
    re.IGNORECASE,
)
_FEASTS = {re.compile(words): day.split("-") for day, words in patterns("feasts").items()}
_SEASON_WORDS: dict[Season, str] = {season: patterns("seasons")[season] for season in SEASONS}
_CHINESE_YEAR = re.compile(r"(?P<year>\d{4}|[一二][〇零一二三四五六七八九]{3})年(?![前后])")
_REIGN = re.compile(
    r"(?P<era>(?![第过了有经约近每这那])[\u4e00-\u9fff]"
    r"(?![第过了有又经约近几这那一二三四五六七八九十])[\u4e00-\u9fff])"
    rf"(?P<year>元|{CHINESE_NUMERAL})年(?![前后来余多间内之以])"
)
_STEM_YEAR = re.compile(r"[甲乙丙丁戊己庚辛壬癸][子丑寅卯辰巳午未申酉戌亥]年")
_CHINESE_MONTH = re.compile(
    rf"(?P<month>正|腊|冬|{CHINESE_NUMERAL})月(?![后余前有来间内之以])"
    rf"(?:初?(?P<day>{CHINESE_NUMERAL})?[日号]?|(?P<moon>[望朔晦]))?(?![后前余多]|之后|以后)"
)
_FIRST_TEN = re.compile(r"初([一二三四五六七八九十])(?![更年])")
_LUNAR = re.compile(r"农历|阴历|旧历|正月|腊月|冬月|闰|初[一二三四五六七八九十](?!更)|月[望朔晦]|望[日后]|朔日")
_CHINESE_WEEKDAY = re.compile(r"(?:星期|礼拜|周)([一二三四五六日天末])(?![年岁])")
PART = "(?:day|morning|afternoon|evening|night|noon)"
UNIT = "(?:days?|nights?|weeks?|fortnights?|months?|years?)"
MANY = rf"(?:some|several|a[ ]few|a[ ]couple[ ]of|many|{ENGLISH_NUMERAL}(?:[ ](?:or|to)[ ]{ENGLISH_NUMERAL})?)"
"""With its blanks in brackets, since it stands in a verbose pattern, too."""
_ZH_UNIT = "(?:日|天|夜|旬|月|年|星期|礼拜|周)"
_ZH_ALONE = "(?<![\u4e00-\u9fff])"
"""Before a number of days: a month after somebody's leaving is none after the scene before."""
_ZH_MANY = f"(?:半|数|几|多|若干|{CHINESE_NUMERAL})"
_SAME = re.compile(
    rf"\b(?:(?:the\s+)?same\s+(?:[\w-]+\s+)?(?:date|hour|moment|{PART})|(?:later\s+)?that\s+(?:same\s+)?{PART}"
    rf"|{PART} of the same day|later in the day)\b"
    r"|[同当即是本此][日天晚夜]|同一(?:[天日]|时[辰刻间])|这[天日晚夜]|那[晚夜]",
    re.IGNORECASE,
)
_AT_ONCE = re.compile(
    r"\b(?:(?:a )?(?:few )?moments? (?:later|after)|immediately|meanwhile|continu(?:ing|ous|es)|directly after"
    r"|at the same time|(?:soon|shortly) after(?:wards)?"
    rf"|(?:half an|{ENGLISH_NUMERAL}|some|several|a few) (?:hours?|minutes?) (?:later|after(?:wards)?))\b"
    rf"|承前|承上|紧接|随即|片刻|少顷|须臾|旋即|同时|一会儿|顷刻|{_ZH_ALONE}(?:{CHINESE_NUMERAL}|半)个?(?:时辰|小时|钟头|分钟|刻钟)(?:后|之后|以后)",
    re.IGNORECASE,
)
_NEXT = re.compile(
    rf"\b(?:(?:the\s+)?(?:next|following)\s+{PART}|the day after|the morrow|tomorrow)\b"
    r"|[次翌](?:日|晨|早|晚|夜|天)|第二[天日]|[隔转][天日]|明[日早晨]|来日",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    rf"多时|多日|许久|良久|日久|久后|(?<!\d)数[日月年]|经(?={_ZH_MANY}个?{_ZH_UNIT})"
    r"|\b(?:a|some) (?:long )?(?:time|while)\b|\blong after\b",
    re.IGNORECASE,
)
"""Words after which nobody can say how long it was."""

_NTH_DAY = re.compile(
    rf"第({CHINESE_NUMERAL})[日天夜]|\b(?:the\s+)?({'|'.join(reversed(_ORDINAL_WORDS))}) (?:day|night|morning)\b",
    re.IGNORECASE,
)
_VAGUE_ENGLISH = {"some": (2, None), "several": (2, None), "a few": (2, 20), "a couple of": (2, 3), "many": (3, None)}
_LATER = re.compile(
    rf"\b(?:after\s+)?(?P<number>{MANY})?\s*(?P<unit>{UNIT})(?P<or_two> or two)?"
    r"\s+(?P<way>later|afterwards|after(?=\s*(?:[,.;]|$))|on|had passed|passed|ago|earlier|before)\b"
    rf"|\bafter\s+(?P<number2>{MANY})\s*(?P<unit2>{UNIT})(?P<or_two2> or two)?\b",
    re.IGNORECASE,
)
_CHINESE_LATER = re.compile(
    rf"{_ZH_ALONE}(?:又?过了?|又|隔了?|住了?|约|大约)?(?P<number>{_ZH_MANY})(?P<more>[余多来几])?个?(?P<unit>{_ZH_UNIT})(?P<more2>[余多])?"
    r"(?P<way>之后|以后|过后|后|过去|之前|以前|前)"
    rf"|(?:又?过了|又过|隔了|住了)(?P<number2>{_ZH_MANY})(?P<more3>[余多来几])?个?(?P<unit2>{_ZH_UNIT})"
    r"|(?P<month>月余)[之以]?后"
)
_YESTERDAY = re.compile(
    rf"\b(?:yesterday|last night|the {PART} before|the previous {PART})\b|昨[日天夜晚]|前一[天日夜晚]", re.IGNORECASE
)

_UNIT_DAYS = {
    "day": (1, 1),
    "night": (1, 1),
    "week": (7, 7),
    "fortnight": (14, 14),
    "month": (28, 31),
    "year": (354, 384),
}
_CHINESE_UNITS = {
    "日": "day",
    "天": "day",
    "夜": "night",
    "星期": "week",
    "礼拜": "week",
    "周": "week",
    "月": "month",
    "年": "year",
}

_FRAME = re.compile(
    r"^\s*(?:as )?(?:told|tells|recalled|recounted|narrated|remembered|回忆|追述|自述|讲述)", re.IGNORECASE
)
_APART = re.compile(r"[;；]")
_TO = re.compile(
    r"(?<![\d年])\s*(?:至|直到|到)\s*|(?<!quarter)\s+(?:to|until|till|through)\s+"
    r"|,?\s+(?:and|then)\s+(?=(?:the\s+)?(?:next|following))|,\s*(?=(?:the\s+)?(?:next|following)\b)",
    re.IGNORECASE,
)


def read_story_time(text: str) -> ToldTime:
    """Read when something plays out of a few words of a record, in Chinese or English."""
    plain = " ".join(text[:MAX_CHARACTERS].split())
    head, _, rest = _cut(plain, _APART)
    if rest and _FRAME.search(rest) and not _FRAME.search(head):
        head, rest = f"told {head}", re.sub(_FRAME, "", rest)
    if _FRAME.search(head):
        story_time = _read_span(re.sub(_FRAME, "", head))
        if story_time.shift is not None:
            past = _read_past(rest) if rest else None
            return story_time.model_copy(update={"text": text, "tells_of_past": True, "past": past})
    if tells_of_past(plain):
        return ToldTime(text=text, tells_of_past=True, past=_read_past(plain))
    return _read_span(plain).model_copy(update={"text": text})


def _cut(text: str, at: re.Pattern[str]) -> tuple[str, str, str]:
    match = at.search(text)
    return (text[: match.start()], match[0], text[match.end() :]) if match else (text, "", "")


def _read_past(text: str) -> ToldTime | None:
    story_time = _read_one(text, is_past=True)
    years = sorted(int(match["year"]) for match in _YEARS.finditer(text))
    if len(years) > 1 and story_time.to_year is None and not story_time.era:
        story_time = story_time.model_copy(update={"year": years[0], "to_year": years[-1]})
    return story_time if story_time.says_something else None


def _read_span(text: str) -> ToldTime:
    """Read a time or a span, ignoring halves without meaning."""
    head, _, rest = _cut(text, _TO)
    if not (head and rest):
        return _read_one(text)
    start, end = _read_one(head), _read_one(rest)
    ordinal = _NTH_DAY.search(rest)
    if not (start.says_something and (end.says_something or ordinal)) or (start.year and end.year and not end.month):
        return _read_one(text)
    if start.shift is None and end.shift is not None and end.shift.max_days == 0:
        start = start.model_copy(update={"shift": end.shift})
    if start.shift is not None and end.shift is None and ordinal:
        days = _ordinal(ordinal) - 1 - start.shift.min_days
        end = end.model_copy(update={"shift": _days(days, days) if days > 0 else None})
    return start.model_copy(update={"until": end})


def _read_one(text: str, *, is_past: bool = False) -> ToldTime:
    hours = read_hours(text)
    parsed_fields: dict[str, Any] = {"text": text}
    if hours is not None:
        parsed_fields |= {"part": hours.part, "minutes": hours.minutes, "is_clock": hours.is_clock}
    parsed_fields |= _date(text)
    parsed_fields["season"] = next(
        (season for season, words in _SEASON_WORDS.items() if re.search(words, text, re.IGNORECASE)), None
    )
    parsed_fields["weekday"] = _weekday(text)
    parsed_fields["shift"] = _back(text) if is_past else _shift(text)
    return ToldTime(**parsed_fields, **({} if is_past else _countdown(text)))


def _countdown(text: str) -> dict[str, Any]:
    match = _COUNTDOWN.search(text)
    if match is None:
        return {}
    unit = match["unit"] or match["unit2"] or "day"
    days, _ = _UNIT_DAYS[_CHINESE_UNITS.get(unit, unit.casefold().rstrip("s"))]
    if match["eve"]:
        return {"event": match["eve"], "days_before": 1}
    number = english_number(match["number"]) if match["number"] else chinese_number(match["number2"])
    return {"event": match["event"] or match["event2"], "days_before": min(number, MAX_COUNT) * days}


def _date(text: str) -> dict[str, Any]:
    for feast, (feast_month, feast_day, *lunar) in _FEASTS.items():
        if feast.search(text):
            return {"month": int(feast_month), "day": int(feast_day), "is_lunar": bool(lunar), **_year(text)}
    if re.search(r"[年月日号初]", text):
        return _chinese_date(text)
    for pattern in _ENGLISH_DATES:
        match = pattern.search(text)
        if match is not None:
            return _english_date(match.groupdict(), text)
    lone = _LONE_MONTH.search(text)
    month = {"month": MONTHS.index(lone[0].split()[-1].split("-")[-1].casefold()) + 1} if lone else {}
    return month | _year(text)


def _english_date(date_parts: dict[str, str | None], text: str) -> dict[str, Any]:
    parsed_fields: dict[str, Any] = {
        "month": int(date_parts.get("number") or 0) or MONTHS.index((date_parts.get("name") or "").casefold()) + 1
    }
    if day := date_parts.get("day"):
        digits = re.sub(r"\D", "", day)
        parsed_fields["day"] = int(digits) if digits else _ORDINAL_WORDS.index(day.casefold()) + 1
    return parsed_fields | ({"year": int(year)} if (year := date_parts.get("year")) else _year(text))


def _year(text: str) -> dict[str, Any]:
    match = _YEARS.search(text)
    if match is None:
        return {}
    year = int(match["year"])
    last = year + 9 if match["decade"] else int(match["to"]) if match["to"] else None
    return {"year": year, "to_year": last, "is_about": bool(match["about"])}


def _chinese_date(text: str) -> dict[str, Any]:
    parsed_fields: dict[str, Any] = {}
    if match := _CHINESE_YEAR.search(text):
        digits = match["year"]
        parsed_fields["year"] = int(digits) if digits.isdecimal() else chinese_number(digits)
    elif match := _REIGN.search(text):
        parsed_fields |= {"era": match["era"], "year": 1 if match["year"] == "元" else chinese_number(match["year"])}
    elif match := _STEM_YEAR.search(text):
        parsed_fields["era"] = match[0][:2]
    elif results := _year(text):
        parsed_fields |= results
    is_lunar = bool(parsed_fields.get("era") or _LUNAR.search(text))
    match = next((match for match in _CHINESE_MONTH.finditer(text) if not text[: match.start()].endswith("个")), None)
    if match:
        month = {"正": 1, "腊": 12, "冬": 11}.get(match["month"]) or chinese_number(match["month"])
        if 1 <= month <= 12:
            parsed_fields["month"] = month
            if match["day"] and 1 <= chinese_number(match["day"]) <= 31:
                parsed_fields["day"] = chinese_number(match["day"])
            elif match["moon"] and not text[match.end() :].startswith(("后", "前")):
                parsed_fields["day"] = {"望": 15, "朔": 1, "晦": 30}[match["moon"]]
    elif match := _FIRST_TEN.search(text):
        parsed_fields["day"] = chinese_number(match[1])
    return parsed_fields | (
        {"is_lunar": True} if is_lunar and ("month" in parsed_fields or "day" in parsed_fields) else {}
    )


def _weekday(text: str) -> int | None:
    for number, name in enumerate(WEEKDAYS, 1):
        if re.search(rf"\b{name}\b", text, re.IGNORECASE):
            return number
    match = _CHINESE_WEEKDAY.search(text)
    if match is None or match[1] == "末":
        return None
    return 7 if match[1] in "日天" else "一二三四五六".index(match[1]) + 1


def _shift(text: str) -> DaySpan | None:
    span = _told_shift(text)
    if span is not None and _GOES_ON.search(text):
        return _days(span.min_days, None)
    return span


def _told_shift(text: str) -> DaySpan | None:
    if _NEXT.search(text):
        return _days(1, 1)
    if (match := _CHINESE_LATER.search(text)) and not (match["way"] or "").endswith("前"):
        return _chinese_span(match)
    if (match := _LATER.search(text)) and (match["way"] or "").casefold() not in ("ago", "earlier", "before"):
        return _english_span(match)
    if _SAME.search(text):
        return _days(0, 0)
    if _AT_ONCE.search(text):
        return _days(0, 1)
    return None


def _back(text: str) -> DaySpan | None:
    """How many days ago, as a negative shift from the longest to the shortest."""
    if _YESTERDAY.search(text):
        return _days(-1, -1)
    span: DaySpan | None = None
    if (match := _CHINESE_LATER.search(text)) and (match["way"] or "").endswith("前"):
        span = _chinese_span(match)
    elif (match := _LATER.search(text)) and (match["way"] or "").casefold() in ("ago", "earlier", "before"):
        span = _english_span(match)
    if span is None:
        return None
    longest = span.max_days if span.max_days is not None else 1000 * span.min_days
    return _days(-longest, -span.min_days)


def _english_span(match: re.Match[str]) -> DaySpan | None:
    number = match["number"] or match["number2"]
    unit = (match["unit"] or match["unit2"]).casefold()
    least, most = _UNIT_DAYS[unit.rstrip("s")]
    if number is None:
        return _days(2 * least, None) if unit.endswith("s") else None
    if number.casefold() in _VAGUE_ENGLISH:
        low, high = _VAGUE_ENGLISH[number.casefold()]
        return _days(low * least, None if high is None else high * most)
    counts = [english_number(text) for text in re.split(" or | to ", number.casefold())]
    if match["or_two"] or match["or_two2"]:
        counts.append(2)
    return _from_to(min(counts), max(counts), least, most)


def _chinese_span(match: re.Match[str]) -> DaySpan:
    if match["month"]:
        return _days(28, 60)
    number, unit = match["number"] or match["number2"], match["unit"] or match["unit2"]
    least, most = (10, 10) if unit == "旬" else _UNIT_DAYS[_CHINESE_UNITS[unit]]
    if number == "半" and most == 1:
        return _days(0, 1)
    if number == "半":
        return _days(least // 2 - 2, most // 2 + 2)
    if number in ("数", "几", "多", "若干"):
        return _days(2 * least, None)
    fewest, greatest = chinese_numbers(number) or [chinese_number(number)] * 2
    span = _from_to(int(fewest), int(greatest), least, most)
    is_more = match["more"] or match["more2"] or match["more3"]
    return _days(span.min_days, None if span.max_days is None else 2 * span.max_days) if is_more else span


def _count_span(number: int, least: int, most: int) -> DaySpan:
    """A number of units, inexact for round weeks and longer."""
    number = min(number, MAX_COUNT)
    slack = 0 if most <= 1 else most * max(1, number // 10) // 4 if most > 14 else number
    return _days(max(0, number * least - slack), number * most + slack)


def _from_to(fewest: int, greatest: int, least: int, most: int) -> DaySpan:
    return _days(_count_span(fewest, least, most).min_days, _count_span(greatest, least, most).max_days)


def _ordinal(match: re.Match[str]) -> int:
    return chinese_number(match[1]) if match[1] else _ORDINAL_WORDS.index(match[2].casefold()) + 1


def _days(least: int, most: int | None) -> DaySpan:
    return DaySpan(min_days=least, max_days=most)
