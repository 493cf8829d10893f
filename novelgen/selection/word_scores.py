"""BM25 over the candidates' own texts: how often a word stands in a passage counts, which no index kept."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from novelgen.selection.fusion import Column
from novelgen.text.cjk import CJK_RANGES, is_cjk

SATURATION = 1.5
LENGTH_SHARE = 0.75
"""k1 and b of BM25 (Robertson and Zaragoza 2009, 3.4.3)."""

_RUN = re.compile(rf"[{CJK_RANGES}]+|[^\W_{CJK_RANGES}]+")


def word_scores(texts: Sequence[str], queries: Iterable[str]) -> Column:
    """Score texts by the words that they share with queries; rarity and length are those of the texts.

    Args:
        texts: What is scored.
        queries: Their scores are added up; a word counts once per query.

    Returns:
        One number per text, 0 where no word is shared.
    """
    counts = [Counter(_terms(text)) for text in texts]
    lengths = np.array([each.total() for each in counts], dtype=float)
    relative = lengths / max(1.0, float(lengths.mean())) if len(texts) else lengths
    norms = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * relative)
    found: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for place, each in enumerate(counts):
        for term, count in each.items():
            found[term].append((place, count))
    scores = np.zeros(len(texts))
    for term in (term for query in queries for term in dict.fromkeys(_terms(query))):
        if term in found:
            places, times = np.array(found[term]).T
            rarity = math.log(1 + (len(texts) - len(places) + 0.5) / (len(places) + 0.5))
            scores[places] += rarity * times * (SATURATION + 1) / (times + norms[places])
    return scores


def _terms(text: str) -> list[str]:
    """Folded words, and every two neighbouring Chinese characters."""
    terms: list[str] = []
    for run in _RUN.findall(text.casefold()):
        is_chinese = len(run) > 1 and is_cjk(run[0])
        terms += [run[at : at + 2] for at in range(len(run) - 1)] if is_chinese else [run]
    return terms
