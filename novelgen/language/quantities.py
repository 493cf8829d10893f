"""Numbers with their units in English and Chinese prose: three hours, eight-and-twenty days, 五百余年, 八百里."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from novelgen.language.language import CJK_RANGES, StoryLanguage, word_list, wording
from novelgen.language.normalise import simplified
from novelgen.language.numerals import CHINESE_SCALES, ENGLISH_SCALES, ENGLISH_VALUES, chinese_number, english_amount

Dimension = Literal["duration", "length", "weight", "money", "age", "clock"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit, at the characters [start, end) of a text."""

    start: int
    end: int
    dimension: Dimension
    low: float
    high: float
    unit: str


def _units(name: str) -> dict[str, tuple[Dimension, float]]:
    """Units by name, each with its dimension and its size in that of the list: `duration second=1 minute=60`."""
    units: dict[str, tuple[Dimension, float]] = {}
    dimension: Any = ""
    for entry in word_list(name):
        unit, sign, size = entry.partition("=")
        if sign:
            units[unit] = (dimension, float(size))
        else:
            dimension = unit
    return units


_ENGLISH_UNITS = _units("quantities_english")

_CURRENCY = {"guinea": "pound", "crown": "pound", "shilling": "pound", "sterling": "pound"}
"""What is counted in another's parts."""

_IRREGULAR = {"feet": "foot", "inches": "inch", "centuries": "century", "sterling": "pound"}
_CHINESE_UNITS = _units("quantities_chinese")
_CHINESE_CURRENCY = {"文": "两", "贯": "两", "块钱": "元"}

_CARDINAL = "|".join(sorted(ENGLISH_VALUES, key=len, reverse=True))
_SCALE = "|".join(ENGLISH_SCALES)
_JOIN = r"(?:[\s-]+and[\s-]+|[\s-]+)"
_PLAIN = rf"(?:\d[\d,]*(?:\.\d+)?|{_CARDINAL})"
_ENGLISH_NUMBER = (
    rf"(?:half[\s-]+an?\b(?:\s+(?:{_SCALE})\b)?|half[\s-]+(?:{_SCALE})\b"
    rf"|a\s+quarter\s+of\s+an?\b|three[\s-]quarters\s+of\s+an?\b"
    rf"|(?:an?\s+(?:{_SCALE})|{_PLAIN})\b(?:{_JOIN}(?:{_CARDINAL}|{_SCALE})\b)*(?:\s+and\s+a\s+half\b)?)"
)
_ENGLISH_UNIT = "|".join(sorted([*(f"{unit}s?" for unit in _ENGLISH_UNITS), *_IRREGULAR], key=len, reverse=True))
_ADJECTIVE = wording("quantities_adjective")
_ENGLISH = re.compile(
    rf"\b(?P<low>{_ENGLISH_NUMBER})"
    rf"(?:(?:\s+or\s+|\s+to\s+|\s*[-–]\s*)(?P<high>{_PLAIN}(?:{_JOIN}(?:{_SCALE}))*)\b)?"
    rf"(?:[\s-]+(?:{_ADJECTIVE})){{0,2}}[\s-]+(?P<unit>{_ENGLISH_UNIT})\b(?!-)"
    rf"(?P<age>\s+old\b|\s+of\s+age\b)?",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    rf"\b(?:(?P<part>half|a\s+quarter)[\s-]+(?P<way>past|to)[\s-]+)?(?P<hour>\d{{1,2}}|{_CARDINAL})"
    rf"(?P<clock>\s+o[’'`]clock)?(?:(?:\s+\w+){{0,2}}?\s+(?:in\s+the\s+|at\s+)?"
    rf"(?P<day>morning|afternoon|evening|night)\b|\s*(?P<half>[ap]\.?m\b))?",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:not|never|no|nor)\s+(?:\w+\s+)?$|(?:不是|并非|何止|岂止|不止|哪有)\s*$", re.IGNORECASE)
_CHINESE_DIGIT = "〇零一二两三四五六七八九十百千万亿"
_CHINESE_UNIT = "|".join(sorted(_CHINESE_UNITS, key=len, reverse=True))
_CHINESE = re.compile(
    rf"(?<![{_CHINESE_DIGIT}第数几初每\d])(?P<number>半|\d+(?:\.\d+)?[万亿]?|[{_CHINESE_DIGIT}]+)"
    rf"(?P<more>余|多|来|有余)?(?:个|整)?(?P<unit>{_CHINESE_UNIT})(?P<half>半)?(?P<over>余|多|有余)?"
)
_NOT_A_UNIT = {
    "里": re.compile(r"里[头面边间应]"),
    "天": re.compile(r"天[上下宫兵将神王罡师花君尊仙魔]"),
    "文": re.compile(r"文[字章书官武]"),
    "日": re.compile(r"日[月光]"),
    "年": re.compile(r"年[纪高级]"),
    "夜": re.compile(r"夜[叉]"),
    "两": re.compile(rf"两[^{CJK_RANGES}\s]?(?!银|黄|白|纹|金)[{CJK_RANGES}]"),
    "米": re.compile(r"米[粮饭]"),
    "分钟": re.compile(r"$^"),
}


