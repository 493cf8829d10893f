"""Giving ids to what a scene brings: new entities and new open loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from novelgen.extraction.answer_reading import TEMPORARY_LOOP_PREFIX
from novelgen.extraction.references import TEMPORARY_ENTITY_PREFIX, as_entity
from novelgen.extraction.request import SceneRecordResult
from novelgen.models.entity import Entity, EntityType
from novelgen.models.record import SceneRecord

OPEN_LOOP: Literal["open_loop"] = "open_loop"
AllocatedKind = EntityType | Literal["open_loop"]


def with_given_ids(
    result: SceneRecordResult,
    allocate: Callable[[AllocatedKind], str],
    *,
    known_loops: Mapping[str, str] | None = None,
) -> tuple[SceneRecord | None, list[Entity]]:
    """Replace the temporary ids of a result.

    Args:
        result: What an extraction found.
        allocate: Gives out the next id of an entity type or of an open loop, such as C7 or OL3; it is called
            once for each, in the order in which they were found.
        known_loops: Temporary id to id, of loops that have one already.

    Returns:
        The record, or None when the extraction failed (nothing is allocated then), and the new entities with
        the position from which on they are known.
    """
    record = result.record
    if record is None:
        return None, []
    given = {each.temporary_id: allocate(each.entity_type) for each in result.proposed_entities}
    known = known_loops or {}
    given |= {
        loop.id: known.get(loop.id) or allocate(OPEN_LOOP)
        for loop in record.open_loops_created
        if loop.id.startswith(TEMPORARY_LOOP_PREFIX)
    }
    entities = [
        as_entity(each).model_copy(
            update={
                "entity_id": given[each.temporary_id],
                "first_chapter": record.chapter_index,
                "first_scene": record.scene_index,
            }
        )
        for each in result.proposed_entities
    ]
    return SceneRecord.model_validate(_replaced(record.model_dump(), given)), entities


def _replaced(value: Any, given: Mapping[str, str]) -> Any:
    """Replace whole strings that are temporary ids, and the entities of slots; free text stays as it is."""
    if isinstance(value, dict):
        return {key: _replaced(each, given) for key, each in value.items()}
    if isinstance(value, list):
        return [_replaced(each, given) for each in value]
    if not isinstance(value, str) or not value.startswith(TEMPORARY_ENTITY_PREFIX):
        return value
    entity, dot, attribute = value.partition(".")
    return f"{given[entity]}{dot}{attribute}" if entity in given else value
