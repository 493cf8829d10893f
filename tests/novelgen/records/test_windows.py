"""Windows over long scenes."""

from __future__ import annotations

from itertools import pairwise

import pytest

from novelgen.errors import UserInputError
from novelgen.records.merge import reading_windows

LONG = " ".join(f"Sentence number {number} tells of the sea." for number in range(200))
LONG_ZH = "".join(f"第{number}句说的是海上的风浪。" for number in range(200))


@pytest.mark.parametrize("text", [LONG, LONG_ZH])
def test_windows_are_bounded_overlap_and_cover_everything(text: str) -> None:
    """No window is too long, each begins before the one before it ends, and together they hold the scene."""
    windows = reading_windows(text, window_characters=600, overlap_sentences=2)
    assert len(windows) > 2
    assert all(window.end - window.start <= 600 for window in windows)
    assert all(later.start < earlier.end for earlier, later in pairwise(windows))
    assert (windows[0].start, windows[-1].end) == (0, len(text))


def test_a_scene_that_fits_is_one_window() -> None:
    """Nothing is cut that can be read at once."""
    assert reading_windows("Short.\n\nScene.", window_characters=200) == [(0, 14)]


def test_a_blank_scene_has_no_window() -> None:
    """There is nothing to read in white space."""
    assert reading_windows(" \n ") == []


def test_a_size_below_one_is_refused() -> None:
    """The size must hold something."""
    with pytest.raises(UserInputError, match="target_characters=0"):
        reading_windows("Some text.", window_characters=0)
