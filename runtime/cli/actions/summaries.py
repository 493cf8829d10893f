"""Showing, editing and writing the summaries of chapters and parts."""

from __future__ import annotations

from pathlib import Path

import click

from runtime.cli.exit_codes import ExitCode
from runtime.cli.opening import opened_project
from runtime.cli.output import print_json, print_table, print_text, report_line
from runtime.cli.progress import progress_bars
from runtime.cli.session import CliSession
from runtime.extraction_model import build_extraction_model, with_extraction_model
from runtime.projects.file_reading import read_text_file
from runtime.storage.story.summaries import SummaryLevel
from runtime.story_summaries import (
    ListedSummary,
    find_summary,
    list_summaries,
    write_author_summary,
    write_model_summaries,
)

_ORIGINS = {"made": "made", "model": "a model", "author": "you"}
_REMARKS = {"current": "", "outdated": "older than its scenes", "unfinished": "not over yet"}


def show_summaries(
    session: CliSession, project_id: str, *, chapter: int | None, part: int | None, as_json: bool
) -> None:
    """Show all summaries, or one.

    Raises:
        UserInputError: When nothing is stored of that chapter or part.
    """
    place = _place(chapter, part)
    with opened_project(session, project_id) as stores:
        listed = [find_summary(stores, project_id, *place)] if place else list_summaries(stores, project_id)
    if as_json:
        print_json(listed)
        return
    rows = [(_name(each), _ORIGINS[each.origin], _remark(each), _text(each)) for each in listed]
    print_table(("of", "by", "remark", "summary"), rows, wide=3)


def edit_summary(
    session: CliSession, project_id: str, *, chapter: int | None, part: int | None, text_file: Path | None
) -> None:
    """Store a summary that a person wrote.

    Raises:
        UserInputError: When neither chapter nor part is given, or nothing is stored of it.
        InvalidFileError: When the file cannot be read.
    """
    place = _place(chapter, part)
    if place is None:
        raise click.UsageError("give --chapter N or --part N")
    with opened_project(session, project_id) as stores:
        shown = find_summary(stores, project_id, *place)
        text = read_text_file(text_file) if text_file is not None else click.edit(shown.written or shown.told)
        if text is None:
            print_text(f"the summary of {_name(shown)} is as it was")
            return
        write_author_summary(stores, project_id, *place, text)
    said = "now has your summary" if text.strip() else "has the summary that is made of its bullets"
    print_text(f"{_name(shown)} {said}")


def write_summaries(
    session: CliSession,
    project_id: str,
    *,
    chapter: int | None,
    part: int | None,
    model: str | None,
    as_json: bool,
) -> None:
    """Let a model write summaries and show them.

    Raises:
        ConfigurationError: When no model is configured, or it cannot be built.
        Exit: When the model failed at one; the others are stored.
    """
    with opened_project(session, project_id) as stores:
        settings = with_extraction_model(stores.settings, model)
        with progress_bars("summaries") as (progress,):
            result = write_model_summaries(
                stores,
                project_id,
                build_extraction_model(settings),
                only=_place(chapter, part),
                timeout_s=settings.memory.summarization.timeout_s,
                progress=progress,
            )
    for issue in result.issues:
        report_line(f"warning: {issue.message}")
    if as_json:
        print_json(result)
    else:
        print_table(("of", "summary"), [(_name(each), each.told) for each in result.written], wide=1)
        print_text(f"{len(result.written)} written, {len(result.issues)} kept as they were")
    if result.issues:
        raise click.exceptions.Exit(ExitCode.FAILED)


def _place(chapter: int | None, part: int | None) -> tuple[SummaryLevel, int] | None:
    if chapter is not None:
        return "chapter", chapter
    return None if part is None else ("part", part)


def _name(summary: ListedSummary) -> str:
    if summary.level == "chapter":
        return f"chapter {summary.number}"
    title = f" {summary.title}" if summary.title else ""
    return f"part {summary.number}{title} ({summary.first_chapter}–{summary.last_chapter})"


def _remark(summary: ListedSummary) -> str:
    if summary.state == "withheld":
        return "not used: scenes went elsewhere"
    if summary.written and summary.state == "outdated":
        return "not used: older than its scenes"
    return _REMARKS[summary.state]


def _text(summary: ListedSummary) -> str:
    return f"{summary.told}\n  ← {summary.written}" if summary.written else summary.told
