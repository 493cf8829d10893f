"""Merging, splitting, deleting and renaming, kept so that all of it can be undone."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import true
from sqlmodel import col, or_

from novelgen.errors import UnknownIdError, UserInputError
from novelgen.language.normalise import name_key
from novelgen.models.dated_values import with_values_from
from novelgen.models.entity import (
    ALIAS_TRANSLATIONS,
    DATED,
    TRANSLATION,
    Entity,
    EntityAlias,
    RevealedIdentity,
    profile_with_names,
    revealed_identity,
    translated_under,
)
from novelgen.models.position import StoryPosition, sort_key
from runtime.storage.change import Change, RowChange
from runtime.storage.chunks import ConsolidationRepository
from runtime.storage.entities import EntityRepository, FirstMentions, first_appearance, stored_profile
from runtime.storage.journal import GOING_WITH, Deletion, Journal
from runtime.storage.models import StoredEntity
from runtime.storage.outline import scene_hashes, source_hash
from runtime.storage.records import (
    AliasRow,
    CharacterMemoryRow,
    EntityRow,
    LoopEvent,
    MemoryRow,
    NameMention,
    Pair,
    RelationshipChange,
    Row,
    Scene,
    State,
    Summary,
)
from runtime.storage.references import Relinking, forget, forget_in_records, forget_pair, relink_mixed
from runtime.storage.session import Place, Repository, columns_of, grouped, scene_ids_at, table_name


class EntityMergeRepository(Journal):
    """Merges and splits entities, re-links everything, and undoes it."""

    def merge(self, keep_id: str, gone_id: str) -> Change:
        """Make one entity part of another: all that is linked to it is linked to the other from now on.

        Its names become aliases. Card fields that the other lacks are taken over; an author's card wins over
        one that nobody wrote. Relationships between the two are dropped.
        """
        self._session.touch()
        entities = EntityRepository(self._session)
        keep, entity = entities.require(keep_id), entities.require(gone_id)
        require_mergeable(keep.entity, entity.entity)
        ConsolidationRepository(self._session).withdraw_linked([keep_id, gone_id])
        mentions = entities.first_mentions()
        with self.recording() as changes:
            early, late = self._in_order_of_appearance(keep, entity, mentions)
            self._take_names(keep, entity)
            relinking = Relinking(self._session, gone_id, keep_id, keep.entity.entity_type)
            relinking.run()
            self._session.delete(EntityRow, EntityRow.entity_id == gone_id)
            # The card of two entities that became one, and where it was first seen.
            author_wins = entity.origin == "author" and keep.origin != "author"
            first, second = (entity, keep) if author_wins else (keep, entity)
            made_datetimes = [entity.created_at for entity in (keep, entity) if entity.created_at is not None]
            values: dict[str, Any] = {"origin": first.origin, "created_at": min(made_datetimes, default=None)}
            if (first.origin == "author") == (second.origin == "author"):
                values |= {
                    name: getattr(first.entity, name) or getattr(second.entity, name)
                    for name in ("role", "description")
                }
                values["profile"] = {**second.entity.profile, **first.entity.profile}
            else:
                values |= first.entity.model_dump(include={"role", "description", "profile"})
            values["profile"] = _with_translations(values["profile"], keep, entity, first)
            if late is not None and first.origin == "author":
                values |= _dated_from(late, early, first, values, mentions)
            place = _first_appearance(keep.entity, entity.entity)
            said_from = place.pop("said_from")
            merged_entity = keep.entity.model_copy(
                update={"profile": values["profile"], "said_from": said_from, **place}
            )
            values |= place | {"profile": stored_profile(merged_entity), "updated_at": self._session.now()}
            self._session.update(EntityRow, EntityRow.entity_id == keep_id, **values)
            relinking.relink_profiles()
        return self.keep("merge", keep_id, gone_id, changes)

    def unmask(self, shown_id: str, mask_id: str, *, at: StoryPosition, by_author: bool = False) -> Change:
        """Reveal in a scene that two entities are one.

        Nothing is linked anew. On entering the next scene the mask is listed no more, and its names are those of
        the one who was behind it; before that, neither tells of the other. What its author says all know.
        """
        self._session.touch()
        entities = EntityRepository(self._session)
        shown_entity, mask = entities.require(shown_id), entities.require(mask_id)
        require_mergeable(shown_entity.entity, mask.entity)
        for card in (shown_entity.entity, mask.entity):
            known_identity = revealed_identity(card)
            if known_identity is not None:
                raise UserInputError(
                    f"{card.entity_id!r} is known to be {known_identity.entity_id!r} already; merge with that one, or "
                    "undo that first"
                )
        identity = RevealedIdentity(
            entity_id=shown_id, chapter_index=at.chapter_index, scene_index=at.scene_index, by_author=by_author
        )
        place = sort_key(at.chapter_index, at.scene_index)
        known_names = shown_entity.entity.names()
        # A name that the mask gets later, of a mask of its own, is told no sooner.
        places = {
            alias.alias: max(place, sort_key(alias.first_chapter, alias.first_scene)) for alias in mask.entity.aliases
        }
        rows = [
            _alias_row(shown_id, name, *places.get(name, place))
            for name in mask.entity.names()
            if name not in known_names
        ]
        with self.recording() as changes:
            self._session.insert(AliasRow, rows)
            entities.reveal(mask_id, identity)
        return self.keep("merge", shown_id, mask_id, changes)

    def split(self, entity_id: str, *, name: str, aliases: Sequence[str] = (), scenes: Sequence[Place] = ()) -> Change:
        """Split a new entity off, with its own names and events.

        Everything moves in the scenes that are listed, and in those that name the entity only by the moved
        names. In scenes that name both, the new one is added, and a memory goes to whom its text names.
        What has no scene stays.
        """
        self._session.touch()
        entities = EntityRepository(self._session)
        stored_entity = entities.require(entity_id)
        entity, names = stored_entity.entity, list(dict.fromkeys([name, *aliases]))
        if entity.name in names:
            raise UserInputError(
                f"{entity.name!r} is the display name of {entity.entity_id!r} and stays with it; split off the others"
            )
        moved_names = [name for name in names if name in entity.names()]
        scene_ids_by_place = scene_ids_at(self._session, scenes)
        if not moved_names and not scene_ids_by_place:
            raise UserInputError(
                f"neither a name of {entity_id!r} nor a scene is to be split off; give an alias or a scene"
            )
        new_id = entities.next_id(entity.entity_type)
        ConsolidationRepository(self._session).withdraw_linked([entity_id])
        mentions = self._session.select(
            [col(NameMention.scene_id), col(NameMention.name)], NameMention.entity_id == entity_id
        )
        names_by_scene = {item: {row.name for row in rows} for item, rows in grouped(mentions, "scene_id").items()}
        whole = {item for item, names in names_by_scene.items() if names <= set(moved_names)} | set(
            scene_ids_by_place.values()
        )
        mixed = {item for item, names in names_by_scene.items() if names & set(moved_names)} - whole
        staying = [name for name in entity.names() if name not in moved_names]
        known_aliases_by_id = {alias.alias: alias for alias in entity.aliases}
        first = known_aliases_by_id.get(name)
        new = Entity(
            entity_id=new_id,
            entity_type=entity.entity_type,
            name=name,
            aliases=[known_aliases_by_id.get(entity_id, EntityAlias(alias=entity_id)) for entity_id in names[1:]],
            name_first_chapter=first.first_chapter if first else None,
            name_first_scene=first.first_scene if first else None,
            profile=_translations(entity, name, names),
        )
        with self.recording() as changes:
            self._session.delete(AliasRow, AliasRow.entity_id == entity_id, col(AliasRow.alias).in_(moved_names))
            entities.upsert(new, origin=stored_entity.origin)
            Relinking(self._session, entity_id, new_id, entity.entity_type, scene_ids=whole).run()
            relink_mixed(self._session, entity_id, new_id, moved_ids=moved_names, staying=staying, scene_ids=mixed)
        return self.keep("split", entity_id, new_id, changes)

    def _in_order_of_appearance(
        self, keep: StoredEntity, entity: StoredEntity, mentions: FirstMentions
    ) -> tuple[StoredEntity, StoredEntity | None]:
        """Return who of two appears first, and the other where it appears later: its names then count from there."""
        early, late = sorted((keep, entity), key=lambda one: sort_key(*first_appearance(one.entity, mentions)))
        place = first_appearance(late.entity, mentions)
        if place == first_appearance(early.entity, mentions):
            return early, None
        values = {"first_chapter": place.chapter_index, "first_scene": place.scene_index}
        of_late = AliasRow.entity_id == late.entity.entity_id
        for alias in late.entity.aliases:
            if alias.first_chapter is None and (late.entity.entity_id, alias.alias) not in mentions:
                self._session.update(AliasRow, of_late, AliasRow.alias == alias.alias, **values)
        own_name = (late.entity.entity_id, late.entity.name)
        if late is keep and late.entity.name_first_chapter is None and own_name not in mentions:
            name_place = {f"name_{field}": value for field, value in values.items()}
            self._session.update(EntityRow, EntityRow.entity_id == late.entity.entity_id, **name_place)
        return early, late

    def _take_names(self, keep: StoredEntity, entity: StoredEntity) -> None:
        taken_names, old = keep.entity.names(), entity.entity
        mine = AliasRow.entity_id == old.entity_id
        self._session.delete(AliasRow, mine, col(AliasRow.alias).in_(taken_names))
        self._session.update(AliasRow, mine, entity_id=keep.entity.entity_id)
        if old.name in taken_names or old.name in {alias.alias for alias in old.aliases}:
            return
        place = (old.name_first_chapter, old.name_first_scene)
        if old.name_first_chapter is None:
            place = (old.first_chapter, old.first_scene)
        row = _alias_row(keep.entity.entity_id, old.name, *place)
        self._session.insert(AliasRow, [row | {"by_author": entity.origin == "author"}])


def _alias_row(entity_id: str, name: str, chapter: int | None, scene: int | None) -> dict[str, Any]:
    place = {"first_chapter": chapter, "first_scene": scene}
    return {"entity_id": entity_id, "alias": name, "alias_key": name_key(name), "by_author": False, **place}


def require_mergeable(keep: Entity, removed: Entity) -> None:
    """Refuse to make an entity part of itself, or of one of another type."""
    if keep.entity_id == removed.entity_id:
        raise UserInputError(f"{keep.entity_id!r} cannot be merged with itself; give two entities")
    if keep.entity_type != removed.entity_type:
        raise UserInputError(
            f"{keep.entity_id!r} is of type {keep.entity_type}, {removed.entity_id!r} of type {removed.entity_type};"
            " only entities of one type can be merged"
        )


def _translations(entity: Entity, name: str, names: Sequence[str]) -> dict[str, Any]:
    """Return a profile that translates some names of an entity, of which one is to be the display name."""
    renamed = entity.model_copy(update={"name": name, "profile": translated_under(entity, name)})
    return profile_with_names(renamed, names, is_told=False)


def _with_translations(
    profile: Mapping[str, Any], keep: StoredEntity, entity: StoredEntity, first: StoredEntity
) -> dict[str, Any]:
    """Return the profile of two cards that became one: each name keeps its translation, and the first its dates."""
    fields = (TRANSLATION, ALIAS_TRANSLATIONS, DATED)
    kept_names = keep.entity.names()
    own = profile_with_names(keep.entity, kept_names, is_told=first is keep)
    come = _translations(
        entity.entity, keep.entity.name, [name for name in entity.entity.names() if name not in kept_names]
    )
    dated_entries = [
        item for item in first.entity.profile.get(DATED, ()) if first is entity and item["field"] not in fields
    ]
    translations_by_alias = {
        TRANSLATION: own.get(TRANSLATION),
        ALIAS_TRANSLATIONS: {**come.get(ALIAS_TRANSLATIONS, {}), **own.get(ALIAS_TRANSLATIONS, {})},
        DATED: [*own.get(DATED, ()), *come.get(DATED, ()), *dated_entries],
    }
    rest = {name: value for name, value in profile.items() if name not in fields}
    return rest | {name: value for name, value in translations_by_alias.items() if value}


def _dated_from(
    late: StoredEntity, early: StoredEntity, first: StoredEntity, values: Mapping[str, Any], mentions: FirstMentions
) -> dict[str, Any]:
    """Return the role, description and profile of two cards that became one, those of the later one dated."""
    chapter, scene = first_appearance(late.entity, mentions)
    if chapter is None:
        return {}
    begins = late.entity.said_from or ((chapter, scene + 1) if scene is not None else (chapter + 1, 1))
    whole = early.entity.model_copy(update={name: values[name] for name in ("role", "description", "profile")})
    translations = {
        name: value for name, value in whole.profile.items() if name in (TRANSLATION, ALIAS_TRANSLATIONS, DATED)
    }
    is_told = early.origin == first.origin
    before = whole.model_copy(
        update={
            "role": early.entity.role if is_told else "",
            "description": early.entity.description if is_told else "",
            "profile": {**(early.entity.profile if is_told else {}), **translations},
        }
    )
    card = with_values_from(before, before, whole, start=begins)
    return card.model_dump(include={"role", "description", "profile"})


def _first_appearance(keep: Entity, entity: Entity) -> dict[str, Any]:
    """The earlier of two author's places, or the first mention of both."""
    if keep.first_chapter is None or entity.first_chapter is None:
        return {"first_chapter": None, "first_scene": None, "said_from": None}
    first = min(
        keep,
        entity,
        key=lambda other_entity: (
            sort_key(other_entity.first_chapter, other_entity.first_scene),
            other_entity.said_from is None,
        ),
    )
    return {name: getattr(first, name) for name in ("first_chapter", "first_scene", "said_from")}


