"""`novelgen doctor`."""

from __future__ import annotations

import click

from runtime.cli.options import json_option
from runtime.cli.session import CliSession


@click.command(epilog="\b\nExamples:\n  novelgen doctor\n  novelgen doctor my-novel --json")
@click.argument("project", required=False)
@json_option
@click.pass_obj
def doctor(session: CliSession, project: str | None, as_json: bool) -> None:
    """Check stores, models and files; say what to fix, and how.

    With PROJECT also its counts, whether the index agrees with the database, and which context files are stale.
    Nothing is changed.
    """
    from runtime.cli.actions.doctor import diagnose

    diagnose(session, project, as_json=as_json)
