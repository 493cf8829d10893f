"""What tells passages of the text apart where a story has nothing else: words, novelty, what stands beside them."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from novelgen.language.language import CJK_RANGES, is_cjk
from novelgen.memory.query_scores import CandidateTable, Column, Matrix, stack_vectors, standardise, unit_rows
from novelgen.memory.search import NAME_KINDS, Candidate, SceneKey, SelectionScene

SATURATION = 1.5

LENGTH_SHARE = 0.75
"""k1 and b of BM25 (Robertson and Zaragoza 2009, 3.4.3)."""

_RUN = re.compile(rf"[{CJK_RANGES}]+|[^\W_{CJK_RANGES}]+")


def word_scores(texts: Sequence[str], queries: Sequence[str]) -> Matrix:
    """Score texts by the words that they share with queries; rarity and length are those of the texts."""
    asked = [dict.fromkeys(_terms(query)) for query in queries]
    found: dict[str, list[tuple[int, int]]] = {term: [] for terms in asked for term in terms}
    lengths = np.zeros(len(texts))
    for place, text in enumerate(texts):
        terms = _terms(text)
        lengths[place] = len(terms)
        for term, count in Counter(term for term in terms if term in found).items():
            found[term].append((place, count))
    relative = lengths / max(1.0, float(lengths.mean())) if len(texts) else lengths
    norms = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * relative)
    scores = np.zeros((len(queries), len(texts)))
    for term, entries in found.items():
        if entries:
            places, times = np.array(entries).T
            rarity = math.log(1 + (len(texts) - len(places) + 0.5) / (len(places) + 0.5))
            holding = np.array([term in terms for terms in asked])
            scores[np.ix_(holding, places)] += rarity * times * (SATURATION + 1) / (times + norms[places])
    return scores


def _terms(text: str) -> list[str]:
    """Folded words, and every two neighbouring Chinese characters."""
    terms: list[str] = []
    for run in _RUN.findall(text.casefold()):
        is_chinese = len(run) > 1 and is_cjk(run[0])
        terms += [run[at : at + 2] for at in range(len(run) - 1)] if is_chinese else [run]
    return terms


WHOLE_PLAN = frozenset({"plan"})

COMPARED_SCENES = 5
"""Novelty is judged by so many of the earlier scenes that are most like a passage: one may be alike by chance."""

WIDEST_GAP = 16
"""Most characters between two passages that stand side by side: line breaks and marks, no sentence."""


def shared_words(table: CandidateTable, scene: SelectionScene, *, names_share: float) -> Column:
    """Weigh the words that each candidate shares with the whole plan, and the names beside them.

    One query of all words weighs the rare ones of the whole plan against each other; the mean over queries lets
    each of its sentences bring its own commonest word.
    """
    is_name = np.array([query.kind in NAME_KINDS for query in scene.queries], dtype=bool)
    is_whole = np.array([query.kind in WHOLE_PLAN for query in scene.queries], dtype=bool)
    is_plan = is_whole if is_whole.any() else ~is_name
    scores = word_scores([row.chunk.content for row in table.candidates], [each.text for each in scene.queries])
    by_plan, by_names = (scores[rows].sum(axis=0) for rows in (is_plan, is_name))
    return standardise(by_plan, table.measure) + names_share * standardise(by_names, table.measure)


def novelty(table: CandidateTable) -> Column:
    """Compare each candidate with what earlier scenes told: what is told again and again tells little."""
    vectors, present = stack_vectors(table.candidates)
    rows = np.flatnonzero(present & (table.scene_of >= 0))
    told = np.full(len(table.candidates), np.nan)
    if not len(rows):
        return told
    rows = rows[np.argsort(table.scene_of[rows], kind="stable")]
    apart = unit_rows(vectors[rows] - vectors[rows].mean(axis=0))
    scenes, begins = np.unique(table.scene_of[rows], return_index=True)
    closest = np.maximum.reduceat(apart @ apart.T, begins, axis=1)
    closest[scenes >= table.scene_of[rows][:, np.newaxis]] = np.nan
    # Sorted, the unknown come last; what is alike has the least negative.
    best = np.sort(-closest, axis=1)[:, :COMPARED_SCENES]
    known = ~np.isnan(best)
    counts = known.sum(axis=1)
    sums = np.where(known, best, 0.0).sum(axis=1)
    told[rows] = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return told


def beside_in_text(candidates: Iterable[Candidate]) -> dict[str, tuple[str, ...]]:
    """Find which passages of one scene stand side by side."""
    by_scene: dict[SceneKey | None, list[tuple[int, int, str]]] = defaultdict(list)
    for candidate in candidates:
        if candidate.chunk.source_span is not None:
            by_scene[candidate.scene_key].append((*candidate.chunk.source_span, candidate.chunk.chunk_id))
    beside: dict[str, tuple[str, ...]] = defaultdict(tuple)
    for passages in by_scene.values():
        ordered = sorted(passages)
        for (_, end, before), (start, _, after) in pairwise(ordered):
            if start - end <= WIDEST_GAP:
                beside[before] += (after,)
                beside[after] += (before,)
    return dict(beside)
