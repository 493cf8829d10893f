"""Deleting what the story knows: who refers to it loses the reference alone, and it can be undone exactly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement, Table, and_, or_, select

from novelgen.errors import UnknownEntityError, UnknownIdError, UserInputError
from runtime.storage.entity.entities import EntityRepository
from runtime.storage.entity.merges import EntityChange, EntityChangeJournal
from runtime.storage.entity.relinking import is_memory_slot_of, is_slot_of
from runtime.storage.entity.undo_snapshots import GOING_WITH, RowChange
from runtime.storage.memory.consolidations import ConsolidationRepository
from runtime.storage.memory.outbox import OutboxRepository
from runtime.storage.memory.rows import text_hash
from runtime.storage.session import AnyRow
from runtime.storage.tables import (
    CHARACTER_CHANGES,
    CHARACTER_MEMORIES,
    CHUNK_ENTITIES,
    CHUNKS,
    ENTITIES,
    KNOWLEDGE_EVENTS,
    LOOP_EVENTS,
    MENTIONS,
    RELATIONSHIP_CHANGES,
    RELATIONSHIPS,
    SCENES,
    STATES,
)

_SUBJECTS = ("id", "entity_id", "character_id", "character_a", "character_b", "location_id", "item_id")
"""Fields by which an entry of a list says what it is about."""

_GONE = object()


class Deletion(BaseModel):
    """What was deleted, and who referred to it."""

    change: EntityChange
    unlinked_memories: list[str] = Field(
        default_factory=list, description="Chunk ids of memories that stay and lost a link."
    )
    removed_relationships: list[str] = Field(default_factory=list)
    changed_threads: list[str] = Field(
        default_factory=list, description="Ids of threads that stay and lost a reference."
    )
    changed_scenes: list[str] = Field(
        default_factory=list, description="Ids of scenes whose cast, place or record lost a reference."
    )
    changed_entities: list[str] = Field(
        default_factory=list, description="Ids of others whose card or state lost a reference."
    )
    removed_character_memories: list[str] = Field(default_factory=list, description="Ids of what it remembered itself.")
    changed_character_memories: list[str] = Field(
        default_factory=list, description="Ids of what others remember of it, which lost a reference."
    )


class DeletionRepository(EntityChangeJournal):
    """Deletes entities, relationships and threads; `EntityChangeJournal.undo` takes it back."""

    def delete_entity(self, entity_id: str) -> Deletion:
        """Delete an entity with its names, states and relationships, and what it knows, remembers, feels and hides.

        All else that refers to it stays, and so do others' memories of what they lived through with it.
        """
        self._session.touch()
        stored = EntityRepository(self._session).get(entity_id)
        if stored is None:
            raise UnknownEntityError(f"no entity {entity_id!r} is stored; list them to find its id")
        ConsolidationRepository(self._session).withdraw_linked([entity_id])
        with self._imaged(deleted_id=entity_id) as changes:
            self._forget_in_scenes(lambda value: without_id(value, entity_id))
            self._delete(MENTIONS, MENTIONS.c.entity_id == entity_id)
            self._unlink_memories(entity_id)
            self._delete(STATES, STATES.c.entity_id == entity_id)
            self._scrub(STATES, STATES.c.row_id, "value", entity_id)
            self._scrub(LOOP_EVENTS, LOOP_EVENTS.c.row_id, "detail", entity_id)
            pairs = or_(RELATIONSHIPS.c.character_a == entity_id, RELATIONSHIPS.c.character_b == entity_id)
            self._delete_pairs(pairs)
            self._forget_in_minds(entity_id)
            self._delete(ENTITIES, ENTITIES.c.entity_id == entity_id)
            self._scrub(ENTITIES, ENTITIES.c.row_id, "profile", entity_id)
        return self._deletion(entity_id, stored.entity.name, changes)

    def delete_relationship(self, relationship_id: str) -> Deletion:
        """Delete how two characters stand, with its history; both stay."""
        self._session.touch()
        this = and_(self._session.owns(RELATIONSHIPS), RELATIONSHIPS.c.relationship_id == relationship_id)
        pair = self._session.connection.execute(select(RELATIONSHIPS).where(this)).one_or_none()
        if pair is None:
            raise UserInputError(f"no relationship {relationship_id!r} is stored; list them to find its id")
        both = {pair.character_a, pair.character_b}
        with self._imaged() as changes:
            self._forget_in_scenes(lambda record: _without_pair(record, both))
            self._delete_pairs(RELATIONSHIPS.c.relationship_id == relationship_id)
        return self._deletion(relationship_id, f"{pair.character_a} {pair.character_b}", changes)

    def delete_thread(self, loop_id: str) -> Deletion:
        """Delete a thread with its history."""
        self._session.touch()
        this = and_(self._session.owns(LOOP_EVENTS), LOOP_EVENTS.c.loop_id == loop_id)
        details = list(self._session.connection.scalars(select(LOOP_EVENTS.c.detail).where(this)))
        if not details:
            raise UnknownIdError(f"no thread {loop_id!r} is stored; list them to find its id")
        with self._imaged() as changes:
            self._forget_in_scenes(lambda value: without_id(value, loop_id))
            self._delete(LOOP_EVENTS, LOOP_EVENTS.c.loop_id == loop_id)
        described = next((str(each["description"]) for each in details if each.get("description")), loop_id)
        return self._deletion(loop_id, described, changes)

    def _deletion(self, gone_id: str, name: str, changes: Sequence[RowChange]) -> Deletion:
        def touched(table: Table, column: str, *, is_gone: bool) -> list[str]:
            found = (each for each in changes if each.table == table.name)
            named = (str(each.image[column]) for each in found if (each.after is None) == is_gone)
            return [each for each in dict.fromkeys(named) if each != gone_id]

        others = touched(ENTITIES, "entity_id", is_gone=False) + touched(STATES, "entity_id", is_gone=False)
        return Deletion(
            change=self.keep("delete", gone_id, name, changes),
            unlinked_memories=touched(CHUNKS, "chunk_id", is_gone=False),
            removed_relationships=touched(RELATIONSHIPS, "relationship_id", is_gone=True),
            changed_threads=touched(LOOP_EVENTS, "loop_id", is_gone=False),
            changed_scenes=self._labels(touched(SCENES, "scene_id", is_gone=False)),
            changed_entities=list(dict.fromkeys(others)),
            removed_character_memories=touched(CHARACTER_MEMORIES, "memory_id", is_gone=True),
            changed_character_memories=touched(CHARACTER_MEMORIES, "memory_id", is_gone=False),
        )

    def _labels(self, scene_ids: Sequence[str]) -> list[str]:
        statement = select(SCENES.c.label).where(
            self._session.owns(SCENES), self._session.among(SCENES.c.scene_id, scene_ids)
        )
        return list(self._session.connection.scalars(statement.order_by(SCENES.c.chapter_index, SCENES.c.scene_index)))

    def _forget_in_scenes(self, forget: Callable[[Any], Any]) -> None:
        names = ("participants", "location_id", "pov", "record")
        for row in self._rows(SCENES):
            values = {name: forget(getattr(row, name)) for name in names}
            if any(getattr(row, name) != value for name, value in values.items()):
                # The mark of what is stored must change with it.
                values["content_hash"] = text_hash(row.content_hash, "without", str(values))
                self._session.run(SCENES.update().where(SCENES.c.scene_id == row.scene_id).values(**values))

    def _unlink_memories(self, entity_id: str) -> None:
        names = ("entities_mentioned", "attached", "detached", "slot_type")
        touched = []
        for row in self._rows(CHUNKS):
            values = {name: without_id(getattr(row, name), entity_id) for name in names}
            if any(getattr(row, name) != value for name, value in values.items()):
                self._session.run(CHUNKS.update().where(CHUNKS.c.row_id == row.row_id).values(**values))
                touched += [row.chunk_id] if row.status == "active" else []
        self._delete(CHUNK_ENTITIES, CHUNK_ENTITIES.c.entity_id == entity_id)
        OutboxRepository(self._session).queue(touched, "upsert")

    def _forget_in_minds(self, entity_id: str) -> None:
        """Delete what it knew, remembered, felt and hid, and let others forget its id, never what happened."""
        for table, going in GOING_WITH.items():
            self._delete(table, going(entity_id))
        self._scrub(CHARACTER_CHANGES, CHARACTER_CHANGES.c.row_id, "changed_rows", entity_id)
        told = KNOWLEDGE_EVENTS.c.learned_from == entity_id
        owned = self._session.owns(KNOWLEDGE_EVENTS)
        self._session.run(KNOWLEDGE_EVENTS.update().where(owned, told).values(learned_from=None))
        names = ("participants", "heard_from", "slot")
        revision = self._session.revision()
        columns = [CHARACTER_MEMORIES.c[name] for name in ("row_id", *names)]
        for row in self._session.rows(select(*columns).where(self._session.owns(CHARACTER_MEMORIES))):
            values = {name: without_id(getattr(row, name), entity_id) for name in names}
            if row.slot is not None and is_memory_slot_of(row.slot, entity_id):
                values["slot"] = None
            if any(getattr(row, name) != value for name, value in values.items()):
                this = CHARACTER_MEMORIES.c.row_id == row.row_id
                # Who has them at hand must see that they changed.
                values["changed"] = revision
                self._session.run(CHARACTER_MEMORIES.update().where(this).values(**values))

    def _scrub(self, table: Table, key: ColumnElement[Any], column: str, gone_id: str) -> None:
        for row in self._rows(table):
            value = without_id(getattr(row, column), gone_id)
            if value != getattr(row, column):
                this = key == getattr(row, str(key.key))
                self._session.run(table.update().where(this).values({column: value}))

    def _delete_pairs(self, condition: ColumnElement[bool]) -> None:
        ids = select(RELATIONSHIPS.c.relationship_id).where(self._session.owns(RELATIONSHIPS), condition)
        self._delete(RELATIONSHIP_CHANGES, RELATIONSHIP_CHANGES.c.relationship_id.in_(ids))
        self._delete(RELATIONSHIPS, condition)

    def _delete(self, table: Table, condition: ColumnElement[bool]) -> None:
        self._session.run(table.delete().where(self._session.owns(table), condition))

    def _rows(self, table: Table) -> list[AnyRow]:
        return list(self._session.own(self._session.rows(select(table).where(self._session.owns(table)))))


def without_id(value: Any, gone_id: str) -> Any:
    """Return a value that refers to something no more."""
    left = _left(value, gone_id)
    return None if left is _GONE else left


def _left(value: Any, gone_id: str) -> Any:
    if isinstance(value, str):
        return _GONE if value == gone_id or is_slot_of(value, gone_id) else value
    if isinstance(value, Mapping):
        if value.get("entity_id") == gone_id:
            return _GONE
        kept = {name: each for name, each in value.items() if name != gone_id}
        left = {name: _left(each, gone_id) for name, each in kept.items()}
        # A text or a number gives way to nothing; an entry that was about it goes whole.
        return {
            name: None if each is _GONE else each
            for name, each in left.items()
            if not (each is _GONE and isinstance(kept[name], Mapping))
        }
    if isinstance(value, list):
        entries = [each for each in value if not _is_about(each, gone_id)]
        return [left for each in entries if (left := _left(each, gone_id)) is not _GONE]
    return value


def _is_about(entry: Any, gone_id: str) -> bool:
    return isinstance(entry, Mapping) and any(entry.get(name) == gone_id for name in _SUBJECTS)


def _without_pair(record: Any, both: set[str]) -> Any:
    if not isinstance(record, Mapping):
        return record
    changes = record.get("relationship_changes", [])
    left = [each for each in changes if {each["character_a"], each["character_b"]} != both]
    return record if left == changes else {**record, "relationship_changes": left}
