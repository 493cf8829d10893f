"""`novelgen loop`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from runtime.cli.parameters import (
    COUNT,
    CliSession,
    CommandGroup,
    as_of_option,
    from_option,
    json_option,
    project_argument,
)

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition

_STATUSES = ("open", "advanced", "resolved", "abandoned")


@click.group(cls=CommandGroup)
def loop() -> None:
    """Look at open loops; add, move and end them.

    An open loop is what the story has promised and not yet paid.
    """


@loop.command(
    "list",
    epilog="\b\nExample:\n  novelgen loop list my-novel --as-of 9:1 --due 5",
)
@project_argument
@click.option(
    "--status",
    "statuses",
    type=click.Choice(_STATUSES),
    multiple=True,
    help="Only these.  [default: open, advanced]",
)
@click.option("--due", type=COUNT, help="The so many that wait longest and weigh most.")
@as_of_option
@json_option
@click.pass_obj
def list_command(
    session: CliSession,
    project: str,
    statuses: tuple[str, ...],
    due: int | None,
    as_of: StoryPosition | None,
    as_json: bool,
) -> None:
    """List the loops that wait for an answer."""
    from runtime.cli.actions.loops import list_loops

    list_loops(session, project, statuses=statuses, due=due, as_of=as_of, as_json=as_json)


@loop.command(epilog="\b\nExample:\n  novelgen loop show my-novel OL3")
@project_argument
@click.argument("loop_id", metavar="LOOP")
@as_of_option
@json_option
@click.pass_obj
def show(session: CliSession, project: str, loop_id: str, as_of: StoryPosition | None, as_json: bool) -> None:
    """Show a loop as it stands."""
    from runtime.cli.actions.loops import show_loop

    show_loop(session, project, loop_id, as_of=as_of, as_json=as_json)


@loop.command(
    epilog='\b\nExample:\n  novelgen loop add my-novel "Who lit the lamp?" --importance high --character Ada'
)
@project_argument
@click.argument("description")
@click.option(
    "--category", default="", help="mystery, relationship, goal, threat, promise, …  [default: none]"
)
@click.option(
    "--importance",
    type=click.Choice(["low", "medium", "high", "critical"]),
    default="medium",
    show_default=True,
    help="How much it weighs.",
)
@click.option("--character", "characters", multiple=True, help="Whom it is about; may be given repeatedly.")
@click.option("--location", "locations", multiple=True, help="Which place; may be given repeatedly.")
@click.option("--item", "items", multiple=True, help="Which thing; may be given repeatedly.")
@from_option
@click.pass_obj
def add(
    session: CliSession,
    project: str,
    description: str,
    category: str,
    importance: str,
    characters: tuple[str, ...],
    locations: tuple[str, ...],
    items: tuple[str, ...],
    start: StoryPosition | None,
) -> None:
    """Plant an open loop."""
    from runtime.cli.actions.loops import add_loop

    related = {"related_characters": characters, "related_locations": locations, "related_items": items}
    told = {"description": description, "category": category, "importance": importance}
    add_loop(session, project, {**told, **related}, start=start)


@loop.command(
    epilog='\b\nExamples:\n  novelgen loop edit my-novel OL3 --advance "A second light is seen"\n'
    '  novelgen loop edit my-novel OL3 --resolve "Ada lit it"'
)
@project_argument
@click.argument("loop_id", metavar="LOOP")
@click.option("--advance", help="It moved: what happened.")
@click.option("--resolve", help="It was answered: how.")
@click.option("--abandon", help="It was dropped: why.")
@from_option
@click.pass_obj
def edit(
    session: CliSession,
    project: str,
    loop_id: str,
    advance: str | None,
    resolve: str | None,
    abandon: str | None,
    start: StoryPosition | None,
) -> None:
    """Move or end a loop; give one of --advance, --resolve and --abandon."""
    from runtime.cli.actions.loops import edit_loop

    edit_loop(session, project, loop_id, advance=advance, resolve=resolve, abandon=abandon, start=start)
