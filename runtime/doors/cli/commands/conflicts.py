"""`novelgen conflicts`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from runtime.doors.cli.opening import opened_project
from runtime.doors.cli.output import print_json, print_result, print_table, print_text, report_indexing
from runtime.doors.cli.parameters import CliSession, CommandGroup, json_option, project_argument

if TYPE_CHECKING:
    from novelgen.memory.conflict import ConflictSource
    from runtime.story.conflicts import Side


@click.group(cls=CommandGroup)
def conflicts() -> None:
    """Look at contradictions in the story; settle or waive them.

    Found are second values for what does not change, characters in two places at one time, the dead who act,
    things that two characters hold, and dates, hours and ages that cannot be.
    """


@conflicts.command("list", epilog="\b\nExample:\n  novelgen conflicts list my-novel --all")
@project_argument
@click.option("--all", "with_waived", is_flag=True, help="Also those that you waived.")
@json_option
@click.pass_obj
def list_command(session: CliSession, project: str, with_waived: bool, as_json: bool) -> None:
    """List the contradictions with both sides, in story order."""
    from runtime.story.conflicts import StoryConflicts

    with opened_project(session, project) as stores:
        listed = StoryConflicts(stores, project).conflicts(with_waived=with_waived)
    if as_json:
        print_json(listed)
        return
    if not listed:
        print_text("no conflicts")
        return
    rows = [
        (
            each.conflict.conflict_id,
            each.conflict.subject,
            each.conflict.kind,
            _side(each.conflict.first),
            _side(each.conflict.second),
            (each.note or "yes") if each.is_waived else "",
        )
        for each in listed
    ]
    print_table(("id", "about", "kind", "first", "second", "waived"), rows, wide=4)


@conflicts.command(
    epilog='\b\nExample:\n  novelgen conflicts waive my-novel X0123456789ab --note "he lied to the abbot"'
)
@project_argument
@click.argument("conflict")
@click.option("--note", default="", help="Why it is meant so.  [default: none]")
@json_option
@click.pass_obj
def waive(session: CliSession, project: str, conflict: str, note: str, as_json: bool) -> None:
    """Say that a contradiction is meant so; it is listed no more."""
    from runtime.story.conflicts import StoryConflicts

    with opened_project(session, project) as stores:
        waived = StoryConflicts(stores, project).waive_conflict(conflict_id=conflict, note=note)
    told = f"waived: {waived.subject}: {_side(waived.first)} / {_side(waived.second)}"
    print_result(waived, told, as_json=as_json)


@conflicts.command(epilog="\b\nExample:\n  novelgen conflicts resolve my-novel X0123456789ab --keep first")
@project_argument
@click.argument("conflict")
@click.option("--keep", type=click.Choice(["first", "second"]), required=True, help="The side that is true.")
@json_option
@click.pass_obj
def resolve(session: CliSession, project: str, conflict: str, keep: Side, as_json: bool) -> None:
    """Let one of the two sides hold.

    Of two values, or two types of a relationship, the one that you keep is stated, as yours, in the scene of the
    other. Where the dead act, keep
    the first (the death) and the record of the second scene, yours from then on, goes without them; keep the
    second (the act) and they live after the first scene.
    """
    from runtime.story.conflicts import StoryConflicts

    with opened_project(session, project) as stores:
        settled = StoryConflicts(stores, project).settle_conflict(conflict_id=conflict, keep=keep)
    report_indexing(settled.indexing, project)
    print_result(settled, settled.done, as_json=as_json)


def _side(source: ConflictSource) -> str:
    return f"{source.chapter_index}:{source.scene_index} {source.says}"
