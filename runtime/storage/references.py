"""References to an entity: moved to another one, or removed."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import exists, true
from sqlmodel import col, or_

from novelgen.characters.memory import SLOT_SEPARATOR
from novelgen.models.entity import EntityType
from novelgen.models.pair_types import turned_pair_type
from runtime.storage.chunks import ChunkWriter, text_hash
from runtime.storage.events import RelationshipRepository
from runtime.storage.records import (
    CharacterMemoryRow,
    CharacterSecret,
    Disclosure,
    EntityRow,
    FeltChange,
    Knowledge,
    LoopEvent,
    MemoryRow,
    NameMention,
    Pair,
    RelationshipChange,
    Row,
    Scene,
    State,
)
from runtime.storage.session import StorageSession, alias_of, columns_of, json_columns_of
from runtime.storage.terms import searchable_text

Change = Callable[[Any], Any]
"""What becomes of a value that may name an entity."""

REFERRING: Mapping[type[Row], tuple[str, ...]] = {
    Scene: ("participants", "location_id", "pov", "record", "staged"),
    MemoryRow: ("entities_mentioned", "attached", "detached", "slot_type"),
    State: ("value",),
    LoopEvent: ("detail",),
    EntityRow: ("profile",),
    Knowledge: ("character_id", "learned_from"),
    CharacterMemoryRow: ("character_id", "participants", "heard_from", "slot"),
}
"""Columns whose values may name an entity somewhere in them."""

_SUBJECTS = ("id", "entity_id", "character_id", "character_a", "character_b", "location_id", "item_id")
"""Fields by which an entry of a list says what it is about."""

_REMOVED = object()


def replaced_id(value: Any, old_id: str, new_id: str) -> Any:
    """Return a value with one id in place of another."""
    if isinstance(value, str):
        if value == old_id:
            return new_id
        return new_id + value[len(old_id) :] if is_slot_of(value, old_id) else value
    if isinstance(value, dict):
        return {key: replaced_id(item, old_id, new_id) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    replaced_values = [replaced_id(item, old_id, new_id) for item in value]
    if replaced_values != value and all(isinstance(item, str) for item in replaced_values):
        return list(dict.fromkeys(replaced_values))
    return replaced_values


def is_slot_of(text: str, entity_id: str) -> bool:
    """Tell whether a text is the name of one of an entity's slots: its id, a dot, one word."""
    return text.startswith(f"{entity_id}.") and " " not in text


def without_id(value: Any, gone_id: str) -> Any:
    """Return a value that refers to something no more."""
    remaining_value = _remaining_value(value, gone_id)
    return None if remaining_value is _REMOVED else remaining_value


def _remaining_value(value: Any, gone_id: str) -> Any:
    if isinstance(value, str):
        return _REMOVED if value == gone_id or is_slot_of(value, gone_id) else value
    if isinstance(value, Mapping):
        if value.get("entity_id") == gone_id:
            return _REMOVED
        kept_fields = {name: item for name, item in value.items() if name != gone_id}
        remaining_fields = {name: _remaining_value(item, gone_id) for name, item in kept_fields.items()}
        # A text or a number gives way to nothing; an entry that was about it goes whole.
        return {
            name: None if item is _REMOVED else item
            for name, item in remaining_fields.items()
            if not (item is _REMOVED and isinstance(kept_fields[name], Mapping))
        }
    if isinstance(value, list):
        entries = (
            item
            for item in value
            if not (isinstance(item, Mapping) and any(item.get(name) == gone_id for name in _SUBJECTS))
        )
        return [
            remaining_fields
            for entry in entries
            if (remaining_fields := _remaining_value(entry, gone_id)) is not _REMOVED
        ]
    return value


def _without_pairs(record: Any, is_dropped: Callable[[set[str]], bool]) -> Any:
    """Return a stored record without some pairs."""
    if not isinstance(record, Mapping) or "relationship_changes" not in record:
        return record
    changes = record["relationship_changes"]
    remainder = [change for change in changes if not is_dropped({change["character_a"], change["character_b"]})]
    return record if remainder == changes else {**record, "relationship_changes": remainder}


def _rewrite(session: StorageSession, table: Any, change: Change, *, scene_ids: Collection[str] | None = None) -> None:
    """Rewrite entity references of a table, queueing memories for the index."""
    names, key = REFERRING[table], col(Scene.scene_id) if table is Scene else table.row_id
    columns = json_columns_of(table, names) + ([col(Scene.content_hash)] if table is Scene else [])
    changes: dict[Any, dict[str, Any]] = {}
    for row in session.select([key, *columns], _within(session, table, scene_ids)):
        values = {name: change(getattr(row, name)) for name in names}
        if any(getattr(row, name) != value for name, value in values.items()):
            # With it change the mark of a scene, and that of when a memory was written last.
            if table is Scene:
                values["content_hash"] = text_hash(row.content_hash, str(values))
            elif table is CharacterMemoryRow:
                values["changed"] = session.revision()
            changes[row[0]] = values
    if table is MemoryRow:
        _update_memories(session, changes)
    else:
        session.update_each(key, changes.items())


