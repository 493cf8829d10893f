"""Scenes of the same plot lend each other evidence: neighbours of sure hits, and scenes that mean something alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from novelgen.memory.query_scores import CandidateTable, Column, stack_vectors, unit_rows
from novelgen.memory.weights import SelectionWeights

Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class SceneTies:
    """What ties scenes to each other; of a thousand scenes each is tied to a dozen, so only ties are kept."""

    count: int
    sources: Places
    targets: Places
    shares: Column

    def gathered(self, values: Column) -> Column:
        """Give each scene the mean of those that it is tied to, by their shares; 0 without ties."""
        return self._summed(self.sources, self.shares * values[self.targets])

    def passed_on(self, values: Column) -> Column:
        """Let each scene hand its value on to those that it is tied to, by their shares."""
        return self._summed(self.targets, self.shares * values[self.sources])

    def _summed(self, places: Places, values: Column) -> Column:
        return np.asarray(np.bincount(places, values, minlength=self.count), dtype=np.float64)


def surroundings(ordinals: Places, weights: SelectionWeights) -> SceneTies:
    """Tie scenes to those just before and after them."""
    count = len(ordinals)
    earlier = [np.arange(max(0, count - step)) for step in range(1, weights.scene_reach + 1)]
    later = [places + step for step, places in enumerate(earlier, start=1)]
    first, second = joined(earlier), joined(later)
    distance = ordinals[second] - ordinals[first]
    near = distance <= weights.scene_reach
    first, second = first[near], second[near]
    worth = weights.scene_decay ** distance[near].astype(float)
    return _in_shares(count, np.concatenate([first, second]), np.concatenate([second, first]), np.tile(worth, 2))


def similar_scenes(table: CandidateTable, weights: SelectionWeights) -> SceneTies:
    """Tie each scene to the scenes whose memories mean most nearly the same; without embeddings to none."""
    count = len(table.scenes)
    ties = min(weights.scene_neighbours, count - 1)
    vectors = _scene_vectors(table) if ties >= 1 else None
    if vectors is None:
        return _in_shares(count, joined([]), joined([]), np.zeros(0))
    others = vectors @ vectors.T
    np.fill_diagonal(others, -1.0)
    least = np.partition(others, count - ties, axis=1)[:, count - ties]
    near = others >= np.maximum(least, np.finfo(np.float32).tiny)[:, np.newaxis]
    # One dimension is searched several times faster than two.
    chosen, choice = np.divmod(np.flatnonzero(near), count)
    cells = np.unique(np.concatenate([chosen * count + choice, choice * count + chosen]))
    sources, targets = np.divmod(cells, count)
    return _in_shares(count, sources, targets, others[sources, targets].astype(float))


def spread_evidence(evidence: Column, ties: SceneTies, weights: SelectionWeights) -> Column:
    """Let the evidence of sure scenes flow along ties (personalised PageRank)."""
    seed = np.maximum(evidence, 0.0) ** 2
    if not seed.sum():
        return np.zeros(len(evidence))
    seed = seed / seed.sum()
    share = seed
    for _ in range(weights.spreading_steps):
        share = weights.restart * seed + (1 - weights.restart) * ties.passed_on(share)
    return np.log(share * len(share) + 0.02)


def _scene_vectors(table: CandidateTable) -> NDArray[np.float32] | None:
    """Mean direction of each scene's memories, centred on the mean of all; None without embeddings."""
    vectors, present = stack_vectors(table.candidates)
    used = present & table.measure & (table.scene_of >= 0)
    if not used.any():
        return None
    by_scene = np.argsort(table.scene_of[used], kind="stable")
    scenes, begins = np.unique(table.scene_of[used][by_scene], return_index=True)
    apart = unit_rows(vectors[used] - vectors[used].mean(axis=0))
    sums = np.zeros((len(table.scenes), apart.shape[1]), dtype=np.float32)
    sums[scenes] = np.add.reduceat(apart[by_scene], begins)
    return unit_rows(sums)


def _in_shares(count: int, sources: Places, targets: Places, worth: Column) -> SceneTies:
    totals = np.maximum(np.bincount(sources, worth, minlength=count), np.finfo(float).tiny)
    return SceneTies(count, sources, targets, worth / totals[sources])


def joined(parts: list[Places]) -> Places:
    """Join places one list after the other; no lists give no places."""
    return np.concatenate([np.zeros(0, dtype=np.intp), *parts])
