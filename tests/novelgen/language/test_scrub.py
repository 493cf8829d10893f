"""What comes from outside is cleaned, and too deep data told."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from novelgen.errors import UserInputError
from novelgen.language.normalise import is_deeper, require_size, scrub_text, scrub_tree

ANY_TEXT = st.text(st.characters())


@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("\ufeffOnce", "Once"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("a\x00b\x1b[0m", "ab[0m"),
        ("lone \ud800 half", "lone  half"),
        ("\u202eevil\u202c", "evil"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("行者 😀 ok", "行者 😀 ok"),
    ],
)
def test_what_no_story_needs_goes(dirty: str, clean: str) -> None:
    """Controls, halves of characters, direction and byte order marks go, and everything else stays."""
    assert scrub_text(dirty) == clean


@given(ANY_TEXT)
def test_scrubbed_text_can_be_encoded_and_stays(text: str) -> None:
    """Whatever comes in, the result is valid UTF-8, and scrubbing it again changes nothing."""
    clean = scrub_text(text)
    assert clean.encode("utf-8").decode("utf-8") == clean
    assert scrub_text(clean) == clean


def test_every_text_of_plain_data_is_scrubbed() -> None:
    """However deep, what is no text stays; a text over the limit is refused with what, how long and how much."""
    dirty = {"a\x00": ["b\ud800", {"c": "d\u202e"}], "n": 1, "none": None, "yes": True}
    assert scrub_tree(dirty) == {"a": ["b", {"c": "d"}], "n": 1, "none": None, "yes": True}
    require_size("a" * 10, "scene 1", limit_characters=10)
    with pytest.raises(UserInputError, match=r"scene 1 has 11 characters, more than the limit of 10"):
        require_size("a" * 11, "scene 1", limit_characters=10)


@pytest.mark.parametrize(
    ("value", "levels"), [(1, 0), ("[[", 0), ([], 1), ({"a": [1]}, 2), ([[], [{}]], 3), ([None, [[[]]]], 4)]
)
def test_levels_of_lists_and_mappings_count(value: Any, levels: int) -> None:
    """A list has one level, a list in it another; texts and numbers have none."""
    assert not is_deeper(value, than=levels)
    assert levels == 0 or is_deeper(value, than=levels - 1)
