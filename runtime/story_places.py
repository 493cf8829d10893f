"""The forms in which Python programs give a point of a story."""

from __future__ import annotations

from novelgen.models.position import StoryPosition

Place = StoryPosition | tuple[int, int] | int | None
"""A point of the story: `(5, 4)` on entering scene 4 of chapter 5, `5` on entering chapter 5, None after the end."""


def position_of(place: Place) -> StoryPosition | None:
    """Return the position that is meant; None means none in particular."""
    return None if place is None else required_position(place)


def required_position(place: StoryPosition | tuple[int, int] | int) -> StoryPosition:
    """Return the position that is meant.

    Raises:
        InvalidPositionError: When chapter or scene is out of bounds.
    """
    if isinstance(place, StoryPosition):
        return place
    return StoryPosition(*place) if isinstance(place, tuple) else StoryPosition(place)
