"""Entities and their names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import BigInteger, cast, func, select

from novelgen.models.entity import Entity, EntityAlias, EntityType
from novelgen.models.position import StoryPosition, packed_place, unpacked_place
from novelgen.names.normalise import name_key
from runtime.storage.counters import CounterRepository
from runtime.storage.names_as_of import entity_as_of
from runtime.storage.records import EntityOrigin, StoredEntity
from runtime.storage.session import AnyRow, StorageSession, own_rows
from runtime.storage.tables import ALIASES, ENTITIES, MENTIONS


class EntityRepository:
    """Writes entities, and reads them whole or as of a position.

    Args:
        session: The transaction to work in.
    """

    def __init__(self, session: StorageSession) -> None:
        self._session = session

    def next_id(self, project_id: str, entity_type: EntityType) -> str:
        """Return an id that no entity has yet: C0, L0, I0, F0, T0 and on."""
        return CounterRepository(self._session).take_for(project_id, entity_type)

    def upsert(self, project_id: str, entity: Entity, *, origin: EntityOrigin = "author") -> None:
        """Store an entity, over what was stored under its id.

        What an author wrote outranks the rest: over an author's entity, another origin only adds aliases.
        An author's aliases stay when another origin does not list them.

        Args:
            project_id: The project.
            entity: The entity; counters go on after its id.
            origin: Who says so.

        Raises:
            UnknownProjectError: When no project of that id is stored.
        """
        self._session.touch(project_id)
        stored = self.get(project_id, entity.entity_id)
        if stored is None:
            self._session.insert(ENTITIES, [_entity_values(project_id, entity, origin)])
        elif stored.origin != "author" or origin == "author":
            self._session.run(
                ENTITIES.update()
                .where(*_is(project_id, entity.entity_id))
                .values(**_entity_values(project_id, entity, origin))
            )
        adds_only = stored is not None and stored.origin == "author" and origin != "author"
        self._write_aliases(project_id, entity, by_author=origin == "author", adds_only=adds_only)
        CounterRepository(self._session).jump_over(project_id, [entity.entity_id])

    def get(self, project_id: str, entity_id: str) -> StoredEntity | None:
        """Return an entity whole, or None when there is none of that id."""
        return next(iter(self._stored(project_id, [entity_id])), None)

    def list_all(self, project_id: str, *, entity_types: Sequence[EntityType] = ()) -> list[StoredEntity]:
        """Return all entities whole, in order of id (C2 before C10); for authors, never for prompts."""
        stored = self._stored(project_id)
        return [one for one in stored if not entity_types or one.entity.entity_type in entity_types]

    def list_as_of(self, project_id: str, *, as_of: StoryPosition) -> list[Entity]:
        """Return the entities as the story had shown them before a position, in order of id.

        See `names_as_of.entity_as_of` for what is shown.
        """
        mentions = self.first_mentions(project_id)
        author_aliases = self.author_aliases(project_id)
        shown = [
            entity_as_of(stored, mentions, frozenset(author_aliases.get(stored.entity.entity_id, ())), as_of)
            for stored in self._stored(project_id)
        ]
        return [entity for entity in shown if entity is not None]

    def all_names(self, project_id: str) -> list[tuple[str, str]]:
        """Return (entity_id, name) of every name and alias, for scanning texts."""
        return [
            (one.entity.entity_id, name) for one in self._stored(project_id) for name in one.entity.names()
        ]

    def first_mentions(self, project_id: str) -> dict[tuple[str, str], tuple[int, int]]:
        """Return for each (entity_id, name) the first stored scene whose text holds it."""
        place = packed_place(cast(MENTIONS.c.chapter_index, BigInteger), MENTIONS.c.scene_index)
        statement = (
            select(MENTIONS.c.entity_id, MENTIONS.c.name, func.min(place))
            .where(MENTIONS.c.project_id == project_id)
            .group_by(MENTIONS.c.entity_id, MENTIONS.c.name)
        )
        return {(row[0], row[1]): unpacked_place(row[2]) for row in self._session.rows(statement)}

    def author_aliases(self, project_id: str) -> dict[str, set[str]]:
        """Return for each entity that has any the aliases that an author wrote."""
        statement = select(ALIASES.c.entity_id, ALIASES.c.alias).where(
            ALIASES.c.project_id == project_id, ALIASES.c.by_author
        )
        found: dict[str, set[str]] = defaultdict(set)
        for row in self._session.rows(statement):
            found[row.entity_id].add(row.alias)
        return found

    def _stored(self, project_id: str, entity_ids: Iterable[str] | None = None) -> list[StoredEntity]:
        statement = select(ENTITIES).where(ENTITIES.c.project_id == project_id)
        names = select(ALIASES).where(ALIASES.c.project_id == project_id).order_by(ALIASES.c.row_id)
        if entity_ids is not None:
            listed = list(entity_ids)
            statement = statement.where(ENTITIES.c.entity_id.in_(listed))
            names = names.where(ALIASES.c.entity_id.in_(listed))
        aliases: dict[str, list[EntityAlias]] = defaultdict(list)
        for row in own_rows(self._session.rows(names), project_id):
            aliases[row.entity_id].append(EntityAlias.model_validate(row, from_attributes=True))
        rows = own_rows(self._session.rows(statement), project_id)
        stored = [_stored_entity(row, aliases[row.entity_id]) for row in rows]
        return sorted(stored, key=lambda one: (len(one.entity.entity_id), one.entity.entity_id))

    def _write_aliases(self, project_id: str, entity: Entity, *, by_author: bool, adds_only: bool) -> None:
        old = ALIASES.delete().where(
            ALIASES.c.project_id == project_id, ALIASES.c.entity_id == entity.entity_id
        )
        if by_author:
            self._session.run(old)
        elif not adds_only:
            self._session.run(old.where(ALIASES.c.by_author.is_(False)))
        rows = [
            alias.model_dump()
            | {
                "project_id": project_id,
                "entity_id": entity.entity_id,
                "alias_key": name_key(alias.alias),
                "by_author": by_author,
            }
            for alias in {alias.alias: alias for alias in entity.aliases}.values()
        ]
        if rows:
            self._session.run(
                self._session.upsert(ALIASES).on_conflict_do_nothing(
                    index_elements=["project_id", "entity_id", "alias"]
                ),
                rows,
            )


def _is(project_id: str, entity_id: str) -> tuple[Any, Any]:
    return ENTITIES.c.project_id == project_id, ENTITIES.c.entity_id == entity_id


def _entity_values(project_id: str, entity: Entity, origin: EntityOrigin) -> dict[str, Any]:
    return entity.model_dump(exclude={"aliases"}) | {
        "project_id": project_id,
        "name_key": name_key(entity.name),
        "origin": origin,
    }


def _stored_entity(row: AnyRow, aliases: list[EntityAlias]) -> StoredEntity:
    entity = Entity.model_validate(
        {name: getattr(row, name) for name in Entity.model_fields if name != "aliases"} | {"aliases": aliases}
    )
    return StoredEntity(entity=entity, origin=row.origin)
