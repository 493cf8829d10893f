"""Embeddings seen from the candidates of one choice: what they all have in common tells nothing apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novelgen.memory.search import Candidate, Vector
from novelgen.selection.weights import SelectionWeights

Vectors = NDArray[np.float32]
Mask = NDArray[np.bool_]

VECTORS_PER_DIRECTION = 8
"""Fewer vectors than this for each direction do not show which directions they share."""

ITERATIONS = 4
"""Rounds of subspace iteration; more change no choice."""

LEAST_STRENGTH = 1e-3
"""A direction under this share of the strongest is rounding, not meaning."""


@dataclass(frozen=True, eq=False)
class EmbeddingSpace:
    """A space in which the strongest common directions count less.

    Args:
        centre: What is subtracted from every vector.
        directions: Orthonormal rows, strongest first; may be none.
        factors: What is left of each direction, 0-1.
    """

    centre: Vector
    directions: Vectors
    factors: Vectors

    def placed(self, vectors: Vectors) -> Vectors:
        """Bring vectors, one a row, into the space, at unit length; a vector at the centre stays zero."""
        moved = vectors - self.centre
        lost = (moved @ self.directions.T) * (np.float32(1) - self.factors)
        return unit_rows(np.asarray(moved - lost @ self.directions, dtype=np.float32))


def damped_space(vectors: Vectors, weights: SelectionWeights) -> EmbeddingSpace:
    """Measure what vectors have in common.

    Embeddings of one book share a large common direction (its language, its style) and some lesser ones (its
    leading people, dialogue or fight); without the first and with less of the others, what sets one memory
    apart from another shows (after Mu and Viswanath, "All-but-the-Top", 2018, who remove them wholly).

    Args:
        vectors: At least one, one a row.
        weights: `common_directions` and `damping`: a direction d times as strong as the weakest of them
            keeps d ** -`damping` of itself.

    Returns:
        The space; few vectors are only centred.
    """
    centre = vectors.mean(axis=0)
    directions, strengths = _strongest(
        vectors - centre, min(weights.common_directions, len(vectors) // VECTORS_PER_DIRECTION)
    )
    weakest = strengths[-1] if len(strengths) else 1.0
    return EmbeddingSpace(centre, directions, (weakest / strengths) ** np.float32(weights.damping))


def stack_vectors(candidates: Sequence[Candidate]) -> tuple[Vectors, Mask]:
    """Stack the candidates' embeddings.

    Returns:
        Candidates by dimensions, zeros where there is none, and which candidates have one.
    """
    present = np.array([candidate.vector is not None for candidate in candidates], dtype=bool)
    size = next((len(c.vector) for c in candidates if c.vector is not None), 0)
    rows = [np.zeros(size, np.float32) if c.vector is None else c.vector for c in candidates]
    return np.array(rows, dtype=np.float32).reshape(len(rows), size), present


def unit_rows(vectors: Vectors) -> Vectors:
    """Bring rows to unit length; zeros stay zeros."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), np.float32(1e-9))


def _strongest(moved: Vectors, count: int) -> tuple[Vectors, Vectors]:
    """Find the principal directions and their singular values, strongest first, by subspace iteration."""
    count = min(count, moved.shape[1])
    # Any start does; a fixed one gives the same choice every time.
    basis = np.random.default_rng(0).standard_normal((moved.shape[1], count)).astype(np.float32)
    for _ in range(ITERATIONS):
        basis, _triangle = np.linalg.qr(moved.T @ (moved @ basis))
    _left, strengths, turned = np.linalg.svd(moved @ basis, full_matrices=False)
    kept = strengths > LEAST_STRENGTH * strengths.max(initial=0.0)
    return (turned @ basis.T)[kept], strengths[kept]
