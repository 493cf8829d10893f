"""Filling the budget for memories."""

import pytest

from novelgen.memory.budget import Priced, fill


def test_a_taken_passage_lifts_those_that_stand_beside_it() -> None:
    """By less than the points it comes before what was better, and each side counts; one not given lifts nothing."""
    priced = {name: Priced(gain, 10) for name, gain in (("a", 9.0), ("b", 8.0), ("c", 7.5), ("d", 7.2))}
    beside = {"a": ("c",), "b": ("c", "d"), "c": ("a", "b"), "d": ("b",)}
    assert fill(priced, 40, lambda _: None).taken == ("a", "b", "c", "d")
    assert fill(priced, 20, lambda _: None, beside=beside, beside_points=0.6).taken == ("a", "c")
    lifted = fill(priced, 30, lambda _: None, beside={"a": ("d",), "b": ("d",)}, beside_points=0.4)
    assert (lifted.taken, lifted.no_room) == (("a", "b", "d"), ("c",))
    assert lifted.lifted == {"d": pytest.approx(0.8)}
    priced = {"long": Priced(9.0, 50), "near": Priced(7.0, 10), "far": Priced(7.5, 10)}
    filling = fill(priced, 10, lambda _: None, beside={"long": ("near",)}, beside_points=2.0)
    assert filling.taken == ("far",)
