"""Slots that hold one value at a time."""

import pytest

from novelgen.memory.attributes import SlotHolder, closed_by, slot_of, split_slot

HOLDERS = [SlotHolder((1, 2), "M1"), SlotHolder((2, 1), "M2"), SlotHolder((2, 1), "M3"), SlotHolder((4, 1), "M4")]


@pytest.mark.parametrize(
    ("place", "closer"), [((1, 2), "M2"), ((2, 1), "M4"), ((3, 9), "M4"), ((4, 1), None), ((-1, -1), "M1")]
)
def test_the_next_value_closes_a_slot(place: tuple[int, int], closer: str | None) -> None:
    """The first value at a strictly later place takes over; values at one place stand side by side."""
    assert closed_by(HOLDERS, place) == closer


def test_an_empty_slot_is_open() -> None:
    """Without holders nothing is closed, and a slot is written as it is read: entity and attribute."""
    assert closed_by([], (1, 1)) is None
    assert split_slot(slot_of("I1", "holder")) == ("I1", "holder")


@pytest.mark.parametrize("slot", ["", "holder", "I1.", ".holder", "I 1.holder", "a.b.c"])
def test_other_writings_are_no_slots(slot: str) -> None:
    """What is not entity and attribute is nothing."""
    assert split_slot(slot) is None
