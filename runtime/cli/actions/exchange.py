"""Exporting a project's memory, and importing from whatever a path is."""

from __future__ import annotations

from pathlib import Path

from runtime.cli.opening import opened_project, opened_stores
from runtime.cli.output import (
    print_heading,
    print_json,
    print_pairs,
    print_table,
    print_text,
    progress_bars,
    report_line,
)
from runtime.cli.parameters import CliSession
from runtime.transfer.exporting import MEMORY_FOLDER, export_project
from runtime.transfer.importing import SourceImport, import_source

_SHOWN = 12
"""So many ids a line of the summary lists."""


def export_to(session: CliSession, project_id: str, folder: Path) -> None:
    """Write a project's memory to a folder and say how many files that were.

    Raises:
        UserInputError: When there is something already.
    """
    with opened_project(session, project_id) as stores:
        written = export_project(stores, project_id, folder)
    print_text(f"wrote {len(written)} files to {folder / MEMORY_FOLDER}")


def import_from(session: CliSession, source: Path, *, project_id: str, dry_run: bool, as_json: bool) -> None:
    """Import a path and print what was new, what was there, and what was left as it is.

    Raises:
        InvalidFileError: When the path is nothing that can be imported.
        UserInputError: When ids mean somebody else in the project.
    """
    with opened_stores(session, project_id) as stores:
        if dry_run:
            result = import_source(stores, source, project_id=project_id, dry_run=True)
        else:
            with progress_bars("importing") as [progress]:
                result = import_source(stores, source, project_id=project_id, progress=progress)
    if as_json:
        print_json(result)
    else:
        _print_import(result)
    for issue in result.issues:
        report_line(f"warning: {issue.message}")


def _print_import(result: SourceImport) -> None:
    preview = result.preview
    if result.chapters:
        rows = [
            (each.chapter_number, each.title, each.scenes, each.words, each.opening)
            for each in result.chapters
        ]
        print_table(("chapter", "title", "scenes", "words", "opening"), rows, wide=4)
    if result.left_out:
        print_heading("Left out before the first chapter")
        print_text(result.left_out[:500])
    print_heading("Would import" if result.dry_run else "Imported")
    print_pairs(
        {
            "new entities": _listed(preview.new_entities),
            "new scenes": _listed(preview.new_scenes),
            "new notes": preview.new_memories or None,
            "new events": preview.new_events or None,
            "new summaries": preview.new_summaries or None,
            "new consolidations": preview.new_consolidations or None,
            "copied plans": _listed(result.copied_plans),
            "already there": len(preview.same_entities) + len(preview.same_scenes) or None,
            "kept as stored": _listed([*preview.kept_entities, *preview.kept_scenes]),
            "mean somebody else": _listed(preview.clashing_entities),
        }
    )


def _listed(names: list[str]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{len(names)}: {', '.join(names[:_SHOWN])}{more}"
