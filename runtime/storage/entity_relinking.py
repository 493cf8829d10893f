"""Everything that is linked to one entity, linked to another one: in all scenes or in some."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Table, and_, select, true

from novelgen.models.entity import EntityType
from runtime.storage.chunk_rows import text_hash
from runtime.storage.id_replacement import record_with_replaced_id, replaced_id
from runtime.storage.outbox import OutboxRepository
from runtime.storage.relationship_relinking import relink_relationships
from runtime.storage.session import StorageSession
from runtime.storage.tables import CHUNK_ENTITIES, CHUNKS, LOOP_EVENTS, MENTIONS, SCENES, STATES


class EntityRelinking:
    """Moves links from one entity to another.

    Args:
        session: A writing session.
        project_id: The project.
        old_id: Who had the links.
        new_id: Who gets them.
        new_type: Type of the new one.
        scene_ids: Only what came from, or was said of, these scenes; None means everything.
    """

    def __init__(
        self,
        session: StorageSession,
        old_id: str,
        new_id: str,
        *,
        new_type: EntityType,
        scene_ids: Collection[str] | None = None,
    ) -> None:
        self._session = session
        self._project_id = session.project_id
        self._old, self._new = old_id, new_id
        self._new_type = new_type
        self._scene_ids = scene_ids

    def run(self) -> None:
        """Move all links: scenes, mentions, memories, states, loops and relationships."""
        self._relink_scenes()
        self._relink_mentions()
        self._relink_memories()
        self._relink_states()
        self._relink_loops()
        relink_relationships(self._session, self._old, self._new, self._scene_ids)

    def _relink_scenes(self) -> None:
        columns = (SCENES.c.participants, SCENES.c.location_id, SCENES.c.pov)
        for row in self._rows(SCENES, SCENES.c.scene_id, *columns, SCENES.c.record, SCENES.c.content_hash):
            values = {column.name: self._replaced(getattr(row, column.name)) for column in columns}
            values["record"] = record_with_replaced_id(row.record, self._old, self._new)
            if any(getattr(row, name) != value for name, value in values.items()):
                # The mark of what is stored must change with it.
                values["content_hash"] = text_hash(row.content_hash, self._old, self._new)
                self._session.run(SCENES.update().where(SCENES.c.scene_id == row.scene_id).values(**values))

    def _relink_mentions(self) -> None:
        mine = and_(self._within(MENTIONS), MENTIONS.c.entity_id == self._old)
        theirs = {
            (row.scene_id, row.name)
            for row in self._rows(MENTIONS, MENTIONS.c.scene_id, MENTIONS.c.name, MENTIONS.c.entity_id)
            if row.entity_id == self._new
        }
        for row in self._session.rows(select(MENTIONS).where(mine)):
            this = and_(
                MENTIONS.c.scene_id == row.scene_id,
                MENTIONS.c.entity_id == self._old,
                MENTIONS.c.name == row.name,
            )
            if (row.scene_id, row.name) in theirs:
                self._session.run(MENTIONS.delete().where(this))
            else:
                self._session.run(MENTIONS.update().where(this).values(entity_id=self._new))

    def _relink_memories(self) -> None:
        names = ("entities_mentioned", "attached", "detached", "slot_type")
        columns = (CHUNKS.c[name] for name in ("row_id", "chunk_id", "status", *names))
        touched = []
        for row in self._rows(CHUNKS, *columns):
            values = {name: self._replaced(getattr(row, name)) for name in names}
            if any(getattr(row, name) != value for name, value in values.items()):
                relink_memory(self._session, row.row_id, self._old, [self._new])
                self._session.run(CHUNKS.update().where(CHUNKS.c.row_id == row.row_id).values(**values))
                touched += [row.chunk_id] if row.status == "active" else []
        OutboxRepository(self._session).queue(touched, "upsert")

    def _relink_states(self) -> None:
        for row in self._rows(
            STATES, STATES.c.row_id, STATES.c.entity_id, STATES.c.entity_type, STATES.c.value
        ):
            values: dict[str, Any] = {"value": self._replaced(row.value)}
            if row.entity_id == self._old:
                values |= {"entity_id": self._new, "entity_type": self._new_type}
            if any(getattr(row, name) != value for name, value in values.items()):
                self._session.run(STATES.update().where(STATES.c.row_id == row.row_id).values(**values))

    def _relink_loops(self) -> None:
        for row in self._rows(LOOP_EVENTS, LOOP_EVENTS.c.row_id, LOOP_EVENTS.c.detail):
            detail = self._replaced(row.detail)
            if detail != row.detail:
                self._session.run(
                    LOOP_EVENTS.update().where(LOOP_EVENTS.c.row_id == row.row_id).values(detail=detail)
                )

    def _replaced(self, value: Any) -> Any:
        return replaced_id(value, self._old, self._new)

    def _rows(self, table: Table, *columns: ColumnElement[Any]) -> list[Any]:
        return list(self._session.rows(select(*columns).where(self._within(table))))

    def _within(self, table: Table) -> ColumnElement[bool]:
        here = true() if self._scene_ids is None else table.c.scene_id.in_(list(self._scene_ids))
        return and_(table.c.project_id == self._project_id, here)


def relink_memory(session: StorageSession, chunk_row_id: int, old_id: str, new_ids: Collection[str]) -> None:
    """Replace a memory's link to one entity by links to others, keeping the kind of link.

    The memory's own list of entities is not touched.
    """
    links = session.rows(select(CHUNK_ENTITIES).where(CHUNK_ENTITIES.c.chunk_row_id == chunk_row_id))
    kinds = {row.entity_id: row.kind for row in links}
    if old_id not in kinds:
        return
    this = and_(CHUNK_ENTITIES.c.chunk_row_id == chunk_row_id, CHUNK_ENTITIES.c.entity_id == old_id)
    if old_id not in new_ids:
        session.run(CHUNK_ENTITIES.delete().where(this))
    added = [
        {
            "chunk_row_id": chunk_row_id,
            "entity_id": each,
            "project_id": session.project_id,
            "kind": kinds[old_id],
        }
        for each in new_ids
        if each not in kinds
    ]
    session.insert(CHUNK_ENTITIES, added)
