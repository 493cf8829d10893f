"""Deadlines of calls and the sharing of time between stages.

A call runs in a daemon thread of its own: Python cannot stop a thread, so one that hangs is left behind,
and a daemon never keeps the interpreter from exiting (a thread pool would).
"""

from __future__ import annotations

import contextvars
import math
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from novelgen.errors import DeadlineExceededError

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Share:
    """A stage's share of the remaining time."""

    of: str
    part: float
    reason: str
    at_least_s: float = 0.0


SHARES: Mapping[str, Share] = MappingProxyType(
    {
        "outline": Share("context", 0.5, "a database that hangs must not cost the index its turn", 0.1),
        "recap": Share("context", 0.3, "a planning model does without what it would be told", 0.05),
        "first_hits": Share("context", 0.4, "the search that counts comes after it", 0.05),
        "names": Share("context", 0.3, "names of the text help the search, which must not wait long for them"),
        "retrieval": Share("context", 0.85, "database and index that hang must not cost the file", 0.1),
        "knowers": Share(
            "context", 0.5, "who knows what is told by rules once all is found; choosing and writing come after", 0.05
        ),
        "memory_list": Share("context", 0.4, "a list of what the search found stands in for it", 0.05),
        "write": Share("context", 1.0, "nothing comes after it", 0.1),
        "search": Share("retrieval", 0.9, "it must be back in time to be heard, with what answered", 0.05),
        "knowledge": Share("retrieval", 0.9, "read beside the search; the context comes without it", 0.05),
        "retrievers": Share("search", 0.75, "what they found is read from the database after them"),
        "memories": Share("search", 1.0, "the last step of a search of many queries"),
        "holding": Share("search", 1.0, "the last step of the answer to one query"),
        "index": Share("retrievers", 0.7, "exact search answers when the index has not"),
        "allowed_ids": Share("index", 0.4, "with the database hanging the index is asked by position alone"),
        "story": Share("check", 0.6, "without the story before it nothing of a draft can be judged", 0.1),
        "meaning": Share("check", 0.5, "beside the story, and back in time to be heard", 0.05),
        "evidence": Share("check", 0.8, "the list of what the draft touches is made of it", 0.05),
        "touched": Share("check", 1.0, "the last step where no model judges", 0.05),
    }
)
"""The whole ladder, from the time of a context (`chain_timeout_s`, without the model) down to Chroma; and that of
the check of a draft (`continuity.timeout_s`, without the model).

What hangs leaves time to what comes after it. `docs/explanation/architecture.md` shows the seconds."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """The moment by which a stage must be back, passed down to whatever it calls."""

    ends_at: float
    stage: str = ""
    at_least_s: float = 0.0
    clock: Callable[[], float] = field(default=time.monotonic, repr=False, compare=False)

    @classmethod
    def after(cls, timeout_s: float, *, stage: str = "", clock: Callable[[], float] = time.monotonic) -> Deadline:
        """Return the moment so many seconds from now."""
        return cls(clock() + timeout_s, stage, clock=clock)

    @property
    def remaining_s(self) -> float:
        """Seconds left, at least the guaranteed minimum."""
        return max(self.at_least_s, self.ends_at - self.clock())

    def later(self, seconds: float) -> Deadline:
        """Return the deadline moved by uncounted time, such as a model's own."""
        return replace(self, ends_at=self.ends_at + seconds)

    def share(self, stage: str, *, at_most_s: float = math.inf) -> Deadline:
        """Return the deadline of a stage that begins now, by its share in `SHARES`."""
        share = SHARES.get(stage)
        if share is None or share.of != self.stage:
            parts = sorted(name for name, share in SHARES.items() if share.of == self.stage)
            raise ValueError(f"{stage!r} has no share of {self.stage!r}; its parts are {parts}")
        timeout_s = min(at_most_s, share.part * self.remaining_s)
        at_least_s = min(at_most_s, share.at_least_s)
        return Deadline(self.clock() + timeout_s, stage, at_least_s, self.clock)


@dataclass(frozen=True, slots=True)
class CallOutcome(Generic[Result]):
    """The outcome of one call: its value or its error."""

    value: Result | None
    error: Exception | None
    elapsed_s: float


class _Call(threading.Thread, Generic[Result]):
    """A call in a daemon thread, within a copy of the caller's context variables."""

    def __init__(self, function: Callable[[], Result], *, timeout_s: float, stage: str) -> None:
        super().__init__(name=f"novelgen-{stage}", daemon=True)
        self._function = function
        self._context = contextvars.copy_context()
        self._timeout_s = timeout_s
        self._stage = stage
        self._begins_at = time.monotonic()
        # The whole timeout while the call has not come back.
        self._ends_at = self._begins_at + timeout_s
        self._future: Future[Result] = Future()

    def run(self) -> None:
        """Call the function, once the thread has started."""
        try:
            value = self._context.run(self._function)
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            self._ends_at = time.monotonic()
            self._future.set_exception(error)
        else:
            self._ends_at = time.monotonic()
            self._future.set_result(value)

    def result(self) -> Result:
        """Wait for the value until the deadline, and raise the call's error."""
        remaining_s = self._begins_at + self._timeout_s - time.monotonic()
        futures, _ = wait([self._future], timeout=max(0.0, remaining_s))
        if not futures:
            raise DeadlineExceededError(
                f"{self._stage} did not return within {self._timeout_s:g} s; raise its timeout or look at why it hangs"
            )
        return self._future.result()

    def outcome(self) -> CallOutcome[Result]:
        """Wait until the deadline, and return the outcome."""
        value: Result | None = None
        failure: Exception | None = None
        try:
            value = self.result()
        except Exception as error:  # noqa: BLE001 - the outcome carries it and the caller decides
            failure = error
        return CallOutcome(value, failure, self._ends_at - self._begins_at)


def call_with_deadline(function: Callable[[], Result], *, timeout_s: float, stage: str) -> Result:
    """Call a function in a daemon thread with a time limit.

    Later results are dropped.
    """
    if timeout_s <= 0:
        raise DeadlineExceededError(f"{stage} was not started: no time was left for it")
    call = _Call(function, timeout_s=timeout_s, stage=stage)
    call.start()
    return call.result()


def run_concurrently(
    calls: Mapping[str, Callable[[], Any]], *, timeouts_s: Mapping[str, float]
) -> dict[str, CallOutcome[Any]]:
    """Run several calls at the same time, each under its own deadline."""
    running = {name: _Call(function, timeout_s=timeouts_s[name], stage=name) for name, function in calls.items()}
    for call in running.values():
        call.start()
    return {name: call.outcome() for name, call in running.items()}
