"""`novelgen note`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from runtime.cli.parameters import POSITION, CliSession, project_argument

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition


@click.command(
    epilog='\b\nExamples:\n  novelgen note my-novel "Nobody in this story can swim."\n'
    '  novelgen note my-novel "The bridge is gone." --from 4:1'
)
@project_argument
@click.argument("text")
@click.option("--from", "start", type=POSITION, help="Read from that scene on.  [default: everywhere]")
@click.option(
    "--entity", "entities", multiple=True, help="Id or name of whom it is about; may be given repeatedly."
)
@click.pass_obj
def note(
    session: CliSession, project: str, text: str, start: StoryPosition | None, entities: tuple[str, ...]
) -> None:
    """Add a fact of your own that holds in the story: canon."""
    from runtime.cli.actions.memories import add_note

    add_note(session, project, text, start=start, entities=entities)
