"""Every command and every exit code stands in the pages."""

import re

import click
import pytest

from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.main import novelgen
from runtime.doors.operations import OPERATIONS, Operation
from tests.docs.pages import ROOT, text_of

COMMAND_LINE = text_of("docs/reference/command-line.md")


def command_names() -> list[tuple[str, str]]:
    """Return (command, subcommand) of all commands; the subcommand is empty for one that has none."""
    context = click.Context(novelgen)
    names: list[tuple[str, str]] = []
    for name in novelgen.list_commands(context):
        command = novelgen.get_command(context, name)
        if command is None or command.hidden:
            continue
        parts = command.list_commands(context) if isinstance(command, click.Group) else [""]
        names += [(name, part) for part in parts]
    return names


@pytest.mark.parametrize(("command", "subcommand"), command_names())
def test_every_command_is_in_the_table_of_commands(command: str, subcommand: str) -> None:
    """A row of the table begins with the command and names its subcommand."""
    rows = [row for row in COMMAND_LINE.splitlines() if row.startswith("| `")]
    usages = [row.split("` |")[0] for row in rows if re.match(rf"\| `novelgen {command}[ `]", row)]
    assert usages, f"docs/reference/command-line.md has no row for `novelgen {command}`"
    assert any(re.search(rf"\b{subcommand}\b", usage) for usage in usages)


@pytest.mark.parametrize("operation", [each for each in OPERATIONS if each.http], ids=lambda each: each.name)
def test_every_route_is_on_the_page_of_the_server(operation: Operation) -> None:
    """The table of routes names each part of an address; the Chinese edition names the same (`test_editions.py`)."""
    named = set(
        re.findall(r"[a-z-]+", text_of("docs/reference/http.md").partition("## Routes")[2].partition("**Streams**")[0])
    )
    assert set(re.findall(r"[a-z-]+", re.sub(r"{\w+}", "", operation.http.partition(" ")[2]))) <= named


@pytest.mark.parametrize("code", list(ExitCode))
def test_every_exit_code_is_explained(code: ExitCode) -> None:
    """The page of the command line names each exit code."""
    assert re.search(rf"(?i)exit codes?[^|]*\b{code.value}\b", COMMAND_LINE)


@pytest.mark.parametrize("package", ["novelgen", "runtime"])
def test_every_room_is_in_the_architecture(package: str) -> None:
    """A newcomer finds each folder of the code on the page that explains them, and no folder that is gone."""
    rooms = {each.parent.name for each in (ROOT / package).glob("*/__init__.py")}
    table = text_of("docs/explanation/architecture.md").partition(f"| `{package}/` |")[2].partition("\n\n")[0]
    told = set(re.findall(r"`(\w+)`", "\n".join(row.split("|")[1] for row in table.splitlines()[2:])))
    assert told == rooms
