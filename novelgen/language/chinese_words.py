"""Borders of words in Chinese text."""

import re
from functools import lru_cache

from novelgen.language.numerals import CHINESE_NUMERAL

_NUMERAL = re.compile(CHINESE_NUMERAL)
_AROUND = 4
"""So many characters on either side decide where the words are."""


def is_within_word(text: str, start: int, end: int) -> bool:
    """Tell whether a name is part of a longer number or word: 十三 of 二十三岁."""
    if is_number(text[start:end]) and (is_number(text[start - 1 : start]) or is_number(text[end : end + 1])):
        return True
    first = max(0, start - _AROUND)
    at = first
    for word in _words(text[first : end + _AROUND]):
        stop = at + len(word)
        overlaps, is_inside = at < end and start < stop, start <= at and stop <= end
        if overlaps and not is_inside and len(word) > 1:
            return True
        at = stop
    return False


def is_number(text: str) -> bool:
    """Tell whether a text is a number in Chinese characters or digits: 十三."""
    return _NUMERAL.fullmatch(text) is not None


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[str, ...]:
    """Return the words of a dictionary in a text, and single characters."""
    import rjieba  # noqa: PLC0415

    return tuple(rjieba.cut(text, False))
