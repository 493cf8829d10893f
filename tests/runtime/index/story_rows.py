"""Rows and vectors for the tests of the vector room."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from runtime.index.rows import IndexRow

DIMENSION = 16
MODEL = "fake-embeddings"


def random_vectors(count: int, *, seed: int = 0) -> NDArray[np.float32]:
    """Draw unit vectors, the same for the same seed."""
    vectors = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def expected(rows: Sequence[IndexRow]) -> tuple[set[str], dict[str, NDArray[np.float32] | list[float]]]:
    """Return what verification takes: all ids, and the vectors of all as the sample."""
    return {row.chunk_id for row in rows}, {row.chunk_id: row.vector for row in rows}


def make_row(
    chunk_id: str,
    vector: NDArray[np.float32] | list[float],
    *,
    project_id: str = "demo",
    position: tuple[int | None, int | None] = (1, 1),
    source_id: str | None = "M001",
    content: str | None = None,
) -> IndexRow:
    """Make one row; its content names it unless given."""
    return IndexRow(
        chunk_id=chunk_id,
        project_id=project_id,
        chapter_index=position[0],
        scene_index=position[1],
        source_id=source_id,
        content=f"text of {chunk_id}" if content is None else content,
        content_type="memory",
        vector=vector,
    )


def make_rows(
    count: int,
    *,
    project_id: str = "demo",
    seed: int = 0,
    positions: Sequence[tuple[int | None, int | None]] = ((1, 1),),
) -> list[IndexRow]:
    """Make rows `c0000`, `c0001` and so on at random vectors, taking the positions in turn."""
    return [
        make_row(f"c{index:04d}", vector, project_id=project_id, position=positions[index % len(positions)])
        for index, vector in enumerate(random_vectors(count, seed=seed))
    ]
