"""`novelgen extract`."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import click

from novelgen.model_calls.usage import TokenPrices
from runtime.doors.cli import output
from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.labels import ViewLabels, in_words
from runtime.doors.cli.parameters import CliSession, opened_project, story_labels
from runtime.stores import MemoryStores
from runtime.story import extraction
from runtime.story.condition import StoryUpkeep

MAX_UNPLACED_LISTED = 12
MAX_UNPLACED_CHARACTERS = 60

Report = extraction.ExtractionReport | extraction.KnowledgeReport | extraction.ShortsReport


def extract(session: CliSession, project: str, *, as_json: bool, tell_changes: bool, **arguments: Any) -> None:
    """Do `novelgen extract`."""
    retry, again, chapter, scenes = (arguments.pop(kind) for kind in ("retry", "again", "chapter", "scenes"))
    reconcile, knowledge, shorts = (arguments.pop(kind) for kind in ("reconcile", "knowledge", "shorts"))
    if shorts and knowledge:
        raise click.UsageError("--knowledge and --shorts are two passes; run one after the other")
    if (knowledge or shorts) and (retry or reconcile):
        name = "--knowledge" if knowledge else "--shorts"
        raise click.UsageError(f"{name} reads scenes that have a record; leave out --retry and --reconcile")
    if reconcile and (scenes or retry or arguments["dry_run"]):
        raise click.UsageError("--reconcile reads no scenes; leave out --scene, --retry and --estimate")
    if scenes and (retry or again or chapter is not None):
        raise click.UsageError("--scene names the scenes; leave out --chapter, --retry and --again")
    if reconcile:
        _reconcile(session, project, chapter=chapter, again=again, model=arguments["model"], as_json=as_json)
        return
    prices = TokenPrices(price_in=arguments.pop("price_in"), price_out=arguments.pop("price_out"))
    # Who names a scene at a prompt wants it read, read before or not.
    again = again or bool(scenes)
    pass_options: dict[str, Any] = {"scenes": scenes, "chapter_index": chapter, "again": again, "prices": prices}
    over: extraction.RecordPass | None = "shorts" if shorts else "knowledge" if knowledge else None
    more: dict[str, Any] = {}
    if over is None:
        pass_options["retry_failed"], more["tell_changes"] = retry, tell_changes
    with opened_project(session, project) as stores:
        report = _read(stores, project, over, pass_options, **arguments, as_json=as_json, **more)
        if report is None:
            return
        labels = story_labels(stores, project)
        condition = None if over is not None or as_json else StoryUpkeep(stores, project).condition()
    _report_scenes(report)
    if as_json:
        output.print_json(report)
    else:
        _print_summary(report, project, labels)
    if condition is not None:
        output.print_changes(report.changes)
        output.print_condition(condition, labels)
        output.print_undo(report.change_id, project, labels)
    _report_what_is_left(report, project)
    if report.count("failed") or report.stopped is not None:
        raise click.exceptions.Exit(ExitCode.FAILED)


def _read(
    stores: MemoryStores,
    project: str,
    over: extraction.RecordPass | None,
    pass_options: Mapping[str, Any],
    *,
    model: str | None,
    workers: int | None,
    dry_run: bool,
    as_json: bool,
    **more: Any,
) -> Any:
    """Let a model read scenes, and return its report, None for an estimate."""
    chat_model = None if dry_run else extraction.build_extraction_model(stores.settings, model)
    story = extraction.StoryExtractionRuns(stores, project)
    estimate = story.estimate_project(**pass_options) if over is None else story.estimate_pass(over, **pass_options)
    if dry_run:
        output.print_result(estimate, _estimate_line(estimate), as_json=as_json)
        return None
    if estimate.scenes:
        output.report_line(_estimate_line(estimate))
    run = story.extract if over is None else partial(story.run_pass, over)
    with output.progress_bars("scenes") as (progress,):
        progress(0, estimate.scenes)
        return run(**pass_options, model=chat_model, workers=workers, progress=progress, **more)


def _report_scenes(report: Report) -> None:
    is_pass = not isinstance(report, extraction.ExtractionReport)
    for scene in report.scenes:
        place = f"scene {scene.chapter_index}:{scene.scene_index}"
        if scene.outcome == "failed":
            kept_text = "; its record of before is kept" if getattr(scene, "had_record", False) else ""
            output.report_line(
                f"error: {place}: {scene.reason}; it is as it was"
                if is_pass
                else f"error: {place}: {scene.reason}{kept_text}"
            )
        elif scene.outcome == "overtaken":
            output.report_warning(f"{place} changed meanwhile; what the model said was dropped")
        else:
            for issue in scene.issues:
                output.report_warning(f"{place}: {issue.message}")
    if isinstance(report, extraction.ExtractionReport):
        _report_chapters(report.chapters)
        for warning in (*(issue.message for issue in report.consolidation), *report.thread_warnings):
            output.report_warning(warning)


def _report_what_is_left(report: Report, project: str) -> None:
    """Print the reason of a stop and the command to continue."""
    if report.stopped is not None:
        output.report_line(f"error: stopped: {report.stopped}")
    if isinstance(report, extraction.ShortsReport):
        if report.waiting:
            output.report_line(
                f"the short forms of {report.waiting} scenes wait; `novelgen extract {project} --shorts` goes on from"
                " there"
            )
        return
    if isinstance(report, extraction.KnowledgeReport):
        if report.waiting:
            output.report_line(
                f"{report.waiting} scenes wait to be read for who knows what; `novelgen extract {project} --knowledge`"
                " goes on from there"
            )
        if report.without_record:
            output.report_line(
                f"{report.without_record} scenes have no record, and were not read; `novelgen extract {project}` makes"
                " them"
            )
        return
    if report.stopped is not None:
        output.report_line(f"{report.waiting} scenes wait; once it is mended, the same command goes on from there")
    failed = [scene for scene in report.scenes if scene.outcome == "failed"]
    if any(not scene.had_record for scene in failed):
        output.report_line(f"failed scenes keep their text; try again with `novelgen extract {project} --retry`")
    if kept_texts := [f"--scene {scene.chapter_index}:{scene.scene_index}" for scene in failed if scene.had_record]:
        output.report_line(f"read them once more with `novelgen extract {project} {' '.join(kept_texts)}`")
    if report.failed_before and not failed:
        output.report_line(
            f"{report.failed_before} scenes failed before; read them again with `novelgen extract {project} --retry`"
        )


def _print_summary(report: Report, project: str, labels: ViewLabels) -> None:
    counts = [report.count(outcome) for outcome in ("done", "failed", "overtaken")]
    chapters = report.chapters if isinstance(report, extraction.ExtractionReport) else []
    usage = report.usage
    token_counts = (usage.input_tokens, usage.cached_tokens, usage.output_tokens)
    is_counted = usage.input_tokens or usage.output_tokens
    output.print_pairs(
        {
            "project": project,
            "scenes": labels["line.done_failed_overtaken"].format(*counts),
            **_results_by_heading(report, labels),
            "model_calls": sum(item.model_calls for item in (*report.scenes, *chapters)),
            "tokens": labels["line.in_of_them_cached_out"].format(*(f"{n:,}" for n in token_counts))
            if is_counted
            else None,
            "price": None if report.price is None else f"{report.price:,.2f}",
            **(_chapter_pairs(chapters, labels) if chapters else {}),
            "index": output.index_state(report.indexing, project, labels),
        },
        labels,
    )


def _results_by_heading(report: Report, labels: ViewLabels) -> dict[str, Any]:
    """Return the model's results by heading."""
    memories = sum(scene.memories for scene in report.scenes)
    if isinstance(report, extraction.ShortsReport):
        return {"short_forms_rewritten": memories, "change_id": report.change_id}
    if isinstance(report, extraction.KnowledgeReport):
        learned_count = sum(scene_knowledge_reading.learned for scene_knowledge_reading in report.scenes)
        return {"memories_whose_knowers_are_told": memories, "earlier_memories_learnt": learned_count}
    new = [f"{entity.entity_id} {entity.name}" for extraction in report.scenes for entity in extraction.new_entities]
    # What the model said and nobody could place, with its scene; the whole list is in the JSON.
    statements = [
        f"{scene.chapter_index}:{scene.scene_index} {item.text[:MAX_UNPLACED_CHARACTERS]}"
        for scene in report.scenes
        for item in scene.unplaced
    ]
    remaining_count = len(statements) - MAX_UNPLACED_LISTED
    more = in_words(f"; … ({remaining_count} more with --json)") if remaining_count > 0 else ""
    unverified = sum(len(extraction.unverified) for extraction in report.scenes)
    return {
        "memories": labels["line.memories_unverified"].format(memories, unverified),
        "new_entities": labels.listing(new),
        "not_placed": labels.prompt.separator.join(statements[:MAX_UNPLACED_LISTED]) + more,
    }


