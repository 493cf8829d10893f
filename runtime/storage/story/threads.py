"""Open loops over story time: events are appended, a loop's status is their fold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from sqlalchemy import case, select

from novelgen.errors import UserInputError
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.record import RecordedLoop, RecordedLoopAdvance, RecordedLoopResolution, SceneRecord
from novelgen.models.state import LoopStatus, OpenLoop, most_due
from runtime.storage.cuts import before, scene_ids_at, story_order
from runtime.storage.projects import CounterRepository
from runtime.storage.session import AnyRow, Integers, StorageSession, own_rows
from runtime.storage.tables import LOOP_EVENTS, SCENES

LoopEvent = RecordedLoop | RecordedLoopAdvance | RecordedLoopResolution

PlaceNumber = TypeVar("PlaceNumber", int, Integers)

_SCENES_PER_CHAPTER = 2**32
"""More than a scene's number can be."""

_STATUS_AFTER: dict[str, LoopStatus] = {
    "planted": "open",
    "advanced": "advanced",
    "resolved": "resolved",
    "abandoned": "abandoned",
}


class LoopRepository:
    """Appends and folds the events of open loops.

    Args:
        session: The transaction to work in.
    """

    def __init__(self, session: StorageSession) -> None:
        self._session = session

    def next_id(self) -> str:
        """Return an id that no loop has yet."""
        return CounterRepository(self._session).take("OL")

    def append(self, event: LoopEvent, *, at: StoryPosition) -> None:
        """Append what the author says of a loop at a position; it survives re-ingest of the scene there.

        Args:
            event: A `RecordedLoop` plants it, the others advance, resolve or abandon it.
            at: The scene in which it happens; the end of the story means without a position.

        Raises:
            UnknownProjectError: When no project of that id is stored.
            UserInputError: When a loop is to be moved that nobody planted.
        """
        self._session.touch(self._session.project_id)
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

    def get(self, loop_id: str, *, as_of: StoryPosition = END_OF_STORY) -> OpenLoop | None:
        """Return a loop as it stands at a position, or None when it is not planted by then."""
        return next(iter(self._folded(as_of, loop_id)), None)

    def list_as_of(
        self,
        *,
        as_of: StoryPosition = END_OF_STORY,
        statuses: Sequence[LoopStatus] = ("open", "advanced"),
    ) -> list[OpenLoop]:
        """Return the loops of these statuses at a position, in the order in which they were planted."""
        return [loop for loop in self._folded(as_of) if loop.status in statuses]

    def due(self, *, as_of: StoryPosition = END_OF_STORY, limit: int = 10) -> list[OpenLoop]:
        """Return the unresolved loops that are most due (see `most_due`)."""
        return most_due(self.list_as_of(as_of=as_of), limit)

    def _folded(self, as_of: StoryPosition, loop_id: str | None = None) -> list[OpenLoop]:
        statement = (
            select(LOOP_EVENTS)
            .where(LOOP_EVENTS.c.project_id == self._session.project_id, before(as_of, LOOP_EVENTS))
            .order_by(
                *story_order(LOOP_EVENTS),
                case((LOOP_EVENTS.c.origin == "author", 1), else_=0),
                LOOP_EVENTS.c.row_id,
            )
        )
        if loop_id is not None:
            statement = statement.where(LOOP_EVENTS.c.loop_id == loop_id)
        by_loop: dict[str, list[AnyRow]] = defaultdict(list)
        for row in own_rows(self._session.rows(statement), self._session.project_id):
            by_loop[row.loop_id].append(row)
        places = self._scene_places(as_of) if by_loop else np.zeros(0, dtype=np.int64)
        loops = [_fold(events, places) for events in by_loop.values()]
        return [loop for loop in loops if loop is not None]

    def _scene_places(self, as_of: StoryPosition) -> Integers:
        """Return a number per stored scene before a position, ascending as the story goes."""
        chapters, scenes = self._session.integers(
            (SCENES.c.chapter_index, SCENES.c.scene_index),
            SCENES.c.project_id == self._session.project_id,
            before(as_of, SCENES),
        )
        return np.sort(_place(chapters, scenes))


def _place(chapter: PlaceNumber, scene: PlaceNumber) -> PlaceNumber:
    return chapter * _SCENES_PER_CHAPTER + scene


def loop_event_values(project_id: str, event: LoopEvent) -> dict[str, Any]:
    """Return a loop event as the columns of its row, but for scene, position and origin."""
    kind, note, detail = "planted", "", {}
    if isinstance(event, RecordedLoop):
        detail = event.model_dump(exclude={"id", "extra"})
    elif isinstance(event, RecordedLoopAdvance):
        kind, note = "advanced", event.note
    else:
        kind, note = "abandoned" if event.abandoned else "resolved", event.resolution_summary
    return {"project_id": project_id, "loop_id": event.id, "kind": kind, "note": note, "detail": detail}


def recorded_loop_events(record: SceneRecord) -> list[LoopEvent]:
    """Return the loop events of a scene in the order in which they count."""
    return [*record.open_loops_created, *record.open_loops_advanced, *record.open_loops_resolved]


def _fold(events: Sequence[AnyRow], places: Integers) -> OpenLoop | None:
    planted = next((event for event in events if event.kind == "planted"), None)
    if planted is None:
        return None
    detail: Mapping[str, Any] = planted.detail
    last = [event for event in events if event.kind != "planted"]
    newest = last[-1] if last else planted
    ended = newest.kind in ("resolved", "abandoned")
    related = [*detail["related_characters"], *detail["related_locations"], *detail["related_items"]]
    return OpenLoop(
        loop_id=planted.loop_id,
        category=detail["category"],
        description=detail["description"],
        importance=detail["importance"],
        related_entities=related,
        status=_STATUS_AFTER[newest.kind],
        chapter_index=planted.chapter_index,
        scene_index=planted.scene_index,
        last_chapter_index=newest.chapter_index,
        last_scene_index=newest.scene_index,
        resolution_summary=newest.note if ended else None,
        age_scenes=_age(planted, places),
    )


def _age(planted: AnyRow, places: Integers) -> int | None:
    if planted.chapter_index is None:
        return None
    if planted.scene_index is None:
        return int((places >= _place(planted.chapter_index + 1, 0)).sum())
    return int((places > _place(planted.chapter_index, planted.scene_index)).sum())