def _update_memories(session: StorageSession, values: Mapping[int, dict[str, Any]]) -> None:
    rows = session.read(MemoryRow, session.among(MemoryRow.row_id, values), order=[col(MemoryRow.row_id)])
    ChunkWriter(session).update([(row.columns(), values[row.row_id or 0]) for row in rows])


def _within(session: StorageSession, table: Any, scene_ids: Collection[str] | None) -> Any:
    return true() if scene_ids is None else session.among(table.scene_id, scene_ids)


def forget(session: StorageSession, entity_id: str) -> None:
    """Let all that stays refer to an entity no more."""

    def forgotten(value: Any) -> Any:
        return without_id(value, entity_id)

    def forgotten_in_mind(value: Any) -> Any:
        is_slot = isinstance(value, str) and value.partition(SLOT_SEPARATOR)[2] == entity_id
        return None if is_slot else forgotten(value)

    for table in REFERRING:
        _rewrite(session, table, forgotten_in_mind if table is CharacterMemoryRow else forgotten)


def forget_in_records(session: StorageSession, gone_id: str) -> None:
    """Let scenes refer to something no more that they alone name, such as a thread."""
    _rewrite(session, Scene, lambda value: without_id(value, gone_id))


def forget_pair(session: StorageSession, both: set[str]) -> None:
    """Let scenes say nothing of how two characters stand."""
    _rewrite(session, Scene, lambda value: _without_pairs(value, lambda pair: pair == both))


@dataclass(frozen=True, slots=True)
class Relinking:
    """Moves entity references to another entity, in all or some scenes."""

    session: StorageSession
    old_id: str
    new_id: str
    new_type: EntityType
    scene_ids: Collection[str] | None = None

    def run(self) -> None:
        """Move all references: scenes, memories, states, threads, relationships, knowledge."""
        within = _within(self.session, NameMention, self.scene_ids)
        their, other = NameMention.entity_id == self.old_id, alias_of(NameMention, "other_mention")
        is_said_of_both = exists().where(
            other.entity_id == self.new_id,
            *(getattr(other, name) == getattr(NameMention, name) for name in ("project_id", "scene_id", "name")),
        )
        self.session.delete(NameMention, their, within, is_said_of_both)
        self.session.update(NameMention, their, within, entity_id=self.new_id)
        special: dict[type[Row], Change] = {Scene: self._in_scene, CharacterMemoryRow: self._in_mind}
        for table in REFERRING:
            # Cards are written last, and what somebody remembers is of no scene.
            if table is not EntityRow and (table is not CharacterMemoryRow or self.scene_ids is None):
                _rewrite(self.session, table, special.get(table, self._replace_value), scene_ids=self.scene_ids)
        this = (State.entity_id == self.old_id, _within(self.session, State, self.scene_ids))
        self.session.update(State, *this, entity_id=self.new_id, entity_type=self.new_type)
        # Nobody learns from, or hears from, themselves.
        for column in columns_of(Knowledge, ["learned_from"]) + columns_of(CharacterMemoryRow, ["heard_from"]):
            own = (column.class_.character_id == self.new_id, column == self.new_id)
            self.session.update(column.class_, *own, **{column.key: None})
        if self.scene_ids is None:
            self._close_former_values()
            self._relink_play()
        self._relink_relationships()

    def relink_profiles(self) -> None:
        """Name the other in the cards of all."""
        _rewrite(self.session, EntityRow, self._replace_value)

    def _replace_value(self, value: Any) -> Any:
        return replaced_id(value, self.old_id, self.new_id)

    def _in_scene(self, value: Any) -> Any:
        return _without_pairs(self._replace_value(value), lambda pair: len(pair) == 1)

    def _in_mind(self, value: Any) -> Any:
        kind, separator, about = value.partition(SLOT_SEPARATOR) if isinstance(value, str) else ("", "", "")
        return f"{kind}{separator}{self.new_id}" if about == self.old_id else self._replace_value(value)

    def _close_former_values(self) -> None:
        """Let the latest value of a slot hold after a merge."""
        table = CharacterMemoryRow
        holds = (col(table.slot).is_not(None), table.status == "active", col(table.superseded_by).is_(None))
        latest_first = [col(table.known_at).desc(), col(table.row_id).desc()]
        columns = columns_of(table, ("row_id", "memory_id", "character_id", "slot"))
        rows = self.session.select(columns, *holds, order=latest_first)
        holders: dict[tuple[str, str], str] = {}
        for row in rows:
            holder = holders.setdefault((row.character_id, row.slot), row.memory_id)
            if holder != row.memory_id:
                closed = {"superseded_by": holder, "changed": self.session.revision()}
                self.session.update(table, table.row_id == row.row_id, **closed)

    def _relink_play(self) -> None:
        """Move feelings, secrets and disclosures.

        What the two felt for each other stays, as what one feels for himself, which is never asked for. A secret whose
        id the other has already gets another one.
        """
        for table in (FeltChange, Disclosure):
            for name in ("character_id", "other_id"):
                self.session.update(table, getattr(table, name) == self.old_id, **{name: self.new_id})
        own, secret_id = col(CharacterSecret.character_id), col(CharacterSecret.secret_id)
        existing_ids = set(self.session.values(secret_id, own == self.new_id))
        for row in self.session.read(CharacterSecret, own == self.old_id):
            new_id = f"{row.secret_id} ({self.old_id})" if row.secret_id in existing_ids else row.secret_id
            values = {"character_id": self.new_id, "secret_id": new_id, "secret": {**row.secret, "secret_id": new_id}}
            self.session.update(CharacterSecret, CharacterSecret.row_id == row.row_id, **values)

    def _relink_relationships(self) -> None:
        """Move the changes of all of one's relationships to the other's, and drop those between the two.

        Perspectives turn where the pair's order does. A pair that has no change left is dropped.
        """
        involved = or_(Pair.character_a == self.old_id, Pair.character_b == self.old_id)
        for pair in self.session.read(Pair, involved):
            of_pair = RelationshipChange.relationship_id == pair.relationship_id
            here = (of_pair, _within(self.session, RelationshipChange, self.scene_ids))
            changes = self.session.read(RelationshipChange, *here)
            other = pair.character_b if pair.character_a == self.old_id else pair.character_a
            if other == self.new_id:
                self.session.delete(RelationshipChange, *here)
            elif changes or self.scene_ids is None:
                target = RelationshipRepository(self.session).id_of(self.new_id, other)
                is_turned = (pair.character_a == self.old_id) != (self.new_id < other)
                for row in changes:
                    values = {"relationship_id": target, **(_turned(row) if is_turned else {})}
                    self.session.update(RelationshipChange, RelationshipChange.row_id == row.row_id, **values)
            if (changes or self.scene_ids is None) and not self.session.count(RelationshipChange, of_pair):
                self.session.delete(Pair, Pair.row_id == pair.row_id)


