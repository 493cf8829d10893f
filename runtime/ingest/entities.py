"""Storage of entities, the author's characters and identities.

Stored scenes are scanned once for names that were not known before. Names that known entities get, and entities that
turn out to be one, are changes that `novelgen undo` takes back. Two that were one all along are merged: a reader of an
earlier scene loses nothing by it. Two of whom the story shows only in a scene that they are one, though both were there
before, stay two up to that scene and are one from there on, so that no earlier read tells of it. A name that belongs to
another one after all is taken away again. What an author made is never merged with what an author made, and what an
author undid is not done again.
"""

from collections.abc import Callable, Iterable, Sequence, Set
from datetime import datetime

from pydantic import BaseModel, Field

from novelgen.errors import UserInputError
from novelgen.language.language import has_cjk
from novelgen.language.matching import NameFinder
from novelgen.language.normalise import is_description, name_key, title_free_key
from novelgen.models.context import ReportIssue
from novelgen.models.entity import (
    ALIAS_TRANSLATIONS,
    DATED,
    GENERIC,
    TRANSLATION,
    Entity,
    EntityAlias,
    NewName,
    SameEntities,
    revealed_identity,
)
from novelgen.models.position import StoryPosition, sort_key
from novelgen.models.user_file import Character, CharactersConfig
from runtime.ingest.scene_input import record_with_ids
from runtime.ingest.scene_writes import replace_stored_scenes, write_into_record
from runtime.storage.change import Change
from runtime.storage.columns import EntityOrigin
from runtime.storage.database import UnitOfWork
from runtime.storage.entities import FirstMentions, first_appearance
from runtime.storage.models import StoredEntity
from runtime.storage.records import EntityRow, Scene
from runtime.storage.session import table_name
from runtime.stores import MemoryStores

Names = frozenset[tuple[str, str]]
"""(entity_id, name) of every name."""


class EntitiesResult(BaseModel):
    """The result of storing entities."""

    written: list[str] = Field(default_factory=list, description="Ids of the entities that are new or changed.")
    rescanned: list[tuple[int, int]] = Field(
        default_factory=list, description="Stored scenes that name them, derived anew, in story order."
    )


def store_entities(
    stores: MemoryStores,
    project_id: str,
    entities: Sequence[Entity] = (),
    *,
    characters: CharactersConfig | None = None,
    origin: EntityOrigin = "supplied",
) -> EntitiesResult:
    """Store entities with their names, in one transaction with all that changes in stored scenes by them.

    The author's characters get an id each (one of the entities' where the name says so). An alias that they alone
    brought is withdrawn when they have it no more; what somebody else brought, too, stays. Stored scenes whose
    text or record holds a new or withdrawn name are derived anew; all others stay untouched.
    """
    with stores.database(project_id).write() as unit:
        return store_entities_in(unit, entities, characters=characters, origin=origin, stores=stores)


def store_entities_in(
    unit: UnitOfWork,
    entities: Sequence[Entity],
    *,
    characters: CharactersConfig | None = None,
    origin: EntityOrigin,
    stores: MemoryStores,
) -> EntitiesResult:
    """Store entities in a running transaction.

    See `store_entities`.
    """
    stored_entities = unit.entities.list_all()
    written_ids = _write_characters(unit, characters, entities) if characters else []
    now_stored = unit.entities.list_all() if characters else stored_entities
    written_ids += _write_entities(unit, entities, origin, stored_entities=now_stored)
    changed = _names_borne(stored_entities) ^ _bearers(unit)
    affected = _read_again(unit, _names_of(changed), stores=stores) if changed else []
    return EntitiesResult(
        written=list(dict.fromkeys(written_ids)),
        rescanned=[(scene.chapter_index, scene.scene_index) for scene in affected],
    )


def _bearers(unit: UnitOfWork) -> frozenset[tuple[str, str, str]]:
    """Return who bears which name, with the kind: of another kind it means something else to a scene."""
    return _names_borne(unit.entities.list_all())


def _names_borne(stored_entities: Iterable[StoredEntity]) -> frozenset[tuple[str, str, str]]:
    entities = [stored_entity.entity for stored_entity in stored_entities]
    return frozenset((entity.entity_id, name, entity.entity_type) for entity in entities for name in entity.names())


def _names_of(bearers: Iterable[tuple[str, str, str]]) -> frozenset[tuple[str, str]]:
    return frozenset((entity_id, name) for entity_id, name, _ in bearers)


