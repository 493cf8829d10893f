"""The circuit breaker refuses after failures in a row and probes after a while."""

import pytest

from novelgen.errors import VectorIndexError
from runtime.index.process import CircuitBreaker
from tests.runtime.index.conftest import FakeClock


def opened(clock: FakeClock) -> CircuitBreaker:
    breaker = CircuitBreaker(clock=clock)
    for _ in range(3):
        breaker.failed("it hung")
    return breaker


def test_it_opens_after_three_failures_in_a_row(clock: FakeClock) -> None:
    """The message says how often it failed, for how long it is left alone, and why."""
    with pytest.raises(VectorIndexError, match=r"failed 3 times in a row .* 30 more seconds; .*: it hung"):
        opened(clock).refuse_if_open()


def test_a_success_between_failures_keeps_it_closed(clock: FakeClock) -> None:
    """Only failures in a row count."""
    breaker = CircuitBreaker(clock=clock)
    for _ in range(5):
        breaker.failed("it hung")
        breaker.succeeded()
    breaker.refuse_if_open()
    assert not breaker.is_open


def test_after_the_cool_down_one_probe_is_let_through(clock: FakeClock) -> None:
    """While the probe is under way everyone else is still refused."""
    breaker = opened(clock)
    clock.now_s += 30
    breaker.refuse_if_open()
    with pytest.raises(VectorIndexError, match="0 more seconds"):
        breaker.refuse_if_open(is_probed=True)


def test_a_probe_that_works_closes_it(clock: FakeClock) -> None:
    """After one success calls pass freely."""
    breaker = opened(clock)
    clock.now_s += 30
    breaker.refuse_if_open()
    breaker.succeeded()
    breaker.refuse_if_open()
    assert not breaker.is_open


def test_a_probe_that_fails_starts_the_cool_down_anew(clock: FakeClock) -> None:
    """One failed probe is enough to refuse again."""
    breaker = opened(clock)
    clock.now_s += 30
    breaker.refuse_if_open()
    breaker.failed("it hung again")
    with pytest.raises(VectorIndexError, match="30 more seconds; last failure: it hung again"):
        breaker.refuse_if_open()
