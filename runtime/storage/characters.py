"""Character memories, feelings, secrets and disclosures over game time."""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np
from pydantic import BaseModel, Field
from sqlalchemy import ColumnElement, func, select, true
from sqlmodel import col, not_, or_

from novelgen.characters.memory import CharacterChange, CharacterChangeKind, CharacterMemory, GamePosition, Moment
from novelgen.characters.mind import Mind
from novelgen.characters.secrets import Secret
from novelgen.errors import UnknownIdError, UnknownMemoryError
from novelgen.memory.query_scores import Vectors, unit_rows
from runtime.storage.change import Change
from runtime.storage.chunks import text_hash
from runtime.storage.journal import Journal
from runtime.storage.projects import CounterRepository
from runtime.storage.records import (
    AliasRow,
    CharacterMemoryRow,
    CharacterSecret,
    Disclosure,
    EntityRow,
    FeltChange,
    FlagChange,
    Happened,
    MemoryRow,
    Scene,
    read_as,
)
from runtime.storage.row_images import memory_change
from runtime.storage.session import Repository, table_name

_STORED_TYPE = np.dtype("<f4")

_FIELDS = tuple(CharacterMemory.model_fields)


class MemoryVector(NamedTuple):
    """A vector and the model that made it."""

    model: str
    vector: Vectors


