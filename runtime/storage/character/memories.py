"""What characters remember, in tables of their own: written, changed with a journal, and read with what is new."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, func, or_, select

from novelgen.characters.memory import CharacterChange, CharacterChangeKind, CharacterMemory, GamePosition
from novelgen.errors import UnknownIdError, UnknownMemoryError, UserInputError
from runtime.storage.memory.rows import text_hash
from runtime.storage.projects import CounterRepository
from runtime.storage.session import AnyRow, Repository
from runtime.storage.tables import (
    ALIASES,
    CHARACTER_CHANGES,
    CHARACTER_MEMORIES,
    CHARACTER_SECRETS,
    DISPOSITION_CHANGES,
    ENTITIES,
)

Vector = NDArray[np.float32]

_STORED_TYPE = np.dtype("<f4")

_FIELDS = tuple(CharacterMemory.model_fields)

_JOURNALED = tuple(name for name in _FIELDS if name not in ("memory_id", "character_id", "created_at"))


class MemoryVector(NamedTuple):
    """A vector and the model that made it."""

    model: str
    vector: Vector


class MindState(NamedTuple):
    """What tells whether memories of a character were written since they were read."""

    memories: int
    changed: int


class StoredMemories(NamedTuple):
    """Memories of a character in the order of storing, with the vectors of one model by memory id."""

    memories: list[CharacterMemory]
    vectors: dict[str, Vector]


class CharacterMemoryRepository(Repository):
    """Reads and writes the memories of characters."""

    def state(self, character_id: str) -> MindState:
        """Return a mark that changes whenever a memory of a character is written."""
        statement = select(func.count(), func.coalesce(func.max(CHARACTER_MEMORIES.c.changed), 0)).where(
            *self._of(character_id)
        )
        memories, changed = self._session.connection.execute(statement).one()
        return MindState(int(memories), int(changed))

    def read(self, character_id: str, *, model: str | None, changed_after: int = -1) -> StoredMemories:
        """Return the memories of a character that were written after a mark."""
        statement = (
            select(CHARACTER_MEMORIES)
            .where(*self._of(character_id), CHARACTER_MEMORIES.c.changed > changed_after)
            .order_by(CHARACTER_MEMORIES.c.row_id)
        )
        rows = self._session.own(self._session.rows(statement))
        vectors = {
            row.memory_id: np.frombuffer(row.vector, dtype=_STORED_TYPE)
            for row in rows
            if row.vector is not None and row.embedding_model == model
        }
        return StoredMemories([_memory(row) for row in rows], vectors)

    def require(self, character_id: str, memory_id: str) -> CharacterMemory:
        """Return one memory of a character."""
        statement = select(CHARACTER_MEMORIES).where(
            *self._of(character_id), CHARACTER_MEMORIES.c.memory_id == memory_id
        )
        row = self._session.connection.execute(statement).one_or_none()
        if row is None or row.status == "deleted":
            raise UnknownMemoryError(f"{character_id!r} has no memory {memory_id!r}; list them to find its id")
        return _memory(row)

    def active(
        self, character_id: str, *, slot: str | None = None, event_types: Collection[str] = ()
    ) -> list[CharacterMemory]:
        """Return memories of a slot or of some event types; an end that was deleted is no end."""
        wanted: list[ColumnElement[bool]] = []
        if slot is not None:
            wanted.append(CHARACTER_MEMORIES.c.slot == slot)
        if event_types:
            wanted.append(CHARACTER_MEMORIES.c.event_type.in_(list(event_types)))
        if not wanted:
            return []
        statement = (
            select(CHARACTER_MEMORIES)
            .where(*self._of(character_id), CHARACTER_MEMORIES.c.status == "active", or_(*wanted))
            .order_by(CHARACTER_MEMORIES.c.row_id)
        )
        found = [_memory(row) for row in self._session.rows(statement)]
        gone = self._deleted({each.superseded_by for each in found if each.superseded_by is not None})
        return [
            each.model_copy(update={"superseded_by": None}) if each.superseded_by in gone else each for each in found
        ]

    def knows_event(self, character_id: str, event_id: str) -> str | None:
        """Return the id of a character's memory of an event, or None."""
        statement = select(CHARACTER_MEMORIES.c.memory_id).where(
            *self._of(character_id), CHARACTER_MEMORIES.c.event_id == event_id, CHARACTER_MEMORIES.c.status != "deleted"
        )
        return self._session.connection.scalar(statement.limit(1))

    def last_position(self) -> GamePosition | None:
        """Return the last session and turn at which anybody of the project learnt something."""
        statement = (
            select(CHARACTER_MEMORIES.c.session, CHARACTER_MEMORIES.c.turn)
            .where(self._session.owns(CHARACTER_MEMORIES), CHARACTER_MEMORIES.c.session.is_not(None))
            .order_by(CHARACTER_MEMORIES.c.session.desc(), CHARACTER_MEMORIES.c.turn.desc())
            .limit(1)
        )
        row = self._session.connection.execute(statement).one_or_none()
        return None if row is None else GamePosition(row.session, row.turn)

    def next_id(self) -> str:
        """Return an id that no memory of a character had before."""
        return CounterRepository(self._session).take("CM")

    def ids_by_name(self, names: Sequence[str], keys: Sequence[str]) -> dict[str, str]:
        """Return the id of each name that exactly one character bears; of an id itself the id."""
        characters = select(ENTITIES.c.entity_id, ENTITIES.c.name_key).where(
            self._session.owns(ENTITIES), ENTITIES.c.entity_type == "character"
        )
        rows = self._session.rows(
            characters.where(or_(ENTITIES.c.name_key.in_(list(keys)), ENTITIES.c.entity_id.in_(list(names))))
        )
        known = {row.entity_id for row in rows}
        bearers: dict[str, set[str]] = {}
        for row in rows:
            bearers.setdefault(row.name_key, set()).add(row.entity_id)
        aliased = (
            select(ALIASES.c.entity_id, ALIASES.c.alias_key)
            .join(
                ENTITIES,
                (ENTITIES.c.project_id == ALIASES.c.project_id) & (ENTITIES.c.entity_id == ALIASES.c.entity_id),
            )
            .where(
                self._session.owns(ALIASES), ENTITIES.c.entity_type == "character", ALIASES.c.alias_key.in_(list(keys))
            )
        )
        for row in self._session.rows(aliased):
            bearers.setdefault(row.alias_key, set()).add(row.entity_id)
        found: dict[str, str] = {}
        for name, key in zip(names, keys, strict=True):
            ids = bearers.get(key, set())
            if name in known:
                found[name] = name
            elif len(ids) == 1:
                found[name] = next(iter(ids))
        return found

    def names(self) -> dict[str, str]:
        """Return the display names of all characters by id."""
        statement = select(ENTITIES.c.entity_id, ENTITIES.c.name).where(
            self._session.owns(ENTITIES), ENTITIES.c.entity_type == "character"
        )
        return {row.entity_id: row.name for row in self._session.rows(statement)}

    def add(self, memories: Sequence[CharacterMemory], vectors: Mapping[str, MemoryVector] | None = None) -> None:
        """Store new memories."""
        changed = self._next_revision()
        self._session.insert(
            CHARACTER_MEMORIES,
            [self._values(each, changed) | _vector_columns((vectors or {}).get(each.memory_id)) for each in memories],
        )

    def put_vectors(self, vectors: Mapping[str, tuple[str, MemoryVector]]) -> None:
        """Store vectors of memories whose content is still the one that was embedded."""
        changed = self._next_revision()
        for memory_id, (content, vector) in vectors.items():
            self._session.run(
                CHARACTER_MEMORIES.update()
                .where(
                    self._session.owns(CHARACTER_MEMORIES),
                    CHARACTER_MEMORIES.c.memory_id == memory_id,
                    CHARACTER_MEMORIES.c.content_hash == text_hash(content),
                )
                .values(changed=changed, **_vector_columns(vector))
            )

    def change(
        self,
        kind: CharacterChangeKind,
        character_id: str,
        *,
        added: Sequence[CharacterMemory] = (),
        vectors: Mapping[str, MemoryVector] | None = None,
        changed: Sequence[tuple[CharacterMemory, CharacterMemory]] = (),
    ) -> CharacterChange:
        """Add and change memories of a character, and write down how to undo it."""
        given = vectors or {}
        images: list[dict[str, Any]] = [{"memory_id": each.memory_id, "before": None} for each in added]
        self.add(added, given)
        revision = self._session.revision()
        for before, after in changed:
            images.append({"memory_id": after.memory_id, **_difference(before, after)})
            self._update(before, after, revision, given.get(after.memory_id))
        values = {
            "project_id": self._session.project_id,
            "character_id": character_id,
            "kind": kind,
            "created_at": self._session.now(),
            "changed_rows": images,
        }
        statement = CHARACTER_CHANGES.insert().values(**values).returning(CHARACTER_CHANGES)
        return _change(self._session.connection.execute(statement).one())

    def changes(self, character_id: str) -> list[CharacterChange]:
        """Return what was done to a character's memories, the oldest first, undone changes included."""
        statement = (
            select(CHARACTER_CHANGES)
            .where(self._session.owns(CHARACTER_CHANGES), CHARACTER_CHANGES.c.character_id == character_id)
            .order_by(CHARACTER_CHANGES.c.row_id)
        )
        return [_change(row) for row in self._session.rows(statement)]

    def undo(self, character_id: str, change_id: int | None = None) -> CharacterChange:
        """Put a character's memories back as they were before a change; what it added is deleted."""
        revision = self._next_revision()
        row = self._standing(character_id, change_id)
        restored: list[tuple[CharacterMemory, CharacterMemory]] = []
        for image in row.changed_rows:
            now = self._stored(image["memory_id"])
            if image["before"] is None:
                after = now.model_copy(update={"status": "deleted"})
            else:
                self._require_unchanged(now, image)
                restored_fields = {**now.model_dump(), **image["before"]}
                after = CharacterMemory.model_validate(restored_fields)
            restored.append((now, after))
        for before, after in restored:
            self._update(before, after, revision, None)
        self._session.run(
            CHARACTER_CHANGES.update()
            .where(CHARACTER_CHANGES.c.row_id == row.row_id)
            .values(undone_at=self._session.now())
        )
        statement = select(CHARACTER_CHANGES).where(CHARACTER_CHANGES.c.row_id == row.row_id)
        return _change(self._session.connection.execute(statement).one())

    def list_project(self) -> list[CharacterMemory]:
        """Return the memories of all characters in the order of storing, deleted ones too."""
        statement = (
            select(CHARACTER_MEMORIES)
            .where(self._session.owns(CHARACTER_MEMORIES))
            .order_by(CHARACTER_MEMORIES.c.row_id)
        )
        return [_memory(row) for row in self._session.own(self._session.rows(statement))]

    def count(self) -> int:
        """Return how many memories all characters have, without deleted ones."""
        return self._counted()

    def count_without_vector(self, model: str) -> int:
        """Return how many of them are compared by words alone, for want of a vector of a model."""
        table = CHARACTER_MEMORIES
        is_other = table.c.embedding_model.is_distinct_from(model)
        return self._counted(or_(is_other, table.c.vector.is_(None)))

    def unknown_owners(self) -> list[str]:
        """Return the ids, in order, that have memories, feelings or secrets and that no stored character has."""
        known = select(ENTITIES.c.entity_id).where(self._session.owns(ENTITIES))
        found: set[str] = set()
        for table in (CHARACTER_MEMORIES, DISPOSITION_CHANGES, CHARACTER_SECRETS):
            owner = table.c.character_id
            statement = select(owner).where(self._session.owns(table), owner.not_in(known))
            found.update(self._session.connection.scalars(statement.distinct()))
        return sorted(found)

    def _counted(self, *conditions: ColumnElement[bool]) -> int:
        table = CHARACTER_MEMORIES
        statement = select(func.count()).where(self._session.owns(table), table.c.status != "deleted", *conditions)
        return int(self._session.connection.execute(statement).scalar_one())

    def _of(self, character_id: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
        return self._session.owns(CHARACTER_MEMORIES), CHARACTER_MEMORIES.c.character_id == character_id

    def _deleted(self, memory_ids: Collection[str]) -> set[str]:
        if not memory_ids:
            return set()
        statement = select(CHARACTER_MEMORIES.c.memory_id).where(
            self._session.owns(CHARACTER_MEMORIES),
            self._session.among(CHARACTER_MEMORIES.c.memory_id, memory_ids),
            CHARACTER_MEMORIES.c.status == "deleted",
        )
        return set(self._session.connection.scalars(statement))

    def _next_revision(self) -> int:
        self._session.touch()
        return self._session.revision()

    def _stored(self, memory_id: str) -> CharacterMemory:
        statement = select(CHARACTER_MEMORIES).where(
            self._session.owns(CHARACTER_MEMORIES), CHARACTER_MEMORIES.c.memory_id == memory_id
        )
        row = self._session.connection.execute(statement).one_or_none()
        if row is None:
            raise UserInputError(f"memory {memory_id!r} is gone; nothing was undone")
        return _memory(row)

    def _standing(self, character_id: str, change_id: int | None) -> AnyRow:
        conditions = [self._session.owns(CHARACTER_CHANGES), CHARACTER_CHANGES.c.character_id == character_id]
        if change_id is None:
            conditions.append(CHARACTER_CHANGES.c.undone_at.is_(None))
        else:
            conditions.append(CHARACTER_CHANGES.c.row_id == change_id)
        statement = select(CHARACTER_CHANGES).where(*conditions).order_by(CHARACTER_CHANGES.c.row_id.desc())
        row = self._session.connection.execute(statement.limit(1)).one_or_none()
        if row is None:
            raise UnknownIdError(
                f"{character_id!r} has no change {change_id!r}; list the changes to find its number"
                if change_id is not None
                else f"nothing of {character_id!r} is left to undo"
            )
        if row.undone_at is not None:
            raise UserInputError(f"change {change_id!r} is undone already; list the changes to find another one")
        return row

    def _require_unchanged(self, now: CharacterMemory, image: Mapping[str, Any]) -> None:
        current = now.model_dump(mode="json")
        for name, value in image["after"].items():
            if current[name] != value:
                raise UserInputError(
                    f"memory {now.memory_id!r} changed since ({name} is {current[name]!r}); undo what came after first"
                )

    def _update(
        self, before: CharacterMemory, after: CharacterMemory, revision: int, vector: MemoryVector | None
    ) -> None:
        values = self._values(after, revision)
        if vector is not None:
            values |= _vector_columns(vector)
        elif before.content != after.content:
            # What was embedded is another text.
            values |= _vector_columns(None)
        self._session.run(
            CHARACTER_MEMORIES.update()
            .where(self._session.owns(CHARACTER_MEMORIES), CHARACTER_MEMORIES.c.memory_id == after.memory_id)
            .values(**values)
        )

    def _values(self, memory: CharacterMemory, revision: int) -> dict[str, Any]:
        return memory.model_dump() | {
            "project_id": self._session.project_id,
            "changed": revision,
            "content_hash": text_hash(memory.content),
        }


def _vector_columns(vector: MemoryVector | None) -> dict[str, Any]:
    if vector is None:
        return {"embedding_model": None, "vector": None}
    return {"embedding_model": vector.model, "vector": np.asarray(vector.vector, dtype=_STORED_TYPE).tobytes()}


def _memory(row: AnyRow) -> CharacterMemory:
    """Return the memory of a row; it was validated when it was written."""
    return CharacterMemory.model_construct(**{name: getattr(row, name) for name in _FIELDS})


def _difference(before: CharacterMemory, after: CharacterMemory) -> dict[str, dict[str, Any]]:
    old, new = (each.model_dump(mode="json", include=set(_JOURNALED)) for each in (before, after))
    names = [name for name in _JOURNALED if old[name] != new[name]]
    return {"before": {name: old[name] for name in names}, "after": {name: new[name] for name in names}}


def _change(row: AnyRow) -> CharacterChange:
    return CharacterChange(
        change_id=row.row_id,
        kind=row.kind,
        character_id=row.character_id,
        memory_ids=[each["memory_id"] for each in row.changed_rows],
        created_at=row.created_at,
        undone_at=row.undone_at,
    )
