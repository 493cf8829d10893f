"""How much a statement of the story shares with sentences of a draft on the same person or thing."""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import NamedTuple

from novelgen.checking.body_parts import body_parts
from novelgen.checking.story import telling_words
from novelgen.language.ages import find_ages
from novelgen.language.counted_nouns import find_counts
from novelgen.language.language import CJK_RANGES, patterns, story_language
from novelgen.language.numerals import Quantity, find_quantities

LEAST_SHARED = 1.0
"""A statement with less tells nothing of the sentence."""

_OF_ONE_CHARACTER = 0.25
"""Weight of one Chinese character against that of a word."""

_OF_A_MATTER = 3.0
"""Weight of a part of the body, an age, a number of the same things, and a sense that one lacks and the other uses."""


class Sense(NamedTuple):
    """A sense or limb: words of its use, and of its loss."""

    use: re.Pattern[str]
    loss: re.Pattern[str]

    def is_used(self, text: str) -> bool:
        """Tell whether a text uses it, and does not tell its loss."""
        return self.use.search(text) is not None and self.loss.search(text) is None


SENSES = [
    Sense(*(re.compile(words[name], re.IGNORECASE) for name in ("use", "loss")))
    for words in patterns("disabilities").values()
]

_CHINESE = re.compile(f"[{CJK_RANGES}]")


def shared_ground(statement: str, sentences: Sequence[str], own_names: Sequence[str]) -> float:
    """Return the share of a statement in the nearest sentence, names aside."""
    own = _content_of(without_names(statement, own_names))
    return max((_shared(own, _content_of(without_names(text, own_names))) for text in sentences), default=0.0)


def without_names(text: str, names: Sequence[str]) -> str:
    """Return a text with blanks in place of names: 哑伯 is no mute by his name."""
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, " " * len(name))
    return text


class _Content(NamedTuple):
    """What a text tells of."""

    words: frozenset[str]
    parts: frozenset[str]
    used: frozenset[int]
    lost: frozenset[int]
    counted: frozenset[tuple[str, str]]
    tells_age: bool
    numbers: frozenset[tuple[str, str, float, float]]
    """Kind, unit, least and greatest value of each number that is no age."""


def denies_number(statement: str, sentences: Sequence[str], own_names: Sequence[str]) -> bool:
    """Tell whether a sentence says another number of the same kind than a statement, names and ages aside."""
    own = _content_of(without_names(statement, own_names)).numbers
    return any(_differs(own, _content_of(without_names(text, own_names)).numbers) for text in sentences)


def _differs(
    numbers: Collection[tuple[str, str, float, float]], others: Collection[tuple[str, str, float, float]]
) -> bool:
    """Tell whether some kind of number has values on both sides, and none in common."""
    for kind in {number[:2] for number in numbers} & {number[:2] for number in others}:
        values = [number[2:] for number in numbers if number[:2] == kind]
        other_values = [number[2:] for number in others if number[:2] == kind]
        if not any(
            low <= other_high and other_low <= high for low, high in values for other_low, other_high in other_values
        ):
            return True
    return False


@lru_cache(maxsize=8192)
def _content_of(text: str) -> _Content:
    language = story_language(text)
    quantities: list[Quantity] = [*find_quantities(text, language), *find_counts(text, language)]
    return _Content(
        words=telling_words(text),
        parts=body_parts(text),
        used=frozenset(number for number, sense in enumerate(SENSES) if sense.is_used(text)),
        lost=frozenset(number for number, sense in enumerate(SENSES) if sense.loss.search(text)),
        counted=frozenset((quantity.dimension, quantity.unit) for quantity in quantities),
        tells_age=bool(find_ages(text)),
        numbers=frozenset(
            (quantity.dimension, quantity.unit, quantity.low, quantity.high)
            for quantity in quantities
            if quantity.dimension != "age"
        ),
    )


def _shared(one: _Content, other: _Content) -> float:
    words = sum(
        _OF_ONE_CHARACTER if len(word) == 1 and _CHINESE.match(word) else 1.0 for word in one.words & other.words
    )
    matters = len(one.parts & other.parts) + len(one.lost & other.used) + len(one.used & other.lost)
    matters += (one.tells_age and other.tells_age) + bool(one.counted & other.counted)
    return words + _OF_A_MATTER * matters