class DeletionRepository(Journal):
    """Deletes entities, relationships and threads, undone by `Journal.undo`."""

    def delete_entity(self, entity_id: str) -> Deletion:
        """Delete an entity with its names, states, relationships and own memory.

        All else that refers to it stays, and so do others' memories of what they lived through with it.
        """
        self._session.touch()
        stored_entity = EntityRepository(self._session).require(entity_id)
        ConsolidationRepository(self._session).withdraw_linked([entity_id])
        with self.recording(deleted_id=entity_id) as changes:
            self._session.delete(NameMention, NameMention.entity_id == entity_id)
            self._session.delete(State, State.entity_id == entity_id)
            self._session.delete(Pair, or_(Pair.character_a == entity_id, Pair.character_b == entity_id))
            for table, going in GOING_WITH.items():
                self._session.delete(table, going(entity_id))
            self._session.delete(EntityRow, EntityRow.entity_id == entity_id)
            forget(self._session, entity_id)
        return self._deletion(entity_id, stored_entity.entity.name, changes)

    def delete_relationship(self, relationship_id: str) -> Deletion:
        """Delete a relationship with its history, keeping both characters."""
        self._session.touch()
        pair = self._session.first(Pair, Pair.relationship_id == relationship_id)
        if pair is None:
            raise UserInputError(f"no relationship {relationship_id!r} is stored; list them to find its id")
        with self.recording() as changes:
            forget_pair(self._session, {pair.character_a, pair.character_b})
            self._session.delete(Pair, Pair.relationship_id == relationship_id)
        return self._deletion(relationship_id, f"{pair.character_a} {pair.character_b}", changes)

    def delete_thread(self, loop_id: str) -> Deletion:
        """Delete a thread with its history."""
        self._session.touch()
        details = self._session.values(LoopEvent.detail, LoopEvent.loop_id == loop_id)
        if not details:
            raise UnknownIdError(f"no thread {loop_id!r} is stored; list them to find its id")
        with self.recording() as changes:
            forget_in_records(self._session, loop_id)
            self._session.delete(LoopEvent, LoopEvent.loop_id == loop_id)
        described = next((str(detail["description"]) for detail in details if detail.get("description")), loop_id)
        return self._deletion(loop_id, described, changes)

    def _deletion(self, gone_id: str, name: str, changes: Sequence[RowChange]) -> Deletion:
        def touched(table: type[Row], column: str, *, is_gone: bool) -> list[str]:
            row_changes = (row_change for row_change in changes if row_change.table == table_name(table))
            named_ids = (
                str(row_change.image[column]) for row_change in row_changes if (row_change.after is None) == is_gone
            )
            return [name for name in dict.fromkeys(named_ids) if name != gone_id]

        scenes = self._session.among(Scene.scene_id, touched(Scene, "scene_id", is_gone=False))
        in_order = [col(Scene.chapter_index), col(Scene.scene_index)]
        others = touched(EntityRow, "entity_id", is_gone=False) + touched(State, "entity_id", is_gone=False)
        return Deletion(
            change=self.keep("delete", gone_id, name, changes),
            unlinked_memories=touched(MemoryRow, "chunk_id", is_gone=False),
            removed_relationships=touched(Pair, "relationship_id", is_gone=True),
            changed_threads=touched(LoopEvent, "loop_id", is_gone=False),
            changed_scenes=self._session.values(Scene.label, scenes, order=in_order),
            changed_entities=list(dict.fromkeys(others)),
            removed_character_memories=touched(CharacterMemoryRow, "memory_id", is_gone=True),
            changed_character_memories=touched(CharacterMemoryRow, "memory_id", is_gone=False),
        )


