"""Many queries and two retrievers made comparable: the space of the embeddings, and standardised, pooled scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novelgen.memory.candidates import SEMANTIC_RETRIEVER, SceneQuery
from novelgen.memory.search import Candidate, Vector
from novelgen.memory.weights import SelectionWeights

Vectors = NDArray[np.float32]

Mask = NDArray[np.bool_]

VECTORS_PER_DIRECTION = 8
"""Fewer vectors than this for each direction do not show which directions they share."""

ITERATIONS = 4
"""Rounds of subspace iteration; more change no choice."""

MIN_STRENGTH = 1e-3
"""A direction under this share of the strongest is rounding, not meaning."""


@dataclass(frozen=True, eq=False)
class EmbeddingSpace:
    """A space in which the strongest common directions count less."""

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
    """
    centre = vectors.mean(axis=0)
    directions, strengths = _strongest(
        vectors - centre, min(weights.common_directions, len(vectors) // VECTORS_PER_DIRECTION)
    )
    weakest = strengths[-1] if len(strengths) else 1.0
    return EmbeddingSpace(centre, directions, (weakest / strengths) ** np.float32(weights.damping))


def stack_vectors(candidates: Sequence[Candidate]) -> tuple[Vectors, Mask]:
    """Stack the candidates' embeddings."""
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
    kept = strengths > MIN_STRENGTH * strengths.max(initial=0.0)
    return (turned @ basis.T)[kept], strengths[kept]


Column = NDArray[np.float64]

Matrix = NDArray[np.float64]

RANK_CONSTANT = 60
"""k of reciprocal rank fusion (Cormack and others, 2009): 1 / (k + rank) stands for an unknown score."""

CLIP = 4.0
"""Greatest standardised value, so that one odd outlier does not decide alone."""


def standardise(values: Matrix, reference: Mask) -> Matrix:
    """Bring rows to mean 0 and deviation 1 over the reference columns."""
    known = np.where(reference, values, np.nan)
    counted = np.maximum((~np.isnan(known)).sum(axis=-1, keepdims=True), 1)
    mean = np.nansum(known, axis=-1, keepdims=True) / counted
    deviation = np.sqrt(np.nansum((known - mean) ** 2, axis=-1, keepdims=True) / counted)
    spread = deviation > 1e-9
    scaled = np.where(spread, (values - mean) / np.where(spread, deviation, 1.0), 0.0)
    return np.clip(np.nan_to_num(scaled, nan=0.0), -CLIP, CLIP)


def pool_best(scores: Matrix, best: int) -> Column:
    """Average each column's best rows."""
    if not len(scores):
        return np.zeros(scores.shape[1])
    return np.sort(scores, axis=0)[-best:].mean(axis=0)


def semantic_scores(
    queries: Sequence[tuple[int, SceneQuery]],
    candidates: Sequence[Candidate],
    reference: Mask,
    *,
    weights: SelectionWeights,
) -> Matrix:
    """Score every candidate against every query by meaning.

    Where queries and candidates bring embeddings, by their cosine in the candidates' own space, so that a
    candidate found by another retriever is judged as well; else by what the semantic retriever answered.
    """
    vectors, present = stack_vectors(candidates)
    asked = [query.vector for _, query in queries if query.vector is not None]
    if not present.any() or len(asked) != len(queries) or not asked:
        return retriever_scores(SEMANTIC_RETRIEVER, queries, candidates)
    counted = present & reference if (present & reference).any() else present
    space = damped_space(vectors[counted], weights)
    cosine = space.placed(np.array(asked, dtype=np.float32)) @ space.placed(vectors).T
    return np.where(present, cosine, np.nan).astype(np.float64)


def retriever_scores(
    retriever: str, queries: Sequence[tuple[int, SceneQuery]], candidates: Sequence[Candidate]
) -> Matrix:
    """Collect what one retriever answered."""
    rows = {index: row for row, (index, _) in enumerate(queries)}
    scores = np.full((len(queries), len(candidates)), np.nan)
    for column, candidate in enumerate(candidates):
        for hit in candidate.hits:
            if hit.retriever == retriever and hit.query_index in rows:
                value = 1 / (RANK_CONSTANT + hit.rank) if hit.score is None else hit.score
                scores[rows[hit.query_index], column] = value
    return np.array([_filled(row, bounded=retriever == SEMANTIC_RETRIEVER) for row in scores]).reshape(scores.shape)


def _filled(row: Column, *, bounded: bool) -> Column:
    known = row[~np.isnan(row)]
    floor = float(known.min()) if bounded and len(known) else 0.0
    return np.nan_to_num(row, nan=floor)
