"""Storing entities, the author's characters among them.

Stored scenes are scanned once for names that were not known before.
"""

from collections.abc import Callable, Iterable, Sequence, Set
from datetime import datetime

from pydantic import BaseModel, Field

from novelgen.errors import UserInputError
from novelgen.language.matching import NameFinder
from novelgen.language.normalise import name_key
from novelgen.models.entity import ALIAS_TRANSLATIONS, TRANSLATION, Entity, EntityAlias
from novelgen.models.user_file import Character, CharactersConfig
from runtime.ingest.scene_writes import replace_stored_scenes
from runtime.storage.database import UnitOfWork
from runtime.storage.journal import Change
from runtime.storage.records import EntityOrigin, StoredEntity, StoredScene
from runtime.stores import MemoryStores

Names = frozenset[tuple[str, str]]
"""(entity_id, name) of every name."""


class EntitiesResult(BaseModel):
    """What storing entities changed."""

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
    """Store entities in a running transaction; see `store_entities`."""
    before = frozenset(unit.entities.all_names())
    written = _write_characters(unit, characters, entities) if characters else []
    written += _write_entities(unit, entities, origin)
    changed = before ^ frozenset(unit.entities.all_names())
    affected = _read_again(unit, changed, stores=stores) if changed else []
    return EntitiesResult(
        written=list(dict.fromkeys(written)), rescanned=[(scene.chapter_index, scene.scene_index) for scene in affected]
    )


def withdraw_names_in(
    unit: UnitOfWork, entity_id: str, names: Sequence[str], *, is_whole: bool, stores: MemoryStores
) -> None:
    """Take names from an entity, or the entity with all its names, and derive anew the scenes that hold them."""
    before = frozenset(unit.entities.all_names())
    if is_whole:
        unit.entities.remove(entity_id)
    else:
        unit.entities.remove_aliases(entity_id, names)
    _read_again(unit, before - frozenset(unit.entities.all_names()), stores=stores)
    if is_whole and unit.entities.is_spoken_of(entity_id):
        raise UserInputError(
            f"{entity_id!r} has memories, states or relationships by now, so that it cannot go; "
            "take them back first, or merge it into another entity"
        )


def restore_card_in(unit: UnitOfWork, change: Change, *, stores: MemoryStores) -> Change:
    """Put a card that was added, edited or renamed back as it was, and derive anew the scenes that name it."""
    before = frozenset(unit.entities.all_names())
    undone = unit.journal.undo(change.change_id)
    _read_again(unit, before ^ frozenset(unit.entities.all_names()), stores=stores)
    if change.kind == "add" and unit.entities.is_spoken_of(change.entity_id):
        raise UserInputError(
            f"{change.entity_id!r} has memories, states or relationships by now, so that it cannot go; "
            "delete its card, or merge it into another one"
        )
    return undone


def rescan_since_in(unit: UnitOfWork, names: Sequence[str], *, since: datetime, stores: MemoryStores) -> None:
    """Derive anew the scenes that hold one of the names and were stored when nobody bore it."""
    finder, scenes = NameFinder(names), unit.scenes.list_as_of(with_text=True)
    named = [each for each in scenes if each.updated_at > since and finder.find(_whole_text(each))]
    replace_stored_scenes(unit, named, stores=stores)


def _write_characters(unit: UnitOfWork, characters: CharactersConfig, entities: Sequence[Entity]) -> list[str]:
    stored = {one.entity.entity_id: one for one in unit.entities.list_all()}
    known = {entity_id: one.entity for entity_id, one in stored.items()}
    known |= {entity.entity_id: entity for entity in entities if entity.entity_id not in known}
    unit.counters.jump_over(known)
    take_id: Callable[[], str] = lambda: unit.entities.next_id("character")  # noqa: E731
    read = entities_of_characters(characters, known=list(known.values()), take_id=take_id)
    said = _alias_pairs(read)
    gone = unit.character_file.withdraw(said=said)
    by_author = unit.entities.author_aliases()
    changed = [
        entity.entity_id for entity in read if _write_character(unit, entity, by_author.get(entity.entity_id, set()))
    ]
    unit.character_file.note(said - _alias_pairs(one.entity for one in stored.values()))
    return [*(entity_id for entity_id, _ in gone), *changed]


