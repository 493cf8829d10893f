"""Which memories of an entity speak of one topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from novelgen.memory.search import Vector
from novelgen.models.memory import StoryMemoryChunk

FEWEST_FOR_A_MEAN = 20
"""Of fewer embeddings the mean is no background: it is made of the very topics that are to be told apart."""


class Topics:
    """Compares the memories of one entity with each other.

    What all of them share, the entity itself, says nothing of their topics: it is taken off the embeddings with
    their mean, and does not count among shared entities. Of few memories embeddings say nothing.

    Args:
        entity_id: The entity.
        chunks: Its memories.
        vectors: Embeddings of one model by chunk id, of some or all.
        least_similarity: Cosine from which on two memories are of one topic.
    """

    def __init__(
        self,
        entity_id: str,
        chunks: Sequence[StoryMemoryChunk],
        vectors: Mapping[str, Vector],
        *,
        least_similarity: float,
    ) -> None:
        self._entity_id = entity_id
        self._least_similarity = least_similarity
        known = [chunk.chunk_id for chunk in chunks if chunk.chunk_id in vectors]
        if len(known) < FEWEST_FOR_A_MEAN:
            known = []
        self._directions = dict(zip(known, _directions([vectors[name] for name in known]), strict=True))

    def are_one(self, first: StoryMemoryChunk, second: StoryMemoryChunk) -> bool:
        """Tell whether two memories are of one topic: by their embeddings, else by a shared tag or entity."""
        one, other = self._directions.get(first.chunk_id), self._directions.get(second.chunk_id)
        if one is not None and other is not None:
            return float(one @ other) >= self._least_similarity
        return not self._marks(first).isdisjoint(self._marks(second))

    def _marks(self, chunk: StoryMemoryChunk) -> set[str]:
        return {*chunk.tags, *chunk.entities_mentioned} - {self._entity_id}


def _directions(vectors: Sequence[Vector]) -> list[Vector]:
    """Return the vectors less their mean, each of length 1; one that is the mean itself is 0."""
    if not vectors:
        return []
    centred = np.stack(vectors) - np.mean(vectors, axis=0)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    return list(centred / np.where(lengths > 0, lengths, 1.0))
