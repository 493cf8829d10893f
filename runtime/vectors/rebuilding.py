"""Builds a project's index anew beside the old one, verifies it, and swaps."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Protocol

import numpy as np

from novelgen.errors import DeadlineExceededError, VectorIndexDamagedError, VectorIndexError
from runtime.vectors.frames import Head, pack_vectors
from runtime.vectors.process import IndexProcess
from runtime.vectors.row_messages import hit_from_wire
from runtime.vectors.rows import IndexRow
from runtime.vectors.verification import CANARY_HITS, VectorSample, finds_itself

logger = logging.getLogger(__name__)

_SAMPLE_SIZE = 50


class WriteRows(Protocol):
    """Sends rows of one project to the process of the index."""

    def __call__(
        self, operation: str, project_id: str, rows: Sequence[IndexRow], *, timeout_s: float
    ) -> None:
        """Send them and wait until they are stored."""


def rebuild_index(
    process: IndexProcess,
    stamped: Head,
    *,
    rows: Iterable[IndexRow],
    expected_ids: Iterable[str],
    batch_rows: int,
    write: WriteRows,
    progress: Callable[[int], None] | None,
    timeout_s: float,
) -> int:
    """Build, verify and swap; the caller holds the turn to write.

    Args:
        process: Process of the index.
        stamped: Project and index id, embedding model and dimension of the new index.
        rows: All rows of the project, read once.
        expected_ids: Ids that the new index must hold, exactly; read after the rows.
        batch_rows: Rows per request.
        write: Sends one batch.
        progress: Called after each batch with the number of rows stored so far.
        timeout_s: Seconds for each request.

    Returns:
        Number of rows stored.

    Raises:
        VectorIndexError: The rows given are not those expected; the old index stands.
        VectorIndexDamagedError: The files failed during the rebuild and were removed; rebuild once more.
    """
    process.forgive()
    _begin(process, stamped, timeout_s=timeout_s)
    project_id: str = stamped["project_id"]
    with _undone_on_failure(process, stamped, timeout_s=timeout_s):
        sample = VectorSample(_SAMPLE_SIZE)
        stored: set[str] = set()
        iterator = iter(rows)
        while batch := list(islice(iterator, batch_rows)):
            _refuse_foreign(batch, project_id)
            write("build_upsert", project_id, batch, timeout_s=timeout_s)
            stored.update(row.chunk_id for row in batch)
            for row in batch:
                sample.offer(row.chunk_id, row.vector)
            if progress is not None:
                progress(len(stored))
        _require_expected(process, stamped, expected_ids=set(expected_ids), timeout_s=timeout_s)
        _require_found(process, stamped, sample=sample, timeout_s=timeout_s)
        process.call("build_commit", stamped, timeout_s=timeout_s)
    return len(stored)


def _begin(process: IndexProcess, stamped: Head, *, timeout_s: float) -> None:
    try:
        process.call("build_begin", stamped, timeout_s=timeout_s)
    except VectorIndexDamagedError as error:
        logger.warning("removing the files of a damaged vector index before its rebuild: %s", error)
        process.set_aside_files(timeout_s=timeout_s)
        process.call("build_begin", stamped, timeout_s=timeout_s)


@contextmanager
def _undone_on_failure(process: IndexProcess, stamped: Head, *, timeout_s: float) -> Iterator[None]:
    finished = False
    try:
        yield
        finished = True
    except VectorIndexDamagedError as error:
        process.set_aside_files(timeout_s=timeout_s)
        finished = True
        raise VectorIndexDamagedError(
            f"the vector index failed during its rebuild and its files were removed; "
            f"rebuild it again ({error})"
        ) from error
    finally:
        if not finished:
            _abort(process, stamped, timeout_s=timeout_s)


def _abort(process: IndexProcess, stamped: Head, *, timeout_s: float) -> None:
    """Remove what was built; where that fails, the next rebuild does it."""
    try:
        process.call("build_abort", stamped, timeout_s=timeout_s)
    except (VectorIndexError, DeadlineExceededError) as error:
        logger.warning("an unfinished rebuild of the vector index was left for the next one: %s", error)


def _refuse_foreign(batch: Sequence[IndexRow], project_id: str) -> None:
    for row in batch:
        if row.project_id != project_id:
            raise ValueError(f"row {row.chunk_id!r} is of project {row.project_id!r}, not {project_id!r}")


def _require_expected(
    process: IndexProcess, stamped: Head, *, expected_ids: set[str], timeout_s: float
) -> None:
    built = set(process.call("build_ids", stamped, timeout_s=timeout_s)["ids"])
    if built != expected_ids:
        raise VectorIndexError(
            f"the rebuilt index of project {stamped['project_id']!r} lacks {len(expected_ids - built)} expected rows "
            f"and holds {len(built - expected_ids)} others; the old one was kept, rebuild again"
        )


def _require_found(process: IndexProcess, stamped: Head, *, sample: VectorSample, timeout_s: float) -> None:
    if not sample.kept:
        return
    payload = stamped | {"top_k": CANARY_HITS, "before_key": None, "chunk_ids": None}
    body = pack_vectors(np.array([vector for _, vector in sample.kept], dtype=np.float32))
    reply = process.call("build_query", payload, body=body, timeout_s=timeout_s)
    for (chunk_id, _), hits in zip(sample.kept, reply["hits"], strict=True):
        if not finds_itself(chunk_id, [hit_from_wire(hit) for hit in hits]):
            raise VectorIndexDamagedError(f"row {chunk_id!r} is not found by its own vector after a rebuild")
