"""Entities and their names, as known at a position."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Text, cast, distinct, func, select, true
from sqlmodel import and_, col, or_

from novelgen.errors import UnknownEntityError
from novelgen.language.normalise import name_key, visible_name
from novelgen.language.short_names import parts_of_name
from novelgen.memory.attributes import STATUS_ATTRIBUTES
from novelgen.memory.identities import TOLD_OF_THE_DEAD, Identities, identities_of
from novelgen.models.dated_values import KnownFrom, MaskCard, entity_at, undated, with_mask_cards
from novelgen.models.entity import (
    SAID_FROM,
    SAME_AS,
    Entity,
    EntityAlias,
    EntityType,
    RevealedIdentity,
    computed_names,
    profile_with_names,
    revealed_identity,
    without_computed,
)
from novelgen.models.folds import is_guessed_presence
from novelgen.models.memory import scene_target
from novelgen.models.position import END_OF_STORY, Place, StoryPosition, packed_place, story_place, unpacked_place
from runtime.storage.columns import EntityOrigin
from runtime.storage.models import MemoryFilter, StoredEntity
from runtime.storage.projects import CounterRepository
from runtime.storage.records import (
    NOTE,
    AliasRow,
    CharacterFileAlias,
    EntityRow,
    MemoryLink,
    MemoryRow,
    NameMention,
    Pair,
    RelationshipChange,
    Scene,
    State,
)
from runtime.storage.session import AnyRow, Repository, StorageSession, before, columns_of, grouped, story_order

_NO_COLUMNS = (SAID_FROM, "revealed_names", "earlier_ids")
_ENTITY_FIELDS = tuple(name for name in Entity.model_fields if name not in ("aliases", *_NO_COLUMNS))
_STORED_FIELDS = ("origin", "created_at", "updated_at")
_ENTITY_COLUMNS = columns_of(EntityRow, (*_ENTITY_FIELDS, *_STORED_FIELDS))
_ALIAS_COLUMNS = [getattr(AliasRow, name).label(f"alias_{name}") for name in (*EntityAlias.model_fields, "by_author")]
"""Fields outside the row."""

FirstMentions = Mapping[tuple[str, str], tuple[int, int]]
"""(entity_id, name) to the first scene of the stored text that holds the name, as (chapter, scene)."""


class Introduction(NamedTuple):
    """The first known place of an entity.

    None, None means the start.
    """

    chapter_index: int | None
    scene_index: int | None


def entity_as_of(stored_entity: StoredEntity, mentions: FirstMentions, as_of: StoryPosition) -> Entity | None:
    """Return an entity as the story had shown it before a position, or None when it had not.

    An entity counts from its explicit position, else from the first scene that mentions it, else always. Of
    its names only those are shown that were introduced by then; a display name that occurs later gives way to
    the earliest alias, and where there is none, to the entity's id: a name must not tell what is to come.
    Role, description and profile are shown when an author wrote them, with the values that hold by then; how a
    shown name is translated always is. After the end of the story everything is told.
    """
    entity = stored_entity.entity
    first = first_appearance(entity, mentions)
    if not as_of.admits(*first):
        return None
    own_name = Introduction(*mentions.get((entity.entity_id, entity.name), first))
    if entity.name_first_chapter is not None:
        own_name = Introduction(entity.name_first_chapter, entity.name_first_scene)
    entity = entity_at(entity, as_of)
    is_over = as_of == END_OF_STORY
    is_told = is_over or stored_entity.origin == "author"
    author_aliases = frozenset(entity.names() if is_over else stored_entity.author_aliases)
    aliases = _introduced_aliases(entity, (first, own_name), mentions, author_aliases, as_of)
    name = entity.name
    if not as_of.admits(*own_name):
        name = aliases[0].alias if aliases else entity.entity_id
    profile = profile_with_names(entity, [name, *(alias.alias for alias in aliases)], is_told=is_told)
    return Entity(
        entity_id=entity.entity_id,
        entity_type=entity.entity_type,
        name=name,
        aliases=[alias for alias in aliases if alias.alias != name],
        role=entity.role if is_told else "",
        description=entity.description if is_told else "",
        profile=profile if is_over else without_computed(profile, computed_names(entity.entity_type)),
        first_chapter=first.chapter_index,
        first_scene=first.scene_index,
        name_first_chapter=own_name.chapter_index if name == entity.name else None,
        name_first_scene=own_name.scene_index if name == entity.name else None,
        said_from=entity.said_from,
    )


def _known_from(stored: Entity, shown: Entity) -> KnownFrom:
    """Return the two places of a card."""
    chapter, scene = stored.first_chapter, stored.first_scene
    said = stored.said_from or ((-1, -1) if chapter is None else (chapter, -1 if scene is None else scene + 1))
    return said, story_place(Introduction(shown.first_chapter, shown.first_scene))


def first_appearance(entity: Entity, mentions: FirstMentions) -> Introduction:
    """Return where the story first shows an entity: its explicit position, else its first mention."""
    if entity.first_chapter is not None:
        return Introduction(entity.first_chapter, entity.first_scene)
    # A name that counts from a later scene on may stand earlier as somebody else's.
    later = {alias.alias for alias in entity.aliases if alias.first_chapter is not None}
    names = [name for name in entity.names() if name not in later]
    places = [mentions[key] for name in names if (key := (entity.entity_id, name)) in mentions]
    return Introduction(*min(places)) if places else Introduction(None, None)


def is_unmasked(entity: Entity, as_of: StoryPosition) -> bool:
    """Tell whether the story has shown before a position that an entity is somebody else."""
    revealed = revealed_identity(entity)
    return revealed is not None and as_of.admits(revealed.chapter_index, revealed.scene_index)


def _introduced_aliases(
    entity: Entity,
    introductions: tuple[Introduction, Introduction],
    mentions: FirstMentions,
    author_aliases: frozenset[str],
    as_of: StoryPosition,
) -> list[EntityAlias]:
    first, own_name = introductions
    placed_introductions: list[tuple[Introduction, EntityAlias]] = []
    for alias in entity.aliases:
        place = mentions.get((entity.entity_id, alias.alias))
        if alias.first_chapter is not None:
            introduction = Introduction(alias.first_chapter, alias.first_scene)
        elif place is not None:
            introduction = Introduction(*place)
            # Who knows Silas Pruyn knows him as Pruyn, too, wherever the text first says so.
            if story_place(own_name) < story_place(introduction) and alias.alias in parts_of_name(entity.name):
                introduction = own_name
        elif alias.alias in author_aliases:
            introduction = first
        else:
            continue
        if as_of.admits(*introduction):
            placed_introductions.append((introduction, alias))
    placed_introductions.sort(key=lambda pair: story_place(pair[0]))
    return [
        alias.model_copy(update={"first_chapter": place.chapter_index, "first_scene": place.scene_index})
        for place, alias in placed_introductions
    ]


AliasPair = tuple[str, str]
"""(entity_id, alias)."""


class CharacterFileRepository(Repository):
    """Remembers which aliases nobody but characters.json has brought."""

    def aliases(self) -> set[AliasPair]:
        """Return the aliases that nobody but characters.json has brought."""
        table = CharacterFileAlias
        return {(row.entity_id, row.alias) for row in self._session.select([col(table.entity_id), col(table.alias)])}

    def withdraw(self, *, pairs: Iterable[AliasPair]) -> list[AliasPair]:
        """Withdraw facts of an earlier characters.json."""
        withdrawn_pairs = sorted(self.aliases() - set(pairs))
        if withdrawn_pairs:
            self._session.touch()
            self._delete(withdrawn_pairs, AliasRow, CharacterFileAlias)
        return withdrawn_pairs

    def note(self, pairs: Iterable[AliasPair]) -> None:
        """Remember aliases of stored entities as brought by characters.json alone."""
        rows = [{"entity_id": entity_id, "alias": alias} for entity_id, alias in sorted(set(pairs))]
        self._session.insert(CharacterFileAlias, rows, unless_stored=("project_id", "entity_id", "alias"))

    def release(self, pairs: Iterable[AliasPair]) -> None:
        """Forget aliases that somebody else brings, too: they stay when characters.json drops them."""
        self._delete(sorted(set(pairs) & self.aliases()), CharacterFileAlias)

    def _delete(self, pairs: Sequence[AliasPair], *tables: type[AliasRow] | type[CharacterFileAlias]) -> None:
        for table in tables:
            for entity_id, alias in pairs:
                self._session.delete(table, table.entity_id == entity_id, table.alias == alias)


_IS_REVEALED = cast(col(EntityRow.profile), Text).contains(f'"{SAME_AS}"')
_MENTIONED_AT = packed_place(cast(col(NameMention.chapter_index), BigInteger), col(NameMention.scene_index))


class EntityRepository(Repository):
    """Writes entities, and reads them whole or as of a position."""

    def next_id(self, entity_type: EntityType) -> str:
        """Return an id that no entity has yet: C0, L0, I0, F0, T0 and on."""
        return CounterRepository(self._session).take_for(entity_type)

    def upsert(self, entity: Entity, *, origin: EntityOrigin = "author") -> None:
        """Upsert an entity by id.

        What an author wrote outranks the rest: over an author's entity, another origin only adds aliases.
        An author's aliases stay when another origin does not list them.
        """
        self._session.touch()
        entity = undated(entity)
        stored_entity = self.get(entity.entity_id)
        own_names = [] if stored_entity is None else stored_entity.entity.names()
        for name in entity.names():
            if name not in own_names:
                visible_name(name)
        now = self._session.now()
        values = entity.model_dump(exclude={"aliases", *_NO_COLUMNS}) | {
            "name_key": name_key(entity.name),
            "origin": origin,
            "profile": stored_profile(entity),
        }
        if stored_entity is None:
            self._session.add(EntityRow(**values, created_at=now, updated_at=now))
        elif stored_entity.origin != "author" or origin == "author":
            changed = {} if stored_entity.entity == entity else {"updated_at": now}
            if stored_entity.entity.entity_type != entity.entity_type:
                self._session.update(State, State.entity_id == entity.entity_id, entity_type=entity.entity_type)
            self._session.update(EntityRow, EntityRow.entity_id == entity.entity_id, **values, **changed)
        by_author = origin == "author"
        if stored_entity is not None and (stored_entity.origin != "author" or by_author):
            alias_conditions = [] if by_author else [col(AliasRow.by_author).is_(False)]
            self._session.delete(AliasRow, AliasRow.entity_id == entity.entity_id, *alias_conditions)
        rows = [
            alias.model_dump()
            | {"entity_id": entity.entity_id, "alias_key": name_key(alias.alias), "by_author": by_author}
            for alias in {alias.alias: alias for alias in entity.aliases}.values()
        ]
        self._session.insert(AliasRow, rows, unless_stored=("project_id", "entity_id", "alias"))
        CounterRepository(self._session).jump_over([entity.entity_id])

    def mark_updated(self, entity_id: str) -> None:
        """Note that something was said of an entity now that its card does not hold."""
        self._session.update(EntityRow, EntityRow.entity_id == entity_id, updated_at=self._session.now())

    def remove(self, entity_id: str) -> None:
        """Delete an entity with its names, keeping references."""
        self._session.touch()
        self._session.delete(EntityRow, EntityRow.entity_id == entity_id)

    def remove_aliases(self, entity_id: str, aliases: Sequence[str]) -> None:
        """Delete some names of an entity, ignoring absent ones."""
        self._session.touch()
        self._session.delete(AliasRow, AliasRow.entity_id == entity_id, col(AliasRow.alias).in_(list(aliases)))

    def claim_aliases(self, entity_id: str, aliases: Sequence[str]) -> None:
        """Let some of an entity's names be the author's: they stay whatever a later reading lists."""
        self._session.update(
            AliasRow, AliasRow.entity_id == entity_id, col(AliasRow.alias).in_(list(aliases)), by_author=True
        )

    def is_spoken_of(self, entity_id: str) -> bool:
        """Tell whether a state, a memory or a relationship is of an entity, be it stored itself or not.

        What was taken back does not count: a deleted memory, and a pair of which nothing is said.
        """
        session, changes = self._session, RelationshipChange
        memory_ids = select(col(MemoryRow.row_id)).where(session.owns(MemoryRow), col(MemoryRow.status) != "deleted")
        pair_condition = col(Pair.relationship_id).in_(
            select(col(changes.relationship_id)).where(session.owns(changes))
        )
        columns = (
            (col(State.entity_id), true()),
            (col(MemoryLink.entity_id), col(MemoryLink.chunk_row_id).in_(memory_ids)),
            (col(Pair.character_a), pair_condition),
            (col(Pair.character_b), pair_condition),
        )
        return any(session.value(mapped, mapped == entity_id, counts) is not None for mapped, counts in columns)

    def get(self, entity_id: str) -> StoredEntity | None:
        """Return an entity whole, or None when there is none of that id."""
        return next(iter(self._stored(EntityRow.entity_id == entity_id)), None)

    def require(self, entity_id: str) -> StoredEntity:
        """Return an entity whole."""
        stored_entity = self.get(entity_id)
        if stored_entity is None:
            raise UnknownEntityError(f"no entity {entity_id!r} is stored; list them to find its id")
        return stored_entity

    def list_all(self, *, entity_types: Sequence[EntityType] = ()) -> list[StoredEntity]:
        """Return all entities in order of id, for authors only."""
        return self._stored(*([col(EntityRow.entity_type).in_(entity_types)] if entity_types else []))

    def masks_as_of(self, as_of: StoryPosition) -> dict[str, str]:
        """Return revealed identities before a position, each chain of them followed to its end."""
        return dict(self.identities_as_of(as_of).persons)

    def identities_as_of(self, as_of: StoryPosition) -> Identities:
        """Return the identities revealed before a position."""
        return self._session.once(("identities", as_of), lambda: self._identities_as_of(as_of))

    def _identities_as_of(self, as_of: StoryPosition) -> Identities:
        revealed = {
            mask: identity
            for mask, identity in self.revealed().items()
            if as_of.admits(identity.chapter_index, identity.scene_index)
        }
        if not revealed:
            return identities_of({})
        return identities_of(
            revealed,
            {entity_id: place for entity_id, place in self._sights() if as_of.admits(*place)},
            {stored_entity.entity.entity_id: stored_entity.entity.names() for stored_entity in self._stored()},
        )

    def refuting_scenes(self, *, as_of: StoryPosition) -> dict[str, str]:
        """Return the scenes before a position that refute deaths, by the note of the death."""
        return self._session.once(("refuting_scenes", as_of), lambda: self._refuting_scenes(as_of))

    def _refuting_scenes(self, as_of: StoryPosition) -> dict[str, str]:
        identities = self.identities_as_of(as_of)
        if not identities.last_seen:
            return {}
        is_of_life = self._session.among(State.attribute, STATUS_ATTRIBUTES)
        is_of_cards = self._session.among(State.entity_id, identities.cards(identities.last_seen))
        return {
            row.detail[NOTE]: scene_target(place)
            for row in self._session.read(State, before(as_of, State), is_of_life, is_of_cards)
            if NOTE in row.detail and (place := identities.refuted_at(row)) is not None
        }

    def _sights(self) -> list[tuple[str, Place]]:
        """Return the places that show cards of revealed identities alive, in story order."""
        return self._session.once("sights", lambda: _sights(self._session, self.revealed()))

    def revealed(self) -> dict[str, RevealedIdentity]:
        """Return all revealed identities of the story."""
        return self._session.once(
            "revealed",
            lambda: _revealed(_stored_entity(row, []) for row in self._session.read(EntityRow, _IS_REVEALED)),
        )

    def list_as_of(self, *, as_of: StoryPosition) -> list[Entity]:
        """Return the entities as the story had shown them before a position, in order of id.

        See `entity_as_of` for what is shown. Who has turned out to be somebody else by then is shown as that one
        alone, who has the names of both and the newest value of each field.
        """
        return self._as_of(self._stored(), self.first_mentions(), as_of)

    def place_cards(self) -> list[StoredEntity]:
        """Return the cards of all but characters, read together with the revealed identities."""
        is_place = EntityRow.entity_type != "character"
        stored_entities = self._session.once("place_cards", lambda: self._read(or_(is_place, _IS_REVEALED)))
        self._session.once("revealed", lambda: _revealed(stored_entities))
        return [stored_entity for stored_entity in stored_entities if stored_entity.entity.entity_type != "character"]

    def places_as_of(self, as_of: StoryPosition) -> list[Entity]:
        """Return all but characters as the story had shown them before a position."""
        place_cards = self.place_cards()
        mentions = self.first_mentions([stored_entity.entity.entity_id for stored_entity in place_cards])
        return self._as_of(place_cards, mentions, as_of)

    def _as_of(
        self, stored_entities: Sequence[StoredEntity], mentions: FirstMentions, as_of: StoryPosition
    ) -> list[Entity]:
        shown_entities = [entity_as_of(stored_entity, mentions, as_of) for stored_entity in stored_entities]
        entities = {entity.entity_id: entity for entity in shown_entities if entity is not None}
        identities = self.identities_as_of(as_of)
        if identities.persons:
            stored_by_id = {one_stored.entity.entity_id: one_stored.entity for one_stored in stored_entities}
            masks_by_person: dict[str, list[MaskCard]] = {}
            names_by_person: dict[str, list[str]] = {}
            earlier_ids: dict[str, list[str]] = {}
            for mask, person in identities.in_order():
                card = entities.pop(mask, None)
                earlier_ids.setdefault(person, []).append(mask)
                if card is not None:
                    known_from = _known_from(stored_by_id[mask], card)
                    masks_by_person.setdefault(person, []).append(
                        MaskCard(card, known_from, identities.revealed_at[mask])
                    )
                    names_by_person.setdefault(person, []).extend([card.name] * (mask in identities.told_to_all))
            for person in masks_by_person.keys() & entities.keys():
                known_from = _known_from(stored_by_id[person], entities[person])
                one = with_mask_cards(entities[person], known_from, masks_by_person[person], as_of=as_of)
                revealed = {"revealed_names": names_by_person[person], "earlier_ids": earlier_ids[person]}
                entities[person] = one.model_copy(update=revealed)
        return list(entities.values())

    def cards_as_of(self, as_of: StoryPosition) -> dict[str, list[Entity]]:
        """Return the cards of each revealed person, before they joined."""
        identities = self.identities_as_of(as_of)
        if not identities.persons:
            return {}
        mentions = self.first_mentions()
        shown_entities = [entity_as_of(stored_entity, mentions, as_of) for stored_entity in self._stored()]
        cards: dict[str, list[Entity]] = {}
        persons = set(identities.persons.values())
        for card in (card for card in shown_entities if card is not None):
            person = identities.person(card.entity_id)
            if person in persons:
                cards.setdefault(person, []).append(card)
        return cards

    def reveal(self, entity_id: str, identity: RevealedIdentity) -> None:
        """Store a revealed identity, independent of the entity's origin."""
        stored_entity = self.get(entity_id)
        profile = {**(stored_profile(stored_entity.entity) if stored_entity else {}), SAME_AS: identity.model_dump()}
        self._session.update(EntityRow, EntityRow.entity_id == entity_id, profile=profile)

    def all_names(self) -> list[tuple[str, str]]:
        """Return (entity_id, name) of every name and alias, for scanning texts."""
        return [(one.entity.entity_id, name) for one in self._stored() for name in one.entity.names()]

    def first_mentions(self, entity_ids: Collection[str] | None = None) -> dict[tuple[str, str], tuple[int, int]]:
        """Return the first scene with each (entity_id, name), None meaning all entities."""
        names = (col(NameMention.entity_id), col(NameMention.name))
        of_these = [] if entity_ids is None else [self._session.among(NameMention.entity_id, entity_ids)]
        rows = self._session.select([*names, func.min(_MENTIONED_AT)], *of_these, group=names)
        return {(row[0], row[1]): unpacked_place(row[2]) for row in rows}

    def mentions_before(self, as_of: StoryPosition) -> dict[str, tuple[int, tuple[int, int]]]:
        """Return for each entity that texts before a position name in how many scenes, and the last of them."""
        who, scenes = col(NameMention.entity_id), func.count(distinct(col(NameMention.scene_id)))
        rows = self._session.select([who, scenes, func.max(_MENTIONED_AT)], before(as_of, NameMention), group=[who])
        counts = {row[0]: (row[1], row[2]) for row in rows}
        identities = self.identities_as_of(as_of)
        if identities.persons:
            cards = identities.cards(identities.persons)
            in_scenes: defaultdict[str, dict[str, int]] = defaultdict(dict)
            columns, of_cards = [who, col(NameMention.scene_id), _MENTIONED_AT], self._session.among(who, cards)
            for entity_id, scene_id, place in self._session.select(columns, of_cards, before(as_of, NameMention)):
                in_scenes[identities.person(entity_id)][scene_id] = place
            counts = {entity_id: count for entity_id, count in counts.items() if entity_id not in cards}
            counts |= {person: (len(places), max(places.values())) for person, places in in_scenes.items()}
        return {entity_id: (count, unpacked_place(last)) for entity_id, (count, last) in counts.items()}

    def author_aliases(self) -> dict[str, set[str]]:
        """Return for each entity that has any the aliases that an author wrote."""
        return {
            entity.entity.entity_id: set(entity.author_aliases) for entity in self._stored() if entity.author_aliases
        }

    def _stored(self, *value_type: Any) -> list[StoredEntity]:
        if value_type:
            return self._read(*value_type)
        stored_entities = self._session.once("entities", self._read)
        self._session.once("revealed", lambda: _revealed(stored_entities))
        return list(stored_entities)

    def _read(self, *value_type: Any) -> list[StoredEntity]:
        of_entity = and_(EntityRow.project_id == AliasRow.project_id, EntityRow.entity_id == AliasRow.entity_id)
        # As columns without an object per name, for a context reads all cards several times.
        statement = (
            select(*_ENTITY_COLUMNS, *_ALIAS_COLUMNS)
            .join_from(EntityRow, AliasRow, of_entity, isouter=True)
            .where(self._session.owns(EntityRow), *value_type)
            .order_by(col(AliasRow.row_id))
        )
        rows_by_id = grouped(self._session.rows(statement), "entity_id")
        stored_entities = [_stored_entity(rows[0], rows) for rows in rows_by_id.values()]
        return sorted(stored_entities, key=lambda one: (len(one.entity.entity_id), one.entity.entity_id))


