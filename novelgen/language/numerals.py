"""Numbers in Chinese and English words, hours and units.

Chinese numbers are read here and not by cn2an (0.5.24, tried): it refuses 卅, 百, 百二十, 初七 and 三十余, and reads
第一百五章, which follows 第一百四章, as chapter 150.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from novelgen.language.language import CJK_RANGES, StoryLanguage, patterns, word_list, word_pattern, wording
from novelgen.language.normalise import simplified
from novelgen.models.story_time import PartOfDay

CHINESE_NUMERAL = "[0-9０-９零〇一二三四五六七八九十百千两廿卅卌]+"
"""Pattern of a Chinese number."""

_CHINESE_DIGITS = (
    {digit: value for value, digit in enumerate("零一二三四五六七八九")}
    | {"〇": 0, "两": 2, "兩": 2, "貳": 2, "參": 3, "陸": 6}
    | {digit: value for value, digit in enumerate("壹贰叁肆伍陆柒捌玖", start=1)}
)
CHINESE_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8}
_OTHER_SCALES = {"拾": 10, "佰": 100, "仟": 1000, "萬": 10**4}
"""Scales as headings and accounts write them."""
HEADING_NUMERAL = (
    f"{CHINESE_NUMERAL[:-2]}万{''.join(sorted({*_CHINESE_DIGITS, *_OTHER_SCALES} - set(CHINESE_NUMERAL)))}]+"
)
"""Pattern of a Chinese number as headings write it, such as 一万零三 or 贰拾壹."""
_CHINESE_TENS = {"廿": 20, "卅": 30, "卌": 40}
_SMALL_NUMBERS = word_list("numerals_small_numbers")
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SMALL_ORDINALS = word_list("numerals_small_ordinals")
ENGLISH_CARDINALS = _SMALL_NUMBERS[1:] + [
    f"{ten}-{_SMALL_NUMBERS[unit]}" if unit else ten for ten in _TENS for unit in range(10)
]
"""From one to ninety-nine."""
ENGLISH_ORDINALS = _SMALL_ORDINALS + [
    f"{ten}-{_SMALL_ORDINALS[unit - 1]}" if unit else f"{ten[:-1]}ieth" for ten in _TENS for unit in range(10)
]
"""From the first to the ninety-ninth."""
ENGLISH_SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9, "dozen": 12, "score": 20}
ENGLISH_VALUES = {word: value for value, word in enumerate(_SMALL_NUMBERS)} | {
    word: 10 * value for value, word in enumerate(_TENS, 2)
}
_SAY_NOTHING = ("a", "an", "and", "of")
_ONE_WORD = "|".join(sorted([*_SMALL_NUMBERS[1:], *_TENS, "hundred", "thousand", "dozen"], key=len, reverse=True))
ENGLISH_NUMERAL = rf"(?:\d[\d,]*|(?:an?\s+)?(?:{_ONE_WORD})(?:(?:\s+and\s+|[\s-]+)(?:{_ONE_WORD}))*|an?)\b"
"""Pattern of an English number: digits, or words; a and an are one."""


def chinese_number(text: str) -> int:
    """Return the value of a Chinese numeral: 二十三, 廿三, 一百零五, 一二〇, 三万, 贰拾壹, digits, 1百20."""
    total = section = digits = 0
    for character in text:
        scale = CHINESE_SCALES.get(character) or _OTHER_SCALES.get(character, 0)
        if character in _CHINESE_TENS:
            section += _CHINESE_TENS[character]
        elif scale >= 10**4:
            total, section, digits = (total + section + digits or 1) * scale, 0, 0
        elif scale:
            section, digits = section + (digits or 1) * scale, 0
        else:
            digits = digits * 10 + (_CHINESE_DIGITS[character] if character in _CHINESE_DIGITS else int(character))
    return total + section + digits


def english_amount(text: str) -> float | None:
    """Return the number that English words or digits say, half a million and eight-and-twenty as well."""
    words = re.findall(r"[a-z]+|\d[\d,]*(?:\.\d+)?", text.casefold())
    total = current = half_after = 0.0
    if words[-3:] == ["and", "a", "half"]:
        words, half_after = words[:-3], 0.5
    if "quarter" in words or "quarters" in words:
        return 0.75 if words[0] == "three" else 0.25
    for word in words:
        if word[0].isdigit():
            current += float(word.replace(",", ""))
        elif word in ENGLISH_SCALES:
            current = (current or 1) * ENGLISH_SCALES[word]
            if ENGLISH_SCALES[word] >= 1000:
                total, current = total + current, 0.0
        elif word == "half":
            current += 0.5
        elif word in ENGLISH_VALUES:
            current += ENGLISH_VALUES[word]
        elif word not in _SAY_NOTHING:
            return None
    return total + current + half_after if any(word not in _SAY_NOTHING for word in words) else None


def english_number(text: str) -> int:
    """Return the value of an English numeral: 1,200, twenty-two, a hundred and ten."""
    amount = english_amount(text)
    return 1 if amount is None else int(amount)


class Hours(NamedTuple):
    """A part of the day, and the earliest and latest minute at which it begins."""

    part: PartOfDay | None
    minutes: tuple[int, int]
    is_clock: bool = False


PARTS: dict[PartOfDay, tuple[int, int]] = {
    "small_hours": (0, 300),
    "dawn": (210, 450),
    "morning": (240, 720),
    "noon": (660, 810),
    "afternoon": (690, 1110),
    "evening": (960, 1380),
    "night": (1080, 1740),
    "midnight": (1380, 1500),
}
"""When each can begin, wide enough for summer and winter; the night goes on after midnight."""

_NARROW: tuple[tuple[str, tuple[int, int]], ...] = (
    (r"early (?:that |the |the next |next )?morning|清晨|清早", (240, 600)),
    (r"late (?:that |the |the same )?afternoon", (840, 1140)),
    (r"late (?:that |the |the same )?(?:evening|night)|深夜", (1200, 1740)),
    *((f"{hour}时", (60 + 120 * at, 180 + 120 * at)) for at, hour in enumerate("丑寅卯辰巳午未申酉")),
    (r"戌时|一更|初更", (1140, 1260)),
    (r"亥时|二更", (1260, 1380)),
    (r"子时|三更", (1380, 1500)),
    (r"四更", (60, 180)),
    (r"五更", (180, 330)),
)
"""Words that say the time more closely; the Chinese hours and watches of the night last two of ours."""

_PATTERNS = {part: re.compile(patterns("parts_of_day")[part], re.IGNORECASE) for part in PARTS}
_CLOSER = tuple((re.compile(words, re.IGNORECASE), minutes) for words, minutes in _NARROW)
_HOUR_WORDS = "one two three four five six seven eight nine ten eleven twelve".split()
_HOUR = rf"(?:1[0-2]|[1-9]|{'|'.join(_HOUR_WORDS)})"
_BETWEEN = re.compile(rf"\bbetween\s+({_HOUR})\s+and\s+({_HOUR})\b(?!\s+(?:days|weeks|months|years))", re.IGNORECASE)
_DIGITS = re.compile(
    r"\b([01]?\d|2[0-4])[:：]([0-5]\d)(?:\s*([ap])\.?m\b)?|\b(1[0-2]|[1-9])\s*([ap])\.?m\b", re.IGNORECASE
)
_SPOKEN_PATTERN = re.compile(
    rf"\b(?:(half|a?\s*quarter)[\s-]+(past|to)[\s-]+({_HOUR})\b|({_HOUR})\s+o['’]clock"
    rf"|(?:about|at|after|before|past|nearly|near|almost|till|until|towards?|to|by)\s+({_HOUR})\b(?!\s+(?!(?:that|this|in|at|or|the|and)\b)[a-z]|[-\d,:]))",
    re.IGNORECASE,
)
_CHINESE_CLOCK = re.compile(
    r"([0-9０-９零一二三四五六七八九十两]{1,3})[点點](?:钟|鐘|([半])|([0-9一二三四五六七八九十]{1,3})分)?(?![头儿子心滴])"
)
_LOOSE = word_pattern("hours_loose")
_FRACTION = re.compile(r"\b(?:half|quarter)[\s-]+(?:past|to)\b", re.IGNORECASE)
_LOOSE_MINUTES = 45


def read_hours(text: str) -> Hours | None:
    """Return the hours that a text says, or None where it says none.

    An hour of the clock is taken to be of the part of the day that stands beside it; without one it is of the
    morning or of the afternoon, and its earliest and latest minute say both.
    """
    part = _part(text)
    clock = _told_clock(text)
    if clock is None:
        return None if part is None else Hours(part, _closer(text) or PARTS[part])
    low, high, is_half_day = clock
    slack = _LOOSE_MINUTES if _LOOSE.search(_FRACTION.sub("", text)) else 0
    if not is_half_day:
        return Hours(part, (max(0, low - slack), high + slack), is_clock=True)
    choices = [low % 720 + half for half in (0, 720, 1440)]
    if part is None:
        return Hours(None, (max(0, choices[0] - slack), choices[1] + (high - low) + slack), is_clock=True)
    first, last = PARTS[part]
    fitting = [choice for choice in choices if first - 60 <= choice <= last + 60] or choices[:2]
    # One in the morning is the morning's, and one at night comes after midnight.
    if part == "morning":
        fitting = choices[:1]
    return Hours(part, (max(0, fitting[0] - slack), fitting[-1] + (high - low) + slack), is_clock=True)


def _part(text: str) -> PartOfDay | None:
    if re.search(r"\b(?:last|the night before|previous) night\b", text, re.IGNORECASE):
        return None
    matches = [(match.start(), part) for part, words in _PATTERNS.items() if (match := words.search(text))]
    return min(matches)[1] if matches else None


def _closer(text: str) -> tuple[int, int] | None:
    matches = [(match.start(), minutes) for words, minutes in _CLOSER if (match := words.search(text))]
    return min(matches)[1] if matches else None


def _told_clock(text: str) -> tuple[int, int, bool] | None:
    """The first and last minute of the clock, and whether it may be of either half of the day."""
    if match := _BETWEEN.search(text):
        first, last = (english_number(match[number]) * 60 for number in (1, 2))
        return (first, last if last >= first else last + 720, True)
    if match := _DIGITS.search(text):
        return _digital(match)
    if match := _SPOKEN_PATTERN.search(text):
        hour = english_number(match[3] or match[4] or match[5]) * 60
        if match[1]:
            minutes = 30 if match[1].casefold() == "half" else 15
            hour += minutes if match[2].casefold() == "past" else -minutes
        return (hour, hour, True)
    if match := _CHINESE_CLOCK.search(text):
        hour = chinese_number(match[1])
        if hour > 24:
            return None
        minute = hour * 60 + (30 if match[2] else chinese_number(match[3]) if match[3] else 0)
        return (minute, minute, hour <= 12)
    return None


def _digital(match: re.Match[str]) -> tuple[int, int, bool]:
    half = (match[3] or match[5] or "").casefold()
    hour, minute = int(match[1] or match[4]), int(match[2] or 0)
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    total = hour * 60 + minute
    return (total, total, not half and 1 <= hour <= 12 and not (match[1] or "").startswith("0"))


# --- Numbers with their units: three hours, eight-and-twenty days, 五百余年, 八百里 ---

Dimension = Literal["duration", "length", "weight", "volume", "money", "age", "clock", "count"]


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


ENGLISH_UNITS = _units("quantities_english")

_CURRENCY = {"guinea": "pound", "crown": "pound", "shilling": "pound", "sterling": "pound"}
"""What is counted in another's parts."""

