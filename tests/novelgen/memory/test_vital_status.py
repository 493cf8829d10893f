"""Telling the dead from the living by words of a state."""

from typing import Any

import pytest

from novelgen.memory.attributes import is_death, is_return_to_life

SAID: list[tuple[str, Any, str]] = [
    ("status", "dead", "death"),
    ("status", "Dead by heart failure and fall in quarrel with Major Sholto, body hidden", "death"),
    ("physical_state", "killed by the fall", "death"),
    ("alive", False, "death"),
    ("alive", "no", "death"),
    ("status", "被八戒打死", "death"),
    ("status", "已死，葬于山下", "death"),
    ("status", "四月已死（保密）", "death"),
    ("status", "圆寂", "death"),
    ("status", "dead tired", "neither"),
    ("status", "believed innocent of the murder", "neither"),
    ("status", "mourns the dead", "neither"),
    ("status", "从者已死，孤身被擒", "neither"),
    ("status", "死里逃生", "life"),
    ("status", "死心塌地", "neither"),
    ("status", ["dead"], "neither"),
    ("knowledge", "dead", "neither"),
    ("goals", "survived", "neither"),
    ("status", None, "neither"),
    ("status", "dead to the world, but alive", "life"),
    ("status", "alive after all", "life"),
    ("status", "a ghost", "life"),
    ("status", "死而复生", "life"),
    ("status", "复活，二十三果", "life"),
    ("alive", True, "life"),
]


@pytest.mark.parametrize(("attribute", "value", "told"), SAID)
def test_a_status_that_begins_with_it_tells_a_death_or_a_return_to_life(attribute: str, value: Any, told: str) -> None:
    """A death of others, a figure of speech, another attribute or another shape tells neither."""
    assert is_death(attribute, value) is (told == "death")
    assert is_return_to_life(attribute, value) is (told == "life")
