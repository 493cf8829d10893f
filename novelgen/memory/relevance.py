"""How well a memory fits a query by itself, whatever else was found: by meaning, or by holding the query's words."""

from __future__ import annotations

import re

import numpy as np

from novelgen.language.language import CJK_RANGES
from novelgen.memory.search import Candidate, Vector

_WORD = re.compile(f"[^\\W_{CJK_RANGES}]+(?:['’-][^\\W_{CJK_RANGES}]+)*")
_CHINESE_RUN = re.compile(f"[{CJK_RANGES}]+")


def relevance(candidate: Candidate, query: str, query_vector: Vector) -> float:
    """Return how well a memory fits a query, from 0 to 1.

    It is the cosine of both, or the share of the query's words that the memory holds where that is more: who asks for
    a name wants what holds it. Unlike the score of a search, it does not depend on what else was found.
    """
    wanted = _words(query)
    held = wanted & _words(f"{candidate.chunk.content}\n{candidate.chunk.short or ''}")
    share = len(held) / len(wanted) if wanted else 0.0
    if candidate.vector is None:
        return share
    length = float(np.linalg.norm(candidate.vector) * np.linalg.norm(query_vector))
    cosine = float(candidate.vector @ query_vector) / length if length else 0.0
    return max(share, min(1.0, cosine))


def _words(text: str) -> frozenset[str]:
    """Words, folded, and the pairs of neighbouring Chinese characters; a single one stands for itself."""
    words = {word.casefold() for word in _WORD.findall(text)}
    for run in _CHINESE_RUN.findall(text):
        words |= {run[at : at + 2] for at in range(max(1, len(run) - 1))}
    return frozenset(words)
