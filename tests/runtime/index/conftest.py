"""Real indexes, real servers and separate programs for the tests of the vector room."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from runtime.index.locations import ChromaFolder, IndexLocation
from runtime.index.process import IndexProcess, IndexProcessRegistry
from runtime.index.project_index import ProjectIndex
from runtime.index.vector_index import CircuitBreaker, IndexAccess
from tests.runtime.index.story_rows import DIMENSION, MODEL
from tests.support.freezing import freeze

REPOSITORY = Path(__file__).resolve().parents[3]

OpenIndex = Callable[..., ProjectIndex]


def index_in(
    access: IndexAccess,
    project_id: str = "demo",
    *,
    index_id: str | None = "live",
    embedding_model: str = MODEL,
    dimension: int = DIMENSION,
) -> ProjectIndex:
    """Return the index of a project in a store."""
    return ProjectIndex(access, project_id, index_id=index_id, embedding_model=embedding_model, dimension=dimension)


def process_of(project_index: ProjectIndex) -> IndexProcess:
    """Return the process behind an index."""
    access = project_index._access
    assert isinstance(access, IndexProcess)
    return access


def embedded(project_index: ProjectIndex) -> ChromaFolder:
    """Return where an embedded index lives."""
    location = process_of(project_index).location
    assert isinstance(location, ChromaFolder)
    return location


class FakeClock:
    """Seconds that pass only when a test says so."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> FakeClock:
    """A clock under the test's control."""
    return FakeClock()


@pytest.fixture(scope="session")
def long_lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexProcess]:
    """One embedded index for the whole session."""
    process = IndexProcess(ChromaFolder(tmp_path_factory.mktemp("index") / "vectors"))
    process.start()
    yield process
    process.close()


@pytest.fixture
def shared(long_lived: IndexProcess) -> OpenIndex:
    """Opens projects in the index of the session, running, for tests that leave it whole."""
    index_in(long_lived, "awake").list_ids()
    return partial(index_in, long_lived)


@pytest.fixture
def open_index(clock: FakeClock) -> Iterator[OpenIndex]:
    """Opens indexes with a registry and a breaker clock of their own, and closes them."""
    borrowed: list[IndexProcess] = []
    registry = IndexProcessRegistry(lambda location: IndexProcess(location, breaker=CircuitBreaker(clock=clock)))

    def open_one(location: IndexLocation, project_id: str = "demo", **options: Any) -> ProjectIndex:
        borrowed.append(registry.borrow(location))
        return index_in(borrowed[-1], project_id, **options)

    yield open_one
    for process in borrowed:
        registry.give_back(process)


def worker_pid(project_index: ProjectIndex) -> int:
    """Return the process id of an index's worker."""
    pid = process_of(project_index).pid
    assert pid is not None
    return pid


def program(source: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a separate Python program that can import the repository."""
    return subprocess.Popen(
        [sys.executable, "-c", source, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )


def run_program(source: str, *arguments: str) -> str:
    """Run a separate Python program to its end and return what it printed."""
    process = program(source, *arguments)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    return output


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that ended and was not reaped yet does not."""
    if not Path("/proc/self").exists():
        listed = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
        return bool(listed.stdout.strip()) and not listed.stdout.startswith("Z")
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(condition: Callable[[], bool], *, timeout_s: float = 30.0) -> bool:
    """Wait for something that another process does; False when it does not come."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


class ServerProcess:
    """A `chroma run` on loopback that can be killed and come back."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with closing(socket.socket()) as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [str(Path(sys.executable).with_name("chroma")), "run", "--path", str(self._folder)]
        self._process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(self.port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert wait_until(self._answers), "chroma run did not come up"

    def freeze(self) -> None:
        assert self._process is not None
        freeze(self._process.pid)

    def thaw(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        with closing(socket.socket()) as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


@contextmanager
def chroma_server(folder: Path) -> Iterator[str]:
    """Run a Chroma server over a folder and give its URL."""
    process = ServerProcess(folder)
    process.start()
    try:
        yield process.url
    finally:
        process.kill()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A running Chroma server."""
    process = ServerProcess(tmp_path_factory.mktemp("server"))
    process.start()
    yield process
    process.kill()
