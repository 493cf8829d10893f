"""Merging and splitting entities, kept so that it can be undone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field
from sqlalchemy import and_, select

from novelgen.errors import UnknownEntityError, UnknownIdError, UserInputError
from novelgen.language.matching import NameFinder
from novelgen.language.normalise import name_key
from novelgen.models.entity import Entity, EntityAlias, RevealedIdentity, revealed_identity
from novelgen.models.position import StoryPosition, sort_key
from runtime.storage.cuts import Place, scene_ids_at
from runtime.storage.entity.entities import EntityRepository
from runtime.storage.entity.relinking import EntityRelinking, relink_memory, replaced_id
from runtime.storage.entity.undo_snapshots import RowChange, restore_rows, row_changes, undo_snapshots
from runtime.storage.memory.consolidations import ConsolidationRepository
from runtime.storage.memory.lexical import searchable_text
from runtime.storage.memory.outbox import OutboxRepository
from runtime.storage.records import StoredEntity
from runtime.storage.session import AnyRow, Repository, StorageSession, batches
from runtime.storage.tables import (
    ALIASES,
    CHUNK_ENTITIES,
    CHUNKS,
    ENTITIES,
    ENTITY_CHANGES,
    KNOWLEDGE_EVENTS,
    MENTIONS,
    SCENES,
)

EntityChangeKind = Literal["merge", "split", "confirm", "name", "join", "drop", "delete"]


class EntityChange(BaseModel):
    """A decision on who is who, or a deletion, which can be undone.

    A merge (`other_id` became `entity_id`), a split (`other_id` came out of `entity_id`), or a decision on a
    candidate, a name that the text alone offers: it became an entity (confirm), or a name of one (name), it
    belongs to another candidate (join), or is not offered again (drop). Of a deletion `entity_id` is what is gone,
    an entity, relationship or thread, and `other_id` its name.
    """

    change_id: int
    kind: EntityChangeKind
    entity_id: str = Field(description="Entity that stayed or came; a candidate's name of a join; empty of a drop.")
    other_id: str = Field(description="The other entity; of a decision on a candidate, its name.")
    created_at: datetime
    undone_at: datetime | None = None
    changed_rows: int = Field(description="How many rows it changed.")


class EntityChangeJournal(Repository):
    """Keeps changes with the rows that they changed, and undoes them."""

    def keep(self, kind: EntityChangeKind, entity_id: str, other_id: str, changes: Sequence[RowChange]) -> EntityChange:
        """Write a change down and return it with its number."""
        values = {
            "project_id": self._session.project_id,
            "kind": kind,
            "entity_id": entity_id,
            "other_id": other_id,
            "created_at": self._session.now(),
            "changed_rows": [change.model_dump() for change in changes],
        }
        statement = ENTITY_CHANGES.insert().values(**values).returning(ENTITY_CHANGES.c.row_id)
        number = self._session.connection.execute(statement).scalar_one()
        return self.require(number)

    def list_all(self) -> list[EntityChange]:
        """Return all changes, the oldest first, undone ones included."""
        statement = select(ENTITY_CHANGES).where(self._session.owns(ENTITY_CHANGES)).order_by(ENTITY_CHANGES.c.row_id)
        return [_change(row) for row in self._session.rows(statement)]

    def require(self, change_id: int) -> EntityChange:
        """Return a change."""
        return _change(self._row(change_id))

    def is_refused(self, entity_id: str, other_id: str) -> bool:
        """Tell whether somebody undid that two entities became one."""
        pair = {entity_id, other_id}
        return any(row.undone_at and {row.entity_id, row.other_id} == pair for row in self._merges())

    def names_brought(self, change_id: int) -> list[str]:
        """Return the names that an entity got when another became part of it."""
        row = self._row(change_id)
        changes = [RowChange.model_validate(each) for each in row.changed_rows]
        return [
            str(change.after["alias"])
            for change in changes
            if change.table == ALIASES.name
            and change.before is None
            and change.after is not None
            and change.after["entity_id"] == row.entity_id
        ]

    def survivors(self) -> dict[str, str]:
        """Return for each entity that became part of another whose part it is now."""
        merged = {row.other_id: row.entity_id for row in self._merges() if row.undone_at is None}
        stored = set(self._session.connection.scalars(select(ENTITIES.c.entity_id).where(self._session.owns(ENTITIES))))
        gone = [entity_id for entity_id in merged if entity_id not in stored]
        found = {}
        for entity_id in gone:
            survivor = merged[entity_id]
            while survivor in gone:
                survivor = merged[survivor]
            found[entity_id] = survivor
        return found

    def _merges(self) -> list[AnyRow]:
        columns = (ENTITY_CHANGES.c.entity_id, ENTITY_CHANGES.c.other_id, ENTITY_CHANGES.c.undone_at)
        statement = (
            select(*columns)
            .where(self._session.owns(ENTITY_CHANGES), ENTITY_CHANGES.c.kind == "merge")
            .order_by(ENTITY_CHANGES.c.row_id)
        )
        return list(self._session.rows(statement))

    def undo(self, change_id: int) -> EntityChange:
        """Put everything back as it was before a change; what came since and has no part in it stays."""
        self._session.touch()
        row = self._standing_row(change_id)
        ConsolidationRepository(self._session).withdraw_linked([row.entity_id, row.other_id])
        changes = [RowChange.model_validate(each) for each in row.changed_rows]
        restore_rows(self._session, changes)
        self._queue_memories(changes)
        return self._marked_undone(change_id)

    def keep_names(self, kind: EntityChangeKind, entity_id: str, other_id: str, names: Sequence[str]) -> EntityChange:
        """Write down that names of a candidate became an entity's, and return the change with its number."""
        changes = [RowChange(table=ALIASES.name, after={"entity_id": entity_id, "alias": name}) for name in names]
        return self.keep(kind, entity_id, other_id, changes)

    def withdraw_names(self, change_id: int) -> tuple[EntityChange, list[str]]:
        """Mark a change of `keep_names` as undone, and return it with the names that it gave."""
        row = self._standing_row(change_id)
        names = [RowChange.model_validate(each).image["alias"] for each in row.changed_rows]
        return self._marked_undone(change_id), names

    @contextmanager
    def _imaged(self, *, deleted_id: str | None = None) -> Iterator[list[RowChange]]:
        """Give a list that holds what the block changed once the block has ended."""
        changes: list[RowChange] = []
        before = undo_snapshots(self._session, deleted_id=deleted_id)
        yield changes
        changes += row_changes(before, undo_snapshots(self._session, deleted_id=deleted_id))

    def _standing_row(self, change_id: int) -> AnyRow:
        row = self._row(change_id)
        if row.undone_at is not None:
            raise UserInputError(f"change {change_id!r} is undone already; list them to find another one")
        return row

    def _marked_undone(self, change_id: int) -> EntityChange:
        self._session.run(
            ENTITY_CHANGES.update().where(ENTITY_CHANGES.c.row_id == change_id).values(undone_at=self._session.now())
        )
        return self.require(change_id)

    def _queue_memories(self, changes: Sequence[RowChange]) -> None:
        touched = [
            str(change.before["chunk_id"])
            for change in changes
            if change.table == CHUNKS.name and change.before is not None
        ]
        for batch in batches(touched):
            active = select(CHUNKS.c.chunk_id).where(
                self._session.owns(CHUNKS), CHUNKS.c.chunk_id.in_(batch), CHUNKS.c.status == "active"
            )
            chunk_ids = list(self._session.connection.scalars(active))
            OutboxRepository(self._session).queue(chunk_ids, "upsert")

    def _row(self, change_id: int) -> AnyRow:
        statement = select(ENTITY_CHANGES).where(
            self._session.owns(ENTITY_CHANGES), ENTITY_CHANGES.c.row_id == change_id
        )
        row = self._session.connection.execute(statement).one_or_none()
        if row is None:
            raise UnknownIdError(f"no change {change_id!r} is kept; list them to find its number")
        return row


