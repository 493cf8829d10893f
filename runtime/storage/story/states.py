"""Entity states over story time: changes are appended, a state is their fold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, or_, select

from novelgen.models.folds import HOLDER_ATTRIBUTE, chapters_of_change, fold_holders, snapshot_of, timeline_order
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.state import EntityStateSnapshot, StateChange
from runtime.storage.cuts import before, order_in_force, scene_ids_at, story_order, within
from runtime.storage.records import EventOrigin, StoredKnowledge
from runtime.storage.session import AnyRow, Repository, StorageSession
from runtime.storage.tables import STATES


class _Dated(NamedTuple):
    change: StateChange
    created_at: datetime


class StateRepository(Repository):
    """Appends and folds state changes."""

    def append(self, changes: Sequence[StateChange]) -> None:
        """Append changes that no scene brings: they survive the re-ingest of the scene at their position."""
        self._session.touch()
        places = {(change.chapter_index, change.scene_index) for change in changes}
        scene_ids = scene_ids_at(self._session, places)
        rows = [
            state_values(self._session.project_id, change, "author", self._session.now())
            | {"scene_id": scene_ids.get((change.chapter_index, change.scene_index))}
            for change in changes
        ]
        self._session.insert(STATES, rows)

    def changes_of(self, entity_ids: Sequence[str] | None = None) -> list[StateChange]:
        """Return all changes in the order in which they apply; None means all entities."""
        return [dated.change for dated in self._dated(entity_ids, END_OF_STORY)]

    def changes_before(self, as_of: StoryPosition, *, entity_ids: Sequence[str]) -> list[StateChange]:
        """Return the changes of entities before a position, and every stated holder, as they count."""
        wanted = STATES.c.attribute == HOLDER_ATTRIBUTE
        if entity_ids:
            wanted = or_(wanted, STATES.c.entity_id.in_(entity_ids))
        statement = select(STATES).where(self._session.owns(STATES), before(as_of, STATES), wanted)
        rows = self._session.rows(statement.order_by(*order_in_force(STATES)))
        return [_change(row) for row in self._session.own(rows)]

    def stated_of(self, entity_id: str, *, as_of: StoryPosition = END_OF_STORY) -> list[StateChange]:
        """Return what was stated of one entity before a position, in the order in which it counts."""
        return self._explicit(STATES.c.entity_id == entity_id, before(as_of, STATES))

    def stated_in(self, at: StoryPosition, *, entity_ids: Sequence[str]) -> list[StateChange]:
        """Return what a scene states of entities, and of who holds anything, in the order in which it counts."""
        wanted = or_(STATES.c.attribute == HOLDER_ATTRIBUTE, STATES.c.entity_id.in_(entity_ids))
        return self._explicit(
            STATES.c.chapter_index == at.chapter_index, STATES.c.scene_index == at.scene_index, wanted
        )

    def standing_before(
        self, as_of: StoryPosition, *, attributes: Collection[str], entity_ids: Collection[str] | None = None
    ) -> list[StateChange]:
        """Return the last statement of each attribute of each entity before a position; the others are not read."""
        wanted: ColumnElement[bool] = STATES.c.attribute.in_(sorted(attributes))
        if entity_ids is not None:
            wanted = and_(wanted, STATES.c.entity_id.in_(sorted(entity_ids)))
        statement = select(STATES.c.row_id, STATES.c.entity_id, STATES.c.attribute).where(
            self._session.owns(STATES), STATES.c.kind == "explicit", before(as_of, STATES), wanted
        )
        rows = self._session.rows(statement.order_by(*order_in_force(STATES)))
        last = {(row[1], row[2]): row[0] for row in rows}
        return self._explicit(self._session.among(STATES.c.row_id, last.values())) if last else []

    def changed_between(self, since: StoryPosition, until: StoryPosition) -> list[str]:
        """Return the ids of the entities of which something was stated from one position on until another, in order."""
        statement = (
            select(STATES.c.entity_id)
            .distinct()
            .where(self._session.owns(STATES), STATES.c.kind == "explicit", within(since, until, STATES))
            .order_by(STATES.c.entity_id)
        )
        return list(self._session.connection.scalars(statement))

    def changes_of_attributes(
        self, attributes: Collection[str], *, as_of: StoryPosition = END_OF_STORY
    ) -> list[StateChange]:
        """Return what was stated of some attributes, of any entity, before a position, as it counts."""
        return self._explicit(STATES.c.attribute.in_(sorted(attributes)), before(as_of, STATES))

    def stated_between(self, since: StoryPosition, until: StoryPosition) -> list[StateChange]:
        """Return what was stated of entities from one position on until another, in the order in which it counts."""
        return self._explicit(within(since, until, STATES))

    def unverified(self, *, scene_id: str | None = None) -> list[StateChange]:
        """Return the changes that no quote of their scene proves, of one scene or of all, in story order."""
        statement = select(STATES).where(self._session.owns(STATES), STATES.c.verified.is_(False))
        if scene_id is not None:
            statement = statement.where(STATES.c.scene_id == scene_id)
        rows = self._session.rows(statement.order_by(*story_order(STATES), STATES.c.row_id))
        return [_change(row) for row in self._session.own(rows)]

    def snapshots(self, entity_ids: Sequence[str], *, as_of: StoryPosition = END_OF_STORY) -> list[EntityStateSnapshot]:
        """Return the states at a position in the order asked; entities without one are left out.

        A snapshot's timestamp is that of the last write that went into it; `holds` is derived from the holders.
        """
        held = holders_as_of(self._session, as_of)
        by_entity = _by_entity(self._dated(list(dict.fromkeys(entity_ids)), as_of))
        snapshots = [
            _snapshot(self._session.project_id, by_entity.get(entity_id, []), as_of)
            for entity_id in dict.fromkeys(entity_ids)
        ]
        return [
            snapshot.model_copy(update={"holds": held.get(snapshot.entity_id, [])})
            for snapshot in snapshots
            if snapshot is not None
        ]

    def timeline(
        self, from_chapter: int, to_chapter: int, *, as_of: StoryPosition = END_OF_STORY
    ) -> list[EntityStateSnapshot]:
        """Return how entities stood at the end of each chapter in which they changed."""
        in_range = (
            select(STATES.c.entity_id)
            .distinct()
            .where(
                self._session.owns(STATES),
                STATES.c.chapter_index.between(from_chapter, to_chapter),
                before(as_of, STATES),
            )
        )
        changed = list(self._session.connection.scalars(in_range))
        by_entity = _by_entity(self._dated(changed, as_of)) if changed else {}
        snapshots = [
            snapshot
            for dated in by_entity.values()
            for chapter in chapters_of_change([one.change for one in dated], first=from_chapter, last=to_chapter)
            if (snapshot := _snapshot(self._session.project_id, dated, min(StoryPosition(chapter + 1), as_of)))
            is not None
        ]
        return sorted(snapshots, key=timeline_order)

    def _explicit(self, *conditions: ColumnElement[bool]) -> list[StateChange]:
        statement = select(STATES).where(self._session.owns(STATES), STATES.c.kind == "explicit", *conditions)
        rows = self._session.rows(statement.order_by(*order_in_force(STATES)))
        return [_change(row) for row in self._session.own(rows)]

    def _dated(self, entity_ids: Sequence[str] | None, as_of: StoryPosition) -> list[_Dated]:
        statement = (
            select(STATES).where(self._session.owns(STATES), before(as_of, STATES)).order_by(*order_in_force(STATES))
        )
        if entity_ids is not None:
            statement = statement.where(STATES.c.entity_id.in_(entity_ids))
        rows = self._session.own(self._session.rows(statement))
        return [_Dated(_change(row), row.created_at) for row in rows]


def holders_as_of(session: StorageSession, as_of: StoryPosition) -> dict[str, list[str]]:
    """Return who holds what strictly before a position: the last stated `holder` of each item."""
    rows = session.rows(
        select(STATES.c.entity_id, STATES.c.value)
        .where(
            session.owns(STATES),
            STATES.c.attribute == HOLDER_ATTRIBUTE,
            STATES.c.kind == "explicit",
            before(as_of, STATES),
        )
        .order_by(*order_in_force(STATES))
    )
    return fold_holders((row[0], row[1]) for row in rows)


def state_values(project_id: str, change: StateChange, origin: EventOrigin, now: datetime) -> dict[str, Any]:
    """Return a state change as the columns of its row, but for the scene's id."""
    return with_span_columns(change) | {"project_id": project_id, "origin": origin, "created_at": now}


