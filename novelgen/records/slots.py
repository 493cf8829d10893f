"""Slots: facts of which an entity has one value at a time, such as `C2.identity` and `I1.holder`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

_SLOT = re.compile(r"(?P<entity>[^\s.]+)\.(?P<attribute>[^\s.][^.]*)")

Place = tuple[int, int]
"""Chapter and scene; what has no position stands at (-1, -1), before everything."""


class SlotHolder(NamedTuple):
    """A memory that holds a slot, and where the story puts it there."""

    place: Place
    source_id: str


def slot_of(entity_id: str, attribute: str) -> str:
    """Return the name of an entity's slot."""
    return f"{entity_id}.{attribute}"


def split_slot(slot: str) -> tuple[str, str] | None:
    """Return entity and attribute of a slot, or None when it is not written `entity.attribute`."""
    match = _SLOT.fullmatch(slot.strip())
    return (match["entity"], match["attribute"].strip()) if match else None


def closed_by(holders: Sequence[SlotHolder], place: Place) -> str | None:
    """Return what took a slot over from a memory, or None while it still holds.

    A new value closes the old one at its position; values at one position stand side by side.

    Args:
        holders: The memories of one slot that are visible, in order of place.
        place: Where the memory in question stands.

    Returns:
        The source id of the first holder at a strictly later place.
    """
    later = bisect_right(holders, place, key=lambda holder: holder.place)
    return holders[later].source_id if later < len(holders) else None
