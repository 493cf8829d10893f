"""What characters remember, in tables of their own, and their memories kept at hand between recalls."""

import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import ColumnElement, func, or_, select

from novelgen.characters.memory import CharacterChange, CharacterChangeKind, CharacterMemory, GamePosition
from novelgen.characters.mind import Mind
from novelgen.errors import UnknownIdError, UnknownMemoryError
from novelgen.memory.query_scores import Mask, Vectors, unit_rows
from runtime.storage.chunks import text_hash
from runtime.storage.journal import Change, Journal, memory_change
from runtime.storage.projects import CounterRepository
from runtime.storage.session import AnyRow, Repository
from runtime.storage.tables import ALIASES, CHARACTER_MEMORIES, CHARACTER_SECRETS, DISPOSITION_CHANGES, ENTITIES

_STORED_TYPE = np.dtype("<f4")

_FIELDS = tuple(CharacterMemory.model_fields)


class MemoryVector(NamedTuple):
    """A vector and the model that made it."""

    model: str
    vector: Vectors


class MindState(NamedTuple):
    """What tells whether memories of a character were written since they were read."""

    memories: int
    changed: int


class StoredMemories(NamedTuple):
    """Memories of a character in the order of storing, with the vectors of one model by memory id."""

    memories: list[CharacterMemory]
    vectors: dict[str, Vectors]


