"""Where a later scene tells again what a memory says, found by the words that both share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from novelgen.knowledge.story import KnowledgeScene
from novelgen.models.position import StoryPosition
from novelgen.text.language import significant_words
from novelgen.text.sentences import chunk_text

PIECE_CHARACTERS = 600
"""Length of the pieces of text that are looked at, whole sentences each, however a text is broken into lines."""

MIN_RETOLD = 0.05
"""Least share of a memory's words, by their rarity, that one piece must hold to tell it again.

Little, since a memory says in other words what a scene says; that somebody is there who knows it counts, too.
"""

MIN_KNOWN = 0.2
"""The same of what a record says that somebody knows now, which is short and in the words of a record."""


@dataclass
class Retellings:
    """Finds the scenes in which a memory is told again.

    Args:
        scenes: All scenes before the position; rarity of words is theirs, so nothing later bears on it.
    """

    scenes: Sequence[KnowledgeScene]
    _words: dict[StoryPosition, list[frozenset[str]]] = field(default_factory=dict, init=False)
    _pieces_with: Counter[str] = field(default_factory=Counter, init=False)
    _count: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        for scene in self.scenes:
            pieces = chunk_text(scene.text, target_characters=PIECE_CHARACTERS)
            words = [significant_words(scene.text[start:end]) for start, end in pieces]
            self._words[scene.position] = words
            self._count += len(words)
            for each in words:
                self._pieces_with.update(each)

    def best(self, content: str, positions: Iterable[StoryPosition]) -> tuple[StoryPosition, float] | None:
        """Return the scene that tells a memory most plainly, the earliest of equals, and how plainly (0-1).

        Args:
            content: The memory.
            positions: Scenes that come into question.

        Returns:
            None when no scene reaches `MIN_RETOLD`.
        """
        rarity = self._rarities(content)
        best: tuple[StoryPosition, float] | None = None
        for position in sorted(positions):
            for words in self._words.get(position, ()):
                share = _share(rarity, words)
                if share >= MIN_RETOLD and (best is None or share > best[1]):
                    best = (position, share)
        return best

    def share_known(self, content: str, learnt: str) -> float:
        """Return how much of a memory is in what somebody knows now, 0-1; 0 below `MIN_KNOWN`."""
        share = _share(self._rarities(content), significant_words(learnt))
        return share if share >= MIN_KNOWN else 0.0

    def _rarities(self, content: str) -> dict[str, float]:
        return {word: self._rarity(word) for word in significant_words(content)}

    def _rarity(self, word: str) -> float:
        return math.log((self._count + 1) / (self._pieces_with[word] + 0.5))


def _share(rarity: Mapping[str, float], words: Collection[str]) -> float:
    whole = sum(rarity.values())
    return sum(weight for word, weight in rarity.items() if word in words) / whole if whole else 0.0
