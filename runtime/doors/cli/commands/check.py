"""`novelgen check`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from novelgen.errors import UserInputError
from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.labels import view_labels_for
from runtime.doors.cli.opening import opened_project, opened_stores
from runtime.doors.cli.output import (
    print_heading,
    print_json,
    print_result,
    print_text,
    progress_bars,
    report_issue,
    report_line,
    report_warning,
)
from runtime.doors.cli.parameters import CHAPTER, FILE, FOLDER, CliSession, json_option, project_argument

if TYPE_CHECKING:
    from novelgen.models.continuity import ContinuityIssue, DraftCheck
    from novelgen.models.plan import ScenePlan
    from runtime.doors.cli.labels import ViewLabels
    from runtime.stores import MemoryStores
    from runtime.story.draft_checker import CheckOptions

_EXAMPLES = """\b
Examples:
  novelgen check my-novel --chapter 6 --scene 2 --text draft.txt
  novelgen check my-novel --chapter 6 --scene 2 --text - --pov Ines --json < draft.txt
  novelgen check my-novel --drafts drafts.jsonl --out checks --workers 4
  novelgen check my-novel --stored --chapter 6 --no-model
  novelgen check my-novel --waive K0123456789ab --note "he lies to the abbot\""""

MAX_TEXT_SHOWN = 300
"""So many characters of a piece of evidence are shown; what proves the finding is quoted whole."""

MAX_EVIDENCE_SHOWN = 3
"""So many pieces of evidence are shown of a finding; all are in the JSON."""


@click.command(epilog=_EXAMPLES)
@project_argument
@click.option("--chapter", type=CHAPTER, help="Chapter of the draft; with --stored, only this chapter.")
@click.option("--scene", type=CHAPTER, help="Its scene; with --stored, only this scene of the chapter.")
@click.option("--text", "text_file", type=click.File(encoding="utf-8"), help="The draft; - is stdin.")
@click.option(
    "--plan",
    "plan_file",
    type=FILE,
    help="What the scene is meant to do, as JSON: its plan or its chapter's.  [default: the project's own, if any]",
)
@click.option("--pov", metavar="NAME", help="From whose point of view.  [default: the plan's]")
@click.option(
    "--drafts",
    "drafts_file",
    type=FILE,
    help="Many drafts: a JSON object per line with id, chapter_index, scene_index, text, and scene_plan if any.",
)
@click.option("--out", type=FOLDER, help="With --drafts: folder for <id>.json, one per draft.")
@click.option("--resume", is_flag=True, help="With --drafts: keep the checks that are in the folder already.")
@click.option("--stored", is_flag=True, help="Check what is stored: a scene, a chapter or the whole book.")
@click.option(
    "--model",
    metavar="PROVIDER:MODEL",
    help="Chat model that judges.  [default: memory.summarization.model, else model, else rules alone]",
)
@click.option("--no-model", is_flag=True, help="Let rules alone check.")
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    help="Drafts that are checked side by side.  [default: memory.continuity.workers, 1]",
)
@click.option("--with-waived", is_flag=True, help="Also show what you waived.")
@click.option("--waive", metavar="ID", help="Say that a finding is meant so; it is told no more.")
@click.option("--unwaive", metavar="ID", help="Take that back.")
@click.option("--note", help="With --waive: why it is meant so.  [default: none]")
@click.option("--strict", is_flag=True, help="End with exit code 1 where something was found.")
@json_option
@click.pass_obj
def check(
    session: CliSession,
    project: str,
    chapter: int | None,
    scene: int | None,
    text_file: TextIO | None,
    plan_file: Path | None,
    pov: str | None,
    drafts_file: Path | None,
    out: Path | None,
    resume: bool,
    stored: bool,
    model: str | None,
    no_model: bool,
    workers: int | None,
    with_waived: bool,
    waive: str | None,
    unwaive: str | None,
    note: str | None,
    strict: bool,
    as_json: bool,
) -> None:
    """Tell what a draft contradicts in the story before it.

    Each finding quotes the draft and what it contradicts. Rules tell what is certain; a chat model, where there is one,
    judges the rest. What the plan means to change is no contradiction. Nothing of the draft is stored. A store or model
    that fails makes the check thinner, says so, and still ends with exit code 0.
    """
    ways = {
        "--text": text_file is not None,
        "--drafts": drafts_file is not None,
        "--stored": stored,
        "--waive": waive is not None,
        "--unwaive": unwaive is not None,
    }
    chosen = [way for way, is_given in ways.items() if is_given]
    if len(chosen) != 1:
        raise click.UsageError(f"give one of {', '.join(ways)}")
    [way] = chosen
    _require_what_goes_with(
        way,
        {
            "--chapter": chapter is not None,
            "--scene": scene is not None,
            "--plan": plan_file is not None,
            "--pov": pov is not None,
            "--out": out is not None,
            "--resume": resume,
            "--model": model is not None,
            "--no-model": no_model,
            "--workers": workers is not None,
            "--with-waived": with_waived,
            "--note": note is not None,
            "--strict": strict,
            "--json": as_json,
        },
    )
    if model is not None and no_model:
        raise click.UsageError("give --model or --no-model, not both")
    if waive is not None or unwaive is not None:
        _set_waiver(session, project, waive=waive, unwaive=unwaive, note=note or "", as_json=as_json)
        return
    from runtime.story.draft_checker import CheckOptions

    options = CheckOptions(model=model, uses_model=not no_model, workers=workers)
    if drafts_file is not None:
        found = _check_many(session, project, drafts_file, Path(str(out)), options, resume=resume)
    elif stored:
        found = _check_stored(session, project, chapter, scene, options, with_waived=with_waived, as_json=as_json)
    else:
        text = _draft_text(text_file)
        found = _check_one(
            session,
            project,
            (int(chapter or 0), int(scene or 0), text, plan_file, pov),
            options,
            with_waived=with_waived,
            as_json=as_json,
        )
    if strict and found:
        raise click.exceptions.Exit(ExitCode.FAILED)


