"""`novelgen location`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from runtime.cli.commands.entity_group import entity_group
from runtime.cli.parameters import CliSession, from_option, project_argument

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition

location = entity_group("location", "Look at locations; add and edit them.")


@location.command(epilog='\b\nExample:\n  novelgen location add my-novel "the Light" --atmosphere lonely')
@project_argument
@click.argument("name")
@click.option("--description", default="", help="What it is, in a sentence or two.  [default: none]")
@click.option("--atmosphere", help="Its mood.  [default: none]")
@click.option("--feature", "features", multiple=True, help="What is notable there; may be given repeatedly.")
@from_option
@click.pass_obj
def add(
    session: CliSession,
    project: str,
    name: str,
    description: str,
    atmosphere: str | None,
    features: tuple[str, ...],
    start: StoryPosition | None,
) -> None:
    """Add a location."""
    from runtime.cli.actions.story_entities import add_location

    fields = {"name": name, "description": description, "atmosphere": atmosphere, "features": features}
    add_location(session, project, fields, start=start)
