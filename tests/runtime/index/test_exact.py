"""Exact search is the oracle of the index."""

import numpy as np
import pytest

from runtime.index.rows import exact_search
from tests.runtime.index.story_rows import random_vectors


def test_rows_come_best_first_with_their_cosine() -> None:
    """Whatever the lengths, ties by id even at the cut, all where fewer than asked for, none where none."""
    matrix = np.array([[0, 5], [3, 0], [1, 1]], dtype=np.float32)
    hits = exact_search(matrix, ["up", "right", "both"], query_vectors=matrix[1:2], top_k=3)[0]
    assert [name for name, _ in hits] == ["right", "both", "up"]
    assert [score for _, score in hits] == pytest.approx([1.0, 2**-0.5, 0.0], abs=1e-6)
    matrix = np.ones((4, 2), dtype=np.float32)
    hits = exact_search(matrix, ["d", "b", "c", "a"], query_vectors=matrix[:1], top_k=2)[0]
    assert [name for name, _ in hits] == ["a", "b"]
    empty = np.empty((0, 16), dtype=np.float32)
    assert exact_search(empty, [], query_vectors=random_vectors(2), top_k=5) == [[], []]
    assert len(exact_search(random_vectors(3), list("abc"), query_vectors=random_vectors(1), top_k=9)[0]) == 3


def test_it_agrees_with_a_plain_sort() -> None:
    """Partial sorting finds what a full sort of all cosines finds."""
    matrix, question = random_vectors(200), random_vectors(3, seed=9)
    ids = [f"c{index:03d}" for index in range(200)]
    found = exact_search(matrix, ids, query_vectors=question, top_k=7)
    for hits, row in zip(found, question @ matrix.T, strict=True):
        assert [name for name, _ in hits] == [ids[index] for index in np.argsort(-row)[:7]]


@pytest.mark.parametrize(
    ("rows", "ids", "dimension", "top_k", "message"),
    [
        (2, ["a"], 16, 1, "matrix has 2 rows but 1 ids"),
        (1, ["a"], 4, 1, "questions have dimension 4, stored vectors 16"),
        (1, ["a"], 16, 0, "top_k=0 must be at least 1"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(
    rows: int, ids: list[str], dimension: int, top_k: int, message: str
) -> None:
    """The message names what does not fit."""
    question = np.ones((1, dimension), dtype=np.float32)
    with pytest.raises(ValueError, match=message):
        exact_search(random_vectors(rows), ids, query_vectors=question, top_k=top_k)
