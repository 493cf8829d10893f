"""Numbers in the headings of chapters: arabic, roman, Chinese, and English words up to twelve."""

from __future__ import annotations

import re
import unicodedata

_CHINESE_DIGITS = {**{digit: value for value, digit in enumerate("零一二三四五六七八九")}, "〇": 0, "两": 2}
_CHINESE_UNITS = {"十": 10, "百": 100, "千": 1000}
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
NUMBER_WORDS = dict(
    zip(
        "one two three four five six seven eight nine ten eleven twelve".split(),
        range(1, 13),
        strict=True,
    )
)
_NUMBER = re.compile(
    r"^(?:第\s*(?P<chinese>[0-9零〇一二三四五六七八九十百千两]+)\s*[章回]|(?:(?:chapter|part)\s+)?(?P<latin>\d+|[a-z]+)\b)",
    re.IGNORECASE,
)


def chapter_number(title: str) -> int | None:
    """Return the number that a chapter's heading gives, or None when it gives none."""
    match = _NUMBER.match(unicodedata.normalize("NFKC", title).strip())
    if match is None:
        return None
    if match["chinese"]:
        return chinese_number(match["chinese"])
    text = match["latin"].casefold()
    if text.isdigit():
        return int(text)
    return NUMBER_WORDS.get(text) or roman_number(text)


def chinese_number(text: str) -> int:
    """Return the value of a Chinese numeral: 二十三, 一百零五, 一二〇, or digits."""
    if text.isdigit() and text.isascii():
        return int(text)
    if not any(character in _CHINESE_UNITS for character in text):
        return int("".join(str(_CHINESE_DIGITS[character]) for character in text))
    total, digit = 0, 0
    for character in text:
        if character in _CHINESE_UNITS:
            total += (digit or 1) * _CHINESE_UNITS[character]
            digit = 0
        else:
            digit = _CHINESE_DIGITS.get(character, 0)
    return total + digit


def roman_number(text: str) -> int | None:
    """Return the value of a roman numeral below 400, or None when the text is none."""
    values = [_ROMAN.get(character) for character in text.casefold()]
    if not values or None in values:
        return None
    numbers = [value for value in values if value is not None]
    signed = (
        -value if any(later > value for later in numbers[index + 1 : index + 2]) else value
        for index, value in enumerate(numbers)
    )
    total = sum(signed)
    return total if _as_roman(total) == text.casefold() else None


def _as_roman(number: int) -> str:
    parts = (
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    )
    text = ""
    for value, letters in parts:
        while number >= value:
            text += letters
            number -= value
    return text
