"""Jobs that take their time, some side by side, with their results in the order of the jobs."""

from __future__ import annotations

import contextvars
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Generic, TypeVar

MORE_THAN_WORKERS = 1
"""So many more jobs than workers may be begun and not dealt with: each knows little of those that still wait."""

Job = TypeVar("Job")
Result = TypeVar("Result")


class ReadingAhead(Generic[Job, Result]):
    """Does some jobs at a time and hands their results over in order, each as soon as it is its turn.

    A job is begun in the thread that iterates, and not before there is a free worker, so that it can look at
    what was made of the results handed over by then. With one worker each is begun after the one before was
    dealt with. The threads never keep the interpreter from exiting.
    """

    def __init__(self, jobs: Iterable[Job], *, begin: Callable[[Job], Callable[[], Result]], workers: int) -> None:
        self._waiting = deque(jobs)
        self._begun: deque[tuple[Job, Future[Result]]] = deque()
        self._begin = begin
        self._workers = workers
        self._most_begun = 1 if workers == 1 else workers + MORE_THAN_WORKERS

    def __iter__(self) -> Iterator[tuple[Job, Result]]:
        """Hand over one result after the other; what a job raised is raised at its turn."""
        while True:
            self._begin_more()
            if not self._begun:
                return
            job, future = self._begun[0]
            if future.done():
                self._begun.popleft()
                yield job, future.result()
            else:
                wait(self._running(), return_when=FIRST_COMPLETED)

    def stop(self) -> None:
        """Begin no further job; those that are begun are still handed over."""
        self._waiting.clear()

    def take_finished(self) -> Iterator[tuple[Job, Result]]:
        """Hand over in order what is finished by now, and wait for nothing."""
        begun, self._begun = list(self._begun), deque()
        return ((job, future.result()) for job, future in begun if future.done() and future.exception() is None)

    def _running(self) -> list[Future[Result]]:
        return [future for _, future in self._begun if not future.done()]

    def _begin_more(self) -> None:
        while self._waiting and len(self._running()) < self._workers and len(self._begun) < self._most_begun:
            job = self._waiting.popleft()
            self._begun.append((job, _started(self._begin(job))))


def _started(work: Callable[[], Result]) -> Future[Result]:
    """Run in a daemon thread, within a copy of the caller's context variables."""
    future: Future[Result] = Future()

    def run() -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - raised again where the result is taken
            future.set_exception(error)
        else:
            future.set_result(result)

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(run,), name="novelgen-reading", daemon=True).start()
    return future
