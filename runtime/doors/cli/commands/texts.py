"""What is given as a text: `novelgen record edit`, `summary edit` and `write`, `chunk-context` and `summarize`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar, cast

import click

from novelgen.errors import UserInputError
from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.offers import summary_name, summary_place
from runtime.doors.cli.opening import opened_project, opened_stores, story_labels
from runtime.doors.cli.output import (
    print_json,
    print_result,
    print_table,
    print_text,
    progress_bars,
    report_indexing,
    report_issue,
    report_warning,
)
from runtime.doors.cli.parameters import CHAPTER, COUNT, FILE, POSITION, CliSession, json_option, project_argument

if TYPE_CHECKING:
    from novelgen.models.chunk_context import MemoryPriority


F = TypeVar("F", bound=Callable[..., Any])


def _written(file: Path | None, shown: str, extension: str = ".txt") -> str | None:
    """Return what stands in a file, else what somebody made of a text in an editor; None where it was left."""
    from runtime.files.file_reading import read_text_file

    return read_text_file(file) if file is not None else click.edit(shown, extension=extension)


@click.command(
    "edit",
    epilog="\b\nExamples:\n  novelgen record edit my-novel 3:2\n  novelgen record edit my-novel 3:2 --file record.json",
)
@project_argument
@click.argument("place", metavar="C:S", type=POSITION)
@click.option("--file", "record_file", type=FILE, help="The new record.  [default: open $EDITOR]")
@json_option
@click.pass_obj
def edit_record(session: CliSession, project: str, place: Any, record_file: Path | None, as_json: bool) -> None:
    """Replace a scene's record by one that you wrote, in an editor or a file.

    What came from the old record is withdrawn; a scene without a record starts with an empty one.
    """
    from runtime.story.scenes import StoryScenes

    with opened_project(session, project) as stores:
        labels, scenes = story_labels(stores, project), StoryScenes(stores, project)
        stored = scenes.get_record(position=place).record
        written = _written(
            record_file, json.dumps(stored.model_dump(mode="json"), indent=2, ensure_ascii=False), ".json"
        )
        if written is None:
            print_result(stored, labels["line.record_as_it_was"].format(place=place), as_json=as_json)
            return
        source_name = str(record_file or "the edited record")
        change = scenes.replace_record(position=place, written=written, source_name=source_name)
    for issue in change.issues:
        report_warning(issue.message)
    report_indexing(change.indexing, project)
    print_result(change, labels["line.record_replaced"].format(place=place), as_json=as_json)


def _chapter_or_part(command: F) -> F:
    """Give a command the options `--chapter` and `--part`."""
    chapter = click.option("--chapter", type=CHAPTER, help="This chapter.")
    return chapter(click.option("--part", type=COUNT, help="The part of this number.")(command))


@click.command(
    "edit",
    epilog="\b\nExamples:\n  novelgen summary edit my-novel --chapter 3\n"
    "  novelgen summary edit my-novel --part 1 --file part1.txt",
)
@project_argument
@_chapter_or_part
@click.option("--file", "text_file", type=FILE, help="The new summary.  [default: open $EDITOR]")
@json_option
@click.pass_obj
def edit_summary(
    session: CliSession, project: str, chapter: int | None, part: int | None, text_file: Path | None, as_json: bool
) -> None:
    """Write a summary yourself, in an editor or a file.

    An empty text takes what was written away: the summary is made of bullets again.
    """
    place = summary_place(chapter, part)
    if place is None:
        raise click.UsageError("give --chapter N or --part N")
    from runtime.story.summaries import StorySummarizing

    level, number = place
    with opened_project(session, project) as stores:
        labels, summaries = story_labels(stores, project), StorySummarizing(stores, project)
        shown = summaries.get_summary(level=level, number=number)
        text = _written(text_file, shown.written or shown.told)
        key = "summary_as_it_was" if text is None else "summary_written" if text.strip() else "summary_made_again"
        if text is not None:
            shown = summaries.write_author_summary(level=level, number=number, text=text)
    print_result(shown, labels[f"line.{key}"].format(name=summary_name(shown, labels)), as_json=as_json)


@click.command(
    "write",
    epilog="\b\nExamples:\n  novelgen summary write my-novel\n"
    "  novelgen summary write my-novel --part 1 --model openai:gpt-4.1-mini",
)
@project_argument
@_chapter_or_part
@click.option(
    "--model", metavar="PROVIDER:MODEL", help="Chat model.  [default: memory.summarization.model, else model]"
)
@json_option
@click.pass_obj
def write_summaries(
    session: CliSession, project: str, chapter: int | None, part: int | None, model: str | None, as_json: bool
) -> None:
    """Let a model write the summaries that nobody has written, or one of them anew.

    It is shown the bullets of the records and may say no more than they do. Yours are left alone. Where it
    fails, the summary that is made of bullets stands.
    """
    place = summary_place(chapter, part)
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
        rows = [(summary_name(each, labels), each.told) for each in result.written]
        print_table(("of", "summary"), rows, labels=labels)
        print_text(labels["line.summaries_written"].format(len(result.written), len(result.issues)))
    if result.issues:
        raise click.exceptions.Exit(ExitCode.FAILED)


@click.command(
    "chunk-context",
    epilog="\b\nExamples:\n  novelgen chunk-context my-novel --text page.txt --chapter 12\n"
    "  novelgen chunk-context my-novel --text - --limit 5 --json < page.txt",
)
@project_argument
@click.option("--text", "text_file", type=click.File(encoding="utf-8"), required=True, help="The text; - is stdin.")
@click.option(
    "--chapter",
    type=click.IntRange(min=0, max=1_000_000),
    help="Chapter it stands in: only what lies before.  [default: the whole book]",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0, max=200),
    help="At most so many memories.  [default: memory.chunk_context.limit of config.yaml, 10]",
)
@click.option(
    "--priority",
    type=click.Choice(["score", "least_recently_read"]),
    help="Which of the memories that fit come first; least_recently_read: what was not shown for longest.  "
    "[default: that of config.yaml, score]",
)
@click.option(
    "--touch/--no-touch",
    default=None,
    help="Note on the memories shown that they were read now.  [default: that of config.yaml, no]",
)
@json_option
@click.pass_obj
def chunk_context(
    session: CliSession,
    project: str,
    text_file: TextIO,
    chapter: int | None,
    limit: int | None,
    priority: str | None,
    touch: bool | None,
    as_json: bool,
) -> None:
    """Show what the translator of a text must know.

    The glossary of the names and terms in it, and the memories about them, its chapter and the book.
    """
    from runtime.chunk_context import build_chunk_context
    from runtime.story.search import StorySearch

    text = _read(text_file, "--text")
    with opened_project(session, project) as stores:
        StorySearch(stores, project).await_index()
        context = build_chunk_context(
            project, text, chapter, limit, stores=stores, priority=cast("MemoryPriority | None", priority), touch=touch
        )
        labels = story_labels(stores, project)
    if as_json:
        print_json(context)
        return
    print_text(context.text.rstrip("\n") or labels["head.nothing"])
    for issue in context.issues:
        report_issue(issue)


@click.command(
    epilog="\b\nExamples:\n  novelgen summarize scene.txt\n"
    "  novelgen summarize - --model openai:gpt-4.1-mini < scene.txt"
)
@click.argument("text_file", metavar="FILE", type=click.File(encoding="utf-8"))
@click.option(
    "--model",
    metavar="PROVIDER:MODEL",
    help="Chat model.  [default: memory.summarization.model, else model, else the scene's own sentences]",
)
@click.option("--max-bullets", type=COUNT, help="Most bullets.  [default: memory.summarization.max_bullets]")
@json_option
@click.pass_obj
def summarize(
    session: CliSession, text_file: TextIO, model: str | None, max_bullets: int | None, as_json: bool
) -> None:
    """Sum a scene up in three to five bullets; - is stdin.

    Nothing is stored. Without a model, or where it fails, the scene's own weightiest sentences are told.
    """
    from runtime.story.summaries import summarize_scene

    text = _read(text_file, "FILE")
    with opened_stores(session) as stores:
        summary = summarize_scene(text, chat_model=model, max_bullets=max_bullets, settings=stores.settings)
    if as_json:
        print_json(summary)
    else:
        print_text("\n".join(f"- {each}" for each in summary.bullets))
    for issue in summary.issues:
        report_issue(issue)


def _read(source: TextIO, said_as: str) -> str:
    from novelgen.language.scrub import require_size, scrub_text
    from novelgen.models.chunk_context import MAX_CHUNK_CHARACTERS

    try:
        text = scrub_text(source.read())
    except UnicodeDecodeError as error:
        raise UserInputError(f"{said_as} is not UTF-8: {error}; convert it first") from error
    require_size(text, "the text", limit_characters=MAX_CHUNK_CHARACTERS)
    return text
