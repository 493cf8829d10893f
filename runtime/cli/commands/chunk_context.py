"""`novelgen chunk-context`."""

from __future__ import annotations

from typing import TextIO

import click

from runtime.cli.parameters import CliSession, json_option, project_argument

CHAPTER = click.IntRange(min=0, max=1_000_000)
LIMIT = click.IntRange(min=0, max=200)


@click.command(
    "chunk-context",
    epilog="\b\nExamples:\n  novelgen chunk-context my-novel --text page.txt --chapter 12\n"
    "  novelgen chunk-context my-novel --text - --limit 5 --json < page.txt",
)
@project_argument
@click.option(
    "--text", "text_file", type=click.File(encoding="utf-8"), required=True, help="The text; - is stdin."
)
@click.option(
    "--chapter", type=CHAPTER, help="Chapter it stands in: only what lies before.  [default: the whole book]"
)
@click.option("--limit", type=LIMIT, default=10, show_default=True, help="At most so many memories.")
@json_option
@click.pass_obj
def chunk_context(
    session: CliSession,
    project: str,
    text_file: TextIO,
    chapter: int | None,
    limit: int,
    as_json: bool,
) -> None:
    """Show what the translator of a text must know.

    The glossary of the names and terms in it, and the memories about them.
    """
    from runtime.cli.actions.chunk_context import show_chunk_context

    show_chunk_context(session, project, text_file, chapter_index=chapter, limit=limit, as_json=as_json)
