"""The words of a text that say something, for telling whether two texts speak of the same."""

from __future__ import annotations

import re

from novelgen.text.cjk import CJK_RANGES

_LONG_WORD = re.compile(rf"[^\W\d_{CJK_RANGES}]{{4,}}")
_CHINESE_RUN = re.compile(f"[{CJK_RANGES}]+")


def significant_words(text: str) -> frozenset[str]:
    """Return the words of four and more letters, folded, and the pairs of neighbouring Chinese characters."""
    words = {word.casefold() for word in _LONG_WORD.findall(text)}
    runs = _CHINESE_RUN.findall(text)
    return frozenset(words.union(run[at : at + 2] for run in runs for at in range(len(run) - 1)))
