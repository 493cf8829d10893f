"""How news travels: whom it reaches, and how long it takes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from novelgen.characters.given_event import people_named
from novelgen.errors import UserInputError

Delay = timedelta | int
"""A time, or turns of the game."""


class Arrival(NamedTuple):
    """When news reaches somebody."""

    name: str
    delay: Delay


def arrivals(
    told_to: str | Sequence[str] | Mapping[str, float],
    *,
    delay: Delay = timedelta(0),
    delay_per_distance: Delay | None = None,
    max_distance: float | None = None,
) -> list[Arrival]:
    """Return whom news reaches and when, the nearest first."""
    step = delay if delay_per_distance is None else delay_per_distance
    for name, value in (("delay", delay), ("delay_per_distance", step)):
        if not isinstance(value, timedelta) and type(value) is not int:
            raise UserInputError(f"{name}={value!r} is none; pass a timedelta, or a whole number of turns")
    if type(step) is not type(delay):
        raise UserInputError(
            f"delay={delay!r} and delay_per_distance={step!r} must both be times, or both turns of the game"
        )
    distances = dict(told_to) if isinstance(told_to, Mapping) else dict.fromkeys(people_named(told_to), 0.0)
    _refuse_negative(delay, step, distances)
    near = sorted(distances.items(), key=lambda each: each[1])
    return [
        Arrival(name, _sum(delay, step, distance))
        for name, distance in near
        if max_distance is None or distance <= max_distance
    ]


def _refuse_negative(delay: Delay, step: Delay, distances: Mapping[str, float]) -> None:
    for value in (delay, step):
        amount = value.total_seconds() if isinstance(value, timedelta) else value
        if amount < 0:
            raise UserInputError(f"a delay of {value!r} lies before the event; pass one from 0 on")
    for name, distance in distances.items():
        if not math.isfinite(distance) or distance < 0:
            raise UserInputError(f"distance {distance!r} of {name!r} is none; pass a number from 0 on")


def _sum(delay: Delay, step: Delay, distance: float) -> Delay:
    if isinstance(delay, timedelta):
        return delay + (step * distance if isinstance(step, timedelta) else timedelta(0))
    return delay + (math.ceil(step * distance) if isinstance(step, int) else 0)