def _change(row: AnyRow) -> EntityChange:
    return EntityChange(
        change_id=row.row_id,
        kind=row.kind,
        entity_id=row.entity_id,
        other_id=row.other_id,
        created_at=row.created_at,
        undone_at=row.undone_at,
        changed_rows=len(row.changed_rows),
    )


@dataclass(frozen=True, slots=True)
class SplitScenes:
    """Scene ids: `whole` move with everything, `mixed` name both and are judged memory by memory."""

    whole: frozenset[str]
    mixed: frozenset[str]


def split_scenes(
    session: StorageSession, entity_id: str, moved: Collection[str], listed: Collection[str]
) -> SplitScenes:
    """Judge the scenes that name an entity by which of its names they hold."""
    statement = select(MENTIONS.c.scene_id, MENTIONS.c.name).where(
        session.owns(MENTIONS), MENTIONS.c.entity_id == entity_id
    )
    names: dict[str, set[str]] = defaultdict(set)
    for row in session.rows(statement):
        names[row.scene_id].add(row.name)
    whole = {scene_id for scene_id, held in names.items() if held <= set(moved)} | set(listed)
    mixed = {scene_id for scene_id, held in names.items() if held & set(moved)} - whole
    return SplitScenes(frozenset(whole), frozenset(mixed))


