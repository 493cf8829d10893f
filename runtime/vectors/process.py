"""The index as a process of its own: hard deadlines, restarts, and a circuit breaker.

Chroma can freeze the interpreter that holds it (a locked index) or end it (damaged files), so it runs
in a child. Whatever happens there, a call here returns in its time.
"""

from __future__ import annotations

import atexit
import os
import shutil
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from novelgen.errors import DeadlineExceededError, VectorIndexError, VectorIndexOwnedError
from runtime.vectors.breaker import CircuitBreaker
from runtime.vectors.frames import ChannelClosedError, Head
from runtime.vectors.locations import EmbeddedIndex, IndexLocation
from runtime.vectors.ownership import HOW_TO_SHARE, IndexOwnership
from runtime.vectors.wire_errors import error_from_wire
from runtime.vectors.worker_handle import WorkerHandle

START_TIMEOUT_S = 20.0
_CLOSE_GRACE_S = 1.0
_UNREAD_GRACE_S = 0.1
"""To read what a process said while nobody listened: started in the background, it may be asked much later."""


class IndexProcess:
    """The process that owns one index; safe to use from several threads.

    Calls are answered one after another. Nothing is started before `start` or the first call.

    Args:
        location: Folder or server of the index.
        breaker: Refuses calls after repeated failures; None takes the defaults.
        start_timeout_s: Seconds in which the process must have loaded its libraries.
    """

    def __init__(
        self,
        location: IndexLocation,
        *,
        breaker: CircuitBreaker | None = None,
        start_timeout_s: float = START_TIMEOUT_S,
    ) -> None:
        self.location = location
        self.write_turn = threading.Lock()
        """Held by a writer, so that nothing is written to an index that a rebuild is about to replace."""
        self._breaker = breaker or CircuitBreaker()
        self._start_timeout_s = start_timeout_s
        self._owner_pid = os.getpid()
        self._ownership = IndexOwnership(location) if isinstance(location, EmbeddedIndex) else None
        self._turn = threading.Lock()
        self._worker: WorkerHandle | None = None
        self._in_doubt = False
        atexit.register(self.close)

    @property
    def pid(self) -> int | None:
        """Process id of the running process, None when there is none."""
        worker = self._worker
        return worker.pid if worker is not None and worker.is_running else None

    @property
    def is_refusing(self) -> bool:
        """Whether the circuit breaker is open."""
        return self._breaker.is_open

    @property
    def in_doubt(self) -> bool:
        """Whether a process of an embedded index was killed at work, by this program or before it.

        Chroma keeps what it has acknowledged, but files that were being written may have lost vectors.
        """
        return self._in_doubt

    def trust(self) -> None:
        """Take the index as sound again, once it was compared with SQL or built anew."""
        self._in_doubt = False

    def start(self) -> None:
        """Start the process in the background and return at once; a start under way is left alone.

        Raises:
            VectorIndexOwnedError: Another process owns the index.
            VectorIndexError: The process cannot be started.
        """
        self._refuse_after_fork()
        if self._turn.acquire(blocking=False):
            try:
                self._ensure_worker()
            finally:
                self._turn.release()

    def wait_started(self, *, timeout_s: float) -> None:
        """Start the process and wait until it has loaded its libraries; the index itself is not touched.

        Args:
            timeout_s: Seconds to wait.

        Raises:
            DeadlineExceededError: It is not ready in time.
            VectorIndexOwnedError: Another process owns the index.
            VectorIndexError: The process cannot be started, or the breaker is open.
        """
        deadline = time.monotonic() + timeout_s
        self._refuse_after_fork()
        self._breaker.refuse_if_open()
        with self._my_turn(deadline):
            self._breaker.admit()
            try:
                self._await_start(self._ensure_worker(), deadline)
            finally:
                self._breaker.abandoned()

    def call(self, operation: str, payload: Head, *, timeout_s: float, body: bytes = b"") -> Head:
        """Ask the process for one operation, and return within the time whatever happens.

        Waiting for a process that is still starting counts into the time, but is not held against it.

        Args:
            operation: Name of the operation.
            payload: JSON-ready arguments.
            timeout_s: Seconds for everything: waiting for other calls, for the start, and for the reply.
            body: Raw bytes that go along.

        Returns:
            The reply.

        Raises:
            DeadlineExceededError: No reply came in time; a process that was at work on it was killed.
            VectorIndexOwnedError: Another process owns the index.
            VectorIndexDamagedError: The index files are damaged.
            VectorIndexError: The index failed, its process ended, or the breaker is open.
        """
        deadline = time.monotonic() + timeout_s
        self._refuse_after_fork()
        self._breaker.refuse_if_open()
        with self._my_turn(deadline):
            self._breaker.admit()
            try:
                return self._ask(operation, payload, body, deadline=deadline)
            finally:
                self._breaker.abandoned()

    def rest(self) -> bool:
        """End the process and give the index free until the next call starts it anew.

        Returns:
            False when a call, a write or a rebuild is under way; nothing has changed then.
        """
        if os.getpid() != self._owner_pid or not self._turn.acquire(blocking=False):
            return False
        try:
            if self.write_turn.locked():
                return False
            self._end()
            return True
        finally:
            self._turn.release()

    def forgive(self) -> None:
        """Close the circuit breaker: the user asked for a repair, which must be let through."""
        self._breaker.succeeded()

    def set_aside_files(self, *, timeout_s: float) -> None:
        """End the process and remove the files of a damaged embedded index; on a server nothing happens.

        Args:
            timeout_s: Seconds to wait for other calls.

        Raises:
            DeadlineExceededError: Other calls took too long.
            VectorIndexError: The files cannot be removed.
        """
        if not isinstance(self.location, EmbeddedIndex):
            return
        with self._my_turn(time.monotonic() + timeout_s):
            self._stop_worker()
            try:
                _remove(self.location)
            except OSError as error:
                raise VectorIndexError(
                    f"the damaged vector index {str(self.location)!r} cannot be removed: {error}"
                ) from error

    def close(self) -> None:
        """End the process and give the index free; in a forked child nothing happens."""
        atexit.unregister(self.close)
        if os.getpid() != self._owner_pid:
            return
        with self._turn:
            self._end()

    def _ask(self, operation: str, payload: Head, body: bytes, *, deadline: float) -> Head:
        worker = self._ensure_worker()
        self._await_start(worker, deadline)
        request = {"operation": operation, "payload": payload, "timeout_s": deadline - time.monotonic()}
        try:
            reply = worker.exchange(request, body, deadline=deadline)
        except DeadlineExceededError as error:
            self._replace(worker, reason=f"{operation} did not return in time", deadline=deadline)
            raise DeadlineExceededError(f"{operation} on the vector index did not return in time") from error
        except ChannelClosedError as error:
            reason = f"its process ended during {operation}"
            raise self._replace(worker, reason=reason, deadline=deadline) from error
        self._breaker.succeeded()
        if "error" in reply:
            raise error_from_wire(reply["error"])
        return reply["result"]

    def _ensure_worker(self) -> WorkerHandle:
        if self._worker is not None and self._worker.is_running:
            return self._worker
        if self._worker is not None:
            self._interrupted()
        self._stop_worker()
        if self._ownership is not None and self._ownership.acquire():
            self._in_doubt = True
        try:
            self._worker = WorkerHandle(self.location)
        except OSError as error:
            self._breaker.failed(f"its process cannot be started: {error}")
            raise VectorIndexError(f"the process of the vector index cannot be started: {error}") from error
        return self._worker

    def _await_start(self, worker: WorkerHandle, deadline: float) -> None:
        start_deadline = max(worker.started_at + self._start_timeout_s, time.monotonic() + _UNREAD_GRACE_S)
        try:
            worker.wait_ready(deadline=min(deadline, start_deadline))
        except DeadlineExceededError as error:
            if deadline < start_deadline:
                raise DeadlineExceededError("the process of the vector index is still starting") from error
            self._stop_worker()
            self._breaker.failed(f"its process did not start within {self._start_timeout_s:g} s")
            raise DeadlineExceededError(
                f"the process of the vector index did not start within {self._start_timeout_s:g} s"
            ) from error
        except ChannelClosedError as error:
            reason = "its process ended while starting"
            raise self._replace(worker, reason=reason, deadline=deadline) from error

    def _replace(self, worker: WorkerHandle, *, reason: str, deadline: float) -> VectorIndexError:
        """End a process that failed, and start the next in the background unless the breaker opened."""
        # A process that closed its channel is about to end: the code with which it does tells why.
        self._stop_worker(grace_s=min(_CLOSE_GRACE_S, max(0.0, deadline - time.monotonic())))
        self._interrupted()
        self._breaker.failed(reason)
        death = worker.death()
        if not self._breaker.is_open:
            self._ensure_worker()
        return death

    def _end(self) -> None:
        self._stop_worker(grace_s=_CLOSE_GRACE_S)
        if self._ownership is not None:
            self._ownership.release(in_doubt=self._in_doubt)

    def _interrupted(self) -> None:
        # A Chroma server does not feel the end of a client.
        if self._ownership is not None:
            self._in_doubt = True

    def _stop_worker(self, *, grace_s: float = 0.0) -> None:
        if self._worker is not None:
            self._worker.stop(grace_s=grace_s)
            self._worker = None

    def _refuse_after_fork(self) -> None:
        if os.getpid() != self._owner_pid:
            raise VectorIndexOwnedError(
                f"the vector index {str(self.location)!r} was opened by process {self._owner_pid} before it "
                f"forked this one; {HOW_TO_SHARE}"
            )

    @contextmanager
    def _my_turn(self, deadline: float) -> Iterator[None]:
        if not self._turn.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise DeadlineExceededError("the vector index was busy with other calls for too long")
        try:
            yield
        finally:
            self._turn.release()


def _remove(index: EmbeddedIndex) -> None:
    if not index.path.exists() and not index.path.is_symlink():
        return
    # Renamed first, so that a removal that is cut short leaves no half index behind.
    aside = index.path.with_name(f"{index.path.name}.damaged-{uuid.uuid4().hex[:8]}")
    index.path.rename(aside)
    if aside.is_dir():
        shutil.rmtree(aside)
    else:
        aside.unlink()
