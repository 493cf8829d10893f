"""The index in a process of its own: hard deadlines and restarts.

Chroma can freeze the interpreter that holds it (a locked index) or end it (damaged files), so it runs in a child.
Whatever happens there, a call here returns in its time.
"""

import atexit
import contextlib
import multiprocessing
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from novelgen import errors
from novelgen.deadlines import Deadline, call_with_deadline
from runtime.index import locations, ownership
from runtime.index.vector_index import CircuitBreaker, Collection, IndexAccess

START_TIMEOUT_S = 20.0
"""For a process to load its libraries, on a loaded machine too."""
CLOSE_GRACE_S = 1.0
"""For a process to end by itself before it is killed."""
REAP_TIMEOUT_S = 5.0
"""For the system to end a process that was killed."""
UNREAD_GRACE_S = 0.1
"""To read what a process said while nobody listened: started in the background, it may be asked much later."""

_CRASH_SIGNALS = frozenset({"SIGSEGV", "SIGBUS", "SIGILL", "SIGABRT", "SIGFPE"})
_PANIC = "PanicException"
"""What Chroma's Rust raises instead of a crash, such as on a malformed page of its database; nothing may catch it."""
_PACKAGE_ROOT = Path(__file__).resolve().parents[2]


class RunningProcess(Protocol):
    """As much of `subprocess.Popen` as is needed of a process that was launched."""

    pid: int
    returncode: int | None

    def poll(self) -> int | None:
        """Return the exit code, None while it runs."""

    def wait(self, timeout: float, /) -> int:
        """Wait for its end, or raise `subprocess.TimeoutExpired`."""

    def kill(self) -> None:
        """End it at once."""


@dataclass(slots=True)
class _Worker:
    """A process that was launched, and this end of the channel to it."""

    process: RunningProcess
    channel: Connection
    start_by: float
    is_ready: bool = False