class CharacterMemoryRepository(Repository):
    """Reads and writes the memories of characters."""

    def state(self, character_id: str) -> MindState:
        """Return a mark that changes whenever a memory of a character is written."""
        statement = select(func.count(), func.coalesce(func.max(CHARACTER_MEMORIES.c.changed), 0)).where(
            self._session.owns(CHARACTER_MEMORIES), CHARACTER_MEMORIES.c.character_id == character_id
        )
        memories, changed = self._session.connection.execute(statement).one()
        return MindState(int(memories), int(changed))

    def read(self, character_id: str, *, model: str | None, changed_after: int = -1) -> StoredMemories:
        """Return the memories of a character that were written after a mark."""
        rows = self._of(character_id, CHARACTER_MEMORIES.c.changed > changed_after)
        vectors = {
            row.memory_id: np.frombuffer(row.vector, dtype=_STORED_TYPE)
            for row in rows
            if row.vector is not None and row.embedding_model == model
        }
        return StoredMemories([_memory(row) for row in rows], vectors)

    def require(self, character_id: str, memory_id: str) -> CharacterMemory:
        """Return one memory of a character."""
        row = next(iter(self._of(character_id, CHARACTER_MEMORIES.c.memory_id == memory_id)), None)
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
        found = [_memory(row) for row in self._of(character_id, CHARACTER_MEMORIES.c.status == "active", or_(*wanted))]
        ends = self._session.among(CHARACTER_MEMORIES.c.memory_id, {each.superseded_by or "" for each in found})
        gone = self._session.values(CHARACTER_MEMORIES.c.memory_id, ends, CHARACTER_MEMORIES.c.status == "deleted")
        return [
            each.model_copy(update={"superseded_by": None}) if each.superseded_by in gone else each for each in found
        ]

    def knows_event(self, character_id: str, event_id: str) -> str | None:
        """Return the id of a character's memory of an event, or None."""
        table = CHARACTER_MEMORIES
        of_event = (table.c.character_id == character_id, table.c.event_id == event_id, table.c.status != "deleted")
        found: str | None = self._session.value(table.c.memory_id, *of_event)
        return found

    def last_position(self) -> GamePosition | None:
        """Return the last session and turn at which anybody of the project learnt something."""
        session, turn = CHARACTER_MEMORIES.c.session, CHARACTER_MEMORIES.c.turn
        last_first = (session.desc(), turn.desc())
        rows = self._session.select([session, turn], session.is_not(None), order=last_first, limit=1)
        return next((GamePosition(*row) for row in rows), None)

    def next_id(self) -> str:
        """Return an id that no memory of a character had before."""
        return CounterRepository(self._session).take("CM")

    def ids_by_name(self, names: Sequence[str], keys: Sequence[str]) -> dict[str, str]:
        """Return the id of each name that exactly one character bears; of an id itself the id."""
        rows = self._session.select(
            [ENTITIES.c.entity_id, ENTITIES.c.name_key],
            ENTITIES.c.entity_type == "character",
            or_(ENTITIES.c.name_key.in_(list(keys)), ENTITIES.c.entity_id.in_(list(names))),
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
        return self._session.pairs(ENTITIES.c.entity_id, ENTITIES.c.name, ENTITIES.c.entity_type == "character")

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
            self._session.update(
                CHARACTER_MEMORIES,
                CHARACTER_MEMORIES.c.memory_id == memory_id,
                CHARACTER_MEMORIES.c.content_hash == text_hash(content),
                changed=changed,
                **_vector_columns(vector),
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
        self.add(added, given)
        revision = self._session.revision()
        for before, after in changed:
            self._update(before, after, revision, given.get(after.memory_id))
        rows = [memory_change(None, each) for each in added] + [memory_change(*each) for each in changed]
        return _change(Journal(self._session).keep(kind, character_id, "", rows, subject="character"), character_id)

    def changes(self, character_id: str) -> list[CharacterChange]:
        """Return what was done to a character's memories, feelings and secrets, the oldest first, undone ones too."""
        journal = Journal(self._session)
        parts = [gone for gone, survivor in journal.survivors().items() if survivor == character_id]
        changes = journal.list_all("character", entity_ids=[character_id, *parts])
        return [_change(each, character_id) for each in changes]

    def undo(self, character_id: str, change_id: int | None = None) -> CharacterChange:
        """Put what a character remembers, feels and keeps secret back as it was; memories that came are deleted."""
        journal = Journal(self._session)
        own = self.changes(character_id)
        if change_id is None:
            change_id = next((each.change_id for each in reversed(own) if each.undone_at is None), None)
            if change_id is None:
                raise UnknownIdError(f"nothing of {character_id!r} is left to undo")
        elif change_id not in {each.change_id for each in own}:
            raise UnknownIdError(f"{character_id!r} has no change {change_id!r}; list the changes to find its number")
        return _change(journal.undo(change_id), character_id)

    def list_project(self) -> list[CharacterMemory]:
        """Return the memories of all characters in the order of storing, deleted ones too."""
        return [_memory(row) for row in self._session.select(CHARACTER_MEMORIES, order=[CHARACTER_MEMORIES.c.row_id])]

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
        tables = (CHARACTER_MEMORIES, DISPOSITION_CHANGES, CHARACTER_SECRETS)
        owners = {owner for table in tables for owner in self._session.values(table.c.character_id)}
        return sorted(owners.difference(self._session.values(ENTITIES.c.entity_id)))

    def _counted(self, *conditions: ColumnElement[bool]) -> int:
        table = CHARACTER_MEMORIES
        return self._session.count(table, table.c.status != "deleted", *conditions)

    def _of(self, character_id: str, *conditions: ColumnElement[bool]) -> Sequence[AnyRow]:
        table = CHARACTER_MEMORIES
        return self._session.select(table, table.c.character_id == character_id, *conditions, order=[table.c.row_id])

    def _next_revision(self) -> int:
        self._session.touch()
        return self._session.revision()

    def _update(
        self, before: CharacterMemory, after: CharacterMemory, revision: int, vector: MemoryVector | None
    ) -> None:
        values = self._values(after, revision)
        if vector is not None:
            values |= _vector_columns(vector)
        elif before.content != after.content:
            # What was embedded is another text.
            values |= _vector_columns(None)
        self._session.update(CHARACTER_MEMORIES, CHARACTER_MEMORIES.c.memory_id == after.memory_id, **values)

    def _values(self, memory: CharacterMemory, revision: int) -> dict[str, Any]:
        return memory.model_dump() | {"changed": revision, "content_hash": text_hash(memory.content)}


def _vector_columns(vector: MemoryVector | None) -> dict[str, Any]:
    if vector is None:
        return {"embedding_model": None, "vector": None}
    return {"embedding_model": vector.model, "vector": np.asarray(vector.vector, dtype=_STORED_TYPE).tobytes()}


def _memory(row: AnyRow) -> CharacterMemory:
    """Return the memory of a row; it was validated when it was written."""
    return CharacterMemory.model_construct(**{name: getattr(row, name) for name in _FIELDS})


def _change(change: Change, character_id: str) -> CharacterChange:
    return CharacterChange(
        change_id=change.change_id,
        kind=change.kind,
        character_id=character_id,
        memory_ids=[row.key["memory_id"] for row in change.rows if row.table == CHARACTER_MEMORIES.name],
        created_at=change.created_at,
        undone_at=change.undone_at,
    )


MAX_MINDS = 64
"""Characters whose memories stay at hand: 3,000 memories of 384 dimensions are 5 MB of vectors."""


class _Kept(NamedTuple):
    mind: Mind
    state: MindState
    model: str | None


class MindCache:
    """Keeps minds, each for one project, character and embedding model; safe to share between threads.

    The database is asked each time whether something was written, so that what other programs write is seen at once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()

    def mind(self, stored: CharacterMemoryRepository, character_id: str, *, model: str | None) -> Mind:
        """Return the memories of a character as the transaction of those stored sees them."""
        key = (stored.project_id, character_id)
        state = stored.state(character_id)
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None and kept.model == model and kept.state == state:
            mind = kept.mind
        else:
            mind = self._followed(stored, character_id, kept, state, model)
        with self._lock:
            self._kept[key] = _Kept(mind, state, model)
            self._kept.move_to_end(key)
            while len(self._kept) > MAX_MINDS:
                self._kept.popitem(last=False)
        return mind

    def clear(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._kept.clear()

    def _followed(
        self,
        stored: CharacterMemoryRepository,
        character_id: str,
        kept: _Kept | None,
        state: MindState,
        model: str | None,
    ) -> Mind:
        if kept is not None and kept.model == model:
            new = stored.read(character_id, model=model, changed_after=kept.state.changed)
            mind = _patched(kept.mind, new)
            # Fewer or more than there should be: a merge or its undo moved some from or to somebody else.
            if len(mind) == state.memories:
                return mind
        return _patched(_EMPTY, stored.read(character_id, model=model))


_EMPTY = Mind([], np.zeros((0, 0), dtype=np.float32), np.zeros(0, dtype=bool))


def _patched(mind: Mind, new: StoredMemories) -> Mind:
    """Return a mind with memories that are new or changed."""
    if not new.memories:
        return mind
    memories: list[CharacterMemory] = list(mind.memories)
    vectors, has_vector = _room_for(mind, new)
    for memory in new.memories:
        place = mind.place(memory.memory_id)
        if place < 0:
            place = len(memories)
            memories.append(memory)
        else:
            memories[place] = memory
        vector = new.vectors.get(memory.memory_id)
        # A model that changed its dimension under the same name: what it made before is of no use.
        has_vector[place] = vector is not None and vector.shape == vectors.shape[1:]
        if vector is not None and has_vector[place]:
            vectors[place] = unit_rows(vector)[0]
    return Mind(memories, vectors, has_vector)


def _room_for(mind: Mind, new: StoredMemories) -> tuple[Vectors, Mask]:
    added = sum(mind.place(each.memory_id) < 0 for each in new.memories)
    latest = next(reversed(new.vectors.values()), None)
    dimension = mind.vectors.shape[1] or (0 if latest is None else len(latest))
    vectors = np.zeros((len(mind) + added, dimension), dtype=np.float32)
    has_vector = np.zeros(len(mind) + added, dtype=bool)
    if mind.vectors.shape[1]:
        vectors[: len(mind)] = mind.vectors
        has_vector[: len(mind)] = mind.has_vector
    return vectors, has_vector
