"""A name in Latin letters as a row of words, compared with the words of a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

from novelgen.names.normalise import ARTICLES
from novelgen.text.cjk import CJK_RANGES

_WORD = re.compile(rf"[^\W_{CJK_RANGES}]+")
_GAP_NOISE = re.compile(r"[.\s]+")
_JOINERS = "'-"
_SHORTEST_NAME_IN_CAPITALS = 3


class Word(NamedTuple):
    """A word of a text, at the characters [start, end)."""

    text: str
    start: int
    end: int


class CaseRule(Enum):
    """How far the case of a name's letters counts."""

    ANY_CASE = "any case"
    AS_WRITTEN_OR_CAPITALS = "as written or in capitals"
    FIRST_LETTER_FREE = "as written, the first letter in either case"


@dataclass(frozen=True, slots=True)
class LatinName:
    """A name, its words and what stands between them."""

    name: str
    words: tuple[str, ...]
    gaps: tuple[str, ...]
    case_rule: CaseRule

    @classmethod
    def parse(cls, name: str, folded: str, words: Sequence[Word]) -> LatinName:
        """Take a name apart.

        Args:
            name: The name as given.
            folded: The name in normal width.
            words: The words of `folded`, at least one.
        """
        texts = tuple(word.text for word in words)
        return cls(name, texts, _gaps(folded, words), _case_rule(texts))

    def matches(self, text: str, words: Sequence[Word]) -> bool:
        """Tell whether these words of a text are the name, and no part of a longer compound."""
        if len(words) != len(self.words) or not self._same_words([word.text for word in words]):
            return False
        return _gaps(text, words) == self.gaps and not _is_in_compound(text, words[0].start, words[-1].end)

    def _same_words(self, words: list[str]) -> bool:
        own = list(self.words)
        if self.case_rule is CaseRule.ANY_CASE:
            return [word.casefold() for word in words] == [word.casefold() for word in own]
        if self.case_rule is CaseRule.FIRST_LETTER_FREE:
            return _lower_first(words) == _lower_first(own)
        in_capitals = len(self.name) >= _SHORTEST_NAME_IN_CAPITALS and words == [word.upper() for word in own]
        return words == own or in_capitals


def words_of(text: str) -> list[Word]:
    """Return the words in Latin or other spaced letters, in order; Chinese characters are none."""
    return [Word(match.group(), match.start(), match.end()) for match in _WORD.finditer(text)]


def _case_rule(words: tuple[str, ...]) -> CaseRule:
    if not any(word[0].isupper() for word in words):
        return CaseRule.FIRST_LETTER_FREE
    significant = [word for word in words if word.casefold() not in ARTICLES]
    if len(significant) > 1:
        return CaseRule.ANY_CASE
    return CaseRule.AS_WRITTEN_OR_CAPITALS if len(words) == 1 else CaseRule.FIRST_LETTER_FREE


def _gaps(text: str, words: Sequence[Word]) -> tuple[str, ...]:
    between = (text[left.end : right.start] for left, right in pairwise(words))
    return tuple(_GAP_NOISE.sub(" ", gap).strip() for gap in between)


def _lower_first(words: list[str]) -> list[str]:
    return [words[0][0].lower() + words[0][1:], *words[1:]]


def _is_in_compound(text: str, start: int, end: int) -> bool:
    """An apostrophe or hyphen binds the name to a letter before it or a capital after it."""
    joined_before = start > 1 and text[start - 1] in _JOINERS and text[start - 2].isalnum()
    return joined_before or (text[end : end + 1] in _JOINERS and text[end + 1 : end + 2].isupper())
