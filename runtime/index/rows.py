"""What goes into the vector index, how Chroma keeps it, and what comes out again.

Chroma drops None values and its filters also match rows that lack a key, so every key of the metadata is always
written, with a sentinel where there is nothing, and a row that lacks one is never shown.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novelgen.errors import EmbeddingError, VectorIndexDamagedError, VectorIndexError
from novelgen.memory.query_scores import unit_rows
from novelgen.models.position import SCENES_PER_CHAPTER, StoryPosition, packed_place

Vector = NDArray[np.float32]
"""One embedding, shape (dimension,)."""
Metadata = Mapping[str, Any]

CANARY_HITS = 10
"""Rows to ask for by a row's own vector: it may share its place with equals."""
SAME_VECTOR = 0.999
"""Least cosine of a vector with itself after the index rounded it."""

NO_POSITION = -1
NO_SOURCE = ""
STORY_KEY = "story_key"

_TEXT_KEYS = ("project_id", "source_id", "content_type")
_NUMBER_KEYS = ("chapter_index", "scene_index", STORY_KEY)


@dataclass(frozen=True, slots=True)
class _IndexedText:
    """What the index keeps of a memory chunk beside its embedding."""

    chunk_id: str
    project_id: str
    chapter_index: int | None
    scene_index: int | None
    source_id: str | None
    content: str
    content_type: str


INDEXED_FIELDS = tuple(each.name for each in fields(_IndexedText))


@dataclass(frozen=True, slots=True)
class IndexHit(_IndexedText):
    """One row that the index found: an `IndexRow` of the project that was asked for, with its cosine in [-1, 1]."""

    similarity: float


@dataclass(frozen=True, slots=True, eq=False)
class IndexRow(_IndexedText):
    """One memory chunk with its embedding, as the index stores it."""

    vector: Vector | list[float]

    def __post_init__(self) -> None:
        if not self.chunk_id:
            raise ValueError(f"chunk_id={self.chunk_id!r} is empty; every index row needs an id")
        if self.chapter_index is None and self.scene_index is not None:
            raise ValueError(f"scene_index={self.scene_index!r} was given without chapter_index for {self.chunk_id!r}")


@dataclass(frozen=True, slots=True)
class QueryCut:
    """Which rows of a project a question may return."""

    project_id: str
    top_k: int
    before_key: int | None = None
    chunk_ids: tuple[str, ...] | None = None


def encode_rows(rows: Sequence[IndexRow], *, dimension: int) -> dict[str, Any]:
    """Write rows as the columns that Chroma takes."""
    names = [repr(row.chunk_id) for row in rows]
    return {
        "ids": [row.chunk_id for row in rows],
        "embeddings": require_vectors((row.vector for row in rows), dimension=dimension, names=names),
        # Chroma cannot take half characters; the index is derived, so they may be replaced here.
        "documents": [row.content.encode("utf-8", "replace").decode("utf-8") for row in rows],
        "metadatas": [encode_metadata(row) for row in rows],
    }


def encode_metadata(row: IndexRow) -> dict[str, str | int]:
    """Write what a row carries beside its text, every key always present."""
    return {
        "project_id": row.project_id,
        "chapter_index": NO_POSITION if row.chapter_index is None else row.chapter_index,
        "scene_index": NO_POSITION if row.scene_index is None else row.scene_index,
        "source_id": row.source_id or NO_SOURCE,
        "content_type": row.content_type,
        STORY_KEY: story_key(row.chapter_index, row.scene_index),
    }


def decode_hit(chunk_id: str, content: str, metadata: Metadata, *, similarity: float) -> IndexHit:
    """Read back a row that `may_be_shown` found whole; rounding may have put its cosine just out of range."""
    chapter_index, scene_index = decode_position(metadata)
    return IndexHit(
        chunk_id=chunk_id,
        project_id=metadata["project_id"],
        chapter_index=chapter_index,
        scene_index=scene_index,
        source_id=metadata["source_id"] or None,
        content=content,
        content_type=metadata["content_type"],
        similarity=max(-1.0, min(1.0, similarity)),
    )


def decode_position(metadata: Metadata) -> tuple[int | None, int | None]:
    """Read chapter and scene of a row that is whole, None where it has none."""
    chapter_index, scene_index = metadata["chapter_index"], metadata["scene_index"]
    return (
        None if chapter_index == NO_POSITION else chapter_index,
        None if scene_index == NO_POSITION else scene_index,
    )


