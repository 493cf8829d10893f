"""`novelgen import-book`."""

from __future__ import annotations

from pathlib import Path

import click

from runtime.cli.parameters import FOLDER, CliSession


@click.command(
    "import-book", epilog="\b\nExample:\n  novelgen import-book books/moby --project moby --records"
)
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option("--project", required=True, help="Project to import into; it is created when there is none.")
@click.option("--records", is_flag=True, help="Also take entities.jsonl and records.jsonl.")
@click.pass_obj
def import_book(session: CliSession, folder: Path, project: str, records: bool) -> None:
    """Import a book from a folder of JSON Lines.

    DIR holds scenes.jsonl, meta.json and, for --records, entities.jsonl and records.jsonl. Ids of the book are
    kept, and importing again changes nothing.
    """
    from runtime.cli.actions.ingest import import_book_folder

    import_book_folder(session, folder, project_id=project, records=records)