def withdraw_names_in(
    unit: UnitOfWork, entity_id: str, names: Sequence[str], *, is_whole: bool, stores: MemoryStores
) -> None:
    """Take names from an entity, or the entity with all its names, and derive anew the scenes that hold them."""
    before = _bearers(unit)
    if is_whole:
        unit.entities.remove(entity_id)
    else:
        unit.entities.remove_aliases(entity_id, names)
    _read_again(unit, _names_of(before - _bearers(unit)), stores=stores)
    if is_whole and unit.entities.is_spoken_of(entity_id):
        raise UserInputError(
            f"{entity_id!r} has memories, states or relationships by now, so that it cannot go; "
            "take them back first, or merge it into another entity"
        )


def restore_card_in(unit: UnitOfWork, change: Change, *, stores: MemoryStores) -> Change:
    """Restore a card, and derive its scenes again."""
    before = _bearers(unit)
    undone = unit.journal.undo(change.change_id)
    _read_again(unit, _names_of(before ^ _bearers(unit)), stores=stores)
    removed_rows = [
        row.key["entity_id"] for row in change.rows if row.table == table_name(EntityRow) and row.before is None
    ]
    spoken_of = next(filter(unit.entities.is_spoken_of, removed_rows), None)
    if spoken_of is not None:
        raise UserInputError(
            f"{spoken_of!r} has memories, states or relationships by now, so that it cannot go; "
            "delete its card, or merge it into another one"
        )
    return undone


def restore_merged_in(unit: UnitOfWork, change: Change, *, stores: MemoryStores) -> Change:
    """Undo a merge or split, and derive anew the scenes that were derived since."""
    before = _bearers(unit)
    undone, scene_ids = unit.journal.undo_but_derived(change.change_id)
    if scene_ids:
        read_ids = {scene.scene_id for scene in _read_again(unit, _names_of(before ^ _bearers(unit)), stores=stores)}
        rest = [scene for scene in unit.scenes.list_as_of(with_text=True) if scene.scene_id in scene_ids - read_ids]
        replace_stored_scenes(unit, rest, stores=stores)
    return undone


def rescan_since_in(unit: UnitOfWork, names: Sequence[str], *, since: datetime, stores: MemoryStores) -> None:
    """Derive anew the scenes that hold one of the names and were stored when nobody bore it."""
    finder, scenes = NameFinder(names), unit.scenes.list_as_of(with_text=True)
    named_scenes = [scene for scene in scenes if scene.updated_at > since and finder.find(_whole_text(scene))]
    replace_stored_scenes(unit, named_scenes, stores=stores)


def _write_characters(unit: UnitOfWork, characters: CharactersConfig, entities: Sequence[Entity]) -> list[str]:
    stored_entities_by_id = {one.entity.entity_id: one for one in unit.entities.list_all()}
    known_entities_by_id = {entity_id: one.entity for entity_id, one in stored_entities_by_id.items()}
    known_entities_by_id |= {
        entity.entity_id: entity for entity in entities if entity.entity_id not in known_entities_by_id
    }
    unit.counters.jump_over(known_entities_by_id)
    take_id: Callable[[], str] = lambda: unit.entities.next_id("character")  # noqa: E731
    loaded_entities = entities_of_characters(characters, entities=list(known_entities_by_id.values()), take_id=take_id)
    statements = _alias_pairs(loaded_entities)
    withdrawn_pairs = unit.character_file.withdraw(pairs=statements)
    by_author = unit.entities.author_aliases()
    changed = [
        entity.entity_id
        for entity in loaded_entities
        if _write_character(unit, entity, by_author.get(entity.entity_id, set()))
    ]
    unit.character_file.note(statements - _alias_pairs(one.entity for one in stored_entities_by_id.values()))
    return [*(entity_id for entity_id, _ in withdrawn_pairs), *changed]


def _write_character(unit: UnitOfWork, entity: Entity, by_author: Set[str]) -> bool:
    """Store an author's character, and return whether it is new."""
    old = unit.entities.get(entity.entity_id)
    if old is None:
        unit.entities.upsert(entity, origin="author")
        return True
    without_aliases = {"aliases"}
    same = old.entity.model_dump(exclude=without_aliases) == entity.model_dump(exclude=without_aliases)
    if old.origin == "author" and same and set(entity.names()) <= set(old.entity.names()):
        return False
    others = [alias for alias in old.entity.aliases if alias.alias not in entity.names()]
    written_aliases = [alias for alias in others if alias.alias in by_author]
    whole = entity.model_copy(update={"aliases": [*entity.aliases, *written_aliases]})
    unit.entities.upsert(whole, origin="author")
    # Storing the author's version took all aliases of before away; they come back as what they were.
    unit.entities.upsert(old.entity, origin="supplied")
    return True


