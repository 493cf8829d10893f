"""BM25 over the candidates' own texts: how often a word stands in a passage counts, which no index kept."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from novelgen.selection.fusion import Matrix
from novelgen.text.cjk import CJK_RANGES, is_cjk

SATURATION = 1.5
LENGTH_SHARE = 0.75
"""k1 and b of BM25 (Robertson and Zaragoza 2009, 3.4.3)."""

_RUN = re.compile(rf"[{CJK_RANGES}]+|[^\W_{CJK_RANGES}]+")


def word_scores(texts: Sequence[str], queries: Sequence[str]) -> Matrix:
    """Score texts by the words that they share with queries; rarity and length are those of the texts.

    Args:
        texts: What is scored.
        queries: A word counts once per query.

    Returns:
        Queries by texts, 0 where no word is shared.
    """
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
