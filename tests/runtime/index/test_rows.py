"""Rows that make no sense cannot be made, and unusable vectors never reach the index."""

import math

import numpy as np
import pytest

from novelgen.errors import EmbeddingError
from runtime.index.rows import require_vectors
from tests.runtime.index.story_rows import make_row


def test_a_row_needs_an_id_and_a_scene_its_chapter() -> None:
    """An empty chunk id, and a scene index without a chapter, are refused."""
    with pytest.raises(ValueError, match="chunk_id='' is empty"):
        make_row("", [1.0])
    with pytest.raises(ValueError, match="scene_index=4 was given without chapter_index"):
        make_row("a", [1.0], position=(None, 4))


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        ([1.0, math.nan], "'a' holds NaN or infinity"),
        ([1.0, math.inf], "'a' holds NaN or infinity"),
        ([0.0, 0.0], "'a' is all zeros"),
        ([1.0], r"'a' has shape \(1,\), but the index holds 2 values"),
        ([[1.0, 2.0]], r"'a' has shape \(1, 2\)"),
    ],
)
def test_unusable_vectors_are_refused_by_name(vector: list[float], message: str) -> None:
    """The message names the row and what is wrong with its vector."""
    with pytest.raises(EmbeddingError, match=message):
        require_vectors([vector], dimension=2, names=["'a'"])


def test_usable_vectors_become_one_matrix() -> None:
    """Lists and arrays are stacked as 32 bit floats; none at all keep the dimension."""
    matrix = require_vectors([[1.0, 0.0], np.array([0.0, 2.0])], dimension=2, names=["a", "b"])
    assert matrix.dtype == np.float32
    assert matrix.tolist() == [[1.0, 0.0], [0.0, 2.0]]
    assert require_vectors([], dimension=2, names=[]).shape == (0, 2)