def find_quantities(text: str, language: StoryLanguage) -> list[Quantity]:
    """Find the numbers with a unit in a text.

    What says no number is left out: a single one ("one day", 一日), `several`, 数十, 几年, what is denied, and
    dates (第三日, 三月).
    """
    text = simplified(text)
    found = list(_chinese(text) if language == "zh" else _english(text))
    return [each for each in found if not _DENIED.search(text[max(0, each.start - 20) : each.start])]


def _english(text: str) -> Iterator[Quantity]:
    end = 0
    matches = [(found.start(), found, True) for found in _ENGLISH.finditer(text)]
    matches += [(found.start(), found, False) for found in _CLOCK.finditer(text)]
    for start, found, is_measure in sorted(matches, key=lambda each: (each[0], not each[2])):
        if start < end:
            continue
        quantity = _measured(found) if is_measure else _clock(found)
        if quantity is not None:
            end = quantity.end
            yield quantity


def _measured(found: re.Match[str]) -> Quantity | None:
    low = english_amount(found["low"])
    high = english_amount(found["high"]) if found["high"] else low
    word = found["unit"].casefold()
    unit = _IRREGULAR.get(word) or (word if word in _ENGLISH_UNITS else word.removesuffix("s"))
    if low is None or high is None or (low == high == 1) or unit in ("second", "night"):
        return None
    dimension, factor = _ENGLISH_UNITS[unit]
    if found["age"] and unit == "year":
        dimension, factor = "age", 1
    # "Two hundred and five" reads low to high by itself; "five or two" is no range.
    low, high = min(low, high), max(low, high)
    currency = _CURRENCY.get(unit, unit)
    return Quantity(found.start(), found.end(), dimension, low * factor, high * factor, currency)


def _clock(found: re.Match[str]) -> Quantity | None:
    hour = english_amount(found["hour"])
    day = (found["day"] or found["half"] or "").casefold()
    if hour is None or not 1 <= hour <= 12 or not (found["clock"] or day):
        return None
    if not found["clock"] and not re.search(r"\b(?:in the|at)\s+\w+$", found.group()) and not found["half"]:
        return None
    minutes = 30 if (found["part"] or "").casefold() == "half" else 15 if found["part"] else 0
    time = hour % 12 + (-minutes if (found["way"] or "").casefold() == "to" else minutes) / 60
    is_late = day[:1] == "p" or day in ("afternoon", "evening") or (day == "night" and 5 <= hour <= 11)
    low = time + (12 if is_late else 0)
    high = low if day else low + 12
    return Quantity(found.start(), found.end(), "clock", low, high, "hour")


def _chinese(text: str) -> Iterator[Quantity]:
    for found in _CHINESE.finditer(text):
        unit = found["unit"]
        excluded = _NOT_A_UNIT.get(unit)
        if excluded is not None and excluded.match(text, found.start("unit")):
            continue
        values = None if _is_figurative(text, found) else chinese_numbers(found["number"])
        if values is None:
            continue
        low, high = values
        if found["half"]:
            low, high = low + 0.5, high + 0.5
        if low == high == 1 or low == 0:
            continue
        if found["more"] or found["over"]:
            high = low + _last_scale(found["number"])
        dimension, factor = _CHINESE_UNITS[unit]
        currency = _CHINESE_CURRENCY.get(unit, unit)
        yield Quantity(found.start(), found.end(), dimension, low * factor, high * factor, currency)


def _is_figurative(text: str, found: re.Match[str]) -> bool:
    """A height of 千丈, 万年 of age, 半日 and 这两日 measure nothing."""
    number, unit = found["number"], found["unit"]
    if number in ("百", "千", "万", "千万", "百万", "亿"):
        return True
    if number in ("半", "两", "二", "三五", "两三") and unit in ("日", "天", "夜"):
        return number == "半" or text[found.start() - 1 : found.start()] in ("这", "那")
    return False


def _last_scale(number: str) -> float:
    return float(next((CHINESE_SCALES[digit] for digit in reversed(number) if digit in CHINESE_SCALES), 1))


_NEIGHBOURS = re.compile(r"([一二三四五六七八九])([一二三四五六七八九])")


def chinese_numbers(text: str) -> tuple[float, float] | None:
    """Return the least and the most that Chinese digits say: 三百 is 300 to 300, 三五十 is 30 to 50."""
    if text == "半":
        return 0.5, 0.5
    if text[0].isdigit() and text[0].isascii():
        value = float(text.rstrip("万亿")) * CHINESE_SCALES.get(text[-1], 1)
        return value, value
    text = text.replace("两", "二")
    pair = _NEIGHBOURS.search(text)
    if pair is None:
        return float(chinese_number(text)), float(chinese_number(text))
    first, second = map(chinese_number, pair.group(1, 2))
    if not first < second or second - first > 2:
        # 二七 for 二十七 and the like: which is meant nobody can say.
        return None
    least, most = text[: pair.start() + 1] + text[pair.end() :], text[: pair.start()] + text[pair.end() - 1 :]
    return float(chinese_number(_NEIGHBOURS.sub(r"\2", least))), float(chinese_number(_NEIGHBOURS.sub(r"\2", most)))