def with_span_columns(fact: StateChange | StoredKnowledge) -> dict[str, Any]:
    """Return what a quote proves, or what is derived from such a fact, with its span as two columns."""
    start, end = fact.source_span or (None, None)
    return fact.model_dump(exclude={"source_span"}) | {"span_start": start, "span_end": end}


def span_of(row: AnyRow) -> tuple[int, int] | None:
    """Return the span of a row's quote; None where it was not found, or there is none."""
    return None if row.span_start is None else (row.span_start, row.span_end)


def _change(row: AnyRow) -> StateChange:
    return StateChange.model_construct(
        entity_id=row.entity_id,
        entity_type=row.entity_type,
        attribute=row.attribute,
        value=row.value,
        chapter_index=row.chapter_index,
        scene_index=row.scene_index,
        kind=row.kind,
        verified=row.verified,
        source_span=span_of(row),
    )


def _by_entity(changes: Sequence[_Dated]) -> Mapping[str, list[_Dated]]:
    grouped: dict[str, list[_Dated]] = defaultdict(list)
    for dated in changes:
        grouped[dated.change.entity_id].append(dated)
    return grouped


def _snapshot(project_id: str, dated: Sequence[_Dated], as_of: StoryPosition) -> EntityStateSnapshot | None:
    visible = [one for one in dated if as_of.admits(one.change.chapter_index, one.change.scene_index)]
    if not visible:
        return None
    timestamp = max(one.created_at for one in visible)
    changes = [one.change for one in visible]
    return snapshot_of(project_id, changes, as_of=as_of, timestamp=timestamp)
