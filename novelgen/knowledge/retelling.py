"""Where a later scene tells again what a memory says, found by the words that both share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from novelgen.knowledge.story import KnowledgeScene
from novelgen.models.position import StoryPosition
from novelgen.text.language import significant_words

MIN_RETOLD = 0.05
"""Least share of a memory's words, by their rarity, that one paragraph must hold to tell it again.

Little, since a memory says in other words what a scene says; that somebody is there who knows it counts, too.
"""


@dataclass
class Retellings:
    """Finds the scenes in which a memory is told again.

    Args:
        scenes: All scenes before the position; rarity of words is theirs, so nothing later bears on it.
    """

    scenes: Sequence[KnowledgeScene]
    _words: dict[StoryPosition, list[frozenset[str]]] = field(default_factory=dict, init=False)
    _paragraphs_with: Counter[str] = field(default_factory=Counter, init=False)
    _count: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        for scene in self.scenes:
            words = [significant_words(paragraph) for paragraph in scene.paragraphs]
            self._words[scene.position] = words
            self._count += len(words)
            for each in words:
                self._paragraphs_with.update(each)

    def best(self, content: str, positions: Iterable[StoryPosition]) -> tuple[StoryPosition, float] | None:
        """Return the scene that tells a memory most plainly, the earliest of equals, and how plainly (0-1).

        Args:
            content: The memory.
            positions: Scenes that come into question.

        Returns:
            None when no scene reaches `MIN_RETOLD`.
        """
        rarity = {word: self._rarity(word) for word in significant_words(content)}
        whole = sum(rarity.values())
        best: tuple[StoryPosition, float] | None = None
        for position in sorted(positions):
            for words in self._words.get(position, ()):
                shared = sum(weight for word, weight in rarity.items() if word in words)
                share = shared / whole if whole else 0.0
                if share >= MIN_RETOLD and (best is None or share > best[1]):
                    best = (position, share)
        return best

    def share_told(self, content: str, text: str) -> float:
        """Return how much of a memory a text says, 0-1: the share of its words, by their rarity, that stand in it."""
        rarity = {word: self._rarity(word) for word in significant_words(content)}
        whole = sum(rarity.values())
        words = significant_words(text)
        return sum(weight for word, weight in rarity.items() if word in words) / whole if whole else 0.0

    def _rarity(self, word: str) -> float:
        return math.log((self._count + 1) / (self._paragraphs_with[word] + 0.5))
