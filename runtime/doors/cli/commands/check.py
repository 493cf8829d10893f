"""`novelgen check`."""

from pathlib import Path
from typing import Any, TextIO

import click

from novelgen.checking.findings import where_told
from novelgen.errors import UserInputError
from novelgen.models.continuity import ContinuityIssue, DraftCheck
from novelgen.models.plan import ScenePlan
from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.labels import ViewLabels, view_labels_for
from runtime.doors.cli.output import (
    print_heading,
    print_json,
    print_result,
    print_table,
    print_text,
    progress_bars,
    report_issue,
    report_line,
    report_warning,
)
from runtime.doors.cli.parameters import CliSession, opened_project, opened_stores
from runtime.stores import MemoryStores
from runtime.story.continuity import StoryContinuity
from runtime.story.draft_checker import CheckOptions, StoryDraftBatches
from runtime.story.scene_plans import StoryScenePlans

MAX_TEXT_SHOWN = 300
"""So many characters of a piece of evidence are shown; what proves the finding is quoted whole."""

MAX_EVIDENCE_SHOWN = 3
"""So many pieces of evidence are shown of a finding; all are in the JSON."""


def check(session: CliSession, project: str, **asked: Any) -> None:
    """Do `novelgen check`."""
    given = {
        f"--{name.removesuffix('_file').replace('_', '-')}"
        for name, value in {**asked, "json": asked["as_json"]}.items()
        if value is not None and value is not False
    }
    chosen = [way for way in _GOES_WITH if way in given]
    if len(chosen) != 1:
        raise click.UsageError(f"give one of {', '.join(_GOES_WITH)}")
    [way] = chosen
    if way == "--drafts" and "--out" not in given:
        raise click.UsageError("--drafts needs --out")
    surplus = [name for name in _OPTIONS if name in given and name not in _GOES_WITH[way].split()]
    if surplus:
        raise click.UsageError(f"{way} goes without {', '.join(surplus)}")
    if "--scene" in given and "--chapter" not in given:
        raise click.UsageError("--scene needs --chapter")
    model, note, place = asked["model"], asked["note"] or "", (asked["chapter"], asked["scene"])
    if model is not None and asked["no_model"]:
        raise click.UsageError("give --model or --no-model, not both")
    shown = {"with_waived": asked["with_waived"], "as_json": asked["as_json"]}
    if way in ("--waive", "--unwaive"):
        with opened_project(session, project) as stores:
            story = StoryContinuity(stores, project)
            if way == "--waive":
                waived = story.waive_finding(issue_id=asked["waive"], note=note)
                print_result(waived, f"waived: {waived.issue_id}", as_json=asked["as_json"])
            else:
                told = story.unwaive_finding(issue_id=asked["unwaive"])
                print_result(told, f"told again: {told.issue_id}", as_json=asked["as_json"])
        return
    options = CheckOptions(model=model, uses_model=not asked["no_model"], workers=asked["workers"])
    if way == "--drafts":
        found = _check_many(session, project, asked["drafts_file"], asked["out"], options, resume=asked["resume"])
    elif way == "--stored":
        found = _check_stored(session, project, place, options, **shown)
    else:
        text = _draft_text(asked["text_file"])
        found = _check_one(session, project, place, text, asked["plan_file"], asked["pov"], options, **shown)
    if asked["strict"] and found:
        raise click.exceptions.Exit(ExitCode.FAILED)


_GOES_WITH = {
    "--text": "--chapter --scene --plan --pov --model --no-model --with-waived --strict --json",
    "--drafts": "--out --resume --model --no-model --workers --strict",
    "--stored": "--chapter --scene --model --no-model --workers --with-waived --strict --json",
    "--waive": "--note --json",
    "--unwaive": "--json",
}
_OPTIONS = (
    "--chapter --scene --plan --pov --out --resume --model --no-model --workers --with-waived --note --strict --json"
).split()


def _draft_text(file: TextIO) -> str:
    try:
        return file.read()
    except UnicodeDecodeError as error:
        raise UserInputError(f"--text is not UTF-8: {error}; save it as UTF-8") from error


def _check_one(
    session: CliSession,
    project: str,
    place: tuple[int | None, int | None],
    text: str,
    plan_file: Path | None,
    pov: str | None,
    options: CheckOptions,
    *,
    with_waived: bool,
    as_json: bool,
) -> int:
    with opened_stores(session, project) as stores:
        chapter, scene = StoryScenePlans(stores, project).scene_to_write(*place)
        done = StoryContinuity(stores, project).check(
            text=text,
            chapter_index=chapter,
            scene_index=scene,
            scene_plan=_plan(stores, project, chapter, scene, plan_file),
            pov=pov,
            model=options.model,
            use_model=options.uses_model,
        )
    if as_json:
        print_json(done)
    else:
        _print_check(done, with_waived=with_waived)
    _report_issues([done])
    return len(done.issues)


def _plan(stores: MemoryStores, project: str, chapter: int, scene: int, plan_file: Path | None) -> ScenePlan | None:
    if plan_file is None:
        return None
    plans = StoryScenePlans(stores, project)
    return plans.find_planned_scene(chapter_index=chapter, scene_index=scene, plan_file=plan_file).plan


