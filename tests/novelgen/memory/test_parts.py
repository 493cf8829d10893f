"""The arithmetic under the choice."""

from __future__ import annotations

import numpy as np
import pytest

from novelgen.memory.budget import ChosenForm, Priced, fill, gain_per_token
from novelgen.memory.duplicates import content_words
from novelgen.memory.query_scores import CLIP, RANK_CONSTANT, pool_best, retriever_scores, semantic_scores, standardise
from novelgen.memory.weights import SelectionWeights
from tests.novelgen.memory.build import candidate, lexical, plan_scene, semantic

ALL = np.ones(4, dtype=bool)


def test_standardise_brings_to_mean_and_deviation():
    """Known values get mean 0 and deviation 1, unknown ones the mean."""
    scaled = standardise(np.array([1.0, 3.0, np.nan, 2.0]), ALL)
    assert scaled[2] == 0
    assert scaled[[0, 1, 3]].mean() == pytest.approx(0)
    assert scaled[[0, 1, 3]].std() == pytest.approx(1)


def test_standardise_without_spread_says_nothing():
    """Equal values, and no value at all, give zeros."""
    assert not standardise(np.array([5.0, 5.0, 5.0, 5.0]), ALL).any()
    assert not standardise(np.full(4, np.nan), ALL).any()


def test_standardise_holds_outliers_in():
    """A value far out is clipped."""
    assert standardise(np.array([0.0] * 99 + [1.0]), np.ones(100, dtype=bool)).max() == CLIP


def test_pool_best_averages_the_best_queries():
    """The best rows of each column are averaged; without queries there is nothing."""
    assert pool_best(np.array([[1.0, 0.0], [3.0, 0.0], [2.0, 9.0]]), 2).tolist() == [2.5, 4.5]
    assert pool_best(np.zeros((0, 2)), 3).tolist() == [0, 0]


def test_truncated_answers_bound_what_they_leave_out():
    """A candidate missing from the semantic answer gets its least score, from the lexical one nothing."""
    rows = [candidate("a", hits=(semantic(1, 0.9), lexical(1, 4.0))), candidate("b", hits=(semantic(2, 0.7),))]
    queries = [(0, plan_scene().queries[0])]
    missing = candidate("c")
    assert retriever_scores("semantic", queries, [*rows, missing]).tolist() == [[0.9, 0.7, 0.7]]
    assert retriever_scores("lexical", queries, [*rows, missing]).tolist() == [[4.0, 0.0, 0.0]]


def test_rank_stands_for_an_unknown_score():
    """A hit without a score counts by its reciprocal rank."""
    scores = retriever_scores("lexical", [(0, plan_scene().queries[0])], [candidate("a", hits=(lexical(3),))])
    assert scores.tolist() == [[1 / (RANK_CONSTANT + 3)]]


def test_candidate_without_embedding_is_unknown():
    """Among embedded candidates one without an embedding has no semantic score."""
    rows = [candidate("a", axis=0), candidate("b", axis=1), candidate("c")]
    scores = semantic_scores([(0, plan_scene(axis=0).queries[0])], rows, np.ones(3, dtype=bool))
    assert scores[0, 0] > scores[0, 1]
    assert np.isnan(scores[0, 2])


def test_gain_counts_cost_and_form():
    """Of equal scores the cheaper text gains more, and a full one more than a short one at the same cost."""
    weights = SelectionWeights()
    cheap, dear = ChosenForm("full", "x", 10), ChosenForm("full", "x", 30)
    assert gain_per_token(1.0, cheap, weights) > gain_per_token(1.0, dear, weights)
    assert gain_per_token(1.0, cheap, weights) > gain_per_token(1.0, ChosenForm("short", "x", 10), weights)


def test_fill_asks_only_for_what_fits():
    """What does not fit is passed over unasked, and what another stands for leaves its room to the next."""
    priced = [Priced("a", 4, 5), Priced("b", 3, 100), Priced("c", 2, 5), Priced("d", 1, 5), Priced("e", 9, 0)]
    filling = fill(priced, 10, {"c": "a"}.get)
    assert filling.taken == ("a", "d")
    assert filling.no_room == ("e", "b")
    assert filling.duplicates == {"c": "a"}


def test_content_words_of_both_languages():
    """Latin words are lowered and short ones dropped, Chinese ones are pairs of characters."""
    assert content_words("The Ring of 金箍棒 is ＨＩＤＤＥＮ") == {"the", "ring", "hidden", "金箍", "箍棒"}
