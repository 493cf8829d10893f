"""`novelgen ingest` and `import-book`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.opening import opened_stores, story_labels
from runtime.doors.cli.output import (
    index_state,
    print_changes,
    print_condition,
    print_json,
    print_pairs,
    print_remarks,
    progress_bars,
    report_line,
    report_warning,
)
from runtime.doors.cli.parameters import (
    CHAPTER,
    FILE,
    FOLDER,
    CliSession,
    changes_option,
    json_option,
    project_argument,
)

if TYPE_CHECKING:
    from runtime.doors.cli.labels import ViewLabels
    from runtime.story.ingest import IngestReport


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
@click.option("--chapter", type=CHAPTER, help="Only this chapter.  [default: all]")
@click.option(
    "--keep-remarks",
    is_flag=True,
    help="Leave what the author says to readers (求月票, PS：…, Author's note) in chapters of text.",
)
@changes_option
@json_option
@click.pass_obj
def ingest(
    session: CliSession,
    project: str,
    files: tuple[Path, ...],
    records: bool | None,
    chapter: int | None,
    keep_remarks: bool,
    tell_changes: bool,
    as_json: bool,
) -> None:
    """Store finished chapters, characters, entities and records.

    Reads chapters/chapter_NNN.json, .txt or .md (or the FILES, named alike), characters.json, entities.json and
    records/chapter_NNN_records.json, and what novel-gen remembered in chapter_memory.json. A text with the headings of
    several chapters is split. What is stored already and has not changed is left alone; a changed scene takes the
    place of what came from it before.
    """
    from runtime.story.ingest import StoryIngest

    with opened_stores(session, project) as stores:
        with progress_bars("scenes", "index") as (progress, index_progress):
            report = StoryIngest(stores, project).ingest_project(
                files=files,
                records=records,
                chapter_index=chapter,
                keep_remarks=keep_remarks,
                tell_changes=tell_changes,
                progress=progress,
                index_progress=index_progress,
            )
        labels = story_labels(stores, project)
    _show(report, labels, as_json=as_json)


@click.command("import-book", epilog="\b\nExample:\n  novelgen import-book books/moby --project moby --records")
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option("--project", required=True, help="Project to import into; it is created when there is none.")
@click.option("--records", is_flag=True, help="Also take entities.jsonl and records.jsonl.")
@changes_option
@json_option
@click.pass_obj
def import_book(
    session: CliSession, folder: Path, project: str, records: bool, tell_changes: bool, as_json: bool
) -> None:
    """Import a book from a folder of JSON Lines.

    DIR holds scenes.jsonl, meta.json and, for --records, entities.jsonl and records.jsonl. Ids of the book are
    kept, and importing again changes nothing.
    """
    from runtime.story.ingest import StoryIngest

    with opened_stores(session, project) as stores:
        with progress_bars("scenes", "index") as (progress, index_progress):
            report = StoryIngest(stores, project).import_book_folder(
                folder=folder,
                records=records,
                tell_changes=tell_changes,
                progress=progress,
                index_progress=index_progress,
            )
        labels = story_labels(stores, project)
    _show(report, labels, as_json=as_json)


def _show(report: IngestReport, labels: ViewLabels, *, as_json: bool) -> None:
    for warning in report.warnings:
        report_warning(warning)
    for failure in report.failures:
        report_line(f"error: {failure}")
    if as_json:
        print_json(report)
    else:
        counts = [report.count(outcome) for outcome in ("added", "replaced", "unchanged")]
        told = labels.value("{} new, {} changed, {} unchanged, {} failed")
        ended = [f"{later} → {earlier}" for scene in report.scenes for later, earlier in scene.ended.items()]
        print_pairs(
            {
                labels.value("project"): report.project_id,
                labels.value("scenes"): told.format(*counts, len(report.failures)),
                labels.value("memories"): report.memories,
                **({labels.value("ended by rule"): ", ".join(ended)} if ended else {}),
                labels.value("entities"): report.entities,
                labels.value("index"): index_state(report.indexing, report.project_id, labels),
            }
        )
        print_remarks(report.remarks, labels)
        print_changes(report.changes)
        if report.condition is not None:
            print_condition(report.condition, labels)
    if report.failures:
        report_line("what failed was left out: correct it and run the same command again")
        raise click.exceptions.Exit(ExitCode.FAILED)
