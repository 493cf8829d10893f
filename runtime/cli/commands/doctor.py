"""`novelgen doctor`."""

from __future__ import annotations

import click

from runtime.cli.options import json_option
from runtime.cli.session import CliSession

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
@click.option(
    "--no-network",
    is_flag=True,
    help="Do not ask models that are not on this machine whether they answer.",
)
@json_option
@click.pass_obj
def doctor(session: CliSession, project: str | None, repair: bool, no_network: bool, as_json: bool) -> None:
    """Check stores, models and files; say what to fix, and how.

    The configured models are asked for one word and one vector, each for a few seconds at most.
    With PROJECT also its counts, whether the index agrees with the database, and which context files are stale.
    Without --repair nothing is changed; with it the index, never the database.
    """
    if repair and project is None:
        raise click.UsageError("--repair needs PROJECT")
    from runtime.cli.actions.doctor import show_diagnosis

    show_diagnosis(session, project, is_repairing=repair, is_asking_network=not no_network, as_json=as_json)
