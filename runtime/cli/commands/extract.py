"""`novelgen extract`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from runtime.cli.error_handling import ExitCode
from runtime.cli.opening import opened_project, story_labels
from runtime.cli.output import (
    index_state,
    print_json,
    print_pairs,
    progress_bars,
    report_line,
    report_warning,
)
from runtime.cli.parameters import CHAPTER, POSITION, CliSession, json_option, project_argument

if TYPE_CHECKING:
    from novelgen.models.position import StoryPosition
    from runtime.cli.labels import ViewLabels
    from runtime.services.extraction import ExtractionReport


@click.command(
    epilog="\b\nExamples:\n  novelgen extract my-novel\n  novelgen extract my-novel --retry\n"
    "  novelgen extract my-novel --chapter 7 --model openai:gpt-4.1-mini\n"
    "  novelgen extract my-novel --scene 7:2 --scene 7:3"
)
@project_argument
@click.option("--retry", is_flag=True, help="Also the scenes whose extraction failed before.")
@click.option("--again", is_flag=True, help="Also the scenes that a model read before.")
@click.option("--chapter", type=CHAPTER, help="Only this chapter.  [default: all]")
@click.option(
    "--scene",
    "scenes",
    type=POSITION,
    multiple=True,
    help="Only this scene, read before or not; several with one --scene each.",
)
@click.option(
    "--model", metavar="PROVIDER:MODEL", help="Chat model.  [default: memory.summarization.model, else model]"
)
@json_option
@click.pass_obj
def extract(
    session: CliSession,
    project: str,
    retry: bool,
    again: bool,
    chapter: int | None,
    scenes: tuple[StoryPosition, ...],
    model: str | None,
    as_json: bool,
) -> None:
    """Let a model read the stored scenes that have no record.

    What it finds (memories, states, relationships, open threads, new people and places) is stored with the
    quote that proves it. Records that you wrote or supplied are left alone. A scene that cannot be read keeps its
    text and is marked failed, with the reason.

    With --scene or --again scenes are read anew: what the model said before is replaced, what you wrote or
    changed stays. Where that fails, the record of before is kept.
    """
    if scenes and (retry or again or chapter is not None):
        raise click.UsageError("--scene names the scenes; leave out --chapter, --retry and --again")
    from runtime.services.extraction import count_failed_scenes, extract_project

    with opened_project(session, project) as stores:
        with progress_bars("scenes") as (progress,):
            report = extract_project(
                stores,
                project,
                scenes=scenes,
                chapter_index=chapter,
                retry_failed=retry,
                again=again,
                model=model,
                progress=progress,
            )
        failed = count_failed_scenes(stores, project)
        labels = story_labels(stores, project)
    _report_scenes(report)
    if as_json:
        print_json(report)
    else:
        _print_summary(report, project, labels)
    if report.count("failed"):
        _report_ways_out(report, project)
    elif failed:
        report_line(
            f"{failed} scenes failed before; read them again with `novelgen extract {project} --retry`"
        )
    if report.count("failed"):
        raise click.exceptions.Exit(ExitCode.FAILED)


def _report_scenes(report: ExtractionReport) -> None:
    for scene in report.scenes:
        place = f"scene {scene.chapter_index}:{scene.scene_index}"
        if scene.outcome == "failed":
            kept = "; its record of before is kept" if scene.had_record else ""
            report_line(f"error: {place}: {scene.reason}{kept}")
        elif scene.outcome == "overtaken":
            report_warning(f"{place} changed meanwhile; what the model said was dropped")
        else:
            for issue in scene.issues:
                report_warning(f"{place}: {issue.message}")
    for issue in report.consolidation:
        report_warning(issue.message)


def _report_ways_out(report: ExtractionReport, project_id: str) -> None:
    failed = [scene for scene in report.scenes if scene.outcome == "failed"]
    if any(not scene.had_record for scene in failed):
        report_line(f"failed scenes keep their text; try again with `novelgen extract {project_id} --retry`")
    kept = [f"--scene {scene.chapter_index}:{scene.scene_index}" for scene in failed if scene.had_record]
    if kept:
        report_line(f"read them once more with `novelgen extract {project_id} {' '.join(kept)}`")


def _print_summary(report: ExtractionReport, project_id: str, labels: ViewLabels) -> None:
    scenes = report.scenes
    new_entities = [f"{entity.entity_id} {entity.name}" for each in scenes for entity in each.new_entities]
    counts = [report.count(outcome) for outcome in ("done", "failed", "overtaken")]
    unverified = sum(len(each.unverified) for each in scenes)
    print_pairs(
        {
            labels.value("project"): project_id,
            labels.value("scenes"): labels.value("{} done, {} failed, {} overtaken").format(*counts),
            labels.value("memories"): labels.value("{}, {} facts without a quote in the scene").format(
                sum(each.memories for each in scenes), unverified
            ),
            labels.value("new entities"): ", ".join(new_entities),
            labels.value("model calls"): sum(each.model_calls for each in scenes),
            labels.value("index"): index_state(report.indexing, project_id, labels),
        }
    )
