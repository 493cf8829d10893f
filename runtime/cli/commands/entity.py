"""`novelgen entity`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from runtime.cli.parameters import (
    POSITION,
    CliSession,
    CommandGroup,
    as_of_option,
    json_option,
    project_argument,
)

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition


@click.group(cls=CommandGroup)
def entity() -> None:
    """Show, merge and split who and what the story knows.

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


@entity.command(epilog='\b\nExample:\n  novelgen entity merge my-novel "Mary Grey" "the stranger"')
@project_argument
@click.argument("keep", metavar="KEEP")
@click.argument("gone", metavar="OTHER")
@click.pass_obj
def merge(session: CliSession, project: str, keep: str, gone: str) -> None:
    """Make OTHER part of KEEP: they are one. Everything is re-linked, and it can be undone."""
    from runtime.cli.actions.entity_changes import merge_entities

    merge_entities(session, project, keep, gone)


@entity.command(
    epilog='\b\nExample:\n  novelgen entity split my-novel C1 --name "the veiled lady" --scene 2:1'
)
@project_argument
@click.argument("name", metavar="ID_OR_NAME")
@click.option(
    "--name", "new_name", required=True, help="Display name of the new entity: an alias, or a new name."
)
@click.option("--alias", "aliases", multiple=True, help="One more name of it; may be given repeatedly.")
@click.option(
    "--scene", "scenes", type=POSITION, multiple=True, help="A scene that is only about the new one."
)
@click.pass_obj
def split(
    session: CliSession,
    project: str,
    name: str,
    new_name: str,
    aliases: tuple[str, ...],
    scenes: tuple[StoryPosition, ...],
) -> None:
    """Take a new entity out of one: they are two. Its names and scenes move, and it can be undone."""
    from runtime.cli.actions.entity_changes import split_entity

    split_entity(session, project, name, new_name=new_name, aliases=aliases, scenes=scenes)


@entity.command(epilog="\b\nExample:\n  novelgen entity undo my-novel 3")
@project_argument
@click.argument("number", type=int)
@click.pass_obj
def undo(session: CliSession, project: str, number: int) -> None:
    """Undo a merge or split, by the number that `entity changes` lists."""
    from runtime.cli.actions.entity_changes import undo_entity_change

    undo_entity_change(session, project, number)


@entity.command(epilog="\b\nExample:\n  novelgen entity changes my-novel")
@project_argument
@json_option
@click.pass_obj
def changes(session: CliSession, project: str, as_json: bool) -> None:
    """List the merges and splits."""
    from runtime.cli.actions.entity_changes import list_entity_changes

    list_entity_changes(session, project, as_json=as_json)
