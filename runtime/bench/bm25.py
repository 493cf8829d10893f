"""BM25 over a growing list of texts, for the benchmark's rivals; it shares no code with novelgen's own search."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from novelgen.text.language import CJK_RANGES, is_cjk

SATURATION = 1.5
LENGTH_SHARE = 0.75

Tokenizer = Callable[[str], list[str]]

_RUN = re.compile(rf"[{CJK_RANGES}]+|[^\W_{CJK_RANGES}]+")


def words_and_bigrams(text: str) -> list[str]:
    """Return folded words, and every two neighbouring Chinese characters."""
    tokens: list[str] = []
    for run in _RUN.findall(text.lower()):
        is_chinese = len(run) > 1 and is_cjk(run[0])
        tokens += [run[start : start + 2] for start in range(len(run) - 1)] if is_chinese else [run]
    return tokens


class Bm25:
    """Scores the first so many of some texts; rarity and length are theirs alone.

    Args:
        texts: In story order, so that what lies before a position is the beginning of the list.
        tokenize: Splits texts and queries.
    """

    def __init__(self, texts: Sequence[str], *, tokenize: Tokenizer = words_and_bigrams) -> None:
        self._tokenize = tokenize
        self._lengths = np.zeros(len(texts))
        postings: dict[str, list[tuple[int, int]]] = {}
        for number, text in enumerate(texts):
            counts = Counter(tokenize(text))
            self._lengths[number] = counts.total()
            for token, count in counts.items():
                postings.setdefault(token, []).append((number, count))
        self._postings = {token: np.array(entries) for token, entries in postings.items()}

    def scores(self, query: str, visible: int) -> NDArray[np.float64]:
        """Return the score of each of the first `visible` texts; 0 where nothing matches."""
        scores = np.zeros(visible)
        average = self._lengths[:visible].mean() if visible else 0.0
        for token in dict.fromkeys(self._tokenize(query)):
            entries = self._postings.get(token)
            if entries is None:
                continue
            entries = entries[: np.searchsorted(entries[:, 0], visible)]
            rows, counts = entries[:, 0], entries[:, 1]
            rarity = math.log(1 + (visible - len(rows) + 0.5) / (len(rows) + 0.5))
            norm = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * self._lengths[rows] / average)
            scores[rows] += rarity * counts * (SATURATION + 1) / (counts + norm)
        return scores
