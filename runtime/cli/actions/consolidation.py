"""Consolidating memories, listing what was consolidated, and undoing it."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel

from runtime.cli.index_following import index_state
from runtime.cli.opening import opened_project
from runtime.cli.output import print_json, print_pairs, print_table, print_text, report_line
from runtime.cli.progress import progress_bars
from runtime.cli.session import CliSession
from runtime.extraction_model import build_extraction_model
from runtime.ingest.consolidation import (
    DEFAULT_LIMIT,
    ConsolidationReport,
    consolidate_project,
    undo_consolidation,
)
from runtime.settings import NovelgenSettings


def consolidate(
    session: CliSession,
    project_id: str,
    *,
    limit: int | None,
    with_model: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Consolidate what is over the limit and print a summary.

    Raises:
        UnknownProjectError: When no such project is stored.
        ConfigurationError: When the settings name a model that cannot be built.
    """
    with opened_project(session, project_id) as stores:
        settings = stores.settings
        asked = limit or settings.memory.consolidation.max_memories_per_entity or DEFAULT_LIMIT
        model = _model(settings) if with_model and not dry_run else None
        with progress_bars("consolidating") as (progress,):
            report = consolidate_project(
                stores, project_id, limit=asked, model=model, dry_run=dry_run, progress=progress
            )
    if as_json:
        print_json(report)
    else:
        _print_report(report, project_id)
    for issue in [*report.issues, *report.indexing.issues]:
        report_line(f"warning: {issue.message}")


def list_consolidations(session: CliSession, project_id: str, *, as_json: bool) -> None:
    """Show the consolidated memories in story order."""
    with opened_project(session, project_id) as stores, stores.database(project_id).read() as unit:
        found = unit.consolidations.list_all()
    if as_json:
        print_json(found)
        return
    rows = [
        (
            each.chunk.chunk_id,
            f"{each.chunk.chapter_index}:{each.chunk.scene_index}",
            ", ".join(each.source_ids),
            each.chunk.content,
        )
        for each in found
    ]
    print_table(("id", "scene", "stands for", "text"), rows, wide=3)


def undo(session: CliSession, project_id: str, chunk_id: str | None, *, as_json: bool) -> None:
    """Take one consolidated memory back, or with None all.

    Raises:
        UnknownMemoryError: When no consolidated memory has that id.
    """
    with opened_project(session, project_id) as stores:
        undone = undo_consolidation(stores, project_id, chunk_id)
    if as_json:
        print_json({"undone": undone})
    else:
        print_text(f"took back {len(undone)} consolidated memories; their sources are read again")


def _model(settings: NovelgenSettings) -> BaseChatModel | None:
    named = settings.memory.summarization.model or settings.model
    return build_extraction_model(settings) if named else None


def _print_report(report: ConsolidationReport, project_id: str) -> None:
    sources = sum(len(group.source_ids) for group in report.groups)
    by_model = sum(group.is_models for group in report.groups)
    print_pairs(
        {
            "project": project_id,
            "limit": f"{report.limit} memories per entity",
            "would consolidate" if report.dry_run else "consolidated": (
                f"{sources} memories into {len(report.groups)}"
                + ("" if report.dry_run else f", {by_model} of them written by the model")
            ),
            "memories": f"{report.memories_before} -> {report.memories_after}",
            "still over the limit": ", ".join(f"{name} {count}" for name, count in report.over_limit.items()),
            "changed meanwhile": f"{report.overtaken} groups, left alone" if report.overtaken else None,
            "index": None if report.dry_run else index_state(report.indexing, project_id),
        }
    )
    if report.dry_run:
        rows = [(group.entity_id, ", ".join(group.source_ids)) for group in report.groups]
        print_table(("entity", "memories"), rows, wide=1)
