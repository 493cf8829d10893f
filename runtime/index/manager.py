"""The vector index of story memories: one body for an embedded index and for a Chroma server."""

import logging
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from novelgen.deadlines import Deadline
from novelgen.errors import DeadlineExceededError, VectorIndexDamagedError, VectorIndexError
from novelgen.models.position import StoryPosition, require_project_id
from runtime.index.locations import IndexLocation, ProjectKey, Stamp
from runtime.index.process import DEFAULT_REGISTRY, IndexProcess, IndexProcessRegistry
from runtime.index.rows import IndexHit, IndexRow, QueryCut, Vector, cut_key, encode_rows, require_vectors

logger = logging.getLogger(__name__)

QUERY_TIMEOUT_S = 5.0
WRITE_TIMEOUT_S = 30.0
BATCH_ROWS = 250
"""Rows per request: queries of other threads wait for one batch at most, about 0.5 s."""


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
        self._registry = registry
        self._is_closed = False

    @property
    def location(self) -> IndexLocation:
        """Folder or server of the index."""
        return self.process.location

    @property
    def is_refusing(self) -> bool:
        """Whether repeated failures have opened the circuit breaker."""
        return self.process.breaker.is_open

    @property
    def is_written_to(self) -> bool:
        """Whether something is being written to the index by this program, or a rebuild is under way."""
        return self.process.write_turn.locked()

    @property
    def in_doubt(self) -> bool:
        """Whether an embedded index was interrupted at work, and neither verified as sound nor rebuilt since."""
        return self.process.in_doubt

    def start(self) -> None:
        """Start the process of the index in the background and return at once."""
        self.process.start()

    def wait_started(self, *, timeout_s: float = QUERY_TIMEOUT_S) -> None:
        """Start the process of the index and wait until it has loaded its libraries.

        A program that asks one question calls this first, so that the short deadline of the question is not spent on
        the start. The index itself is not touched, so that one that hangs costs nothing here.
        """
        self.process.wait_started(Deadline.after(timeout_s))

    def upsert(self, rows: Iterable[IndexRow], *, must_exist: bool = False, timeout_s: float = WRITE_TIMEOUT_S) -> None:
        """Store rows, in place of those with the same project and id; the same call twice changes nothing."""
        for batch in _batches(rows):
            for project_id in dict.fromkeys(row.project_id for row in batch):
                own = [row for row in batch if row.project_id == project_id]
                deadline = Deadline.after(timeout_s)
                with self.process.writing(deadline):
                    self._write(project_id, own, deadline, must_exist=must_exist)

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
        cut = QueryCut(project_id, top_k, cut_key(as_of), None if chunk_ids is None else tuple(chunk_ids))
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
        self, project_id: str, expected: Expected, *, sample_size: int = SAMPLE_SIZE, timeout_s: float = WRITE_TIMEOUT_S
    ) -> IndexVerification:
        """Compare the index with what should be in it: all ids, and for a sample whether it finds itself."""
        ids, sample = read_expected(expected, sample_size=sample_size)
        listed = self.list_ids(project_id, timeout_s=timeout_s)
        canaries = [(chunk_id, vector) for chunk_id, vector in sample.kept if chunk_id in listed]
        asked = [vector for _, vector in canaries]
        found = self.query(project_id, asked, top_k=CANARY_HITS, deadline=Deadline.after(timeout_s))
        lost: list[str] = []
        for (chunk_id, vector), hits in zip(canaries, found, strict=True):
            if finds_itself(chunk_id, hits):
                continue
            # The search is approximate, and may pass over a sound row: this one is asked for alone.
            deadline = Deadline.after(timeout_s)
            alone = self.query(project_id, [vector], top_k=1, chunk_ids=[chunk_id], deadline=deadline)[0]
            if not finds_itself(chunk_id, alone):
                lost.append(chunk_id)
        verification = IndexVerification(
            missing_ids=tuple(sorted(ids - listed)),
            unexpected_ids=tuple(sorted(listed - ids)),
            lost_ids=tuple(sorted(lost)),
            rows=len(ids),
            canaries=len(canaries),
        )
        if verification.is_sound:
            self.process.trust()
        return verification

    def rebuild(
        self,
        project_id: str,
        rows: Iterable[IndexRow],
        *,
        expected_ids: Iterable[str],
        progress: Callable[[int], None] | None = None,
        timeout_s: float = WRITE_TIMEOUT_S,
    ) -> int:
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
                stored, sample = self._build(project_id, rows, progress=progress, timeout_s=timeout_s)
                self._require_expected(key, set(expected_ids), timeout_s=timeout_s)
                self._require_found(project_id, sample, timeout_s=timeout_s)
                self.process.call("build_commit", Deadline.after(timeout_s), key=key)
            self.process.trust()
            return stored

    def drop(self, project_id: str, *, timeout_s: float = WRITE_TIMEOUT_S) -> None:
        """Remove all that the index holds of a project."""
        deadline = Deadline.after(timeout_s)
        with self.process.writing(deadline):
            self.process.call("drop", deadline, key=self._key(project_id))

    def close_idle(self) -> bool:
        """End the process of the index until the next call starts it again; other users feel no more than that."""
        return self.process.close_idle()

    def close(self) -> None:
        """Give the process of the index back; the last user's return ends it. Harmless when repeated."""
        if not self._is_closed:
            self._is_closed = True
            self._registry.give_back(self.process)

    def _write(self, project_id: str, rows: Sequence[IndexRow], deadline: Deadline, **options: bool) -> None:
        unique = list({row.chunk_id: row for row in rows}.values())
        columns = encode_rows(unique, dimension=self.dimension)
        self.process.call("upsert", deadline, stamp=self._stamp(project_id), columns=columns, **options)

    def _key(self, project_id: str) -> ProjectKey:
        return ProjectKey(require_project_id(project_id), self.index_id)

    def _stamp(self, project_id: str) -> Stamp:
        key = self._key(project_id)
        return Stamp(key.project_id, self.embedding_model, self.dimension, index_id=key.index_id)

    # The steps of a rebuild

    def _build(
        self, project_id: str, rows: Iterable[IndexRow], *, progress: Callable[[int], None] | None, timeout_s: float
    ) -> tuple[int, VectorSample]:
        sample = VectorSample(SAMPLE_SIZE)
        stored: set[str] = set()
        for batch in _batches(rows):
            for row in batch:
                if row.project_id != project_id:
                    raise ValueError(f"row {row.chunk_id!r} is of project {row.project_id!r}, not {project_id!r}")
                sample.offer(row.chunk_id, row.vector)
            self._write(project_id, batch, Deadline.after(timeout_s), is_rebuild=True)
            stored.update(row.chunk_id for row in batch)
            if progress is not None:
                progress(len(stored))
        return len(stored), sample

    def _require_expected(self, key: ProjectKey, expected_ids: set[str], *, timeout_s: float) -> None:
        built = set(self.process.call("ids", Deadline.after(timeout_s), key=key, is_rebuild=True))
        if built != expected_ids:
            raise VectorIndexError(
                f"the rebuilt index of project {key.project_id!r} lacks {len(expected_ids - built)} expected rows "
                f"and holds {len(built - expected_ids)} others; the old one was kept, rebuild again"
            )

    def _require_found(self, project_id: str, sample: VectorSample, *, timeout_s: float) -> None:
        if not sample.kept:
            return
        found = self.process.call(
            "query",
            Deadline.after(timeout_s),
            stamp=self._stamp(project_id),
            vectors=np.array([vector for _, vector in sample.kept], dtype=np.float32),
            cut=QueryCut(project_id, CANARY_HITS),
            is_rebuild=True,
        )
        for (chunk_id, _), hits in zip(sample.kept, found, strict=True):
            if not finds_itself(chunk_id, hits):
                raise VectorIndexDamagedError(f"row {chunk_id!r} is not found by its own vector after a rebuild")

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
