"""Ownership of an embedded index's files, and access through the owner.

One program owns an embedded index; others of the same user ask through it. The owner listens where its user alone can
connect and says beside the index where that is, in a file that its user alone can read. Both ends prove that they know
the key of that file before either takes an object from the other.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path

from filelock import FileLock, Timeout

from novelgen.errors import VectorIndexError, VectorIndexOwnedError
from runtime.index.locations import ChromaFolder

CONNECT_TIMEOUT_S = 2.0
"""For an owner to take a connection; one that is stopped never does."""


class IndexOwnership:
    """The exclusive right of this process to open an embedded index.

    The lock belongs to the operating system: it ends with the process that holds it, however that ends.
    """

    def __init__(self, index: ChromaFolder) -> None:
        self._index = index
        self._lock = FileLock(index.control_folder / "owner.lock", thread_local=False)
        self._owner_file = index.control_folder / "owner.pid"
        self.address_file = index.control_folder / "owner.address"
        """File in which the owner says where others can ask."""

    @property
    def is_held(self) -> bool:
        """Whether this process has the right."""
        return self._lock.is_locked

    def acquire(self) -> bool:
        """Take the lock, or refuse at once.

        Repeating is harmless.
        """
        if self._lock.is_locked:
            return False
        try:
            self._index.control_folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(blocking=False)
            was_left_behind = self._owner_file.exists()
            self._owner_file.write_text(f"{os.getpid()}\n", encoding="ascii")
        except Timeout as error:
            raise VectorIndexOwnedError(
                f"the vector index is owned by process {read_owner(self._owner_file)}, which does not answer; end it, "
                "or repeat this later"
            ) from error
        except OSError as error:
            self._lock.release()
            raise VectorIndexError(
                f"the lock of the vector index {str(self._index)!r} cannot be taken: {error}"
            ) from error
        return was_left_behind

    def release(self, *, in_doubt: bool = False) -> None:
        """Release the lock, if held."""
        if self._lock.is_locked:
            if not in_doubt:
                self._owner_file.unlink(missing_ok=True)
            self._lock.release()


def require_unowned(index: ChromaFolder) -> None:
    """Refuse an index that a process owns."""
    if not index.control_folder.is_dir():
        return
    ownership = IndexOwnership(index)
    was_left_behind = ownership.acquire()
    ownership.release(in_doubt=was_left_behind)


def read_owner(owner_file: Path) -> str:
    """Read which process wrote the owner file: its id as text, or `unknown`."""
    try:
        return owner_file.read_text(encoding="ascii").strip() or "unknown"
    except (OSError, ValueError):
        return "unknown"


class Lender:
    """Takes the connections of other programs to an index, each in a thread of its own, until it is closed."""

    def __init__(self, address_file: Path, answer: Callable[[Connection, Lender], None]) -> None:
        self._address_file = address_file
        self._answer = answer
        self._key = secrets.token_bytes(32)
        self._listener = Listener(authkey=self._key)
        self.is_over = False
        address_file.unlink(missing_ok=True)
        with os.fdopen(os.open(address_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump({"address": self._listener.address, "key": self._key.hex(), "pid": os.getpid()}, file)
        threading.Thread(target=self._take, name="lent-index", daemon=True).start()

    def close(self) -> None:
        """Refuse new connections, and close open ones at their next request."""
        self.is_over = True
        self._address_file.unlink(missing_ok=True)
        # Nothing else wakes a thread that waits for a connection.
        with contextlib.suppress(OSError, EOFError, AuthenticationError):
            Client(self._listener.address, authkey=self._key).close()
        self._listener.close()

    def _take(self) -> None:
        while not self.is_over:
            try:
                channel = self._listener.accept()
            except (OSError, EOFError, AuthenticationError):
                continue
            threading.Thread(target=self._serve, args=(channel,), name="lent-index", daemon=True).start()

    def _serve(self, channel: Connection) -> None:
        with contextlib.suppress(OSError, EOFError), channel:
            self._answer(channel, self)


@dataclass(slots=True)
class Owner:
    """The program that lends its index process."""

    pid: int
    returncode: int | None = None

    def poll(self) -> int | None:
        """Tell nothing: its end is felt by the next question."""

    def wait(self, timeout: float, /) -> int:
        """Wait for nothing."""
        return 0

    def kill(self) -> None:
        """Leave it alone."""


def borrow(address_file: Path) -> tuple[Owner, Connection] | None:
    """Connect to the lending program of this user, or return None."""
    try:
        with address_file.open() as file:
            if hasattr(os, "getuid") and os.fstat(file.fileno()).st_uid != os.getuid():
                return None
            statement = json.load(file)
        return Owner(statement["pid"]), Client(statement["address"], authkey=bytes.fromhex(statement["key"]))
    except (OSError, EOFError, ValueError, KeyError, TypeError, AuthenticationError):
        return None