def _sights(session: StorageSession, revealed: Mapping[str, RevealedIdentity]) -> list[tuple[str, Place]]:
    cards = {*revealed, *(identity.entity_id for identity in revealed.values())}
    if not cards:
        return []
    names = ("entity_id", "attribute", "value", "kind", "chapter_index", "scene_index")
    statement = (
        select(*columns_of(State, names), col(Scene.staged))
        .join_from(State, Scene, col(Scene.scene_id) == col(State.scene_id), isouter=True)
        .where(session.owns(State), session.among(State.entity_id, cards), col(State.scene_index).is_not(None))
        .order_by(*story_order(State))
    )

    def shows_alive(row: AnyRow) -> bool:
        if row.kind == "explicit":
            return row.attribute not in TOLD_OF_THE_DEAD
        return not is_guessed_presence(row.value) or "participants" in (row.staged or {})

    return [
        (row.entity_id, (row.chapter_index, row.scene_index)) for row in session.rows(statement) if shows_alive(row)
    ]


def _revealed(stored_entities: Iterable[StoredEntity]) -> dict[str, RevealedIdentity]:
    identities = {
        stored_entity.entity.entity_id: revealed_identity(stored_entity.entity) for stored_entity in stored_entities
    }
    return {entity_id: identity for entity_id, identity in identities.items() if identity is not None}


