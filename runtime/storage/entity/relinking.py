"""Giving rows that speak of one entity to another."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Table, and_, func, or_, select, true

from novelgen.characters.settings import SLOT_SEPARATOR
from novelgen.models.entity import EntityType
from novelgen.models.state import turned_type
from runtime.storage.memory.outbox import OutboxRepository
from runtime.storage.memory.rows import text_hash
from runtime.storage.projects import CounterRepository
from runtime.storage.session import AnyRow, StorageSession
from runtime.storage.tables import (
    CHARACTER_CHANGES,
    CHARACTER_MEMORIES,
    CHARACTER_SECRETS,
    CHUNK_ENTITIES,
    CHUNKS,
    DISCLOSURES,
    DISPOSITION_CHANGES,
    KNOWLEDGE_EVENTS,
    LOOP_EVENTS,
    MENTIONS,
    RELATIONSHIP_CHANGES,
    RELATIONSHIPS,
    SCENES,
    STATES,
)


def replaced_id(value: Any, old_id: str, new_id: str) -> Any:
    """Return a value with one id in place of another."""
    if isinstance(value, str):
        if value == old_id:
            return new_id
        return new_id + value[len(old_id) :] if is_slot_of(value, old_id) else value
    if isinstance(value, dict):
        return {key: replaced_id(each, old_id, new_id) for key, each in value.items()}
    if not isinstance(value, list):
        return value
    replaced = [replaced_id(each, old_id, new_id) for each in value]
    if replaced != value and all(isinstance(each, str) for each in replaced):
        return list(dict.fromkeys(replaced))
    return replaced


def is_slot_of(text: str, entity_id: str) -> bool:
    """Tell whether a text is the name of one of an entity's slots: its id, a dot, one word."""
    return text.startswith(f"{entity_id}.") and " " not in text


def is_memory_slot_of(slot: str, entity_id: str) -> bool:
    """Tell whether a slot of a character's memory holds what is remembered of an entity: `mood:C3`."""
    return slot.partition(SLOT_SEPARATOR)[2] == entity_id


def record_with_replaced_id(record: dict[str, Any] | None, old_id: str, new_id: str) -> dict[str, Any] | None:
    """Return a stored scene record with one id in place of another, without relationships of one with itself."""
    if record is None:
        return None
    replaced: dict[str, Any] = replaced_id(record, old_id, new_id)
    changes = [each for each in replaced.get("relationship_changes", ()) if each["character_a"] != each["character_b"]]
    return {**replaced, **({"relationship_changes": changes} if "relationship_changes" in replaced else {})}


def relink_relationships(session: StorageSession, old_id: str, new_id: str, scene_ids: Collection[str] | None) -> None:
    """Move the changes of all of one's relationships to the other's, and drop those between the two.

    Perspectives turn where the pair's order does. A pair that has no change left is dropped.
    """
    involved = or_(RELATIONSHIPS.c.character_a == old_id, RELATIONSHIPS.c.character_b == old_id)
    pairs = session.rows(select(RELATIONSHIPS).where(session.owns(RELATIONSHIPS), involved))
    for pair in pairs:
        changes = _changes_within(session, pair.relationship_id, scene_ids)
        if changes or scene_ids is None:
            _move_pair(session, pair, changes, old_id, new_id)


def _move_pair(session: StorageSession, pair: AnyRow, changes: list[AnyRow], old_id: str, new_id: str) -> None:
    other = pair.character_b if pair.character_a == old_id else pair.character_a
    rows = [row.row_id for row in changes]
    if other == new_id:
        session.run(RELATIONSHIP_CHANGES.delete().where(RELATIONSHIP_CHANGES.c.row_id.in_(rows)))
    else:
        first, second = sorted((new_id, other))
        target = _pair_id(session, first, second)
        turned = (pair.character_a == old_id) != (first == new_id)
        for row in changes:
            values: dict[str, Any] = {"relationship_id": target}
            if turned:
                values |= {"perspective_a": row.perspective_b, "perspective_b": row.perspective_a}
                values |= {"dimensions_a": row.dimensions_b, "dimensions_b": row.dimensions_a}
                values["relationship_type"] = row.relationship_type and turned_type(row.relationship_type)
            statement = RELATIONSHIP_CHANGES.update().where(RELATIONSHIP_CHANGES.c.row_id == row.row_id)
            session.run(statement.values(**values))
    _drop_when_empty(session, pair)


