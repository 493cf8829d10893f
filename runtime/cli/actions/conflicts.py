"""Showing contradictions and storing what the author says to them."""

from __future__ import annotations

from novelgen.records.conflicts import ConflictSource
from runtime.cli.index_following import index_state
from runtime.cli.opening import opened_project
from runtime.cli.output import print_json, print_table, print_text, report_line
from runtime.cli.session import CliSession
from runtime.conflict_settling import Side
from runtime.conflicts import ListedConflict, list_conflicts, resolve_conflict, waive_conflict


def show_conflicts(session: CliSession, project_id: str, *, with_waived: bool, as_json: bool) -> None:
    """Show the contradictions of a story."""
    with opened_project(session, project_id) as stores:
        listed = list_conflicts(stores, project_id, with_waived=with_waived)
    if as_json:
        print_json(listed)
    elif listed:
        headings = ("id", "about", "kind", "first", "second", "waived")
        print_table(headings, [_row(each) for each in listed], wide=4)
    else:
        print_text("no conflicts")


def waive(session: CliSession, project_id: str, conflict_id: str, *, note: str) -> None:
    """Waive a conflict.

    Raises:
        UserInputError: When there is none of that id.
    """
    with opened_project(session, project_id) as stores:
        conflict = waive_conflict(stores, project_id, conflict_id, note=note)
    print_text(f"waived: {conflict.subject}: {_side(conflict.first)} / {_side(conflict.second)}")


def resolve(session: CliSession, project_id: str, conflict_id: str, *, keep: Side) -> None:
    """Settle a conflict.

    Raises:
        UserInputError: When there is none of that id, or neither side settles it.
    """
    with opened_project(session, project_id) as stores:
        settled = resolve_conflict(stores, project_id, conflict_id, keep=keep)
    if settled.indexing.waiting:
        report_line(f"warning: stored, but the index lags: {index_state(settled.indexing, project_id)}")
    print_text(settled.done)


def _row(listed: ListedConflict) -> tuple[str, str, str, str, str, str]:
    conflict = listed.conflict
    waived = (listed.note or "yes") if listed.is_waived else ""
    return (
        conflict.conflict_id,
        conflict.subject,
        conflict.kind,
        _side(conflict.first),
        _side(conflict.second),
        waived,
    )


def _side(source: ConflictSource) -> str:
    return f"{source.chapter_index}:{source.scene_index} {source.says}"
