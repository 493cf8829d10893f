"""The process of the index is killed, frozen and slow, and the program never is."""

from __future__ import annotations

import os
import re
import select
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from novelgen.errors import DeadlineExceededError, VectorIndexDamagedError, VectorIndexError
from runtime.vectors.breaker import CircuitBreaker
from runtime.vectors.locations import EmbeddedIndex
from runtime.vectors.manager import VectorStoreManager
from runtime.vectors.process import IndexProcess
from tests.runtime.vectors.conftest import FakeClock, is_alive, program, run_program, wait_until
from tests.runtime.vectors.story_rows import make_rows, random_vectors

pytestmark = pytest.mark.index_started_as_shipped

WorkerPid = Callable[[VectorStoreManager], int]
IN_DEMO = {"project_id": "demo", "index_id": ""}


@pytest.fixture
def bare_process(tmp_path: Path, clock: FakeClock) -> Iterator[Callable[..., IndexProcess]]:
    """Makes index processes that are closed after the test."""
    made: list[IndexProcess] = []

    def make(**options: float) -> IndexProcess:
        breaker = CircuitBreaker(clock=clock)
        made.append(IndexProcess(EmbeddedIndex(tmp_path / "vectors"), breaker=breaker, **options))
        return made[-1]

    yield make
    for process in made:
        process.close()


@pytest.fixture
def stub_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts a shell script in the place of Python, to start processes that misbehave."""

    def install(body: str) -> None:
        script = tmp_path / "python-stub"
        script.write_text(f"#!/bin/sh\n{body}\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setattr(sys, "executable", str(script))

    return install


def test_a_kill_in_the_middle_of_a_query_is_an_error_and_the_next_call_works(
    shared: VectorStoreManager, worker_pid: WorkerPid
) -> None:
    """The caller learns what happened; acknowledged rows are still there."""
    rows = make_rows(5, project_id="killed")
    shared.upsert(rows)
    pid = worker_pid(shared)
    os.kill(pid, signal.SIGSTOP)
    killer = threading.Timer(0.3, os.kill, (pid, signal.SIGKILL))
    killer.start()
    with pytest.raises(VectorIndexError, match="was ended by SIGKILL"):
        shared.query("killed", random_vectors(1), top_k=1, timeout_s=30)
    killer.join()
    assert shared.list_ids("killed") == {row.chunk_id for row in rows}
    assert worker_pid(shared) != pid


def test_a_process_that_died_between_calls_is_replaced_unnoticed(
    shared: VectorStoreManager, worker_pid: WorkerPid
) -> None:
    """A dead process is seen before anything is asked of it."""
    shared.count("idle")
    pid = worker_pid(shared)
    os.kill(pid, signal.SIGKILL)
    assert wait_until(lambda: shared._process.pid is None)
    assert shared.count("idle") == 0


def test_a_frozen_process_is_killed_at_the_deadline(
    shared: VectorStoreManager, worker_pid: WorkerPid
) -> None:
    """The call ends in its time, and the next one has a new process."""
    shared.count("frozen")
    pid = worker_pid(shared)
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(DeadlineExceededError, match="query on the vector index did not return in time"):
        shared.query("frozen", random_vectors(1), top_k=1, timeout_s=0.3)
    assert not is_alive(pid)
    assert shared.query("frozen", random_vectors(1), top_k=1, timeout_s=20) == [[]]


def test_a_call_that_waits_for_another_ends_in_its_own_time(
    shared: VectorStoreManager, worker_pid: WorkerPid
) -> None:
    """Waiting for the turn counts, and is not held against the process."""
    shared.count("queue")
    pid = worker_pid(shared)
    os.kill(pid, signal.SIGSTOP)
    slow = threading.Thread(target=shared.count, args=("queue",))
    slow.start()
    try:
        assert wait_until(lambda: shared._process._turn.locked())
        with pytest.raises(DeadlineExceededError, match="busy with other calls"):
            shared.count("queue", timeout_s=0.2)
    finally:
        os.kill(pid, signal.SIGCONT)
        slow.join()
    assert worker_pid(shared) == pid


def test_a_slow_start_is_no_damage(bare_process: Callable[..., IndexProcess]) -> None:
    """Calls that end before the libraries are loaded neither kill the process nor open the breaker."""
    process = bare_process()
    process.start()
    pid = process.pid
    for _ in range(5):
        with pytest.raises(DeadlineExceededError, match="still starting"):
            process.call("ids", IN_DEMO, timeout_s=0.001)
    assert not process.is_refusing
    assert process.call("ids", IN_DEMO, timeout_s=20) == {"ids": []}
    assert process.pid == pid


def test_a_process_that_is_asked_long_after_its_start_is_ready(
    bare_process: Callable[..., IndexProcess],
) -> None:
    """Started in the background and left alone for longer than a start may take, it is not taken for hanging."""
    process = bare_process()
    process.start()
    worker = process._worker
    assert worker is not None
    assert select.select([worker._channel], [], [], 120)[0]
    worker.started_at -= 1_000
    assert process.call("ids", IN_DEMO, timeout_s=20) == {"ids": []}
    assert process.pid == worker.pid


def test_a_start_that_hangs_ends_at_its_own_deadline(
    bare_process: Callable[..., IndexProcess], stub_python: Callable[[str], None]
) -> None:
    """A process that never becomes ready is killed, and counts as a failure."""
    stub_python("exec sleep 600")
    process = bare_process(start_timeout_s=0.3)
    for _ in range(3):
        with pytest.raises(DeadlineExceededError, match=r"did not start within 0\.3 s"):
            process.call("ids", IN_DEMO, timeout_s=30)
        assert process.pid is None
    with pytest.raises(VectorIndexError, match="left alone for 30 more seconds"):
        process.call("ids", IN_DEMO, timeout_s=30)


def test_a_crash_loop_opens_the_breaker_until_a_probe_works(
    bare_process: Callable[..., IndexProcess],
    stub_python: Callable[[str], None],
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After three crashes nothing is started any more; after the cool-down one probe repairs all."""
    real_python = sys.executable
    stub_python("echo out of luck >&2; exit 7")
    process = bare_process()
    for _ in range(3):
        with pytest.raises(VectorIndexError, match=r"ended with exit code 7 \(out of luck\)"):
            process.call("ids", IN_DEMO, timeout_s=30)
    with pytest.raises(VectorIndexError, match="failed 3 times in a row"):
        process.call("ids", IN_DEMO, timeout_s=30)
    assert (process.is_refusing, process.pid) == (True, None)
    monkeypatch.setattr(sys, "executable", real_python)
    clock.now_s += 30
    assert process.call("ids", IN_DEMO, timeout_s=30) == {"ids": []}
    assert not process.is_refusing


