"""All that refers to an entity: giving it to another one, or letting it forget the one that is gone."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Table, and_, exists, or_, true

from novelgen.characters.memory import SLOT_SEPARATOR
from novelgen.models.entity import EntityType
from novelgen.models.state import turned_type
from runtime.storage.chunks import ChunkWriter, text_hash
from runtime.storage.events import RelationshipRepository
from runtime.storage.session import AnyRow, StorageSession
from runtime.storage.tables import (
    CHARACTER_MEMORIES,
    CHARACTER_SECRETS,
    CHUNKS,
    DISCLOSURES,
    DISPOSITION_CHANGES,
    ENTITIES,
    KNOWLEDGE_EVENTS,
    LOOP_EVENTS,
    MENTIONS,
    RELATIONSHIP_CHANGES,
    RELATIONSHIPS,
    SCENES,
    STATES,
)
from runtime.storage.terms import searchable_text

Change = Callable[[Any], Any]
"""What becomes of a value that may name an entity."""

_OF_SCENES = ("participants", "location_id", "pov", "record")
_OF_MEMORIES = ("entities_mentioned", "attached", "detached", "slot_type")
_KNOWERS = ("character_id", "learned_from")

_SUBJECTS = ("id", "entity_id", "character_id", "character_a", "character_b", "location_id", "item_id")
"""Fields by which an entry of a list says what it is about."""

_GONE = object()


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
        entries = (
            each
            for each in value
            if not (isinstance(each, Mapping) and any(each.get(name) == gone_id for name in _SUBJECTS))
        )
        return [left for each in entries if (left := _left(each, gone_id)) is not _GONE]
    return value


def _without_pairs(record: Any, is_dropped: Callable[[set[str]], bool]) -> Any:
    """Return a stored scene record without what it says of some pairs of characters."""
    if not isinstance(record, Mapping) or "relationship_changes" not in record:
        return record
    changes = record["relationship_changes"]
    left = [each for each in changes if not is_dropped({each["character_a"], each["character_b"]})]
    return record if left == changes else {**record, "relationship_changes": left}


class References:
    """Rewrites the values of rows that may name an entity, in all scenes or in some."""

    def __init__(self, session: StorageSession, scene_ids: Collection[str] | None = None) -> None:
        self._session = session
        self._scene_ids = scene_ids

    def rewrite(self, table: Table, names: Sequence[str], change: Change) -> list[AnyRow]:
        """Change columns of a table's rows where anything differs, and return the rows as they were."""
        key = "scene_id" if table is SCENES else "row_id"
        columns = [table.c[name] for name in dict.fromkeys((key, *names))]
        columns += [SCENES.c.content_hash] if table is SCENES else []
        changed, changes = [], []
        for row in self._session.select(columns, self.within(table)):
            values = {name: change(getattr(row, name)) for name in names}
            if any(getattr(row, name) != value for name, value in values.items()):
                values |= self._marks(table, row, values)
                changed.append(row)
                changes.append((getattr(row, key), values))
        self._session.update_each(table.c[key], changes)
        return changed

    def rewrite_memories(self, change: Change) -> None:
        """Change whom memories name, with their links; the index is told of those that changed."""
        changes = []
        columns = [CHUNKS.c[name] for name in ("row_id", *_OF_MEMORIES)]
        for row in self._session.select(columns, self.within(CHUNKS)):
            values = {name: change(getattr(row, name)) for name in _OF_MEMORIES}
            if any(getattr(row, name) != value for name, value in values.items()):
                changes.append((row.row_id, values))
        self.update_memories(dict(changes))

    def update_memories(self, values: Mapping[int, dict[str, Any]]) -> None:
        """Change columns of memories, by their row ids."""
        rows = self._session.select(CHUNKS, self._session.among(CHUNKS.c.row_id, values), order=[CHUNKS.c.row_id])
        ChunkWriter(self._session).update([(dict(row._mapping), values[row.row_id]) for row in rows])

    def _marks(self, table: Table, row: AnyRow, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return what must change with a row: the mark of a scene, and that of when a memory was written last."""
        if table is SCENES:
            return {"content_hash": text_hash(row.content_hash, str(values))}
        return {"changed": self._session.revision()} if table is CHARACTER_MEMORIES else {}

    def within(self, table: Table) -> ColumnElement[bool]:
        """Return the condition that a row is of one of the scenes."""
        return true() if self._scene_ids is None else table.c.scene_id.in_(list(self._scene_ids))


def forget(session: StorageSession, entity_id: str) -> None:
    """Let all that stays refer to an entity no more."""
    references = References(session)

    def forgotten(value: Any) -> Any:
        return without_id(value, entity_id)

    def forgotten_in_mind(value: Any) -> Any:
        is_slot = isinstance(value, str) and value.partition(SLOT_SEPARATOR)[2] == entity_id
        return None if is_slot else forgotten(value)

    references.rewrite(SCENES, _OF_SCENES, forgotten)
    references.rewrite_memories(forgotten)
    references.rewrite(STATES, ("value",), forgotten)
    references.rewrite(LOOP_EVENTS, ("detail",), forgotten)
    references.rewrite(ENTITIES, ("profile",), forgotten)
    references.rewrite(KNOWLEDGE_EVENTS, ("learned_from",), forgotten)
    references.rewrite(CHARACTER_MEMORIES, ("participants", "heard_from", "slot"), forgotten_in_mind)


def forget_in_records(session: StorageSession, gone_id: str) -> None:
    """Let scenes refer to something no more that they alone name, such as a thread."""
    References(session).rewrite(SCENES, _OF_SCENES, lambda value: without_id(value, gone_id))


def forget_pair(session: StorageSession, both: set[str]) -> None:
    """Let scenes say nothing of how two characters stand."""
    References(session).rewrite(SCENES, ("record",), lambda record: _without_pairs(record, lambda pair: pair == both))


@dataclass(frozen=True, slots=True)
class Relinking:
    """Gives what refers to one entity to another: everything, or what some scenes say."""

    session: StorageSession
    old_id: str
    new_id: str
    new_type: EntityType
    scene_ids: Collection[str] | None = None

    def run(self) -> None:
        """Move all links: scenes, memories, states, loops, relationships, knowledge, what a character remembers."""
        references = References(self.session, self.scene_ids)
        references.rewrite(SCENES, _OF_SCENES, self._in_scene)
        within = References(self.session, self.scene_ids).within(MENTIONS)
        their, other = MENTIONS.c.entity_id == self.old_id, MENTIONS.alias()
        is_said_of_both = exists().where(
            other.c.entity_id == self.new_id,
            other.c.project_id == MENTIONS.c.project_id,
            other.c.scene_id == MENTIONS.c.scene_id,
            other.c.name == MENTIONS.c.name,
        )
        self.session.delete(MENTIONS, their, within, is_said_of_both)
        self.session.update(MENTIONS, their, within, entity_id=self.new_id)
        references.rewrite_memories(self._replaced)
        this = and_(self.session.owns(STATES), STATES.c.entity_id == self.old_id, references.within(STATES))
        references.rewrite(STATES, ("value",), self._replaced)
        self.session.update(STATES, this, entity_id=self.new_id, entity_type=self.new_type)
        references.rewrite(LOOP_EVENTS, ("detail",), self._replaced)
        references.rewrite(KNOWLEDGE_EVENTS, _KNOWERS, self._replaced)
        self._clear_own_source(KNOWLEDGE_EVENTS, "learned_from")
        if self.scene_ids is None:
            columns = ("character_id", "participants", "heard_from", "slot")
            references.rewrite(CHARACTER_MEMORIES, columns, self._in_mind)
            self._clear_own_source(CHARACTER_MEMORIES, "heard_from")
            self._close_former_values()
            self._relink_play()
        self._relink_relationships()

    def relink_profiles(self) -> None:
        """Name the other in the cards of all."""
        References(self.session).rewrite(ENTITIES, ("profile",), self._replaced)

    def _replaced(self, value: Any) -> Any:
        return replaced_id(value, self.old_id, self.new_id)

    def _in_scene(self, value: Any) -> Any:
        return _without_pairs(self._replaced(value), lambda pair: len(pair) == 1)

    def _in_mind(self, value: Any) -> Any:
        kind, separator, about = value.partition(SLOT_SEPARATOR) if isinstance(value, str) else ("", "", "")
        return f"{kind}{separator}{self.new_id}" if about == self.old_id else self._replaced(value)

    def _clear_own_source(self, table: Table, name: str) -> None:
        """Nobody learns from, or hears from, themselves."""
        own = and_(self.session.owns(table), table.c.character_id == self.new_id, table.c[name] == self.new_id)
        self.session.run(table.update().where(own).values({name: None}))

    def _close_former_values(self) -> None:
        """Let the latest value of a slot hold where both brought one, or somebody had one of each of the two."""
        table = CHARACTER_MEMORIES
        rows = self.session.select(
            [table.c[name] for name in ("row_id", "memory_id", "character_id", "slot")],
            table.c.slot.is_not(None),
            table.c.status == "active",
            table.c.superseded_by.is_(None),
            order=[table.c.known_at.desc(), table.c.row_id.desc()],
        )
        holders: dict[tuple[str, str], str] = {}
        for row in rows:
            holder = holders.setdefault((row.character_id, row.slot), row.memory_id)
            if holder != row.memory_id:
                former = table.update().where(table.c.row_id == row.row_id)
                self.session.run(former.values(superseded_by=holder, changed=self.session.revision()))

    def _relink_play(self) -> None:
        """Give feelings, secrets and what was disclosed to the other.

        What the two felt for each other stays, as what one feels for himself, which is never asked for. A secret whose
        id the other has already gets another one.
        """
        for table in (DISPOSITION_CHANGES, DISCLOSURES):
            for name in ("character_id", "other_id"):
                mine = and_(self.session.owns(table), table.c[name] == self.old_id)
                self.session.run(table.update().where(mine).values({name: self.new_id}))
        of_both = CHARACTER_SECRETS.c.character_id.in_((self.old_id, self.new_id))
        rows = self.session.select(CHARACTER_SECRETS, of_both)
        taken = {row.secret_id for row in rows if row.character_id == self.new_id}
        for row in rows:
            if row.character_id == self.old_id:
                secret_id = f"{row.secret_id} ({self.old_id})" if row.secret_id in taken else row.secret_id
                values = {"character_id": self.new_id, "secret_id": secret_id}
                secret = {**row.secret, "secret_id": secret_id}
                this = CHARACTER_SECRETS.c.row_id == row.row_id
                self.session.update(CHARACTER_SECRETS, this, **values, secret=secret)

    def _relink_relationships(self) -> None:
        """Move the changes of all of one's relationships to the other's, and drop those between the two.

        Perspectives turn where the pair's order does. A pair that has no change left is dropped.
        """
        involved = or_(RELATIONSHIPS.c.character_a == self.old_id, RELATIONSHIPS.c.character_b == self.old_id)
        within = References(self.session, self.scene_ids).within(RELATIONSHIP_CHANGES)
        for pair in self.session.select(RELATIONSHIPS, involved):
            of_pair = RELATIONSHIP_CHANGES.c.relationship_id == pair.relationship_id
            changes = self.session.select(RELATIONSHIP_CHANGES, of_pair, within)
            if changes or self.scene_ids is None:
                self._move_pair(pair, changes)
                if not self.session.values(RELATIONSHIP_CHANGES.c.row_id, of_pair):
                    self.session.delete(RELATIONSHIPS, RELATIONSHIPS.c.row_id == pair.row_id)

    def _move_pair(self, pair: AnyRow, changes: Sequence[AnyRow]) -> None:
        other = pair.character_b if pair.character_a == self.old_id else pair.character_a
        if other == self.new_id:
            rows = RELATIONSHIP_CHANGES.c.row_id.in_([row.row_id for row in changes])
            self.session.delete(RELATIONSHIP_CHANGES, rows)
            return
        target = RelationshipRepository(self.session).id_of(self.new_id, other)
        turned = (pair.character_a == self.old_id) != (self.new_id < other)
        for row in changes:
            values: dict[str, Any] = {"relationship_id": target}
            if turned:
                values |= {"perspective_a": row.perspective_b, "perspective_b": row.perspective_a}
                values |= {"dimensions_a": row.dimensions_b, "dimensions_b": row.dimensions_a}
                values["relationship_type"] = row.relationship_type and turned_type(row.relationship_type)
            this = RELATIONSHIP_CHANGES.c.row_id == row.row_id
            self.session.update(RELATIONSHIP_CHANGES, this, **values)


@dataclass(frozen=True, slots=True)
class MixedScenes:
    """Scenes that name both halves of an entity that is split: each thing goes to whom its text names."""

    session: StorageSession
    old_id: str
    new_id: str
    moved: Sequence[str]
    staying: Sequence[str]

    def relink(self, scene_ids: Collection[str]) -> None:
        """Link scenes that name both to both, and their memories to whom their text names."""
        here = list(scene_ids)
        for row in self.session.select([SCENES.c.scene_id, SCENES.c.participants], SCENES.c.scene_id.in_(here)):
            if self.old_id in row.participants and self.new_id not in row.participants:
                self.session.update(
                    SCENES, SCENES.c.scene_id == row.scene_id, participants=[*row.participants, self.new_id]
                )
        named = and_(
            self.session.owns(MENTIONS), MENTIONS.c.entity_id == self.old_id, MENTIONS.c.name.in_(list(self.moved))
        )
        self.session.update(MENTIONS, named, entity_id=self.new_id)
        changes: dict[int, dict[str, Any]] = {}
        for row in self.session.select(CHUNKS, CHUNKS.c.scene_id.in_(here)):
            new_ids = self._named_in(searchable_text(row.content, row.short))
            lists = {name: getattr(row, name) for name in ("entities_mentioned", "attached", "detached")}
            replaced = {self.old_id: new_ids}
            values = {
                name: list(dict.fromkeys(each for known in ids for each in replaced.get(known, [known])))
                for name, ids in lists.items()
            }
            if values != lists:
                changes[row.row_id] = values
        References(self.session).update_memories(changes)
        # What was learnt in scenes that name both is the new one's where its quote names the new one alone.
        table = KNOWLEDGE_EVENTS
        for row in self.session.select(table, table.c.scene_id.in_(here), table.c.quote != ""):
            values = {name: replaced_id(getattr(row, name), self.old_id, self.new_id) for name in _KNOWERS}
            is_about_them = any(getattr(row, name) != value for name, value in values.items())
            if is_about_them and self._named_in(row.quote) == [self.new_id]:
                self.session.run(table.update().where(table.c.row_id == row.row_id).values(**values))

    def _named_in(self, text: str) -> list[str]:
        """Whom a text names; where it names neither, it stays with the old one."""
        from novelgen.language.matching import NameFinder

        found = {match.name for match in NameFinder([*self.moved, *self.staying]).find(text)}
        if not found & set(self.moved):
            return [self.old_id]
        return [self.old_id, self.new_id] if found & set(self.staying) else [self.new_id]


def scenes_naming(session: StorageSession, entity_id: str) -> dict[str, set[str]]:
    """Return by which of its names each scene names an entity."""
    names: dict[str, set[str]] = defaultdict(set)
    for row in session.select([MENTIONS.c.scene_id, MENTIONS.c.name], MENTIONS.c.entity_id == entity_id):
        names[row.scene_id].add(row.name)
    return names
