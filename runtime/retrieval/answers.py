"""What the retrievers of a search answer, before their memories are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from novelgen.memory.search import RetrieverHit
from novelgen.models.memory import StoryMemoryChunk


@dataclass(frozen=True)
class RetrieverAnswer:
    """What a retriever found.

    Args:
        hits: Hits by chunk id.
        chunks: Memories that the retriever read on its way.
        linked: How many memories the scene's entities have in all, where the retriever was asked to count.
    """

    hits: Mapping[str, list[RetrieverHit]] = field(default_factory=dict)
    chunks: Mapping[str, StoryMemoryChunk] = field(default_factory=dict)
    linked: int | None = None


def ranked_answer(
    retriever: str, scored: Iterable[tuple[str, float]], query_index: int | None = None
) -> RetrieverAnswer:
    """Return the answer of one retriever to one query, from ids and scores in their order."""
    return RetrieverAnswer(
        hits={
            chunk_id: [RetrieverHit(retriever=retriever, query_index=query_index, rank=rank, score=score)]
            for rank, (chunk_id, score) in enumerate(scored, start=1)
        }
    )


def listed_answer(retriever: str, chunks: Iterable[StoryMemoryChunk]) -> RetrieverAnswer:
    """Return the answer of a retriever that lists memories in its own order, without a query."""
    listed = list(chunks)
    ranked = ranked_answer(
        retriever, ((chunk.chunk_id, 1.0 / rank) for rank, chunk in enumerate(listed, start=1))
    )
    return RetrieverAnswer(hits=ranked.hits, chunks={chunk.chunk_id: chunk for chunk in listed})


def merged(answers: Iterable[RetrieverAnswer]) -> RetrieverAnswer:
    """Return all hits of all answers, per chunk in the order of the answers."""
    hits: dict[str, list[RetrieverHit]] = {}
    chunks: dict[str, StoryMemoryChunk] = {}
    for answer in answers:
        for chunk_id, found in answer.hits.items():
            hits.setdefault(chunk_id, []).extend(found)
        chunks.update(answer.chunks)
    return RetrieverAnswer(hits=hits, chunks=chunks)