def _check_stored(
    session: CliSession,
    project: str,
    place: tuple[int | None, int | None],
    options: CheckOptions,
    *,
    with_waived: bool,
    as_json: bool,
) -> int:
    with opened_project(session, project) as stores, progress_bars("scenes") as (progress,):
        done = StoryContinuity(stores, project).check_stored(
            chapter_index=place[0],
            scene_index=place[1],
            model=options.model,
            use_model=options.uses_model,
            workers=options.workers,
            progress=progress,
        )
    if as_json:
        print_json(done)
    else:
        for each in done.checks:
            if each.issues or each.avoided or (with_waived and each.waived):
                _print_check(each, with_waived=with_waived)
    _report_issues(done.checks)
    findings = sum(len(each.issues) for each in done.checks)
    without = f"; {done.without_text} scenes have no text" if done.without_text else ""
    alone = "" if any(each.checked.model_calls for each in done.checks) else "; rules alone looked"
    meant = sum(len(each.waived) for each in done.checks)
    waived = f"; {meant} more are meant to be so: --with-waived" if meant and not with_waived else ""
    report_line(f"scenes checked: {len(done.checks)}, findings: {findings}{waived}{without}{alone}")
    return findings


def _check_many(
    session: CliSession, project: str, drafts_file: Path, folder: Path, options: CheckOptions, *, resume: bool
) -> int:
    with opened_stores(session, project) as stores, progress_bars("drafts") as (progress,):
        report = StoryDraftBatches(stores, project).check_drafts(
            drafts_file=drafts_file, folder=folder, options=options, resume=resume, progress=progress
        )
    for each in report.degraded:
        report_warning(each)
    for failure in report.failures:
        report_line(f"error: {failure}")
    kept = f", {report.kept} were there" if report.kept else ""
    alone = "; rules alone looked" if report.rules_alone else ""
    written = f"{report.written} of {report.asked} checks written to {folder}{kept}"
    report_line(f"{written}; {report.findings} findings{alone}")
    if report.failures:
        raise click.exceptions.Exit(ExitCode.FAILED)
    return report.findings


def _report_issues(checks: list[DraftCheck]) -> None:
    """Say on stderr what failed; in the JSON of a program nobody may look for it."""
    for each in checks:
        for issue in each.report.issues:
            report_issue(issue)


def _print_check(done: DraftCheck, *, with_waived: bool) -> None:
    labels = view_labels_for(done.language)
    place = labels.place(done.chapter_index, done.scene_index)
    print_heading(labels["line.continuity_of_scene_of"].format(place, done.project_id))
    for issue in done.issues:
        _print_finding(issue, labels, done.language)
    if not done.issues:
        no_findings = labels[f"line.no_findings_{done.compared_with}"]
        print_text(no_findings.format(facts=done.checked.facts_before, project=done.project_id))
    if done.waived and not with_waived:
        print_text(labels["line.waived_not_shown"].format(count=len(done.waived)))
    for issue in done.waived if with_waived else ():
        note = f": {issue.waived_note}" if issue.waived_note else ""
        print_text()
        print_text(labels["value.waived"] + note)
        _print_finding(issue, labels, done.language)
    if done.avoided:
        print_heading(labels["line.words_to_avoid"])
        rows = [(each.word, len(each.spans), "\n".join(each.quotes[:MAX_EVIDENCE_SHOWN])) for each in done.avoided]
        print_table(("word", "times", "text"), rows, labels=labels)
    looked_at = labels["line.sentences_against_scenes_memories"].format(
        done.checked.sentences, done.checked.scenes_before, done.checked.memories_before
    )
    gathered = labels["line.evidence"].format(len(done.evidence))
    print_text()
    by_whom = () if done.checked.model_calls else (labels["line.rules_alone"],)
    print_text(labels["line.comma"].join((looked_at, gathered, *by_whom)))


def _print_finding(issue: ContinuityIssue, labels: ViewLabels, language: str) -> None:
    by = issue.rule or labels.value(issue.by)
    kind, severity = labels.value(issue.kind), labels.value(issue.severity)
    print_text()
    print_text(f"{issue.issue_id}  {kind}, {severity} ({by}, {issue.confidence:.2f}): {issue.message}")
    print_text(f"  {labels['value.draft']}: {labels['line.quoted'].format(issue.draft_quote)}")
    for each in issue.evidence[:MAX_EVIDENCE_SHOWN]:
        # What holds a state or a passage has no name that means anything to its author.
        source = f" {each.source_id}" if each.source in ("memory", "note") and each.source_id else ""
        told = " ".join(each.text.split())
        told = told if len(told) <= MAX_TEXT_SHOWN else told[:MAX_TEXT_SHOWN] + "…"
        print_text(f"  {where_told(each, language)}{source}: {told}")
        if each.quote and each.quote not in told:
            print_text(f"    {labels['line.quoted'].format(each.quote)}")
    if issue.fix:
        print_text(f"  {labels['value.fix']}: {issue.fix}")
