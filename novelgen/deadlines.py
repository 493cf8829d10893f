"""Calls that must not take longer than they may.

A call runs in a daemon thread of its own: Python cannot stop a thread, so one that hangs is left behind,
and a daemon never keeps the interpreter from exiting (a thread pool would).
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from novelgen.errors import DeadlineExceededError

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Deadline:
    """The moment by which a call must be back, passed down to whatever it calls.

    Args:
        ends_at: Of `time.monotonic`.
    """

    ends_at: float

    @classmethod
    def after(cls, timeout_s: float) -> Deadline:
        """Return the moment so many seconds from now."""
        return cls(time.monotonic() + timeout_s)

    @property
    def remaining_s(self) -> float:
        """Seconds that are left, never below zero."""
        return max(0.0, self.ends_at - time.monotonic())


@dataclass(frozen=True, slots=True)
class CallOutcome(Generic[Result]):
    """What became of one call: its value, or the error that it raised.

    `error` is None exactly when the call returned in time.
    """

    value: Result | None
    error: Exception | None
    elapsed_s: float


class _RunningCall(Generic[Result]):
    """A call that runs in a daemon thread, within a copy of the caller's context variables."""

    def __init__(self, function: Callable[[], Result], *, timeout_s: float, stage: str) -> None:
        self._function = function
        self._timeout_s = timeout_s
        self._stage = stage
        self._started = time.monotonic()
        self._finished = self._started + timeout_s
        self._future: Future[Result] = Future()
        run_in_context = contextvars.copy_context().run
        thread_name = f"novelgen-{stage}"
        threading.Thread(target=run_in_context, args=(self._run,), name=thread_name, daemon=True).start()

    @property
    def elapsed_s(self) -> float:
        """Seconds from start to finish; the whole timeout while the call has not come back."""
        return self._finished - self._started

    def result(self) -> Result:
        """Wait for the value until the deadline; raises what the call raised."""
        remaining_s = self._started + self._timeout_s - time.monotonic()
        done, _ = wait([self._future], timeout=max(0.0, remaining_s))
        if not done:
            raise DeadlineExceededError(
                f"{self._stage} did not return within {self._timeout_s:g} s; "
                "raise its timeout or look at why it hangs"
            )
        return self._future.result()

    def _run(self) -> None:
        try:
            value = self._function()
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            self._finished = time.monotonic()
            self._future.set_exception(error)
        else:
            self._finished = time.monotonic()
            self._future.set_result(value)


def call_with_deadline(function: Callable[[], Result], *, timeout_s: float, stage: str) -> Result:
    """Call a function and wait for it no longer than given.

    The function runs in a daemon thread with a copy of the caller's context variables. After the deadline
    the thread is left behind and whatever it returns is dropped.

    Args:
        function: Takes no argument; bind them with `functools.partial`.
        timeout_s: Seconds; zero or less means that the time is already up and nothing is called.
        stage: What is being done; names the thread and stands in the error.

    Returns:
        What the function returned.

    Raises:
        DeadlineExceededError: When it did not return in time.
        BaseException: Whatever the function raised.
    """
    if timeout_s <= 0:
        raise DeadlineExceededError(f"{stage} was not started: no time was left for it")
    return _RunningCall(function, timeout_s=timeout_s, stage=stage).result()


def run_concurrently(
    calls: Mapping[str, Callable[[], Any]], *, timeouts_s: Mapping[str, float]
) -> dict[str, CallOutcome[Any]]:
    """Run several calls at the same time, each under its own deadline.

    Args:
        calls: Functions without arguments by name.
        timeouts_s: Seconds for every name in `calls`, counted from now.

    Returns:
        The outcome of every call, in the order of `calls`. What a call raised, DeadlineExceededError for a
        late one included, is in its outcome and never raised here.
    """
    running = {
        name: _RunningCall(function, timeout_s=timeouts_s[name], stage=name)
        for name, function in calls.items()
    }
    return {name: _outcome(call) for name, call in running.items()}


def _outcome(call: _RunningCall[Any]) -> CallOutcome[Any]:
    try:
        value = call.result()
    except Exception as error:  # noqa: BLE001 - the outcome carries it and the caller decides
        return CallOutcome(None, error, call.elapsed_s)
    return CallOutcome(value, None, call.elapsed_s)
