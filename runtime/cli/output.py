"""What a command prints: JSON for programs, tables for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click
from pydantic import BaseModel
from rich import box
from rich.console import Console
from rich.table import Table

from novelgen.text.scrub import scrub_text

PIPED_WIDTH = 100
"""Columns where the output is no terminal."""


def print_json(data: Any) -> None:
    """Print models, and lists and mappings of them, as JSON on stdout.

    Characters that the encoding of stdout lacks are escaped, so that the output is JSON everywhere.
    """
    is_unicode = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    text = json.dumps(_plain(data), indent=2, ensure_ascii=not is_unicode)
    click.echo(text.encode("utf-8", "backslashreplace").decode("utf-8"))


def print_text(text: str = "") -> None:
    """Print a line for people on stdout; control characters are left out."""
    click.echo(scrub_text(text))


def print_heading(text: str) -> None:
    """Print a heading, with an empty line before it."""
    console = _console()
    console.print()
    console.print(scrub_text(text), style="bold")


def print_table(headings: Sequence[str], rows: Iterable[Sequence[object]], *, wide: int) -> None:
    """Print a table that fits the terminal; Chinese characters count two columns.

    Args:
        headings: One per column.
        rows: Cells; None is an empty cell.
        wide: Index of the column that takes the space that is left; the others keep their words whole.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for index, heading in enumerate(headings):
        table.add_column(heading, overflow="fold", ratio=1 if index == wide else None)
    for row in rows:
        table.add_row(*("" if cell is None else scrub_text(str(cell)) for cell in row))
    _console().print(table)


def print_pairs(pairs: Mapping[str, object]) -> None:
    """Print names and values, one pair per line; None and empty values are left out."""
    given = {name: value for name, value in pairs.items() if value not in (None, "", [], {})}
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in given.items():
        table.add_row(name, scrub_text(str(value)))
    _console().print(table)


def report_line(text: str) -> None:
    """Print a line about the work itself on stderr."""
    click.echo(scrub_text(text), err=True)


def _console() -> Console:
    """Return a console for stdout that takes story text as it is, without markup of any kind."""
    width = None if sys.stdout.isatty() else PIPED_WIDTH
    return Console(file=sys.stdout, markup=False, emoji=False, highlight=False, width=width)


def _plain(data: Any) -> Any:
    if isinstance(data, BaseModel):
        return data.model_dump(mode="json")
    if isinstance(data, Mapping):
        return {key: _plain(value) for key, value in data.items()}
    return [_plain(value) for value in data] if isinstance(data, list | tuple) else data
