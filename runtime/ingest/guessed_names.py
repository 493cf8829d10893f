"""Guesses of short names for the cards of people."""

from collections.abc import Collection, Iterable, Sequence

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


def with_guessed_names(
    unit: UnitOfWork, entity: Entity, *, known_entities: Iterable[Entity], text: str | None = None
) -> Entity:
    """Return a card with the short names that the stored texts use for it alone.

    Each counts from the first scene that has it, yet not before the full name counts.

    Args:
        unit: Where the texts stand.
        entity: The card.
        known_entities: All cards.
        text: A new scene, whose names alone are looked at.
    """
    listed_names = entity.profile.get(GUESSED_NAMES, [])
    names_of_cards = [name for other in known_entities if other.entity_id != entity.entity_id for name in other.names()]
    parts = parts_of_name(entity.name) if entity.entity_type == "character" else []
    parts = _without(parts, [*entity.names(), *listed_names])
    if text is not None and parts:
        names_here = short_names(entity.name, [text], other_names=names_of_cards)
        parts = [part for part in parts if part in names_here]
    parts = _without(parts, [*_dropped_names(unit), *_undone_names(unit, entity.entity_id)]) if parts else []
    finder = NameFinder(parts)
    scenes = [scene for scene in unit.scenes.texts_as_of(as_of=END_OF_STORY) if finder.find(scene[2])] if parts else []
    texts = [scene[2] for scene in scenes]
    # What the texts deny is not asked of all names that they offer, which takes long for a book.
    names = [name for name in short_names(entity.name, texts, other_names=names_of_cards) if name in parts]
    if names:
        other_names = [*names_of_cards, *_offered_names(entity, names, scenes)]
        names = [name for name in short_names(entity.name, texts, other_names=other_names) if name in names]
    if not names:
        return entity
    aliases = [_alias(name, entity, scenes) for name in names]
    return entity.model_copy(
        update={
            "aliases": [*entity.aliases, *aliases],
            "profile": {**entity.profile, GUESSED_NAMES: [*listed_names, *names]},
        }
    )


def _without(parts: Sequence[str], names: Iterable[str]) -> list[str]:
    keys = {name_key(name) for name in names}
    return [part for part in parts if name_key(part) not in keys]


def guess_names_in(unit: UnitOfWork, text: str, *, stores: MemoryStores) -> None:
    """Give an author's cards of people the short names that a new scene brings."""
    stored_entities = unit.entities.list_all()
    known_entities = [stored_entity.entity for stored_entity in stored_entities]
    for stored_entity in stored_entities:
        entity = stored_entity.entity
        if stored_entity.origin == "author" and NameFinder(parts_of_name(entity.name)).find(text):
            extended_entity = with_guessed_names(unit, entity, known_entities=known_entities, text=text)
            if extended_entity is not entity:
                with unit.journal.recording_card(entity.entity_id) as rows:
                    store_entities_in(unit, [extended_entity], origin=stored_entity.origin, stores=stores)
                unit.journal.keep("edit", entity.entity_id, entity.name, rows)


def _dropped_names(unit: UnitOfWork) -> list[str]:
    changes = unit.merges.list_all()
    return [change.other_id for change in changes if change.kind == "drop" and change.undone_at is None]


def _undone_names(unit: UnitOfWork, entity_id: str) -> set[str]:
    """Return the guesses for a card that `undo` took back."""
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


def _offered_names(entity: Entity, parts: Collection[str], scenes: Iterable[SceneText]) -> list[str]:
    """Return the names of candidates in the texts, but for those of this card."""
    own_keys = {title_free_key(name) for name in entity.names()} | {name_key(part) for part in parts}
    return [
        name
        for candidate in find_name_candidates(scenes, min_count=1, is_story=True)
        for name in candidate.names()
        if candidate.kind not in _PEOPLE or title_free_key(name) not in own_keys
    ]


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