class MindState(NamedTuple):
    """A version mark of a character's memories."""

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
        table = CharacterMemoryRow
        of_character = (self._session.owns(table), col(table.character_id) == character_id)
        totals = select(func.count(), func.coalesce(func.max(col(table.changed)), 0)).where(*of_character)
        return MindState(*self._session.rows(totals)[0])

    def read(self, character_id: str, *, model: str | None, changed_after: int = -1) -> StoredMemories:
        """Return the memories of a character that were written after a mark."""
        rows = self._of(character_id, CharacterMemoryRow.changed > changed_after)
        vectors = {
            row.memory_id: np.frombuffer(row.vector, dtype=_STORED_TYPE)
            for row in rows
            if row.vector is not None and row.embedding_model == model
        }
        return StoredMemories([_memory(row) for row in rows], vectors)

    def require(self, character_id: str, memory_id: str) -> CharacterMemory:
        """Return one memory of a character."""
        row = next(iter(self._of(character_id, CharacterMemoryRow.memory_id == memory_id)), None)
        if row is None or row.status == "deleted":
            raise UnknownMemoryError(f"{character_id!r} has no memory {memory_id!r}; list them to find its id")
        return _memory(row)

    def active(
        self, character_id: str, *, slot: str | None = None, event_types: Collection[str] = ()
    ) -> list[CharacterMemory]:
        """Return memories of a slot or event types, ignoring deleted endings."""
        table = CharacterMemoryRow
        wanted_condition = or_(
            col(table.slot).in_([] if slot is None else [slot]), col(table.event_type).in_(list(event_types))
        )
        memories = [_memory(row) for row in self._of(character_id, table.status == "active", wanted_condition)]
        ends = self._session.among(table.memory_id, {memory.superseded_by or "" for memory in memories})
        ended_ids = self._session.values(table.memory_id, ends, table.status == "deleted")
        return [
            memory.model_copy(update={"superseded_by": None}) if memory.superseded_by in ended_ids else memory
            for memory in memories
        ]

    def live_of_text(
        self, character_id: str, content: str, *, session: int | None, turn: int | None
    ) -> list[CharacterMemory]:
        """Return memories of these very words at a position, or without one, that hold by now."""
        table: Any = CharacterMemoryRow
        place = [
            column.is_(None) if value is None else column == value
            for column, value in ((table.session, session), (table.turn, turn))
        ]
        holds = (table.status == "active", table.superseded_by.is_(None), table.content == content)
        return [_memory(row) for row in self._of(character_id, *holds, *place)]

    def change_of(self, character_id: str, memory_id: str) -> int | None:
        """Return the id of the change that brought a memory, or None where none is kept."""
        changes = [
            character_change
            for character_change in self.changes(character_id)
            if memory_id in character_change.memory_ids
        ]
        return min(
            (character_change.change_id for character_change in changes if character_change.kind == "remember"),
            default=None,
        )

    def knows_event(self, character_id: str, event_id: str) -> str | None:
        """Return the id of a character's memory of an event, or None."""
        table = CharacterMemoryRow
        of_event = (table.character_id == character_id, table.event_id == event_id, table.status != "deleted")
        result: str | None = self._session.value(table.memory_id, *of_event)
        return result

    def last_position(self) -> GamePosition | None:
        """Return the last session and turn at which anybody of the project learnt something."""
        session, turn = col(CharacterMemoryRow.session), col(CharacterMemoryRow.turn)
        last_first = (session.desc(), turn.desc())
        rows = self._session.select([session, turn], session.is_not(None), order=last_first, limit=1)
        return next((GamePosition(*row) for row in rows), None)

    def next_id(self) -> str:
        """Return an id that no memory of a character had before."""
        return CounterRepository(self._session).take("CM")

    def ids_by_name(self, names: Sequence[str], keys: Sequence[str]) -> dict[str, str]:
        """Return ids by unique character name, ids included."""
        characters = self._session.pairs(
            col(EntityRow.entity_id), col(EntityRow.name_key), EntityRow.entity_type == "character"
        )
        aliases = self._session.select(
            [col(AliasRow.alias_key), col(AliasRow.entity_id)], col(AliasRow.alias_key).in_(list(keys))
        )
        bearers: defaultdict[str, set[str]] = defaultdict(set)
        for key, entity_id in (*((key, character) for character, key in characters.items()), *aliases):
            if entity_id in characters:
                bearers[key].add(entity_id)
        matches = {}
        for name, key in zip(names, keys, strict=True):
            if name in characters:
                matches[name] = name
            elif len(bearers[key]) == 1:
                (matches[name],) = bearers[key]
        return matches

    def names(self) -> dict[str, str]:
        """Return the display names of all characters by id."""
        return self._session.pairs(col(EntityRow.entity_id), col(EntityRow.name), EntityRow.entity_type == "character")

    def add(self, memories: Sequence[CharacterMemory], vectors: Mapping[str, MemoryVector] | None = None) -> None:
        """Store new memories."""
        changed = self._next_revision()
        memory_vectors_by_id = vectors or {}
        rows = [
            _values(memory, changed) | _vector_columns(memory_vectors_by_id.get(memory.memory_id))
            for memory in memories
        ]
        self._session.insert(CharacterMemoryRow, rows)

    def put_vectors(self, vectors: Mapping[str, tuple[str, MemoryVector]]) -> None:
        """Store vectors of memories with unchanged content."""
        changed = self._next_revision()
        for memory_id, (content, vector) in vectors.items():
            table = CharacterMemoryRow
            this = (table.memory_id == memory_id, table.content_hash == text_hash(content))
            self._session.update(table, *this, changed=changed, **_vector_columns(vector))

    def change(
        self,
        kind: CharacterChangeKind,
        character_id: str,
        *,
        new_memories: Sequence[CharacterMemory] = (),
        vectors: Mapping[str, MemoryVector] | None = None,
        changed: Sequence[tuple[CharacterMemory, CharacterMemory]] = (),
    ) -> CharacterChange:
        """Add and change memories of a character, and write down how to undo it."""
        self.add(new_memories, vectors)
        revision = self._session.revision()
        for before, after in changed:
            values, vector = _values(after, revision), (vectors or {}).get(after.memory_id)
            if vector is not None or before.content != after.content:
                # Else what was embedded is another text.
                values |= _vector_columns(vector)
            self._session.update(CharacterMemoryRow, CharacterMemoryRow.memory_id == after.memory_id, **values)
        rows = [memory_change(None, memory) for memory in new_memories] + [memory_change(*pair) for pair in changed]
        return _change(Journal(self._session).keep(kind, character_id, "", rows, subject="character"), character_id)

    def changes(self, character_id: str) -> list[CharacterChange]:
        """Return a character's changes, oldest first, including undone ones."""
        journal = Journal(self._session)
        parts = [removed_id for removed_id, survivor in journal.survivors().items() if survivor == character_id]
        changes = journal.list_all("character", entity_ids=[character_id, *parts])
        return [_change(change, character_id) for change in changes]

    def undo(self, character_id: str, change_id: int | None = None) -> CharacterChange:
        """Undo a character's changes, deleting new memories."""
        journal = Journal(self._session)
        own = self.changes(character_id)
        if change_id is None:
            change_id = next(
                (
                    character_change.change_id
                    for character_change in reversed(own)
                    if character_change.undone_at is None
                ),
                None,
            )
            if change_id is None:
                raise UnknownIdError(f"nothing of {character_id!r} is left to undo")
        elif change_id not in {character_change.change_id for character_change in own}:
            raise UnknownIdError(f"{character_id!r} has no change {change_id!r}; list the changes to find its number")
        return _change(journal.undo(change_id), character_id)

    def list_project(self) -> list[CharacterMemory]:
        """Return the memories of all characters in the order of storing, deleted ones too."""
        return [_memory(row) for row in self._session.read(CharacterMemoryRow, order=[col(CharacterMemoryRow.row_id)])]

    def count(self, *conditions: Any) -> int:
        """Return how many memories all characters have, without deleted ones."""
        return self._session.count(CharacterMemoryRow, CharacterMemoryRow.status != "deleted", *conditions)

    def count_without_vector(self, model: str) -> int:
        """Return how many of them are compared by words alone, for want of a vector of a model."""
        table = CharacterMemoryRow
        return self.count(or_(col(table.embedding_model).is_distinct_from(model), col(table.vector).is_(None)))

    def unknown_owners(self) -> list[str]:
        """Return the ids, in order, that have memories, feelings or secrets and that no stored character has."""
        tables = (CharacterMemoryRow, FeltChange, CharacterSecret)
        owners = {owner for table in tables for owner in self._session.values(table.character_id)}
        return sorted(owners.difference(self._session.values(EntityRow.entity_id)))

    def _of(self, character_id: str, *conditions: Any) -> list[CharacterMemoryRow]:
        table = CharacterMemoryRow
        return self._session.read(table, table.character_id == character_id, *conditions, order=[col(table.row_id)])

    def _next_revision(self) -> int:
        self._session.touch()
        return self._session.revision()


