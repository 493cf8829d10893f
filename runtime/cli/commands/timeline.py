"""`novelgen timeline`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from runtime.cli.parameters import CliSession, as_of_option, json_option, project_argument

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition


@click.command(epilog="\b\nExample:\n  novelgen timeline my-novel --chapter 4 --window 1")
@project_argument
@click.option("--chapter", type=click.IntRange(min=0), required=True, help="Chapter in the middle.")
@click.option(
    "--window",
    type=click.IntRange(min=0, max=100),
    default=2,
    show_default=True,
    help="Chapters before and after it.",
)
@as_of_option
@json_option
@click.pass_obj
def timeline(
    session: CliSession, project: str, chapter: int, window: int, as_of: StoryPosition | None, as_json: bool
) -> None:
    """Show how entities stood around one chapter.

    One row per entity and chapter in which it changed, as it stood at the end of that chapter.
    """
    from runtime.cli.actions.timeline import show_timeline

    show_timeline(session, project, chapter=chapter, window=window, as_of=as_of, as_json=as_json)
