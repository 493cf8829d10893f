"""Tests of BM25 over columns."""

from __future__ import annotations

import math

import numpy as np
import pytest

from runtime.storage.lexical_scores import LexicalMatches, score_matches


def _matches(*, found: dict[str, list[int]], queries: list[list[str]]) -> LexicalMatches:
    rows = {term: np.array(matched, dtype=np.int64) for term, matched in found.items()}
    return score_matches(
        queries, rows, row_ids=[30, 10, 20], chunk_ids=["M30", "M10", "M20"], lengths=[4, 4, 4]
    )


def test_a_score_is_the_formula() -> None:
    """With equal lengths the share of length is 1, so a score is the rarity of the terms that match."""
    matches = _matches(found={"key": [10, 20], "brass": [20]}, queries=[["key", "brass"]])

    rare, common = math.log(1 + 2.5 / 1.5), math.log(1 + 1.5 / 2.5)
    found = matches.best(None, limit=5)[0]
    assert [chunk_id for chunk_id, _ in found] == ["M20", "M10"]
    assert [score for _, score in found] == pytest.approx([rare + common, common])


def test_memories_that_do_not_count_change_nothing() -> None:
    """Matches outside the position neither appear nor make a term more common."""
    with_later = _matches(found={"key": [10, 40, 5]}, queries=[["key"]])
    without = _matches(found={"key": [10]}, queries=[["key"]])

    assert with_later.best(None, limit=5) == without.best(None, limit=5)


def test_equal_scores_go_by_chunk_id_whatever_the_limit() -> None:
    """The limit cuts after chunk ids have decided among equals."""
    matches = _matches(found={"key": [30, 20, 10]}, queries=[["key"]])

    assert [chunk_id for chunk_id, _ in matches.best(None, limit=2)[0]] == ["M10", "M20"]


def test_only_admitted_rows_are_found() -> None:
    """What a filter does not admit is not found; admitting nothing finds nothing."""
    matches = _matches(found={"key": [10, 20]}, queries=[["key"], ["absent"]])

    assert [[name for name, _ in hits] for hits in matches.best([20, 99], limit=5)] == [["M20"], []]
    assert matches.best([], limit=5) == [[], []]


def test_nothing_stored_finds_nothing() -> None:
    """An empty story has no scores."""
    matches = score_matches([["key"]], {}, row_ids=[], chunk_ids=[], lengths=[])

    assert not matches.has_any
    assert matches.best(None, limit=5) == [[]]
