"""`novelgen record`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from runtime.cli.options import FILE, POSITION, project_argument
from runtime.cli.session import CliSession

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition


@click.group()
def record() -> None:
    """Look at what a scene established, and correct it.

    What you write outranks what a model extracts and stays when scenes are extracted again.
    """


@record.command(epilog="\b\nExample:\n  novelgen record show my-novel 3:2 > record.json")
@project_argument
@click.argument("place", metavar="C:S", type=POSITION)
@click.pass_obj
def show(session: CliSession, project: str, place: StoryPosition) -> None:
    """Print a scene's record as JSON.

    Memories and states whose quote does not stand in the scene are listed on the error stream.
    """
    from runtime.cli.actions.records import show_record

    show_record(session, project, place)


@record.command(
    epilog="\b\nExamples:\n  novelgen record edit my-novel 3:2\n  novelgen record edit my-novel 3:2 --file record.json"
)
@project_argument
@click.argument("place", metavar="C:S", type=POSITION)
@click.option("--file", "record_file", type=FILE, help="The new record.  [default: open $EDITOR]")
@click.pass_obj
def edit(session: CliSession, project: str, place: StoryPosition, record_file: Path | None) -> None:
    """Replace a scene's record by one that you wrote, in an editor or a file.

    What came from the old record is withdrawn; a scene without a record starts with an empty one.
    """
    from runtime.cli.actions.records import edit_record

    edit_record(session, project, place, record_file=record_file)
