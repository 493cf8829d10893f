"""`novelgen check`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from novelgen.checking.findings import where_told
from novelgen.models.continuity import ContinuityEvidence, ContinuityIssue, DraftCheck, TouchedMatter
from runtime.doors.cli import output
from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.labels import ViewLabels, view_labels_for
from runtime.doors.cli.parameters import CliSession, opened_project, opened_stores
from runtime.stores import MemoryStores
from runtime.story.continuity import StoryContinuity
from runtime.story.draft_checker import CheckOptions
from runtime.story.scene_plans import StoryScenePlans

MAX_TEXT_SHOWN = 300
"""So many characters of a piece of evidence are shown; what proves the finding is quoted whole."""

MAX_EVIDENCE_SHOWN = 3
"""So many pieces of evidence are shown of a finding; all are in the JSON."""


Asked = Mapping[str, Any]
"""What was typed."""


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
    if asked["model"] is not None and asked["no_model"]:
        raise click.UsageError("give --model or --no-model, not both")
    opened = opened_stores if way in ("--text", "--drafts") else opened_project
    with opened(session, project) as stores:
        found = _WAYS[way](stores, project, asked)
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


def _check_draft(stores: MemoryStores, project: str, asked: Asked) -> int:
    text = asked["text_file"]
    plans = StoryScenePlans(stores, project)
    chapter, scene = plans.scene_to_write(asked["chapter"], asked["scene"])
    place: dict[str, Any] = {"chapter_index": chapter, "scene_index": scene}
    plan = asked["plan_file"] and plans.find_planned_scene(**place, plan_file=asked["plan_file"]).plan
    done = StoryContinuity(stores, project).check(
        text=text, **place, scene_plan=plan, pov=asked["pov"], model=asked["model"], use_model=not asked["no_model"]
    )
    if asked["as_json"]:
        output.print_json(done)
    else:
        _print_check(done, with_waived=asked["with_waived"])
    _report_issues([done])
    return len(done.issues)


def _check_stored(stores: MemoryStores, project: str, asked: Asked) -> int:
    with output.progress_bars("scenes") as (progress,):
        done = StoryContinuity(stores, project).check_stored(
            chapter_index=asked["chapter"],
            scene_index=asked["scene"],
            model=asked["model"],
            use_model=not asked["no_model"],
            workers=asked["workers"],
            progress=progress,
        )
    with_waived = asked["with_waived"]
    if asked["as_json"]:
        output.print_json(done)
    else:
        for each in done.checks:
            if each.issues or each.avoided or (with_waived and each.waived) or len(done.checks) == 1:
                _print_check(each, with_waived=with_waived)
    _report_issues(done.checks)
    findings = sum(len(each.issues) for each in done.checks)
    without = f"; {done.without_text} scenes have no text" if done.without_text else ""
    unjudged = "" if any(each.checked.is_judged for each in done.checks) else "; nobody judged them"
    meant = sum(len(each.waived) for each in done.checks)
    waived = f"; {meant} more are meant to be so: --with-waived" if meant and not with_waived else ""
    output.report_line(f"scenes checked: {len(done.checks)}, findings: {findings}{waived}{without}{unjudged}")
    return findings


def _check_drafts(stores: MemoryStores, project: str, asked: Asked) -> int:
    options = CheckOptions(model=asked["model"], uses_model=not asked["no_model"], workers=asked["workers"])
    folder: Path = asked["out"]
    with output.progress_bars("drafts") as (progress,):
        report = StoryContinuity(stores, project).check_drafts(
            drafts_file=asked["drafts_file"], folder=folder, options=options, resume=asked["resume"], progress=progress
        )
    for each in report.degraded:
        output.report_warning(each)
    kept = f", {report.kept} were there" if report.kept else ""
    unjudged = "" if report.has_model else "; nobody judged them"
    written = f"{report.written} of {report.asked} checks written to {folder}{kept}"
    output.report_end(report.failures, f"{written}; {report.findings} findings{unjudged}")
    return report.findings


def _waive(stores: MemoryStores, project: str, asked: Asked) -> int:
    waived = StoryContinuity(stores, project).waive_finding(issue_id=asked["waive"], note=asked["note"] or "")
    output.print_result(waived, f"waived: {waived.issue_id}", as_json=asked["as_json"])
    return 0


def _unwaive(stores: MemoryStores, project: str, asked: Asked) -> int:
    told = StoryContinuity(stores, project).unwaive_finding(issue_id=asked["unwaive"])
    output.print_result(told, f"told again: {told.issue_id}", as_json=asked["as_json"])
    return 0


_WAYS: dict[str, Callable[[MemoryStores, str, Asked], int]] = {
    "--text": _check_draft,
    "--drafts": _check_drafts,
    "--stored": _check_stored,
    "--waive": _waive,
    "--unwaive": _unwaive,
}
"""What is done by each way to call the command, which returns the number of findings."""


def _report_issues(checks: list[DraftCheck]) -> None:
    """Print failures on stderr, even beside JSON."""
    for each in checks:
        for issue in each.report.issues:
            output.report_issue(issue)


def _print_check(done: DraftCheck, *, with_waived: bool) -> None:
    labels = view_labels_for(done.language)
    place = labels.place(done.chapter_index, done.scene_index)
    output.print_heading(labels["line.continuity_of_scene_of"].format(place, done.project_id))
    for issue in done.issues:
        _print_finding(issue, labels, done.language)
    if not done.issues:
        no_findings = labels[f"line.no_findings_{done.compared_with}"]
        output.print_text(no_findings.format(facts=done.checked.facts_before, project=done.project_id))
    for matter in done.touched:
        _print_touched(matter, labels, done.language)
    if done.waived and not with_waived:
        output.print_text(labels["line.waived_not_shown"].format(count=len(done.waived)))
    for issue in done.waived if with_waived else ():
        note = f": {issue.waived_note}" if issue.waived_note else ""
        output.print_text()
        output.print_text(labels["value.waived"] + note)
        _print_finding(issue, labels, done.language)
    if done.avoided:
        output.print_heading(labels["line.words_to_avoid"])
        rows = [(each.word, len(each.spans), "\n".join(each.quotes[:MAX_EVIDENCE_SHOWN])) for each in done.avoided]
        output.print_table(("word", "times", "text"), rows, labels=labels)
    looked_at = labels["line.sentences_against_scenes_memories"].format(
        done.checked.sentences, done.checked.scenes_before, done.checked.memories_before
    )
    gathered = labels["line.evidence"].format(len(done.evidence))
    output.print_text()
    output.print_text(labels["line.comma"].join((looked_at, gathered)))


def _print_finding(issue: ContinuityIssue, labels: ViewLabels, language: str) -> None:
    kind, severity = labels.value(issue.kind), labels.value(issue.severity)
    output.print_text()
    output.print_text(f"{issue.issue_id}  {kind}, {severity} ({issue.confidence:.2f}): {issue.message}")
    output.print_text(f"  {labels['value.draft']}: {labels['line.quoted'].format(issue.draft_quote)}")
    _print_sayings(issue.evidence[:MAX_EVIDENCE_SHOWN], labels, language)
    if issue.fix:
        output.print_text(f"  {labels['value.fix']}: {issue.fix}")


def _print_touched(matter: TouchedMatter, labels: ViewLabels, language: str) -> None:
    output.print_text()
    output.print_text(f"{labels.value(matter.kind)}: {matter.name}")
    output.print_text(f"  {labels['value.draft']}: {labels['line.quoted'].format(matter.draft_quote)}")
    _print_sayings(matter.sayings, labels, language)


def _print_sayings(sayings: Sequence[ContinuityEvidence], labels: ViewLabels, language: str) -> None:
    for each in sayings:
        # What holds a state or a passage has no name that means anything to its author.
        source = f" {each.source_id}" if each.source in ("memory", "note") and each.source_id else ""
        told = " ".join(each.text.split())
        told = told if len(told) <= MAX_TEXT_SHOWN else told[:MAX_TEXT_SHOWN] + "…"
        told += f" ({labels['value.guess']})" if each.is_guess else ""
        output.print_text(f"  {where_told(each, language)}{source}: {told}")
        quote = " ".join(each.quote.split())
        if quote and not " ".join(each.text.split()).startswith(quote):
            output.print_text(f"    {labels['line.quoted'].format(quote)}")
