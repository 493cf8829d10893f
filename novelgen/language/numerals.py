"""Numbers in words: Chinese numerals and English number words.

Chinese numbers are read here and not by cn2an (0.5.24, tried): it refuses 卅, 百, 百二十, 初七 and 三十余, and reads
第一百五章, which follows 第一百四章, as chapter 150.
"""

import re

from novelgen.language.language import word_list

CHINESE_NUMERAL = "[0-9０-９零〇一二三四五六七八九十百千两廿卅卌]+"
"""Pattern of a Chinese number."""

_CHINESE_DIGITS = {**{digit: value for value, digit in enumerate("零一二三四五六七八九")}, "〇": 0, "两": 2}
_CHINESE_UNITS = {"十": 10, "百": 100, "千": 1000}
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
_ENGLISH_VALUES = {
    **{word: value for value, word in enumerate(_SMALL_NUMBERS)},
    **{word: 10 * value for value, word in enumerate(_TENS, 2)},
    "a": 1,
    "an": 1,
    "dozen": 12,
}
_ENGLISH_UNITS = {"hundred": 100, "thousand": 1000}
_ONE_WORD = "|".join(sorted([*_SMALL_NUMBERS[1:], *_TENS, *_ENGLISH_UNITS, "dozen"], key=len, reverse=True))
ENGLISH_NUMERAL = rf"(?:\d[\d,]*|(?:an?\s+)?(?:{_ONE_WORD})(?:(?:\s+and\s+|[\s-]+)(?:{_ONE_WORD}))*|an?)\b"
"""Pattern of an English number: digits, or words; a and an are one."""


def chinese_number(text: str) -> int:
    """Return the value of a Chinese numeral: 二十三, 廿三, 一百零五, 一二〇, digits, and 1百20 mixed."""
    total, digits = 0, 0
    for character in text:
        if character in _CHINESE_TENS:
            total += _CHINESE_TENS[character]
        elif character in _CHINESE_UNITS:
            total += (digits or 1) * _CHINESE_UNITS[character]
            digits = 0
        else:
            digit = _CHINESE_DIGITS[character] if character in _CHINESE_DIGITS else int(character)
            digits = digits * 10 + digit
    return total + digits


def english_number(text: str) -> int:
    """Return the value of what `ENGLISH_NUMERAL` matches: 12, 1,200, twenty-two, five hundred, a hundred and ten."""
    plain = text.replace(",", "").strip()
    if plain.isdigit():
        return int(plain)
    total, part = 0, 0
    for word in re.findall(r"[a-z]+", plain.casefold()):
        if word in _ENGLISH_UNITS:
            part = (part or 1) * _ENGLISH_UNITS[word]
            if word == "thousand":
                total, part = total + part, 0
        elif word == "dozen":
            part = (part or 1) * _ENGLISH_VALUES[word]
        elif word != "and":
            part += _ENGLISH_VALUES[word]
    return total + part
