"""A click group whose commands are imported when they are asked for, listed in sections."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click

Sections = Mapping[str, Mapping[str, str]]
"""Section heading to command name to `module:attribute`."""


class LazyGroup(click.Group):
    """A group over a table of commands.

    Args:
        sections: The table; the help shows it in its order.
        **options: As for `click.Group`.
    """

    def __init__(self, *, sections: Sections, **options: Any) -> None:
        super().__init__(**options)
        self._sections = sections
        self._targets = {name: target for entries in sections.values() for name, target in entries.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands in the order of the table."""
        return list(self._targets)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command, or None when there is none of that name."""
        target = self._targets.get(cmd_name)
        if target is None:
            return None
        module_name, _, attribute = target.partition(":")
        command: click.Command = getattr(importlib.import_module(module_name), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, one list per section."""
        width = max(len(name) for name in self._targets)
        limit = formatter.width - 6 - width
        for heading, entries in self._sections.items():
            commands = [(name, self.get_command(ctx, name)) for name in entries]
            rows = [(name.ljust(width), each.get_short_help_str(limit)) for name, each in commands if each]
            with formatter.section(heading):
                formatter.write_dl(rows)
