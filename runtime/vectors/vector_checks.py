"""Refuses vectors that the index must never see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from novelgen.errors import EmbeddingError


def require_vectors(
    vectors: Iterable[NDArray[np.float32] | Sequence[float]], *, dimension: int, names: Sequence[str]
) -> NDArray[np.float32]:
    """Stack vectors into a matrix, or refuse them all.

    Args:
        vectors: Embeddings, each of the given dimension.
        dimension: Length that every vector must have.
        names: What to call each vector in messages.

    Returns:
        Matrix of shape (vectors, dimension), float32.

    Raises:
        EmbeddingError: A vector has another length, a value that is not finite, or no direction (all zeros).
    """
    rows = [
        _require_vector(vector, dimension=dimension, name=name)
        for vector, name in zip(vectors, names, strict=True)
    ]
    return np.stack(rows) if rows else np.empty((0, dimension), dtype=np.float32)


def _require_vector(
    vector: NDArray[np.float32] | Sequence[float], *, dimension: int, name: str
) -> NDArray[np.float32]:
    row = np.asarray(vector, dtype=np.float32)
    if row.shape != (dimension,):
        raise EmbeddingError(
            f"vector of {name} has shape {row.shape!r}, but the index holds {dimension} values per vector; "
            "check which embedding model made it"
        )
    if not np.isfinite(row).all():
        raise EmbeddingError(f"vector of {name} holds NaN or infinity; embed it again")
    if not row.any():
        raise EmbeddingError(f"vector of {name} is all zeros and has no direction; embed it again")
    return row