def _values(memory: CharacterMemory, revision: int) -> dict[str, Any]:
    return memory.model_dump() | {"changed": revision, "content_hash": text_hash(memory.content)}


def _vector_columns(vector: MemoryVector | None) -> dict[str, Any]:
    if vector is None:
        return {"embedding_model": None, "vector": None}
    return {"embedding_model": vector.model, "vector": np.asarray(vector.vector, dtype=_STORED_TYPE).tobytes()}


def _memory(row: CharacterMemoryRow) -> CharacterMemory:
    """Return a row's memory without validating again."""
    return CharacterMemory.model_construct(**{name: getattr(row, name) for name in _FIELDS})


def _change(change: Change, character_id: str) -> CharacterChange:
    return CharacterChange(
        change_id=change.change_id,
        kind=change.kind,
        character_id=character_id,
        memory_ids=[row.key["memory_id"] for row in change.rows if row.table == table_name(CharacterMemoryRow)],
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
    """Cache of minds by project, character and model, safe between threads.

    The database is asked each time whether something was written, so that what other programs write is seen at once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()

    def mind(self, memories: CharacterMemoryRepository, character_id: str, *, model: str | None) -> Mind:
        """Return the memories of a character as the transaction of those stored sees them."""
        key = (memories.project_id, character_id)
        state = memories.state(character_id)
        with self._lock:
            cached_mind = self._kept.get(key)
        mind = None
        if cached_mind is not None and cached_mind.model == model:
            mind = cached_mind.mind
            if cached_mind.state != state:
                mind = _patched(mind, memories.read(character_id, model=model, changed_after=cached_mind.state.changed))
        # Fewer or more than there should be: a merge or its undo moved some from or to somebody else.
        if mind is None or len(mind) != state.memories:
            mind = _patched(_EMPTY, memories.read(character_id, model=model))
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


_EMPTY = Mind([], np.zeros((0, 0), dtype=np.float32), np.zeros(0, dtype=bool))


def _patched(mind: Mind, new: StoredMemories) -> Mind:
    """Return a mind with memories that are new or changed."""
    if not new.memories:
        return mind
    memories: list[CharacterMemory] = list(mind.memories)
    added_count = sum(mind.place(memory.memory_id) < 0 for memory in new.memories)
    latest = next(reversed(new.vectors.values()), None)
    dimension = mind.vectors.shape[1] or (0 if latest is None else len(latest))
    vectors = np.zeros((len(mind) + added_count, dimension), dtype=np.float32)
    has_vector = np.zeros(len(mind) + added_count, dtype=bool)
    if mind.vectors.shape[1]:
        vectors[: len(mind)], has_vector[: len(mind)] = mind.vectors, mind.has_vector
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


PlayRow = TypeVar("PlayRow", FeltChange, Disclosure, FlagChange)


class StoredSecret(BaseModel):
    """A secret with its owner."""

    character_id: str
    secret: Secret


class PlayContents(BaseModel):
    """Everything of it that a project holds, for export and import."""

    dispositions: list[Annotated[FeltChange, read_as(FeltChange)]] = Field(default_factory=list)
    secrets: list[StoredSecret] = Field(default_factory=list)
    disclosures: list[Annotated[Disclosure, read_as(Disclosure)]] = Field(default_factory=list)
    flags: list[Annotated[FlagChange, read_as(FlagChange)]] = Field(default_factory=list)

    def is_empty(self) -> bool:
        """Tell whether there is nothing in it."""
        return not self.count()

    def count(self) -> int:
        """Return how many entries there are in all."""
        return len(self.dispositions) + len(self.secrets) + len(self.disclosures) + len(self.flags)

    def missing_from(self, stored_contents: PlayContents) -> PlayContents:
        """Return unstored secrets, keeping stored ids unchanged."""
        stored_keys = {
            (stored_secret.character_id, stored_secret.secret.secret_id) for stored_secret in stored_contents.secrets
        }
        return PlayContents(
            dispositions=_beyond(self.dispositions, stored_contents.dispositions),
            secrets=[
                stored_secret
                for stored_secret in self.secrets
                if (stored_secret.character_id, stored_secret.secret.secret_id) not in stored_keys
            ],
            disclosures=_beyond(self.disclosures, stored_contents.disclosures),
            flags=_beyond(self.flags, stored_contents.flags),
        )


class PlayRepository(Repository):
    """Reads and writes dispositions, secrets, disclosures and flags."""

    def add_disposition(self, change: FeltChange) -> None:
        """Write down that feelings moved."""
        self._session.touch()
        self._session.add(change)

    def dispositions(self, character_id: str, other_id: str, *, as_of: Moment | None = None) -> list[FeltChange]:
        """Return how one's feelings for another moved up to a moment, in the order in which it happened.

        What a memory moved counts while the memory stands: deleted or undone, it never happened.
        """
        table = FeltChange
        deleted = select(col(CharacterMemoryRow.memory_id)).where(
            self._session.owns(CharacterMemoryRow), col(CharacterMemoryRow.status) == "deleted"
        )
        is_of_both = (table.character_id == character_id, table.other_id == other_id)
        stands = or_(col(table.memory_id).is_(None), col(table.memory_id).not_in(deleted))
        return self._play_rows(table, as_of, *is_of_both, stands)

    def is_told_in_story(self, name: str) -> bool:
        """Return whether a name occurs anywhere in the story."""
        texts: tuple[tuple[Any, Any], ...] = (
            (CharacterMemoryRow, CharacterMemoryRow.content),
            (Scene, Scene.text),
            (MemoryRow, MemoryRow.content),
            (EntityRow, EntityRow.description),
            (AliasRow, AliasRow.alias),
        )
        return any(
            self._session.value(table.project_id, column.contains(name, autoescape=True)) is not None
            for table, column in texts
        )

    def others(self, character_id: str, *, as_of: Moment | None = None) -> list[str]:
        """Return the characters with stored feelings, in order of id."""
        table = FeltChange
        is_own = (table.character_id == character_id, self._before(as_of, table))
        return sorted(set(self._session.values(table.other_id, *is_own)))

    def keep_secret(self, character_id: str, secret: Secret) -> None:
        """Store a secret of a character in place of the one of that id."""
        self._session.touch()
        self.drop_secret(character_id, secret.secret_id)
        self._session.add(_secret_row(StoredSecret(character_id=character_id, secret=secret)))

    def drop_secret(self, character_id: str, secret_id: str) -> None:
        """Delete a secret, keeping its disclosures."""
        table = CharacterSecret
        self._session.delete(table, table.character_id == character_id, table.secret_id == secret_id)

    def secrets(self, character_id: str) -> list[Secret]:
        """Return the secrets of a character, in the order in which they were first kept."""
        table = CharacterSecret
        return [
            Secret.model_validate(row.secret)
            for row in self._session.read(table, table.character_id == character_id, order=[col(table.row_id)])
        ]

    def disclose(self, disclosure: Disclosure) -> None:
        """Write down that a secret was revealed, or a thing shown."""
        self._session.touch()
        self._session.add(disclosure)

    def disclosures(self, character_id: str, other_id: str, *, as_of: Moment | None = None) -> list[Disclosure]:
        """Return the disclosures between two characters up to a moment."""
        table = Disclosure
        return self._play_rows(table, as_of, table.character_id == character_id, table.other_id == other_id)

    def set_flag(self, change: FlagChange) -> None:
        """Write down that a flag took a value."""
        self._session.touch()
        self._session.add(change)

    def flag_changes(self, *, as_of: Moment | None = None) -> list[FlagChange]:
        """Return flag values up to a moment, in order."""
        return self._play_rows(FlagChange, as_of)

    def contents(self) -> PlayContents:
        """Return everything that the project holds of it."""
        return PlayContents(
            dispositions=self._play_rows(FeltChange),
            secrets=[
                StoredSecret(character_id=row.character_id, secret=Secret.model_validate(row.secret))
                for row in self._session.read(CharacterSecret, order=[col(CharacterSecret.row_id)])
            ],
            disclosures=self._play_rows(Disclosure),
            flags=self.flag_changes(),
        )

    def add_contents(self, contents: PlayContents) -> None:
        """Add unstored entries.

        See `PlayContents.beyond`.
        """
        self._session.touch()
        secrets = (_secret_row(secret) for secret in contents.secrets)
        self._session.add(*secrets, *contents.dispositions, *contents.disclosures, *contents.flags)

    def _play_rows(self, table: type[PlayRow], as_of: Moment | None = None, *conditions: Any) -> list[PlayRow]:
        """Return events up to a moment, with undated ones first."""
        felt_changes = self._session.read(table, self._before(as_of, table), *conditions, order=[table.row_id])

        def place(happened: Happened) -> tuple[int, int]:
            return -1 if happened.session is None else happened.session, -1 if happened.turn is None else happened.turn

        return sorted(felt_changes, key=lambda felt_change: (place(felt_change), felt_change.happened_at))

    def _before(self, as_of: Moment | None, table: Any) -> ColumnElement[bool]:
        """Return the condition that a row lies strictly before a moment.

        What has no position lies before one if it happened before the first thing that stands there or later.
        """
        if as_of is None:
            return true()
        if isinstance(as_of, datetime):
            return table.happened_at < as_of
        position, firsts = GamePosition(*as_of), []
        tables: tuple[Any, ...] = (CharacterMemoryRow, FeltChange, Disclosure, FlagChange)
        for other_table in tables:
            later: Any = (other_table.session.is_not(None), not_(_is_earlier(other_table, position)))
            first = select(func.min(other_table.happened_at)).where(self._session.owns(other_table), *later)
            firsts.append(self._session.scalar(first))
        border = min((first for first in firsts if first is not None), default=None)
        unplaced = col(table.session).is_(None)
        return or_(
            unplaced if border is None else unplaced & (table.happened_at < border),
            col(table.session).is_not(None) & _is_earlier(table, position),
        )


def _is_earlier(table: Any, position: GamePosition) -> ColumnElement[bool]:
    same_session = (table.session == position.session) & (table.turn < position.turn)
    return or_(table.session < position.session, same_session)


def _secret_row(stored_secret: StoredSecret) -> CharacterSecret:
    secret = stored_secret.secret.model_dump(mode="json", exclude_defaults=True)
    return CharacterSecret(
        character_id=stored_secret.character_id, secret_id=stored_secret.secret.secret_id, secret=secret
    )


def _beyond(values: Iterable[Any], stored_values: Iterable[Any]) -> list[Any]:
    """Return surplus items, counting equal ones."""
    remainder = [item.model_dump() for item in stored_values]
    new = []
    for item in values:
        image = item.model_dump()
        if image in remainder:
            remainder.remove(image)
        else:
            new.append(item)
    return new
