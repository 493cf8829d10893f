"""Showing the glossary and memories of a piece of text."""

from __future__ import annotations

from typing import TextIO

from novelgen.errors import UserInputError
from novelgen.models.chunk_context import MAX_CHUNK_CHARACTERS
from novelgen.text.scrub import require_size, scrub_text
from runtime.chunk_context import build_chunk_context
from runtime.cli.labels import view_labels_for
from runtime.cli.opening import opened_project, story_language
from runtime.cli.output import print_json, print_text, report_line
from runtime.cli.parameters import CliSession
from runtime.services.indexing import await_index


def show_chunk_context(
    session: CliSession,
    project_id: str,
    source: TextIO,
    *,
    chapter_index: int | None,
    limit: int,
    as_json: bool,
) -> None:
    """Show the context of a text as a block of a prompt; what is missing stands on stderr.

    Raises:
        UserInputError: When the text is not UTF-8, or longer than a chunk may be.
        UnknownProjectError: When no such project is stored.
    """
    text = _read(source)
    with opened_project(session, project_id) as stores:
        await_index(stores, project_id)
        context = build_chunk_context(project_id, text, chapter_index, limit, stores=stores)
        language = story_language(stores, project_id)
    if as_json:
        print_json(context)
        return
    print_text(context.text.rstrip("\n") or view_labels_for(language).nothing)
    for issue in context.issues:
        report_line(f"{issue.stage} {issue.kind}: {issue.message}")


def _read(source: TextIO) -> str:
    try:
        text = scrub_text(source.read())
    except UnicodeDecodeError as error:
        raise UserInputError(f"--text is not UTF-8: {error}; convert it first") from error
    require_size(text, "the text", limit_characters=MAX_CHUNK_CHARACTERS)
    return text
