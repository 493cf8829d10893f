"""Parts of commands on scenes, their records and summaries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from runtime.doors.cli import output
from runtime.doors.cli.command_view import View, cell, does
from runtime.doors.cli.labels import ViewLabels

if TYPE_CHECKING:
    from runtime.stores import MemoryStores


@does("aside", "delete_scene")
def _file_aside(change: Any, view: View) -> None:
    if _is_in_a_file(change.position, view):
        view.remark("file_still_holds_it")


def _is_in_a_file(position: str, view: View) -> bool:
    """Return whether a file of the project's folder has a scene at a place."""
    from novelgen.errors import InvalidFileError
    from runtime.files.project_files import load_chapters
    from runtime.story.base import story_position

    place = story_position(position)
    file = _chapter_files(view).get(place.chapter_index or 0)
    if file is None:
        return False
    try:
        chapters = load_chapters(file).chapters
    except InvalidFileError:
        return True
    # One of several numbered headings has places of its own.
    return len(chapters) > 1 or len(chapters[0].scenes) >= (place.scene_index or 1)


def _chapter_files(view: View) -> dict[int, Path]:
    """Return the files of which the project consists, none for an imported book."""
    from runtime.files.project_files import chapter_files

    return chapter_files(view.stores.paths(view.project).chapters)


@does("show", "get_scene")
def _show_scene(result: Any, _: View) -> None:
    output.print_text("\n" + (result.scene.text or ""))


@does("show", "insert_scene")
def _show_inserted(change: Any, view: View) -> None:
    key = "room_made" if view.values.get("text") is None else "scene_inserted"
    view.say(key, place=view.values["position"], moved=change.moved)


@does("aside", "insert_scene", "move_scene")
def _remind_of_files(change: Any, view: View) -> None:
    if change.moved and _chapter_files(view):
        view.remark("renumber_files")


@does("show", "get_scene_record")
def _show_record(result: Any, _: View) -> None:
    output.print_json(result.record)


@does("aside", "get_scene_record")
def _record_aside(result: Any, view: View) -> None:
    if not result.is_stored:
        reason = f": {result.failure_reason}" if result.failure_reason else ""
        view.remark("no_record", place=view.values["position"], status=result.extraction_status, reason=reason)
    for fact in result.unverified:
        view.remark("unverified", fact=fact)


def numbered_chapter(stores: MemoryStores, project: str, chapter: Any) -> Any:
    """Return the number in the order of a chapter that is named by it or by its heading."""
    from runtime.story.base import StoryBase, named_place

    return named_place(StoryBase(stores, project), {"chapter_index": chapter})["chapter_index"]


def summary_place(chapter: Any, part: int | None) -> tuple[Any, Any] | None:
    """Return the summary of --chapter or --part, or None."""
    if chapter is not None and part is not None:
        raise click.UsageError("give --chapter or --part, not both")
    if chapter is not None:
        return "chapter", chapter
    return None if part is None else ("part", part)


@cell
def _summary_of(summary: Any, view: View) -> str:
    return summary_name(summary, view.labels)


def summary_name(summary: Any, labels: ViewLabels) -> str:
    """Return a summary's name in words."""
    if summary.level == "chapter":
        return labels["line.chapter"].format(summary.number)
    title = f" {summary.title}" if summary.title else ""
    return labels["line.part"].format(summary.number) + f"{title} ({summary.first_chapter}–{summary.last_chapter})"


@does("run", "list_summaries")
def _summaries(view: View) -> Any:
    place = summary_place(view.asked["chapter"], view.asked["part"])
    if place is None:
        return view.part.list(**view.values)
    level, number = place
    return [view.part.get(level=level, number=numbered_chapter(view.stores, view.project, number))]


@cell
def _summary_remark(summary: Any, view: View) -> str:
    if summary.state == "withheld":
        return view.labels["line.not_used_scenes_went_elsewhere"]
    if summary.written and summary.state == "outdated":
        return view.labels["line.not_used_older_than_its_scenes"]
    key = {"outdated": "older_than_its_scenes", "unfinished": "not_over_yet"}.get(summary.state)
    return view.labels[f"line.{key}"] if key else ""
