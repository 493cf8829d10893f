"""Open loops over story time: events are appended, a loop's status is their fold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement, select

from novelgen.errors import UserInputError
from novelgen.memory.ledger import ThreadEvent
from novelgen.models.folds import RecordedLoopEvent, fold_loop_events, folded_loop
from novelgen.models.folds import loop_event_values as values_of_event
from novelgen.models.position import END_OF_STORY, StoryPosition, UtcDatetime, packed_place
from novelgen.models.record import RecordedLoop, is_unsaid
from novelgen.models.state import UNRESOLVED_STATUSES, LoopStatus, OpenLoop, most_due
from runtime.storage.cuts import before, order_in_force, scene_ids_at
from runtime.storage.projects import CounterRepository
from runtime.storage.session import AnyRow, Integers, Repository
from runtime.storage.tables import LOOP_EVENTS, SCENES


class ThreadNotes(BaseModel):
    """What an author noted of a thread, which is no part of the story, and when it was planted."""

    notes: str = ""
    created_at: UtcDatetime | None = None
    pay_off: str = Field(default="", exclude_if=is_unsaid, description="What its pay-off needs.")
    due_from: tuple[int, int] | None = Field(
        default=None, exclude_if=is_unsaid, description="It is due on entering this scene."
    )
    due_by: tuple[int, int] | None = Field(
        default=None, exclude_if=is_unsaid, description="Open on entering this scene, it is overdue."
    )
    parts: int | None = Field(default=None, exclude_if=is_unsaid, description="In how many parts it is to be paid.")


_MOVE_COLUMNS = tuple(
    LOOP_EVENTS.c[name] for name in ("project_id", "loop_id", "kind", "chapter_index", "scene_index", "origin")
)
"""What tells how a thread stands, without the words about it."""

_PLANNED = ("pay_off", "due_from", "due_by", "parts")
"""Of the description of a thread, what its author means to do with it."""


class ThreadRepository(Repository):
    """Appends and folds the events of open loops."""

    def next_id(self) -> str:
        """Return an id that no loop has yet."""
        return CounterRepository(self._session).take("OL")

    def append(self, event: RecordedLoopEvent, *, at: StoryPosition) -> None:
        """Append what the author says of a loop at a position; it survives re-ingest of the scene there."""
        self._session.touch()
        if not isinstance(event, RecordedLoop) and self.get(event.id) is None:
            raise UserInputError(f"no open loop {event.id!r} is stored; plant it first")
        place = (at.chapter_index, at.scene_index)
        scene_id = scene_ids_at(self._session, [place]).get(place)
        values = loop_event_values(self._session.project_id, event) | {
            "scene_id": scene_id,
            "chapter_index": at.chapter_index,
            "scene_index": at.scene_index,
            "origin": "author",
        }
        self._session.insert(LOOP_EVENTS, [values])
        CounterRepository(self._session).jump_over([event.id])

    def endings(self, *, as_of: StoryPosition = END_OF_STORY, loop_id: str | None = None) -> dict[str, str]:
        """Return the threads that are over at a position, with who said how they ended: author or record."""
        loop_ids = None if loop_id is None else [loop_id]
        rows_by_thread = self._rows_by_thread(as_of, loop_ids, columns=_MOVE_COLUMNS)
        folds = {each: fold_loop_events(rows) for each, rows in rows_by_thread.items()}
        return {each: fold.last.origin for each, fold in folds.items() if fold.is_over}

    def take_back_ending(self, loop_id: str, *, as_of: StoryPosition = END_OF_STORY) -> int:
        """Delete what the author said last of a thread that is over at a position, that it ended; return its row."""
        self._session.touch()
        rows = self._rows_by_thread(as_of, [loop_id]).get(loop_id, [])
        fold = fold_loop_events(rows) if rows else None
        if fold is None or not fold.is_over:
            raise UserInputError(f"thread {loop_id!r} has not ended by then; there is nothing to take back")
        if fold.last.origin != "author":
            raise UserInputError(
                f"that thread {loop_id!r} ended stands in the record of scene"
                f" {fold.last.chapter_index}:{fold.last.scene_index}; correct the record there"
            )
        row_id: int = fold.last.row_id
        self._session.run(LOOP_EVENTS.delete().where(LOOP_EVENTS.c.row_id == row_id))
        return row_id

    def describe(self, loop_id: str, changes: Mapping[str, Any]) -> None:
        """Change how a thread is described, where it was planted; this survives the re-ingest of that scene."""
        self._session.touch()
        planted = self._planted(END_OF_STORY).get(loop_id)
        if planted is None:
            raise UserInputError(f"no open loop {loop_id!r} is stored; plant it first")
        detail = {**planted.detail, **changes}
        if planted.origin == "author":
            self._session.run(LOOP_EVENTS.update().where(LOOP_EVENTS.c.row_id == planted.row_id).values(detail=detail))
            return
        row = {
            name: getattr(planted, name)
            for name in ("project_id", "scene_id", "chapter_index", "scene_index", "loop_id", "kind", "note")
        }
        self._session.insert(LOOP_EVENTS, [row | {"detail": detail, "origin": "author"}])

    def notes(self, *, as_of: StoryPosition = END_OF_STORY) -> dict[str, ThreadNotes]:
        """Return what an author noted of the threads that are planted by a position, and when they were."""
        return {
            loop_id: ThreadNotes(
                notes=row.detail.get("notes", ""),
                created_at=row.detail.get("created_at") or row.stored_at,
                **{name: row.detail[name] for name in _PLANNED if row.detail.get(name)},
            )
            for loop_id, row in self._planted(as_of).items()
        }

    def _planted(self, as_of: StoryPosition) -> dict[str, AnyRow]:
        statement = (
            select(LOOP_EVENTS, SCENES.c.created_at.label("stored_at"))
            .select_from(LOOP_EVENTS.outerjoin(SCENES, SCENES.c.scene_id == LOOP_EVENTS.c.scene_id))
            .where(self._session.owns(LOOP_EVENTS), LOOP_EVENTS.c.kind == "planted", before(as_of, LOOP_EVENTS))
            .order_by(*order_in_force(LOOP_EVENTS))
        )
        by_loop: dict[str, list[AnyRow]] = defaultdict(list)
        for row in self._session.own(self._session.rows(statement)):
            by_loop[row.loop_id].append(row)
        folds = {loop_id: fold_loop_events(rows).planted for loop_id, rows in by_loop.items()}
        return {loop_id: row for loop_id, row in folds.items() if row is not None}

    def get(self, loop_id: str, *, as_of: StoryPosition = END_OF_STORY) -> OpenLoop | None:
        """Return a loop as it stands at a position, or None when it is not planted by then."""
        return next(iter(self._folded(as_of, [loop_id])), None)

    def list_as_of(
        self,
        *,
        as_of: StoryPosition = END_OF_STORY,
        statuses: Sequence[LoopStatus] = UNRESOLVED_STATUSES,
        loop_ids: Collection[str] | None = None,
    ) -> list[OpenLoop]:
        """Return the loops of these statuses at a position, in the order in which they were planted."""
        return [loop for loop in self._folded(as_of, loop_ids) if loop.status in statuses]

    def count_waiting(self, *, as_of: StoryPosition = END_OF_STORY) -> int:
        """Return how many loops are unresolved at a position, without reading what they are about."""
        rows_by_thread = self._rows_by_thread(as_of, columns=_MOVE_COLUMNS)
        folds = [fold_loop_events(rows) for rows in rows_by_thread.values()]
        return sum(fold.planted is not None and fold.status in UNRESOLVED_STATUSES for fold in folds)

    def due(self, *, as_of: StoryPosition = END_OF_STORY, limit: int = 10) -> list[OpenLoop]:
        """Return the unresolved loops that are most due (see `most_due`)."""
        return most_due(self.list_as_of(as_of=as_of), limit)

    def events(self, *, as_of: StoryPosition = END_OF_STORY) -> dict[str, list[ThreadEvent]]:
        """Return what happened to every thread before a position, in the order in which it counts."""
        return {
            loop_id: [
                ThreadEvent(
                    loop_id=row.loop_id,
                    kind=row.kind,
                    note=row.note,
                    detail=row.detail,
                    chapter_index=row.chapter_index,
                    scene_index=row.scene_index,
                )
                for row in rows
            ]
            for loop_id, rows in self._rows_by_thread(as_of).items()
        }

    def _folded(self, as_of: StoryPosition, loop_ids: Collection[str] | None = None) -> list[OpenLoop]:
        by_loop = self._rows_by_thread(as_of, loop_ids)
        places = self._scene_places(as_of) if by_loop else np.zeros(0, dtype=np.int64)
        loops = [folded_loop(events, age_scenes=partial(_age, places=places)) for events in by_loop.values()]
        return [loop for loop in loops if loop is not None]

    def _rows_by_thread(
        self,
        as_of: StoryPosition,
        loop_ids: Collection[str] | None = None,
        *,
        columns: Sequence[ColumnElement[Any]] = (),
    ) -> dict[str, list[AnyRow]]:
        statement = (
            select(*(columns or LOOP_EVENTS.c))
            .where(self._session.owns(LOOP_EVENTS), before(as_of, LOOP_EVENTS))
            .order_by(*order_in_force(LOOP_EVENTS))
        )
        if loop_ids is not None:
            statement = statement.where(self._session.among(LOOP_EVENTS.c.loop_id, loop_ids))
        by_loop: dict[str, list[AnyRow]] = defaultdict(list)
        for row in self._session.own(self._session.rows(statement)):
            by_loop[row.loop_id].append(row)
        return by_loop

    def _scene_places(self, as_of: StoryPosition) -> Integers:
        """Return a number per stored scene before a position, ascending as the story goes."""
        chapters, scenes = self._session.integers(
            (SCENES.c.chapter_index, SCENES.c.scene_index), self._session.owns(SCENES), before(as_of, SCENES)
        )
        return np.sort(packed_place(chapters, scenes))


def loop_event_values(project_id: str, event: RecordedLoopEvent) -> dict[str, Any]:
    """Return a loop event as the columns of its row, but for scene, position and origin."""
    return values_of_event(event) | {"project_id": project_id}


def _age(planted: AnyRow, *, places: Integers) -> int | None:
    if planted.chapter_index is None:
        return None
    if planted.scene_index is None:
        earlier = np.searchsorted(places, packed_place(planted.chapter_index + 1, 0), side="left")
    else:
        place = packed_place(planted.chapter_index, planted.scene_index)
        earlier = np.searchsorted(places, place, side="right")
    return len(places) - int(earlier)
