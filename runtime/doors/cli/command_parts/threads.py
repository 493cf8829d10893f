"""Parts of commands on threads."""

from __future__ import annotations

from typing import Any

import click

from novelgen.models.position import deadline_text
from runtime.doors.cli import output
from runtime.doors.cli.command_parts.memories import say_kept, say_knowers
from runtime.doors.cli.command_view import View, cell, cells_of, does


@cell
def _window(entry: Any, _: View) -> str:
    """`9:1 – 12`: when it is due, where that was said."""
    window = entry.window
    if window is None:
        return ""
    return " – ".join(deadline_text(place) or "…" for place in (window.due_from, window.due_by))


@does("run", "get_thread_ledger")
def _ledger(view: View) -> Any:
    if sum(bool(view.asked[kind]) for kind in ("only_due", "as_board", "as_report")) > 1:
        raise click.UsageError("--due, --board and --report are three views; give one of them")
    ledger = view.part.ledger(**view.values).of_category(*view.asked["categories"])
    return ledger.model_copy(update={"entries": ledger.at("due", "overdue")}) if view.asked["only_due"] else ledger


@does("show", "get_thread_ledger")
def _show_ledger(ledger: Any, view: View) -> None:
    from novelgen.memory.ledger import board_lines, unpaid_report

    ledger = ledger.model_copy(update={"language": view.labels.language})
    if view.asked["as_report"]:
        for line in unpaid_report(ledger):
            output.print_text(line)
        return
    if not view.asked["as_board"]:
        waiting_entries = [entry for entry in ledger.entries if entry.is_waiting]
        if not waiting_entries:
            is_narrowed = view.asked["only_due"] or view.asked["categories"]
            key = "none_of_these_threads" if is_narrowed else "list_threads"
            output.print_text(view.labels[f"empty.{key}"].format(project=view.project))
            return
        view.table(_LEDGER, waiting_entries)
        return
    for heading, lines in board_lines(ledger):
        output.print_heading(heading)
        for line in lines:
            output.print_text(f"- {line}")


_LEDGER = cells_of(
    "entity_id=loop_id stage=~stage importance=~importance age=age_scenes "
    "silent=silent_scenes expected=:window text=description"
)


@cell
def _place_or_none(item: Any, view: View) -> object:
    from novelgen.models.position import place_told

    return "" if place_told(item)[0] is None else view.cell("@", item)


@cell
def _last_moved(item: Any, view: View) -> str:
    if (item.last_chapter_index, item.last_scene_index) == (item.chapter_index, item.scene_index):
        return str(_place_or_none(item, view))
    return view.labels.place(item.last_chapter_index, item.last_scene_index)


@does("show", "add_thread", "edit_thread")
def _show_kept(result: Any, view: View) -> None:
    say_kept(result, view, source_id=result.loop_id)


@does("aside", "add_thread", "edit_thread")
def _knowers_aside(result: Any, view: View) -> None:
    if {"description", "start"} & set(view.values):
        say_knowers(result.loop_id, view)
