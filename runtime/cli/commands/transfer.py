"""`novelgen export` and `import`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from runtime.cli.commands.index import resuming
from runtime.cli.opening import opened_project, opened_stores
from runtime.cli.output import (
    print_heading,
    print_json,
    print_pairs,
    print_result,
    print_table,
    print_text,
    progress_bars,
    report_line,
    report_warning,
)
from runtime.cli.parameters import (
    FOLDER,
    CliSession,
    json_option,
    project_argument,
    require_confirmation,
    yes_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtime.services.transfer import SourceImport, StoredText

MAX_LISTED = 12
"""So many ids a line of the summary lists."""


@click.command(epilog="\b\nExample:\n  novelgen export my-novel backup/my-novel")
@project_argument
@click.argument("folder", metavar="DIR", type=FOLDER)
@json_option
@click.pass_obj
def export(session: CliSession, project: str, folder: Path, as_json: bool) -> None:
    """Write a project's memory as JSON files to DIR/memory.

    One file per entity and scene, one each for threads, relationships, notes and counters. `novelgen import` reads
    them back without loss.
    """
    from runtime.services.transfer import export_project

    with opened_project(session, project) as stores:
        written = export_project(stores, project, folder=folder)
    print_result(written, f"wrote {len(written.files)} files to {written.folder}", as_json=as_json)


@click.command(
    "import",
    epilog="\b\nExamples:\n  novelgen import backup/my-novel --project my-novel --dry-run\n"
    "  novelgen import book.epub --project my-book",
)
@click.argument("source", metavar="PATH", type=click.Path(path_type=Path))
@click.option("--project", required=True, help="Project to import into; it is created when there is none.")
@click.option("--dry-run", is_flag=True, help="Only show what would be imported; nothing is created.")
@click.option(
    "--index/--no-index",
    "with_index",
    default=True,
    help="Index by meaning at once, or leave that to `novelgen index`.  [default: at once]",
)
@yes_option
@json_option
@click.pass_obj
def import_command(
    session: CliSession,
    source: Path,
    project: str,
    dry_run: bool,
    with_index: bool,
    is_confirmed: bool,
    as_json: bool,
) -> None:
    """Import an exported memory or a manuscript.

    PATH is a folder that holds a memory, a project of novel-gen, or a manuscript: a .txt, .md, .epub or .docx file
    with a whole book, which is split into chapters and scenes. What the project holds is never overwritten, and an
    import that was interrupted can be repeated. Into a project that holds another story it asks first. The whole text
    is stored first and found by words at once; its meaning is indexed after that.
    """
    from runtime.services.transfer import import_project, would_mix_stories

    with opened_stores(session, project) as stores:
        if dry_run:
            result = import_project(stores, project, source=source, dry_run=True)
        else:
            if not is_confirmed and would_mix_stories(stores, project, source=source):
                require_confirmation(
                    f"import {str(source)!r} into {project!r}, which holds another story", is_confirmed=False
                )
            bars = progress_bars("text, characters", "meaning, characters")
            with resuming(project, command="novelgen import"), bars as (progress, index_progress):
                result = import_project(
                    stores,
                    project,
                    source=source,
                    index=with_index,
                    progress=progress,
                    index_progress=index_progress,
                    on_stored=_report_stored,
                )
    if as_json:
        print_json(result)
    else:
        _print_import(result)
    if not dry_run and not with_index:
        report_line(f"its meaning is not indexed yet: run `novelgen index {project}`")
    for issue in result.issues:
        report_warning(issue.message)


def _report_stored(stored: StoredText) -> None:
    if stored.scenes:
        report_line(
            f"stored: {stored.chapters} chapters, {stored.scenes} scenes, {stored.characters:,} characters; "
            "searchable by words"
        )


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


def _listed(names: Sequence[str]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return f"{len(names)}: {', '.join(names[:MAX_LISTED])}{more}"