class IndexProcess(IndexAccess):
    """The process that owns one index, safe between threads.

    Calls are answered one after another. Nothing is started before `start` or the first call. Where another program
    owns the index already, that one answers.
    """

    def __init__(
        self,
        location: locations.IndexLocation,
        *,
        breaker: CircuitBreaker | None = None,
        start_timeout_s: float = START_TIMEOUT_S,
    ) -> None:
        super().__init__(location, breaker)
        self.location: locations.IndexLocation = location
        self._start_timeout_s = start_timeout_s
        self._owner_pid = os.getpid()
        self._ownership = ownership.IndexOwnership(location) if isinstance(location, locations.ChromaFolder) else None
        self._lender: ownership.Lender | None = None
        self._turn = threading.Lock()
        self._worker: _Worker | None = None
        atexit.register(self.close)

    @staticmethod
    def launch(arguments: Sequence[str], channel: int, log: int) -> RunningProcess:
        """Start a Python that runs `runtime.index.worker`.

        Tests put a fork of an interpreter in its place that has loaded the libraries already.
        """
        # It finds the same packages as this one, but none in the working directory.
        folders = [entry for entry in sys.path if entry] + [str(_PACKAGE_ROOT)]
        environment = {"PYTHONPATH": os.pathsep.join(dict.fromkeys(folders)), "PYTHONUNBUFFERED": "1"}
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "runtime.index.worker", *arguments],
            stdin=channel,
            stdout=log,
            stderr=log,
            env={**os.environ, **environment},
            # Ctrl-C in a terminal is for the program, which then ends its process in order.
            start_new_session=True,
        )

    @property
    def pid(self) -> int | None:
        """Process id of the running process, None when there is none."""
        worker = self._worker
        return worker.process.pid if worker is not None and worker.process.poll() is None else None

    @property
    def is_ready(self) -> bool:
        """Whether a process runs that has loaded its libraries."""
        worker = self._worker
        return worker is not None and (worker.is_ready or worker.channel.poll())

    @property
    def is_busy(self) -> bool:
        """Whether a call is under way."""
        return self._turn.locked()

    def start(self) -> None:
        """Start the process in the background, unless it is starting."""
        self._refuse_after_fork()
        if self._turn.acquire(blocking=False):
            try:
                self._running()
            finally:
                self._turn.release()

    def wait_started(self, deadline: Deadline) -> None:
        """Start the process and wait for its imports, without opening the index."""
        with self._admitted(deadline):
            self._started(deadline)

    def call(
        self,
        operation: str,
        deadline: Deadline,
        *,
        collection: Collection,
        lender: ownership.Lender | None = None,
        **arguments: Any,
    ) -> Any:
        """Ask the process for one operation, and return by the deadline whatever happens.

        Waiting for other calls and for a process that is still starting counts, but is not held against it. A call of
        another program, by a lender, ends with `EOFError` once that is over: it must not start the process again.
        """
        arguments["collection"] = collection
        with self._admitted(deadline):
            if lender is not None and lender.is_over:
                raise EOFError
            while True:
                worker = self._started(deadline)
                try:
                    _bound_waiting(worker.channel, deadline)
                    worker.channel.send((operation, arguments, deadline.remaining_s))
                    _bound_waiting(worker.channel, deadline)
                    reply = worker.channel.recv()
                    break
                except BlockingIOError as error:
                    self._replace_worker(worker, reason=f"{operation} did not return in time")
                    message = f"{operation} on the vector index did not return in time"
                    raise errors.DeadlineExceededError(message) from error
                except (EOFError, OSError) as error:
                    if not isinstance(worker.process, ownership.Owner):
                        reason = f"its process ended during {operation}"
                        raise self._replace_worker(worker, reason=reason, grace_s=_grace(deadline)) from error
                    # Its owner has ended, so that the index is free, or another's. The operation twice is harmless.
                    self._stop()
                except BaseException:
                    # The user broke off: its reply must not be taken for that to the next question.
                    self._stop()
                    self._interrupted()
                    raise
            self.breaker.succeeded()
        if isinstance(reply, errors.NovelgenError):
            raise reply
        return reply

    def close_idle(self) -> bool:
        """End the process and give the index free until the next call starts it again."""
        if os.getpid() != self._owner_pid or not self._turn.acquire(blocking=False):
            return False
        try:
            self._end()
            return True
        finally:
            self._turn.release()

    def discard_files(self, deadline: Deadline) -> None:
        """End the process and remove a damaged embedded index's files."""
        if not isinstance(self.location, locations.ChromaFolder):
            return
        with self._my_turn(deadline):
            if self._worker is not None and isinstance(self._worker.process, ownership.Owner):
                raise errors.VectorIndexOwnedError(
                    f"the vector index {str(self.location)!r} is damaged and owned by process "
                    f"{self._worker.process.pid}; end that and repeat this"
                )
            self._stop()
            try:
                _remove(self.location)
            except OSError as error:
                raise errors.VectorIndexError(
                    f"the damaged vector index {str(self.location)!r} cannot be removed: {error}"
                ) from error

    def close(self) -> None:
        """End the process and free the index, except in a forked child."""
        atexit.unregister(self.close)
        if os.getpid() != self._owner_pid:
            return
        with self._turn:
            self._end()

    @contextmanager
    def _admitted(self, deadline: Deadline) -> Iterator[None]:
        self._refuse_after_fork()
        self.breaker.refuse_if_open(is_probed=self.is_busy)
        with self._my_turn(deadline):
            # It may have opened while this call waited for its turn.
            self.breaker.refuse_if_open()
            yield

    @contextmanager
    def _my_turn(self, deadline: Deadline) -> Iterator[None]:
        if not self._turn.acquire(timeout=deadline.remaining_s):
            raise errors.DeadlineExceededError("the vector index was busy with other calls for too long")
        try:
            yield
        finally:
            self._turn.release()

    def _refuse_after_fork(self) -> None:
        if os.getpid() != self._owner_pid:
            raise errors.VectorIndexOwnedError(
                f"the vector index {str(self.location)!r} was opened by process {self._owner_pid} before it "
                "forked this one; open it after the fork"
            )

    def _running(self) -> _Worker:
        """Return the process, a new one where there is none or it has ended."""
        if self._worker is not None:
            if self._worker.process.poll() is None:
                return self._worker
            self._interrupted()
            self._stop()
        if self._ownership is not None:
            try:
                self.in_doubt |= self._ownership.acquire()
            except errors.VectorIndexOwnedError:
                self._worker = self._borrow_worker(self._ownership.address_file)
                if self._worker is None:
                    raise
                return self._worker
            if self._lender is None:
                # Where no connection can be taken, others are told that the index is owned.
                with contextlib.suppress(OSError):
                    self._lender = ownership.Lender(self._ownership.address_file, self._lend)
        try:
            ours, theirs = multiprocessing.Pipe()
            log_file = _log_file(self.location)
            if log_file is not None:
                log_file.parent.mkdir(parents=True, exist_ok=True)
            with theirs, (log_file or Path(os.devnull)).open("wb") as log:
                process = self.launch([str(os.getpid())], theirs.fileno(), log.fileno())
            # Not on its command line, which everybody can read. One that has ended already is met when it is waited
            # for.
            with contextlib.suppress(OSError):
                ours.send(self.location)
            self._worker = _Worker(process, ours, start_by=time.monotonic() + self._start_timeout_s)
        except OSError as error:
            self.breaker.failed(f"its process cannot be started: {error}")
            raise errors.VectorIndexError(f"the process of the vector index cannot be started: {error}") from error
        return self._worker

    def _borrow_worker(self, address_file: Path) -> _Worker | None:
        """Connect to the index's owner, or return None."""
        try:
            match = call_with_deadline(
                partial(ownership.borrow, address_file), timeout_s=ownership.CONNECT_TIMEOUT_S, stage="index"
            )
        except errors.DeadlineExceededError:
            self.breaker.failed("its owner is silent")
            return None
        return None if match is None else _Worker(*match, start_by=time.monotonic(), is_ready=True)

    def _lend(self, channel: Connection, lender: ownership.Lender) -> None:
        """Answer another program."""
        while True:
            operation, arguments, timeout_s = channel.recv()
            try:
                reply = self.call(operation, Deadline.after(timeout_s), lender=lender, **arguments)
            except errors.NovelgenError as error:
                reply = error
            channel.send(reply)

    def _started(self, deadline: Deadline) -> _Worker:
        """Return the process once it is ready."""
        worker = self._running()
        if worker.is_ready:
            return worker
        start_by = Deadline(max(worker.start_by, time.monotonic() + UNREAD_GRACE_S))
        try:
            is_heard = worker.channel.poll(min(deadline.remaining_s, start_by.remaining_s))
            if is_heard:
                worker.channel.recv()
                worker.is_ready = True
                return worker
        except (EOFError, OSError) as error:
            reason = "its process ended while starting"
            raise self._replace_worker(worker, reason=reason, grace_s=_grace(deadline)) from error
        if deadline.ends_at < start_by.ends_at:
            raise errors.DeadlineExceededError("the process of the vector index is still starting")
        self._stop()
        self.breaker.failed(f"its process did not start within {self._start_timeout_s:g} s")
        raise errors.DeadlineExceededError(
            f"the process of the vector index did not start within {self._start_timeout_s:g} s"
        )

    def _replace_worker(self, worker: _Worker, *, reason: str, grace_s: float = 0.0) -> errors.VectorIndexError:
        """Replace a failed process unless the breaker opened, and describe its end."""
        self._stop(grace_s=grace_s)
        self._interrupted()
        self.breaker.failed(reason)
        death = _death(self.location, worker.process.returncode)
        if not self.breaker.is_open:
            with contextlib.suppress(errors.VectorIndexOwnedError):
                self._running()
        return death

    def _interrupted(self) -> None:
        # Chroma keeps what it has acknowledged, but files that were being written may have lost vectors. Neither a
        # Chroma server nor another program feels the end of a client.
        if self._ownership is not None and self._ownership.is_held:
            self.in_doubt = True

    def _end(self) -> None:
        self._stop(grace_s=CLOSE_GRACE_S)
        if self._lender is not None:
            self._lender.close()
            self._lender = None
        if self._ownership is not None:
            self._ownership.release(in_doubt=self.in_doubt)

    def _stop(self, *, grace_s: float = 0.0) -> None:
        """End the process, by force after the grace, and reap it."""
        worker, self._worker = self._worker, None
        if worker is None:
            return
        if grace_s:
            # This is what tells it to end. Without grace a call may still be reading: it closes what it has left.
            worker.channel.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                worker.process.wait(grace_s)
                return
        worker.process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            worker.process.wait(REAP_TIMEOUT_S)


