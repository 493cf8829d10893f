"""Years that a text tells beside an age, or of a birth."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from novelgen.language.language import story_language, word_list, wording
from novelgen.language.normalise import simplified
from novelgen.language.numerals import CHINESE_NUMERAL, chinese_number, chinese_numbers, english_amount
from novelgen.language.sentences import split_sentences

FROM_NOW = "now"
"""In place of an era: years count from the story's present."""

_FIRST_YEARS = {era: int(year) for era, year in (entry.split("=") for entry in word_list("told_years_eras"))}
"""The year of each reign that real calendars have too; other eras are counted in themselves."""

_SENTENCES_BACK = 2
"""So many sentences before 那年 its year is looked for."""

_CLAUSE_CHARACTERS = 60
"""So near before an English age a year tells its time."""

_ROUND_SHARE = 0.1
"""So much of a number of years ago is it off."""


class Year(NamedTuple):
    """The bounds of a year, in an era or from now."""

    era: str
    low: float
    high: float

    @classmethod
    def counted(cls, era: str, low: float, high: float) -> "Year":
        """Return a year of an era, known reigns as calendar years."""
        first = _FIRST_YEARS.get(era)
        return cls(era, low, high) if first is None else cls("", low + first - 1, high + first - 1)


class AgeTime(NamedTuple):
    """What a text says of the time of an age in it."""

    is_now: bool
    year: Year | None = None


_NOW = AgeTime(is_now=True)
_SOMETIME = AgeTime(is_now=False)

_ERA = (
    r"(?P<era>(?![第过了有经约近每这那又隔])[\u4e00-\u9fff]"
    r"(?![第过了有又经约近几这那前一二三四五六七八九十])[\u4e00-\u9fff])"
)
_YEAR_CHINESE = (
    r"(?:(?:公元)?(?P<year>(?<!\d)(?:1\d{3}|20\d{2})|一[〇零一二三四五六七八九]{3})年(?![前后])"
    rf"|{_ERA}(?P<reign>元|(?!\d{{4}}){CHINESE_NUMERAL})年(?![前后来余多间内之以]))"
)
_BACK_CHINESE = (
    rf"(?<![第数几{CHINESE_NUMERAL[1:-2]}])(?P<back>{CHINESE_NUMERAL})(?P<over>[多余来几])?年(?:以前|之前|前)"
)
_THEN_CHINESE = re.compile(wording("told_years_then_zh"))
_NOW_CHINESE = re.compile(wording("told_years_now_zh"))
_OPENING_END = re.compile("^[^，,]{0,4}[，,]")
"""After a time that opens a sentence: 1921年春天，."""

_STILL_CHINESE = re.compile("已经?|都")
_TIME_CHINESE = re.compile(f"{_YEAR_CHINESE}|{_BACK_CHINESE}|(?:{wording('told_years_moving_zh')})")
TIME_BEFORE_CHINESE = re.compile(
    f"(?:{_YEAR_CHINESE}|{_BACK_CHINESE})?的?(?:{wording('told_years_then_zh')})?(?:[春夏秋冬][天季]?)?$"
)
"""A time between a person and an age: 班主二十年前才十九岁."""

_YEAR_ENGLISH = r"\b(?:in|of|during) (?:the year )?(?P<year>1\d{3}|20\d{2})\b"
_TIME_ENGLISH = re.compile(
    rf"{_YEAR_ENGLISH}"
    r"|(?<![\w-])(?P<back>(?:[a-z]+(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?|\d{1,2}))"
    r" (?P<over>odd )?years (?:ago|before|earlier)\b|\byears (?:later|after|ago|before|earlier)\b",
    re.IGNORECASE,
)
_THAT_YEAR = re.compile(r"\b(?:in )?that (?:same )?year\b", re.IGNORECASE)
_NOW_ENGLISH = re.compile(r"\b(?:now|today|this year|already)\b", re.IGNORECASE)

