"""Extracting records with the configured model."""

from __future__ import annotations

import click

from runtime.cli.error_handling import ExitCode
from runtime.cli.index_following import index_state
from runtime.cli.opening import opened_project
from runtime.cli.output import print_json, print_pairs, progress_bars, report_line
from runtime.cli.parameters import CliSession
from runtime.extraction_model import build_extraction_model, extraction_settings, with_extraction_model
from runtime.ingest.extraction import ExtractionReport, extract_scenes
from runtime.ingest.extraction_choice import ExtractionChoice


def extract_project(
    session: CliSession,
    project_id: str,
    *,
    choice: ExtractionChoice,
    model: str | None,
    as_json: bool,
) -> None:
    """Extract what is chosen and print a summary.

    Raises:
        UnknownProjectError: When no such project is stored.
        UnknownSceneError: When a scene that is named is not stored.
        UserInputError: When a scene that is named has a record that no model made.
        ConfigurationError: When no model is configured, or it cannot be built.
        Exit: When a scene failed; the others are stored.
    """
    with opened_project(session, project_id) as stores:
        settings = with_extraction_model(stores.settings, model)
        with progress_bars("scenes") as (progress,):
            report = extract_scenes(
                stores,
                project_id,
                build_extraction_model(settings),
                choice=choice,
                settings=extraction_settings(settings),
                progress=progress,
            )
    _report_scenes(report)
    if as_json:
        print_json(report)
    else:
        _print_summary(report, project_id)
    if report.count("failed"):
        _report_ways_out(report, project_id)
        raise click.exceptions.Exit(ExitCode.FAILED)


def _report_scenes(report: ExtractionReport) -> None:
    for scene in report.scenes:
        place = f"scene {scene.chapter_index}:{scene.scene_index}"
        if scene.outcome == "failed":
            kept = "; its record of before is kept" if scene.had_record else ""
            report_line(f"error: {place}: {scene.reason}{kept}")
        elif scene.outcome == "overtaken":
            report_line(f"warning: {place} changed meanwhile; what the model said was dropped")
        else:
            for issue in scene.issues:
                report_line(f"warning: {place}: {issue.message}")
    for issue in report.consolidation:
        report_line(f"warning: {issue.message}")


def _report_ways_out(report: ExtractionReport, project_id: str) -> None:
    failed = [scene for scene in report.scenes if scene.outcome == "failed"]
    if any(not scene.had_record for scene in failed):
        report_line(f"failed scenes keep their text; try again with `novelgen extract {project_id} --retry`")
    kept = [f"--scene {scene.chapter_index}:{scene.scene_index}" for scene in failed if scene.had_record]
    if kept:
        report_line(f"read them once more with `novelgen extract {project_id} {' '.join(kept)}`")


def _print_summary(report: ExtractionReport, project_id: str) -> None:
    scenes = report.scenes
    print_pairs(
        {
            "project": project_id,
            "scenes": f"{report.count('done')} done, {report.count('failed')} failed, "
            f"{report.count('overtaken')} overtaken",
            "memories": f"{sum(each.memories for each in scenes)}, "
            f"{sum(len(each.unverified) for each in scenes)} facts without a quote in the scene",
            "new entities": ", ".join(
                f"{entity.entity_id} {entity.name}" for each in scenes for entity in each.new_entities
            ),
            "model calls": sum(each.model_calls for each in scenes),
            "index": index_state(report.indexing, project_id),
        }
    )
