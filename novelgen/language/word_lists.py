"""Words by which text, models and people are understood, as data: `word_lists.txt`, a list or table below each name."""

import re
from functools import cache
from pkgutil import get_data


@cache
def _lists() -> dict[str, str]:
    text = (get_data("novelgen.language", "word_lists.txt") or b"").decode()
    _, *parts = re.split(r"^\[([a-z_.]+)\]$", text, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def word_list(name: str) -> list[str]:
    """Return the entries of a list, which blanks part."""
    return _lists()[name].split()


def synonyms(name: str) -> dict[str, str]:
    """Return what each word of a table stands for: a line of it is `dead_or_absent: dead, absent`."""
    lines = (line.partition(": ") for line in _lists()[name].strip().splitlines())
    return {word: meant for meant, _, words in lines for word in words.split(", ")}


def word_pattern(name: str) -> re.Pattern[str]:
    """Return what finds the words of a list, whole English ones and Chinese ones; they are regular expressions."""
    english, chinese = (_lists().get(f"{name}.{each}", "").replace("\n", "") for each in ("en", "zh"))
    return re.compile(rf"\b(?:{english})\b" + (f"|{chinese}" if chinese else ""), re.IGNORECASE)
