"""`novelgen ingest`, `import-book`, `import` and `export`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from novelgen.errors import UserInputError
from runtime.doors.cli import output, parameters
from runtime.doors.cli.commands.projects import resuming
from runtime.doors.cli.error_handling import ExitCode
from runtime.doors.cli.labels import ViewLabels, in_words
from runtime.files.project_files import is_text_without_number
from runtime.stores import MemoryStores
from runtime.story.ingest import IngestReport, ProjectIngest, note_file
from runtime.story.transfer import ProjectImport, StoredText, StoryTransfer, is_of_another_story, may_store_twice

_OF_ONE_TEXT = ("at", "title", "location", "cast", "replace", "dry_run")
"""Options of one text that is stored at a place."""


def ingest(
    session: parameters.CliSession, project: str, *, as_json: bool, chapter: int | str | None, **arguments: Any
) -> None:
    """Do `novelgen ingest`."""
    of_text = {name: arguments.pop(name) for name in _OF_ONE_TEXT}
    is_placed = of_text["at"] is None and chapter is not None and arguments["records"] is None
    if is_placed and len(arguments["files"]) == 1 and is_text_without_number(arguments["files"][0]):
        of_text["at"], chapter = str(chapter), None
    if of_text["at"] is not None:
        if chapter is not None or arguments["records"] is not None or len(arguments["files"]) != 1:
            raise click.UsageError("--as stores one FILE, or - for stdin; leave out --chapter and --records")
        _store_text(
            session, project, arguments["files"][0], keep_remarks=arguments["keep_remarks"], as_json=as_json, **of_text
        )
        return
    if values := [name for name in _OF_ONE_TEXT if of_text[name] not in (None, False, ())]:
        raise click.UsageError(f"--{values[0].replace('_', '-')} goes with --as PLACE")
    _taken_in(session, project, ProjectIngest.ingest_project, as_json=as_json, chapter_index=chapter, **arguments)


def _store_text(
    session: parameters.CliSession,
    project: str,
    file: Path,
    *,
    at: str,
    title: str | None,
    location: str | None,
    cast: Sequence[str],
    replace: bool,
    dry_run: bool,
    keep_remarks: bool,
    as_json: bool,
) -> None:
    """Store one text at a place, asking before it replaces another."""
    text = parameters.StoryText().convert(str(file), None, None)
    requested_fields: dict[str, Any] = {"at": at, "title": title or "", "keep_remarks": keep_remarks}
    requested_fields |= {"location": location, "cast": list(cast) or None}
    with parameters.opened_stores(session, project) as stores:
        story = ProjectIngest(stores, project)
        report = story.store_text(text, **requested_fields, dry_run=True)
        place = report.place
        if not dry_run:
            if place is not None and place.needs_replace and not replace:
                there = "; ".join(place.replaced)
                if not parameters.can_ask():
                    raise UserInputError(
                        f"another text is stored there: {there}; add --replace to let the new text take its place, or "
                        "store it --as next"
                    )
                parameters.require_confirmation(f"let the new text take the place of {there}", is_confirmed=False)
            report = story.store_text(text, **requested_fields, replace=True)
            note_file(stores, report=report)
            place = report.place
        labels = parameters.labels_where_stored(stores, project, else_of=text)
    for warning in report.warnings:
        output.report_warning(warning)
    if as_json:
        output.print_json(report)
        return
    output.print_remarks(report.remarks, labels)
    if place is not None:
        is_same = not dry_run and not any(result.outcome != "unchanged" for result in report.scenes)
        key = "would_be_stored_as" if dry_run else "is_stored_as_before" if is_same else "stored_as"
        shown_text = f"{place.position} {place.title}" if place.title else place.called
        output.print_text(labels[f"line.{key}"].format(place=shown_text, scenes=place.scenes, words=place.words))
        for line in place.replaced:
            output.print_text(labels["line.in_place_of"].format(line))
        if dry_run and place.needs_replace and not replace:
            output.print_text(labels["line.needs_replace"])
        if place.other_number is not None:
            chapter = place.position.partition(":")[0]
            output.print_text(
                labels["line.heading_says_otherwise"].format(
                    number=place.other_number, chapter=chapter, project=project
                )
            )
        if place.moved:
            output.print_text(labels["line.makes_room"].format(place.moved))
    output.print_undo(report.change_id, project, labels)


def import_book(session: parameters.CliSession, project: str, *, as_json: bool, **arguments: Any) -> None:
    """Do `novelgen import-book`."""
    _taken_in(session, project, ProjectIngest.import_book_folder, as_json=as_json, **arguments)


def _taken_in(
    session: parameters.CliSession, project: str, take_in: Callable[..., IngestReport], *, as_json: bool, **options: Any
) -> None:
    with parameters.opened_stores(session, project) as stores:
        with output.progress_bars("scenes", "index") as (progress, index_progress):
            story = ProjectIngest(stores, project)
            report = take_in(story, **options, progress=progress, index_progress=index_progress)
        labels = parameters.story_labels(stores, project)
    for warning in report.warnings:
        output.report_warning(warning)
    for failure in report.failures:
        output.report_line(f"error: {failure}")
    if as_json:
        output.print_json(report)
    else:
        counts = [report.count(outcome) for outcome in ("added", "replaced", "unchanged")]
        text = labels["line.new_changed_unchanged_failed"]
        ended_texts = [f"{later} → {earlier}" for scene in report.scenes for later, earlier in scene.ended.items()]
        output.print_pairs(
            {
                labels["value.project"]: report.project_id,
                labels["value.scenes"]: text.format(*counts, len(report.failures)),
                labels["value.memories"]: report.memories,
                **({labels["line.ended_by_rule"]: labels.listing(ended_texts)} if ended_texts else {}),
                labels["value.entities"]: report.entities,
                labels["value.index"]: output.index_state(report.indexing, report.project_id, labels),
            }
        )
        output.print_remarks(report.remarks, labels)
        output.print_changes(report.changes)
        if report.condition is not None:
            output.print_condition(report.condition, labels)
        output.print_undo(report.change_id, project, labels)
    if report.failures:
        output.report_line("what failed was left out: correct it and run the same command again")
        raise click.exceptions.Exit(ExitCode.FAILED)


MAX_LISTED = 12
"""So many ids a line of the summary lists."""
MAX_LEFT_OUT = 500
"""So many characters are shown of what stands before the first chapter; a dry run shows all."""
MAX_PART_TEXTS = 3


def export(session: parameters.CliSession, *, project: str, folder: Path, force: bool, as_json: bool) -> None:
    """Do `novelgen export`."""
    with parameters.opened_project(session, project) as stores:
        written_project_export = StoryTransfer(stores, project).export(folder=folder, force=force)
    lines = [f"wrote {len(written_project_export.files)} files to {written_project_export.folder}"]
    lines += (
        [f"not in the export: {', '.join(written_project_export.left_out)}"] if written_project_export.left_out else []
    )
    output.print_result(written_project_export, *lines, as_json=as_json)


def import_command(
    session: parameters.CliSession,
    *,
    project: str,
    source: Path,
    dry_run: bool,
    update: bool,
    replace: bool,
    with_index: bool,
    is_confirmed: bool,
    as_json: bool,
    **arguments: Any,
) -> None:
    """Do `novelgen import`."""
    if replace and not update:
        raise click.UsageError("--replace goes with --update")
    arguments |= {"source": source, "update": update, "replace": replace, "dry_run": dry_run}
    arguments |= {"index": with_index, "on_stored": _report_stored}
    with parameters.opened_stores(session, project) as stores:
        story = StoryTransfer(stores, project)
        if dry_run:
            result = story.import_source(**arguments)
        else:
            arguments["overwrite"] = is_confirmed or _ask_before_import(
                stores, project, source, update=update, replace=replace, headings=arguments["headings"]
            )
            bars = output.progress_bars("text, characters", "meaning, characters")
            with resuming(project, command="novelgen import"), bars as (progress, index_progress):
                result = story.import_source(**arguments, progress=progress, index_progress=index_progress)
        openings = " ".join(chapter.opening for chapter in result.chapters)
        labels = parameters.labels_where_stored(stores, project, else_of=openings)
    if as_json:
        output.print_json(result)
    else:
        _print_import(result, project, labels)
        if result.condition is not None:
            output.print_condition(result.condition, labels)
        output.print_undo(result.change_id, project, labels)
        if result.change_id is None and not dry_run and result.preview.adds:
            output.print_text(labels["line.import_not_undone"].format(project=project))
    if not dry_run and not with_index:
        output.report_line(labels["line.not_indexed_yet"].format(project=project))
    for issue in result.issues:
        output.report_warning(issue.message)
    is_refused = update and not dry_run and not result.overwritten
    if is_refused and result.changes is not None and result.changes.conflicting_scenes:
        raise click.exceptions.Exit(ExitCode.FAILED)


def _ask_before_import(
    stores: MemoryStores, project: str, source: Path, *, update: bool, replace: bool, headings: Sequence[str]
) -> bool:
    """Ask before an import mixes stories, and return whether it may replace edits made here."""
    project_import = StoryTransfer(stores, project).preview_import(
        source=source, update=update, replace=replace, headings=headings
    )
    if project_import is None:
        return False
    if is_of_another_story(stores, project, found=project_import, update=update):
        action = f"take {str(source)!r} into {project!r}, which holds another story"
        parameters.require_confirmation(action, is_confirmed=False)
    elif may_store_twice(found=project_import, update=update):
        preview = project_import.preview
        text = (
            f"{len(preview.kept_scenes)} stored scenes have another text in {str(source)!r} and would stay as they are,"
            f" {len(preview.new_scenes)} scenes would come beside them, perhaps a second time"
        )
        if not parameters.can_ask():
            raise UserInputError(f"{text}; give --update to let what is stored follow the text, or --yes to store both")
        output.report_line(in_words(text))
        parameters.require_confirmation("store both; --update lets what is stored follow the text", is_confirmed=False)
    conflicting_scenes = project_import.changes.conflicting_scenes if project_import.changes is not None else []
    if not (update and conflicting_scenes and parameters.can_ask()):
        return False
    return parameters.is_agreed(
        f"scenes that were edited both here and in the file: {', '.join(conflicting_scenes)}; let the file's text take"
        " their place"
    )


def _report_stored(totals: StoredText) -> None:
    if totals.scenes:
        output.report_line(
            f"stored: {totals.chapters} chapters, {totals.scenes} scenes, {totals.words:,} words; searchable by words"
        )


def _print_import(result: ProjectImport, project: str, labels: ViewLabels) -> None:
    preview = result.preview
    if result.chapters:
        rows = [
            (chapter.chapter_number, chapter.part, chapter.title, chapter.scenes, chapter.words, chapter.opening)
            for chapter in result.chapters
        ]
        headings = ("chapter", "volume", "title", "scenes", "words", "opening")
        output.print_table(headings, rows, labels=labels)
    if result.left_out:
        output.print_heading(labels["line.left_out_before_the_first_chapter"].format(f"{len(result.left_out):,}"))
        shown_text = result.left_out if result.dry_run else result.left_out[:MAX_LEFT_OUT]
        output.print_text("\n".join(filter(str.strip, shown_text.splitlines())))
    _print_parts(result, labels)
    _print_unread(result, labels)
    for odd_number in result.odd_numbers[:MAX_LISTED]:
        output.report_warning(
            labels[f"line.odd_{odd_number.kind}"].format(title=odd_number.title, after=odd_number.after)
        )
    most = len(result.remarks) if result.dry_run else output.MAX_REMARKS
    output.print_remarks(result.remarks, labels, most=most)
    output.print_remarks(result.damaged, labels, heading="damaged_lines")
    output.print_heading(labels["line.would_import" if result.dry_run else "line.imported"])
    counts_by_label = {
        "read_as": labels.listing(result.encodings),
        "passed_over": _join_names(result.passed_over, labels),
        "new_entities": _join_names(preview.new_entities, labels),
        "new_scenes": _join_names(preview.new_scenes, labels),
        "changed_scenes": _join_names(preview.changed_scenes, labels),
        "new_notes": preview.new_memories or None,
        "new_events": preview.new_events or None,
        "new_summaries": preview.new_summaries or None,
        "new_consolidations": preview.new_consolidations or None,
        "new_memories_of_characters": preview.new_character_memories or None,
        "copied_files": _join_names(result.copied_files, labels),
        "already_there": _join_names(preview.same_scenes, labels)
        if len(result.chapters) == 1
        else len(preview.same_entities) + len(preview.same_scenes) or None,
        "kept_as_stored": _join_names([*preview.kept_entities, *preview.kept_scenes], labels),
        "mean_somebody_else": _join_names(preview.clashing_entities, labels),
    }
    output.print_pairs(counts_by_label, labels)
    _print_edits(result, project, labels)
    _print_changes(result, project, labels)


def _print_parts(result: ProjectImport, labels: ViewLabels) -> None:
    """Print the omitted parts of a Word or EPUB file, all texts in a dry run."""
    if not result.left_out_parts:
        return
    output.print_heading(labels["line.left_out_parts"])
    for part in result.left_out_parts:
        shown_texts = part.texts if result.dry_run else part.texts[:MAX_PART_TEXTS]
        text = " · ".join(shown_texts) + (" …" if len(part.texts) > len(shown_texts) else "")
        output.print_text(f"  {labels[f'line.part_{part.kind}']}: {part.count}{labels.in_brackets(text)}")


def _print_unread(result: ProjectImport, labels: ViewLabels) -> None:
    """Print lines that look like headings and were not read as such."""
    if not result.unread_headings:
        return
    output.print_heading(labels["line.unread_headings"].format(len(result.unread_headings)))
    for line in result.unread_headings[: None if result.dry_run else MAX_LISTED]:
        output.print_text(f"  {line.line}: {line.text}")


def _print_edits(result: ProjectImport, project: str, labels: ViewLabels) -> None:
    """Print which scenes were edited or deleted here since their files were taken in."""
    changes = result.changes
    if changes is None:
        return
    if changes.edited_scenes:
        output.print_text(labels["line.edited_here"].format(_join_names(changes.edited_scenes, labels)))
    if changes.conflicting_scenes:
        key = "edited_in_both_taken" if result.overwritten else "edited_in_both"
        output.print_text(labels[f"line.{key}"].format(_join_names(changes.conflicting_scenes, labels)))
    if changes.deleted_scenes:
        first = next(iter(changes.deleted_scenes.values()))
        output.print_text(
            labels["line.deleted_here"].format(
                _join_names(list(changes.deleted_scenes), labels), f"novelgen undo {project} {first}"
            )
        )


def _print_changes(result: ProjectImport, project: str, labels: ViewLabels) -> None:
    changes, updated = result.changes, result.updated
    if changes is None or changes.is_empty:
        return
    output.print_heading(labels["line.the_manuscript_against_the_story"])
    moved_names = [
        f"{before} → {after}" for before, after in (*changes.moved_chapters.items(), *changes.moved_scenes.items())
    ]
    others = [
        f"{other_chapter.chapter} {other_chapter.stored} ← {other_chapter.given}"
        for other_chapter in changes.other_chapters
    ]
    texts = {
        "changed_chapters": _join_names(changes.changed_chapters, labels),
        "chapters_moved": _join_names(moved_names, labels),
        "chapters_that_are_gone": _join_names(changes.gone_chapters, labels),
        "scenes_that_are_gone": _join_names(changes.gone_scenes, labels),
        "chapters_that_wait": _join_names(changes.waiting_chapters, labels),
        "chapters_with_other_headings": _join_names(others, labels),
    }
    output.print_pairs(texts, labels)
    is_room_made = changes.goes_on and not (changes.changed_chapters or changes.gone_chapters)
    if not updated and not is_room_made:
        output.print_text(labels["line.nothing_taken_in"])
    elif changes.gone_chapters and changes.waiting_chapters:
        output.print_text(labels["line.chapters_wait"])
    if others:
        output.print_text(labels["line.replace_others"])
    if changes.gone_chapters:
        output.print_text(
            labels["line.look_delete_scene_by_scene"].format(
                f"novelgen scene list {project}", f"novelgen scene delete {project} {changes.gone_chapters[0]}:1"
            )
        )
    if updated and changes.gone_scenes:
        output.print_text(labels["line.delete"].format(f"novelgen scene delete {project} {changes.gone_scenes[0]}"))


def _join_names(names: Sequence[object], labels: ViewLabels) -> str:
    if not names:
        return ""
    more = labels["line.and_more"].format(len(names) - MAX_LISTED) if len(names) > MAX_LISTED else ""
    return f"{len(names)}: {labels.listing(names[:MAX_LISTED])} {more}".rstrip()
