"""`novelgen doctor` and `reindex`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.opening import opened_project, opened_stores
from runtime.doors.cli.output import print_heading, print_json, print_pairs, print_table, progress_bars, report_line
from runtime.doors.cli.parameters import CliSession, json_option, project_argument

if TYPE_CHECKING:
    from runtime.story.diagnosis import Diagnosis, Finding

_MARKS = {"ok": "ok", "hint": "hint", "degraded": "DEGRADED", "broken": "BROKEN"}


@click.command(
    epilog="\b\nExamples:\n  novelgen doctor\n  novelgen doctor my-novel --json\n  novelgen doctor my-novel --repair"
)
@click.argument("project", required=False)
@click.option(
    "--repair",
    is_flag=True,
    help="First bring PROJECT's vector index to what the database says; rebuild it where it must be.",
)
@click.option("--no-network", is_flag=True, help="Do not ask models that are not on this machine whether they answer.")
@json_option
@click.pass_obj
def doctor(session: CliSession, project: str | None, repair: bool, no_network: bool, as_json: bool) -> None:
    """Check stores, models and files; say what to fix, and how.

    The configured models are asked for one word and one vector, each for a few seconds at most.
    With PROJECT also its counts, whether the index agrees with the database, and which context files are stale.
    Without --repair nothing is changed; with it the index, never the database.
    """
    if repair and project is None:
        raise click.UsageError("--repair needs PROJECT")
    from runtime.story.diagnosis import diagnose

    with opened_stores(session, project) as stores:
        diagnosis = diagnose(stores, project, repair=repair, ask_network=not no_network)
    if as_json:
        print_json(diagnosis)
    else:
        _print(diagnosis)
    if diagnosis.is_broken:
        raise click.exceptions.Exit(ExitCode.STORE_UNAVAILABLE)


@click.command(epilog="\b\nExample:\n  novelgen reindex my-novel")
@project_argument
@json_option
@click.pass_obj
def reindex(session: CliSession, project: str, as_json: bool) -> None:
    """Build the vector index anew from the database; verify it.

    Needed after the embedding model or a setting of memory.ingest changed, or when the index is damaged or
    lost. Vectors that the database keeps are used again; the old index answers until the new one is whole.
    """
    from runtime.story.indexing import StoryIndexing

    with opened_project(session, project) as stores, progress_bars("memories") as (progress,):
        result = StoryIndexing(stores, project).reindex(progress=progress)
    if as_json:
        print_json(result)
    else:
        indexing, chosen = result.indexing, result.chosen
        print_pairs(
            {
                "project": project,
                "by the settings": f"{chosen} memories embedded otherwise than before" if chosen else None,
                "indexed": f"{indexing.indexed} memories, {indexing.embedded} texts embedded anew",
                "verified": result.verification,
                "waiting": indexing.waiting,
            }
        )
    if not result.is_sound:
        report_line(f"error: the index does not agree with the database ({result.verification}); run it again")
        raise click.exceptions.Exit(ExitCode.FAILED)


def _print(diagnosis: Diagnosis) -> None:
    for heading, pairs in (
        ("Versions", diagnosis.versions),
        ("Settings", diagnosis.settings),
        ("Project", diagnosis.counts),
    ):
        if pairs:
            print_heading(heading)
            print_pairs({name: str(value) for name, value in pairs.items() if value is not None})
    for heading, findings in (("Repairs", diagnosis.repairs), ("Findings", diagnosis.findings)):
        if findings:
            print_heading(heading)
            print_table(("", "what", "finding"), [_row(each) for each in findings], wide=2)


def _row(finding: Finding) -> tuple[str, str, str]:
    fix = f"\n  → {finding.fix}" if finding.fix else ""
    return _MARKS[finding.level], finding.what, finding.message + fix
