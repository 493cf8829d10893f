"""`novelgen import`."""

from __future__ import annotations

from pathlib import Path

import click

from runtime.cli.parameters import CliSession, json_option


@click.command(
    "import",
    epilog="\b\nExamples:\n  novelgen import backup/my-novel --project my-novel --dry-run\n"
    "  novelgen import book.epub --project my-book",
)
@click.argument("source", metavar="PATH", type=click.Path(path_type=Path))
@click.option("--project", required=True, help="Project to import into; it is created when there is none.")
@click.option("--dry-run", is_flag=True, help="Only show what would be imported; nothing is created.")
@json_option
@click.pass_obj
def import_command(session: CliSession, source: Path, project: str, dry_run: bool, as_json: bool) -> None:
    """Import an exported memory or a manuscript.

    PATH is a folder that holds a memory, a project of novel-gen, or a manuscript: a .txt, .md, .epub or .docx file
    with a whole book, which is split into chapters and scenes. What the project holds is never overwritten, and an
    import that was interrupted can be repeated.
    """
    from runtime.cli.actions.exchange import import_from

    import_from(session, source, project_id=project, dry_run=dry_run, as_json=as_json)
