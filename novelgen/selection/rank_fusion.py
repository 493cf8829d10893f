"""Reciprocal rank fusion: one ranking out of several retrievers' and queries' answers."""

from __future__ import annotations

from collections.abc import Iterable

from novelgen.memory.search import Candidate

RANK_CONSTANT = 60
"""k of reciprocal rank fusion (Cormack and others, 2009)."""


def reciprocal_rank_fusion(candidates: Iterable[Candidate]) -> list[tuple[Candidate, float]]:
    """Rank candidates by the sum of 1 / (k + rank) over all their hits.

    Args:
        candidates: Each chunk once, in any order; those without hits score 0.

    Returns:
        Candidates with their scores, best first, ties by chunk id.
    """
    scored = [
        (candidate, sum(1 / (RANK_CONSTANT + hit.rank) for hit in candidate.hits)) for candidate in candidates
    ]
    return sorted(scored, key=lambda pair: (-pair[1], pair[0].chunk.chunk_id))
