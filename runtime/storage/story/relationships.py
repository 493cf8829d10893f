"""Relationships over story time: changes are appended, how two characters stand is their fold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import Select, or_, select

from novelgen.errors import UserInputError
from novelgen.memory.outline import PairChange
from novelgen.memory.relationship_conflicts import StatedRelationship
from novelgen.models.folds import folded_relationship, relationship_change_values
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.record import RecordedRelationshipChange
from novelgen.models.state import Relationship
from runtime.storage.cuts import before, order_in_force, scene_ids_at
from runtime.storage.projects import CounterRepository
from runtime.storage.session import AnyRow, Repository
from runtime.storage.tables import RELATIONSHIP_CHANGES, RELATIONSHIPS


class PairNotes(NamedTuple):
    """When a pair was stored and last changed, and what another program's document of it says beside."""

    created_at: datetime | None = None
    updated_at: datetime | None = None
    other_fields: Mapping[str, Any] = MappingProxyType({})


class RelationshipRepository(Repository):
    """Appends and folds the changes of relationships."""

    def append(self, change: RecordedRelationshipChange, *, at: StoryPosition) -> str:
        """Append what the author says of a pair at a position; it survives re-ingest of the scene there."""
        self._session.touch()
        place = (at.chapter_index, at.scene_index)
        position = {
            "scene_id": scene_ids_at(self._session, [place]).get(place),
            "chapter_index": at.chapter_index,
            "scene_index": at.scene_index,
            "origin": "author",
        }
        return self.insert_changes([change], position)[0]

    def insert_changes(self, changes: Sequence[RecordedRelationshipChange], position: dict[str, Any]) -> list[str]:
        """Insert changes of one scene, whose position, id and origin are given as columns; return the ids."""
        relationship_ids = [self.id_of(change.character_a, change.character_b) for change in changes]
        rows = [
            relationship_change_values(change)
            | position
            | {"project_id": self._session.project_id, "relationship_id": relationship_id}
            for change, relationship_id in zip(changes, relationship_ids, strict=True)
        ]
        self._session.insert(RELATIONSHIP_CHANGES, rows)
        changed = (RELATIONSHIPS.c.project_id == self._session.project_id) & RELATIONSHIPS.c.relationship_id.in_(
            set(relationship_ids)
        )
        self._session.run(RELATIONSHIPS.update().where(changed).values(updated_at=self._session.now()))
        return relationship_ids

    def list_as_of(
        self, *, as_of: StoryPosition = END_OF_STORY, character_id: str | None = None, status: str | None = None
    ) -> list[Relationship]:
        """Return how pairs stand at a position, in order of relationship id."""
        condition = None if character_id is None else _involves(character_id)
        found = self._folded(as_of, condition)
        return [relation for relation in found if status is None or relation.status == status]

    def changes_between(
        self, character_ids: Sequence[str], *, as_of: StoryPosition = END_OF_STORY
    ) -> dict[str, list[PairChange]]:
        """Return the single changes of the pairs among some characters, by relationship id, as they count."""
        among = RELATIONSHIPS.c.character_a.in_(character_ids) & RELATIONSHIPS.c.character_b.in_(character_ids)
        return {
            relationship_id: [
                PairChange(**{each.name: getattr(row, each.name) for each in fields(PairChange)}) for row in rows
            ]
            for relationship_id, rows in self._rows_by_pair(as_of, among).items()
        }

    def between(self, character: str, other: str, *, as_of: StoryPosition = END_OF_STORY) -> Relationship | None:
        """Return how two characters stand at a position, asked in either order, or None when nothing is known."""
        first, second = sorted((character, other))
        pair = (RELATIONSHIPS.c.character_a == first) & (RELATIONSHIPS.c.character_b == second)
        return next(iter(self._folded(as_of, pair)), None)

    def about_pair(self, relationship_id: str) -> PairNotes:
        """Return when a pair was stored and last changed, and what is noted of it beside, empty where it is none."""
        statement = select(RELATIONSHIPS.c.created_at, RELATIONSHIPS.c.updated_at, RELATIONSHIPS.c.other_fields).where(
            self._session.owns(RELATIONSHIPS), RELATIONSHIPS.c.relationship_id == relationship_id
        )
        row = self._session.connection.execute(statement).one_or_none()
        return PairNotes() if row is None else PairNotes(*row)

    def stated(self) -> list[StatedRelationship]:
        """Return what each scene and the author said of pairs, in the order in which it applies."""
        rows = self._session.own(self._session.rows(self._changes()))
        return [
            StatedRelationship(
                relationship_id=row.relationship_id,
                character_a=row.character_a,
                character_b=row.character_b,
                relationship_type=row.relationship_type or "",
                status=row.status or "",
                event=row.event,
                chapter_index=row.chapter_index,
                scene_index=row.scene_index,
            )
            for row in rows
        ]

    def id_of(self, character: str, other: str) -> str:
        """Return the id of a pair, in either order; a pair without one gets the next."""
        first, second = sorted((character, other))
        if first == second:
            raise UserInputError(f"a relationship needs two characters, but both are {first!r}")
        pair = (RELATIONSHIPS.c.character_a == first) & (RELATIONSHIPS.c.character_b == second)
        known = self._session.one([RELATIONSHIPS.c.relationship_id], pair)
        if known is not None:
            return str(known.relationship_id)
        relationship_id = CounterRepository(self._session).take("R")
        now = self._session.now()
        row: dict[str, Any] = {"project_id": self._session.project_id, "relationship_id": relationship_id}
        row |= {"created_at": now, "updated_at": now}
        self._session.insert(RELATIONSHIPS, [row | {"character_a": first, "character_b": second}])
        return relationship_id

    def _changes(self) -> Select[Any]:
        changes = RELATIONSHIP_CHANGES
        joined = changes.join(
            RELATIONSHIPS,
            (RELATIONSHIPS.c.project_id == changes.c.project_id)
            & (RELATIONSHIPS.c.relationship_id == changes.c.relationship_id),
        )
        return (
            select(changes, RELATIONSHIPS.c.character_a, RELATIONSHIPS.c.character_b)
            .select_from(joined)
            .where(self._session.owns(changes))
            .order_by(*order_in_force(changes))
        )

    def _rows_by_pair(self, as_of: StoryPosition, condition: Any) -> dict[str, list[AnyRow]]:
        statement = self._changes().where(before(as_of, RELATIONSHIP_CHANGES))
        if condition is not None:
            statement = statement.where(condition)
        by_pair: dict[str, list[AnyRow]] = defaultdict(list)
        for row in self._session.own(self._session.rows(statement)):
            by_pair[row.relationship_id].append(row)
        return by_pair

    def _folded(self, as_of: StoryPosition, condition: Any) -> list[Relationship]:
        relations = [
            folded_relationship(
                rows,
                relationship_id=relationship_id,
                character_a=rows[-1].character_a,
                character_b=rows[-1].character_b,
            )
            for relationship_id, rows in self._rows_by_pair(as_of, condition).items()
        ]
        return sorted(relations, key=lambda relation: (len(relation.relationship_id), relation.relationship_id))


def _involves(character_id: str) -> Any:
    return or_(RELATIONSHIPS.c.character_a == character_id, RELATIONSHIPS.c.character_b == character_id)
