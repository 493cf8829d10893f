"""`novelgen conflicts`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from runtime.cli.parameters import CliSession, CommandGroup, json_option, project_argument

if TYPE_CHECKING:
    from runtime.conflict_settling import Side


@click.group(cls=CommandGroup)
def conflicts() -> None:
    """Look at contradictions in the story; settle or waive them.

    Found are second values for what does not change, characters in two places at one time, the dead who act,
    and things that two characters hold.
    """


@conflicts.command("list", epilog="\b\nExample:\n  novelgen conflicts list my-novel --all")
@project_argument
@click.option("--all", "with_waived", is_flag=True, help="Also those that you waived.")
@json_option
@click.pass_obj
def list_command(session: CliSession, project: str, with_waived: bool, as_json: bool) -> None:
    """List the contradictions with both sides, in story order."""
    from runtime.cli.actions.conflicts import show_conflicts

    show_conflicts(session, project, with_waived=with_waived, as_json=as_json)


@conflicts.command(
    epilog='\b\nExample:\n  novelgen conflicts waive my-novel X0123456789ab --note "he lied to the abbot"'
)
@project_argument
@click.argument("conflict")
@click.option("--note", default="", help="Why it is meant so.  [default: none]")
@click.pass_obj
def waive(session: CliSession, project: str, conflict: str, note: str) -> None:
    """Say that a contradiction is meant so; it is listed no more."""
    from runtime.cli.actions.conflicts import waive

    waive(session, project, conflict, note=note)


@conflicts.command(epilog="\b\nExample:\n  novelgen conflicts resolve my-novel X0123456789ab --keep first")
@project_argument
@click.argument("conflict")
@click.option("--keep", type=click.Choice(["first", "second"]), required=True, help="The side that is true.")
@click.pass_obj
def resolve(session: CliSession, project: str, conflict: str, keep: str) -> None:
    """Let one of the two sides hold.

    Of two values the one that you keep is stated, as yours, in the scene of the other. Where the dead act, keep
    the first (the death) and the record of the second scene, yours from then on, goes without them; keep the
    second (the act) and they live after the first scene.
    """
    from runtime.cli.actions.conflicts import resolve

    resolve(session, project, conflict, keep=cast("Side", keep))
