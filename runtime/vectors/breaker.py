"""A circuit breaker: after repeated failures callers are refused at once, until one probe succeeds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from novelgen.errors import VectorIndexError


class CircuitBreaker:
    """Counts failures in a row and refuses calls while the index is known to be broken.

    Args:
        failure_limit: Failures in a row after which calls are refused, at least 1.
        cool_down_s: Seconds for which calls are refused before one probe is let through.
        clock: Monotonic seconds; tests pass their own.
    """

    def __init__(
        self,
        *,
        failure_limit: int = 3,
        cool_down_s: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._failure_limit = failure_limit
        self._cool_down_s = cool_down_s
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = 0
        self._last_reason = ""
        self._opened_at: float | None = None
        self._probing = False

    @property
    def is_open(self) -> bool:
        """Whether calls are refused at the moment, but for a probe."""
        return self._opened_at is not None

    def refuse_if_open(self) -> None:
        """Refuse the caller at once while the breaker is open and no probe is due.

        Raises:
            VectorIndexError: The breaker is open; the message names the last failure and the wait.
        """
        with self._lock:
            self._refuse_if_open()

    def admit(self) -> None:
        """Let one call through, as the probe when the cool-down is over.

        Each admitted call must be followed by exactly one of `succeeded`, `failed` or `abandoned`.

        Raises:
            VectorIndexError: The breaker is open; the message names the last failure and the wait.
        """
        with self._lock:
            self._refuse_if_open()
            self._probing = self._opened_at is not None

    def succeeded(self) -> None:
        """Note that an admitted call worked: the breaker closes."""
        with self._lock:
            self._failures, self._opened_at, self._probing = 0, None, False

    def failed(self, reason: str) -> None:
        """Note that an admitted call failed.

        Args:
            reason: What to tell those who are refused.
        """
        with self._lock:
            self._failures += 1
            self._last_reason = reason
            self._probing = False
            if self._failures >= self._failure_limit:
                self._opened_at = self._clock()

    def abandoned(self) -> None:
        """Note that an admitted call ended without telling anything about the index."""
        with self._lock:
            self._probing = False

    def _refuse_if_open(self) -> None:
        if self._opened_at is None:
            return
        wait_s = self._opened_at + self._cool_down_s - self._clock()
        if wait_s <= 0 and not self._probing:
            return
        raise VectorIndexError(
            f"the vector index failed {self._failures} times in a row and is left alone for "
            f"{max(wait_s, 0):.0f} more seconds; last failure: {self._last_reason}"
        )
