"""Scenes that speak of the same rare things belong to one thread: a cassock, a treasure, a promise's words."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from novelgen.selection.duplicates import content_words
from novelgen.selection.fusion import Matrix
from novelgen.selection.neighbours import Places, SceneTies, joined, nearest_ties
from novelgen.selection.table import CandidateTable
from novelgen.selection.weights import SelectionWeights

LEAST_COMMON = 3
"""In a short story a word of so many scenes is rare, whatever share of them that is."""


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
    words, scenes = _telling_words(table, most=max(LEAST_COMMON, int(weights.common_word_share * count)))
    holders = np.bincount(words) if len(words) else np.zeros(0, dtype=np.intp)
    rarity = np.log((count + 1) / (holders + 0.5)) ** 2
    # Sorted by word, the holders of a word stand together: pairs are a step apart, two steps apart, and so on.
    steps = range(1, int(holders.max(initial=0)))
    firsts = [np.flatnonzero(words[step:] == words[:-step]) for step in steps]
    first = joined(firsts)
    second = joined([places + step for step, places in zip(steps, firsts, strict=True)])
    pairs = scenes[first] * count + scenes[second]
    products = np.bincount(pairs, rarity[words[first]], minlength=count * count).reshape(count, count)
    lengths = np.sqrt(np.bincount(scenes, rarity[words], minlength=count))
    # A scene without telling words is compared with nothing; a tiny length would be divided by.
    lengths = np.where(lengths > 0, lengths, 1.0)
    return np.asarray((products + products.T) / np.outer(lengths, lengths), dtype=np.float64)


def _telling_words(table: CandidateTable, *, most: int) -> tuple[Places, Places]:
    """Number the words of two scenes or more but not of more than `most`, sorted, with their scenes."""
    holders: dict[str, set[int]] = defaultdict(set)
    for row in np.flatnonzero(table.measure & (table.scene_of >= 0)):
        for word in content_words(table.candidates[row].chunk.content):
            holders[word].add(int(table.scene_of[row]))
    telling = [sorted(holders[word]) for word in sorted(holders) if 2 <= len(holders[word]) <= most]
    sizes = [len(scenes) for scenes in telling]
    words = np.repeat(np.arange(len(telling), dtype=np.intp), sizes)
    return words, np.array([scene for scenes in telling for scene in scenes], dtype=np.intp)
