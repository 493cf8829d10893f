"""Every command and every exit code stands in the README."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from runtime.cli.error_handling import ExitCode
from runtime.cli.main import novelgen

README = Path(__file__).parents[1] / "README.md"


def command_names() -> list[tuple[str, str]]:
    """Return (command, subcommand) of all commands; the subcommand is empty for one that has none."""
    context = click.Context(novelgen)
    names: list[tuple[str, str]] = []
    for name in novelgen.list_commands(context):
        command = novelgen.get_command(context, name)
        parts = command.commands if isinstance(command, click.Group) else {"": command}
        names += [(name, part) for part in parts]
    return names


@pytest.mark.parametrize(("command", "subcommand"), command_names())
def test_every_command_is_in_the_table_of_commands(command: str, subcommand: str) -> None:
    """A row of the README's table begins with the command and names its subcommand."""
    rows = [row for row in README.read_text(encoding="utf-8").splitlines() if row.startswith("| `")]
    usages = [row.split("` |")[0] for row in rows if re.match(rf"\| `novelgen {command}[ `]", row)]
    assert usages, f"README.md has no row for `novelgen {command}`"
    assert any(re.search(rf"\b{subcommand}\b", usage) for usage in usages)


@pytest.mark.parametrize("code", list(ExitCode))
def test_every_exit_code_is_explained(code: ExitCode) -> None:
    """The README names each exit code."""
    assert re.search(rf"(?i)exit codes?[^|]*\b{code.value}\b", README.read_text(encoding="utf-8"))
