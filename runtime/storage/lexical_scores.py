"""BM25 over the columns of what was read: one array operation per term, however many memories there are."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

RowIds = NDArray[np.int64]
Kinds = NDArray[np.int64]

SATURATION = 1.2
LENGTH_SHARE = 0.75
"""k1 and b of BM25 (Robertson and Zaragoza 2009, 3.4.3)."""


@dataclass(frozen=True, eq=False)
class LexicalMatches:
    """Scores of all memories before a position, for several queries.

    Args:
        row_ids: The memories, ascending.
        kinds: The number of the kind of each, in the same order.
        scores: Queries by memories; 0 where no term matches.
        counted: Which of them may be found.
    """

    row_ids: RowIds
    kinds: Kinds
    scores: NDArray[np.float64]
    counted: NDArray[np.bool_]

    @property
    def has_any(self) -> bool:
        """Whether any memory matches any query."""
        return bool(self.scores.any())

    def of_kinds(self, kinds: Collection[int]) -> LexicalMatches:
        """Return the memories of some kinds alone; their scores stay."""
        return replace(self, counted=self.counted & np.isin(self.kinds, list(kinds)))

    def among(self, row_ids: RowIds) -> LexicalMatches:
        """Return the memories of these row ids alone; their scores stay."""
        return replace(self, counted=self.counted & np.isin(self.row_ids, row_ids))

    def best(self, limit: int) -> list[list[tuple[int, float]]]:
        """Return the best matches of each query as (row id, score).

        Args:
            limit: So many per query, and all that equal the last of them: what is the same to the score, the
                caller decides.

        Returns:
            In any order.
        """
        return [self._best_of(row, limit) for row in self.scores]

    def _best_of(self, scores: NDArray[np.float64], limit: int) -> list[tuple[int, float]]:
        # Looking for True is many times faster than looking for what is not 0.0.
        places = np.flatnonzero((scores > 0) & self.counted)
        if len(places) > limit > 0:
            border = np.partition(scores[places], len(places) - limit)[len(places) - limit]
            places = places[scores[places] >= border]
        return list(zip(self.row_ids[places].tolist(), scores[places].tolist(), strict=True))


def score_matches(
    queries: Sequence[Sequence[str]],
    found: Mapping[str, RowIds],
    *,
    row_ids: RowIds,
    kinds: Kinds,
    lengths: NDArray[np.int64],
) -> LexicalMatches:
    """Score memories by BM25, a term counting once per memory.

    Args:
        queries: Terms of each query.
        found: Row ids that hold a term; those that are not among `row_ids` are left out.
        row_ids: The memories that count, in any order.
        kinds: The numbers of their kinds.
        lengths: Their lengths in terms.
    """
    order = np.argsort(row_ids)
    rows = row_ids[order]
    places = {term: _places(matched, rows) for term, matched in found.items()}
    scores = np.zeros((len(queries), len(rows)))
    for query, terms in enumerate(queries):
        for term in terms:
            if term in places:
                scores[query, places[term]] += _rarity(len(places[term]), len(rows))
    scores *= _length_shares(lengths[order].astype(float))
    return LexicalMatches(rows, kinds[order], scores, np.ones(len(rows), dtype=bool))


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