def _reconcile(
    session: CliSession, project: str, *, chapter: int | None, again: bool, model: str | None, as_json: bool
) -> None:
    with opened_project(session, project) as stores:
        with output.progress_bars("chapters") as (progress,):
            report = extraction.StoryReconciliation(stores, project).reconcile(
                chapter_index=chapter, again=again, model=model, progress=progress
            )
        labels = story_labels(stores, project)
    _report_chapters(report.chapters)
    if as_json:
        output.print_json(report)
    else:
        output.print_pairs({"project": project, **_chapter_pairs(report.chapters, labels)}, labels)
    if any(chapter_pass.outcome == "failed" for chapter_pass in report.chapters):
        raise click.exceptions.Exit(ExitCode.FAILED)


def _report_chapters(chapters: Sequence[extraction.ChapterPass]) -> None:
    for chapter_pass in chapters:
        if chapter_pass.outcome == "overtaken":
            output.report_warning(
                f"chapter {chapter_pass.chapter_index} changed meanwhile; what the model said was dropped"
            )
        for issue in chapter_pass.issues:
            output.report_warning(f"chapter {chapter_pass.chapter_index}: {issue.message}")


def _chapter_pairs(chapters: Sequence[extraction.ChapterPass], labels: ViewLabels) -> dict[str, str]:
    chapter_passes = [chapter_pass for chapter_pass in chapters if chapter_pass.outcome == "done"]
    pairs = [
        f"{change.other_id} = {change.entity_id}" for chapter_pass in chapter_passes for change in chapter_pass.changes
    ]
    pairs += [
        f"{removed_id} = {stays}"
        for chapter_pass in chapter_passes
        for removed_id, stays in chapter_pass.joined_memories.items()
    ]
    names = [f"{name.entity_id} {name.name}" for chapter_pass in chapter_passes for name in chapter_pass.names]
    names += [f"{entity_id} → {name}" for item in chapter_passes for entity_id, name in item.display_names.items()]
    labels_by_count = {"unchanged": "line.before", "waiting": "line.not_read_yet"}
    others = {
        key: sum(chapter_pass.outcome == outcome for chapter_pass in chapters)
        for outcome, key in labels_by_count.items()
    }
    lines = [
        f"{len(chapter_passes)} / {len(chapters)}",
        *(labels[key].format(count) for key, count in others.items() if count),
    ]
    return {
        "chapters_reconciled": labels["line.comma"].join(lines),
        "now_one": labels.listing(pairs),
        "now_apart": labels.listing(
            f"{part.entity_id} ≠ {part.other_id}" for item in chapter_passes for part in item.parted
        ),
        "new_names": labels.listing(names),
        "threads_ended": labels.listing(
            loop_id for chapter_pass in chapter_passes for loop_id in chapter_pass.ended_threads
        ),
    }


def _estimate_line(estimate: extraction.ExtractionEstimate) -> str:
    return (
        f"{estimate.scenes} scenes to read: {estimate.calls} calls of the model, about"
        f" {_rounded(estimate.input_tokens)} tokens in and {_rounded(estimate.output_tokens)} out"
        + (f", for about {estimate.price:,.2f}" if estimate.price is not None else "")
    )


def _rounded(number: int) -> str:
    """Two digits that mean something: an estimate has no more."""
    digits = max(0, len(str(number)) - 2)
    return f"{round(number, -digits):,}"
