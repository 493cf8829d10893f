"""The commands of operations: `operation_commands.toml` as data, with the parts of `command_parts` that are code."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runtime.doors.cli.command_parts import (
    changes,
    characters,
    entities,
    knowledge,
    lore,
    memories,
    relationships,
    scene_times,
    scenes,
    threads,
)
from runtime.doors.cli.command_view import PARTS, View, cells_of

VIEW_MODULES = (changes, characters, entities, knowledge, lore, memories, relationships, scene_times, scenes, threads)
"""Modules with the parts that `does` registers."""


@dataclass(frozen=True, kw_only=True)
class OperationCommand:
    """The command part of an operation.

    Args:
        command: The words that call it.
        example: Lines of examples, without the program's name.
        help: Its help, where a method's own is none for people.
        by_position: Arguments by position; None takes those that are required.
        takes_path: Whether the file of `text` is given by position, too, as PATH.
        spellings: Argument to the option by which it is given, where that is not its name.
        without: Arguments that the command does not take.
        more: Options of the view, which the method does not have.
        asks: What is looked up before a question: an operation, or a function of view and arguments.
        before: Completes the arguments.
        run: What is done in place of the method.
        pairs: Names and values that are shown of the result.
        columns: Columns of the table that is shown, by their headings.
        rows: Where its rows are.
        show: Shows the rest.
        is_long: Whether what it shows has long tables.
        json: Makes of the result what is printed as JSON, where that is not what other doors answer.
        aside: Says on stderr what there is to know, with `--json` too.
    """

    command: str
    example: str = ""
    help: str = ""
    by_position: tuple[str, ...] | None = None
    takes_path: bool = False
    spellings: Mapping[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    more: Sequence[Mapping[str, Any]] = ()
    asks: str | Callable[[View, Mapping[str, Any]], Any] = ""
    before: Callable[[View, dict[str, Any]], None] | None = None
    run: Callable[[View], Any] | None = None
    pairs: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    rows: str | Callable[[Any, View], Iterable[Any]] = ""
    show: Callable[[Any, View], None] | None = None
    is_long: bool = False
    json: Callable[[Any, View], Any] | None = None
    aside: Callable[[Any, View], None] | None = None


def _operation_command(name: str, fields: dict[str, Any]) -> OperationCommand:
    cells: dict[str, Any] = {kind: cells_of(fields[kind]) for kind in ("pairs", "columns") if kind in fields}
    return OperationCommand(**fields | cells | PARTS.get(name, {}))


_FIELDS_BY_OPERATION: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)

SECTIONS: dict[str, list[str]] = _FIELDS_BY_OPERATION.pop("sections")
"""The commands by the sections of the program's help."""

GROUPS: dict[str, str] = _FIELDS_BY_OPERATION.pop("groups")
"""Help of groups of commands."""

SPELLINGS: dict[str, str] = _FIELDS_BY_OPERATION.pop("spellings")
"""Argument to the option by which commands take it, in place of its own name."""

OTHER_COMMANDS: dict[str, str] = _FIELDS_BY_OPERATION.pop("other_commands")
"""Commands that are made of no operation, to the operation that does the same."""

OPERATION_COMMANDS = {name: _operation_command(name, fields) for name, fields in _FIELDS_BY_OPERATION.items()}
"""By the name of the operation."""
