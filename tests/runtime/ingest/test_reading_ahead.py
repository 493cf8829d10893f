"""Jobs side by side, with their results in order."""

import threading
from collections.abc import Callable

import pytest

from runtime.ingest.scene_passes import ReadingAhead

HANG_GUARD_S = 30.0


def test_jobs_run_at_the_same_time() -> None:
    """As many jobs as there are workers run at once: none of four could end before the others have begun."""
    together = threading.Barrier(4)

    def begin(_: int) -> Callable[[], int]:
        return lambda: together.wait(HANG_GUARD_S)

    assert len(list(ReadingAhead(range(4), begin=begin, workers=4))) == 4


def test_results_come_in_the_order_of_the_jobs() -> None:
    """The first job ends last, and its result is still the first."""
    others_done = threading.Semaphore(0)

    def begin(job: int) -> Callable[[], int]:
        def work() -> int:
            if job:
                others_done.release()
            else:
                assert all(others_done.acquire(timeout=HANG_GUARD_S) for _ in range(2))
            return job

        return work

    assert [job for job, _ in ReadingAhead(range(3), begin=begin, workers=3)] == [0, 1, 2]


def test_one_worker_begins_after_the_one_before_was_dealt_with() -> None:
    """With one worker beginning, working and handing over take turns."""
    told: list[str] = []

    def begin(job: int) -> Callable[[], int]:
        told.append(f"begun {job}")
        return lambda: job

    for job, _ in ReadingAhead(range(2), begin=begin, workers=1):
        told.append(f"handed over {job}")
    assert told == ["begun 0", "handed over 0", "begun 1", "handed over 1"]


def test_no_more_jobs_are_begun_than_can_be_handed_over_soon() -> None:
    """While the first job hangs, one more than there are workers is begun."""
    free_the_first = threading.Event()
    begun: list[int] = []

    def begin(job: int) -> Callable[[], int]:
        begun.append(job)
        if job == 2:
            free_the_first.set()
        return lambda: job if job or free_the_first.wait(HANG_GUARD_S) else -1

    ahead = iter(ReadingAhead(range(20), begin=begin, workers=2))
    assert next(ahead) == (0, 0)
    assert begun == [0, 1, 2]


def test_stopping_begins_nothing_more() -> None:
    """What is begun is still handed over, the rest is not begun."""
    begun: list[int] = []

    def begin(job: int) -> Callable[[], int]:
        begun.append(job)
        return lambda: job

    ahead = ReadingAhead(range(10), begin=begin, workers=2)
    handed_over = iter(ahead)
    next(handed_over)
    ahead.stop()
    before = list(begun)
    assert [job for job, _ in handed_over] == before[1:]
    assert begun == before


def test_what_is_finished_can_be_had_without_waiting() -> None:
    """A job that hangs, and one that failed, are left out; the finished ones come in order."""
    hang = threading.Event()
    others: list[threading.Thread] = []
    noted = threading.Semaphore(0)

    def begin(job: int) -> Callable[[], int]:
        def work() -> int:
            if job in (2, 3):
                others.append(threading.current_thread())
                noted.release()
            if job == 1:
                hang.wait(HANG_GUARD_S)
            if job == 2:
                raise ValueError("no result")
            return job

        return work

    ahead = ReadingAhead(range(4), begin=begin, workers=4)
    handed_over = iter(ahead)
    assert next(handed_over) == (0, 0)
    assert all(noted.acquire(timeout=HANG_GUARD_S) for _ in range(2))
    for thread in others:
        thread.join(HANG_GUARD_S)
    assert [job for job, _ in ahead.take_finished()] == [3]
    hang.set()


def test_what_a_job_raises_is_raised_at_its_turn() -> None:
    """The results before the failing one are handed over first."""

    def begin(job: int) -> Callable[[], int]:
        def work() -> int:
            if job == 1:
                raise ValueError("broken")
            return job

        return work

    ahead = iter(ReadingAhead(range(3), begin=begin, workers=3))
    assert next(ahead) == (0, 0)
    with pytest.raises(ValueError, match="broken"):
        next(ahead)
