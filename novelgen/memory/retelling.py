"""Where a later scene tells again what a memory says, found by the words that both share."""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from novelgen.language.language import FUNCTION_WORDS, significant_words
from novelgen.language.sentences import chunk_text
from novelgen.memory.story import KnowledgeScene
from novelgen.models.position import StoryPosition

PIECE_CHARACTERS = 600
"""Length of the pieces of text that are looked at, whole sentences each, however a text is broken into lines."""

REMEMBERED_TEXTS = 10_000
"""The words of so many scenes are kept in memory; those of a scene take about as much as its text."""

MIN_RETOLD = 0.05
"""Least share of a memory's words, by their rarity, that one piece must hold to tell it again.

Little, since a memory says in other words what a scene says; that somebody is there who knows it counts, too.
"""

MIN_KNOWN = 0.2
"""The same of what a record says that somebody knows now, which is short and in the words of a record."""


@dataclass
class Retellings:
    """Finds the scenes in which a memory is told again."""

    scenes: Sequence[KnowledgeScene]
    _pieces_with: dict[str, NDArray[np.int64]] = field(init=False)
    _scene_of: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        found: defaultdict[str, list[int]] = defaultdict(list)
        scene_of: list[int] = []
        for index, scene in enumerate(self.scenes):
            for words in _words_of_pieces(scene.text):
                for word in words:
                    found[word].append(len(scene_of))
                scene_of.append(index)
        self._pieces_with = {word: np.array(pieces) for word, pieces in found.items()}
        self._scene_of = np.array(scene_of, dtype=np.int64)

    def best(self, content: str, wanted: NDArray[np.bool_]) -> tuple[StoryPosition, float] | None:
        """Return the scene that tells a memory most plainly, the earliest of equals, and how plainly (0-1)."""
        rarities = self._rarities(content)
        whole = sum(rarities.values())
        if not whole or not len(self._scene_of):
            return None
        shared = np.zeros(len(self._scene_of))
        for word, weight in rarities.items():
            if word in self._pieces_with:
                shared[self._pieces_with[word]] += weight
        shared[~wanted[self._scene_of]] = 0.0
        best = int(np.argmax(shared))
        share = float(shared[best]) / whole
        return (self.scenes[self._scene_of[best]].position, share) if share >= MIN_RETOLD else None

    def first_known(
        self, content: str, learnt: Iterable[tuple[StoryPosition, frozenset[str]]], *, min_share: float = MIN_KNOWN
    ) -> tuple[StoryPosition, float] | None:
        """Return the first scene since which somebody's knowledge holds a memory, and how much of it (0-1)."""
        rarities = self._rarities(content)
        whole = sum(rarities.values())
        for position, words in learnt if whole else ():
            share = sum(weight for word, weight in rarities.items() if word in words) / whole
            if share >= min_share:
                return position, share
        return None

    def share_told(self, content: str, text: str, *, leaving_out: Iterable[str] = ()) -> float:
        """Return how much of a memory a text says, 0-1: the share of its words, by their rarity, that it holds."""
        weights = self.weights(content, leaving_out=leaving_out)
        words = significant_words(text)
        return sum(weight for word, weight in weights.items() if word in words)

    def share_retold(self, content: str, text: str, *, leaving_out: Iterable[str] = ()) -> float:
        """Return the same of the one piece of a text that says most of it."""
        weights = self.weights(content, leaving_out=leaving_out)
        return max((sum(weights.get(word, 0.0) for word in words) for words in _words_of_pieces(text)), default=0.0)

    def weights(self, content: str, *, leaving_out: Iterable[str] = ()) -> dict[str, float]:
        """Return the words of a memory, each with its share of what the memory says, by rarity."""
        rarities = self._rarities(content)
        if leaving_out:
            for name in sorted(leaving_out, key=len, reverse=True):
                content = content.replace(name, " ")
            said = significant_words(content) - FUNCTION_WORDS
            rarities = {word: rarity for word, rarity in rarities.items() if word in said}
        whole = sum(rarities.values())
        return {word: rarity / whole for word, rarity in rarities.items()} if whole else {}

    def _rarities(self, content: str) -> dict[str, float]:
        # Sorted, for sums of floats depend on their order.
        return {word: self._rarity(word) for word in sorted(significant_words(content))}

    def _rarity(self, word: str) -> float:
        return math.log((len(self._scene_of) + 1) / (len(self._pieces_with.get(word, ())) + 0.5))


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _words_of_pieces(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of each piece of a scene: a story is read anew after every write, its texts are the same."""
    return tuple(
        tuple(map(sys.intern, significant_words(text[start:end])))
        for start, end in chunk_text(text, target_characters=PIECE_CHARACTERS)
    )
