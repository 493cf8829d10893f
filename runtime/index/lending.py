"""One program owns an embedded index; others of the same user ask through it.

The owner listens where its user alone can connect and says beside the index where that is, in a file that its user
alone can read. Both ends prove that they know the key of that file before either takes an object from the other.
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

CONNECT_TIMEOUT_S = 2.0
"""For an owner to take a connection; one that is stopped never does."""


class Lender:
    """Takes the connections of other programs to an index, each in a thread of its own, until it is closed."""

    def __init__(self, told_in: Path, answer: Callable[[Connection, Lender], None]) -> None:
        self._told_in = told_in
        self._answer = answer
        self._key = secrets.token_bytes(32)
        self._listener = Listener(authkey=self._key)
        self.is_over = False
        told_in.unlink(missing_ok=True)
        with os.fdopen(os.open(told_in, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as told:
            json.dump({"address": self._listener.address, "key": self._key.hex(), "pid": os.getpid()}, told)
        threading.Thread(target=self._take, name="lent-index", daemon=True).start()

    def close(self) -> None:
        """Take no more connections; who is connected finds the line closed at the next question."""
        self.is_over = True
        self._told_in.unlink(missing_ok=True)
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
    """The program that lends an index, in the place of a process of one's own: it is not ours to end."""

    pid: int
    returncode: int | None = None

    def poll(self) -> int | None:
        """Tell nothing: its end is felt by the next question."""

    def wait(self, timeout: float, /) -> int:
        """Wait for nothing."""
        return 0

    def kill(self) -> None:
        """Leave it alone."""


def borrow(told_in: Path) -> tuple[Owner, Connection] | None:
    """Connect to the program that lends an index; None where none does, or it is not of this user."""
    try:
        with told_in.open() as told:
            if hasattr(os, "getuid") and os.fstat(told.fileno()).st_uid != os.getuid():
                return None
            said = json.load(told)
        return Owner(said["pid"]), Client(said["address"], authkey=bytes.fromhex(said["key"]))
    except (OSError, EOFError, ValueError, KeyError, TypeError, AuthenticationError):
        return None
