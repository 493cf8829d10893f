"""Commands with a text input: records, summaries, chunk contexts."""

import json
from pathlib import Path
from typing import Any

import click

from novelgen.language.normalise import require_size, scrub_text
from novelgen.models.chunk_context import MAX_CHUNK_CHARACTERS
from runtime.context_chain import build_chunk_context
from runtime.doors.cli import output
from runtime.doors.cli.command_parts.scenes import numbered_chapter, summary_name, summary_place
from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.labels import ViewLabels
from runtime.doors.cli.parameters import CliSession, opened_project, opened_stores, story_labels
from runtime.doors.operations import change_number
from runtime.files.file_reading import read_text_file
from runtime.story.base import await_index
from runtime.story.scenes import StoryRecordFiles
from runtime.story.summaries import StorySummarizing, summarize_scene


def _written(file: Path | None, shown_text: str, extension: str = ".txt") -> str | None:
    """Return an edited text, or None if unchanged."""
    return read_text_file(file) if file is not None else click.edit(shown_text, extension=extension)


def edit_record(session: CliSession, project: str, place: Any, record_file: Path | None, as_json: bool) -> None:
    """Do `novelgen record edit`."""
    with opened_project(session, project) as stores:
        labels, scenes = story_labels(stores, project), StoryRecordFiles(stores, project)
        stored_record = scenes.get_record(position=place).record
        written_form = _written(
            record_file, json.dumps(stored_record.model_dump(mode="json"), indent=2, ensure_ascii=False), ".json"
        )
        if written_form is None:
            output.print_result(stored_record, labels["line.record_as_it_was"].format(place=place), as_json=as_json)
            return
        source_name = str(record_file or "the edited record")
        change = scenes.replace_record(position=place, written=written_form, source_name=source_name)
    for issue in change.issues:
        output.report_warning(issue.message)
    output.report_indexing(change.indexing, project)
    _print_change(change, labels["line.record_replaced"].format(place=place), project, labels, as_json=as_json)


def _print_change(result: Any, line: str, project: str, labels: ViewLabels, *, as_json: bool) -> None:
    """Print the result, and the undo command for people."""
    output.print_result(result, line, as_json=as_json)
    if not as_json:
        output.print_undo(change_number(result), project, labels)


def edit_summary(
    session: CliSession,
    project: str,
    chapter: int | str | None,
    part: int | None,
    text_file: Path | None,
    as_json: bool,
) -> None:
    """Do `novelgen summary edit`."""
    place = summary_place(chapter, part)
    if place is None:
        raise click.UsageError("give one of --chapter N and --part N")
    level, number = place
    with opened_project(session, project) as stores:
        number = numbered_chapter(stores, project, number)
        labels, summaries = story_labels(stores, project), StorySummarizing(stores, project)
        shown_summary = summaries.get(level=level, number=number)
        text = _written(text_file, shown_summary.written or shown_summary.told)
        key = "summary_as_it_was" if text is None else "summary_written" if text.strip() else "summary_made_again"
        if text is not None:
            shown_summary = summaries.write(level=level, number=number, text=text)
    told_text = labels[f"line.{key}"].format(name=summary_name(shown_summary, labels))
    _print_change(shown_summary, told_text, project, labels, as_json=as_json)


def write_summaries(
    session: CliSession, project: str, chapter: int | str | None, part: int | None, model: str | None, as_json: bool
) -> None:
    """Do `novelgen summary write`."""
    place = summary_place(chapter, part)
    with opened_project(session, project) as stores:
        place = place and (place[0], numbered_chapter(stores, project, place[1]))
        labels = story_labels(stores, project)
        with output.progress_bars("summaries") as (progress,):
            result = StorySummarizing(stores, project).write_with_model(only=place, model=model, progress=progress)
    for issue in result.issues:
        output.report_warning(issue.message)
    if as_json:
        output.print_json(result)
    else:
        rows = [(summary_name(summary, labels), summary.told) for summary in result.written]
        output.print_table(("of", "summary"), rows, labels=labels)
        output.print_text(labels["line.summaries_written"].format(len(result.written), len(result.issues)))
        for summary in result.written:
            output.print_undo(summary.change_id, project, labels)
    if result.issues:
        raise click.exceptions.Exit(ExitCode.FAILED)


def chunk_context(
    session: CliSession,
    project: str,
    text_file: str,
    chapter: int | str | None,
    scene: int | None,
    as_json: bool,
    left_out: bool,
    **arguments: Any,
) -> None:
    """Do `novelgen chunk-context`."""
    text = _of_bounded_size(text_file)
    with opened_project(session, project) as stores:
        await_index(stores, project)
        number = numbered_chapter(stores, project, chapter)
        context = build_chunk_context(
            project, text, number, scene_index=scene, with_left_out=left_out, stores=stores, **arguments
        )
        labels = story_labels(stores, project)
    if as_json:
        output.print_json(context)
        return
    output.print_text(context.text.rstrip("\n") or labels["head.nothing"])
    if context.left_out:
        output.print_text(f"\n{labels['line.left_out']}")
    for memory in context.left_out:
        output.print_text(f"- {memory.chunk.memory_id}  {memory.chunk.content}")
    for issue in context.issues:
        output.report_issue(issue)


def summarize(session: CliSession, text_file: str, model: str | None, max_bullets: int | None, as_json: bool) -> None:
    """Do `novelgen summarize`."""
    text = _of_bounded_size(text_file)
    with opened_stores(session) as stores:
        summary = summarize_scene(text, chat_model=model, max_bullets=max_bullets, settings=stores.settings)
    if as_json:
        output.print_json(summary)
    else:
        output.print_text("\n".join(f"- {bullet}" for bullet in summary.bullets))
    for issue in summary.issues:
        output.report_issue(issue)


def _of_bounded_size(text: str) -> str:
    clean = scrub_text(text)
    require_size(clean, "the text", limit_characters=MAX_CHUNK_CHARACTERS)
    return clean