def _alias_pairs(entities: Iterable[Entity]) -> set[tuple[str, str]]:
    return {(entity.entity_id, alias.alias) for entity in entities for alias in entity.aliases}


def _write_entities(
    unit: UnitOfWork, entities: Sequence[Entity], origin: EntityOrigin, *, stored_entities: Sequence[StoredEntity]
) -> list[str]:
    if origin != "author":
        unit.character_file.release(_alias_pairs(entities))
    stored_entities_by_id = {one.entity.entity_id: one for one in stored_entities}
    written_ids = []
    for entity in entities:
        old = stored_entities_by_id.get(entity.entity_id)
        if old is not None and _is_stored_already(old, entity, origin):
            continue
        unit.entities.upsert(entity, origin=origin)
        written_ids.append(entity.entity_id)
    return written_ids


def _is_stored_already(stored_entity: StoredEntity, entity: Entity, origin: EntityOrigin) -> bool:
    if stored_entity.origin == "author" and origin != "author":
        return set(entity.names()) <= set(stored_entity.entity.names())
    return stored_entity.origin == origin and stored_entity.entity == entity


def _read_again(unit: UnitOfWork, names: Names, *, stores: MemoryStores) -> list[Scene]:
    """Derive scenes again after names came or went, and return them.

    A record that names an entity by a word gets the id of the card that now bears it.
    """
    scenes = unit.scenes.list_as_of(with_text=True)
    if not scenes:
        return []
    finder = NameFinder(name for _, name in names)
    entities = [stored_entity.entity for stored_entity in unit.entities.list_all()]
    records = {scene.scene_id: record_with_ids(scene.record, entities) for scene in scenes if scene.record is not None}
    adopting = [scene for scene in scenes if scene.record != records.get(scene.scene_id)]
    for scene in adopting:
        write_into_record(unit, scene, records[scene.scene_id], stores=stores)
    adopting_ids = {scene.scene_id for scene in adopting}
    named_scenes = [scene for scene in scenes if scene.scene_id not in adopting_ids and finder.find(_whole_text(scene))]
    replace_stored_scenes(unit, named_scenes, stores=stores, names=names)
    return sorted([*adopting, *named_scenes], key=lambda scene: (scene.chapter_index, scene.scene_index))


def _whole_text(scene: Scene) -> str:
    record = scene.record
    bullets = [] if record is None else [*record.summary, *record.key_events]
    return "\n".join([scene.text or "", *bullets])


_PROFILE_FIELDS = (
    "age",
    "gender",
    "appearance",
    "personality",
    "background",
    "motivation",
    "abilities",
    "relationships",
)


def entities_of_characters(
    characters: CharactersConfig, *, entities: Sequence[Entity], take_id: Callable[[], str]
) -> list[Entity]:
    """Return the entities of an author's characters, with written fields only."""
    return [_entity(character, _known_bearer(character.name, entities), take_id) for character in characters.everyone()]


def _known_bearer(name: str, known_entities: Sequence[Entity]) -> Entity | None:
    people = [entity for entity in known_entities if entity.entity_type == "character"]
    by_name = [entity for entity in people if name_key(entity.name) == name_key(name)]
    by_alias = [entity for entity in people if name_key(name) in map(name_key, entity.names())]
    return next((entities[0] for entities in (by_name, by_alias) if len(entities) == 1), None)


def _entity(character: Character, known_entity: Entity | None, take_id: Callable[[], str]) -> Entity:
    base = known_entity or Entity(entity_id=take_id(), entity_type="character", name=character.name)
    names = dict.fromkeys(name for name in [character.name, *character.aliases] if name and name != base.name)
    # What an editor said of its names: characters.json has no place for it.
    kept_keys = (TRANSLATION, ALIAS_TRANSLATIONS, DATED)
    profile_fields = {name: getattr(character, name) for name in _PROFILE_FIELDS}
    return base.model_copy(
        update={
            "aliases": [EntityAlias(alias=name) for name in names],
            "role": character.role,
            "description": character.background or character.personality,
            "profile": {
                **{name: value for name, value in base.profile.items() if name in kept_keys},
                **character.extra,
                **{name: value for name, value in profile_fields.items() if value not in (None, "", [], {})},
            },
        }
    )


IDENTITY_STAGE = "identity"