_IRREGULAR = {"feet": "foot", "inches": "inch", "centuries": "century", "sterling": "pound"}
_CHINESE_UNITS = _units("quantities_chinese")
_CHINESE_CURRENCY = {"文": "两", "贯": "两", "块钱": "元"}

_CARDINAL = "|".join(sorted(ENGLISH_VALUES, key=len, reverse=True))
_SCALE = "|".join(ENGLISH_SCALES)
_JOIN = r"(?:[\s-]+and[\s-]+|[\s-]+)"
_PLAIN = rf"(?:\d[\d,]*(?:\.\d+)?|{_CARDINAL})"
ENGLISH_NUMBER = (
    rf"(?:half[\s-]+an?\b(?:\s+(?:{_SCALE})\b)?|half[\s-]+(?:{_SCALE})\b"
    rf"|a\s+quarter\s+of\s+an?\b|three[\s-]quarters\s+of\s+an?\b"
    rf"|(?:an?\s+(?:{_SCALE})|{_PLAIN})\b(?:{_JOIN}(?:{_CARDINAL}|{_SCALE})\b)*(?:\s+and\s+a\s+half\b)?)"
)
_ENGLISH_UNIT = "|".join(sorted([*(f"{unit}s?" for unit in ENGLISH_UNITS), *_IRREGULAR], key=len, reverse=True))
_ADJECTIVE = wording("quantities_adjective")
_ENGLISH = re.compile(
    rf"\b(?P<low>{ENGLISH_NUMBER})"
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
DENIED = re.compile(r"\b(?:not|never|no|nor)\s+(?:\w+\s+)?$|(?:不是|并非|何止|岂止|不止|哪有)\s*$", re.IGNORECASE)
CHINESE_DIGITS = "〇零一二两三四五六七八九十百千万亿"
_CHINESE_UNIT = "|".join(sorted(_CHINESE_UNITS, key=len, reverse=True))
_CHINESE = re.compile(
    rf"(?<![{CHINESE_DIGITS}第数几初每\d])(?P<number>半|\d+(?:\.\d+)?[万亿]?|[{CHINESE_DIGITS}]+)"
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


_BARE_MONEY = re.compile(rf"(?<=[百千万])块(?=[^{CJK_RANGES}]|[的也都就还给了没不]|$)")
"""Money as it is said: 五千块. Of fewer, 块 may count pieces."""


_SUM_OF_MONEY = re.compile(
    rf"(?:定金|订金|押金|欠|出价|价|借|还|赔|挪用|贷|赏|赌|输|赢|值|付|卖了?)[^，。；！？{CHINESE_DIGITS}\d]{{0,10}}"
    rf"(?P<sum>[{CHINESE_DIGITS}]+万[一二三四五六七八九]?|\d+万)(?=[^{CJK_RANGES}]|[的了]|定金|$)"
    rf"|(?P<before>[{CHINESE_DIGITS}]+万[一二三四五六七八九]?|\d+万)(?=的?(?:定金|订金|押金|债|欠款|贷款|赏金))"
)
"""Money without a unit: 欠十二万, 三万定金."""

_DECADES_OF_AGE = re.compile(r"(?:年|已|都|快|将)(?P<way>过|近|逾|届|有)?(?P<decades>[五六七八九])旬")
"""An age: 年过七旬."""


def find_quantities(text: str, language: StoryLanguage) -> list[Quantity]:
    """Find the numbers with a unit in a text.

    What says no number is left out: a single one ("one day", 一日), `several`, 数十, 几年, what is denied, and
    dates (第三日, 三月).
    """
    text = _BARE_MONEY.sub("元", simplified(text))
    quantities = list(_chinese(text) if language == "zh" else _english(text))
    return [
        quantity for quantity in quantities if not DENIED.search(text[max(0, quantity.start - 20) : quantity.start])
    ]


def _english(text: str) -> Iterator[Quantity]:
    end = 0
    matches = [(match.start(), match, True) for match in _ENGLISH.finditer(text)]
    matches += [(match.start(), match, False) for match in _CLOCK.finditer(text)]
    for start, match, is_measure in sorted(matches, key=lambda item: (item[0], not item[2])):
        if start < end:
            continue
        quantity = _measured(match) if is_measure else _clock(match)
        if quantity is not None:
            end = quantity.end
            yield quantity


def _measured(match: re.Match[str]) -> Quantity | None:
    low = english_amount(match["low"])
    high = english_amount(match["high"]) if match["high"] else low
    word = match["unit"].casefold()
    unit = _IRREGULAR.get(word) or (word if word in ENGLISH_UNITS else word.removesuffix("s"))
    if low is None or high is None or (low == high == 1) or unit in ("second", "night"):
        return None
    dimension, factor = ENGLISH_UNITS[unit]
    if match["age"] and unit == "year":
        dimension, factor = "age", 1
    # "Two hundred and five" reads low to high by itself; "five or two" is no range.
    low, high = min(low, high), max(low, high)
    currency = _CURRENCY.get(unit, unit)
    return Quantity(match.start(), match.end(), dimension, low * factor, high * factor, currency)


def _clock(match: re.Match[str]) -> Quantity | None:
    hour = english_amount(match["hour"])
    day = (match["day"] or match["half"] or "").casefold()
    if hour is None or not 1 <= hour <= 12 or not (match["clock"] or day):
        return None
    if not match["clock"] and not re.search(r"\b(?:in the|at)\s+\w+$", match.group()) and not match["half"]:
        return None
    minutes = 30 if (match["part"] or "").casefold() == "half" else 15 if match["part"] else 0
    time = hour % 12 + (-minutes if (match["way"] or "").casefold() == "to" else minutes) / 60
    is_late = day[:1] == "p" or day in ("afternoon", "evening") or (day == "night" and 5 <= hour <= 11)
    low = time + (12 if is_late else 0)
    high = low if day else low + 12
    return Quantity(match.start(), match.end(), "clock", low, high, "hour")


def _chinese(text: str) -> Iterator[Quantity]:
    for match in _SUM_OF_MONEY.finditer(text):
        group = "sum" if match["sum"] else "before"
        # 两万三 is 23000.
        number = match[group] + ("" if match[group].endswith("万") else "千")
        values = None if match[group][:1] == "万" else chinese_numbers(number)
        if values is not None:
            dimension, factor = _CHINESE_UNITS["元"]
            yield Quantity(*match.span(group), dimension, values[0] * factor, values[1] * factor, "元")
    for match in _DECADES_OF_AGE.finditer(text):
        age = 10.0 * chinese_number(match["decades"])
        is_past = match["way"] in ("过", "逾")
        yield Quantity(*match.span(), "age", age, age + 9 if is_past else age, "岁")
    for match in _CHINESE.finditer(text):
        unit = match["unit"]
        if unit == "旬" and _DECADES_OF_AGE.search(text, max(0, match.start() - 2), match.end()):
            continue
        excluded = _NOT_A_UNIT.get(unit)
        if excluded is not None and excluded.match(text, match.start("unit")):
            continue
        values = None if _is_figurative(text, match) else chinese_numbers(match["number"])
        if values is None:
            continue
        low, high = values
        if match["half"]:
            low, high = low + 0.5, high + 0.5
        if low == high == 1 or low == 0:
            continue
        if match["more"] or match["over"]:
            high = low + _last_scale(match["number"])
        dimension, factor = _CHINESE_UNITS[unit]
        currency = _CHINESE_CURRENCY.get(unit, unit)
        yield Quantity(match.start(), match.end(), dimension, low * factor, high * factor, currency)


def _is_figurative(text: str, match: re.Match[str]) -> bool:
    """A height of 千丈, 万年 of age, 半日 and 这两日 measure nothing."""
    number, unit = match["number"], match["unit"]
    if number in ("百", "千", "万", "千万", "百万", "亿"):
        return True
    if number in ("半", "两", "二", "三五", "两三") and unit in ("日", "天", "夜"):
        return number == "半" or text[match.start() - 1 : match.start()] in ("这", "那")
    return False


def _last_scale(number: str) -> float:
    return float(next((CHINESE_SCALES[digit] for digit in reversed(number) if digit in CHINESE_SCALES), 1))


_DIGITAL = re.compile(r"[0-9]+(?:\.[0-9]+)?[万亿]?")
_NEIGHBOURS = re.compile(r"([一二三四五六七八九])([一二三四五六七八九])")


def chinese_numbers(text: str) -> tuple[float, float] | None:
    """Return the least and the most that Chinese digits say: 三百 is 300 to 300, 三五十 is 30 to 50."""
    if text == "半":
        return 0.5, 0.5
    if _DIGITAL.fullmatch(text):
        value = float(text.rstrip("万亿")) * CHINESE_SCALES.get(text[-1], 1)
        return value, value
    text = text.replace("三两", "二三").replace("两", "二")
    pair = _NEIGHBOURS.search(text)
    if pair is None or "〇" in text:
        return float(chinese_number(text)), float(chinese_number(text))
    first, second = map(chinese_number, pair.group(1, 2))
    if not first < second or second - first > 2:
        # 二七 for 二十七 and the like: which is meant nobody can say.
        return None
    least, most = text[: pair.start() + 1] + text[pair.end() :], text[: pair.start()] + text[pair.end() - 1 :]
    return float(chinese_number(_NEIGHBOURS.sub(r"\2", least))), float(chinese_number(_NEIGHBOURS.sub(r"\2", most)))
