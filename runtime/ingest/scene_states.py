"""The state changes that a scene brings: what its record says, and who was on stage where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from novelgen.models.entity import ID_PREFIXES, EntityType
from novelgen.models.record import SceneRecord
from novelgen.models.state import PRESENCE_ATTRIBUTE, StateChange
from novelgen.records.evidence import QuoteFinder
from runtime.ingest.scene_facts import located_evidence
from runtime.ingest.scene_input import RecordOrigin

_TYPES_BY_PREFIX: dict[str, EntityType] = {prefix: kind for kind, prefix in ID_PREFIXES.items()}


def recorded_states(
    record: SceneRecord,
    *,
    text: str,
    made_by: RecordOrigin,
    entity_types: Mapping[str, EntityType],
) -> list[StateChange]:
    """Return the changes that a record states, in its order, one per attribute, with their quotes located.

    Args:
        record: The record; None as a value clears the attribute.
        text: The scene, in which the quotes are looked for.
        made_by: Who made the record; see `located_evidence`.
        entity_types: Type of every known entity; one that is not known is judged by its id.
    """
    finder = QuoteFinder(text)
    return [
        StateChange(
            entity_id=change.entity_id,
            entity_type=_type_of(change.entity_id, entity_types),
            attribute=attribute,
            value=value,
            chapter_index=record.chapter_index,
            scene_index=record.scene_index,
            **evidence._asdict(),
        )
        for change in record.state_changes
        for evidence in [located_evidence(change.evidence, finder, made_by)]
        for attribute, value in change.changes.items()
    ]


def presence_states(
    participants: Sequence[str],
    *,
    location_id: str | None,
    chapter_index: int,
    scene_index: int,
    entity_types: Mapping[str, EntityType],
) -> list[StateChange]:
    """Return one presence per participant, each id once, in their order.

    Args:
        participants: Ids of who was on stage.
        location_id: Where the scene played; None when nobody knows.
        chapter_index: Chapter of the scene.
        scene_index: Scene within the chapter.
        entity_types: Type of every known entity; one that is not known is judged by its id.
    """
    where = {"location_id": location_id, "chapter_index": chapter_index, "scene_index": scene_index}
    return [
        StateChange(
            entity_id=entity_id,
            entity_type=_type_of(entity_id, entity_types),
            attribute=PRESENCE_ATTRIBUTE,
            value=dict(where),
            chapter_index=chapter_index,
            scene_index=scene_index,
            kind="presence",
        )
        for entity_id in dict.fromkeys(participants)
    ]


def _type_of(entity_id: str, entity_types: Mapping[str, EntityType]) -> EntityType:
    return entity_types.get(entity_id) or _TYPES_BY_PREFIX.get(entity_id[:1], "character")