FOUND_SETTING = "found_identities"
"""Key of the project's stored settings: numbers of the changes of who is who that no author made."""


class IdentityOutcome(BaseModel):
    """The result of storing identities."""

    names: list[NewName] = Field(default_factory=list, description="Names that were given.")
    changes: list[Change] = Field(default_factory=list, description="Entities that became one.")
    issues: list[ReportIssue] = Field(default_factory=list)


def store_identities_in(
    unit: UnitOfWork,
    *,
    names: Sequence[NewName] = (),
    pairs: Sequence[SameEntities] = (),
    at: StoryPosition,
    stores: MemoryStores,
) -> IdentityOutcome:
    """Store a scene's names and identities in a transaction, without raising."""
    outcome = IdentityOutcome()
    survivors = unit.merges.survivors()
    for new_name in names:
        name = new_name.model_copy(update={"entity_id": survivors.get(new_name.entity_id, new_name.entity_id)})
        try:
            entity = _with_name(unit, name, at)
        except UserInputError as refusal:
            outcome.issues.append(_issue(f"{name.name!r} was not stored as a name of {name.entity_id}: {refusal}"))
            continue
        if entity is not None:
            store_entities_in(unit, [entity], origin="extracted", stores=stores)
            outcome.names.append(name)
    for pair in pairs:
        survivors = unit.merges.survivors()
        one, other = (survivors.get(entity_id, entity_id) for entity_id in (pair.entity_id, pair.other_id))
        try:
            change = _one_entity(unit, one, other, how=pair.how, at=at) if one != other else None
        except UserInputError as refusal:
            outcome.issues.append(_issue(f"{one} and {other} were not made one: {refusal}"))
            continue
        outcome.changes += [change] if change else []
    if outcome.changes:
        settings_now = unit.projects.require().settings
        found_numbers = [*_found_changes(unit), *(change.change_id for change in outcome.changes)]
        unit.projects.update(settings={**settings_now, FOUND_SETTING: found_numbers})
    return outcome


def part_names_in(unit: UnitOfWork, entity_id: str, names: Sequence[str]) -> IdentityOutcome:
    """Move wrong names off an entity in a transaction, without raising.

    Names that came when somebody became part of it go with that one, who is there again. Others become an entity of
    their own. What an author wrote or merged stays and is reported.
    """
    outcome = IdentityOutcome()
    entity_id = unit.merges.survivors().get(entity_id, entity_id)
    stored_entity = unit.entities.get(entity_id)
    if stored_entity is None:
        outcome.issues.append(_issue(f"no entity {entity_id!r} is stored; its names were left alone"))
        return outcome
    keys = {name_key(name) for name in names}
    wrong = [name for name in stored_entity.entity.names() if name_key(name) in keys]
    kept_names = {stored_entity.entity.name, *unit.entities.author_aliases().get(entity_id, ())}
    refused = [text for text in wrong if text in kept_names]
    if refused:
        outcome.issues.append(
            _issue(f"{refused!r} may not belong to {entity_id}: the display name or an author's, so it stays")
        )
    remainder = [text for text in wrong if text not in kept_names]
    found_numbers = _found_changes(unit)
    for change in reversed(unit.merges.list_all()):
        if change.kind != "merge" or change.undone_at is not None or change.entity_id != entity_id:
            continue
        brought_ids = [entity_id for entity_id in unit.merges.names_brought(change.change_id) if entity_id in remainder]
        if not brought_ids:
            continue
        remainder = [text for text in remainder if text not in brought_ids]
        try:
            if change.change_id not in found_numbers:
                raise UserInputError(f"an author made {change.other_id} and {entity_id} one")
            outcome.changes.append(unit.merges.undo(change.change_id))
        except UserInputError as refusal:
            way = f"`novelgen undo` of change {change.change_id}, or `novelgen entity split`, parts them"
            outcome.issues.append(_issue(f"{brought_ids!r} may belong to another than {entity_id}: {refusal}; {way}"))
    if remainder:
        outcome.changes.append(unit.merges.split(entity_id, name=remainder[0], aliases=remainder[1:]))
    return outcome


def _found_changes(unit: UnitOfWork) -> list[int]:
    return list(unit.projects.require().settings.get(FOUND_SETTING, []))


