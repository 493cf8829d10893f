"""Story position, the clock of the system, and project ids, which are plain strings."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novelgen.errors import InvalidPositionError, InvalidProjectIdError
from novelgen.models.position import END_OF_STORY, StoryPosition, require_project_id

places = st.tuples(st.integers(0, 30), st.integers(0, 30))


def test_entering_admits_only_what_lies_strictly_before() -> None:
    """A scene, a chapter, the end; what has no position is visible everywhere, what covers a chapter after it."""
    position = StoryPosition(3, 2)
    assert position.admits(3, 1)
    assert position.admits(2, 99)
    assert not position.admits(3, 2)
    assert not position.admits(3, 3)
    assert not position.admits(4, 0)
    position = StoryPosition(3)
    assert position.admits(2, 50)
    assert not position.admits(3, 0)
    assert END_OF_STORY.admits(1_000, 1_000)
    assert StoryPosition(0, 0).admits(None, None)
    assert not StoryPosition(3, 9).admits(3, None)
    assert StoryPosition(4, 1).admits(3, None)


def test_a_scene_without_a_chapter_is_refused() -> None:
    """A scene index alone is an error that names it."""
    with pytest.raises(InvalidPositionError, match="scene_index=4"):
        StoryPosition(None, 4)


@pytest.mark.parametrize(
    ("chapter", "scene", "named"),
    [
        (-1, 1, "chapter_index=-1"),
        (1, -1, "scene_index=-1"),
        (1_000_001, 1, "chapter_index=1000001"),
        ("3", 1, "chapter_index='3'"),
        (True, 1, "chapter_index=True"),
    ],
)
def test_numbers_out_of_bounds_are_refused(chapter: Any, scene: Any, named: str) -> None:
    """Negative, absurd and non-integer numbers are errors that name the value."""
    with pytest.raises(InvalidPositionError, match=named):
        StoryPosition(chapter, scene)


@given(places, places)
def test_order_agrees_with_what_a_position_admits(first: tuple[int, int], second: tuple[int, int]) -> None:
    """A scene is admitted exactly when its position is smaller."""
    assert StoryPosition(*second).admits(*first) == (StoryPosition(*first) < StoryPosition(*second))


def test_order_of_chapter_scene_and_end() -> None:
    """Entering a chapter comes before its first scene, the end last; messages show 3:2, 3 and end."""
    ordered = [StoryPosition(1), StoryPosition(1, 0), StoryPosition(1, 5), StoryPosition(2), END_OF_STORY]
    shuffled = [ordered[index] for index in (3, 0, 4, 2, 1)]
    assert sorted(shuffled) == ordered
    assert [str(StoryPosition(3, 2)), str(StoryPosition(3)), str(END_OF_STORY)] == ["3:2", "3", "end"]


@pytest.mark.parametrize("name", ["demo", "my-novel_2", "西游记", "A tale v1.2", "émigré"])
def test_plain_names_of_every_script_pass(name: str) -> None:
    """Letters of every script, digits, spaces, dashes and inner dots are fine."""
    assert require_project_id(name) == name


NOT_STRINGS = [None, 3, {"$ne": ""}, ["a"], b"a"]
BLANK = ["", "  ", " a", "a "]
PATHS = ["../x", "a/b", "a\\b", "/etc", "C:", "..", ".", ".a", "a."]
DEVICES = ["nul", "CON.txt"]
UNPRINTABLE = ["a\x00b", "a\nb", "a*", "x" * 101, "汉" * 90, "a\u202eb", "a\ud800"]


@pytest.mark.parametrize("value", [*NOT_STRINGS, *BLANK, *PATHS, *DEVICES, *UNPRINTABLE])
def test_everything_else_is_refused_by_name(value: Any) -> None:
    """Filters, None, empty and path-like ids are refused with the value in the message."""
    with pytest.raises(InvalidProjectIdError, match="project_id"):
        require_project_id(value)


def test_decomposed_and_composed_letters_are_one_id() -> None:
    """The same name typed on two systems is the same project."""
    assert require_project_id("e\u0301migre\u0301") == require_project_id("\u00e9migr\u00e9")