Words = Callable[[str], str]
"""Says a text in other words."""


class _Written(NamedTuple):
    """A table with text columns: its key, columns and underived rows."""

    table: type[Row]
    key: str
    columns: tuple[str, ...]
    own: Any = None


_TEXT_TABLES = (
    _Written(EntityRow, "entity_id", ("role", "description", "profile")),
    _Written(
        MemoryRow,
        "chunk_id",
        ("content", "short"),
        or_(
            ~col(MemoryRow.from_scene),
            MemoryRow.origin == "author",
            col(MemoryRow.pinned),
            MemoryRow.status != "active",
        )
        & ~col(MemoryRow.is_consolidated)
        & (MemoryRow.content_type != "scene"),
    ),
    _Written(State, "row_id", ("value",), State.origin == "author"),
    _Written(LoopEvent, "row_id", ("note", "detail"), LoopEvent.origin == "author"),
    _Written(
        RelationshipChange,
        "row_id",
        ("relationship_type", "status", "perspective_a", "perspective_b", "event"),
        RelationshipChange.origin == "author",
    ),
    _Written(Summary, "row_id", ("text",)),
    _Written(CharacterMemoryRow, "memory_id", ("content", "short")),
)
"""What scenes bring by their records is derived anew from these, and passages from the text."""