def _changes_within(session: StorageSession, relationship_id: str, scene_ids: Collection[str] | None) -> list[AnyRow]:
    statement = select(RELATIONSHIP_CHANGES).where(
        session.owns(RELATIONSHIP_CHANGES), RELATIONSHIP_CHANGES.c.relationship_id == relationship_id
    )
    if scene_ids is not None:
        statement = statement.where(RELATIONSHIP_CHANGES.c.scene_id.in_(list(scene_ids)))
    return list(session.rows(statement))


def _pair_id(session: StorageSession, first: str, second: str) -> str:
    known = session.connection.scalar(
        select(RELATIONSHIPS.c.relationship_id).where(
            session.owns(RELATIONSHIPS), RELATIONSHIPS.c.character_a == first, RELATIONSHIPS.c.character_b == second
        )
    )
    if known is not None:
        return str(known)
    relationship_id = CounterRepository(session).take("R")
    now = session.now()
    row: dict[str, Any] = {"project_id": session.project_id, "relationship_id": relationship_id}
    row |= {"created_at": now, "updated_at": now}
    session.insert(RELATIONSHIPS, [row | {"character_a": first, "character_b": second}])
    return relationship_id


def _drop_when_empty(session: StorageSession, pair: AnyRow) -> None:
    same = and_(
        RELATIONSHIP_CHANGES.c.project_id == pair.project_id,
        RELATIONSHIP_CHANGES.c.relationship_id == pair.relationship_id,
    )
    left = session.connection.scalar(select(func.count()).select_from(RELATIONSHIP_CHANGES).where(same))
    if not left:
        session.run(RELATIONSHIPS.delete().where(RELATIONSHIPS.c.row_id == pair.row_id))


