"""The vector index of a project: its live collection, and how rows are stored, found and compared with SQL."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from novelgen.deadlines import Deadline
from novelgen.memory.query_scores import unit_rows
from novelgen.models.position import StoryPosition, require_project_id
from runtime.index.locations import ChromaFolder, ChromaServer, swollen_file
from runtime.index.rows import IndexedText, IndexHit, IndexRow, Vector, encode_rows, require_vectors
from runtime.index.vector_index import Collection, IndexAccess

QUERY_TIMEOUT_S = 5.0
WRITE_TIMEOUT_S = 30.0
BATCH_ROWS = 250
"""Rows per request: queries of other threads wait for one batch at most, about 0.5 s."""

SAMPLE_SIZE = 50
"""So many rows are looked up by their own vectors."""
CANARY_HITS = 10
"""Rows to ask for by a row's own vector: it may share its place with equals."""
WIDER_CANARY_HITS = 500
"""The search is approximate, and may pass over a sound row: so many are looked at the second time."""
SAME_VECTOR = 0.999
"""Least cosine of a vector with itself after the index rounded it."""

SPARE_ROWS = 10
WIDENING = 8
MAX_WIDENED_ROWS = 5_000
"""Where the cut leaves too few rows of the nearest, more are asked for, up to so many."""

_SECOND_PLACE = "-b"

VectorsOf = Callable[[Sequence[str]], Mapping[str, Vector]]


@dataclass(frozen=True, slots=True)
class IndexVerification:
    """Differences between the index and SQL."""

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


def next_index_id(index_id: str) -> str:
    """Return the id under which the index is built anew, beside the live one."""
    base = index_id.removesuffix(_SECOND_PLACE)
    return base if index_id.endswith(_SECOND_PLACE) else base + _SECOND_PLACE


def collection_name(project_id: str, *, index_id: str | None, embedding_model: str, dimension: int) -> str:
    """Name the collection of a project's index, so that vectors of two models never meet in one.

    Args:
        project_id: The project.
        index_id: Tells the live collection from the one beside it and from those of other databases; None where SQL
            does not say it: the name then fits any of the project's collections.
        embedding_model: Model of the vectors.
        dimension: Their length.
    """
    model = _digest(f"{embedding_model}\n{dimension}")[:12]
    return f"*-{model}" if index_id is None else f"story-{_digest(f'{index_id}/{project_id}')[:36]}-{model}"