def relink_mixed_scenes(
    session: StorageSession,
    old_id: str,
    new_id: str,
    scene_ids: Collection[str],
    *,
    moved: Sequence[str],
    staying: Sequence[str],
) -> None:
    """Link scenes that name both to both, and their memories to whom their text names."""
    _add_participant(session, scene_ids, old_id, new_id)
    named = and_(session.owns(MENTIONS), MENTIONS.c.entity_id == old_id, MENTIONS.c.name.in_(list(moved)))
    session.run(MENTIONS.update().where(named).values(entity_id=new_id))
    linked = select(CHUNK_ENTITIES.c.chunk_row_id).where(
        session.owns(CHUNK_ENTITIES), CHUNK_ENTITIES.c.entity_id == old_id
    )
    statement = select(CHUNKS).where(CHUNKS.c.row_id.in_(linked), CHUNKS.c.scene_id.in_(list(scene_ids)))
    touched = []
    for row in session.rows(statement):
        new_ids = _named_in(searchable_text(row.content, row.short), old_id, new_id, moved=moved, staying=staying)
        if new_ids != [old_id]:
            relink_memory(session, row.row_id, old_id, new_ids)
            values = {
                name: _with_replaced(getattr(row, name), old_id, new_ids)
                for name in ("entities_mentioned", "attached", "detached")
            }
            session.run(CHUNKS.update().where(CHUNKS.c.row_id == row.row_id).values(**values))
            touched += [row.chunk_id] if row.status == "active" else []
    OutboxRepository(session).queue(touched, "upsert")
    _relink_mixed_knowledge(session, old_id, new_id, scene_ids, moved=moved, staying=staying)


def _relink_mixed_knowledge(
    session: StorageSession,
    old_id: str,
    new_id: str,
    scene_ids: Collection[str],
    *,
    moved: Sequence[str],
    staying: Sequence[str],
) -> None:
    """Let what was learnt in scenes that name both be the new one's where its quote names the new one alone."""
    table = KNOWLEDGE_EVENTS
    here = and_(session.owns(table), table.c.scene_id.in_(list(scene_ids)), table.c.quote != "")
    for row in session.rows(select(table).where(here)):
        values = {name: replaced_id(getattr(row, name), old_id, new_id) for name in _KNOWERS}
        is_about_them = any(getattr(row, name) != value for name, value in values.items())
        if is_about_them and _named_in(row.quote, old_id, new_id, moved=moved, staying=staying) == [new_id]:
            session.run(table.update().where(table.c.row_id == row.row_id).values(**values))


_KNOWERS = ("character_id", "learned_from")


def _with_replaced(ids: Sequence[str], old_id: str, new_ids: Sequence[str]) -> list[str]:
    replaced = (each for known in ids for each in (new_ids if known == old_id else [known]))
    return list(dict.fromkeys(replaced))


def _named_in(text: str, old_id: str, new_id: str, *, moved: Sequence[str], staying: Sequence[str]) -> list[str]:
    """Whom a text names; where it names neither, it stays with the old one."""
    found = {match.name for match in NameFinder([*moved, *staying]).find(text)}
    names_new, names_old = bool(found & set(moved)), bool(found & set(staying))
    if not names_new:
        return [old_id]
    return [old_id, new_id] if names_old else [new_id]


def _add_participant(session: StorageSession, scene_ids: Collection[str], old_id: str, new_id: str) -> None:
    statement = select(SCENES.c.scene_id, SCENES.c.participants).where(SCENES.c.scene_id.in_(list(scene_ids)))
    for row in session.rows(statement):
        if old_id in row.participants and new_id not in row.participants:
            session.run(
                SCENES.update()
                .where(SCENES.c.scene_id == row.scene_id)
                .values(participants=[*row.participants, new_id])
            )


