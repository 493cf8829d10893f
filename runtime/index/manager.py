"""The vector index of story memories: one body for an embedded index and for a Chroma server."""

import logging
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from novelgen.deadlines import Deadline
from novelgen.errors import DeadlineExceededError, VectorIndexDamagedError, VectorIndexError
from novelgen.models.position import StoryPosition, require_project_id
from runtime.index.locations import IndexLocation, ProjectKey, Stamp
from runtime.index.process import DEFAULT_REGISTRY, IndexProcess, IndexProcessRegistry
from runtime.index.rows import (
    CANARY_HITS,
    IndexHit,
    IndexRow,
    QueryCut,
    Vector,
    cut_key,
    encode_rows,
    finds_itself,
    require_vectors,
)

logger = logging.getLogger(__name__)

QUERY_TIMEOUT_S = 5.0
WRITE_TIMEOUT_S = 30.0
BATCH_ROWS = 250
"""Rows per request: queries of other threads wait for one batch at most, about 0.5 s."""


SAMPLE_SIZE = 50
"""Of so many rows it is asked whether their own vectors find them."""


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


class VectorStoreManager:
    """Stores and finds memory chunks by their vectors, each project in a collection of its own.

    Every method raises `VectorIndexError` or one of its kinds when the index fails, and `DeadlineExceededError` when
    it does not answer in its time; SQL is unharmed by either.
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
        self.process: IndexProcess = registry.borrow(location)
        """What answers, shared by all managers of the location in this program."""
        self.location = location
        self._registry = registry
        self._is_closed = False

    def upsert(self, rows: Iterable[IndexRow], *, must_exist: bool = False, timeout_s: float = WRITE_TIMEOUT_S) -> None:
        """Store rows of one project, in place of those with the same id; the same call twice changes nothing."""
        for batch in _batches(rows):
            deadline = Deadline.after(timeout_s)
            with self.process.writing(deadline):
                self._write(batch[0].project_id, batch, deadline, must_exist=must_exist)

    def delete(self, project_id: str, chunk_ids: Iterable[str], *, timeout_s: float = WRITE_TIMEOUT_S) -> None:
        """Remove rows; ids that are not there are fine."""
        key, unique = self._key(project_id), list(dict.fromkeys(chunk_ids))
        deadline = Deadline.after(timeout_s)
        with self.process.writing(deadline):
            self.process.call("delete", deadline, key=key, chunk_ids=unique)

    def query(
        self,
        project_id: str,
        vectors: Sequence[Vector | Sequence[float]] | NDArray[np.float32],
        *,
        top_k: int,
        as_of: StoryPosition | None = None,
        chunk_ids: Sequence[str] | None = None,
        must_exist: bool = False,
        deadline: Deadline | None = None,
    ) -> list[list[IndexHit]]:
        """Find the rows nearest to each vector."""
        if top_k < 1:
            raise ValueError(f"top_k={top_k!r} must be at least 1")
        names = [f"question {index}" for index in range(len(vectors))]
        matrix = require_vectors(vectors, dimension=self.dimension, names=names)
        if not len(matrix) or (chunk_ids is not None and not len(chunk_ids)):
            return [[] for _ in names]
        ids = None if chunk_ids is None else tuple(dict.fromkeys(chunk_ids))
        cut = QueryCut(project_id, top_k, cut_key(as_of), ids)
        found: list[list[IndexHit]] = self.process.call(
            "query",
            deadline or Deadline.after(QUERY_TIMEOUT_S),
            stamp=self._stamp(project_id),
            vectors=matrix,
            cut=cut,
            must_exist=must_exist,
        )
        return found

    def list_ids(self, project_id: str, *, timeout_s: float = WRITE_TIMEOUT_S) -> set[str]:
        """List the ids of all rows of a project; empty when it has none."""
        return set(self.process.call("ids", Deadline.after(timeout_s), key=self._key(project_id)))

    def count(self, project_id: str, *, timeout_s: float = WRITE_TIMEOUT_S) -> int:
        """Count the rows that a project lists; says nothing about whether they are found (see `verify`)."""
        return len(self.list_ids(project_id, timeout_s=timeout_s))

    def verify(
        self,
        project_id: str,
        expected_ids: Set[str],
        sample: Mapping[str, Vector | Sequence[float]],
        *,
        timeout_s: float = WRITE_TIMEOUT_S,
    ) -> IndexVerification:
        """Compare the index with what should be in it: all ids, and for a sample whether it finds itself."""
        listed = self.list_ids(project_id, timeout_s=timeout_s)
        canaries = {chunk_id: vector for chunk_id, vector in sample.items() if chunk_id in listed}
        found = self.query(project_id, list(canaries.values()), top_k=CANARY_HITS, deadline=Deadline.after(timeout_s))
        lost: list[str] = []
        for (chunk_id, vector), hits in zip(canaries.items(), found, strict=True):
            if finds_itself(chunk_id, hits):
                continue
            # The search is approximate, and may pass over a sound row: this one is asked for alone.
            deadline = Deadline.after(timeout_s)
            alone = self.query(project_id, [vector], top_k=1, chunk_ids=[chunk_id], deadline=deadline)[0]
            if not finds_itself(chunk_id, alone):
                lost.append(chunk_id)
        verification = IndexVerification(
            missing_ids=tuple(sorted(expected_ids - listed)),
            unexpected_ids=tuple(sorted(listed - expected_ids)),
            lost_ids=tuple(sorted(lost)),
            rows=len(expected_ids),
            canaries=len(canaries),
        )
        if verification.is_sound:
            self.process.in_doubt = False
        return verification

    def rebuild(self, project_id: str, rows: Iterable[IndexRow], *, timeout_s: float = WRITE_TIMEOUT_S) -> int:
        """Build the index of a project beside the old one, verify it, and swap.

        Until the swap, readers get the old index, writers wait. Files that cannot be opened are removed first. A
        rebuild that fails otherwise leaves the old index as it was.
        """
        key = self._key(project_id)
        with self.process.writing(Deadline.after(timeout_s)):
            # The user asked for a repair, which must be let through.
            self.process.breaker.succeeded()
            stamp = self._stamp(project_id)
            try:
                self.process.call("build_begin", Deadline.after(timeout_s), stamp=stamp)
            except VectorIndexDamagedError as error:
                logger.warning("removing the files of a damaged vector index before its rebuild: %s", error)
                self.process.set_aside_files(Deadline.after(timeout_s))
                self.process.call("build_begin", Deadline.after(timeout_s), stamp=stamp)
            with self._undone_on_failure(key, timeout_s=timeout_s):
                built, sample = self._build(project_id, rows, timeout_s=timeout_s)
                self.process.call("build_commit", Deadline.after(timeout_s), key=key, expected_ids=built, sample=sample)
            self.process.in_doubt = False
            return len(built)

    def drop(self, project_id: str, *, timeout_s: float = WRITE_TIMEOUT_S) -> None:
        """Remove all that the index holds of a project."""
        deadline = Deadline.after(timeout_s)
        with self.process.writing(deadline):
            self.process.call("drop", deadline, key=self._key(project_id))

    def close(self) -> None:
        """Give the process of the index back; the last user's return ends it. Harmless when repeated."""
        if not self._is_closed:
            self._is_closed = True
            self._registry.give_back(self.process)

    def _write(self, project_id: str, rows: Sequence[IndexRow], deadline: Deadline, **options: bool) -> None:
        for row in rows:
            if row.project_id != project_id:
                raise ValueError(f"row {row.chunk_id!r} is of project {row.project_id!r}, not {project_id!r}")
        unique = list({row.chunk_id: row for row in rows}.values())
        columns = encode_rows(unique, dimension=self.dimension)
        self.process.call("upsert", deadline, stamp=self._stamp(project_id), columns=columns, **options)

    def _key(self, project_id: str) -> ProjectKey:
        return ProjectKey(require_project_id(project_id), self.index_id)

    def _stamp(self, project_id: str) -> Stamp:
        key = self._key(project_id)
        return Stamp(key.project_id, self.embedding_model, self.dimension, index_id=key.index_id)

    def _build(
        self, project_id: str, rows: Iterable[IndexRow], *, timeout_s: float
    ) -> tuple[set[str], dict[str, Vector]]:
        """Write the rows of a rebuild, and return their ids and a fair sample, the same for the same rows."""
        chance = random.Random(0)
        built: set[str] = set()
        sample: dict[int, IndexRow] = {}
        for batch in _batches(rows):
            for row in batch:
                place = len(built) if len(built) < SAMPLE_SIZE else chance.randrange(len(built) + 1)
                if place < SAMPLE_SIZE:
                    sample[place] = row
                built.add(row.chunk_id)
            self._write(project_id, batch, Deadline.after(timeout_s), is_rebuild=True)
        return built, {row.chunk_id: np.asarray(row.vector, np.float32) for row in sample.values()}

    @contextmanager
    def _undone_on_failure(self, key: ProjectKey, *, timeout_s: float) -> Iterator[None]:
        """Remove what was built where a rebuild fails; where even that fails, the next rebuild does it."""
        is_settled = False
        try:
            yield
            is_settled = True
        except VectorIndexDamagedError as error:
            is_settled = True
            self.process.set_aside_files(Deadline.after(timeout_s))
            raise VectorIndexDamagedError(
                f"the vector index failed during its rebuild and its files were removed; rebuild it again ({error})"
            ) from error
        finally:
            if not is_settled:
                try:
                    self.process.call("build_abort", Deadline.after(timeout_s), key=key)
                except (VectorIndexError, DeadlineExceededError) as error:
                    logger.warning("an unfinished rebuild of the vector index was left for the next one: %s", error)


def _batches(rows: Iterable[IndexRow]) -> Iterator[list[IndexRow]]:
    iterator = iter(rows)
    while batch := list(islice(iterator, BATCH_ROWS)):
        yield batch