_YEAR_FIRST = re.sub("[?]P<(era|year|reign)>", r"?P<first_\1>", _YEAR_CHINESE)
_BIRTH_CHINESE = re.compile(
    rf"(?:出生(?:年份|年月|年|日期|于|在)?|生于|生年|生日|生辰|降生于|birth[_ ]?(?:year|date|day)?)"
    rf"\W{{0,2}}{_YEAR_CHINESE}"
    rf"|是?(?:于|在)?{_YEAR_FIRST}"
    r"[^，。！？；、\n]{0,6}?(?:出生|生人|生(?=[，。；的]|$))",
    re.IGNORECASE,
)
_BIRTH_ENGLISH = re.compile(
    r"(?:\s(?:is|was) )?\b(?:born|(?:year|date) of birth|birth(?:[_ ]?(?:year|date|day))?)\b[^.;!?\n]{0,30}?"
    r"\b(?P<year>1\d{3}|20\d{2})\b",
    re.IGNORECASE,
)


def time_of(text: str, start: int, end: int) -> AgeTime:
    """Return the time of an age between two places of a simplified text."""
    begin = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line = text[begin : line_end if line_end >= 0 else len(text)]
    spans = split_sentences(line)
    number = next((at for at, span in enumerate(spans) if span.start <= start - begin < span.end), None)
    if number is None:
        return _NOW
    first = spans[max(0, number - _SENTENCES_BACK)].start
    read = _chinese_time if story_language(text) == "zh" else _english_time
    own = spans[number]
    return read(line[first : own.end], own.start - first, start - begin - first, end - begin - first)


def _chinese_time(text: str, own: int, start: int, end: int) -> AgeTime:
    then = next(reversed(list(_THEN_CHINESE.finditer(text, own, start))), None)
    now = next(reversed(list(_NOW_CHINESE.finditer(text, own, end))), None)
    times = list(_TIME_CHINESE.finditer(text, 0, start))
    if then is not None and (now is None or now.start() < then.start()):
        return AgeTime(is_now=False, year=_year(times[-1] if times else None))
    if now is not None or not times or times[-1].start() < own:
        return _NOW
    if re.search("[，,]", _OPENING_END.sub("", text[times[-1].end() : start])):
        is_still = _STILL_CHINESE.search(text, times[-1].end(), end) or text.startswith("了", end)
        return _NOW if is_still else _SOMETIME
    return AgeTime(is_now=False, year=_year(times[-1]))


def _english_time(text: str, own: int, start: int, end: int) -> AgeTime:
    times = list(_TIME_ENGLISH.finditer(text, own))
    if _NOW_ENGLISH.search(text, own) or len(times) > 1:
        return _NOW
    if not times and _THAT_YEAR.search(text, own):
        earlier = list(_TIME_ENGLISH.finditer(text, 0, own))
        year = _year(earlier[-1]) if earlier else None
        return _NOW if year is None else AgeTime(is_now=False, year=year)
    for match in times:
        is_before = match.start() < start
        between = text[match.end() : start] if is_before else text[end : match.start()]
        most = _CLAUSE_CHARACTERS if is_before else 1
        if len(between) <= most and not re.search(r"[,;:—–]", between.removeprefix(",")):
            return AgeTime(is_now=False, year=_year(match))
    return _NOW


def births(text: str) -> Iterator[tuple[int, int, Year]]:
    """Yield where a text tells a birth, with its year."""
    plain = simplified(text)
    for match in (_BIRTH_CHINESE if story_language(plain) == "zh" else _BIRTH_ENGLISH).finditer(plain):
        year = _year(match)
        if year is not None:
            yield match.start(), match.end(), year


def _year(match: re.Match[str] | None) -> Year | None:
    """Return the year of a time, or None."""
    groups = {name.removeprefix("first_"): text for name, text in (match.groupdict() if match else {}).items() if text}
    if "year" in groups:
        digits = groups["year"]
        value = float(digits) if digits.isdecimal() and digits.isascii() else float(chinese_number(digits))
        return Year("", value, value)
    if "era" in groups:
        value = 1.0 if groups["reign"] == "元" else float(chinese_number(groups["reign"]))
        return Year.counted(groups["era"], value, value)
    return _years_back(groups) if "back" in groups else None


def _years_back(groups: dict[str, str]) -> Year | None:
    back = groups["back"]
    amount = english_amount(back) if back.isascii() else None
    bounds = (amount, amount) if amount is not None else None if back.isascii() else chinese_numbers(back)
    if bounds is None:
        return None
    low, high = bounds
    if "over" in groups:
        low, high = (low - 3 if groups["over"] == "来" else low), high + 9
    slack = low * _ROUND_SHARE
    return Year(FROM_NOW, -high - slack, slack - low)
