"""Stopping a process where it is: a signal alone returns before its threads have stopped."""

import os
import signal
import subprocess
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

GUARD_S = 60.0


def freeze(pid: int) -> None:
    """Stop a process and wait until none of its threads runs any more."""
    os.kill(pid, signal.SIGSTOP)
    end = time.monotonic() + GUARD_S
    while not _stands_still(pid):
        assert time.monotonic() < end, f"process {pid} did not stop"
        time.sleep(0.005)


def kill_when_asked(monkeypatch: pytest.MonkeyPatch, pid: int) -> None:
    """Kill a frozen process of an index once the next question has been sent to it, before its answer is awaited."""
    send = Connection.send

    def send_and_kill(channel: Connection, request: object) -> None:
        monkeypatch.setattr(Connection, "send", send)
        send(channel, request)
        os.kill(pid, signal.SIGKILL)

    monkeypatch.setattr(Connection, "send", send_and_kill)


def _stands_still(pid: int) -> bool:
    if not Path("/proc/self").exists():
        listed = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
        return listed.stdout.startswith("T")
    stats = [each.read_text() for each in Path(f"/proc/{pid}/task").glob("*/stat")]
    return all(each.rpartition(")")[2].split()[0] in "TtZ" for each in stats)
