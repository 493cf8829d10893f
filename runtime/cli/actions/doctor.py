"""Checking up on the machine and on a project."""

from __future__ import annotations

import sqlite3

import click

from novelgen.errors import DatabaseError
from runtime.cli.error_handling import ExitCode
from runtime.cli.output import print_heading, print_json, print_pairs, print_table
from runtime.cli.parameters import CliSession
from runtime.diagnosis.context_files import check_context_files
from runtime.diagnosis.findings import Diagnosis, Finding, Level
from runtime.diagnosis.machine import check_chat_model, check_embeddings, check_sqlite, versions
from runtime.diagnosis.project import (
    check_breaker,
    check_database,
    check_embedding_settings,
    check_extraction,
    check_index,
    project_counts,
)
from runtime.diagnosis.repair import repair_index
from runtime.services.projects import project_settings, require_project_files
from runtime.settings import NovelgenSettings, load_settings
from runtime.stores import MemoryStores

_MARKS: dict[Level, str] = {"ok": "ok", "hint": "hint", "degraded": "DEGRADED", "broken": "BROKEN"}


def diagnose(session: CliSession, project_id: str | None, *, repair: bool, as_json: bool) -> None:
    """Look at everything and show it.

    Args:
        session: The program's own options.
        project_id: The project; None looks at the machine alone.
        repair: Whether to repair the project's index first.
        as_json: Whether to print JSON.

    Raises:
        StoreError: When the repair fails; the old index stands.
        UnknownProjectError: When there is no such project; nothing is created.
        Exit: When something keeps the program from working.
    """
    settings = (
        load_settings(projects_dir=session.projects_dir)
        if project_id is None
        else project_settings(session.projects_dir, project_id)
    )
    with MemoryStores(settings) as stores:
        if project_id is not None:
            require_project_files(stores, project_id)
        repairs = repair_index(stores, project_id) if repair and project_id is not None else []
        diagnosis = _diagnosis(stores, settings, project_id).model_copy(update={"repairs": repairs})
    if as_json:
        print_json(diagnosis)
    else:
        _print(diagnosis)
    if diagnosis.is_broken:
        raise click.exceptions.Exit(ExitCode.STORE_UNAVAILABLE)


def _diagnosis(stores: MemoryStores, settings: NovelgenSettings, project_id: str | None) -> Diagnosis:
    findings = [
        check_sqlite(settings, version=sqlite3.sqlite_version_info),
        check_embeddings(stores),
        check_chat_model(settings),
    ]
    counts: dict[str, int] = {}
    if project_id is not None:
        findings.append(check_database(stores, project_id))
        if findings[-1].level == "ok":
            counts, of_project = _project_findings(stores, project_id)
            findings += of_project
    return Diagnosis(versions=versions(), settings=_shown(settings), counts=counts, findings=findings)


def _project_findings(stores: MemoryStores, project_id: str) -> tuple[dict[str, int], list[Finding]]:
    try:
        counts = project_counts(stores, project_id)
        extraction = check_extraction(counts)
        index = check_index(stores, project_id, waiting=counts["waiting for the index"])
        embedding = check_embedding_settings(stores, project_id)
        breaker = check_breaker(stores, project_id)
        files = check_context_files(stores, project_id)
    except DatabaseError as error:
        message = f"it opens, but cannot be read: {error}"
        return {}, [Finding(level="broken", what="database", message=message, fix="restore a backup of it")]
    found = (extraction, index, embedding, breaker, *files)
    return counts, [finding for finding in found if finding is not None]


def _shown(settings: NovelgenSettings) -> dict[str, object]:
    """Return the settings for the eye: addresses may hold passwords, so they are only named."""
    memory = settings.memory
    return {
        "projects_dir": str(settings.projects_dir.resolve()),
        "database": "SQLite per project" if settings.database_url is None else "database_url",
        "vector index": "embedded per project" if memory.vector_store.url is None else "Chroma server",
        "embedding model": memory.embedding_model,
        "chat model": settings.model,
        "budgets": f"memories {memory.memory_budget}, states {memory.state_budget}, "
        f"timeline {memory.timeline_budget} tokens",
        "search_fallback": memory.search_fallback,
    }


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
