"""Scenes of the same plot lend each other evidence: neighbours of sure hits, and scenes that share rare words."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from novelgen.memory.query_scores import CandidateTable, Column, Matrix, stack_vectors, unit_rows
from novelgen.memory.retelling import content_words
from novelgen.memory.weights import SelectionWeights

Places = NDArray[np.intp]

Similarity = NDArray[np.float32] | NDArray[np.float64]


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

    def half_with(self, other: SceneTies) -> SceneTies:
        """Return the ties of both, each with half its share."""
        return SceneTies(
            self.count,
            np.concatenate([self.sources, other.sources]),
            np.concatenate([self.targets, other.targets]),
            np.concatenate([self.shares, other.shares]) / 2,
        )

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
    """Tie each scene to the scenes whose memories mean something similar."""
    vectors = _scene_vectors(table)
    if vectors is None:
        return _in_shares(len(table.scenes), joined([]), joined([]), np.zeros(0))
    return nearest_ties(vectors @ vectors.T, weights)


def nearest_ties(similarity: Similarity, weights: SelectionWeights) -> SceneTies:
    """Tie each scene to its most similar ones."""
    count = len(similarity)
    ties = min(weights.scene_neighbours, count - 1)
    if ties < 1:
        return _in_shares(count, joined([]), joined([]), np.zeros(0))
    others = similarity.astype(np.float32)
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


MIN_COMMON = 3
"""In a short story a word of so many scenes is rare, whatever share of them that is."""

MAX_COMMON = 60
"""In a long one a word of more scenes ties nothing: the cost of a word grows with the square of its scenes."""


def scenes_of_one_thread(table: CandidateTable, weights: SelectionWeights) -> SceneTies:
    """Tie each scene to the scenes whose memories share rare words with its own."""
    return nearest_ties(_shared_rarity(table, weights), weights)


def _shared_rarity(table: CandidateTable, weights: SelectionWeights) -> Matrix:
    """Compare scenes by their words, weighted by ln((n + 1) / (df + 1/2)) over the scenes (cosine, 0-1)."""
    count = len(table.scenes)
    most = min(MAX_COMMON, max(MIN_COMMON, int(weights.common_word_share * count)))
    words, scenes = _telling_words(table, most=most)
    holders = np.bincount(words) if len(words) else np.zeros(0, dtype=np.intp)
    rarity = np.log((count + 1) / (holders + 0.5)) ** 2
    # Sorted by word, the holders of a word stand together: pairs are a step apart, two steps apart, and so on.
    steps = range(1, int(holders.max(initial=0)))
    firsts = [np.flatnonzero(words[step:] == words[:-step]) for step in steps]
    first = joined(firsts)
    second = joined([places + step for step, places in zip(steps, firsts, strict=True)])
    lengths = np.sqrt(np.bincount(scenes, rarity[words], minlength=count))
    one, other = scenes[first], scenes[second]
    shared = rarity[words[first]] / (lengths[one] * lengths[other])
    cells = np.concatenate([one * count + other, other * count + one])
    summed = np.bincount(cells, np.tile(shared, 2), minlength=count * count)
    return np.asarray(summed, dtype=np.float64).reshape(count, count)


def _telling_words(table: CandidateTable, *, most: int) -> tuple[Places, Places]:
    """Number the words of two scenes or more but not of more than `most`, ascending, with their scenes."""
    said: dict[int, set[str]] = defaultdict(set)
    for row in np.flatnonzero(table.measure & (table.scene_of >= 0)):
        said[int(table.scene_of[row])] |= content_words(table.candidates[row].chunk.content)
    holders = Counter(chain.from_iterable(said.values()))
    # In order of the words: sums in another order differ in their last digits.
    telling = {word: number for number, word in enumerate(sorted(w for w, n in holders.items() if 2 <= n <= most))}
    cells = [(telling[word], scene) for scene, words in said.items() for word in words & telling.keys()]
    words, scenes = np.array(sorted(cells), dtype=np.intp).reshape(-1, 2).T
    return words, scenes
