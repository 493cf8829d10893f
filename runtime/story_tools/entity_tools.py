"""Tools that create and change entities: character.generate, location.generate and memory.upsert."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from novelgen.errors import UnknownEntityError, UserInputError
from novelgen.models.entity import Entity, EntityAlias, EntityType
from novelgen.models.position import StoryPosition
from novelgen.models.profiles import PROFILE_MODELS, STATE_MODELS, profile_of
from novelgen.models.state import StateChange
from novelgen.names.normalise import name_key
from runtime.ingest.entity_writes import store_entities_in
from runtime.ingest.indexing import drain_outbox
from runtime.storage.unit import UnitOfWork
from runtime.story_tools.refusals import Answer
from runtime.story_tools.story_scope import StoryScope

_ENTITY_FIELDS = ("name", "role", "description")


def character_generate(
    scope: StoryScope,
    *,
    name: str,
    description: str,
    role: str = "",
    traits: Sequence[str] | None = None,
    goals: Sequence[str] | None = None,
) -> Answer:
    """Create a character; goals become part of its state.

    Returns:
        `{success, character_id, name}`.

    Raises:
        UserInputError: When a character bears the name already.
    """
    profile: dict[str, Any] = {}
    if traits:
        profile["personality"] = {"core_traits": list(traits)}
    if goals:
        profile["current_state"] = {"goals": list(goals)}
    fields = {"name": name, "role": role, "description": description, "profile": profile}
    entity = _generate(scope, "character", fields, {"goals": list(goals)} if goals else {})
    return {"success": True, "character_id": entity.entity_id, "name": entity.name}


def location_generate(
    scope: StoryScope,
    *,
    name: str,
    description: str,
    atmosphere: str | None = None,
    features: Sequence[str] | None = None,
) -> Answer:
    """Create a location.

    Returns:
        `{success, location_id, name}`.

    Raises:
        UserInputError: When a location bears the name already.
    """
    profile: dict[str, Any] = {"atmosphere": atmosphere} if atmosphere else {}
    if features:
        profile["features"] = list(features)
    fields = {"name": name, "description": description, "profile": profile}
    entity = _generate(scope, "location", fields, {})
    return {"success": True, "location_id": entity.entity_id, "name": entity.name}


def memory_upsert(scope: StoryScope, *, entity_id: str, changes: Mapping[str, Any]) -> Answer:
    """Change an entity; for code and the command line, not for a planner.

    `name`, `role`, `description`, `aliases` and the fields of the entity's profile are changed in its card,
    nested ones merged; everything else is an attribute of its state and holds after the last scene before
    the scope's position.

    Args:
        scope: The project and position.
        entity_id: Id of a stored entity.
        changes: Field or attribute to its new value; None clears an attribute of the state.

    Returns:
        `{success, entity_id, updated_fields}`, the fields in the order of `changes`.

    Raises:
        UnknownEntityError: When no entity of that id is stored.
        UserInputError: When a value does not fit its field.
    """
    with scope.database.write() as unit:
        stored = unit.entities.get(entity_id)
        if stored is None:
            raise UnknownEntityError(
                f"no entity {entity_id!r} is stored; list them with `novelgen entity list`"
            )
        changed = _changed_entity(stored.entity, changes)
        state = {name: value for name, value in changes.items() if not _is_card_field(stored.entity, name)}
        _require_state(stored.entity.entity_type, state)
        rescanned = _store(scope, unit, changed) if changed != stored.entity else False
        at = scope.writing_position(unit)
        unit.states.append(_state_changes(changed, state, at))
    if rescanned:
        drain_outbox(scope.stores, scope.project_id)
    return {"success": True, "entity_id": entity_id, "updated_fields": list(changes)}


def _generate(
    scope: StoryScope, entity_type: EntityType, fields: Mapping[str, Any], state: Mapping[str, Any]
) -> Entity:
    with scope.database.write() as unit:
        _refuse_taken_name(scope, unit, fields["name"], entity_type)
        at = scope.writing_position(unit)
        place = {"first_chapter": at.chapter_index, "first_scene": at.scene_index}
        entity = Entity(
            entity_id=unit.entities.next_id(entity_type),
            entity_type=entity_type,
            **fields,
            **place,
            **{f"name_{field}": value for field, value in place.items()},
        )
        rescanned = _store(scope, unit, entity)
        unit.states.append(_state_changes(entity, state, at))
    if rescanned:
        drain_outbox(scope.stores, scope.project_id)
    return entity


def _store(scope: StoryScope, unit: UnitOfWork, entity: Entity) -> bool:
    """Store what an author or a planner said of an entity; tell whether stored scenes name it."""
    settings, now = scope.stores.settings.memory.ingest, scope.stores.clock()
    result = store_entities_in(
        unit, scope.project_id, [entity], origin="author", settings=settings, created_at=now
    )
    return bool(result.rescanned)


def _refuse_taken_name(scope: StoryScope, unit: UnitOfWork, name: str, entity_type: EntityType) -> None:
    shown = {entity.entity_id: entity for entity in scope.entities(unit)}
    for stored in unit.entities.list_all(entity_types=[entity_type]):
        if name_key(name) not in map(name_key, stored.entity.names()):
            continue
        known = shown.get(stored.entity.entity_id)
        if known is None or name_key(name) not in map(name_key, known.names()):
            # What the story tells later is not told here, its ids neither.
            raise UserInputError(f"the name {name!r} is taken; choose another one")
        raise UserInputError(f"{entity_type} {known.entity_id} bears the name {name!r} already; use that id")


def _is_card_field(entity: Entity, name: str) -> bool:
    profile_fields = set(PROFILE_MODELS[entity.entity_type].model_fields) - {"current_state", "extra"}
    return name in (*_ENTITY_FIELDS, "aliases") or name in profile_fields


def _changed_entity(entity: Entity, changes: Mapping[str, Any]) -> Entity:
    card = {name: value for name, value in changes.items() if _is_card_field(entity, name)}
    own = {name: card.pop(name) for name in _ENTITY_FIELDS if name in card}
    if "aliases" in card:
        own["aliases"] = _aliases(entity, card.pop("aliases"))
    profile = _merged(entity.profile, card)
    try:
        profile_of(entity.entity_type, profile)
        return Entity.model_validate(entity.model_dump() | own | {"profile": profile})
    except ValidationError as error:
        raise _misfit(error) from error


def _aliases(entity: Entity, given: Any) -> list[Any]:
    known = {alias.alias: alias for alias in entity.aliases}
    listed = given if isinstance(given, list) else [given]
    return [
        known.get(each, EntityAlias(alias=each)) if isinstance(each, str) and each else each
        for each in listed
    ]


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(old)
    for name, value in new.items():
        before = merged.get(name)
        both = isinstance(before, Mapping) and isinstance(value, Mapping)
        merged[name] = {**before, **value} if both else value  # type: ignore[dict-item]
    return merged


def _require_state(entity_type: EntityType, state: Mapping[str, Any]) -> None:
    given = {name: value for name, value in state.items() if value is not None}
    known = {name: value for name, value in given.items() if name in STATE_MODELS[entity_type].model_fields}
    try:
        STATE_MODELS[entity_type].model_validate(known)
    except ValidationError as error:
        raise _misfit(error) from error


def _state_changes(entity: Entity, state: Mapping[str, Any], at: StoryPosition) -> list[StateChange]:
    return [
        StateChange(
            entity_id=entity.entity_id,
            entity_type=entity.entity_type,
            attribute=attribute,
            value=value,
            chapter_index=at.chapter_index,
            scene_index=at.scene_index,
        )
        for attribute, value in state.items()
    ]


def _misfit(error: ValidationError) -> UserInputError:
    first = error.errors(include_url=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    return UserInputError(f"{field} cannot be {first.get('input')!r}: {first['msg']}")
