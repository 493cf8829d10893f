"""Telling the dead from the living by words of a state."""

from typing import Any

import pytest

from novelgen.memory.attributes import is_death, is_return_to_life


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("status", "dead"),
        ("status", "Dead by heart failure and fall in quarrel with Major Sholto, body hidden"),
        ("status", "murdered"),
        ("physical_state", "killed by the fall"),
        ("alive", False),
        ("alive", "no"),
        ("status", "死亡"),
        ("status", "被八戒打死"),
        ("status", "已死，葬于山下"),
        ("status", "四月已死（保密）"),
        ("status", "圆寂"),
    ],
)
def test_deaths(attribute: str, value: Any) -> None:
    """A status that begins with the death is one."""
    assert is_death(attribute, value)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("status", "dead tired"),
        ("status", "believed innocent of the murder"),
        ("status", "mourns the dead"),
        ("status", "从者已死，孤身被擒"),
        ("status", "死里逃生"),
        ("status", "死心塌地"),
        ("status", "dead to the world, but alive"),
        ("status", ["dead"]),
        ("knowledge", "dead"),
        ("alive", True),
        ("status", None),
    ],
)
def test_no_deaths(attribute: str, value: Any) -> None:
    """A death of others, a figure of speech, another attribute or another shape is none."""
    assert not is_death(attribute, value)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("status", "alive after all"),
        ("status", "a ghost"),
        ("status", "死而复生"),
        ("status", "复活，二十三果"),
        ("alive", True),
    ],
)
def test_returns(attribute: str, value: Any) -> None:
    """Who lives after all, or walks as a ghost, is told."""
    assert is_return_to_life(attribute, value)


@pytest.mark.parametrize(("attribute", "value"), [("status", "dead"), ("goals", "survived"), ("alive", "no")])
def test_no_returns(attribute: str, value: Any) -> None:
    """Nothing else says so."""
    assert not is_return_to_life(attribute, value)
