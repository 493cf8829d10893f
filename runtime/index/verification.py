"""Compares an index with what SQL says should be in it."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from runtime.index.rows import IndexHit

SAME_VECTOR = 0.999
"""Least cosine of a vector with itself after the index rounded it."""

SAMPLE_SIZE = 50
"""Vectors that are asked for where nothing else is said."""

CANARY_HITS = 10
"""Rows to ask for by a row's own vector: it may share its place with equals."""

Expected = (
    Mapping[str, "NDArray[np.float32] | Sequence[float] | None"]
    | Iterable[tuple[str, "NDArray[np.float32] | Sequence[float] | None"]]
)


@dataclass(frozen=True, slots=True)
class IndexVerification:
    """What a comparison of the index with SQL found."""

    missing_ids: tuple[str, ...]
    unexpected_ids: tuple[str, ...]
    lost_ids: tuple[str, ...]
    rows: int
    canaries: int

    @property
    def is_sound(self) -> bool:
        """Whether nothing is missing, unexpected or lost."""
        return not (self.missing_ids or self.unexpected_ids or self.lost_ids)

    def __str__(self) -> str:
        return (
            f"{self.rows} rows expected: {len(self.missing_ids)} missing, "
            f"{len(self.unexpected_ids)} unexpected, {len(self.lost_ids)} of {self.canaries} sampled vectors not found"
        )


@dataclass(slots=True)
class VectorSample:
    """A fair sample of a stream of vectors, the same for the same stream."""

    size: int
    kept: list[tuple[str, NDArray[np.float32] | Sequence[float]]] = field(default_factory=list)
    _seen: int = 0
    _random: random.Random = field(default_factory=lambda: random.Random(0))

    def offer(self, chunk_id: str, vector: NDArray[np.float32] | Sequence[float]) -> None:
        """Take the vector into account; it may replace one that was kept."""
        self._seen += 1
        if len(self.kept) < self.size:
            self.kept.append((chunk_id, vector))
            return
        place = self._random.randrange(self._seen)
        if place < self.size:
            self.kept[place] = (chunk_id, vector)


def read_expected(expected: Expected, *, sample_size: int) -> tuple[set[str], VectorSample]:
    """Read what should be in the index, keeping only a sample of the vectors."""
    ids: set[str] = set()
    sample = VectorSample(sample_size)
    for chunk_id, vector in expected.items() if isinstance(expected, Mapping) else expected:
        ids.add(chunk_id)
        if vector is not None:
            sample.offer(chunk_id, vector)
    return ids, sample


def finds_itself(chunk_id: str, hits: Sequence[IndexHit]) -> bool:
    """Tell whether the question by a row's own vector found the row."""
    if any(hit.chunk_id == chunk_id and hit.similarity >= SAME_VECTOR for hit in hits):
        return True
    return bool(hits) and all(hit.similarity >= SAME_VECTOR for hit in hits)
