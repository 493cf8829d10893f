"""Stopping a process where it is: a signal alone returns before its threads have stopped."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

GUARD_S = 60.0
SETTLED_S = 0.5


def freeze(pid: int) -> None:
    """Stop a process and wait until none of its threads runs any more."""
    os.kill(pid, signal.SIGSTOP)
    end = time.monotonic() + GUARD_S
    while not _stands_still(pid):
        assert time.monotonic() < end, f"process {pid} did not stop"
        time.sleep(0.005)


def kill_once(is_time: Callable[[], bool], pid: int) -> threading.Thread:
    """Kill a process soon after something holds; returns the thread that waits for it, which has begun."""

    def wait() -> None:
        end = time.monotonic() + GUARD_S
        while not is_time() and time.monotonic() < end:
            time.sleep(0.005)
        # Who has taken the turn must have sent its question, or it finds the process dead before it asks.
        time.sleep(SETTLED_S)
        os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=wait)
    killer.start()
    return killer


def _stands_still(pid: int) -> bool:
    if not Path("/proc/self").exists():
        listed = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
        return listed.stdout.startswith("T")
    stats = [each.read_text() for each in Path(f"/proc/{pid}/task").glob("*/stat")]
    return all(each.rpartition(")")[2].split()[0] in "TtZ" for each in stats)
