"""Rows and hits of the vector index, and exact search over SQL vectors.

Stores differ in what they do with None and with missing keys, so every key of the metadata is always written, with a
sentinel where there is nothing. A row that lacks one is not shown where SQL cannot vouch for it.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novelgen.errors import EmbeddingError
from novelgen.memory.query_scores import unit_rows
from novelgen.models.position import StoryPosition
from runtime.model_providers.embeddings import has_direction

Vector = NDArray[np.float32]
"""One embedding, shape (dimension,)."""
Metadata = Mapping[str, Any]

NO_POSITION = -1
NO_SOURCE = ""

_STORE_IDS = uuid.UUID("b1ee5f6a-6c0e-4f0e-9d53-2f1f6f2b7a10")
_TEXT_KEYS = ("project_id", "source_id", "content_type")
_NUMBER_KEYS = ("chapter_index", "scene_index")


@dataclass(frozen=True, slots=True)
class IndexedText:
    """The part of a memory chunk that the index keeps beside its embedding."""

    chunk_id: str
    project_id: str
    chapter_index: int | None
    scene_index: int | None
    source_id: str | None
    content: str
    content_type: str


INDEXED_FIELDS = tuple(field.name for field in fields(IndexedText))


@dataclass(frozen=True, slots=True, eq=False)
class IndexRow(IndexedText):
    """One memory chunk with its embedding, as the index stores it."""

    vector: Vector | list[float]

    def __post_init__(self) -> None:
        if not self.chunk_id:
            raise ValueError(f"chunk_id={self.chunk_id!r} is empty; every index row needs an id")
        if self.chapter_index is None and self.scene_index is not None:
            raise ValueError(f"scene_index={self.scene_index!r} was given without chapter_index for {self.chunk_id!r}")


@dataclass(frozen=True)
class IndexHit:
    """A store's hit for a query.

    SQL decides its visibility and distance. Without slots, with which pickling takes twice as long: hits come by the
    thousand from the process of the index.
    """

    content: str
    metadata: Metadata

    @property
    def chunk_id(self) -> str:
        """Id of the memory chunk, empty for a document that is foreign to the index."""
        chunk_id = self.metadata.get("chunk_id")
        return chunk_id if isinstance(chunk_id, str) else ""

    def text_before(self, as_of: StoryPosition, *, project_id: str) -> IndexedText | None:
        """Return the row from its metadata, None if foreign, later or incomplete."""
        numbers = [_whole_number(self.metadata.get(key)) for key in _NUMBER_KEYS]
        is_whole = self.chunk_id and all(isinstance(self.metadata.get(key), str) for key in _TEXT_KEYS)
        if not is_whole or None in numbers:
            return None
        chapter_index, scene_index = (None if number == NO_POSITION else number for number in numbers)
        if self.metadata["project_id"] != project_id or not as_of.admits(chapter_index, scene_index):
            return None
        return IndexedText(
            chunk_id=self.chunk_id,
            project_id=project_id,
            chapter_index=chapter_index,
            scene_index=scene_index,
            source_id=self.metadata["source_id"] or None,
            content=self.content,
            content_type=self.metadata["content_type"],
        )


@dataclass(frozen=True, slots=True, eq=False)
class IndexColumns:
    """Rows as columns with unit vectors."""

    chunk_ids: list[str]
    texts: list[str]
    metadatas: list[dict[str, str | int]]
    vectors: NDArray[np.float32]


def store_id(collection: str, chunk_id: str) -> str:
    """Return a chunk's id in a vector store, as a UUID unique across collections."""
    return str(uuid.uuid5(_STORE_IDS, f"{collection}/{chunk_id}"))


def encode_rows(rows: Sequence[IndexRow], *, dimension: int) -> IndexColumns:
    """Turn rows into the columns that a vector store takes."""
    names = [repr(row.chunk_id) for row in rows]
    vectors = require_vectors((row.vector for row in rows), dimension=dimension, names=names)
    return IndexColumns(
        chunk_ids=[row.chunk_id for row in rows],
        # Stores cannot take half characters; the index is derived, so they may be replaced here.
        texts=[row.content.encode("utf-8", "replace").decode("utf-8") for row in rows],
        metadatas=[encode_metadata(row) for row in rows],
        vectors=unit_rows(vectors) if len(vectors) else vectors,
    )


def encode_metadata(row: IndexRow) -> dict[str, str | int]:
    """Return the metadata of a row, every key always present."""
    return {
        "chunk_id": row.chunk_id,
        "project_id": row.project_id,
        "chapter_index": NO_POSITION if row.chapter_index is None else row.chapter_index,
        "scene_index": NO_POSITION if row.scene_index is None else row.scene_index,
        "source_id": row.source_id or NO_SOURCE,
        "content_type": row.content_type,
    }


def require_vectors(
    vectors: Iterable[Vector | Sequence[float]], *, dimension: int, names: Sequence[str]
) -> NDArray[np.float32]:
    """Stack vectors into a matrix of shape (vectors, dimension), or refuse them all."""
    rows = [
        _require_vector(vector, dimension=dimension, name=name) for vector, name in zip(vectors, names, strict=True)
    ]
    return np.stack(rows) if rows else np.empty((0, dimension), dtype=np.float32)


def exact_search(
    matrix: NDArray[np.float32], ids: Sequence[str], *, query_vectors: NDArray[np.float32], top_k: int
) -> list[list[tuple[str, float]]]:
    """Find the rows nearest to each query by cosine, without approximation."""
    if top_k < 1:
        raise ValueError(f"top_k={top_k!r} must be at least 1")
    if not len(ids):
        return [[] for _ in query_vectors]
    # A stored vector without a direction is near to nothing.
    similarities = np.nan_to_num(unit_rows(query_vectors) @ unit_rows(matrix).T, nan=-1.0).clip(-1.0, 1.0)
    return [_best(row, ids, top_k=top_k) for row in similarities]


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
    if not has_direction(row):
        raise EmbeddingError(f"vector of {name} is too long or too short to compare; embed it again")
    return row


def _whole_number(value: object) -> int | None:
    """Return a whole number, also from a float, or None."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _best(similarities: NDArray[np.float32], ids: Sequence[str], *, top_k: int) -> list[tuple[str, float]]:
    count = min(top_k, len(ids))
    # Every row as good as the last that fits is a candidate, so that ties are broken by id alone.
    threshold = np.partition(similarities, -count)[-count]
    candidates = np.flatnonzero(similarities >= threshold)
    ranking = sorted((-float(similarities[index]), ids[index]) for index in candidates.tolist())
    return [(chunk_id, -negative) for negative, chunk_id in ranking[:count]]
