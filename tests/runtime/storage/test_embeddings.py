"""Stored vectors."""

from __future__ import annotations

import numpy as np
import pytest

from novelgen.errors import EmbeddingError
from runtime.storage.database import DatabaseManager
from tests.runtime.storage.stories import at, memory, scene, store


@pytest.fixture
def told(database: DatabaseManager) -> DatabaseManager:
    """Three memories in two chapters, two of them with vectors."""
    store(database, scene(1, 1, memory("M1"), memory("M2")), scene(2, 1, memory("M3")))
    with database.project("demo").write() as unit:
        vectors = {"M1": [0.5, -1.0], "M3": np.array([3.0, 4.0]), "gone": [9.0, 9.0]}
        assert unit.embeddings.put("m", vectors) == 2
    return database


def test_vectors_come_back_as_they_went_in(told: DatabaseManager) -> None:
    """As float32, one row per id; unknown chunks are passed over."""
    with told.project("demo").read() as unit:
        ids, matrix = unit.embeddings.matrix("m")

    assert matrix.dtype == np.float32
    assert dict(zip(ids, matrix.tolist(), strict=True)) == {"M1": [0.5, -1.0], "M3": [3.0, 4.0]}


def test_the_matrix_is_cut_by_position_model_ids_and_status(told: DatabaseManager) -> None:
    """Nothing left gives an empty matrix."""
    with told.project("demo").write() as unit:
        matrix = unit.embeddings.matrix
        assert matrix("m", as_of=at(2))[0] == ["M1"]
        assert matrix("m", ids=["M3", "M2", "nope"])[0] == ["M3"]
        unit.memories.ban("M1")
        assert matrix("m")[0] == ["M3"]
        ids, empty = matrix("other")
        assert (ids, empty.shape) == ([], (0, 0))
    with told.project("demo2").read() as unit:
        assert unit.embeddings.matrix("m")[0] == []


def test_models_have_their_own_vectors(told: DatabaseManager) -> None:
    """Another model adds to, the same model replaces what is stored."""
    with told.project("demo").write() as unit:
        unit.embeddings.put("n", {"M1": [1.0, 2.0, 3.0]})
        unit.embeddings.put("m", {"M1": [7.0, 7.0]})
        assert unit.embeddings.matrix("n")[1].shape == (1, 3)
        assert unit.embeddings.matrix("m", ids=["M1"])[1].tolist() == [[7.0, 7.0]]
        assert [len(unit.embeddings.matrix(model)[0]) for model in ("m", "n")] == [2, 1]


@pytest.mark.parametrize(
    ("vectors", "reason"),
    [
        ({"M1": [1.0], "M2": [1.0, 2.0]}, "one length"),
        ({"M1": []}, "one length"),
        ({"M1": [[1.0]]}, "one length"),
        ({"M1": [float("nan")]}, "'M1' holds values that are not finite"),
        ({"M2": [float("inf")]}, "'M2' holds values that are not finite"),
    ],
)
def test_broken_vectors_are_refused(told: DatabaseManager, vectors: dict, reason: str) -> None:
    """Nothing that a search would choke on is stored."""
    with pytest.raises(EmbeddingError, match=reason), told.project("demo").write() as unit:
        unit.embeddings.put("m", vectors)