def alike_names(entities: Iterable[Entity]) -> list[tuple[str, str]]:
    """Return same-type entities with equal names, ignoring a title.

    "Mr. Thaddeus Sholto" and "Thaddeus Sholto" are one. "Mr. Small" and "Mrs. Small" are not, nor "Mrs. Cecil
    Forrester" and "Cecil Forrester", nor two of a kind ("the porter"), nor three who share a name.
    """
    by_key: dict[tuple[str, str], list[Entity]] = {}
    for entity in entities:
        if not is_description(entity.name) and not entity.profile.get(GENERIC):
            by_key.setdefault((entity.entity_type, title_free_key(entity.name)), []).append(entity)
    alike = [(entities[0], entities[1]) for entities in by_key.values() if len(entities) == 2]
    return [(one.entity_id, other.entity_id) for one, other in alike if _cannot_differ(one.name, other.name)]


_OF_ANOTHER = frozenset("mrs mme madam madame frau signora señora lady old young little".split())
"""Words before a name that may make it the name of another of the family."""

_SHORTEST_CHINESE_NAME = 3


def _cannot_differ(one: str, other: str) -> bool:
    keys = {name_key(one), name_key(other)}
    if len(keys) == 1:
        return True
    bare = title_free_key(one)
    if bare not in keys:
        return False
    if has_cjk(bare):
        return len(bare) >= _SHORTEST_CHINESE_NAME
    titles = set().union(*(key.split() for key in keys)) - set(bare.split())
    return len(bare.split()) > 1 and not titles & _OF_ANOTHER


def _with_name(unit: UnitOfWork, name: NewName, at: StoryPosition) -> Entity | None:
    """Return an entity with a new name, or None when it has it."""
    stored_entity = _required(unit, name.entity_id)
    key = name_key(name.name)
    if key in map(name_key, stored_entity.entity.names()):
        return None
    others = [
        one.entity.entity_id
        for one in unit.entities.list_all()
        if one.entity.entity_type == stored_entity.entity.entity_type
        and key in map(name_key, one.entity.names())
        # A title passes on: until the scene it is the other's, from there on both have borne it.
        and one.entity.entity_id != name.former_id
    ]
    if others:
        raise UserInputError(f"{', '.join(others)} bears it")
    alias = EntityAlias(alias=name.name, first_chapter=at.chapter_index, first_scene=at.scene_index)
    return stored_entity.entity.model_copy(update={"aliases": [*stored_entity.entity.aliases, alias]})


def _one_entity(unit: UnitOfWork, one: str, other: str, *, how: str, at: StoryPosition) -> Change | None:
    first, second = _required(unit, one), _required(unit, other)
    if first.entity.entity_type != second.entity.entity_type:
        raise UserInputError(
            f"one is of type {first.entity.entity_type}, the other of type {second.entity.entity_type}"
        )
    if first.origin == "author" and second.origin == "author":
        raise UserInputError("an author wrote both; merge them with `novelgen entity merge` if they are one")
    if unit.merges.is_refused(one, other):
        raise UserInputError("somebody undid that before")
    masks = {entity.entity.entity_id: revealed_identity(entity.entity) for entity in (first, second)}
    if any(masks.values()):
        shown_ids = {revealed_identity.entity_id for revealed_identity in masks.values() if revealed_identity} | {
            mask for mask in masks if not masks[mask]
        }
        if len(shown_ids) == 1:
            return None
        raise UserInputError("one of them is known to be somebody else already")
    mentions = unit.entities.first_mentions()
    keep, removed_entity = sorted((first, second), key=lambda entity: _rank(entity, mentions))
    if how == "unmasked" and all(
        at.admits(*first_appearance(entity.entity, mentions)) for entity in (keep, removed_entity)
    ):
        return unit.merges.unmask(keep.entity.entity_id, removed_entity.entity.entity_id, at=at)
    return unit.merges.merge(keep.entity.entity_id, removed_entity.entity.entity_id)


def _rank(stored_entity: StoredEntity, mentions: FirstMentions) -> tuple[bool, bool, tuple[int, int], int, str]:
    """Sort the surviving entity first: the author's, named ones, earlier ones."""
    entity = stored_entity.entity
    place = sort_key(*first_appearance(entity, mentions))
    return (
        stored_entity.origin != "author",
        is_description(entity.name),
        place,
        len(entity.entity_id),
        entity.entity_id,
    )


def _required(unit: UnitOfWork, entity_id: str) -> StoredEntity:
    stored_entity = unit.entities.get(entity_id)
    if stored_entity is None:
        raise UserInputError(f"no entity {entity_id!r} is stored")
    return stored_entity


def _issue(message: str) -> ReportIssue:
    return ReportIssue(stage=IDENTITY_STAGE, kind="unresolved", message=message)