def _bound_waiting(channel: Connection, deadline: Deadline) -> None:
    """Let reads and writes that wait until the deadline raise `BlockingIOError`, in the middle of a message too."""
    seconds, microseconds = divmod(max(1, int(deadline.remaining_s * 1e6)), 1_000_000)
    with socket.fromfd(channel.fileno(), socket.AF_UNIX, socket.SOCK_STREAM) as end:
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            end.setsockopt(socket.SOL_SOCKET, option, struct.pack("@ll", seconds, microseconds))


def _grace(deadline: Deadline) -> float:
    """A process that closed its channel is about to end: the code with which it does tells why."""
    return min(CLOSE_GRACE_S, deadline.remaining_s)


def _log_file(location: locations.IndexLocation) -> Path | None:
    return location.control_folder / "process.log" if isinstance(location, locations.ChromaFolder) else None


def _death(location: locations.IndexLocation, code: int | None) -> errors.VectorIndexError:
    """Describe a process's end, taking native crashes as index damage."""
    signal_name = signal.Signals(-code).name if code is not None and code < 0 else ""
    if code is None:
        end = "cannot be stopped"
    else:
        end = f"was ended by {signal_name}" if signal_name else f"ended with exit code {code}"
    log_file = _log_file(location)
    statement = ""
    if log_file is not None and log_file.exists():
        lines = log_file.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        statement = f" ({lines[-1]})" if lines else ""
    text = f"the process of the vector index {str(location)!r} {end}{statement}"
    if signal_name in _CRASH_SIGNALS or _PANIC in statement:
        return errors.VectorIndexDamagedError(f"{text}; its files are probably damaged: rebuild the index")
    return errors.VectorIndexError(text)


