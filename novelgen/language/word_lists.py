"""Words by which text, models and people are understood, as data: the lists and tables of `word_lists.toml`."""

import re
import tomllib
from functools import cache
from pkgutil import get_data
from typing import Any


@cache
def _lists() -> dict[str, Any]:
    return tomllib.loads((get_data("novelgen.language", "word_lists.toml") or b"").decode())


def word_list(name: str) -> list[str]:
    """Return the entries of a list, which blanks part."""
    words: str = _lists()[name]
    return words.split()


def synonyms(name: str) -> dict[str, str]:
    """Return what each word of a table stands for: a line of it is `dead_or_absent = "dead, absent"`."""
    return {word: meant for meant, words in _lists()[name].items() for word in words.split(", ")}


def word_pattern(name: str) -> re.Pattern[str]:
    """Return what finds the words of a list, whole English ones and Chinese ones; they are regular expressions."""
    words = {language: lines.replace("\n", "") for language, lines in _lists()[name].items()}
    chinese = f"|{words['zh']}" if "zh" in words else ""
    return re.compile(rf"\b(?:{words.get('en', '')})\b{chinese}", re.IGNORECASE)
