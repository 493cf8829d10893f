"""`novelgen check`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from novelgen.checking.findings import where_told
from novelgen.models.continuity import ContinuityEvidence, ContinuityFinding, DraftCheck, TouchedMatter
from runtime.doors.cli import output
from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.labels import ViewLabels, view_labels_for
from runtime.doors.cli.parameters import CliSession, opened_project, opened_stores
from runtime.doors.cli.views import guess_mark
from runtime.stores import MemoryStores
from runtime.story.continuity import StoryChecks, StoryContinuity, StoryDraftChecks
from runtime.story.draft_checker import CheckOptions
from runtime.story.scene_plans import StoryScenePlans

MAX_TEXT_SHOWN = 300
"""So many characters of a piece of evidence are shown; what proves the finding is quoted whole."""

MAX_EVIDENCE_SHOWN = 3
"""So many pieces of evidence are shown of a finding; all are in the JSON."""


CommandValues = Mapping[str, Any]
"""What was typed."""


def check(session: CliSession, project: str, **arguments: Any) -> None:
    """Do `novelgen check`."""
    given_names = {
        f"--{name.removesuffix('_file').replace('_', '-')}"
        for name, value in {**arguments, "json": arguments["as_json"]}.items()
        if value is not None and value is not False
    }
    chosen_names = [way for way in _GOES_WITH if way in given_names]
    if len(chosen_names) != 1:
        raise click.UsageError(f"give one of {', '.join(_GOES_WITH)}")
    [way] = chosen_names
    if way == "--drafts" and "--out" not in given_names:
        raise click.UsageError("--drafts needs --out")
    surplus = [name for name in _OPTIONS if name in given_names and name not in _GOES_WITH[way].split()]
    if surplus:
        raise click.UsageError(f"{way} goes without {', '.join(surplus)}")
    if "--scene" in given_names and "--chapter" not in given_names:
        raise click.UsageError("--scene needs --chapter")
    if arguments["model"] is not None and arguments["no_model"]:
        raise click.UsageError("give --model or --no-model, not both")
    opened_function = opened_stores if way in ("--text", "--drafts") else opened_project
    with opened_function(session, project) as stores:
        match_count = _WAYS[way](stores, project, arguments)
    if arguments["strict"] and match_count:
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


def _check_draft(stores: MemoryStores, project: str, requested_fields: CommandValues) -> int:
    text = requested_fields["text_file"]
    plans = StoryScenePlans(stores, project)
    chapter, scene = plans.scene_to_write(requested_fields["chapter"], requested_fields["scene"])
    place: dict[str, Any] = {"chapter_index": chapter, "scene_index": scene}
    plan = (
        requested_fields["plan_file"]
        and plans.find_planned_scene(**place, plan_file=requested_fields["plan_file"]).plan
    )
    finished_check = StoryContinuity(stores, project).check(
        text=text,
        **place,
        scene_plan=plan,
        pov=requested_fields["pov"],
        model=requested_fields["model"],
        use_model=not requested_fields["no_model"],
    )
    if requested_fields["as_json"]:
        output.print_json(finished_check)
    else:
        _print_check(finished_check, with_waived=requested_fields["with_waived"])
    _report_issues([finished_check])
    return len(finished_check.findings)


def _check_stored(stores: MemoryStores, project: str, requested_fields: CommandValues) -> int:
    with output.progress_bars("scenes") as (progress,):
        stored_check = StoryChecks(stores, project).check_stored(
            chapter_index=requested_fields["chapter"],
            scene_index=requested_fields["scene"],
            model=requested_fields["model"],
            use_model=not requested_fields["no_model"],
            workers=requested_fields["workers"],
            progress=progress,
        )
    with_waived = requested_fields["with_waived"]
    if requested_fields["as_json"]:
        output.print_json(stored_check)
    else:
        for other_check in stored_check.checks:
            if (
                other_check.findings
                or other_check.avoided
                or (with_waived and other_check.waived)
                or len(stored_check.checks) == 1
            ):
                _print_check(other_check, with_waived=with_waived)
    _report_issues(stored_check.checks)
    findings = sum(len(check.findings) for check in stored_check.checks)
    without = f"; {stored_check.without_text} scenes have no text" if stored_check.without_text else ""
    unjudged = "" if any(check.checked.is_judged for check in stored_check.checks) else "; nobody judged them"
    meant_count = sum(len(check.waived) for check in stored_check.checks)
    waived_text = f"; {meant_count} more are meant to be so: --with-waived" if meant_count and not with_waived else ""
    output.report_line(
        f"scenes checked: {len(stored_check.checks)}, findings: {findings}{waived_text}{without}{unjudged}"
    )
    return findings


def _check_drafts(stores: MemoryStores, project: str, requested_fields: CommandValues) -> int:
    options = CheckOptions(
        model=requested_fields["model"],
        uses_model=not requested_fields["no_model"],
        workers=requested_fields["workers"],
    )
    folder: Path = requested_fields["out"]
    with output.progress_bars("drafts") as (progress,):
        report = StoryDraftChecks(stores, project).check_drafts(
            drafts_file=requested_fields["drafts_file"],
            folder=folder,
            options=options,
            resume=requested_fields["resume"],
            progress=progress,
        )
    for text in report.degraded:
        output.report_warning(text)
    kept_text = f", {report.kept} were there" if report.kept else ""
    unjudged = "" if report.has_model else "; nobody judged them"
    written_form = f"{report.written} of {report.asked} checks written to {folder}{kept_text}"
    output.report_end(report.failures, f"{written_form}; {report.findings} findings{unjudged}")
    return report.findings


def _waive(stores: MemoryStores, project: str, requested_fields: CommandValues) -> int:
    waived_waiver = StoryChecks(stores, project).waive(
        finding_id=requested_fields["waive"], note=requested_fields["note"] or ""
    )
    output.print_result(waived_waiver, f"waived: {waived_waiver.finding_id}", as_json=requested_fields["as_json"])
    return 0


def _unwaive(stores: MemoryStores, project: str, requested_fields: CommandValues) -> int:
    waiver = StoryChecks(stores, project).unwaive(finding_id=requested_fields["unwaive"])
    output.print_result(waiver, f"told again: {waiver.finding_id}", as_json=requested_fields["as_json"])
    return 0


_WAYS: dict[str, Callable[[MemoryStores, str, CommandValues], int]] = {
    "--text": _check_draft,
    "--drafts": _check_drafts,
    "--stored": _check_stored,
    "--waive": _waive,
    "--unwaive": _unwaive,
}
"""What is done by each way to call the command, which returns the number of findings."""


def _report_issues(checks: list[DraftCheck]) -> None:
    """Print failures on stderr, even beside JSON."""
    for other_check in checks:
        for issue in other_check.report.issues:
            output.report_issue(issue)


def _print_check(finished_check: DraftCheck, *, with_waived: bool) -> None:
    labels = view_labels_for(finished_check.language)
    place = labels.place(finished_check.chapter_index, finished_check.scene_index)
    heading = labels["line.continuity_of_scene_of"].format(place, finished_check.project_id)
    seen_as = {"checked_point_of_view": finished_check.point_of_view, "checked_plan": finished_check.plan_file}
    parts = [labels[f"line.{name}"].format(value) for name, value in seen_as.items() if value]
    output.print_heading(heading + (labels.in_brackets(labels["line.comma"].join(parts)) if parts else ""))
    for finding in finished_check.findings:
        _print_finding(finding, labels, finished_check.language)
    if not finished_check.findings:
        no_findings = labels[f"line.no_findings_{finished_check.compared_with}"]
        output.print_text(
            no_findings.format(facts=finished_check.checked.facts_before, project=finished_check.project_id)
        )
    for matter in finished_check.touched:
        _print_touched(matter, labels, finished_check.language)
    if finished_check.waived and not with_waived:
        output.print_text(labels["line.waived_not_shown"].format(count=len(finished_check.waived)))
    for finding in finished_check.waived if with_waived else ():
        note = f"{labels.prompt.colon}{finding.waived_note}" if finding.waived_note else ""
        output.print_text()
        output.print_text(labels["value.waived"] + note)
        _print_finding(finding, labels, finished_check.language)
    if finished_check.avoided:
        output.print_heading(labels["line.words_to_avoid"])
        rows = [
            (avoided_word.word, len(avoided_word.spans), "\n".join(avoided_word.quotes[:MAX_EVIDENCE_SHOWN]))
            for avoided_word in finished_check.avoided
        ]
        output.print_table(("word", "times", "text"), rows, labels=labels)
    looked_at = labels["line.sentences_against_scenes_memories"].format(
        finished_check.checked.sentences, finished_check.checked.scenes_before, finished_check.checked.memories_before
    )
    gathered = labels["line.evidence"].format(len(finished_check.evidence))
    output.print_text()
    output.print_text(labels["line.comma"].join((looked_at, gathered)))


def _print_finding(finding: ContinuityFinding, labels: ViewLabels, language: str) -> None:
    kind, severity = labels.value(finding.kind), labels.value(finding.severity)
    output.print_text()
    confidence = labels.in_brackets(f"{finding.confidence:.2f}")
    head = f"{finding.finding_id}  {kind}{labels['line.comma']}{severity}{confidence}"
    output.print_text(f"{head}{labels.prompt.colon}{finding.message}")
    output.print_text(
        f"  {labels['value.draft']}{labels.prompt.colon}{labels['line.quoted'].format(finding.draft_quote)}"
    )
    _print_sayings(finding.evidence[:MAX_EVIDENCE_SHOWN], labels, language)
    if finding.fix:
        output.print_text(f"  {labels['value.fix']}{labels.prompt.colon}{finding.fix}")


def _print_touched(matter: TouchedMatter, labels: ViewLabels, language: str) -> None:
    output.print_text()
    output.print_text(f"{labels.value(matter.kind)}{labels.prompt.colon}{matter.name}")
    output.print_text(
        f"  {labels['value.draft']}{labels.prompt.colon}{labels['line.quoted'].format(matter.draft_quote)}"
    )
    _print_sayings(matter.sayings, labels, language)


def _print_sayings(sayings: Sequence[ContinuityEvidence], labels: ViewLabels, language: str) -> None:
    for evidence_item in sayings:
        # What holds a state or a passage has no name that means anything to its author.
        source = (
            f" {evidence_item.source_id}"
            if evidence_item.source in ("memory", "note") and evidence_item.source_id
            else ""
        )
        text = " ".join(evidence_item.text.split())
        text = text if len(text) <= MAX_TEXT_SHOWN else text[:MAX_TEXT_SHOWN] + "…"
        text += guess_mark(labels) if evidence_item.is_guess else ""
        unknown_to = evidence_item.unknown_to
        if unknown_to is not None:
            text += labels.in_brackets(labels["line.does_not_know_this"].format(unknown_to.name))
            text += guess_mark(labels) if unknown_to.is_guess else ""
        output.print_text(f"  {where_told(evidence_item, language)}{source}{labels.prompt.colon}{text}")
        quote = " ".join(evidence_item.quote.split())
        if quote and not " ".join(evidence_item.text.split()).startswith(quote):
            output.print_text(f"    {labels['line.quoted'].format(quote)}")