class EntityRelinking:
    """Moves links from one entity to another."""

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
        self._old, self._new = old_id, new_id
        self._new_type = new_type
        self._scene_ids = scene_ids

    def run(self) -> None:
        """Move all links: scenes, memories, states, loops, relationships, knowledge, what a character remembers."""
        self._relink_scenes()
        self._relink_mentions()
        self._relink_memories()
        self._relink_states()
        self._relink_loops()
        if self._scene_ids is None:
            self._relink_character_memories()
            self._relink_play()
        relink_relationships(self._session, self._old, self._new, self._scene_ids)
        self._relink_knowledge()

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
                MENTIONS.c.scene_id == row.scene_id, MENTIONS.c.entity_id == self._old, MENTIONS.c.name == row.name
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
        for row in self._rows(STATES, STATES.c.row_id, STATES.c.entity_id, STATES.c.entity_type, STATES.c.value):
            values: dict[str, Any] = {"value": self._replaced(row.value)}
            if row.entity_id == self._old:
                values |= {"entity_id": self._new, "entity_type": self._new_type}
            if any(getattr(row, name) != value for name, value in values.items()):
                self._session.run(STATES.update().where(STATES.c.row_id == row.row_id).values(**values))

    def _relink_loops(self) -> None:
        for row in self._rows(LOOP_EVENTS, LOOP_EVENTS.c.row_id, LOOP_EVENTS.c.detail):
            detail = self._replaced(row.detail)
            if detail != row.detail:
                self._session.run(LOOP_EVENTS.update().where(LOOP_EVENTS.c.row_id == row.row_id).values(detail=detail))

    def _relink_knowledge(self) -> None:
        table = KNOWLEDGE_EVENTS
        for row in self._rows(table, table.c.row_id, table.c.character_id, table.c.learned_from):
            values = {name: self._replaced(getattr(row, name)) for name in ("character_id", "learned_from")}
            if values["learned_from"] == values["character_id"]:
                # Nobody learns from themselves.
                values["learned_from"] = None
            if any(getattr(row, name) != value for name, value in values.items()):
                self._session.run(table.update().where(table.c.row_id == row.row_id).values(**values))

    def _relink_character_memories(self) -> None:
        """Give what a character remembers to the other, and name the other in everybody's memories."""
        names = ("character_id", "participants", "heard_from", "slot")
        columns = [CHARACTER_MEMORIES.c[name] for name in ("row_id", *names)]
        revision = self._session.revision()
        for row in self._session.rows(select(*columns).where(self._session.owns(CHARACTER_MEMORIES))):
            values = {name: self._replaced(getattr(row, name)) for name in names}
            if row.slot is not None and is_memory_slot_of(row.slot, self._old):
                values["slot"] = row.slot.partition(SLOT_SEPARATOR)[0] + SLOT_SEPARATOR + self._new
            if values["heard_from"] == values["character_id"]:
                # Nobody hears from themselves.
                values["heard_from"] = None
            if any(getattr(row, name) != value for name, value in values.items()):
                statement = CHARACTER_MEMORIES.update().where(CHARACTER_MEMORIES.c.row_id == row.row_id)
                self._session.run(statement.values(**values, changed=revision))
        self._close_former_values(revision)
        self._relink_character_changes()

    def _close_former_values(self, revision: int) -> None:
        """Let the latest value of a slot hold where both brought one, or somebody had one of each of the two."""
        table = CHARACTER_MEMORIES
        statement = (
            select(table.c.row_id, table.c.memory_id, table.c.character_id, table.c.slot)
            .where(
                self._session.owns(table),
                table.c.slot.is_not(None),
                table.c.status == "active",
                table.c.superseded_by.is_(None),
            )
            .order_by(table.c.known_at.desc(), table.c.row_id.desc())
        )
        holders: dict[tuple[str, str], str] = {}
        for row in self._session.rows(statement):
            holder = holders.setdefault((row.character_id, row.slot), row.memory_id)
            if holder != row.memory_id:
                former = table.update().where(table.c.row_id == row.row_id)
                self._session.run(former.values(superseded_by=holder, changed=revision))

    def _relink_character_changes(self) -> None:
        """Name the other in what was done to memories, so that it can still be undone."""
        table = CHARACTER_CHANGES
        columns = (table.c.row_id, table.c.character_id, table.c.changed_rows)
        for row in self._session.rows(select(*columns).where(self._session.owns(table))):
            values = {name: self._replaced(getattr(row, name)) for name in ("character_id", "changed_rows")}
            if any(getattr(row, name) != value for name, value in values.items()):
                self._session.run(table.update().where(table.c.row_id == row.row_id).values(**values))

    def _relink_play(self) -> None:
        """Give feelings, secrets and what was disclosed to the other.

        What the two felt for each other stays, as what one feels for himself, which is never asked for. A secret whose
        id the other has already gets another one.
        """
        for table in (DISPOSITION_CHANGES, DISCLOSURES):
            for name in ("character_id", "other_id"):
                mine = and_(self._session.owns(table), table.c[name] == self._old)
                self._session.run(table.update().where(mine).values({name: self._new}))
        owned = select(CHARACTER_SECRETS).where(
            self._session.owns(CHARACTER_SECRETS), CHARACTER_SECRETS.c.character_id.in_((self._old, self._new))
        )
        rows = self._session.rows(owned)
        taken = {row.secret_id for row in rows if row.character_id == self._new}
        for row in rows:
            if row.character_id == self._old:
                secret_id = f"{row.secret_id} ({self._old})" if row.secret_id in taken else row.secret_id
                statement = CHARACTER_SECRETS.update().where(CHARACTER_SECRETS.c.row_id == row.row_id)
                values = {"character_id": self._new, "secret_id": secret_id}
                self._session.run(statement.values(**values, secret={**row.secret, "secret_id": secret_id}))

    def _replaced(self, value: Any) -> Any:
        return replaced_id(value, self._old, self._new)

    def _rows(self, table: Table, *columns: ColumnElement[Any]) -> list[Any]:
        return list(self._session.rows(select(*columns).where(self._within(table))))

    def _within(self, table: Table) -> ColumnElement[bool]:
        here = true() if self._scene_ids is None else table.c.scene_id.in_(list(self._scene_ids))
        return and_(self._session.owns(table), here)


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
        {"chunk_row_id": chunk_row_id, "entity_id": each, "project_id": session.project_id, "kind": kinds[old_id]}
        for each in new_ids
        if each not in kinds
    ]
    session.insert(CHUNK_ENTITIES, added)