class WordRepository(Repository):
    """Reads all that was written by hand, and says it in other words."""

    def changes(self, words: Words) -> list[RowChange]:
        """Return the changes of a rewording, without writing."""
        changes = []
        for table, key, names, own in _TEXT_TABLES:
            columns = columns_of(table, (key, *names, *(["origin"] if table is MemoryRow else [])))
            for row in self._session.select(columns, true() if own is None else own):
                old = {name: getattr(row, name) for name in names}
                stated_fields = {name: reworded(value, words) for name, value in old.items()}
                new = {name: value for name, value in stated_fields.items() if value != old[name]}
                if new and table is MemoryRow:
                    # What the record says of it still says the old words: it is the author's from now on.
                    old, new = {**old, "origin": row.origin}, {**new, "origin": "author"}
                if new:
                    before = {name: old[name] for name in new}
                    changes.append(RowChange(table=table_name(table), key={key: row[0]}, before=before, after=new))
        return changes

    def memories_by_hand(self) -> set[str]:
        """Return the source ids of those memories of scenes that an author touched: no record tells them any more."""
        touched_condition = or_(MemoryRow.origin == "author", col(MemoryRow.pinned), MemoryRow.status != "active")
        rows = self._session.select([col(MemoryRow.source_id)], col(MemoryRow.from_scene), touched_condition)
        return {row.source_id for row in rows if row.source_id}

    def current_summaries(self) -> list[int]:
        """Return the numbers of the rows of written summaries that are as new as their scenes."""
        hashes = scene_hashes(self._session)
        return [
            row.row_id or 0
            for row in self._session.read(Summary)
            if row.source_hash == source_hash(hashes, row.first_chapter, row.last_chapter)
        ]

    def keep_current(self, row_ids: list[int]) -> list[RowChange]:
        """Keep summaries current through a rewording, and return the changes."""
        hashes = scene_hashes(self._session)
        changes = []
        for row in self._session.read(Summary, col(Summary.row_id).in_(row_ids)):
            now = source_hash(hashes, row.first_chapter, row.last_chapter)
            before, after = {"source_hash": row.source_hash}, {"source_hash": now}
            if before != after:
                self._session.update(Summary, Summary.row_id == row.row_id, **after)
                changes.append(
                    RowChange(table=table_name(Summary), key={"row_id": row.row_id}, before=before, after=after)
                )
        return changes


def reworded(value: Any, words: Words) -> Any:
    """Return JSON with reworded texts and unchanged field names."""
    if isinstance(value, str):
        return words(value)
    if isinstance(value, list):
        return [reworded(item, words) for item in value]
    if isinstance(value, Mapping):
        return {name: (_reworded_dated if name == DATED else reworded)(item, words) for name, item in value.items()}
    return value


def _reworded_dated(values: Any, words: Words) -> Any:
    """Return dated values in other words; the alias that one translates stays."""
    if not isinstance(values, list):
        return reworded(values, words)
    return [{**value, "value": reworded(value.get("value"), words)} for value in values]