class ProjectIndex:
    """Stores and finds memory chunks of one project by their vectors.

    Every method raises `VectorIndexError` or one of its kinds when the index fails, and `DeadlineExceededError` when
    it does not answer in its time; SQL is unharmed by either.
    """

    def __init__(
        self, access: IndexAccess, project_id: str, *, index_id: str | None, embedding_model: str, dimension: int
    ) -> None:
        name = collection_name(
            require_project_id(project_id), index_id=index_id, embedding_model=embedding_model, dimension=dimension
        )
        self.project_id = project_id
        self.collection = Collection(name, dimension)
        self._access = access
        self._call = partial(access.call, collection=self.collection)

    @property
    def is_in_doubt(self) -> bool:
        """Whether the index was interrupted at work, and neither compared with SQL nor built anew since."""
        return self._access.in_doubt

    @property
    def is_refusing(self) -> bool:
        """Whether calls are refused at the moment, after repeated failures."""
        return self._access.breaker.is_open

    @property
    def keeps_removed_vectors(self) -> bool:
        """Whether the place of removed vectors is freed by a rebuild alone, as in Chroma's graph."""
        return isinstance(self._access.location, ChromaFolder | ChromaServer)

    def wait_started(self, timeout_s: float) -> None:
        """Let the index load its libraries."""
        self._access.wait_started(Deadline.after(timeout_s))

    def add(
        self, rows: Iterable[IndexRow], *, must_hold_rows: bool = False, timeout_s: float = WRITE_TIMEOUT_S
    ) -> list[str]:
        """Store rows in place of those with the same ids, and return their ids.

        Args:
            rows: Rows of the project; of equal ids in one batch the last counts.
            must_hold_rows: Whether an empty collection is refused, since rows were written to it before.
            timeout_s: Seconds for each batch.
        """
        stored_ids: list[str] = []
        for batch in _batches(rows):
            for row in batch:
                if row.project_id != self.project_id:
                    raise ValueError(f"row {row.chunk_id!r} is of project {row.project_id!r}, not {self.project_id!r}")
            unique = list({row.chunk_id: row for row in batch}.values())
            columns = encode_rows(unique, dimension=self.collection.dimension)
            self._call("add", Deadline.after(timeout_s), columns=columns, must_hold_rows=must_hold_rows)
            stored_ids += [row.chunk_id for row in unique]
        return stored_ids

    def delete(self, chunk_ids: Iterable[str], *, timeout_s: float = WRITE_TIMEOUT_S) -> None:
        """Remove rows, ignoring absent ids."""
        self._call("delete", Deadline.after(timeout_s), chunk_ids=list(dict.fromkeys(chunk_ids)))

    def query(
        self,
        vectors: Sequence[Vector | Sequence[float]] | NDArray[np.float32],
        *,
        top_k: int,
        must_hold_rows: bool = False,
        deadline: Deadline | None = None,
    ) -> list[list[IndexHit]]:
        """Return the rows nearest to each vector, the nearest first, wherever they stand in the story.

        SQL settles which of them may be shown, and in which order.
        """
        if top_k < 1:
            raise ValueError(f"top_k={top_k!r} must be at least 1")
        names = [f"question {number}" for number in range(len(vectors))]
        asked_vectors = require_vectors(vectors, dimension=self.collection.dimension, names=names)
        hit_lists: list[list[IndexHit]] = self._call(
            "query",
            deadline or Deadline.after(QUERY_TIMEOUT_S),
            vectors=unit_rows(asked_vectors),
            top_k=top_k,
            must_hold_rows=must_hold_rows,
        )
        return hit_lists

    def texts_before(
        self,
        vectors: Sequence[Vector | Sequence[float]] | NDArray[np.float32],
        as_of: StoryPosition,
        *,
        top_k: int,
        deadline: Deadline | None = None,
    ) -> list[list[IndexedText]]:
        """Return the nearest earlier rows from the store alone, when SQL is unreadable."""
        wanted_count = 2 * top_k + SPARE_ROWS
        while True:
            results = self.query(vectors, top_k=wanted_count, deadline=deadline)
            texts = [
                [text for hit in hits if (text := hit.text_before(as_of, project_id=self.project_id)) is not None]
                for hits in results
            ]
            is_short = any(
                len(shown_indexed_texts) < top_k and len(hits) >= wanted_count
                for shown_indexed_texts, hits in zip(texts, results, strict=True)
            )
            if not is_short or wanted_count >= MAX_WIDENED_ROWS:
                return [shown_indexed_texts[:top_k] for shown_indexed_texts in texts]
            wanted_count = min(wanted_count * WIDENING, MAX_WIDENED_ROWS)

    def list_ids(self, chunk_ids: Iterable[str] = (), *, timeout_s: float = WRITE_TIMEOUT_S) -> set[str]:
        """Return which of the chunks are stored, and the ids of all others where the store lists them."""
        ids: set[str] = self._call("ids", Deadline.after(timeout_s), chunk_ids=list(chunk_ids))
        return ids

    def verify(
        self,
        expected_ids: Set[str],
        canaries: Mapping[str, Vector | list[float]],
        *,
        vectors_of: VectorsOf | None = None,
        timeout_s: float = WRITE_TIMEOUT_S,
    ) -> IndexVerification:
        """Compare the index with SQL.

        Args:
            expected_ids: All ids that it must hold.
            canaries: Vectors by id; each must find its own row, or rows that are equal to it.
            vectors_of: Reads vectors by id; None knows those of the canaries.
            timeout_s: Seconds for each request.
        """
        listed_ids = self.list_ids(expected_ids, timeout_s=timeout_s)
        sought = {
            chunk_id: np.asarray(vector, np.float32) for chunk_id, vector in canaries.items() if chunk_id in listed_ids
        }
        lost = sought
        for top_k in (CANARY_HITS, WIDER_CANARY_HITS):
            if lost:
                deadline = Deadline.after(timeout_s)
                results = self.query(np.stack(list(lost.values())), top_k=top_k, deadline=deadline)
                index_hits_by_id = dict(zip(lost, results, strict=True))
                lost = {
                    chunk_id: vector
                    for chunk_id, vector in lost.items()
                    if not _finds_itself(
                        chunk_id, vector, index_hits_by_id[chunk_id], vectors_of or _vector_lookup(sought)
                    )
                }
        verification = IndexVerification(
            missing_ids=tuple(sorted(expected_ids - listed_ids)),
            unexpected_ids=tuple(sorted(listed_ids - expected_ids)),
            lost_ids=tuple(sorted(lost)),
            rows=len(expected_ids),
            canaries=len(sought),
        )
        if verification.is_sound:
            self._access.in_doubt = False
        return verification

    def drop(self, chunk_ids: Iterable[str] = (), *, timeout_s: float = WRITE_TIMEOUT_S) -> None:
        """Remove all rows, by ids where a store cannot drop collections."""
        self._call("drop", Deadline.after(timeout_s), chunk_ids=list(chunk_ids))

    def let_repair_through(self) -> None:
        """Let the next call through although calls are refused: the user asked for a repair."""
        self._access.breaker.succeeded()

    def discard_files(self, *, timeout_s: float = WRITE_TIMEOUT_S) -> None:
        """Remove a damaged embedded index's files, nothing on a server."""
        self._access.discard_files(Deadline.after(timeout_s))

    def oversized_file(self) -> str | None:
        """Return an embedded index's oversized file, or None."""
        location = self._access.location
        return swollen_file(location) if isinstance(location, ChromaFolder) else None


def _finds_itself(chunk_id: str, vector: Vector, hits: Sequence[IndexHit], vectors_of: VectorsOf) -> bool:
    """Whether a row's own vector finds it before all but its equals, or as many equals as were asked for."""
    ids = [hit.chunk_id for hit in hits]
    nearer = ids[: ids.index(chunk_id)] if chunk_id in ids else ids
    if not nearer:
        return bool(ids)
    vectors_by_id = vectors_of(nearer)
    if not all(other in vectors_by_id for other in nearer):
        return False
    cosines = unit_rows(np.stack([vectors_by_id[other] for other in nearer])) @ unit_rows(vector)[0]
    return bool((cosines >= SAME_VECTOR).all())


def _vector_lookup(vectors: Mapping[str, Vector]) -> VectorsOf:
    return lambda ids: {chunk_id: vectors[chunk_id] for chunk_id in ids if chunk_id in vectors}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _batches(rows: Iterable[IndexRow]) -> Iterator[list[IndexRow]]:
    iterator = iter(rows)
    while batch := list(islice(iterator, BATCH_ROWS)):
        yield batch
