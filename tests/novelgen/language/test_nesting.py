"""Depth of data."""

from typing import Any

import pytest

from novelgen.language.normalise import is_deeper


@pytest.mark.parametrize(
    ("value", "levels"), [(1, 0), ("[[", 0), ([], 1), ({"a": [1]}, 2), ([[], [{}]], 3), ([None, [[[]]]], 4)]
)
def test_levels_of_lists_and_mappings_count(value: Any, levels: int) -> None:
    """A list has one level, a list in it another; texts and numbers have none."""
    assert not is_deeper(value, than=levels)
    assert levels == 0 or is_deeper(value, than=levels - 1)
