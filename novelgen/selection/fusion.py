"""Many queries and two retrievers made comparable: standardised scores, pooled over the best queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from novelgen.selection.candidates import SEMANTIC_RETRIEVER, Candidate, SceneQuery
from novelgen.selection.embedding_space import Mask, damped_space, stack_vectors
from novelgen.selection.weights import SelectionWeights

Column = NDArray[np.float64]
Matrix = NDArray[np.float64]

RANK_CONSTANT = 60
"""k of reciprocal rank fusion (Cormack and others, 2009): 1 / (k + rank) stands for an unknown score."""

CLIP = 4.0
"""Greatest standardised value, so that one odd outlier does not decide alone."""


def standardise(values: Matrix, reference: Mask) -> Matrix:
    """Bring rows to mean 0 and deviation 1 over the reference columns.

    Args:
        values: Numbers, one row or many; NaN marks an unknown value.
        reference: Columns whose mean and deviation count.

    Returns:
        An array of the same shape within ±`CLIP`; unknown values and rows without spread are 0, the mean.
    """
    known = np.where(reference, values, np.nan)
    counted = np.maximum((~np.isnan(known)).sum(axis=-1, keepdims=True), 1)
    mean = np.nansum(known, axis=-1, keepdims=True) / counted
    deviation = np.sqrt(np.nansum((known - mean) ** 2, axis=-1, keepdims=True) / counted)
    spread = deviation > 1e-9
    scaled = np.where(spread, (values - mean) / np.where(spread, deviation, 1.0), 0.0)
    return np.clip(np.nan_to_num(scaled, nan=0.0), -CLIP, CLIP)


def pool_best(scores: Matrix, best: int) -> Column:
    """Average each column's best rows.

    Args:
        scores: Queries by candidates.
        best: How many rows to average, from 1; all where there are fewer.

    Returns:
        One value per candidate; zeros without queries.
    """
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

    Args:
        queries: Index and query of those that vote.
        candidates: The candidates.
        reference: Candidates whose embeddings make the space.
        weights: How the space is damped.

    Returns:
        Queries by candidates; NaN where a candidate has no embedding.
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
    """Collect what one retriever answered.

    Args:
        retriever: Name of the retriever.
        queries: Index and query of those that vote.
        candidates: The candidates with their hits.

    Returns:
        Queries by candidates. A candidate that the retriever did not return for a query gets the least score that
        it returned for it when that is positive and the retriever is the semantic one, else 0: a truncated answer
        bounds what it left out.
    """
    rows = {index: row for row, (index, _) in enumerate(queries)}
    scores = np.full((len(queries), len(candidates)), np.nan)
    for column, candidate in enumerate(candidates):
        for hit in candidate.hits:
            if hit.retriever == retriever and hit.query_index in rows:
                value = 1 / (RANK_CONSTANT + hit.rank) if hit.score is None else hit.score
                scores[rows[hit.query_index], column] = value
    return np.array([_filled(row, bounded=retriever == SEMANTIC_RETRIEVER) for row in scores]).reshape(
        scores.shape
    )


def _filled(row: Column, *, bounded: bool) -> Column:
    known = row[~np.isnan(row)]
    floor = float(known.min()) if bounded and len(known) else 0.0
    return np.nan_to_num(row, nan=floor)
