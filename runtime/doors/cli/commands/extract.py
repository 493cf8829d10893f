"""`novelgen extract`."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import click

from novelgen.model_calls.usage import TokenPrices
from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.labels import ViewLabels, in_words
from runtime.doors.cli.output import (
    index_state,
    print_changes,
    print_condition,
    print_json,
    print_pairs,
    print_result,
    print_undo,
    progress_bars,
    report_line,
    report_warning,
)
from runtime.doors.cli.parameters import CliSession, opened_project, story_labels
from runtime.stores import MemoryStores
from runtime.story.condition import StoryConditions
from runtime.story.extraction import (
    ChapterPass,
    ExtractionEstimate,
    ExtractionReport,
    KnowledgeReport,
    RecordPass,
    ShortsReport,
    StoryExtraction,
    build_extraction_model,
)

MAX_UNPLACED_LISTED = 12
MAX_UNPLACED_CHARACTERS = 60


def extract(session: CliSession, project: str, *, as_json: bool, tell_changes: bool, **asked: Any) -> None:
    """Do `novelgen extract`."""
    retry, again, chapter, scenes = (asked.pop(each) for each in ("retry", "again", "chapter", "scenes"))
    reconcile, knowledge, shorts = (asked.pop(each) for each in ("reconcile", "knowledge", "shorts"))
    if shorts and knowledge:
        raise click.UsageError("--knowledge and --shorts are two passes; run one after the other")
    if (knowledge or shorts) and (retry or reconcile):
        name = "--knowledge" if knowledge else "--shorts"
        raise click.UsageError(f"{name} reads scenes that have a record; leave out --retry and --reconcile")
    if reconcile and (scenes or retry or asked["dry_run"]):
        raise click.UsageError("--reconcile reads no scenes; leave out --scene, --retry and --dry-run")
    if reconcile:
        _reconcile(session, project, chapter=chapter, again=again, model=asked["model"], as_json=as_json)
        return
    if scenes and (retry or again or chapter is not None):
        raise click.UsageError("--scene names the scenes; leave out --chapter, --retry and --again")
    prices = TokenPrices(price_in=asked.pop("price_in"), price_out=asked.pop("price_out"))
    chosen: dict[str, Any] = {"scenes": scenes, "chapter_index": chapter, "again": again, "prices": prices}
    if knowledge or shorts:
        over: RecordPass = "shorts" if shorts else "knowledge"
        with opened_project(session, project) as stores:
            done = _read(stores, project, over, chosen, **asked, as_json=as_json)
            labels = story_labels(stores, project)
        if done is not None:
            _tell_pass(done, project, labels, as_json=as_json)
        return
    with opened_project(session, project) as stores:
        chosen["retry_failed"] = retry
        report = _read(stores, project, None, chosen, **asked, as_json=as_json, tell_changes=tell_changes)
        if report is None:
            return
        labels = story_labels(stores, project)
        condition = None if as_json else StoryConditions(stores, project).story_condition()
    _report_scenes(report)
    if condition is None:
        print_json(report)
    else:
        _print_summary(report, project, labels)
        print_changes(report.changes)
        print_condition(condition, labels)
        print_undo(report.change_id, project, labels)
    if report.stopped is not None:
        report_line(f"error: stopped: {report.stopped}")
        report_line(f"{report.waiting} scenes wait; once it is mended, the same command goes on from there")
    if report.count("failed"):
        failed = [scene for scene in report.scenes if scene.outcome == "failed"]
        if any(not scene.had_record for scene in failed):
            report_line(f"failed scenes keep their text; try again with `novelgen extract {project} --retry`")
        kept = [f"--scene {scene.chapter_index}:{scene.scene_index}" for scene in failed if scene.had_record]
        if kept:
            report_line(f"read them once more with `novelgen extract {project} {' '.join(kept)}`")
    elif report.failed_before:
        report_line(
            f"{report.failed_before} scenes failed before; read them again with `novelgen extract {project} --retry`"
        )
    if report.count("failed") or report.stopped is not None:
        raise click.exceptions.Exit(ExitCode.FAILED)


def _read(
    stores: MemoryStores,
    project: str,
    over: RecordPass | None,
    chosen: Mapping[str, Any],
    *,
    model: str | None,
    workers: int | None,
    dry_run: bool,
    as_json: bool,
    **more: Any,
) -> Any:
    """Let a model read scenes, or go over their records; its report, or None where only the estimate was wanted."""
    chat_model = None if dry_run else build_extraction_model(stores.settings, model)
    story = StoryExtraction(stores, project)
    estimate = story.estimate_project(**chosen) if over is None else story.estimate_pass(over, **chosen)
    if dry_run:
        print_result(estimate, _estimate_line(estimate), as_json=as_json)
        return None
    if estimate.scenes:
        report_line(_estimate_line(estimate))
    run = story.extract if over is None else partial(story.run_pass, over)
    with progress_bars("scenes") as (progress,):
        progress(0, estimate.scenes)
        return run(**chosen, model=chat_model, workers=workers, progress=progress, **more)


def _tell_pass(report: KnowledgeReport | ShortsReport, project: str, labels: ViewLabels, *, as_json: bool) -> None:
    for scene in report.scenes:
        place = f"scene {scene.chapter_index}:{scene.scene_index}"
        if scene.outcome == "failed":
            report_line(f"error: {place}: {scene.reason}; it is as it was")
        elif scene.outcome == "overtaken":
            report_warning(f"{place} changed meanwhile; what the model said was dropped")
        else:
            for issue in scene.issues:
                report_warning(f"{place}: {issue.message}")
    if report.stopped is not None:
        report_line(f"error: stopped: {report.stopped}")
    is_of_shorts = isinstance(report, ShortsReport)
    if report.waiting:
        wanted = (
            "the short forms of {} scenes wait;" if is_of_shorts else "{} scenes wait to be read for who knows what;"
        )
        option = "--shorts" if is_of_shorts else "--knowledge"
        report_line(f"{wanted.format(report.waiting)} `novelgen extract {project} {option}` goes on from there")
    if not isinstance(report, ShortsReport) and report.without_record:
        report_line(
            f"{report.without_record} scenes have no record, and were not read; `novelgen extract {project}` makes them"
        )
    if as_json:
        print_json(report)
    else:
        counts = [report.count(outcome) for outcome in ("done", "failed", "overtaken")]
        print_pairs(
            {
                "project": project,
                "scenes": labels["line.done_failed_overtaken"].format(*counts),
                **_done_by(report),
                "model_calls": sum(each.model_calls for each in report.scenes),
                "tokens": _counted(report, labels),
                "price": None if report.price is None else f"{report.price:,.2f}",
                "index": index_state(report.indexing, project, labels),
            },
            labels,
        )
    if report.count("failed") or report.stopped is not None:
        raise click.exceptions.Exit(ExitCode.FAILED)


def _done_by(report: KnowledgeReport | ShortsReport) -> dict[str, int | None]:
    if isinstance(report, ShortsReport):
        return {"short_forms_rewritten": sum(each.memories for each in report.scenes), "change_id": report.change_id}
    return {
        "memories_whose_knowers_are_told": sum(each.memories for each in report.scenes),
        "earlier_memories_learnt": sum(each.learned for each in report.scenes),
    }


def _reconcile(
    session: CliSession, project: str, *, chapter: int | None, again: bool, model: str | None, as_json: bool
) -> None:
    with opened_project(session, project) as stores:
        with progress_bars("chapters") as (progress,):
            report = StoryExtraction(stores, project).reconcile_project(
                chapter_index=chapter, again=again, model=model, progress=progress
            )
        labels = story_labels(stores, project)
    _report_chapters(report.chapters)
    if as_json:
        print_json(report)
    else:
        print_pairs({labels["value.project"]: project, **_chapter_pairs(report.chapters, labels)})
    if any(each.outcome == "failed" for each in report.chapters):
        raise click.exceptions.Exit(ExitCode.FAILED)


def _report_chapters(chapters: Sequence[ChapterPass]) -> None:
    for each in chapters:
        if each.outcome == "overtaken":
            report_warning(f"chapter {each.chapter_index} changed meanwhile; what the model said was dropped")
        for issue in each.issues:
            report_warning(f"chapter {each.chapter_index}: {issue.message}")


def _chapter_pairs(chapters: Sequence[ChapterPass], labels: ViewLabels) -> dict[str, str]:
    done = [each for each in chapters if each.outcome == "done"]
    pairs = [f"{change.other_id} = {change.entity_id}" for each in done for change in each.changes]
    pairs += [f"{gone} = {stays}" for each in done for gone, stays in each.joined_memories.items()]
    parted = [f"{change.entity_id} ≠ {change.other_id}" for each in done for change in each.parted]
    names = [f"{name.entity_id} {name.name}" for each in done for name in each.names]
    names += [f"{entity_id} → {name}" for each in done for entity_id, name in each.display_names.items()]
    threads = [loop_id for each in done for loop_id in each.ended_threads]
    before = sum(each.outcome == "unchanged" for each in chapters)
    waiting = sum(each.outcome == "waiting" for each in chapters)
    told = [
        f"{len(done)} / {len(chapters)}",
        labels["line.before"].format(before) if before else "",
        labels["line.not_read_yet"].format(waiting) if waiting else "",
    ]
    return {
        labels["line.chapters_reconciled"]: labels["line.comma"].join(filter(None, told)),
        labels["line.now_one"]: ", ".join(pairs),
        labels["line.now_apart"]: ", ".join(parted),
        labels["line.new_names"]: ", ".join(names),
        labels["line.threads_ended"]: ", ".join(threads),
    }


def _estimate_line(estimate: ExtractionEstimate) -> str:
    return (
        f"{estimate.scenes} scenes to read: {estimate.calls} calls of the model, about"
        f" {_rounded(estimate.input_tokens)} tokens in and {_rounded(estimate.output_tokens)} out"
        + (f", for about {estimate.price:,.2f}" if estimate.price is not None else "")
    )


def _rounded(number: int) -> str:
    """Two digits that mean something: an estimate has no more."""
    digits = max(0, len(str(number)) - 2)
    return f"{round(number, -digits):,}"


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
    _report_chapters(report.chapters)
    for issue in report.consolidation:
        report_warning(issue.message)
    for warning in report.thread_warnings:
        report_warning(warning)


def _print_summary(report: ExtractionReport, project_id: str, labels: ViewLabels) -> None:
    scenes = report.scenes
    new_entities = [f"{entity.entity_id} {entity.name}" for each in scenes for entity in each.new_entities]
    counts = [report.count(outcome) for outcome in ("done", "failed", "overtaken")]
    unverified = sum(len(each.unverified) for each in scenes)
    of_scenes = sum(scene.model_calls for scene in report.scenes)
    # What the model said and nobody could place, with its scene; the whole list is in the JSON.
    said = [
        f"{scene.chapter_index}:{scene.scene_index} {item.text[:MAX_UNPLACED_CHARACTERS]}"
        for scene in report.scenes
        for item in scene.unplaced
    ]
    left = len(said) - MAX_UNPLACED_LISTED
    more = in_words(f"; … ({left} more with --json)") if left > 0 else ""
    print_pairs(
        {
            labels["value.project"]: project_id,
            labels["value.scenes"]: labels["line.done_failed_overtaken"].format(*counts),
            labels["value.memories"]: labels["line.memories_unverified"].format(
                sum(each.memories for each in scenes), unverified
            ),
            labels["line.new_entities"]: ", ".join(new_entities),
            labels["line.model_calls"]: of_scenes + sum(each.model_calls for each in report.chapters),
            labels["value.tokens"]: _counted(report, labels),
            labels["value.price"]: None if report.price is None else f"{report.price:,.2f}",
            labels["line.not_placed"]: "; ".join(said[:MAX_UNPLACED_LISTED]) + more if said else None,
            **(_chapter_pairs(report.chapters, labels) if report.chapters else {}),
            labels["value.index"]: index_state(report.indexing, project_id, labels),
        }
    )


def _counted(report: ExtractionReport | KnowledgeReport | ShortsReport, labels: ViewLabels) -> str | None:
    usage = report.usage
    if not usage.input_tokens and not usage.output_tokens:
        return None
    counts = (usage.input_tokens, usage.cached_tokens, usage.output_tokens)
    return labels["line.in_of_them_cached_out"].format(*(f"{count:,}" for count in counts))
