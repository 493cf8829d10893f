"""Scenes that speak of the same rare things belong to one thread: a cassock, a treasure, a promise's words."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import chain

import numpy as np

from novelgen.selection.duplicates import content_words
from novelgen.selection.fusion import Matrix
from novelgen.selection.neighbours import Places, SceneTies, joined, nearest_ties
from novelgen.selection.table import CandidateTable
from novelgen.selection.weights import SelectionWeights

LEAST_COMMON = 3
"""In a short story a word of so many scenes is rare, whatever share of them that is."""

MOST_COMMON = 60
"""In a long one a word of more scenes ties nothing: the cost of a word grows with the square of its scenes."""


def scenes_of_one_thread(table: CandidateTable, weights: SelectionWeights) -> SceneTies:
    """Tie each scene to the scenes whose memories share rare words with its own.

    Args:
        table: The candidates; only their texts count.
        weights: `common_word_share` of the scenes makes a word too common to tie; else as for `nearest_ties`.

    Returns:
        Ties whose shares add up to 1 per scene; none for a scene that shares no word.
    """
    return nearest_ties(_shared_rarity(table, weights), weights)


def _shared_rarity(table: CandidateTable, weights: SelectionWeights) -> Matrix:
    """Compare scenes by their words, weighted by ln((n + 1) / (df + 1/2)) over the scenes (cosine, 0-1)."""
    count = len(table.scenes)
    most = min(MOST_COMMON, max(LEAST_COMMON, int(weights.common_word_share * count)))
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
    telling = {
        word: number for number, word in enumerate(sorted(w for w, n in holders.items() if 2 <= n <= most))
    }
    cells = [(telling[word], scene) for scene, words in said.items() for word in words & telling.keys()]
    words, scenes = np.array(sorted(cells), dtype=np.intp).reshape(-1, 2).T
    return words, scenes
