"""Lets tests start processes of the index at the price of a fork.

Why not the process that ships: it imports Chroma and LangChain, 1.4 s of CPU where a fork takes 0.05. The tests of
`runtime/ingest`, `runtime/care`, `runtime/doors/cli` and `stateful` alone start 171 of them, which would cost two
minutes on two quiet cores. What is forked runs the same `runtime.index.worker.main`; the tests of the process itself,
of its faults and of its owners are marked `index_started_as_shipped` and start a new interpreter.
"""

import contextlib
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

_REPOSITORY = Path(__file__).resolve().parents[2]
_SET_CHILD_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of linux/prctl.h."""
_POLL_S = 0.005

SINGLE_THREADED = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Environment of a process to fork: a fork must not inherit the locks of threads that are not there."""

Begin = Callable[[socket.socket, socket.socket], Callable[[], object]]


class AdoptedProcess:
    """A child of this process that another has forked; as much of `subprocess.Popen` as a handle needs."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        """Reap the process where it has ended and return its exit code, negative for a signal."""
        with self._lock:
            if self.returncode is None:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self.returncode = os.waitstatus_to_exitcode(status)
            return self.returncode

    def wait(self, timeout_s: float) -> int:
        """Wait for the end of the process, as `subprocess.Popen` does."""
        end = time.monotonic() + timeout_s
        while (code := self.poll()) is None:
            if time.monotonic() >= end:
                raise subprocess.TimeoutExpired(str(self.pid), timeout_s)
            time.sleep(_POLL_S)
        return code

    def kill(self) -> None:
        """Kill the process, unless it was reaped."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


class IndexForkserver:
    """A running `tests.support.index_forkserver`, started at its first use where `start` was not called before.

    What begins one, by default a new interpreter, lets it serve the first socket, must not keep the second, and
    returns what waits for its end.
    """

    def __init__(self, begin: Begin | None = None) -> None:
        self._begin = begin or _start_interpreter
        self._lock = threading.Lock()
        self._wait: Callable[[], object] = _nothing
        self._requests: socket.socket | None = None

    def start(self) -> None:
        """Start it now, while there is nothing yet that a fork should not share."""
        with self._lock:
            self._started()

    def fork(self, arguments: list[str], *, channel: int, log: int) -> AdoptedProcess:
        """Start a process of the index with this channel as its standard input."""
        request = json.dumps({"arguments": arguments, "environment": dict(os.environ)}).encode()
        with self._lock, _adopting():
            requests = self._started()
            socket.send_fds(requests, [request], [channel, log])
            pid = int(requests.recv(32))
            assert requests.recv(1) == b"."
        return AdoptedProcess(pid)

    def close(self) -> None:
        """End the server; what it forked lives on."""
        if self._requests is not None:
            self._requests.close()
            self._wait()

    def _started(self) -> socket.socket:
        if self._requests is None:
            self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self._wait = self._begin(theirs, self._requests)
        return self._requests


def fork_this_process(requests: socket.socket, ours: socket.socket) -> Callable[[], object]:
    """Start a forkserver as a fork of this process, which must have no threads and nothing open to be shared."""
    from tests.support.index_forkserver import serve

    pid = os.fork()
    if pid == 0:
        try:
            ours.close()
            serve(requests)
        finally:
            os._exit(0)
    return partial(os.waitpid, pid, 0)


def _start_interpreter(requests: socket.socket, _: socket.socket) -> Callable[[], object]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.support.index_forkserver"],
        stdin=requests.fileno(),
        cwd=_REPOSITORY,
        env=os.environ | SINGLE_THREADED,
    )
    return process.wait


def _nothing() -> None:
    return None


def launch_with(server: IndexForkserver) -> Callable[[Sequence[str], int, int], AdoptedProcess]:
    """Return what to put in the place of `IndexProcess.launch`."""

    def launch(arguments: Sequence[str], channel: int, log: int) -> AdoptedProcess:
        return server.fork(list(arguments), channel=channel, log=log)

    return staticmethod(launch)  # type: ignore[return-value]


@contextlib.contextmanager
def _adopting() -> Iterator[None]:
    """Become the parent of orphans below this process, for as long as it takes to adopt one."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        libc.prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
