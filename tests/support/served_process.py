"""A real `novelgen serve` process over a folder of projects."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
FAKE_EMBEDDINGS = {"NOVELGEN_MEMORY__EMBEDDING_MODEL": "fake:64"}

_OPEN = re.compile(r"(http://\S+?)/v1 is open")


class ServedProcess:
    """Starts a server over a folder of projects in a process of its own and waits until it answers."""

    def __init__(
        self, folder: Path, environment: Mapping[str, str] = FAKE_EMBEDDINGS, *, log: Path | None = None
    ) -> None:
        with (log or Path(os.devnull)).open("ab") as taken:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "novelgen", "--projects-dir", str(folder), "serve", "--port", "0"],
                cwd=REPOSITORY,
                env=os.environ | dict(environment),
                stdout=subprocess.PIPE,
                stderr=taken,
                text=True,
            )
        assert self._process.stdout is not None
        told = self._process.stdout.readline()
        found = _OPEN.match(told)
        assert found is not None, f"the server did not start: {told!r}"
        self.url = found[1]
        self.pid = self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it still runs."""
        return self._process.poll() is None

    def end(self, number: signal.Signals = signal.SIGTERM, *, timeout_s: float = 60.0) -> tuple[int, float]:
        """Send a signal, wait for the end, and return the exit code and how many seconds it took."""
        started_s = time.monotonic()
        self._process.send_signal(number)
        try:
            code = self._process.wait(timeout_s)
        finally:
            self._process.kill()
            self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()
        return code, time.monotonic() - started_s
