"""The option `--dimension`: how much one character trusts, respects, likes, fears or knows another."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,6}")
F = TypeVar("F", bound=Callable[..., Any])


class DimensionType(click.ParamType):
    """A dimension and its value as they are typed: `trust=40`."""

    name = "NAME=VALUE"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        """Return the dimension and its value.

        Raises:
            BadParameter: When there is no such dimension, or the value is no whole number within its range.
        """
        from novelgen.models.state import DIMENSION_RANGES  # noqa: PLC0415 - brings pydantic

        if isinstance(value, tuple):
            return value
        name, _, number = (part.strip() for part in str(value)[:80].partition("="))
        ranges = {str(each): bounds for each, bounds in DIMENSION_RANGES.items()}
        if name not in ranges:
            self.fail(f"{name!r} is no dimension; write one of {', '.join(ranges)}, such as trust=40")
        lowest, highest = ranges[name]
        if not _WHOLE_NUMBER.fullmatch(number) or not lowest <= int(number) <= highest:
            self.fail(f"{name}={number!r} is no whole number from {lowest} to {highest}")
        return name, int(number)


def dimension_option(command: F) -> F:
    """Give a command the repeatable option `--dimension`."""
    return click.option(
        "--dimension",
        "dimensions",
        type=DimensionType(),
        multiple=True,
        help="trust, respect, affection or fear from -100 to 100, familiarity from 0 to 100; several with one "
        "--dimension each, the last of one name counts.",
    )(command)