def test_an_interpreter_that_cannot_be_started_is_an_error_of_the_index(
    bare_process: Callable[..., IndexProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing program is reported like any other failure."""
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(VectorIndexError, match=r"cannot be started.*nowhere"):
        bare_process().call("ids", IN_DEMO, timeout_s=30)


def test_a_bug_in_the_process_ends_it_and_its_last_words_are_told(shared: VectorStoreManager) -> None:
    """An error that is not expected is never swallowed there."""
    with pytest.raises(VectorIndexError, match=r"ended with exit code 1 \(KeyError: 'no-such-operation'\)"):
        shared._process.call("no-such-operation", {}, timeout_s=20)


def test_the_process_ends_with_a_program_that_is_killed(tmp_path: Path) -> None:
    """No orphan stays, even when the program had no chance to say good-bye and a fork of it lives on."""
    owner = program(OWNER + LIVING_FORK, str(tmp_path))
    assert owner.stdout is not None
    worker, fork = int(owner.stdout.readline()), int(owner.stdout.readline())
    try:
        assert is_alive(worker)
        owner.kill()
        assert wait_until(lambda: not is_alive(worker))
        assert is_alive(fork)
    finally:
        os.kill(fork, signal.SIGKILL)
        owner.communicate()


def test_a_forked_child_is_refused_and_the_parent_is_unharmed(tmp_path: Path) -> None:
    """The child is told who owns the index, ends without killing it, and the parent goes on."""
    lines = run_program(OWNER + REFUSED_FORK, str(tmp_path)).splitlines()
    assert re.search("opened by process .* before it forked this one", lines[1])
    assert lines[2:] == ["parent 0", f"same {lines[0]}"]


def test_the_program_has_neither_output_nor_modules_of_the_process(tmp_path: Path) -> None:
    """What the process prints stays out of the program, and Chroma is loaded in the process alone."""
    source = OWNER + "\nprint('chromadb' in sys.modules, 'langchain_chroma' in sys.modules)"
    lines = run_program(source, str(tmp_path)).splitlines()
    assert len(lines) == 2
    assert lines[1] == "False False"


OWNER = """
import os, sys, time
from pathlib import Path
from runtime.vectors.locations import EmbeddedIndex
from runtime.vectors.manager import VectorStoreManager
manager = VectorStoreManager(EmbeddedIndex(Path(sys.argv[1]) / "vectors"), embedding_model="m", dimension=2)
manager.count("demo", timeout_s=30)
print(manager._process.pid, flush=True)
"""

LIVING_FORK = """
child = os.fork()
if child:
    print(child, flush=True)
time.sleep(600)
"""

REFUSED_FORK = """
child = os.fork()
if child == 0:
    try:
        manager.count("demo")
    except Exception as error:
        print(error, flush=True)
    sys.exit(0)
os.waitpid(child, 0)
print("parent", manager.count("demo"), flush=True)
print("same", manager._process.pid, flush=True)
"""


def test_an_index_rests_until_it_is_asked_again(bare_process: Callable[..., IndexProcess]) -> None:
    """A resting index has no process and can be opened by others; one that is being written to stays up."""
    process = bare_process()
    assert process.call("ids", IN_DEMO, timeout_s=60) == {"ids": []}
    with process.write_turn:
        assert not process.rest()
    assert process.pid is not None
    assert process.rest()
    assert process.pid is None
    other = bare_process()
    assert other.call("ids", IN_DEMO, timeout_s=60) == {"ids": []}
    assert other.rest()
    assert process.call("ids", IN_DEMO, timeout_s=60) == {"ids": []}


def test_a_panic_of_native_code_is_damage(
    bare_process: Callable[..., IndexProcess], stub_python: Callable[[str], None]
) -> None:
    """Chroma's Rust ends the process by an exit code where C would crash; a repair must know it for damage."""
    stub_python("echo 'pyo3_runtime.PanicException: database disk image is malformed' >&2; exit 1")
    with pytest.raises(VectorIndexDamagedError, match=r"exit code 1 \(pyo3.*rebuild the index"):
        bare_process().call("ids", IN_DEMO, timeout_s=30)
