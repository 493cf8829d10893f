"""`novelgen projects`."""

from __future__ import annotations

import click

from runtime.cli.options import json_option
from runtime.cli.session import CliSession


@click.command(epilog="\b\nExample:\n  novelgen --projects-dir ~/novels projects")
@json_option
@click.pass_obj
def projects(session: CliSession, as_json: bool) -> None:
    """List the stored projects with what they hold."""
    from runtime.cli.actions.projects import list_projects

    list_projects(session, as_json=as_json)
