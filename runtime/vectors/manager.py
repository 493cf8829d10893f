"""The vector index of story memories: one body for an embedded index and for a Chroma server."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from novelgen.errors import DeadlineExceededError
from novelgen.models.position import StoryPosition, require_project_id
from runtime.vectors.frames import Head, pack_vectors
from runtime.vectors.locations import IndexLocation
from runtime.vectors.process import IndexProcess
from runtime.vectors.rebuilding import rebuild_index
from runtime.vectors.row_messages import hit_from_wire, row_to_wire
from runtime.vectors.row_metadata import cut_key
from runtime.vectors.rows import IndexHit, IndexRow, Vector
from runtime.vectors.sharing import DEFAULT_REGISTRY, IndexProcessRegistry
from runtime.vectors.vector_checks import require_vectors
from runtime.vectors.verification import (
    CANARY_HITS,
    Expected,
    IndexVerification,
    finds_itself,
    read_expected,
)

QUERY_TIMEOUT_S = 5.0
WRITE_TIMEOUT_S = 30.0
BATCH_ROWS = 250
"""Rows per request: queries of other threads wait for one batch at most, about 0.5 s."""


class VectorStoreManager:
    """Stores and finds memory chunks by their vectors, each project in a collection of its own.

    Every method raises `VectorIndexError` or one of its kinds when the index fails, and
    `DeadlineExceededError` when it does not answer in its time; SQL is unharmed by either.

    Args:
        location: Folder or server of the index.
        embedding_model: Name of the model that makes the vectors; another one than before is refused.
        dimension: Length of every vector.
        index_id: Tells the projects of one database from those of others on a server; each project has its own,
            so a manager with one is for one project. Empty for an embedded index, which one program owns.
        registry: Lends the process of the index; the default shares it within the program.
    """

    def __init__(
        self,
        location: IndexLocation,
        *,
        embedding_model: str,
        dimension: int,
        index_id: str = "",
        registry: IndexProcessRegistry = DEFAULT_REGISTRY,
    ) -> None:
        self.embedding_model = embedding_model
        self.dimension = dimension
        self.index_id = index_id
        self._registry = registry
        self._process: IndexProcess = registry.borrow(location)
        self._is_closed = False

    @property
    def location(self) -> IndexLocation:
        """Folder or server of the index."""
        return self._process.location

    @property
    def is_refusing(self) -> bool:
        """Whether repeated failures have opened the circuit breaker."""
        return self._process.is_refusing

    @property
    def is_written_to(self) -> bool:
        """Whether something is being written to the index by this program, or a rebuild is under way."""
        return self._process.write_turn.locked()

    @property
    def in_doubt(self) -> bool:
        """Whether an embedded index was interrupted at work, and neither verified as sound nor built anew since."""
        return self._process.in_doubt

    def start(self) -> None:
        """Start the process of the index in the background and return at once.

        Raises:
            VectorIndexOwnedError: Another process owns the index.
        """
        self._process.start()

    def wait_started(self, *, timeout_s: float = QUERY_TIMEOUT_S) -> None:
        """Start the process of the index and wait until it has loaded its libraries.

        A program that asks one question calls this first, so that the short deadline of the question is not
        spent on the start. The index itself is not touched, so that one that hangs costs nothing here.

        Args:
            timeout_s: Seconds to wait.

        Raises:
            DeadlineExceededError: It is not ready in time.
            VectorIndexOwnedError: Another process owns the index.
        """
        self._process.wait_started(timeout_s=timeout_s)

    def upsert(
        self, rows: Iterable[IndexRow], *, must_exist: bool = False, timeout_s: float = WRITE_TIMEOUT_S
    ) -> None:
        """Store rows, in place of those with the same project and id; the same call twice changes nothing.

        Args:
            rows: Rows of one or several projects.
            must_exist: Refuse a project of which the index holds nothing at all, not even an empty collection.
            timeout_s: Seconds for each batch of 250 rows.

        Raises:
            VectorIndexDamagedError: The index lost the project.
            EmbeddingError: A vector is unusable; rows of later batches are then not stored.
            EmbeddingMismatchError: The index holds vectors of another model or dimension.
        """
        iterator = iter(rows)
        while batch := list(islice(iterator, BATCH_ROWS)):
            for project_id in dict.fromkeys(row.project_id for row in batch):
                own = [row for row in batch if row.project_id == project_id]
                with self._write_turn(timeout_s) as remaining_s:
                    self._write("upsert", project_id, own, must_exist=must_exist, timeout_s=remaining_s)

    def delete(
        self, project_id: str, chunk_ids: Iterable[str], *, timeout_s: float = WRITE_TIMEOUT_S
    ) -> None:
        """Remove rows; ids that are not there are fine.

        Args:
            project_id: Project of the rows.
            chunk_ids: Ids of the rows.
            timeout_s: Seconds for the whole.
        """
        payload = self._named(project_id) | {"chunk_ids": list(dict.fromkeys(chunk_ids))}
        with self._write_turn(timeout_s) as remaining_s:
            self._process.call("delete", payload, timeout_s=remaining_s)

    def query(
        self,
        project_id: str,
        vectors: Sequence[Vector | Sequence[float]] | NDArray[np.float32],
        *,
        top_k: int,
        as_of: StoryPosition | None = None,
        chunk_ids: Sequence[str] | None = None,
        must_exist: bool = False,
        timeout_s: float = QUERY_TIMEOUT_S,
    ) -> list[list[IndexHit]]:
        """Find the rows nearest to each vector.

        Args:
            project_id: Project to search; no row of another is ever returned.
            vectors: Questions, shape (questions, dimension).
            top_k: Most rows per question, at least 1.
            as_of: Only rows strictly before this position, and those without a position; None cuts nothing.
            chunk_ids: Only rows with these ids; unknown ids are fine, an empty sequence finds nothing.
            must_exist: Refuse a project of which the index holds nothing at all, not even an empty collection.
            timeout_s: Seconds for the whole, a process that is still starting included.

        Returns:
            Per question its rows, best first, ties by id; empty lists for a project without rows.

        Raises:
            EmbeddingError: A question is unusable.
            EmbeddingMismatchError: The index holds vectors of another model or dimension.
            VectorIndexDamagedError: The index lost the project.
        """
        if top_k < 1:
            raise ValueError(f"top_k={top_k!r} must be at least 1")
        names = [f"question {index}" for index in range(len(vectors))]
        matrix = require_vectors(vectors, dimension=self.dimension, names=names)
        if not len(matrix) or (chunk_ids is not None and not len(chunk_ids)):
            return [[] for _ in names]
        payload = self._stamped(project_id) | {
            "top_k": top_k,
            "before_key": cut_key(as_of),
            "must_exist": must_exist,
            "chunk_ids": None if chunk_ids is None else list(chunk_ids),
        }
        reply = self._process.call("query", payload, body=pack_vectors(matrix), timeout_s=timeout_s)
        return [[hit_from_wire(hit) for hit in hits] for hits in reply["hits"]]

    def list_ids(self, project_id: str, *, timeout_s: float = WRITE_TIMEOUT_S) -> set[str]:
        """List the ids of all rows of a project; empty when it has none."""
        return set(self._process.call("ids", self._named(project_id), timeout_s=timeout_s)["ids"])

    def count(self, project_id: str, *, timeout_s: float = WRITE_TIMEOUT_S) -> int:
        """Count the rows that a project lists; says nothing about whether they are found (see `verify`)."""
        return len(self.list_ids(project_id, timeout_s=timeout_s))

    def verify(
        self,
        project_id: str,
        expected: Expected,
        *,
        sample_size: int = 50,
        timeout_s: float = WRITE_TIMEOUT_S,
    ) -> IndexVerification:
        """Compare the index with what should be in it: all ids, and for a sample whether it finds itself.

        Args:
            project_id: Project to verify.
            expected: Ids with vectors, as a mapping or an iterable of pairs; a vector may be None.
            sample_size: Most vectors to ask for.
            timeout_s: Seconds for each question to the index.

        Returns:
            What is missing, unexpected or lost; `is_sound` when nothing is.
        """
        ids, sample = read_expected(expected, sample_size=sample_size)
        listed = self.list_ids(project_id, timeout_s=timeout_s)
        canaries = [(chunk_id, vector) for chunk_id, vector in sample.kept if chunk_id in listed]
        found = self.query(
            project_id, [vector for _, vector in canaries], top_k=CANARY_HITS, timeout_s=timeout_s
        )
        doubted = [
            canary for canary, hits in zip(canaries, found, strict=True) if not finds_itself(canary[0], hits)
        ]
        lost = [
            name for name, vector in doubted if not self._holds(project_id, name, vector, timeout_s=timeout_s)
        ]
        verification = IndexVerification(
            missing_ids=tuple(sorted(ids - listed)),
            unexpected_ids=tuple(sorted(listed - ids)),
            lost_ids=tuple(sorted(lost)),
            rows=len(ids),
            canaries=len(canaries),
        )
        if verification.is_sound:
            self._process.trust()
        return verification

    def _holds(
        self,
        project_id: str,
        chunk_id: str,
        vector: Vector | Sequence[float],
        *,
        timeout_s: float,
    ) -> bool:
        """Ask for one row alone by its own vector: the search is approximate, and may pass over a sound row."""
        hits = self.query(project_id, [vector], top_k=1, chunk_ids=[chunk_id], timeout_s=timeout_s)[0]
        return finds_itself(chunk_id, hits)

    def rebuild(
        self,
        project_id: str,
        rows: Iterable[IndexRow],
        *,
        expected_ids: Iterable[str],
        progress: Callable[[int], None] | None = None,
        timeout_s: float = WRITE_TIMEOUT_S,
    ) -> int:
        """Build the index of a project anew beside the old one, verify it, and swap.

        Until the swap, readers get the old index, writers wait. Files that cannot be opened are removed
        first. A rebuild that fails otherwise leaves the old index as it was.

        Args:
            project_id: Project to rebuild.
            rows: All its rows, read once.
            expected_ids: Ids that the new index must hold, exactly; read after the rows.
            progress: Called after each batch with the number of rows stored so far.
            timeout_s: Seconds for each step (a batch of 250 rows, the verification, the swap).

        Returns:
            Number of rows stored.

        Raises:
            VectorIndexError: The rows are not those expected; the old index stands.
            VectorIndexDamagedError: The files failed during the rebuild and were removed; rebuild once more.
            EmbeddingError: A vector is unusable.
        """
        with self._write_turn(timeout_s):
            stored = rebuild_index(
                self._process,
                self._stamped(project_id),
                rows=rows,
                expected_ids=expected_ids,
                batch_rows=BATCH_ROWS,
                write=self._write,
                progress=progress,
                timeout_s=timeout_s,
            )
            self._process.trust()
            return stored

    def drop(self, project_id: str, *, timeout_s: float = WRITE_TIMEOUT_S) -> None:
        """Remove all that the index holds of a project."""
        with self._write_turn(timeout_s) as remaining_s:
            self._process.call("drop", self._named(project_id), timeout_s=remaining_s)

    def rest(self) -> bool:
        """End the process of the index until the next call starts it anew; other users feel no more than that.

        Returns:
            False when the index is at work; nothing has changed then.
        """
        return self._process.rest()

    def close(self) -> None:
        """Give the process of the index back; the last user's return ends it. Harmless when repeated."""
        if not self._is_closed:
            self._is_closed = True
            self._registry.give_back(self._process)

    def _write(
        self,
        operation: str,
        project_id: str,
        rows: Sequence[IndexRow],
        *,
        must_exist: bool = False,
        timeout_s: float,
    ) -> None:
        unique = list({row.chunk_id: row for row in rows}.values())
        matrix = require_vectors(
            (row.vector for row in unique),
            dimension=self.dimension,
            names=[repr(row.chunk_id) for row in unique],
        )
        payload = self._stamped(project_id) | {
            "rows": [row_to_wire(row) for row in unique],
            "must_exist": must_exist,
        }
        self._process.call(operation, payload, body=pack_vectors(matrix), timeout_s=timeout_s)

    def _named(self, project_id: str) -> Head:
        return {"project_id": require_project_id(project_id), "index_id": self.index_id}

    def _stamped(self, project_id: str) -> Head:
        return self._named(project_id) | {
            "embedding_model": self.embedding_model,
            "dimension": self.dimension,
        }

    @contextmanager
    def _write_turn(self, timeout_s: float) -> Iterator[float]:
        deadline = time.monotonic() + timeout_s
        if not self._process.write_turn.acquire(timeout=timeout_s):
            raise DeadlineExceededError("another write to the vector index, or a rebuild, took too long")
        try:
            yield max(0.0, deadline - time.monotonic())
        finally:
            self._process.write_turn.release()
