"""`novelgen consolidate`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from runtime.doors.cli.labels import place_text
from runtime.doors.cli.opening import opened_project, story_labels
from runtime.doors.cli.output import (
    index_state,
    print_json,
    print_pairs,
    print_result,
    print_table,
    progress_bars,
    report_warning,
)
from runtime.doors.cli.parameters import COUNT, CliSession, json_option, project_argument

if TYPE_CHECKING:
    from runtime.doors.cli.labels import ViewLabels
    from runtime.story.extraction import ConsolidationReport

_EXAMPLES = """\b
Examples:
  novelgen consolidate my-novel --dry-run
  novelgen consolidate my-novel --limit 200
  novelgen consolidate my-novel --list
  novelgen consolidate my-novel --undo consolidated-0123456789abcdef
  novelgen consolidate my-novel --undo-all"""


@click.command(epilog=_EXAMPLES)
@project_argument
@click.option(
    "--limit",
    type=COUNT,
    help="Most memories per entity.  [default: memory.consolidation.max_memories_per_entity, else 300]",
)
@click.option("--no-model", is_flag=True, help="Join the memories' own sentences, though a model is set.")
@click.option("--dry-run", is_flag=True, help="Only show what would be consolidated.")
@click.option("--list", "listing", is_flag=True, help="List the consolidated memories with their sources.")
@click.option("--undo", metavar="ID", help="Take one consolidated memory back.")
@click.option("--undo-all", is_flag=True, help="Take all consolidated memories back.")
@json_option
@click.pass_obj
def consolidate(
    session: CliSession,
    project: str,
    limit: int | None,
    no_model: bool,
    dry_run: bool,
    listing: bool,
    undo: str | None,
    undo_all: bool,
    as_json: bool,
) -> None:
    """Let one memory stand for several small ones.

    Done where an entity has more memories than a limit.

    Taken together are the least important memories of an entity that lie near each other in the story and speak of
    one topic. A scene after the last of them reads the one memory, earlier scenes read them as before; they are
    kept, and come back when one of them changes or you undo it. Important ones, your own, promises not yet kept and
    what belongs to open threads are never touched.
    """
    if sum([listing, undo is not None, undo_all, dry_run]) > 1:
        raise click.UsageError("give only one of --dry-run, --list, --undo and --undo-all")
    if (listing or undo is not None or undo_all) and (limit is not None or no_model):
        raise click.UsageError("--list, --undo and --undo-all go without --limit and --no-model")
    if listing:
        _list(session, project, as_json=as_json)
    elif undo is not None or undo_all:
        _undo(session, project, undo, as_json=as_json)
    else:
        _consolidate(session, project, limit, with_model=not no_model, dry_run=dry_run, as_json=as_json)


def _list(session: CliSession, project: str, *, as_json: bool) -> None:
    from runtime.story.extraction import StoryConsolidation

    with opened_project(session, project) as stores:
        found = StoryConsolidation(stores, project).list_consolidations()
        labels = story_labels(stores, project)
    if as_json:
        print_json(found)
        return
    rows = [
        (
            each.chunk.chunk_id,
            place_text(each.chunk.chapter_index, each.chunk.scene_index, labels),
            ", ".join(each.source_ids),
            each.chunk.content,
        )
        for each in found
    ]
    print_table((labels.entity_id, labels.place, labels.value("stands for"), labels.text), rows, wide=3)


def _undo(session: CliSession, project: str, chunk_id: str | None, *, as_json: bool) -> None:
    from runtime.story.extraction import StoryConsolidation

    with opened_project(session, project) as stores:
        undone = StoryConsolidation(stores, project).undo_consolidations(chunk_id=chunk_id)
    told = f"took back {len(undone)} consolidated memories; their sources are read again"
    print_result({"undone": undone}, told, as_json=as_json)


def _consolidate(
    session: CliSession, project: str, limit: int | None, *, with_model: bool, dry_run: bool, as_json: bool
) -> None:
    from runtime.story.extraction import StoryConsolidation

    with opened_project(session, project) as stores, progress_bars("consolidating") as (progress,):
        report = StoryConsolidation(stores, project).consolidate_memories(
            limit=limit, with_model=with_model, dry_run=dry_run, progress=progress
        )
        labels = story_labels(stores, project)
    if as_json:
        print_json(report)
    else:
        _print_report(report, project, labels)
    for issue in [*report.issues, *report.indexing.issues]:
        report_warning(issue.message)


def _print_report(report: ConsolidationReport, project_id: str, labels: ViewLabels) -> None:
    sources = sum(len(group.source_ids) for group in report.groups)
    by_model = sum(group.is_models for group in report.groups)
    done = labels.value("{} memories into {}").format(sources, len(report.groups))
    if not report.dry_run:
        done += labels.value(", {} of them written by the model").format(by_model)
    overtaken = labels.value("{} groups, left alone").format(report.overtaken) if report.overtaken else None
    print_pairs(
        {
            labels.value("project"): project_id,
            labels.value("limit"): labels.value("{} memories per entity").format(report.limit),
            labels.value("would consolidate" if report.dry_run else "consolidated"): done,
            labels.value("memories"): f"{report.memories_before} -> {report.memories_after}",
            labels.value("still over the limit"): ", ".join(
                f"{name} {count}" for name, count in report.over_limit.items()
            ),
            labels.value("changed meanwhile"): overtaken,
            labels.value("index"): None if report.dry_run else index_state(report.indexing, project_id, labels),
        }
    )
    if report.dry_run:
        rows = [(group.entity_id, ", ".join(group.source_ids)) for group in report.groups]
        print_table((labels.entity, labels.value("memories")), rows, wide=1)
