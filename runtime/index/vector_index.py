"""The protocol of an index of vectors, and the ways to reach one from a program."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from novelgen import errors
from novelgen.deadlines import Deadline
from runtime.index.locations import IndexLocation

if TYPE_CHECKING:
    # Not loaded by programs that only read and edit.
    import numpy as np
    from numpy.typing import NDArray

    from runtime.index.rows import IndexColumns, IndexHit


class VectorIndex(Protocol):
    """An index of vectors: one collection of documents, each under the id of a memory chunk."""

    def add(self, columns: IndexColumns, *, must_hold_rows: bool = False) -> None:
        """Store rows in place of those with the same ids.

        Args:
            columns: The rows.
            must_hold_rows: Whether an empty collection is refused, since rows were written to it before.
        """

    def delete(self, chunk_ids: Sequence[str]) -> None:
        """Remove rows, ignoring absent ids."""

    def query(self, vectors: NDArray[np.float32], top_k: int, *, must_hold_rows: bool = False) -> list[list[IndexHit]]:
        """Return the documents nearest to each vector, the nearest first."""

    def ids(self, chunk_ids: Sequence[str]) -> set[str]:
        """Return which of the chunks are stored, and the ids of others where the store can list them."""

    def drop(self, chunk_ids: Sequence[str]) -> None:
        """Remove the collection with all that it holds.

        Args:
            chunk_ids: All ids that it may hold, for stores that cannot remove a collection.
        """


@dataclass(frozen=True, slots=True)
class Collection:
    """Name of a collection of vectors and their length."""

    name: str
    dimension: int


FAILURE_LIMIT = 3
"""Failures in a row after which the index is left alone."""
COOL_DOWN_S = 30.0


class CircuitBreaker:
    """Counts failures in a row and refuses calls while the index is known to be broken."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._last_reason = ""
        self._opened_at: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether calls are refused at the moment, but for a probe."""
        return self._opened_at is not None

    def refuse_if_open(self, *, is_probed: bool = False) -> None:
        """Refuse the caller at once unless the breaker is closed or a probe is due."""
        opened_at = self._opened_at
        if opened_at is None:
            return
        wait_s = opened_at + COOL_DOWN_S - self._clock()
        if wait_s > 0 or is_probed:
            raise errors.VectorIndexError(
                f"the vector index failed {self._failures} times in a row and is left alone for "
                f"{max(wait_s, 0):.0f} more seconds; last failure: {self._last_reason}"
            )

    def succeeded(self) -> None:
        """Note that a call worked: the breaker closes."""
        self._failures, self._opened_at = 0, None

    def failed(self, reason: str) -> None:
        """Record a failed call, and the message for refused ones."""
        self._failures += 1
        self._last_reason = reason
        if self._failures >= FAILURE_LIMIT:
            self._opened_at = self._clock()


class IndexAccess:
    """A way to the collections of one index, shared by all that use it in this program."""

    def __init__(self, location: IndexLocation | None, breaker: CircuitBreaker | None = None) -> None:
        self.location = location
        """None: the program opens the store itself."""
        self.breaker = breaker or CircuitBreaker()
        self.in_doubt = False
        """Whether the index was interrupted at work, and neither compared with SQL nor built anew since."""

    def call(self, operation: str, deadline: Deadline, *, collection: Collection, **arguments: Any) -> Any:
        """Do one operation of `VectorIndex` on a collection, and return by the deadline whatever happens."""
        raise NotImplementedError

    def start(self) -> None:
        """Prepare for the first call in the background."""

    def wait_started(self, deadline: Deadline) -> None:
        """Wait until calls can be answered, without opening the index."""

    def discard_files(self, deadline: Deadline) -> None:
        """Remove the files of a damaged index, where they are the program's own."""

    def close_idle(self) -> bool:
        """Free resources until the next call, returning False during a call."""
        return True

    def close(self) -> None:
        """Free all resources for good."""
