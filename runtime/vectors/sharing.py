"""One `IndexProcess` per index and program, however many managers use it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass

from runtime.vectors.locations import IndexLocation
from runtime.vectors.process import IndexProcess


@dataclass(slots=True)
class _Lease:
    process: IndexProcess
    users: int = 0


class IndexProcessRegistry:
    """Lends out index processes and ends each when its last user has given it back.

    Args:
        create: Makes the process of a location; tests pass their own.
    """

    def __init__(self, create: Callable[[IndexLocation], IndexProcess] = IndexProcess) -> None:
        self._create = create
        self._lock = threading.Lock()
        self._leases: dict[tuple[int, IndexLocation], _Lease] = {}

    def borrow(self, location: IndexLocation) -> IndexProcess:
        """Return the process of a location, the same one for every user in this program.

        Args:
            location: Folder or server of the index.

        Returns:
            The shared process, not necessarily started.
        """
        key = (os.getpid(), location)
        with self._lock:
            lease = self._leases.get(key) or _Lease(self._create(location))
            lease.users += 1
            self._leases[key] = lease
            return lease.process

    def give_back(self, process: IndexProcess) -> None:
        """Return a process that was borrowed; the last user's return closes it."""
        key = (os.getpid(), process.location)
        with self._lock:
            lease = self._leases.get(key)
            if lease is None or lease.process is not process:
                return
            lease.users -= 1
            if lease.users:
                return
            del self._leases[key]
        process.close()


DEFAULT_REGISTRY = IndexProcessRegistry()
"""The registry of a program. Shared on purpose: the operating system grants one owner per index."""
