"""How well a card fits a query: by its words, weighted by how rare they are, and by its meaning."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from runtime.storage.memory.lexical import index_tokens, lexical_terms, term_tokens
from runtime.story_tools.cards import Card

Vector = NDArray[np.float32]

MIN_CARDS_FOR_TYPICAL = 3
"""Of fewer cards nobody can say which likeness is typical."""


class CardWords:
    """The words of a query against the words of cards.

    Args:
        query: The query.
        cards: The cards; a word that few of them have weighs more, as in BM25.
    """

    def __init__(self, query: str, cards: Sequence[Card]) -> None:
        phrases = [f" {' '.join(term_tokens(term))} " for term in lexical_terms(query)]
        texts = [_spaced("\n".join([card.name, *card.all_lines])) for card in cards]
        self._weights = {
            phrase: _rarity(sum(phrase in text for text in texts), len(texts)) for phrase in phrases
        }

    def share(self, text: str) -> float:
        """Return the weight of the query's words that a text holds, from 0 to 1."""
        total = sum(self._weights.values())
        spaced = _spaced(text)
        held = sum(weight for phrase, weight in self._weights.items() if phrase in spaced)
        return held / total if total else 0.0

    def best_line(self, card: Card) -> str:
        """Return the line of a card that holds most of the query; the first one of equals."""
        return max(card.all_lines, key=self.share, default=card.name)


def cosines(matrix: NDArray[np.float32], query: Vector) -> Vector:
    """Return the cosine of each row with the query."""
    norms = np.linalg.norm(matrix, axis=1) * np.linalg.norm(query)
    return np.asarray(matrix @ query / np.maximum(norms, 1e-9), dtype=np.float32)


def likeness_above_typical(likeness: Mapping[str, float]) -> dict[str, float]:
    """Bring cosines to 0..1, where 0 is the likeness of a typical card, or less.

    Embeddings of one book share a large common direction, so that everything in it is alike to everything;
    what counts is how far something stands out.
    """
    values = list(likeness.values())
    typical = float(np.median(values)) if len(values) >= MIN_CARDS_FOR_TYPICAL else 0.0
    room = max(1.0 - typical, 1e-9)
    return {name: min(1.0, max(0.0, (value - typical) / room)) for name, value in likeness.items()}


def _spaced(text: str) -> str:
    return f" {' '.join(index_tokens(text))} "


def _rarity(holding: int, count: int) -> float:
    """The inverse document frequency of BM25 (Robertson and Zaragoza 2009, 3.1), never negative."""
    return math.log(1 + (count - holding + 0.5) / (holding + 0.5))
