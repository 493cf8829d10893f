"""`novelgen doctor`."""

from __future__ import annotations

import click

from runtime.cli.parameters import CliSession, json_option

_EXAMPLES = (
    "\b\nExamples:\n  novelgen doctor\n  novelgen doctor my-novel --json\n  novelgen doctor my-novel --repair"
)


@click.command(epilog=_EXAMPLES)
@click.argument("project", required=False)
@click.option(
    "--repair",
    is_flag=True,
    help="First bring PROJECT's vector index to what the database says; rebuild it where it must be.",
)
@json_option
@click.pass_obj
def doctor(session: CliSession, project: str | None, repair: bool, as_json: bool) -> None:
    """Check stores, models and files; say what to fix, and how.

    With PROJECT also its counts, whether the index agrees with the database, and which context files are stale.
    Without --repair nothing is changed; with it the index, never the database.
    """
    if repair and project is None:
        raise click.UsageError("--repair needs PROJECT")
    from runtime.cli.actions.doctor import diagnose

    diagnose(session, project, repair=repair, as_json=as_json)
