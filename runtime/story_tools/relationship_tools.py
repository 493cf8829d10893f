"""Tools about how characters stand: relationship.create, relationship.update and relationship.query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from novelgen.errors import UserInputError
from novelgen.models.record import RecordedRelationshipChange
from novelgen.models.state import Relationship
from runtime.storage.unit import UnitOfWork
from runtime.story_tools.refusals import Answer
from runtime.story_tools.story_scope import StoryScope


def relationship_create(
    scope: StoryScope,
    *,
    character_a: str,
    character_b: str,
    relationship_type: str,
    perspective_a: str,
    perspective_b: str,
    status: str = "neutral",
    intensity: int = 5,
    dimensions: Mapping[str, int] | None = None,
) -> Answer:
    """Create the relationship of two characters; `dimensions` are for code and the command line.

    Returns:
        `{success, relationship_id}`.

    Raises:
        UnknownEntityError: When one of them is not known.
        UserInputError: When both are one, or they have a relationship already.
    """
    with scope.database.write() as unit:
        first, second = _pair(scope, unit, character_a, character_b)
        known = unit.relationships.between(first, second, as_of=scope.as_of)
        if known is not None:
            raise UserInputError(
                f"{first} and {second} have relationship {known.relationship_id} already; use relationship_update"
            )
        change = RecordedRelationshipChange.model_validate(
            {
                "character_a": first,
                "character_b": second,
                "relationship_type": relationship_type,
                "perspective_a": perspective_a,
                "perspective_b": perspective_b,
                "status": status,
                "intensity": intensity,
                "dimensions": dict(dimensions or {}),
            }
        )
        at = scope.writing_position(unit)
        relationship_id = unit.relationships.append(change, at=at)
    return {"success": True, "relationship_id": relationship_id}


def relationship_update(
    scope: StoryScope,
    *,
    character_a: str,
    character_b: str,
    status: str | None = None,
    event: str | None = None,
    scene_id: str | None = None,
    intensity: int | None = None,
    dimensions: Mapping[str, int] | None = None,
) -> Answer:
    """Change the relationship of two characters, named in either order.

    `dimensions` are for code and the command line; those that are not given stay as they are.

    Returns:
        `{success, relationship_id, updated}`; not updated when it says nothing new.

    Raises:
        UnknownEntityError: When one of them is not known.
        UnknownSceneError: When the scene is not stored before the position.
        UserInputError: When they have no relationship, or nothing is to be changed.
    """
    changes = {"status": status, "event": event, "intensity": intensity}
    given: dict[str, Any] = {name: value for name, value in changes.items() if value is not None}
    if dimensions:
        given["dimensions"] = dict(dimensions)
    if not given:
        raise UserInputError("nothing to update: give status, event or intensity")
    with scope.database.write() as unit:
        first, second = _pair(scope, unit, character_a, character_b)
        known = unit.relationships.between(first, second, as_of=scope.as_of)
        if known is None:
            raise UserInputError(f"{first} and {second} have no relationship yet; use relationship_create")
        at = scope.writing_position(unit, scene_id)
        is_new = event is not None or _differs(known, given)
        if is_new:
            change = RecordedRelationshipChange.model_validate(
                {"character_a": first, "character_b": second, **given}
            )
            unit.relationships.append(change, at=at)
    return {"success": True, "relationship_id": known.relationship_id, "updated": is_new}


def relationship_query(scope: StoryScope, *, character_id: str, status_filter: str | None = None) -> Answer:
    """List how a character stands to others, from its own side, as of the position.

    Returns:
        `{relationships: [{character_id, character_name, relationship_type, status, your_view, intensity}]}`,
        the weightiest first.

    Raises:
        UnknownEntityError: When the character is not known.
    """
    with scope.database.read() as unit:
        own_id = scope.entity_id(unit, character_id, "character")
        names = {entity.entity_id: entity.name for entity in scope.entities(unit)}
        relations = unit.relationships.list_as_of(
            as_of=scope.as_of, character_id=own_id, status=status_filter
        )
    views = sorted((relation.seen_by(own_id) for relation in relations), key=lambda view: -view.intensity)
    fields = {"character_id", "relationship_type", "status", "your_view", "intensity"}
    return {
        "relationships": [
            {
                "character_name": names.get(view.character_id, view.character_id),
                **view.model_dump(include=fields),
            }
            for view in views
        ]
    }


def _pair(scope: StoryScope, unit: UnitOfWork, character_a: str, character_b: str) -> tuple[str, str]:
    first = scope.entity_id(unit, character_a, "character")
    second = scope.entity_id(unit, character_b, "character")
    if first == second:
        raise UserInputError(f"a relationship needs two characters, but both are {first!r}")
    return first, second


def _differs(known: Relationship, given: dict[str, Any]) -> bool:
    dimensions = {**known.dimensions, **given.get("dimensions", {})}
    standing = {name: value for name, value in given.items() if name != "dimensions"}
    return dimensions != known.dimensions or any(
        getattr(known, name) != value for name, value in standing.items()
    )
