"""What the arms of a search answer, before their memories are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from novelgen.memory.search import ArmHit
from novelgen.models.memory import StoryMemoryChunk


@dataclass(frozen=True)
class ArmAnswer:
    """What an arm found.

    Args:
        hits: Hits by chunk id.
        chunks: Memories that the arm read on its way.
        linked: How many memories the scene's entities have in all, where the arm was asked to count.
    """

    hits: Mapping[str, list[ArmHit]] = field(default_factory=dict)
    chunks: Mapping[str, StoryMemoryChunk] = field(default_factory=dict)
    linked: int | None = None


def ranked_answer(arm: str, scored: Iterable[tuple[str, float]], query_index: int | None = None) -> ArmAnswer:
    """Return the answer of one arm to one query, from ids and scores in their order."""
    return ArmAnswer(
        hits={
            chunk_id: [ArmHit(arm=arm, query_index=query_index, rank=rank, score=score)]
            for rank, (chunk_id, score) in enumerate(scored, start=1)
        }
    )


def listed_answer(arm: str, chunks: Iterable[StoryMemoryChunk]) -> ArmAnswer:
    """Return the answer of an arm that lists memories in its own order, without a query."""
    listed = list(chunks)
    ranked = ranked_answer(arm, ((chunk.chunk_id, 1.0 / rank) for rank, chunk in enumerate(listed, start=1)))
    return ArmAnswer(hits=ranked.hits, chunks={chunk.chunk_id: chunk for chunk in listed})


def merged(answers: Iterable[ArmAnswer]) -> ArmAnswer:
    """Return all hits of all answers, per chunk in the order of the answers."""
    hits: dict[str, list[ArmHit]] = {}
    chunks: dict[str, StoryMemoryChunk] = {}
    for answer in answers:
        for chunk_id, found in answer.hits.items():
            hits.setdefault(chunk_id, []).extend(found)
        chunks.update(answer.chunks)
    return ArmAnswer(hits=hits, chunks=chunks)