def _turned(change: RelationshipChange) -> dict[str, Any]:
    """Return how two stand, told from the other one."""
    reading = turned_pair_type(change.relationship_type or "", type_reads_back=change.type_reads_back)
    return {
        "perspective_a": change.perspective_b,
        "perspective_b": change.perspective_a,
        "dimensions_a": change.dimensions_b,
        "dimensions_b": change.dimensions_a,
        **(reading if change.relationship_type else {}),
    }


def relink_mixed(
    session: StorageSession,
    old_id: str,
    new_id: str,
    *,
    moved_ids: Sequence[str],
    staying: Sequence[str],
    scene_ids: Collection[str],
) -> None:
    """Link scenes of a split entity to both halves by their names."""
    from novelgen.language.matching import NameFinder

    finder = NameFinder([*moved_ids, *staying])

    def named_in(text: str) -> list[str]:
        # Where a text names neither, it stays with the old one.
        found_ids = {match.name for match in finder.find(text)}
        is_of_old = bool(found_ids & set(staying)) or not found_ids & set(moved_ids)
        return [*([old_id] if is_of_old else []), *([new_id] if found_ids & set(moved_ids) else [])]

    for row in session.select([col(Scene.scene_id), col(Scene.participants)], _within(session, Scene, scene_ids)):
        if old_id in row.participants and new_id not in row.participants:
            session.update(Scene, Scene.scene_id == row.scene_id, participants=[*row.participants, new_id])
    session.update(
        NameMention, NameMention.entity_id == old_id, col(NameMention.name).in_(list(moved_ids)), entity_id=new_id
    )
    changes: dict[int, dict[str, Any]] = {}
    for memory in session.read(MemoryRow, _within(session, MemoryRow, scene_ids)):
        names_by_id = {old_id: named_in(searchable_text(memory.content, memory.short))}
        lists = {name: getattr(memory, name) for name in ("entities_mentioned", "attached", "detached")}
        values = {
            name: list(dict.fromkeys(item for old_value in ids for item in names_by_id.get(old_value, [old_value])))
            for name, ids in lists.items()
        }
        if values != lists:
            changes[memory.row_id or 0] = values
    _update_memories(session, changes)
    # What was learnt in scenes that name both is the new one's where its quote names the new one alone.
    table = Knowledge
    for learnt_statement in session.read(table, _within(session, table, scene_ids), table.quote != ""):
        old = {name: getattr(learnt_statement, name) for name in REFERRING[table]}
        new = {name: replaced_id(value, old_id, new_id) for name, value in old.items()}
        if new != old and named_in(learnt_statement.quote) == [new_id]:
            session.update(table, table.row_id == learnt_statement.row_id, **new)
