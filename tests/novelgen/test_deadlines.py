"""Calls under a deadline."""

import contextvars
import subprocess
import sys
import threading
import time

import pytest

from novelgen.deadlines import Deadline, call_with_deadline, run_concurrently
from novelgen.errors import DeadlineExceededError
from tests.support.ladder import ladder

HANG_GUARD_S = 30.0

colour: contextvars.ContextVar[str] = contextvars.ContextVar("colour", default="none")


def hang() -> str:
    """Never come back within a test."""
    threading.Event().wait()
    return "never"


def test_hang_is_left_behind() -> None:
    """A call that hangs costs its deadline, with stage and seconds; a value or its own TimeoutError comes through."""
    assert call_with_deadline(lambda: 7, timeout_s=HANG_GUARD_S, stage="seven") == 7

    def fail() -> None:
        raise TimeoutError("the socket's")

    with pytest.raises(TimeoutError, match="the socket's") as caught:
        call_with_deadline(fail, timeout_s=HANG_GUARD_S, stage="fail")
    assert not isinstance(caught.value, DeadlineExceededError)
    started = time.monotonic()
    with pytest.raises(DeadlineExceededError, match=r"search did not return within 0\.05 s"):
        call_with_deadline(hang, timeout_s=0.05, stage="search")
    assert time.monotonic() - started < HANG_GUARD_S


@pytest.mark.parametrize("timeout_s", [0.0, -1.0])
def test_nothing_starts_without_time(timeout_s: float) -> None:
    """When no time is left the function is not called."""
    called = threading.Event()
    with pytest.raises(DeadlineExceededError, match="no time was left"):
        call_with_deadline(called.set, timeout_s=timeout_s, stage="late")
    assert not called.is_set()


def test_context_variables_are_seen_and_not_changed() -> None:
    """The call sees the caller's context variables; what it sets stays its own."""
    colour.set("red")

    def look() -> str:
        seen = colour.get()
        colour.set("blue")
        return seen

    assert call_with_deadline(look, timeout_s=HANG_GUARD_S, stage="look") == "red"
    assert colour.get() == "red"


def test_interpreter_exits_beside_a_hung_call() -> None:
    """A thread that was left behind does not keep the process alive."""
    code = (
        "import threading\n"
        "from novelgen.deadlines import call_with_deadline, run_concurrently\n"
        "hang = threading.Event().wait\n"
        "run_concurrently({'a': hang}, timeouts_s={'a': 0.05})\n"
        "try: call_with_deadline(hang, timeout_s=0.05, stage='x')\n"
        "except TimeoutError: print('left')\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG_GUARD_S * 2, check=True
    )
    assert told.stdout == "left\n"


def test_concurrent_calls_have_their_own_deadlines_and_errors() -> None:
    """One value, one error and one hang stay apart; order is that of the calls."""
    error = OSError("disk")

    def fail() -> None:
        raise error

    outcomes = run_concurrently(
        {"slow": hang, "fine": lambda: [1], "broken": fail},
        timeouts_s={"slow": 0.05, "fine": HANG_GUARD_S, "broken": HANG_GUARD_S},
    )
    assert list(outcomes) == ["slow", "fine", "broken"]
    assert (outcomes["fine"].value, outcomes["fine"].error) == ([1], None)
    assert (outcomes["broken"].value, outcomes["broken"].error) == (None, error)
    assert isinstance(outcomes["slow"].error, DeadlineExceededError)
    assert outcomes["slow"].elapsed_s == pytest.approx(0.05)
    assert 0 <= outcomes["fine"].elapsed_s < HANG_GUARD_S


def test_whole_ladder() -> None:
    """Every share of a context's and of a check's time comes from one table, down to the list of ids for Chroma."""
    assert ladder(chain_timeout_s=10, tool_timeout_s=8) == {
        "context": 10,
        "outline": 5,
        "recap": 3,
        "first_hits": 4,
        "names": 3,
        "retrieval": 8,
        "knowers": 5,
        "memory_list": 4,
        "write": 8,
        "search": 7.2,
        "knowledge": 7.2,
        "retrievers": 5.4,
        "memories": 7.2,
        "holding": 7.2,
        "index": 3.78,
        "allowed_ids": 1.51,
        "check": 20,
        "story": 12,
        "meaning": 10,
        "touched": 20,
        "evidence": 16,
    }


def test_what_hangs_leaves_time_to_what_comes_after() -> None:
    """With every stage taking all that it may, those after it are asked still, and the whole ends in time."""
    now_s = 0.0

    def use_up(stage: Deadline) -> float:
        nonlocal now_s
        seconds = stage.remaining_s
        now_s += seconds
        return seconds

    context = Deadline.after(10, stage="context", clock=lambda: now_s)
    assert use_up(context.share("outline", at_most_s=8)) == 5
    retrieval = context.share("retrieval", at_most_s=8)
    search = retrieval.share("search")
    retrievers = search.share("retrievers")
    index = retrievers.share("index")
    assert use_up(index.share("allowed_ids")) == pytest.approx(0.8, abs=0.01)
    assert use_up(index) == pytest.approx(1.2, abs=0.01)
    assert use_up(retrievers) == pytest.approx(0.86, abs=0.01)
    assert use_up(search.share("memories")) == pytest.approx(0.96, abs=0.01)
    assert retrieval.remaining_s == pytest.approx(0.43, abs=0.01)
    use_up(retrieval)
    assert use_up(context.share("write", at_most_s=8)) == pytest.approx(0.75)
    assert now_s == 10


def test_a_last_resort_has_its_least_seconds() -> None:
    """Never more than its own limit; a deadline that is moved keeps its stage and clock."""
    spent = Deadline.after(-1, stage="context", clock=lambda: 0.0)
    assert spent.remaining_s == 0
    assert spent.share("write", at_most_s=8).remaining_s == 0.1
    assert spent.share("write", at_most_s=0.02).remaining_s == 0.02
    assert spent.share("retrieval").share("search").remaining_s > 0
    context = Deadline.after(10, stage="context", clock=lambda: 3.0)
    assert context.later(4).remaining_s == 14
    assert context.later(4).share("outline").remaining_s == 7


@pytest.mark.parametrize("stage", ["index", "unheard-of"])
def test_share_of_another_stage_is_refused(stage: str) -> None:
    """Nobody takes a share that the table gives to a part of another stage, or to nobody."""
    with pytest.raises(ValueError, match=rf"'{stage}' has no share of 'search'; its parts are \['holding', "):
        Deadline.after(1, stage="search").share(stage)
