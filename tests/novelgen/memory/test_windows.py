"""Windows over long scenes."""

from itertools import pairwise

import pytest

from novelgen.language.sentences import OVERLAP_SENTENCES, SHARE_OF_A_TAIL, reading_windows

LONG = " ".join(f"Sentence number {number} tells of the sea." for number in range(200))
LONG_ZH = "".join(f"第{number}句说的是海上的风浪。" for number in range(200))


@pytest.mark.parametrize("text", [LONG, LONG_ZH])
def test_windows_are_bounded_and_tell_everything_once(text: str) -> None:
    """No window is too long, none overlaps another, and only white space lies between them."""
    windows = reading_windows(text, window_characters=600)
    assert len(windows) > 2
    assert all(window.end - window.start <= 600 for window in windows[:-1])
    assert all(not text[earlier.end : later.start].strip() for earlier, later in pairwise(windows))
    assert all(later.start >= earlier.end for earlier, later in pairwise(windows))
    assert (windows[0].start, windows[-1].end) == (0, len(text))


@pytest.mark.parametrize(("text", "of_last"), [(LONG, " tells of the sea. "), (LONG_ZH, "句说的是海上的风浪。")])
def test_a_window_is_shown_the_sentences_before_it(text: str, of_last: str) -> None:
    """The context of a window is the last sentences of the one before."""
    first, *later = reading_windows(text, window_characters=1200)
    assert first.context_start == first.start
    for window in later:
        assert text[window.context_start : window.start].count(of_last) == OVERLAP_SENTENCES


def test_context_is_bounded() -> None:
    """Never more than a sixth of a window."""
    text = " ".join(f"Sentence {number} is {'very ' * 40}long." for number in range(20))
    assert all(each.context_start == each.start for each in reading_windows(text, window_characters=600))


def test_a_tiny_tail_is_read_with_the_window_before() -> None:
    """No prompt is spent on a last sentence."""
    text = f"{LONG[:590]} Very end. Of it."
    [window] = reading_windows(text, window_characters=595)
    assert (window.start, window.end) == (0, len(text))
    assert window.end - window.start < 595 * (1 + SHARE_OF_A_TAIL)


def test_a_scene_that_fits_is_one_window() -> None:
    """Nothing is cut that can be read at once, and in white space there is nothing to read."""
    assert reading_windows("Short.\n\nScene.", window_characters=200) == [(0, 14, 0)]
    assert reading_windows(" \n ") == []