class EntityMergeRepository(EntityChangeJournal):
    """Merges and splits entities, re-links everything, and undoes it."""

    def merge(self, keep_id: str, gone_id: str) -> EntityChange:
        """Make one entity part of another: all that is linked to it is linked to the other from now on.

        Its names become aliases. Card fields that the other lacks are taken over; an author's card wins over
        one that nobody wrote. Relationships between the two are dropped.
        """
        self._session.touch()
        keep, gone = self._stored(keep_id), self._stored(gone_id)
        require_mergeable(keep.entity, gone.entity)
        ConsolidationRepository(self._session).withdraw_linked([keep_id, gone_id])
        with self._imaged() as changes:
            self._take_names(keep, gone)
            EntityRelinking(self._session, gone_id, keep_id, new_type=keep.entity.entity_type).run()
            self._session.run(ENTITIES.delete().where(*_is(self._session.project_id, gone_id)))
            self._session.run(
                ENTITIES.update()
                .where(*_is(self._session.project_id, keep_id))
                .values(**_merged(keep, gone), updated_at=self._session.now())
            )
            self._relink_profiles(gone_id, keep_id)
        return self.keep("merge", keep_id, gone_id, changes)

    def unmask(self, shown_id: str, mask_id: str, *, at: StoryPosition) -> EntityChange:
        """Let the story show in a scene that one entity is another: from there on they are one, before it two.

        Nothing is linked anew. On entering the next scene the mask is listed no more, and its names are those of
        the one who was behind it; before that, neither tells of the other.
        """
        self._session.touch()
        shown, mask = self._stored(shown_id), self._stored(mask_id)
        require_mergeable(shown.entity, mask.entity)
        if revealed_identity(mask.entity) or revealed_identity(shown.entity):
            raise UserInputError(f"{mask_id!r} or {shown_id!r} is known to be somebody else already; undo that first")
        identity = RevealedIdentity(entity_id=shown_id, chapter_index=at.chapter_index, scene_index=at.scene_index)
        taken = shown.entity.names()
        rows = [
            {
                "project_id": self._session.project_id,
                "entity_id": shown_id,
                "alias": name,
                "alias_key": name_key(name),
                "first_chapter": at.chapter_index,
                "first_scene": at.scene_index,
                "by_author": False,
            }
            for name in mask.entity.names()
            if name not in taken
        ]
        with self._imaged() as changes:
            self._session.insert(ALIASES, rows)
            EntityRepository(self._session).reveal(mask_id, identity)
        return self.keep("merge", shown_id, mask_id, changes)

    def split(
        self, entity_id: str, *, name: str, aliases: Sequence[str] = (), scenes: Sequence[Place] = ()
    ) -> EntityChange:
        """Take a new entity out of one: names that are its own, and what happened under them.

        Everything moves in the scenes that are listed, and in those that name the entity only by the moved
        names. In scenes that name both, the new one is added, and a memory goes to whom its text names.
        What has no scene stays.
        """
        self._session.touch()
        stored = self._stored(entity_id)
        moved = _moved_names(stored.entity, [name, *aliases])
        listed = scene_ids_at(self._session, scenes)
        if not moved and not listed:
            raise UserInputError(
                f"neither a name of {entity_id!r} nor a scene is to be split off; give an alias or a scene"
            )
        new_id = EntityRepository(self._session).next_id(stored.entity.entity_type)
        ConsolidationRepository(self._session).withdraw_linked([entity_id])
        parts = split_scenes(self._session, entity_id, moved, set(listed.values()))
        with self._imaged() as changes:
            self._insert_split_off(stored, new_id, [name, *aliases], moved)
            self._relink_split(stored.entity, new_id, moved, parts)
        return self.keep("split", entity_id, new_id, changes)

    def _relink_split(self, entity: Entity, new_id: str, moved: Sequence[str], parts: SplitScenes) -> None:
        EntityRelinking(
            self._session, entity.entity_id, new_id, new_type=entity.entity_type, scene_ids=parts.whole
        ).run()
        staying = [each for each in entity.names() if each not in moved]
        relink_mixed_scenes(self._session, entity.entity_id, new_id, parts.mixed, moved=moved, staying=staying)

    def _insert_split_off(self, stored: StoredEntity, new_id: str, names: Sequence[str], moved: Sequence[str]) -> None:
        entity = stored.entity
        known = {alias.alias: alias for alias in entity.aliases}
        first = known.get(names[0])
        new = Entity(
            entity_id=new_id,
            entity_type=entity.entity_type,
            name=names[0],
            aliases=[known.get(each, EntityAlias(alias=each)) for each in dict.fromkeys(names[1:]) if each != names[0]],
            name_first_chapter=first.first_chapter if first else None,
            name_first_scene=first.first_scene if first else None,
        )
        mine = and_(self._session.owns(ALIASES), ALIASES.c.entity_id == entity.entity_id)
        self._session.run(ALIASES.delete().where(mine, ALIASES.c.alias.in_(list(moved))))
        EntityRepository(self._session).upsert(new, origin=stored.origin)

    def _take_names(self, keep: StoredEntity, gone: StoredEntity) -> None:
        taken = set(keep.entity.names())
        mine = and_(self._session.owns(ALIASES), ALIASES.c.entity_id == gone.entity.entity_id)
        self._session.run(ALIASES.delete().where(mine, ALIASES.c.alias.in_(sorted(taken))))
        self._session.run(ALIASES.update().where(mine).values(entity_id=keep.entity.entity_id))
        old = gone.entity
        if old.name in taken or old.name in {alias.alias for alias in old.aliases}:
            return
        row = {
            "project_id": self._session.project_id,
            "entity_id": keep.entity.entity_id,
            "alias": old.name,
            "alias_key": name_key(old.name),
            "first_chapter": old.first_chapter if old.name_first_chapter is None else old.name_first_chapter,
            "first_scene": old.first_scene if old.name_first_chapter is None else old.name_first_scene,
            "by_author": gone.origin == "author",
        }
        self._session.insert(ALIASES, [row])

    def _relink_profiles(self, old_id: str, new_id: str) -> None:
        statement = select(ENTITIES.c.entity_id, ENTITIES.c.profile).where(self._session.owns(ENTITIES))
        for row in self._session.rows(statement):
            profile = replaced_id(row.profile, old_id, new_id)
            if profile != row.profile:
                self._session.run(
                    ENTITIES.update().where(*_is(self._session.project_id, row.entity_id)).values(profile=profile)
                )

    def _stored(self, entity_id: str) -> StoredEntity:
        stored = EntityRepository(self._session).get(entity_id)
        if stored is None:
            raise UnknownEntityError(f"no entity {entity_id!r} is stored; list them to find its id")
        return stored


