"""From a scene that is taken in to the one write that stores it with everything that comes from it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from novelgen.models.entity import Entity
from novelgen.models.state import StateChange
from runtime.ingest.scene_chunks import ChunkScope, passage_chunks, record_chunks
from runtime.ingest.scene_input import SceneInput
from runtime.ingest.scene_reading import SceneReading, SceneSurroundings, name_mentions
from runtime.ingest.scene_states import presence_states, recorded_states
from runtime.settings import IngestSettings
from runtime.storage.records import SceneWrite


def scene_write(
    scene: SceneInput,
    surroundings: SceneSurroundings,
    *,
    project_id: str,
    scene_id: str,
    settings: IngestSettings,
    created_at: datetime,
) -> SceneWrite:
    """Derive everything that a scene brings.

    Args:
        scene: The scene, scrubbed.
        surroundings: What is known on entering it.
        project_id: The project.
        scene_id: The scene's id, the same at every write of the scene.
        settings: What is embedded beside a record.
        created_at: Moment stamped on new memories.
    """
    reading = SceneReading(scene, surroundings)
    scope = ChunkScope(
        project_id=project_id,
        scene_id=scene_id,
        created_at=created_at,
        embed_passages=settings.embed_passages,
        embed_key_events=settings.embed_key_events,
    )
    record = scene.record
    chunks = passage_chunks(scene, scope, mentions_in=reading.mentions_in)
    if record is not None:
        chunks = record_chunks(scene, record, scope, mentions_in=reading.mentions_in) + chunks
    return SceneWrite(
        project_id=project_id,
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
        scene_id=scene_id,
        label=scene.label,
        title=scene.title or (record.title if record else ""),
        text=scene.text,
        location_id=reading.location_id,
        pov=record.pov_character_id if record else None,
        story_time=record.story_time if record else None,
        participants=reading.participants,
        record=record,
        record_origin=scene.record_origin if record else "rules",
        extraction_status="done" if record else scene.extraction_status,
        failure_reason=None if record else scene.failure_reason,
        chunks=chunks,
        states=_states(scene, reading, surroundings.entities),
        mentions=name_mentions(scene.text, surroundings.entities),
    )


def _states(scene: SceneInput, reading: SceneReading, entities: Sequence[Entity]) -> list[StateChange]:
    types = {entity.entity_id: entity.entity_type for entity in entities}
    presence = presence_states(
        reading.participants,
        location_id=reading.location_id,
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
        entity_types=types,
    )
    if scene.record is None:
        return presence
    recorded = recorded_states(scene.record, text=scene.text, made_by=scene.record_origin, entity_types=types)
    return [*presence, *recorded]
