"""`novelgen character`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from runtime.cli.commands.entity_group import entity_group
from runtime.cli.parameters import CliSession, from_option, project_argument

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition

character = entity_group("character", "Look at characters; add and edit them.")


@character.command(
    epilog='\b\nExample:\n  novelgen character add my-novel "Ada" --role minor --description "A keeper"'
)
@project_argument
@click.argument("name")
@click.option("--role", default="", help="protagonist, antagonist, supporting or minor.  [default: none]")
@click.option("--description", default="", help="Who it is, in a sentence or two.  [default: none]")
@click.option("--trait", "traits", multiple=True, help="A core trait; may be given repeatedly.")
@click.option("--goal", "goals", multiple=True, help="What it wants at first; may be given repeatedly.")
@from_option
@click.pass_obj
def add(
    session: CliSession,
    project: str,
    name: str,
    role: str,
    description: str,
    traits: tuple[str, ...],
    goals: tuple[str, ...],
    start: StoryPosition | None,
) -> None:
    """Add a character."""
    from runtime.cli.actions.story_entities import add_character

    fields = {"name": name, "role": role, "description": description, "traits": traits, "goals": goals}
    add_character(session, project, fields, start=start)
