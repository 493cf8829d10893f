"""How much two memories speak of one topic."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from novelgen.memory.search import Vector
from novelgen.models.memory import StoryMemoryChunk

FEWEST_FOR_A_MEAN = 20
"""Of fewer embeddings the mean is no background: it is made of the very topics that are to be told apart."""


class Topics:
    """Compares memories with each other.

    What all share, the story itself and the entities that have too many, says nothing of their topics: it is
    taken off the embeddings with their mean, and does not count among shared entities. Of few memories
    embeddings say nothing.

    Args:
        chunks: Memories.
        vectors: Embeddings of one model by chunk id, of some or all of them; the mean is that of all given.
        background: Entities that say nothing.
    """

    def __init__(
        self,
        chunks: Sequence[StoryMemoryChunk],
        vectors: Mapping[str, Vector],
        *,
        background: Collection[str] = (),
    ) -> None:
        self._background = frozenset(background)
        known = [chunk.chunk_id for chunk in chunks if chunk.chunk_id in vectors]
        if len(vectors) < FEWEST_FOR_A_MEAN:
            known = []
        self._directions = dict(zip(known, _directions(known, vectors), strict=True))

    def likeness(self, first: StoryMemoryChunk, second: StoryMemoryChunk) -> float:
        """Return the cosine of two memories' embeddings, else the share of tags and entities that they share.

        Returns:
            -1 to 1 by embeddings; else 0 to 1, as a share of the one that has fewer, 0 where one has none.
        """
        one, other = self._directions.get(first.chunk_id), self._directions.get(second.chunk_id)
        if one is not None and other is not None:
            return float(one @ other)
        marks, others = self._marks(first), self._marks(second)
        return len(marks & others) / max(1, min(len(marks), len(others)))

    def _marks(self, chunk: StoryMemoryChunk) -> set[str]:
        return {*chunk.tags, *chunk.entities_mentioned} - self._background


def _directions(names: Sequence[str], vectors: Mapping[str, Vector]) -> list[Vector]:
    """Return the vectors of some less the mean of all, each of length 1; one that is the mean itself is 0."""
    if not names:
        return []
    centred = np.stack([vectors[name] for name in names]) - np.mean(list(vectors.values()), axis=0)
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    return list(centred / np.where(lengths > 0, lengths, 1.0))
