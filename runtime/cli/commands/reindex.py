"""`novelgen reindex`."""

from __future__ import annotations

import click

from runtime.cli.parameters import CliSession, project_argument


@click.command(epilog="\b\nExample:\n  novelgen reindex my-novel")
@project_argument
@click.pass_obj
def reindex(session: CliSession, project: str) -> None:
    """Build the vector index anew from the database; verify it.

    Needed after the embedding model or a setting of memory.ingest changed, or when the index is damaged or
    lost. Vectors that the database keeps are used again; the old index answers until the new one is whole.
    """
    from runtime.cli.actions.reindex import reindex_project

    reindex_project(session, project)
