"""Chinese and English text: language, significant words and token costs.

The words by which text, models and people are understood are data: the lists and tables of `word_lists.toml`.
"""

import math
import re
import tomllib
from collections.abc import Callable
from functools import cache
from pkgutil import get_data
from typing import Any, Literal


@cache
def _lists() -> dict[str, Any]:
    return tomllib.loads((get_data("novelgen.language", "word_lists.toml") or b"").decode())


def word_list(name: str) -> list[str]:
    """Return the entries of a list, which blanks part."""
    words: str = _lists()[name]
    return words.split()


def wording(name: str) -> str:
    """Return the words of a line, as pattern parts or characters."""
    words: str = _lists()[name]
    return words.replace("\n", "")


def phrases(name: str) -> list[str]:
    """Return a list of regular expressions."""
    listing: list[str] = _lists()[name]
    return listing


def patterns(name: str) -> dict[str, Any]:
    """Return a table of regular expressions."""
    table: dict[str, Any] = _lists()[name]
    return table


def synonyms(name: str) -> dict[str, str]:
    """Return the canonical word of each synonym, from lines `dead_or_absent = "dead, absent"`."""
    return {word: meaning for meaning, words in _lists()[name].items() for word in words.split(", ")}


def word_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern for a word list, on whole words in English."""
    words = {language: lines.replace("\n", "") for language, lines in _lists()[name].items()}
    chinese = f"|{words['zh']}" if "zh" in words else ""
    return re.compile(rf"\b(?:{words['en']})\b{chinese}", re.IGNORECASE)


StoryLanguage = Literal["zh", "en"]

CJK_RANGES = "\u3400-\u9fff\uf900-\ufaff"
"""Body of a regular expression's character class that holds the Chinese characters."""

CJK_SHARE_OF_CHINESE_TEXT = 0.2
"""Least share of Chinese characters among all letters for a text to count as Chinese.

One Chinese character says about as much as five Latin letters, so a fifth of the letters is half of the text.
"""

_CJK = re.compile(f"[{CJK_RANGES}]+")
_LETTERS = re.compile(r"[^\W\d_]+")

FUNCTION_WORDS = frozenset(word_list("language_function_words"))
"""English words that stand in every text and tell nothing."""


def is_cjk(character: str) -> bool:
    """Tell whether a single character is Chinese (U+3400-U+9FFF or U+F900-U+FAFF)."""
    return "\u3400" <= character <= "\u9fff" or "\uf900" <= character <= "\ufaff"


def has_cjk(text: str) -> bool:
    """Tell whether a text holds at least one Chinese character."""
    return _CJK.search(text) is not None


def count_cjk(text: str) -> int:
    """Count the Chinese characters of a text."""
    return 0 if text.isascii() else sum(map(len, _CJK.findall(text)))


_WORD = re.compile(rf"[^\W_{CJK_RANGES}]+(?:['’-][^\W_{CJK_RANGES}]+)*")


def count_words(text: str) -> int:
    """Count the words of a text, its 字数: each Chinese character is one, and each run of other letters or digits."""
    return count_cjk(text) + len(_WORD.findall(text))


def story_language(text: str) -> StoryLanguage:
    """Tell a text's language by the share of Chinese characters among its letters."""
    letters = sum(map(len, _LETTERS.findall(text)))
    return "zh" if letters and count_cjk(text) >= CJK_SHARE_OF_CHINESE_TEXT * letters else "en"


def idf(holding: int, of_all: int) -> float:
    """The inverse document frequency of BM25 (Robertson and Zaragoza 2009, 3.1), never negative."""
    return math.log(1 + (of_all - holding + 0.5) / (holding + 0.5))


def rarity_of(holding: int, of_all: int) -> float:
    """The rarity of a feature by its share of texts, negative if universal."""
    return math.log((of_all + 1) / (holding + 0.5))


def folded(text: str) -> str:
    """Return a text in small letters, with one blank between its words."""
    return " ".join(text.casefold().split())


def stated_language(code: str) -> StoryLanguage | None:
    """Return the language of a code such as `zh-CN`, `cn` or `en`, or None."""
    statement = code.casefold()
    if statement.startswith(("zh", "cn", "中")):
        return "zh"
    return "en" if statement.startswith("en") else None


_LONG_WORD = re.compile(rf"[^\W\d_{CJK_RANGES}]{{4,}}")


def significant_words(text: str) -> frozenset[str]:
    """Return the words of four and more letters, folded, and the pairs of neighbouring Chinese characters."""
    words = {word.casefold() for word in _LONG_WORD.findall(text)}
    runs = _CJK.findall(text)
    return frozenset(words.union(run[at : at + 2] for run in runs for at in range(len(run) - 1)))


TokenCounter = Callable[[str], int]
"""Counts the tokens of a text; a model's own tokenizer comes from `runtime`."""

OTHER_CHARACTERS_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text without a tokenizer.

    One token per Chinese character and one per four other characters, rounded up for the whole text, so
    that a sum of estimates never undercounts.
    """
    chinese = count_cjk(text)
    return chinese + -(-(len(text) - chinese) // OTHER_CHARACTERS_PER_TOKEN)
