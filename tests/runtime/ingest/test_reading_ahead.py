"""Jobs side by side, with their results in order."""

import threading
from collections.abc import Callable

from runtime.ingest.scene_passes import ReadingAhead

HANG_GUARD_S = 30.0


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
