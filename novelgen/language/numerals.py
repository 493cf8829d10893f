"""Numbers in words, Chinese numerals and English number words, and hours of the day.

Chinese numbers are read here and not by cn2an (0.5.24, tried): it refuses 卅, 百, 百二十, 初七 and 三十余, and reads
第一百五章, which follows 第一百四章, as chapter 150.
"""

import re
from typing import NamedTuple

from novelgen.language.language import patterns, word_list, word_pattern
from novelgen.models.story_time import PartOfDay

CHINESE_NUMERAL = "[0-9０-９零〇一二三四五六七八九十百千两廿卅卌]+"
"""Pattern of a Chinese number."""

_CHINESE_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
CHINESE_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8}
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
    """Return the value of a Chinese numeral: 二十三, 廿三, 一百零五, 一二〇, 三万, digits, and 1百20 mixed."""
    total = section = digits = 0
    for character in text:
        scale = CHINESE_SCALES.get(character, 0)
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
    """Return the value of what `ENGLISH_NUMERAL` matches: 1,200, twenty-two, a hundred and ten; a and an are one."""
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
_SPOKEN = re.compile(
    rf"\b(?:(half|a?\s*quarter)[\s-]+(past|to)[\s-]+({_HOUR})\b|({_HOUR})\s+o['’]clock"
    rf"|(?:about|at|after|before|past|nearly|near|almost|till|until|towards?|to|by)\s+({_HOUR})\b(?!\s+(?!(?:that|this|in|at|or|the|and)\b)[a-z]|[-\d,:]))",
    re.IGNORECASE,
)
_CHINESE = re.compile(
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
    clock = _clock(text)
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
    fitting = [each for each in choices if first - 60 <= each <= last + 60] or choices[:2]
    # One in the morning is the morning's, and one at night comes after midnight.
    if part == "morning":
        fitting = choices[:1]
    return Hours(part, (max(0, fitting[0] - slack), fitting[-1] + (high - low) + slack), is_clock=True)


def _part(text: str) -> PartOfDay | None:
    if re.search(r"\b(?:last|the night before|previous) night\b", text, re.IGNORECASE):
        return None
    found = [(match.start(), part) for part, words in _PATTERNS.items() if (match := words.search(text))]
    return min(found)[1] if found else None


def _closer(text: str) -> tuple[int, int] | None:
    found = [(match.start(), minutes) for words, minutes in _CLOSER if (match := words.search(text))]
    return min(found)[1] if found else None


def _clock(text: str) -> tuple[int, int, bool] | None:
    """The first and last minute of the clock, and whether it may be of either half of the day."""
    if match := _BETWEEN.search(text):
        first, last = (english_number(match[number]) * 60 for number in (1, 2))
        return (first, last if last >= first else last + 720, True)
    if match := _DIGITS.search(text):
        return _digital(match)
    if match := _SPOKEN.search(text):
        hour = english_number(match[3] or match[4] or match[5]) * 60
        if match[1]:
            minutes = 30 if match[1].casefold() == "half" else 15
            hour += minutes if match[2].casefold() == "past" else -minutes
        return (hour, hour, True)
    if match := _CHINESE.search(text):
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