def story_key(chapter_index: int | None, scene_index: int | None) -> int:
    """Number a row's position so that one comparison cuts the story; below 0 for rows without a position."""
    if chapter_index is None:
        return NO_POSITION
    return packed_place(chapter_index, SCENES_PER_CHAPTER - 1 if scene_index is None else scene_index)


def cut_key(as_of: StoryPosition | None) -> int | None:
    """Number a reader's position: rows with a smaller story key lie strictly before it; None cuts nothing."""
    if as_of is None or as_of.chapter_index is None:
        return None
    return packed_place(as_of.chapter_index, as_of.scene_index or 0)


def may_be_shown(metadata: Metadata, cut: QueryCut) -> bool:
    """Tell whether a stored row is whole, of the project, and before the reader.

    A foreign row, a later row, and one that lacks a key or has one of the wrong type is not.
    """
    if not all(isinstance(metadata.get(key), str) for key in _TEXT_KEYS):
        return False
    if not all(type(metadata.get(key)) is int for key in _NUMBER_KEYS):
        return False
    if metadata["project_id"] != cut.project_id:
        return False
    # The key is computed again: a row whose stored key disagrees with its position must not slip through.
    return cut.before_key is None or story_key(*decode_position(metadata)) < cut.before_key


def finds_itself(chunk_id: str, hits: Sequence[IndexHit]) -> bool:
    """Tell whether the question by a row's own vector found the row."""
    same = [hit.chunk_id for hit in hits if hit.similarity >= SAME_VECTOR]
    return chunk_id in same or 0 < len(hits) == len(same)


def require_built(
    project_id: str, built_ids: Iterable[str], expected_ids: Set[str], found: Mapping[str, Sequence[IndexHit]]
) -> None:
    """Refuse a rebuilt index that does not hold just what is expected, or does not find rows by their own vectors."""
    built = set(built_ids)
    if built != expected_ids:
        raise VectorIndexError(
            f"the rebuilt index of project {project_id!r} lacks {len(expected_ids - built)} expected rows "
            f"and holds {len(built - expected_ids)} others; the old one was kept, rebuild again"
        )
    for chunk_id, hits in found.items():
        if not finds_itself(chunk_id, hits):
            raise VectorIndexDamagedError(f"row {chunk_id!r} is not found by its own vector after a rebuild")


def require_vectors(
    vectors: Iterable[Vector | Sequence[float]], *, dimension: int, names: Sequence[str]
) -> NDArray[np.float32]:
    """Stack vectors into a matrix of shape (vectors, dimension), or refuse them all."""
    rows = [
        _require_vector(vector, dimension=dimension, name=name) for vector, name in zip(vectors, names, strict=True)
    ]
    return np.stack(rows) if rows else np.empty((0, dimension), dtype=np.float32)


def _require_vector(vector: Vector | Sequence[float], *, dimension: int, name: str) -> Vector:
    row = np.asarray(vector, dtype=np.float32)
    if row.shape != (dimension,):
        raise EmbeddingError(
            f"vector of {name} has shape {row.shape!r}, but the index holds {dimension} values per vector; "
            "check which embedding model made it"
        )
    if not np.isfinite(row).all():
        raise EmbeddingError(f"vector of {name} holds NaN or infinity; embed it again")
    if not row.any():
        raise EmbeddingError(f"vector of {name} is all zeros and has no direction; embed it again")
    return row


def exact_search(
    matrix: NDArray[np.float32], ids: Sequence[str], *, query_vectors: NDArray[np.float32], top_k: int
) -> list[list[tuple[str, float]]]:
    """Find the rows nearest to each question by cosine, without approximation."""
    if top_k < 1:
        raise ValueError(f"top_k={top_k!r} must be at least 1")
    if not len(ids):
        return [[] for _ in query_vectors]
    similarities = np.clip(unit_rows(query_vectors) @ unit_rows(matrix).T, -1.0, 1.0)
    return [_best(row, ids, top_k=top_k) for row in similarities]


def _best(similarities: NDArray[np.float32], ids: Sequence[str], *, top_k: int) -> list[tuple[str, float]]:
    count = min(top_k, len(ids))
    # Every row as good as the last that fits is a candidate, so that ties are broken by id alone.
    threshold = np.partition(similarities, -count)[-count]
    candidates = np.flatnonzero(similarities >= threshold)
    ranked = sorted((-float(similarities[index]), ids[index]) for index in candidates.tolist())
    return [(chunk_id, -negative) for negative, chunk_id in ranked[:count]]
