"""Short names that a text suggests for cards of people: marked as guesses, and never given again once refused."""

from collections.abc import Collection, Iterable

from novelgen.language.candidates import SceneText, find_name_candidates
from novelgen.language.matching import NameFinder
from novelgen.language.normalise import name_key, title_free_key
from novelgen.language.short_names import parts_of_name, short_names
from novelgen.models.entity import GUESSED_NAMES, Entity, EntityAlias
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.ingest.entities import store_entities_in
from runtime.storage.change import Image
from runtime.storage.database import UnitOfWork
from runtime.stores import MemoryStores

_PEOPLE = ("character", "unknown")


def with_guessed_names(unit: UnitOfWork, entity: Entity, *, known: Iterable[Entity]) -> Entity:
    """Return a card with the short names that the stored texts use for it alone.

    Each counts from the first scene that has it, yet not before the full name counts.
    """
    parts = parts_of_name(entity.name) if entity.entity_type == "character" else []
    listed_names = entity.profile.get(GUESSED_NAMES, [])
    refused = {
        name_key(name) for name in [*entity.names(), *listed_names, *_dropped(unit), *_undone(unit, entity.entity_id)]
    }
    parts = [part for part in parts if name_key(part) not in refused]
    scenes = unit.scenes.texts_as_of(as_of=END_OF_STORY) if parts else []
    finder = NameFinder(parts)
    holding = [scene for scene in scenes if finder.find(scene[2])] if parts else []
    texts = [text for _, _, text in holding]
    if not texts:
        return entity
    # What the texts deny is not asked of all names that they offer, which takes long for a book.
    names = [name for name in short_names(entity.name, texts) if name in parts]
    others = _other_names(entity, known, names, holding) if names else []
    added = [name for name in short_names(entity.name, texts, other_names=others) if name in names]
    if not added:
        return entity
    aliases = [_alias(name, entity, holding) for name in added]
    return entity.model_copy(
        update={
            "aliases": [*entity.aliases, *aliases],
            "profile": {**entity.profile, GUESSED_NAMES: [*listed_names, *added]},
        }
    )


def guess_names_in(unit: UnitOfWork, text: str, *, stores: MemoryStores) -> None:
    """Give an author's cards of people the short names that a new scene brings."""
    stored_entities = unit.entities.list_all()
    known = [stored_entity.entity for stored_entity in stored_entities]
    for stored_entity in stored_entities:
        entity = stored_entity.entity
        if stored_entity.origin == "author" and NameFinder(parts_of_name(entity.name)).find(text):
            named = with_guessed_names(unit, entity, known=known)
            if named is not entity:
                with unit.journal.recording_card(entity.entity_id) as rows:
                    store_entities_in(unit, [named], origin=stored_entity.origin, stores=stores)
                unit.journal.keep("edit", entity.entity_id, entity.name, rows)


def _dropped(unit: UnitOfWork) -> list[str]:
    changes = unit.merges.list_all()
    return [change.other_id for change in changes if change.kind == "drop" and change.undone_at is None]


def _undone(unit: UnitOfWork, entity_id: str) -> set[str]:
    """Return the guesses for a card that its author took back with `undo`."""
    undone_rows = [
        row
        for change in unit.merges.list_all()
        if change.undone_at is not None and change.entity_id == entity_id
        for row in change.rows
    ]
    return {
        name
        for row in undone_rows
        for name in _guesses_of(row.after)
        if row.before is not None and name not in _guesses_of(row.before)
    }


def _guesses_of(image: Image | None) -> list[str]:
    profile = (image or {}).get("profile")
    return list(profile.get(GUESSED_NAMES, [])) if isinstance(profile, dict) else []


def _other_names(
    entity: Entity, known: Iterable[Entity], parts: Collection[str], scenes: Iterable[SceneText]
) -> list[str]:
    """Return the names of other cards, and those that the text offers beside the parts of this full name."""
    own_keys = {title_free_key(name) for name in entity.names()}
    of_cards = [name for other in known if other.entity_id != entity.entity_id for name in other.names()]
    part_keys = {name_key(part) for part in parts}
    offered = [
        name
        for candidate in find_name_candidates(scenes, min_count=1, is_story=True)
        for name in candidate.names()
        if candidate.kind not in _PEOPLE or title_free_key(name) not in part_keys | own_keys
    ]
    return [*of_cards, *offered]


def _alias(name: str, entity: Entity, scenes: Iterable[tuple[int, int, str]]) -> EntityAlias:
    own = (entity.name_first_chapter, entity.name_first_scene)
    start = own if own[0] is not None else (entity.first_chapter, entity.first_scene)
    places = (
        (chapter, scene)
        for chapter, scene, text in scenes
        if StoryPosition(chapter, scene + 1).admits(start[0], start[1] or 0)
        and name in short_names(entity.name, [text])
    )
    chapter, scene = min(places, default=start)
    return EntityAlias(alias=name, first_chapter=chapter, first_scene=scene)
