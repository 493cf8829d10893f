"""BM25 over the columns of what was read: one array operation per term, however many memories there are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RowIds = NDArray[np.int64]

SATURATION = 1.2
LENGTH_SHARE = 0.75
"""k1 and b of BM25 (Robertson and Zaragoza 2009, 3.4.3)."""


@dataclass(frozen=True, eq=False)
class LexicalMatches:
    """Scores of all memories before a position, for several queries.

    Args:
        row_ids: The memories, ascending.
        chunk_ids: Their chunk ids, in the same order.
        scores: Queries by memories; 0 where no term matches.
    """

    row_ids: RowIds
    chunk_ids: tuple[str, ...]
    scores: NDArray[np.float64]

    @property
    def queries(self) -> int:
        """How many queries were asked."""
        return len(self.scores)

    @property
    def has_any(self) -> bool:
        """Whether any memory matches any query."""
        return bool(self.scores.any())

    def best(self, admitted: Sequence[int] | None, *, limit: int) -> list[list[tuple[str, float]]]:
        """Return the best matches of each query as (chunk id, score).

        Args:
            admitted: Row ids that may be found; None admits all.
            limit: At most so many per query.

        Returns:
            Best first, equal scores in order of chunk id.
        """
        allowed = None if admitted is None else np.isin(self.row_ids, np.array(admitted, dtype=np.int64))
        return [
            self._best_of(row if allowed is None else np.where(allowed, row, 0.0), limit)
            for row in self.scores
        ]

    def _best_of(self, scores: NDArray[np.float64], limit: int) -> list[tuple[str, float]]:
        places = np.flatnonzero(scores)
        if len(places) > limit > 0:
            # All that equal the last score that fits are kept until chunk ids have decided among them.
            border = np.partition(scores[places], len(places) - limit)[len(places) - limit]
            places = places[scores[places] >= border]
        ranked = sorted((-float(scores[place]), self.chunk_ids[place]) for place in places)
        return [(chunk_id, -negative) for negative, chunk_id in ranked[:limit]]


def score_matches(
    queries: Sequence[Sequence[str]],
    found: Mapping[str, RowIds],
    *,
    row_ids: Sequence[int],
    chunk_ids: Sequence[str],
    lengths: Sequence[int],
) -> LexicalMatches:
    """Score memories by BM25, a term counting once per memory.

    Args:
        queries: Terms of each query.
        found: Row ids that hold a term; those that are not among `row_ids` are left out.
        row_ids: The memories that count, in any order.
        chunk_ids: Their chunk ids.
        lengths: Their lengths in terms.
    """
    order = np.argsort(np.array(row_ids, dtype=np.int64))
    rows = np.array(row_ids, dtype=np.int64)[order]
    places = {term: _places(matched, rows) for term, matched in found.items()}
    scores = np.zeros((len(queries), len(rows)))
    for query, terms in enumerate(queries):
        for term in terms:
            if term in places:
                scores[query, places[term]] += _rarity(len(places[term]), len(rows))
    scores *= _length_shares(np.array(lengths, dtype=float)[order])
    return LexicalMatches(rows, tuple(chunk_ids[place] for place in order), scores)


def _places(matched: RowIds, rows: RowIds) -> NDArray[np.intp]:
    """Return where the matched row ids stand among sorted rows, those that do not left out."""
    if not len(rows):
        return np.zeros(0, dtype=np.intp)
    places = np.minimum(np.searchsorted(rows, matched), len(rows) - 1)
    return places[rows[places] == matched]


def _rarity(matches: int, count: int) -> float:
    return math.log(1 + (count - matches + 0.5) / (matches + 0.5))


def _length_shares(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    mean_length = max(1.0, float(lengths.mean())) if len(lengths) else 1.0
    relative = 1 - LENGTH_SHARE + LENGTH_SHARE * lengths / mean_length
    return (SATURATION + 1) / (1 + SATURATION * relative)
