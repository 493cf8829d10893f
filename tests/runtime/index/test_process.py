"""The process of the index is killed, frozen and slow, and the program never is."""

import os
import re
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from novelgen.deadlines import Deadline
from novelgen.errors import DeadlineExceededError, VectorIndexDamagedError, VectorIndexError
from runtime.index.locations import ChromaFolder
from runtime.index.process import IndexProcess, RunningProcess
from runtime.index.vector_index import CircuitBreaker, Collection
from tests.faults.matrix import covers
from tests.runtime.index.conftest import (
    FakeClock,
    OpenIndex,
    is_alive,
    process_of,
    program,
    run_program,
    wait_until,
    worker_pid,
)
from tests.runtime.index.story_rows import make_row, make_rows, random_vectors
from tests.support.freezing import freeze, kill_when_asked

started_as_shipped = pytest.mark.index_started_as_shipped

IN_DEMO = Collection("story-demo", 16)


@pytest.fixture
def bare_process(tmp_path: Path, clock: FakeClock) -> Iterator[Callable[..., IndexProcess]]:
    """Makes index processes that are closed after the test."""
    made: list[IndexProcess] = []

    def make(**options: float) -> IndexProcess:
        breaker = CircuitBreaker(clock=clock)
        made.append(IndexProcess(ChromaFolder(tmp_path / "vectors"), breaker=breaker, **options))
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


