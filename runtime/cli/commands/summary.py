"""`novelgen summary`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from runtime.cli.parameters import COUNT, FILE, CliSession, CommandGroup, json_option, project_argument

F = TypeVar("F", bound=Callable[..., Any])


@click.group(cls=CommandGroup)
def summary() -> None:
    """Look at what is told of finished chapters and parts.

    Summaries are made of the records' bullets. What you write stands in their place, whatever changes; what a
    model writes does until its scenes change.
    """


def _chapter_or_part(command: F) -> F:
    """Give a command the options `--chapter` and `--part`."""
    chapter = click.option("--chapter", type=click.IntRange(min=0), help="This chapter.")
    return chapter(click.option("--part", type=COUNT, help="The part of this number.")(command))


@summary.command(
    epilog="\b\nExamples:\n  novelgen summary show my-novel\n  novelgen summary show my-novel --part 1"
)
@project_argument
@_chapter_or_part
@json_option
@click.pass_obj
def show(session: CliSession, project: str, chapter: int | None, part: int | None, as_json: bool) -> None:
    """List the summaries: who wrote them, and which are older than their scenes."""
    _require_at_most_one(chapter, part)
    from runtime.cli.actions.summaries import show_summaries

    show_summaries(session, project, chapter=chapter, part=part, as_json=as_json)


@summary.command(
    epilog="\b\nExamples:\n  novelgen summary edit my-novel --chapter 3\n"
    "  novelgen summary edit my-novel --part 1 --file part1.txt"
)
@project_argument
@_chapter_or_part
@click.option("--file", "text_file", type=FILE, help="The new summary.  [default: open $EDITOR]")
@click.pass_obj
def edit(
    session: CliSession, project: str, chapter: int | None, part: int | None, text_file: Path | None
) -> None:
    """Write a summary yourself, in an editor or a file.

    An empty text takes what was written away: the summary is made of bullets again.
    """
    _require_at_most_one(chapter, part)
    from runtime.cli.actions.summaries import edit_summary

    edit_summary(session, project, chapter=chapter, part=part, text_file=text_file)


@summary.command(
    epilog="\b\nExamples:\n  novelgen summary write my-novel\n"
    "  novelgen summary write my-novel --part 1 --model openai:gpt-4.1-mini"
)
@project_argument
@_chapter_or_part
@click.option(
    "--model", metavar="PROVIDER:MODEL", help="Chat model.  [default: memory.summarization.model, else model]"
)
@json_option
@click.pass_obj
def write(
    session: CliSession, project: str, chapter: int | None, part: int | None, model: str | None, as_json: bool
) -> None:
    """Let a model write the summaries that nobody has written, or one of them anew.

    It is shown the bullets of the records and may say no more than they do. Yours are left alone. Where it
    fails, the summary that is made of bullets stands.
    """
    _require_at_most_one(chapter, part)
    from runtime.cli.actions.summaries import write_summaries

    write_summaries(session, project, chapter=chapter, part=part, model=model, as_json=as_json)


def _require_at_most_one(chapter: int | None, part: int | None) -> None:
    if chapter is not None and part is not None:
        raise click.UsageError("give --chapter or --part, not both")
