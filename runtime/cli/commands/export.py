"""`novelgen export`."""

from __future__ import annotations

from pathlib import Path

import click

from runtime.cli.parameters import FOLDER, CliSession, project_argument


@click.command(epilog="\b\nExample:\n  novelgen export my-novel backup/my-novel")
@project_argument
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.pass_obj
def export(session: CliSession, project: str, folder: Path) -> None:
    """Write a project's memory as JSON files to DIR/memory.

    One file per entity and scene, one each for loops, relationships, notes and counters. `novelgen import` reads
    them back without loss.
    """
    from runtime.cli.actions.exchange import export_to

    export_to(session, project, folder)