@pytest.mark.slow
@started_as_shipped
@covers(11)
def test_a_kill_in_the_middle_of_a_query_is_an_error_and_the_next_call_works(
    shared: OpenIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The caller learns what happened; acknowledged rows are still there."""
    rows = make_rows(5, project_id="killed")
    shared("killed").add(rows)
    pid = worker_pid(shared("any"))
    freeze(pid)
    kill_when_asked(monkeypatch, pid)
    with pytest.raises(VectorIndexError, match="was ended by SIGKILL"):
        shared("killed").query(random_vectors(1), top_k=1, deadline=Deadline.after(30))
    assert shared("killed").list_ids([row.chunk_id for row in rows]) == {row.chunk_id for row in rows}
    assert worker_pid(shared("any")) != pid


@pytest.mark.slow
def test_a_process_that_died_between_calls_is_replaced_unnoticed(shared: OpenIndex) -> None:
    """A dead process is seen before anything is asked of it."""
    shared("idle").list_ids()
    pid = worker_pid(shared("any"))
    os.kill(pid, signal.SIGKILL)
    assert wait_until(lambda: process_of(shared("idle")).pid is None)
    assert len(shared("idle").list_ids()) == 0


@pytest.mark.slow
def test_a_frozen_process_is_killed_at_the_deadline(shared: OpenIndex) -> None:
    """The call ends in its time, and the next one has a new process."""
    shared("frozen").list_ids()
    pid = worker_pid(shared("any"))
    freeze(pid)
    with pytest.raises(DeadlineExceededError, match="query on the vector index did not return in time"):
        shared("frozen").query(random_vectors(1), top_k=1, deadline=Deadline.after(0.3))
    assert not is_alive(pid)
    assert shared("frozen").query(random_vectors(1), top_k=1, deadline=Deadline.after(20)) == [[]]


@pytest.mark.slow
def test_a_process_that_takes_nothing_cannot_hold_a_writer(shared: OpenIndex) -> None:
    """A write larger than the buffers of the system ends at its deadline too."""
    shared("full").list_ids()
    freeze(worker_pid(shared("any")))
    rows = [
        make_row(f"c{number}", vector, project_id="full", content="salt " * 100_000)
        for number, vector in enumerate(random_vectors(8))
    ]
    with pytest.raises(DeadlineExceededError, match="add on the vector index did not return in time"):
        shared("full").add(rows, timeout_s=0.5)
    assert len(shared("full").list_ids(timeout_s=20)) == 0


@pytest.mark.slow
def test_an_answer_that_stops_half_way_ends_at_the_deadline(
    bare_process: Callable[..., IndexProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a message can neither hold the caller nor be taken for the start of the next."""
    process = bare_process()
    real = IndexProcess.launch
    program = (
        "import os, time; from multiprocessing.connection import Connection; "
        "channel = Connection(0); channel.send('ready'); os.write(0, bytes(1)); time.sleep(600)"
    )

    def half(arguments: Sequence[str], channel: int, log: int) -> RunningProcess:
        return subprocess.Popen([sys.executable, "-c", program], stdin=channel, stdout=log, stderr=log)

    monkeypatch.setattr(IndexProcess, "launch", staticmethod(half))
    process.start()
    assert wait_until(lambda: process.is_ready)
    monkeypatch.setattr(IndexProcess, "launch", staticmethod(real))
    with pytest.raises(DeadlineExceededError, match="ids on the vector index did not return in time"):
        process.call("ids", Deadline.after(0.5), collection=IN_DEMO, chunk_ids=[])
    assert process.call("ids", Deadline.after(20), collection=IN_DEMO, chunk_ids=[]) == set()


@pytest.mark.slow
def test_a_call_that_the_user_breaks_off_leaves_no_reply_behind(
    shared: OpenIndex, request: pytest.FixtureRequest
) -> None:
    """After Ctrl-C the next question gets its own answer."""
    # Who starts the tests in the background of a shell lets them ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    shared("broken-off").add(make_rows(3, project_id="broken-off"))
    freeze(worker_pid(shared("any")))
    breaker = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    breaker.start()
    with pytest.raises(KeyboardInterrupt):
        shared("broken-off").list_ids(timeout_s=30)
    breaker.join()
    assert len(shared("broken-off").query(random_vectors(1), top_k=5, deadline=Deadline.after(20))[0]) == 3


def test_a_call_that_waits_for_another_ends_in_its_own_time(shared: OpenIndex) -> None:
    """Waiting for the turn counts, and is not held against the process."""
    shared("queue").list_ids()
    pid = worker_pid(shared("any"))
    freeze(pid)
    slow = threading.Thread(target=shared("queue").list_ids)
    slow.start()
    try:
        assert wait_until(lambda: process_of(shared("idle")).is_busy)
        with pytest.raises(DeadlineExceededError, match="busy with other calls"):
            shared("queue").list_ids(timeout_s=0.2)
    finally:
        os.kill(pid, signal.SIGCONT)
        slow.join()
    assert worker_pid(shared("any")) == pid


@pytest.mark.slow
@started_as_shipped
def test_a_slow_start_is_no_damage(bare_process: Callable[..., IndexProcess]) -> None:
    """Calls that end before the libraries are loaded neither kill the process nor open the breaker.

    Waiting for the start alone opens and makes nothing of the index.
    """
    process = bare_process()
    process.start()
    pid = process.pid
    for _ in range(5):
        with pytest.raises(DeadlineExceededError, match="still starting"):
            process.call("ids", Deadline.after(0.001), collection=IN_DEMO, chunk_ids=[])
    assert not process.breaker.is_open
    process.wait_started(Deadline.after(60))
    assert isinstance(process.location, ChromaFolder)
    assert not process.location.path.exists()
    assert process.call("ids", Deadline.after(20), collection=IN_DEMO, chunk_ids=[]) == set()
    assert process.pid == pid


@pytest.mark.slow
def test_a_process_that_is_asked_long_after_its_start_is_ready(bare_process: Callable[..., IndexProcess]) -> None:
    """Started in the background and left alone for longer than a start may take, it is not taken for hanging."""
    process = bare_process(start_timeout_s=0.01)
    process.start()
    pid = process.pid
    assert wait_until(lambda: process.is_ready)
    assert process.call("ids", Deadline.after(20), collection=IN_DEMO, chunk_ids=[]) == set()
    assert process.pid == pid


@started_as_shipped
def test_a_start_that_hangs_ends_at_its_own_deadline(
    bare_process: Callable[..., IndexProcess], stub_python: Callable[[str], None]
) -> None:
    """A process that never becomes ready is killed, and counts as a failure."""
    stub_python("exec sleep 600")
    process = bare_process(start_timeout_s=0.3)
    for _ in range(3):
        with pytest.raises(DeadlineExceededError, match=r"did not start within 0\.3 s"):
            process.call("ids", Deadline.after(30), collection=IN_DEMO, chunk_ids=[])
        assert process.pid is None
    with pytest.raises(VectorIndexError, match="left alone for 30 more seconds"):
        process.call("ids", Deadline.after(30), collection=IN_DEMO, chunk_ids=[])


def test_only_failures_in_a_row_open_the_breaker_and_a_probe_decides(clock: FakeClock) -> None:
    """While a probe is under way everyone else is refused; one that fails starts the cool-down anew."""
    breaker = CircuitBreaker(clock=clock)
    for _ in range(3):
        breaker.failed("it hung")
        breaker.succeeded()
    breaker.refuse_if_open()
    for _ in range(3):
        breaker.failed("it hung")
    clock.now_s += 30
    breaker.refuse_if_open()
    with pytest.raises(VectorIndexError, match="0 more seconds"):
        breaker.refuse_if_open(is_probed=True)
    breaker.failed("it hung again")
    with pytest.raises(VectorIndexError, match="30 more seconds; last failure: it hung again"):
        breaker.refuse_if_open()


@pytest.mark.slow
@started_as_shipped
@covers(12)
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
            process.call("ids", Deadline.after(30), collection=IN_DEMO, chunk_ids=[])
    with pytest.raises(VectorIndexError, match="failed 3 times in a row"):
        process.call("ids", Deadline.after(30), collection=IN_DEMO, chunk_ids=[])
    assert (process.breaker.is_open, process.pid) == (True, None)
    monkeypatch.setattr(sys, "executable", real_python)
    clock.now_s += 30
    assert process.call("ids", Deadline.after(30), collection=IN_DEMO, chunk_ids=[]) == set()
    assert not process.breaker.is_open


@started_as_shipped
def test_a_process_that_cannot_start_or_panics_is_an_error_of_the_index(
    bare_process: Callable[..., IndexProcess], monkeypatch: pytest.MonkeyPatch, stub_python: Callable[[str], None]
) -> None:
    """A missing program is told; a panic of Chroma's Rust, which ends by an exit code, is damage."""
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(VectorIndexError, match=r"cannot be started.*nowhere"):
        bare_process().call("ids", Deadline.after(30), collection=IN_DEMO, chunk_ids=[])
    stub_python("echo 'pyo3_runtime.PanicException: database disk image is malformed' >&2; exit 1")
    with pytest.raises(VectorIndexDamagedError, match=r"exit code 1 \(pyo3.*rebuild the index"):
        bare_process().call("ids", Deadline.after(30), collection=IN_DEMO, chunk_ids=[])


def test_a_failure_that_nobody_expected_is_told(shared: OpenIndex) -> None:
    """A store may fail in any way: the caller is told how, and the process goes on."""
    pid = worker_pid(shared("bug"))
    with pytest.raises(VectorIndexError, match=r"AttributeError.*no-such-operation"):
        process_of(shared("bug")).call("no-such-operation", Deadline.after(20), collection=IN_DEMO)
    assert worker_pid(shared("bug")) == pid


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_forked_child_is_refused_and_the_parent_is_unharmed(tmp_path: Path) -> None:
    """The child is told who owns the index, ends without killing it, and the parent goes on."""
    lines = run_program(OWNER + REFUSED_FORK, str(tmp_path)).splitlines()
    assert re.search("opened by process .* before it forked this one", lines[1])
    assert lines[2:] == ["parent 0", f"same {lines[0]}"]


@pytest.mark.slow
def test_the_program_has_neither_output_nor_modules_of_the_process(tmp_path: Path) -> None:
    """What the process prints stays out of the program, and Chroma is loaded in the process alone."""
    source = OWNER + "\nprint('chromadb' in sys.modules)"
    lines = run_program(source, str(tmp_path)).splitlines()
    assert len(lines) == 2
    assert lines[1] == "False"


OWNER = """
import os, sys, time
from pathlib import Path
from runtime.index.locations import ChromaFolder
from runtime.index.process import IndexProcess
from tests.runtime.index.conftest import index_in
process = IndexProcess(ChromaFolder(Path(sys.argv[1]) / "vectors"))
project_index = index_in(process)
project_index.list_ids(timeout_s=30)
print(process.pid, flush=True)
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
        len(project_index.list_ids())
    except Exception as error:
        print(error, flush=True)
    sys.exit(0)
os.waitpid(child, 0)
print("parent", len(project_index.list_ids()), flush=True)
print("same", process.pid, flush=True)
"""


@pytest.mark.slow
def test_an_idle_index_is_closed_until_it_is_asked_again(bare_process: Callable[..., IndexProcess]) -> None:
    """A closed one has no process and can be opened by others."""
    process = bare_process()
    assert process.call("ids", Deadline.after(60), collection=IN_DEMO, chunk_ids=[]) == set()
    assert process.close_idle()
    assert process.pid is None
    other = bare_process()
    assert other.call("ids", Deadline.after(60), collection=IN_DEMO, chunk_ids=[]) == set()
    assert other.close_idle()
    assert process.call("ids", Deadline.after(60), collection=IN_DEMO, chunk_ids=[]) == set()
