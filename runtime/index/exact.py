"""Exact cosine search over a matrix: the oracle of the index in tests and its fallback in use."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def exact_search(
    matrix: NDArray[np.float32], ids: Sequence[str], *, query_vectors: NDArray[np.float32], top_k: int
) -> list[list[tuple[str, float]]]:
    """Find the rows nearest to each question by cosine, without approximation."""
    _refuse_misfits(matrix, ids, query_vectors=query_vectors, top_k=top_k)
    if not len(ids):
        return [[] for _ in query_vectors]
    similarities = np.clip(_unit_rows(query_vectors) @ _unit_rows(matrix).T, -1.0, 1.0)
    return [_best(row, ids, top_k=top_k) for row in similarities]


def _refuse_misfits(
    matrix: NDArray[np.float32], ids: Sequence[str], *, query_vectors: NDArray[np.float32], top_k: int
) -> None:
    if top_k < 1:
        raise ValueError(f"top_k={top_k!r} must be at least 1")
    if len(matrix) != len(ids):
        raise ValueError(f"matrix has {len(matrix)} rows but {len(ids)} ids were given")
    if len(ids) and query_vectors.shape[-1] != matrix.shape[-1]:
        raise ValueError(f"questions have dimension {query_vectors.shape[-1]}, stored vectors {matrix.shape[-1]}")


def _unit_rows(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, np.where(lengths > 0, lengths, 1.0), dtype=np.float32)


def _best(similarities: NDArray[np.float32], ids: Sequence[str], *, top_k: int) -> list[tuple[str, float]]:
    count = min(top_k, len(ids))
    # Every row as good as the last that fits is a candidate, so that ties are broken by id alone.
    threshold = np.partition(similarities, -count)[-count]
    candidates = np.flatnonzero(similarities >= threshold)
    ranked = sorted((-float(similarities[index]), ids[index]) for index in candidates.tolist())
    return [(chunk_id, -negative) for negative, chunk_id in ranked[:count]]
