"""`novelgen relationship`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from runtime.cli.parameters import (
    CliSession,
    CommandGroup,
    as_of_option,
    dimension_option,
    from_option,
    json_option,
    project_argument,
)

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition

_INTENSITY = click.IntRange(0, 10)


@click.group(cls=CommandGroup)
def relationship() -> None:
    """Look at relationships; add and edit them.

    Characters are given by id, name or alias, and a pair in either order.
    """


@relationship.command(
    "list", epilog="\b\nExample:\n  novelgen relationship list my-novel --of Ada --status strained"
)
@project_argument
@click.option("--of", "character", help="Only those of this character, from its side.")
@click.option("--status", help="Only those of this status.")
@as_of_option
@json_option
@click.pass_obj
def list_command(
    session: CliSession,
    project: str,
    character: str | None,
    status: str | None,
    as_of: StoryPosition | None,
    as_json: bool,
) -> None:
    """List relationships as they stand."""
    from runtime.cli.actions.relationships import list_relationships

    list_relationships(session, project, character=character, status=status, as_of=as_of, as_json=as_json)


@relationship.command(epilog="\b\nExample:\n  novelgen relationship show my-novel Ada Ben")
@project_argument
@click.argument("first")
@click.argument("second")
@as_of_option
@json_option
@click.pass_obj
def show(
    session: CliSession, project: str, first: str, second: str, as_of: StoryPosition | None, as_json: bool
) -> None:
    """Show how two characters stand, from both sides, and what happened."""
    from runtime.cli.actions.relationships import show_relationship

    show_relationship(session, project, first, second, as_of=as_of, as_json=as_json)


@relationship.command(
    epilog='\b\nExample:\n  novelgen relationship add my-novel Ada Ben --type friends --view-a "He never lies"'
)
@project_argument
@click.argument("first")
@click.argument("second")
@click.option("--type", "kind", required=True, help="mentor-student, friends, rivals, family, …")
@click.option("--view-a", default="", help="How FIRST sees SECOND.  [default: none]")
@click.option("--view-b", default="", help="How SECOND sees FIRST.  [default: none]")
@click.option("--status", default="neutral", show_default=True, help="close, strained, hostile, …")
@click.option("--intensity", type=_INTENSITY, default=5, show_default=True, help="How much it matters.")
@dimension_option
@from_option
@click.pass_obj
def add(
    session: CliSession,
    project: str,
    first: str,
    second: str,
    kind: str,
    view_a: str,
    view_b: str,
    status: str,
    intensity: int,
    dimensions: tuple[tuple[str, int], ...],
    start: StoryPosition | None,
) -> None:
    """Add the relationship of two characters."""
    from runtime.cli.actions.relationships import add_relationship

    fields = {"relationship_type": kind, "perspective_a": view_a, "perspective_b": view_b}
    standing = {"status": status, "intensity": intensity, "dimensions": dict(dimensions)}
    add_relationship(session, project, first, second, {**fields, **standing}, start=start)


@relationship.command(
    epilog="\b\nExamples:\n  novelgen relationship edit my-novel Ada Ben --status strained --scene S004\n"
    "  novelgen relationship edit my-novel Ada Ben --dimension trust=-40 --dimension fear=20"
)
@project_argument
@click.argument("first")
@click.argument("second")
@click.option("--status", help="The new status.")
@click.option("--event", help="What happened between them.")
@click.option("--intensity", type=_INTENSITY, help="How much it matters now.")
@dimension_option
@click.option(
    "--scene", "scene_id", help="Scene in which it happened, as S004 or 3:2.  [default: the last one]"
)
@from_option
@click.pass_obj
def edit(
    session: CliSession,
    project: str,
    first: str,
    second: str,
    status: str | None,
    event: str | None,
    intensity: int | None,
    dimensions: tuple[tuple[str, int], ...],
    scene_id: str | None,
    start: StoryPosition | None,
) -> None:
    """Change how two characters stand."""
    from runtime.cli.actions.relationships import edit_relationship

    changes = {"status": status, "event": event, "intensity": intensity, "dimensions": dict(dimensions)}
    edit_relationship(session, project, first, second, {**changes, "scene_id": scene_id}, start=start)