def _remove(index: locations.ChromaFolder) -> None:
    if not index.path.exists() and not index.path.is_symlink():
        return
    # Renamed first, so that a removal that is cut short leaves no half index behind.
    aside = index.path.with_name(f"{index.path.name}.damaged-{uuid.uuid4().hex[:8]}")
    index.path.rename(aside)
    if aside.is_dir():
        shutil.rmtree(aside)
    else:
        aside.unlink()


class IndexProcessRegistry:
    """Lends out one process per index and program, and ends each when its last user has given it back."""

    def __init__(self, create: Callable[[locations.IndexLocation], IndexProcess] = IndexProcess) -> None:
        self._create = create
        self._lock = threading.Lock()
        self._processes: dict[tuple[int, locations.IndexLocation], IndexProcess] = {}
        self._users: Counter[tuple[int, locations.IndexLocation]] = Counter()

    def borrow(self, location: locations.IndexLocation) -> IndexProcess:
        """Return the process of a location, the same one for every user in this program, not necessarily started."""
        key = (os.getpid(), location)
        with self._lock:
            if key not in self._processes:
                self._processes[key] = self._create(location)
            self._users[key] += 1
            return self._processes[key]

    def give_back(self, access: IndexAccess) -> None:
        """Return a borrowed process, closed by its last user."""
        if access.location is None:
            return
        key = (os.getpid(), access.location)
        with self._lock:
            if self._processes.get(key) is not access:
                return
            self._users[key] -= 1
            if self._users[key]:
                return
            del self._processes[key], self._users[key]
        access.close()


DEFAULT_REGISTRY = IndexProcessRegistry()
"""The registry of a program. Shared on purpose: the operating system grants one owner per index."""
