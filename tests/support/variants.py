"""Variants of a test, of which the core ones run always and the others in the thorough run alone."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest


def variants(values: Iterable[Any], core: int | Sequence[Any] = 1) -> list[Any]:
    """Return values for `parametrize`, with the mark `thorough` on all but the core ones.

    Args:
        values: Values of one parameter, tuples of several, or what `pytest.param` returns.
        core: How many of the first ones every run takes, or these values themselves.
    """
    listing = list(values)
    core_values = listing[:core] if isinstance(core, int) else core
    return [value if value in core_values else _thorough(value) for value in listing]


def _thorough(value: Any) -> Any:
    if isinstance(value, type(pytest.param())):
        return pytest.param(*value.values, marks=[*value.marks, pytest.mark.thorough], id=value.id)
    return pytest.param(*(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.thorough)
