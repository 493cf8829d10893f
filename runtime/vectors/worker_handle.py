"""One running process of an index, seen from the program that started it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from novelgen.errors import VectorIndexDamagedError, VectorIndexError
from runtime.vectors.frames import Head, receive_frame, send_frame
from runtime.vectors.locations import EmbeddedIndex, IndexLocation

_CRASH_SIGNALS = frozenset({signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGABRT, signal.SIGFPE})
_PANIC = "PanicException"
"""What Chroma's Rust raises instead of a crash, such as on a malformed page of its database; nothing may catch it."""
_REAP_TIMEOUT_S = 5.0
_PACKAGE_ROOT = Path(__file__).resolve().parents[2]


class WorkerHandle:
    """Starts the process and exchanges messages with it; used by one thread at a time.

    Args:
        location: Folder or server that the process shall open.
    """

    def __init__(self, location: IndexLocation) -> None:
        self._location = location
        self._log_file = _log_file(location)
        self._ready = False
        self.started_at = time.monotonic()
        self._channel, theirs = socket.socketpair()
        with theirs:
            self._process = self._spawn(theirs)

    @property
    def pid(self) -> int:
        """Process id of the worker."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the process still lives."""
        return self._process.poll() is None

    def wait_ready(self, *, deadline: float) -> None:
        """Wait until the process has loaded its libraries.

        Raises:
            DeadlineExceededError: It is not ready at the deadline.
            ChannelClosedError: It ended.
        """
        if not self._ready:
            receive_frame(self._channel, deadline=deadline)
            self._ready = True

    def exchange(self, request: Head, body: bytes, *, deadline: float) -> Head:
        """Send one request and wait for its reply.

        Raises:
            DeadlineExceededError: The reply was not complete at the deadline.
            ChannelClosedError: The process ended.
        """
        send_frame(self._channel, request, body=body, deadline=deadline)
        reply, _ = receive_frame(self._channel, deadline=deadline)
        return reply

    def stop(self, *, grace_s: float = 0.0) -> None:
        """End the process, by force after the grace, and reap it.

        Args:
            grace_s: Seconds for which it may end by itself.
        """
        self._channel.close()
        if not self._ended_within(grace_s):
            self._process.kill()
            self._ended_within(_REAP_TIMEOUT_S)

    def death(self) -> VectorIndexError:
        """Say how the process ended, after `stop`.

        Returns:
            An error to raise; a crash of native code is taken as damage of the index files.
        """
        code = self._process.returncode
        end = _describe_exit(code)
        last_words = self._last_words()
        text = f"the process of the vector index {str(self._location)!r} {end}{last_words}"
        if (code is not None and -code in _CRASH_SIGNALS) or _PANIC in last_words:
            return VectorIndexDamagedError(f"{text}; its files are probably damaged: rebuild the index")
        return VectorIndexError(text)

    def _arguments(self) -> list[str]:
        place = (
            ["--path", str(self._location.path)]
            if isinstance(self._location, EmbeddedIndex)
            else ["--url", str(self._location)]
        )
        return [*place, "--parent-pid", str(os.getpid())]

    def _spawn(self, channel: socket.socket) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-m", "runtime.vectors.worker", *self._arguments()]
        with (self._log_file or Path(os.devnull)).open("wb") as log:
            return subprocess.Popen(
                command,
                stdin=channel.fileno(),
                stdout=log,
                stderr=log,
                env=_environment(),
                # Ctrl-C in a terminal is for the program, which then ends its process in order.
                start_new_session=True,
            )

    def _ended_within(self, timeout_s: float) -> bool:
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _last_words(self) -> str:
        if self._log_file is None or not self._log_file.exists():
            return ""
        lines = self._log_file.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return f" ({lines[-1]})" if lines else ""


def _environment() -> dict[str, str]:
    """Let the process find the same packages as this one, but none in the working directory."""
    folders = [entry for entry in sys.path if entry] + [str(_PACKAGE_ROOT)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(folders)), "PYTHONUNBUFFERED": "1"}


def _log_file(location: IndexLocation) -> Path | None:
    if not isinstance(location, EmbeddedIndex):
        return None
    location.control_folder.mkdir(parents=True, exist_ok=True)
    return location.control_folder / "process.log"


def _describe_exit(code: int | None) -> str:
    if code is None:
        return "cannot be stopped"
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
