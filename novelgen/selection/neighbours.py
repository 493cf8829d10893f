"""From sure hits to their neighbours in the story: scenes of the same plot lend each other evidence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from novelgen.selection.fusion import Column, Matrix, centred, stack_vectors
from novelgen.selection.table import CandidateTable
from novelgen.selection.weights import SelectionWeights


def surroundings(ordinals: NDArray[np.intp], weights: SelectionWeights) -> Matrix:
    """Tie scenes to those just before and after them.

    Args:
        ordinals: Story order of the scenes.
        weights: `scene_decay` per scene of distance, up to `scene_reach`.

    Returns:
        Scenes by scenes; a row adds up to 1, or to 0 for a scene without surroundings.
    """
    distance = np.abs(ordinals[:, None] - ordinals[None, :])
    near = (distance > 0) & (distance <= weights.scene_reach)
    return _row_shares(np.where(near, weights.scene_decay ** distance.astype(float), 0.0))


def similar_scenes(table: CandidateTable, weights: SelectionWeights) -> Matrix:
    """Tie each scene to the scenes whose memories mean something similar.

    Args:
        table: Candidates with embeddings; scenes without any are tied to none.
        weights: `scene_neighbours` ties per scene, mutual or not.

    Returns:
        Scenes by scenes; a row adds up to 1, or to 0.
    """
    count = len(table.scenes)
    vectors = _scene_vectors(table)
    ties = min(weights.scene_neighbours, count - 1)
    if vectors is None or ties < 1:
        return np.zeros((count, count))
    similarity = (vectors @ vectors.T).astype(float)
    np.fill_diagonal(similarity, -1.0)
    nearest = np.argpartition(-similarity, ties - 1, axis=1)[:, :ties]
    rows = np.arange(count)[:, None]
    tied = np.zeros((count, count))
    tied[rows, nearest] = np.maximum(similarity[rows, nearest], 0.0)
    return _row_shares(np.maximum(tied, tied.T))


def spread_evidence(evidence: Column, ties: Matrix, weights: SelectionWeights) -> Column:
    """Let the evidence of sure scenes flow along ties (personalised PageRank).

    Args:
        evidence: Standardised evidence per scene; what lies under the mean seeds nothing.
        ties: Scenes by scenes, rows as shares.
        weights: `restart` and `spreading_steps`.

    Returns:
        Logarithm of each scene's share; the same for all when nothing stands out.
    """
    seed = np.maximum(evidence, 0.0) ** 2
    if not seed.sum():
        return np.zeros(len(evidence))
    seed = seed / seed.sum()
    share = seed
    for _ in range(weights.spreading_steps):
        share = weights.restart * seed + (1 - weights.restart) * (ties.T @ share)
    return np.log(share * len(share) + 0.02)


def _scene_vectors(table: CandidateTable) -> NDArray[np.float32] | None:
    """Mean direction of each scene's memories, centred on the mean of all; None without embeddings."""
    vectors, present = stack_vectors(table.candidates)
    used = present & table.measure & (table.scene_of >= 0)
    if not used.any():
        return None
    apart = centred(vectors[used], vectors[used].mean(axis=0))
    sums = np.zeros((len(table.scenes), apart.shape[1]), dtype=np.float32)
    np.add.at(sums, table.scene_of[used], apart)
    return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)


def _row_shares(ties: Matrix) -> Matrix:
    return ties / np.maximum(ties.sum(axis=1, keepdims=True), 1e-9)
