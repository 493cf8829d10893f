"""`novelgen summary`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.labels import ViewLabels
from runtime.doors.cli.opening import opened_project, story_labels
from runtime.doors.cli.output import print_json, print_result, print_table, print_text, progress_bars, report_warning
from runtime.doors.cli.parameters import CHAPTER, COUNT, FILE, CliSession, CommandGroup, json_option, project_argument

if TYPE_CHECKING:
    from runtime.story.summaries import ListedSummary, SummaryLevel

F = TypeVar("F", bound=Callable[..., Any])


@click.group(cls=CommandGroup)
def summary() -> None:
    """Look at what is told of finished chapters and parts.

    Summaries are made of the records' bullets. What you write stands in their place, whatever changes; what a
    model writes does until its scenes change.
    """


def _chapter_or_part(command: F) -> F:
    """Give a command the options `--chapter` and `--part`."""
    chapter = click.option("--chapter", type=CHAPTER, help="This chapter.")
    return chapter(click.option("--part", type=COUNT, help="The part of this number.")(command))


@summary.command(epilog="\b\nExamples:\n  novelgen summary show my-novel\n  novelgen summary show my-novel --part 1")
@project_argument
@_chapter_or_part
@json_option
@click.pass_obj
def show(session: CliSession, project: str, chapter: int | None, part: int | None, as_json: bool) -> None:
    """List the summaries: who wrote them, and which are older than their scenes."""
    place = _place(chapter, part)
    from runtime.story.summaries import StorySummarizing

    with opened_project(session, project) as stores:
        if place is None:
            listed = StorySummarizing(stores, project).list_summaries()
        else:
            listed = [StorySummarizing(stores, project).get_summary(level=place[0], number=place[1])]
        labels = story_labels(stores, project)
    if as_json:
        print_json(listed)
        return
    rows = [(_name(each, labels), labels.value(each.origin), _remark(each, labels), _text(each)) for each in listed]
    print_table((labels.value("of"), labels.origin, labels.value("remark"), labels.value("summary")), rows, wide=3)


@summary.command(
    epilog="\b\nExamples:\n  novelgen summary edit my-novel --chapter 3\n"
    "  novelgen summary edit my-novel --part 1 --file part1.txt"
)
@project_argument
@_chapter_or_part
@click.option("--file", "text_file", type=FILE, help="The new summary.  [default: open $EDITOR]")
@json_option
@click.pass_obj
def edit(
    session: CliSession, project: str, chapter: int | None, part: int | None, text_file: Path | None, as_json: bool
) -> None:
    """Write a summary yourself, in an editor or a file.

    An empty text takes what was written away: the summary is made of bullets again.
    """
    place = _place(chapter, part)
    if place is None:
        raise click.UsageError("give --chapter N or --part N")
    from runtime.files.file_reading import read_text_file
    from runtime.story.summaries import StorySummarizing

    level, number = place
    with opened_project(session, project) as stores:
        labels = story_labels(stores, project)
        shown = StorySummarizing(stores, project).get_summary(level=level, number=number)
        text = read_text_file(text_file) if text_file else click.edit(shown.written or shown.told)
        if text is None:
            print_result(shown, f"the summary of {_name(shown, labels)} is as it was", as_json=as_json)
            return
        now = StorySummarizing(stores, project).write_author_summary(level=level, number=number, text=text)
    said = "now has your summary" if text.strip() else "has the summary that is made of its bullets"
    print_result(now, f"{_name(shown, labels)} {said}", as_json=as_json)


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
    place = _place(chapter, part)
    from runtime.story.summaries import StorySummarizing

    with opened_project(session, project) as stores:
        labels = story_labels(stores, project)
        with progress_bars("summaries") as (progress,):
            result = StorySummarizing(stores, project).write_model_summaries(only=place, model=model, progress=progress)
    for issue in result.issues:
        report_warning(issue.message)
    if as_json:
        print_json(result)
    else:
        rows = [(_name(each, labels), each.told) for each in result.written]
        print_table((labels.value("of"), labels.value("summary")), rows, wide=1)
        print_text(f"{len(result.written)} written, {len(result.issues)} kept as they were")
    if result.issues:
        raise click.exceptions.Exit(ExitCode.FAILED)


def _place(chapter: int | None, part: int | None) -> tuple[SummaryLevel, int] | None:
    if chapter is not None and part is not None:
        raise click.UsageError("give --chapter or --part, not both")
    if chapter is not None:
        return "chapter", chapter
    return None if part is None else ("part", part)


def _name(summary: ListedSummary, labels: ViewLabels) -> str:
    if summary.level == "chapter":
        return labels.value("chapter {}").format(summary.number)
    title = f" {summary.title}" if summary.title else ""
    return labels.value("part {}").format(summary.number) + f"{title} ({summary.first_chapter}–{summary.last_chapter})"


def _remark(summary: ListedSummary, labels: ViewLabels) -> str:
    if summary.state == "withheld":
        return labels.value("not used: scenes went elsewhere")
    if summary.written and summary.state == "outdated":
        return labels.value("not used: older than its scenes")
    return labels.value({"outdated": "older than its scenes", "unfinished": "not over yet"}.get(summary.state, ""))


def _text(summary: ListedSummary) -> str:
    return f"{summary.told}\n  ← {summary.written}" if summary.written else summary.told