def with_masks(session: StorageSession, memory_filter: MemoryFilter) -> MemoryFilter:
    """Return a filter that includes facts under earlier identities.

    Only who is unmasked before the filter's position counts.
    """
    if not memory_filter.entities:
        return memory_filter
    identities = EntityRepository(session).identities_as_of(memory_filter.as_of)
    return memory_filter.model_copy(update={"entities": identities.cards(memory_filter.entities)})


def stored_profile(entity: Entity) -> dict[str, Any]:
    """Return the stored profile, with author's values where the card stands."""
    if entity.said_from is None:
        return entity.profile
    return {**entity.profile, SAID_FROM: [entity.said_from, [entity.first_chapter, entity.first_scene]]}


def _stored_entity(row: EntityRow | AnyRow, names: Sequence[AnyRow]) -> StoredEntity:
    fields = {name: getattr(row, name) for name in _ENTITY_FIELDS}
    statement, stands_at = row.profile.get(SAID_FROM, (None, None))
    fields["profile"] = {name: value for name, value in row.profile.items() if name != SAID_FROM}
    fields[SAID_FROM] = statement if stands_at == [row.first_chapter, row.first_scene] else None
    # The doctor names an empty name; until then its id stands for it.
    fields["name"] = row.name or row.entity_id
    aliases = [
        EntityAlias.model_validate({field: getattr(name, f"alias_{field}") for field in EntityAlias.model_fields})
        for name in names
        if name.alias_alias
    ]
    return StoredEntity(
        entity=Entity.model_validate(fields | {"aliases": aliases}),
        author_aliases=[name.alias_alias for name in names if name.alias_by_author],
        **{name: getattr(row, name) for name in _STORED_FIELDS},
    )
