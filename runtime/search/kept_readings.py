"""What was read of a story at a position, kept until the project is written to."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable
from typing import Generic, NamedTuple, TypeVar

from runtime.stores import MemoryStores, RecentlyUsed

Reading = TypeVar("Reading")
Question = tuple[str, Hashable]


class _Kept(NamedTuple, Generic[Reading]):
    """A reading, and the write to the project up to which it is known to hold."""

    last_write: tuple[str, int]
    reading: Reading


class KeptReadings(Generic[Reading]):
    """Answers to the latest questions about stories; a question is read again only after a write to the project.

    The position belongs to the question, so that nothing is told at one which was read at another. Answers are
    shared between all who ask: nobody may change one. Safe between threads.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._kept: weakref.WeakKeyDictionary[MemoryStores, RecentlyUsed[Question, _Kept[Reading]]]
        self._kept = weakref.WeakKeyDictionary()

    def read(
        self, stores: MemoryStores, project_id: str, asked: Hashable, *, read: Callable[[Reading | None], Reading]
    ) -> Reading:
        """Return the answer to a question."""
        question = (project_id, asked)
        # The number of the write is read first: an answer is never older than the number it is kept under.
        with stores.database(project_id).read() as unit:
            last_write = unit.projects.require().last_write
        with self._lock:
            kept = self._kept.setdefault(stores, RecentlyUsed(self._limit))
            found = kept.get(question)
        if found is not None and found.last_write == last_write:
            return found.reading
        reading = read(None if found is None else found.reading)
        with self._lock:
            kept.use(question, _Kept(last_write, reading))
            kept.take_surplus()
        return reading
