"""What goes into the vector index and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""One embedding, shape (dimension,)."""


@dataclass(frozen=True, slots=True)
class IndexHit:
    """One row that the index found.

    Args:
        chunk_id: Id of the memory chunk, unique within its project.
        project_id: Project of the chunk; always the one that was asked for.
        chapter_index: Chapter in which the chunk counts; None when it has no position.
        scene_index: Scene within the chapter; None when the chunk belongs to the whole chapter.
        source_id: Scene record or bullet that the chunk came from, if any.
        content: Text of the chunk.
        content_type: Kind of chunk (scene, summary, memory, note and so on).
        similarity: Cosine of the angle between the question and the chunk, in [-1, 1].
    """

    chunk_id: str
    project_id: str
    chapter_index: int | None
    scene_index: int | None
    source_id: str | None
    content: str
    content_type: str
    similarity: float


@dataclass(frozen=True, slots=True, eq=False)
class IndexRow:
    """One memory chunk with its embedding, as the index stores it.

    Args:
        chunk_id: Id of the memory chunk, unique within its project, not empty.
        project_id: Project of the chunk.
        chapter_index: Chapter from which on the chunk counts; None makes it visible everywhere.
        scene_index: Scene within the chapter; None means that it is known at the end of the chapter only.
        source_id: Scene record or bullet that the chunk came from, if any.
        content: Text of the chunk.
        content_type: Kind of chunk (scene, summary, memory, note and so on).
        vector: Embedding of the content, shape (dimension,); a list of floats is accepted.

    Raises:
        ValueError: The chunk id is empty, or a scene was given without its chapter.
    """

    chunk_id: str
    project_id: str
    chapter_index: int | None
    scene_index: int | None
    source_id: str | None
    content: str
    content_type: str
    vector: Vector | list[float]

    def __post_init__(self) -> None:
        if not self.chunk_id:
            raise ValueError(f"chunk_id={self.chunk_id!r} is empty; every index row needs an id")
        if self.chapter_index is None and self.scene_index is not None:
            raise ValueError(
                f"scene_index={self.scene_index!r} was given without chapter_index for {self.chunk_id!r}"
            )
