"""Arguments and options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition

# Longer numbers are out of bounds anyway, and Python refuses to read very long ones.
_NUMBER = re.compile(r"[0-9]{1,12}")
F = TypeVar("F", bound=Callable[..., Any])


class PositionType(click.ParamType):
    """A story position as it is typed: `3:2` is on entering scene 2 of chapter 3, `3` on entering chapter 3."""

    name = "C:S"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> StoryPosition:
        """Return the position.

        Raises:
            BadParameter: When the text is not one or two whole numbers.
            InvalidPositionError: When a number is out of bounds.
        """
        from novelgen.models.position import StoryPosition  # noqa: PLC0415 - brings pydantic

        if isinstance(value, StoryPosition):
            return value
        parts = str(value).split(":")
        if len(parts) > 2 or not all(_NUMBER.fullmatch(part) for part in parts):
            self.fail(
                f"{str(value)[:80]!r} is no position; write chapter:scene such as 3:2, or a chapter such as 3"
            )
        return StoryPosition(*(int(part) for part in parts))


POSITION = PositionType()
FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)
COUNT = click.IntRange(min=1)
TOKENS = click.IntRange(min=0, max=1_000_000)


def project_argument(command: F) -> F:
    """Give a command the argument PROJECT."""
    return click.argument("project")(command)


def json_option(command: F) -> F:
    """Give a command the flag `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else, on stdout.")(
        command
    )


def as_of_option(command: F) -> F:
    """Give a command the option `--as-of`."""
    return click.option(
        "--as-of",
        type=POSITION,
        help="Read on entering that scene: only what lies before it.  [default: the end of the story]",
    )(command)
