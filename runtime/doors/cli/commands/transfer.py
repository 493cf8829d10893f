"""`novelgen export` and `import`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from runtime.doors.cli.commands.index import resuming
from runtime.doors.cli.labels import ViewLabels, view_labels_for
from runtime.doors.cli.opening import opened_project, opened_stores, story_labels
from runtime.doors.cli.output import (
    ProgressCallback,
    print_condition,
    print_heading,
    print_json,
    print_pairs,
    print_remarks,
    print_result,
    print_table,
    print_text,
    progress_bars,
    report_line,
    report_warning,
)
from runtime.doors.cli.parameters import (
    FOLDER,
    CliSession,
    json_option,
    project_argument,
    require_confirmation,
    yes_option,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtime.stores import MemoryStores
    from runtime.story.transfer import ProjectImport, StoredText

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
    from runtime.story.transfer import StoryTransfer

    with opened_project(session, project) as stores:
        written = StoryTransfer(stores, project).export(folder=folder)
    print_result(written, f"wrote {len(written.files)} files to {written.folder}", as_json=as_json)


@click.command(
    "import",
    epilog="\b\nExamples:\n  novelgen import backup/my-novel --project my-novel --dry-run\n"
    "  novelgen import book.epub --project my-book\n  novelgen import 古灯/ --project 古灯\n"
    "  novelgen import draft.txt --project my-book --update",
)
@click.argument("source", metavar="PATH", type=click.Path(path_type=Path))
@click.option("--project", required=True, help="Project to import into; it is created when there is none.")
@click.option("--dry-run", is_flag=True, help="Only show what would be imported; nothing is created.")
@click.option(
    "--update", is_flag=True, help="Take in again what was edited: chapters whose text changed replace the stored ones."
)
@click.option(
    "--keep-remarks",
    is_flag=True,
    help="Leave what the author says to readers (求月票, PS：…, Author's note) in the text.",
)
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
    update: bool,
    keep_remarks: bool,
    with_index: bool,
    is_confirmed: bool,
    as_json: bool,
) -> None:
    """Import an exported memory or a manuscript.

    PATH is a folder that holds a memory, a project of novel-gen, or a manuscript: a .txt, .md, .epub or .docx file
    with a whole book, which is split into chapters and scenes, or a folder with a file for each chapter. What the
    project holds is never overwritten without --update, and an import that was interrupted can be repeated. Into a
    project that holds another story it asks first. The whole text is stored first and found by words at once; its
    meaning is indexed after that.

    With --update the stored chapters are told from those of the manuscript by their text. What was read from a
    changed text goes, what you said stays; chapters that were inserted make room; chapters that are gone are listed.
    """
    from runtime.story.transfer import StoryTransfer

    with opened_stores(session, project) as stores:

        def imported(
            progress: ProgressCallback | None = None, index_progress: ProgressCallback | None = None
        ) -> ProjectImport:
            return StoryTransfer(stores, project).import_project(
                source=source,
                dry_run=dry_run,
                index=with_index,
                update=update,
                keep_remarks=keep_remarks,
                progress=progress,
                index_progress=index_progress,
                on_stored=_report_stored,
            )

        if dry_run:
            result = imported()
        else:
            if not is_confirmed and StoryTransfer(stores, project).would_mix_stories(source=source, update=update):
                require_confirmation(
                    f"import {str(source)!r} into {project!r}, which holds another story", is_confirmed=False
                )
            bars = progress_bars("text, characters", "meaning, characters")
            with resuming(project, command="novelgen import"), bars as (progress, index_progress):
                result = imported(progress, index_progress)
        labels = _labels(stores, project, result)
    if as_json:
        print_json(result)
    else:
        _print_import(result, project, labels)
        if result.condition is not None:
            print_condition(result.condition, labels)
    if not dry_run and not with_index:
        report_line(f"its meaning is not indexed yet: run `novelgen index {project}`")
    for issue in result.issues:
        report_warning(issue.message)


_ODD_NUMBERS = {
    "missing": "{title} follows chapter {after}: what lies between is missing, or its heading was not recognised",
    "doubled": "{title} stands there twice",
    "out_of_order": "{title} follows chapter {after}: the chapters are counted in the order of the file",
}


def _labels(stores: MemoryStores, project: str, result: ProjectImport) -> ViewLabels:
    """Return the words of the stored story, else of the one that would be imported."""
    from novelgen.errors import UnknownProjectError
    from novelgen.language.language import story_language

    try:
        return story_labels(stores, project)
    except UnknownProjectError:
        return view_labels_for(story_language(" ".join(each.opening for each in result.chapters)))


def _report_stored(stored: StoredText) -> None:
    if stored.scenes:
        report_line(
            f"stored: {stored.chapters} chapters, {stored.scenes} scenes, {stored.characters:,} characters; "
            "searchable by words"
        )


def _print_import(result: ProjectImport, project: str, labels: ViewLabels) -> None:
    word, preview = labels.value, result.preview
    if result.chapters:
        rows = [
            (each.chapter_number, each.part, each.title, each.scenes, each.words, each.opening)
            for each in result.chapters
        ]
        headings = ("chapter", "volume", "title", "scenes", "words", "opening")
        print_table([word(heading) for heading in headings], rows, wide=5)
    if result.left_out:
        print_heading(word("Left out before the first chapter"))
        print_text(result.left_out[:500])
    for each in result.odd_numbers[:MAX_LISTED]:
        report_warning(word(_ODD_NUMBERS[each.kind]).format(title=each.title, after=each.after))
    print_remarks(result.remarks, labels)
    print_heading(word("Would import" if result.dry_run else "Imported"))
    told = {
        "read as": ", ".join(result.encodings),
        "damaged places": result.unreadable or None,
        "passed over": _listed(result.passed_over, labels),
        "new entities": _listed(preview.new_entities, labels),
        "new scenes": _listed(preview.new_scenes, labels),
        "changed scenes": _listed(preview.changed_scenes, labels),
        "new notes": preview.new_memories or None,
        "new events": preview.new_events or None,
        "new summaries": preview.new_summaries or None,
        "new consolidations": preview.new_consolidations or None,
        "new memories of characters": preview.new_character_memories or None,
        "copied plans": _listed(result.copied_plans, labels),
        "already there": len(preview.same_entities) + len(preview.same_scenes) or None,
        "kept as stored": _listed([*preview.kept_entities, *preview.kept_scenes], labels),
        "mean somebody else": _listed(preview.clashing_entities, labels),
    }
    print_pairs({word(name): value for name, value in told.items()})
    _print_changes(result, project, labels)


def _print_changes(result: ProjectImport, project: str, labels: ViewLabels) -> None:
    changes, updated = result.changes, result.updated
    if changes is None or changes.is_empty:
        return
    word = labels.value
    print_heading(word("The manuscript against the story"))
    moved = [f"{before} → {after}" for before, after in changes.moved_chapters.items()]
    told = {
        "changed chapters": _listed(changes.changed_chapters, labels),
        "chapters moved": _listed(moved, labels),
        "chapters that are gone": _listed(changes.gone_chapters, labels),
        "scenes that are gone": _listed(changes.gone_scenes, labels),
        "chapters that wait": _listed(changes.waiting_chapters, labels),
    }
    print_pairs({word(name): value for name, value in told.items()})
    if not updated:
        print_text(word("nothing of this was taken in; run the same command with --update"))
    elif changes.waiting_chapters:
        print_text(word("they wait until the chapters that are gone are deleted; then run the same command again"))
    if changes.gone_chapters:
        print_text(
            word("look: {}   delete scene by scene: {}").format(
                f"novelgen scene list {project}", f"novelgen scene delete {project} {changes.gone_chapters[0]}:1"
            )
        )
    if updated and changes.gone_scenes:
        print_text(word("delete: {}").format(f"novelgen scene delete {project} {changes.gone_scenes[0]}"))


def _listed(names: Sequence[object], labels: ViewLabels) -> str:
    if not names:
        return ""
    more = labels.value("and {} more").format(len(names) - MAX_LISTED) if len(names) > MAX_LISTED else ""
    return f"{len(names)}: {', '.join(map(str, names[:MAX_LISTED]))} {more}".rstrip()