def require_mergeable(keep: Entity, gone: Entity) -> None:
    """Refuse to make an entity part of itself, or of one of another type."""
    if keep.entity_id == gone.entity_id:
        raise UserInputError(f"{keep.entity_id!r} cannot be merged with itself; give two entities")
    if keep.entity_type != gone.entity_type:
        raise UserInputError(
            f"{keep.entity_id!r} is of type {keep.entity_type}, {gone.entity_id!r} of type {gone.entity_type};"
            " only entities of one type can be merged"
        )


def _moved_names(entity: Entity, names: Sequence[str]) -> list[str]:
    if entity.name in names:
        raise UserInputError(
            f"{entity.name!r} is the display name of {entity.entity_id!r} and stays with it; split off the others"
        )
    return [name for name in dict.fromkeys(names) if name in entity.names()]


def _merged(keep: StoredEntity, gone: StoredEntity) -> dict[str, Any]:
    """The card of two entities that became one, and where it was first seen."""
    author_wins = gone.origin == "author" and keep.origin != "author"
    first, second = (gone, keep) if author_wins else (keep, gone)
    made = [each.created_at for each in (keep, gone) if each.created_at is not None]
    values: dict[str, Any] = {"origin": first.origin, "created_at": min(made, default=None)}
    if (first.origin == "author") == (second.origin == "author"):
        values |= {
            name: getattr(first.entity, name) or getattr(second.entity, name) for name in ("role", "description")
        }
        values["profile"] = {**second.entity.profile, **first.entity.profile}
    else:
        values |= first.entity.model_dump(include={"role", "description", "profile"})
    return values | _first_appearance(keep.entity, gone.entity)


def _first_appearance(keep: Entity, gone: Entity) -> dict[str, int | None]:
    """The earlier of two explicit places; where one has none, the mentions of both decide."""
    places = [(each.first_chapter, each.first_scene) for each in (keep, gone)]
    if any(chapter is None for chapter, _ in places):
        return {"first_chapter": None, "first_scene": None}
    chapter, scene = min(places, key=lambda place: sort_key(*place))
    return {"first_chapter": chapter, "first_scene": scene}


def _is(project_id: str, entity_id: str) -> tuple[Any, Any]:
    return ENTITIES.c.project_id == project_id, ENTITIES.c.entity_id == entity_id
