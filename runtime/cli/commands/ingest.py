"""`novelgen ingest`."""

from __future__ import annotations

from pathlib import Path

import click

from runtime.cli.parameters import FILE, CliSession, project_argument


@click.command(
    epilog="\b\nExamples:\n  novelgen ingest my-novel\n  novelgen ingest my-novel --chapter 7\n"
    "  novelgen ingest my-novel drafts/chapter_007.md"
)
@project_argument
@click.argument("files", nargs=-1, type=FILE)
@click.option(
    "--records/--no-records",
    default=None,
    help="Take the scene records in records/ in, or leave them.  [default: in, where there are any]",
)
@click.option("--chapter", type=click.IntRange(min=0), help="Only this chapter.  [default: all]")
@click.pass_obj
def ingest(
    session: CliSession, project: str, files: tuple[Path, ...], records: bool | None, chapter: int | None
) -> None:
    """Store finished chapters, characters, entities and records.

    Reads chapters/chapter_NNN.json, .txt or .md (or the FILES, named alike), characters.json, entities.json and
    records/chapter_NNN_records.json. What is stored already and has not changed is left alone; a changed scene
    takes the place of what came from it before.
    """
    from runtime.cli.actions.ingest import ingest_project

    ingest_project(session, project, files=files, records=records, chapter=chapter)
