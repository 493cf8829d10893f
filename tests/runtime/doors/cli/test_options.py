"""Positions as they are typed."""

import click
import pytest

from runtime.doors.cli.parameters import POSITION


@pytest.mark.parametrize("typed", ["3:2", "3", "0:0", "S001"])
def test_a_position_is_chapter_and_scene_or_chapter(typed: str) -> None:
    """`3:2` is on entering a scene, `3` on entering a chapter; the story reads it, and the id of a scene."""
    assert POSITION.convert(typed, None, None) == typed


@pytest.mark.parametrize("typed", ["", "x", "3:", ":2", "1:2:3", "-1", "1.5", "٣"])
def test_anything_else_is_no_position(typed: str) -> None:
    """What is not one or two plain numbers is refused, and the right form is shown."""
    with pytest.raises(click.BadParameter, match="write chapter:scene such as 3:2"):
        POSITION.convert(typed, None, None)
