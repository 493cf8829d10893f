"""Two entities that are one become one, and one that is two becomes two; both can be undone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import and_, select

from novelgen.errors import UnknownEntityError, UserInputError
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.position import sort_key
from novelgen.names.normalise import name_key
from runtime.storage.consolidations import ConsolidationRepository
from runtime.storage.entities import EntityRepository
from runtime.storage.entity_changes import EntityChange, EntityChangeJournal
from runtime.storage.entity_relinking import EntityRelinking
from runtime.storage.entity_splitting import SplitScenes, relink_mixed_scenes, split_scenes
from runtime.storage.id_replacement import replaced_id
from runtime.storage.positions import Place, scene_ids_at
from runtime.storage.records import StoredEntity
from runtime.storage.row_images import RowChange, row_changes, row_images
from runtime.storage.tables import ALIASES, ENTITIES


class EntityMergeRepository(EntityChangeJournal):
    """Merges and splits entities, re-links everything, and undoes it.

    Args:
        session: The transaction to work in.
    """

    def merge(self, project_id: str, keep_id: str, gone_id: str) -> EntityChange:
        """Make one entity part of another: all that is linked to it is linked to the other from now on.

        Its names become aliases. Card fields that the other lacks are taken over; an author's card wins over
        one that nobody wrote. Relationships between the two are dropped.

        Args:
            project_id: The project.
            keep_id: Who stays.
            gone_id: Who becomes part of it; must be of the same type.

        Raises:
            UnknownProjectError: When no project of that id is stored.
            UnknownEntityError: When one of them is not stored.
            UserInputError: When both are one, or of different types.
        """
        self._session.touch(project_id)
        keep, gone = self._stored(project_id, keep_id), self._stored(project_id, gone_id)
        _require_mergeable(keep.entity, gone.entity)
        ConsolidationRepository(self._session).withdraw_linked(project_id, [keep_id, gone_id])
        with self._imaged(project_id) as changes:
            self._take_names(project_id, keep, gone)
            EntityRelinking(
                self._session, project_id, gone_id, keep_id, new_type=keep.entity.entity_type
            ).run()
            self._session.run(ENTITIES.delete().where(*_is(project_id, gone_id)))
            self._session.run(
                ENTITIES.update().where(*_is(project_id, keep_id)).values(**_merged(keep, gone))
            )
            self._relink_profiles(project_id, gone_id, keep_id)
        return self.keep(project_id, "merge", keep_id, gone_id, changes)

    def split(
        self,
        project_id: str,
        entity_id: str,
        *,
        name: str,
        aliases: Sequence[str] = (),
        scenes: Sequence[Place] = (),
    ) -> EntityChange:
        """Take a new entity out of one: names that are its own, and what happened under them.

        Everything moves in the scenes that are listed, and in those that name the entity only by the moved
        names. In scenes that name both, the new one is added, and a memory goes to whom its text names.
        What has no scene stays.

        Args:
            project_id: The project.
            entity_id: Whom to split.
            name: Display name of the new entity.
            aliases: More names of the new entity.
            scenes: (chapter, scene) of scenes that are only about the new one.

        Raises:
            UnknownProjectError: When no project of that id is stored.
            UnknownEntityError: When the entity is not stored.
            UserInputError: When neither a known name nor a scene is to move, or the display name would.
        """
        self._session.touch(project_id)
        stored = self._stored(project_id, entity_id)
        moved = _moved_names(stored.entity, [name, *aliases])
        listed = scene_ids_at(self._session, project_id, scenes)
        if not moved and not listed:
            raise UserInputError(
                f"neither a name of {entity_id!r} nor a scene is to be split off; give an alias or a scene"
            )
        new_id = EntityRepository(self._session).next_id(project_id, stored.entity.entity_type)
        ConsolidationRepository(self._session).withdraw_linked(project_id, [entity_id])
        parts = split_scenes(self._session, project_id, entity_id, moved, set(listed.values()))
        with self._imaged(project_id) as changes:
            self._insert_split_off(project_id, stored, new_id, [name, *aliases], moved)
            self._relink_split(project_id, stored.entity, new_id, moved, parts)
        return self.keep(project_id, "split", entity_id, new_id, changes)

    def _relink_split(
        self, project_id: str, entity: Entity, new_id: str, moved: Sequence[str], parts: SplitScenes
    ) -> None:
        EntityRelinking(
            self._session,
            project_id,
            entity.entity_id,
            new_id,
            new_type=entity.entity_type,
            scene_ids=parts.whole,
        ).run()
        staying = [each for each in entity.names() if each not in moved]
        relink_mixed_scenes(
            self._session, project_id, entity.entity_id, new_id, parts.mixed, moved=moved, staying=staying
        )

    def _insert_split_off(
        self, project_id: str, stored: StoredEntity, new_id: str, names: Sequence[str], moved: Sequence[str]
    ) -> None:
        entity = stored.entity
        known = {alias.alias: alias for alias in entity.aliases}
        first = known.get(names[0])
        new = Entity(
            entity_id=new_id,
            entity_type=entity.entity_type,
            name=names[0],
            aliases=[
                known.get(each, EntityAlias(alias=each))
                for each in dict.fromkeys(names[1:])
                if each != names[0]
            ],
            name_first_chapter=first.first_chapter if first else None,
            name_first_scene=first.first_scene if first else None,
        )
        mine = and_(ALIASES.c.project_id == project_id, ALIASES.c.entity_id == entity.entity_id)
        self._session.run(ALIASES.delete().where(mine, ALIASES.c.alias.in_(list(moved))))
        EntityRepository(self._session).upsert(project_id, new, origin=stored.origin)

    def _take_names(self, project_id: str, keep: StoredEntity, gone: StoredEntity) -> None:
        taken = set(keep.entity.names())
        mine = and_(ALIASES.c.project_id == project_id, ALIASES.c.entity_id == gone.entity.entity_id)
        self._session.run(ALIASES.delete().where(mine, ALIASES.c.alias.in_(sorted(taken))))
        self._session.run(ALIASES.update().where(mine).values(entity_id=keep.entity.entity_id))
        old = gone.entity
        if old.name in taken or old.name in {alias.alias for alias in old.aliases}:
            return
        row = {
            "project_id": project_id,
            "entity_id": keep.entity.entity_id,
            "alias": old.name,
            "alias_key": name_key(old.name),
            "first_chapter": old.first_chapter if old.name_first_chapter is None else old.name_first_chapter,
            "first_scene": old.first_scene if old.name_first_chapter is None else old.name_first_scene,
            "by_author": gone.origin == "author",
        }
        self._session.insert(ALIASES, [row])

    def _relink_profiles(self, project_id: str, old_id: str, new_id: str) -> None:
        statement = select(ENTITIES.c.entity_id, ENTITIES.c.profile).where(
            ENTITIES.c.project_id == project_id
        )
        for row in self._session.rows(statement):
            profile = replaced_id(row.profile, old_id, new_id)
            if profile != row.profile:
                self._session.run(
                    ENTITIES.update().where(*_is(project_id, row.entity_id)).values(profile=profile)
                )

    def _stored(self, project_id: str, entity_id: str) -> StoredEntity:
        stored = EntityRepository(self._session).get(project_id, entity_id)
        if stored is None:
            raise UnknownEntityError(f"no entity {entity_id!r} is stored; list them to find its id")
        return stored

    @contextmanager
    def _imaged(self, project_id: str) -> Iterator[list[RowChange]]:
        """Give a list that holds what the block changed once the block has ended."""
        changes: list[RowChange] = []
        before = row_images(self._session, project_id)
        yield changes
        changes += row_changes(before, row_images(self._session, project_id))


def _require_mergeable(keep: Entity, gone: Entity) -> None:
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
    values: dict[str, Any] = {"origin": first.origin}
    if (first.origin == "author") == (second.origin == "author"):
        values |= {
            name: getattr(first.entity, name) or getattr(second.entity, name)
            for name in ("role", "description")
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