def _write_character(unit: UnitOfWork, entity: Entity, by_author: Set[str]) -> bool:
    """Store what the author says of a character, and tell whether that is new."""
    old = unit.entities.get(entity.entity_id)
    if old is None:
        unit.entities.upsert(entity, origin="author")
        return True
    without_aliases = {"aliases"}
    same = old.entity.model_dump(exclude=without_aliases) == entity.model_dump(exclude=without_aliases)
    if old.origin == "author" and same and set(entity.names()) <= set(old.entity.names()):
        return False
    others = [each for each in old.entity.aliases if each.alias not in entity.names()]
    written = [each for each in others if each.alias in by_author]
    whole = entity.model_copy(update={"aliases": [*entity.aliases, *written]})
    unit.entities.upsert(whole, origin="author")
    # Storing the author's version took all aliases of before away; they come back as what they were.
    unit.entities.upsert(old.entity, origin="supplied")
    return True


def _alias_pairs(entities: Iterable[Entity]) -> set[tuple[str, str]]:
    return {(entity.entity_id, alias.alias) for entity in entities for alias in entity.aliases}


def _write_entities(unit: UnitOfWork, entities: Sequence[Entity], origin: EntityOrigin) -> list[str]:
    if origin != "author":
        unit.character_file.release(_alias_pairs(entities))
    stored = {one.entity.entity_id: one for one in unit.entities.list_all()}
    written = []
    for entity in entities:
        old = stored.get(entity.entity_id)
        if old is not None and _is_stored_already(old, entity, origin):
            continue
        unit.entities.upsert(entity, origin=origin)
        written.append(entity.entity_id)
    return written


def _is_stored_already(stored: StoredEntity, entity: Entity, origin: EntityOrigin) -> bool:
    if stored.origin == "author" and origin != "author":
        return set(entity.names()) <= set(stored.entity.names())
    return stored.origin == origin and stored.entity == entity


def _read_again(unit: UnitOfWork, names: Names, *, stores: MemoryStores) -> list[StoredScene]:
    """Derive anew the scenes that hold names which came or went, and return them."""
    finder = NameFinder(name for _, name in names)
    named = [each for each in unit.scenes.list_as_of(with_text=True) if finder.find(_whole_text(each))]
    replace_stored_scenes(unit, named, stores=stores, names=names)
    return named


def _whole_text(scene: StoredScene) -> str:
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
    characters: CharactersConfig, *, known: Sequence[Entity], take_id: Callable[[], str]
) -> list[Entity]:
    """Return the entities of an author's characters, holding what the author wrote and nothing else."""
    return [_entity(character, _known_bearer(character.name, known), take_id) for character in characters.everyone()]


def _known_bearer(name: str, known: Sequence[Entity]) -> Entity | None:
    people = [entity for entity in known if entity.entity_type == "character"]
    by_name = [each for each in people if name_key(each.name) == name_key(name)]
    by_alias = [each for each in people if name_key(name) in map(name_key, each.names())]
    return next((found[0] for found in (by_name, by_alias) if len(found) == 1), None)


def _entity(character: Character, known: Entity | None, take_id: Callable[[], str]) -> Entity:
    base = known or Entity(entity_id=take_id(), entity_type="character", name=character.name)
    names = dict.fromkeys(name for name in [character.name, *character.aliases] if name and name != base.name)
    # What an editor said of its names: characters.json has no place for it.
    kept = (TRANSLATION, ALIAS_TRANSLATIONS)
    filled = {name: getattr(character, name) for name in _PROFILE_FIELDS}
    return base.model_copy(
        update={
            "aliases": [EntityAlias(alias=name) for name in names],
            "role": character.role,
            "description": character.background or character.personality,
            "profile": {
                **{name: value for name, value in base.profile.items() if name in kept},
                **character.extra,
                **{name: value for name, value in filled.items() if value not in (None, "", [], {})},
            },
        }
    )
