"""Project ids are plain strings."""

from typing import Any

import pytest

from novelgen.errors import InvalidProjectIdError
from novelgen.models.position import require_project_id


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
