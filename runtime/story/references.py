"""Whom and where a user means: names resolved to entities, and the scene after which something is to hold."""

from __future__ import annotations

from collections.abc import Sequence

from novelgen.errors import UnknownEntityError, UnknownSceneError
from novelgen.language.resolver import NameResolver
from novelgen.models.entity import Entity, EntityType
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.nearest import nearest_names
from runtime.storage.unit import UnitOfWork

MAX_LISTED = 10
"""So many known entities an error lists."""

MAX_NEAR = 3
_MIN_LIKENESS = 0.4


def known_entities(unit: UnitOfWork, as_of: StoryPosition | None) -> list[Entity]:
    """Return the entities as the story has shown them before a position; None means all of them, whole."""
    if as_of is not None:
        return unit.entities.list_as_of(as_of=as_of)
    return [stored.entity for stored in unit.entities.list_all()]


def resolved_entity(name: str, known: Sequence[Entity], entity_type: EntityType | None = None) -> Entity:
    """Return the entity that an id, a name or an alias means."""
    meant = [each for each in known if entity_type is None or each.entity_type == entity_type]
    by_id = {entity.entity_id: entity for entity in meant}
    resolution = NameResolver(meant).resolve(name)
    if resolution.entity_id is not None:
        return by_id[resolution.entity_id]
    if resolution.candidate_ids:
        several = _listed([by_id[each] for each in resolution.candidate_ids])
        raise UnknownEntityError(f"{name!r} may be {several}; say which by its id")
    kind = entity_type or "entity"
    raise UnknownEntityError(f"no {kind} {name!r} is known by then; {_advice(name, meant)}")


def resolved_ids(names: Sequence[str], known: Sequence[Entity], entity_type: EntityType | None = None) -> list[str]:
    """Return the ids of several entities in the order of their names; see `resolved_entity`."""
    return [resolved_entity(name, known, entity_type).entity_id for name in names]


def resolved_targets(unit: UnitOfWork, names: Sequence[str], as_of: StoryPosition | None) -> list[str]:
    """Return what names of things that memories are attached to mean at a position, without repeats."""
    beyond = {each: target for each in names if (target := unit.attachments.beyond_entities(each)) is not None}
    known = known_entities(unit, as_of) if len(beyond) < len(set(names)) else []
    found = (beyond.get(each) or _entity_target(each, known) for each in names)
    return list(dict.fromkeys(found))


def _entity_target(name: str, known: Sequence[Entity]) -> str:
    try:
        return resolved_entity(name, known).entity_id
    except UnknownEntityError as error:
        raise UnknownEntityError(f"{error}; a chapter is written chapter:3, the whole book: book") from error


def place_of_statement(unit: UnitOfWork, as_of: StoryPosition, *, scene_id: str | None = None) -> StoryPosition:
    """Return the place at which a statement must stand to be read at a position, and nowhere earlier.

    That is the last scene before the position. At the beginning of the story there is no scene; then the
    statement has no place and holds from the start.
    """
    if scene_id is None:
        last = next(iter(unit.scenes.list_as_of(as_of=as_of, last=1)), None)
        return END_OF_STORY if last is None else last.position
    for scene in unit.scenes.list_as_of(as_of=as_of):
        if scene_id in (scene.label, str(scene.position)):
            return scene.position
    raise UnknownSceneError(f"no scene {scene_id!r} is stored before {as_of}; use an id such as S001")


def place_name(place: StoryPosition) -> str | None:
    """Return a place as `3:2`, or None when it is the whole story."""
    return None if place.chapter_index is None else str(place)


def _advice(name: str, known: Sequence[Entity]) -> str:
    bearers = {each: entity.entity_id for entity in reversed(known) for each in entity.names()}
    near = nearest_names(name, reversed(bearers), at_most=MAX_NEAR, likeness=_MIN_LIKENESS)
    if near:
        return f"near it: {', '.join(f'{bearers[each]} ({each})' for each in near)}"
    return f"known are {_listed(known)}"


def _listed(entities: Sequence[Entity]) -> str:
    if not entities:
        return "none"
    named = [f"{entity.entity_id} ({entity.name})" for entity in entities[:MAX_LISTED]]
    more = len(entities) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")
