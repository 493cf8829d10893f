"""Showing, planting, moving and ending open loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from novelgen.errors import UserInputError
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.record import RecordedLoopAdvance
from novelgen.models.state import LoopStatus, OpenLoop
from runtime.cli.opening import opened_project
from runtime.cli.output import print_json, print_pairs, print_table, print_text
from runtime.cli.session import CliSession
from runtime.story_tools.loop_tools import open_loop_create, open_loop_resolve
from runtime.story_tools.story_scope import StoryScope

_WAITING: tuple[LoopStatus, ...] = ("open", "advanced")


def list_loops(
    session: CliSession,
    project_id: str,
    *,
    statuses: Sequence[str],
    due: int | None,
    as_of: StoryPosition | None,
    as_json: bool,
) -> None:
    """Show loops at a position, in the order of planting, or the most due ones first."""
    wanted = cast("Sequence[LoopStatus]", statuses) or _WAITING
    with opened_project(session, project_id) as stores, stores.database(project_id).read() as unit:
        cut = as_of or END_OF_STORY
        found = (
            unit.loops.list_as_of(as_of=cut, statuses=wanted)
            if due is None
            else unit.loops.due(as_of=cut, limit=due)
        )
    if as_json:
        print_json(found)
        return
    rows = [
        (each.loop_id, each.status, each.importance, _planted(each), each.age_scenes, each.description)
        for each in found
    ]
    print_table(("id", "status", "importance", "planted", "age", "description"), rows, wide=5)


def show_loop(
    session: CliSession, project_id: str, loop_id: str, *, as_of: StoryPosition | None, as_json: bool
) -> None:
    """Show a loop.

    Raises:
        UserInputError: When it is not planted by then.
    """
    with opened_project(session, project_id) as stores, stores.database(project_id).read() as unit:
        loop = _required(unit.loops.get(loop_id, as_of=as_of or END_OF_STORY), loop_id)
    if as_json:
        print_json(loop)
        return
    print_pairs(
        {**loop.model_dump(exclude={"related_entities"}), "related": ", ".join(loop.related_entities)}
    )


def add_loop(
    session: CliSession, project_id: str, fields: Mapping[str, Any], *, start: StoryPosition | None
) -> None:
    """Plant a loop and print its id.

    Raises:
        UnknownEntityError: When nobody bears the name of a related entity by then.
    """
    with opened_project(session, project_id) as stores:
        answer = open_loop_create(StoryScope(stores, project_id, start or END_OF_STORY), **fields)
    print_text(f"added {answer['open_loop_id']}")


def edit_loop(
    session: CliSession,
    project_id: str,
    loop_id: str,
    *,
    advance: str | None,
    resolve: str | None,
    abandon: str | None,
    start: StoryPosition | None,
) -> None:
    """Move or end a loop and print what it is now.

    Raises:
        UserInputError: When it does not wait, or not exactly one of the three is given.
    """
    if sum(each is not None for each in (advance, resolve, abandon)) != 1:
        raise UserInputError("what becomes of the loop? give one of --advance, --resolve and --abandon")
    with opened_project(session, project_id) as stores:
        scope = StoryScope(stores, project_id, start or END_OF_STORY)
        if advance is not None:
            _advance(scope, loop_id, advance)
            status = "advanced"
        else:
            summary, is_dropped = resolve or abandon or "", abandon is not None
            answer = open_loop_resolve(
                scope, open_loop_id=loop_id, resolution_summary=summary, abandoned=is_dropped
            )
            status = answer["status"]
    print_text(f"{loop_id} is {status}")


def _advance(scope: StoryScope, loop_id: str, note: str) -> None:
    with scope.database.write() as unit:
        _required(unit.loops.get(loop_id, as_of=scope.as_of), loop_id)
        at = scope.writing_position(unit)
        unit.loops.append(RecordedLoopAdvance(id=loop_id, note=note), at=at)


def _required(loop: OpenLoop | None, loop_id: str) -> OpenLoop:
    if loop is None:
        raise UserInputError(f"no loop {loop_id!r} is planted by then; list them with `novelgen loop list`")
    return loop


def _planted(loop: OpenLoop) -> str:
    return "" if loop.chapter_index is None else f"{loop.chapter_index}:{loop.scene_index}"
