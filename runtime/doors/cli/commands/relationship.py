"""`novelgen relationship`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from runtime.doors.cli.commands.deleted import print_deletion
from runtime.doors.cli.labels import ENGLISH, place_text
from runtime.doors.cli.opening import opened_project
from runtime.doors.cli.output import print_heading, print_json, print_pairs, print_result, print_table
from runtime.doors.cli.parameters import (
    CliSession,
    CommandGroup,
    DimensionType,
    as_of_option,
    dimension_option,
    from_option,
    json_option,
    project_argument,
    require_confirmation,
    yes_option,
)

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition

_INTENSITY = click.IntRange(0, 10)


@click.group(cls=CommandGroup)
def relationship() -> None:
    """Look at relationships; add, edit and delete them.

    Characters are given by id, name or alias, and a pair in either order.
    """


@relationship.command("list", epilog="\b\nExample:\n  novelgen relationship list my-novel --of Ada --status strained")
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
    from runtime.story.entities import StoryEntities
    from runtime.story.relationships import StoryRelationships

    with opened_project(session, project) as stores:
        names = StoryEntities(stores, project).entity_names(as_of=as_of)
        if character is not None:
            views = StoryRelationships(stores, project).relationships_of(
                character=character, status=status, as_of=as_of
            )
            found, sides = [], [""] * len(views)
        else:
            found = StoryRelationships(stores, project).relationships(status=status, as_of=as_of)
            views = [each.seen_by(each.character_a) for each in found]
            sides = [names.get(each.character_a, each.character_a) for each in found]
    if as_json:
        print_json(found if character is None else views)
        return
    rows = [
        (
            each.relationship_id,
            side,
            names.get(each.character_id, each.character_id),
            each.relationship_type,
            each.status,
            each.intensity,
            ", ".join(f"{name} {value}" for name, value in each.dimensions.items()),
            each.your_view,
        )
        for side, each in zip(sides, views, strict=True)
    ]
    headings = ("id", "of", "to", "type", "status", "intensity", "dimensions", "view")
    print_table(headings, rows, wide=7)


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
    from runtime.story.entities import StoryEntities
    from runtime.story.relationships import StoryRelationships

    with opened_project(session, project) as stores:
        found = StoryRelationships(stores, project).get_relationship(first=first, second=second, as_of=as_of)
        names = StoryEntities(stores, project).entity_names(as_of=as_of)
    if as_json:
        print_json(found)
        return
    one, other = (names.get(each, each) for each in (found.character_a, found.character_b))
    print_pairs(
        {
            "id": found.relationship_id,
            "type": found.relationship_type,
            "status": found.status,
            "intensity": found.intensity,
            f"{one} on {other}": found.perspective_a,
            f"{other} on {one}": found.perspective_b,
            **{str(name): value for name, value in found.dimensions.items()},
            **{f"{name} of {one}": value for name, value in found.dimensions_a.items()},
            **{f"{name} of {other}": value for name, value in found.dimensions_b.items()},
            **{name.replace("_", " "): value for name, value in found.metadata.items()},
            "last changed": "" if found.updated_at is None else f"{found.updated_at:%Y-%m-%d %H:%M} UTC",
        }
    )
    print_heading("History")
    rows = [
        (
            "" if each.chapter_index is None else place_text(each.chapter_index, each.scene_index, ENGLISH),
            each.status,
            each.event,
        )
        for each in found.history
    ]
    print_table(("scene", "status", "event"), rows, wide=2)


@relationship.command(
    epilog='\b\nExample:\n  novelgen relationship add my-novel Ada Ben --type friends --view-a "He never lies"'
)
@project_argument
@click.argument("first")
@click.argument("second")
@click.option("--type", "relationship_type", required=True, help="mentor-student, friends, rivals, family, …")
@click.option("--view-a", "perspective_a", default="", help="How FIRST sees SECOND.  [default: none]")
@click.option("--view-b", "perspective_b", default="", help="How SECOND sees FIRST.  [default: none]")
@click.option("--status", default="neutral", show_default=True, help="close, strained, hostile, …")
@click.option("--intensity", type=_INTENSITY, default=5, show_default=True, help="How much it matters.")
@dimension_option("What both feel")
@from_option
@json_option
@click.pass_obj
def add(
    session: CliSession, project: str, dimensions: tuple[tuple[str, int], ...], as_json: bool, **fields: Any
) -> None:
    """Add the relationship of two characters."""
    from runtime.story.relationships import StoryRelationships

    with opened_project(session, project) as stores:
        added = StoryRelationships(stores, project).add_relationship(dimensions=dict(dimensions), **fields)
    print_result(added, f"added {added.relationship_id}", as_json=as_json)


@relationship.command(
    epilog="\b\nExamples:\n  novelgen relationship edit my-novel Ada Ben --status strained --scene S004\n"
    "  novelgen relationship edit my-novel Ben Ada --dimension trust=-40 --dimension fear=20\n"
    '  novelgen relationship edit my-novel Ada Ben --type rivals --view-a "He lied to me"'
)
@project_argument
@click.argument("first")
@click.argument("second")
@click.option("--type", "relationship_type", help="The new type; of two roles, that of FIRST comes first.")
@click.option("--view-a", "perspective_a", help="How FIRST sees SECOND now.")
@click.option("--view-b", "perspective_b", help="How SECOND sees FIRST now.")
@click.option("--status", help="The new status.")
@click.option("--event", help="What happened between them.")
@click.option("--intensity", type=_INTENSITY, help="How much it matters now.")
@dimension_option("What FIRST feels for SECOND now")
@click.option(
    "--mutual-dimension",
    "mutual_dimensions",
    type=DimensionType(),
    multiple=True,
    help="The same for both sides alike; repeatable.",
)
@click.option("--scene", "scene_id", help="Scene in which it happened, as S004 or 3:2.  [default: the last one]")
@from_option
@json_option
@click.pass_obj
def edit(
    session: CliSession,
    project: str,
    dimensions: tuple[tuple[str, int], ...],
    mutual_dimensions: tuple[tuple[str, int], ...],
    as_json: bool,
    **changes: Any,
) -> None:
    """Change how two characters stand; what is not given stays."""
    from runtime.story.relationships import StoryRelationships

    with opened_project(session, project) as stores:
        edited = StoryRelationships(stores, project).edit_relationship(
            dimensions=dict(dimensions), mutual_dimensions=dict(mutual_dimensions), **changes
        )
    verb = "changed" if edited.is_changed else "unchanged"
    print_result(edited, f"{verb} {edited.relationship.relationship_id}", as_json=as_json)


@relationship.command(epilog="\b\nExample:\n  novelgen relationship delete my-novel Ada Ben --yes")
@project_argument
@click.argument("first")
@click.argument("second")
@yes_option
@json_option
@click.pass_obj
def delete(session: CliSession, project: str, first: str, second: str, is_confirmed: bool, as_json: bool) -> None:
    """Delete how two characters stand, with its history; `entity undo` takes it back."""
    from runtime.story.deletion import StoryDeletion

    with opened_project(session, project) as stores:
        require_confirmation(
            f"delete the relationship of {first} and {second} with its history", is_confirmed=is_confirmed
        )
        deletion = StoryDeletion(stores, project).delete_relationship(first=first, second=second)
    print_deletion(deletion, project, as_json=as_json)
