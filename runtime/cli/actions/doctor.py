"""Checking up on the machine and on a project."""

from __future__ import annotations

import click

from runtime.cli.exit_codes import ExitCode
from runtime.cli.opening import project_settings, require_project_files
from runtime.cli.output import print_heading, print_json, print_pairs, print_table
from runtime.cli.session import CliSession
from runtime.diagnosis.checks import Diagnosis, Finding, Level
from runtime.diagnosis.doctor import diagnose
from runtime.settings import load_settings
from runtime.stores import MemoryStores

_MARKS: dict[Level, str] = {"ok": "ok", "hint": "hint", "degraded": "DEGRADED", "broken": "BROKEN"}


def show_diagnosis(
    session: CliSession, project_id: str | None, *, is_repairing: bool, is_asking_network: bool, as_json: bool
) -> None:
    """Look at everything and show it.

    Args:
        session: The program's own options.
        project_id: The project; None looks at the machine alone.
        is_repairing: Whether to repair the project's index first.
        is_asking_network: Whether models that are not on this machine are asked.
        as_json: Whether to print JSON.

    Raises:
        StoreError: When the repair fails; the old index stands.
        UnknownProjectError: When there is no such project; nothing is created.
        Exit: When something keeps the program from working.
    """
    settings = (
        load_settings(projects_dir=session.projects_dir)
        if project_id is None
        else project_settings(session, project_id)
    )
    with MemoryStores(settings) as stores:
        if project_id is not None:
            require_project_files(stores, project_id)
        diagnosis = diagnose(
            stores, project_id, is_repairing=is_repairing, is_asking_network=is_asking_network
        )
    if as_json:
        print_json(diagnosis)
    else:
        _print(diagnosis)
    if diagnosis.is_broken:
        raise click.exceptions.Exit(ExitCode.STORE_UNAVAILABLE)


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