_GOES_WITH = {
    "--text": "--chapter --scene --plan --pov --model --no-model --with-waived --strict --json",
    "--drafts": "--out --resume --model --no-model --workers --strict",
    "--stored": "--chapter --scene --model --no-model --workers --with-waived --strict --json",
    "--waive": "--note --json",
    "--unwaive": "--json",
}
_NEEDS = {"--text": ("--chapter", "--scene"), "--drafts": ("--out",)}


def _require_what_goes_with(way: str, given: dict[str, bool]) -> None:
    missing = [name for name in _NEEDS.get(way, ()) if not given[name]]
    if missing:
        raise click.UsageError(f"{way} needs {' and '.join(missing)}")
    allowed = _GOES_WITH[way].split()
    surplus = [name for name, is_given in given.items() if is_given and name not in allowed]
    if surplus:
        raise click.UsageError(f"{way} goes without {', '.join(surplus)}")
    if way == "--stored" and given["--scene"] and not given["--chapter"]:
        raise click.UsageError("--scene needs --chapter")


def _draft_text(file: TextIO | None) -> str:
    try:
        return file.read() if file is not None else ""
    except UnicodeDecodeError as error:
        raise UserInputError(f"--text is not UTF-8: {error}; save it as UTF-8") from error


def _set_waiver(
    session: CliSession, project: str, *, waive: str | None, unwaive: str | None, note: str, as_json: bool
) -> None:
    from runtime.story.continuity import StoryContinuity

    with opened_project(session, project) as stores:
        if waive is not None:
            waived = StoryContinuity(stores, project).waive_finding(issue_id=waive, note=note)
            print_result(waived, f"waived: {waived.issue_id}", as_json=as_json)
        else:
            told = StoryContinuity(stores, project).unwaive_finding(issue_id=str(unwaive))
            print_result(told, f"told again: {told.issue_id}", as_json=as_json)


def _check_one(
    session: CliSession,
    project: str,
    asked: tuple[int, int, str, Path | None, str | None],
    options: CheckOptions,
    *,
    with_waived: bool,
    as_json: bool,
) -> int:
    from runtime.story.continuity import StoryContinuity

    chapter, scene, text, plan_file, pov = asked
    with opened_stores(session, project) as stores:
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
    from runtime.story.scene_plans import StoryScenePlans

    if plan_file is None:
        return None
    return (
        StoryScenePlans(stores, project)
        .find_planned_scene(chapter_index=chapter, scene_index=scene, plan_file=plan_file)
        .plan
    )


def _check_stored(
    session: CliSession,
    project: str,
    chapter: int | None,
    scene: int | None,
    options: CheckOptions,
    *,
    with_waived: bool,
    as_json: bool,
) -> int:
    from runtime.story.continuity import StoryContinuity

    with opened_project(session, project) as stores, progress_bars("scenes") as (progress,):
        done = StoryContinuity(stores, project).check_stored(
            chapter_index=chapter,
            scene_index=scene,
            model=options.model,
            use_model=options.uses_model,
            workers=options.workers,
            progress=progress,
        )
    if as_json:
        print_json(done)
    else:
        for each in done.checks:
            if each.issues or (with_waived and each.waived):
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
    from runtime.story.draft_checker import StoryDraftBatches

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
    looked_at = labels["line.sentences_against_scenes_memories"].format(
        done.checked.sentences, done.checked.scenes_before, done.checked.memories_before
    )
    gathered = labels["line.evidence"].format(len(done.evidence))
    print_text()
    by_whom = () if done.checked.model_calls else (labels["line.rules_alone"],)
    print_text(labels["line.comma"].join((looked_at, gathered, *by_whom)))


def _print_finding(issue: ContinuityIssue, labels: ViewLabels, language: str) -> None:
    from novelgen.checking.findings import where_told

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
