"""Tests of BM25 over columns."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from runtime.storage.lexical import LexicalMatches, score_matches


def _rows(*numbers: int) -> NDArray[np.int64]:
    return np.array(numbers, dtype=np.int64)


def _matches(*, found: dict[str, list[int]], queries: list[list[str]]) -> LexicalMatches:
    return score_matches(
        queries,
        {term: _rows(*matched) for term, matched in found.items()},
        row_ids=_rows(30, 10, 20),
        kinds=_rows(3, 1, 2),
        lengths=_rows(4, 4, 4),
    )


def test_a_score_is_the_formula() -> None:
    """With equal lengths the share of length is 1, so a score is the rarity of the terms that match."""
    matches = _matches(found={"key": [10, 20], "brass": [20]}, queries=[["key", "brass"]])

    rare, common = math.log(1 + 2.5 / 1.5), math.log(1 + 1.5 / 2.5)
    assert dict(matches.best(5)[0]) == pytest.approx({20: rare + common, 10: common})


def test_memories_that_do_not_count_change_nothing() -> None:
    """Matches outside the position neither appear nor make a term more common."""
    with_later = _matches(found={"key": [10, 40, 5]}, queries=[["key"]])
    without = _matches(found={"key": [10]}, queries=[["key"]])

    assert with_later.best(5) == without.best(5) != [[]]


def test_all_that_equal_the_last_that_fits_are_told() -> None:
    """Which of equals is kept is not for the score to say."""
    matches = _matches(found={"key": [30, 20, 10], "brass": [20]}, queries=[["key", "brass"]])

    assert [row_id for row_id, _ in matches.best(1)[0]] == [20]
    assert sorted(row_id for row_id, _ in matches.best(2)[0]) == [10, 20, 30]


def test_memories_can_be_narrowed_by_row_and_by_kind() -> None:
    """What is not asked for is not found, and the scores of the rest stay; asking for nothing finds nothing."""
    matches = _matches(found={"key": [10, 20]}, queries=[["key"], ["absent"]])
    scores = dict(matches.best(5)[0])

    assert matches.among(_rows(20, 99)).best(5) == [[(20, scores[20])], []]
    assert matches.of_kinds([1, 3]).best(5) == [[(10, scores[10])], []]
    assert matches.among(_rows()).best(5) == matches.of_kinds([]).best(5) == [[], []]


def test_nothing_stored_finds_nothing() -> None:
    """An empty story has no scores."""
    matches = score_matches([["key"]], {}, row_ids=_rows(), kinds=_rows(), lengths=_rows())

    assert not matches.has_any
    assert matches.best(5) == [[]]
