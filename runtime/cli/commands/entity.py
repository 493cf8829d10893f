"""`novelgen entity`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from runtime.cli.options import as_of_option, json_option, project_argument
from runtime.cli.session import CliSession

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition


@click.group()
def entity() -> None:
    """Show who and what the story knows, and how it stands.

    Entities are characters, locations, items, factions and terms.
    """


@entity.command("list", epilog="\b\nExample:\n  novelgen entity list my-novel --as-of 4:1")
@project_argument
@as_of_option
@json_option
@click.pass_obj
def list_command(session: CliSession, project: str, as_of: StoryPosition | None, as_json: bool) -> None:
    """List the entities with their names, as the story has shown them by then."""
    from runtime.cli.actions.entities import list_entities

    list_entities(session, project, as_of=as_of, as_json=as_json)


@entity.command(
    epilog='\b\nExamples:\n  novelgen entity show my-novel C1\n  novelgen entity show my-novel "Ada" --as-of 4:1'
)
@project_argument
@click.argument("name", metavar="ID_OR_NAME")
@as_of_option
@json_option
@click.pass_obj
def show(session: CliSession, project: str, name: str, as_of: StoryPosition | None, as_json: bool) -> None:
    """Show an entity and its state at a point of the story."""
    from runtime.cli.actions.entities import show_entity

    show_entity(session, project, name, as_of=as_of, as_json=as_json)
