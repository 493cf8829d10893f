"""Storing a scene in a running transaction, with all that is derived from it.

`replace_scene` derives, and `runtime.storage.story.scene_writer` withdraws what came from the scene before.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from itertools import count

from novelgen.models.entity import Entity
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from novelgen.models.state import StateChange
from novelgen.records.supersession import SUPERSESSION_CHAINS, with_supersessions
from runtime.ingest.scene_facts import (
    ChunkScope,
    passage_chunks,
    presence_states,
    record_chunks,
    recorded_states,
)
from runtime.ingest.scene_input import (
    RecordOrigin,
    SceneInput,
    SceneReading,
    SceneSurroundings,
    name_mentions,
)
from runtime.ingest.story_before import memories_still_true
from runtime.settings import IngestSettings
from runtime.storage.records import SceneWrite, SceneWriteResult, StoredScene
from runtime.storage.unit import UnitOfWork

SCENES_BEFORE = 3
"""How many scenes back somebody who was on stage may be meant by a shared name."""


def replace_scene(
    unit: UnitOfWork,
    scene: SceneInput,
    surroundings: SceneSurroundings,
    *,
    project_id: str,
    stored: StoredScene | None,
    settings: IngestSettings,
    created_at: datetime,
) -> SceneWriteResult:
    """Derive all that a scene brings and store it, in place of what came from it before.

    Args:
        unit: A writing unit of work.
        scene: The scene, scrubbed.
        surroundings: What is known on entering it.
        project_id: The project.
        stored: What stands at the scene's position, if anything.
        settings: What is embedded beside a record.
        created_at: Moment stamped on new memories.
    """
    write = scene_write(
        scene,
        surroundings,
        project_id=project_id,
        scene_id=stored.scene_id if stored else _new_scene_id(unit, project_id, scene),
        settings=settings,
        created_at=created_at,
    )
    return unit.scenes.replace_scene(_with_pairs(unit, write))


def _with_pairs(unit: UnitOfWork, write: SceneWrite) -> SceneWrite:
    """Let memories of a record that no model made put an end to earlier ones by the pairs, as a model's do.

    The record stays as it was given: read again, it is the same.
    """
    record = write.record
    if record is None or write.record_origin == "extracted":
        return write
    if not any(each.event_type in SUPERSESSION_CHAINS and not each.supersedes for each in record.memories):
        return write
    position = StoryPosition(write.chapter_index, write.scene_index)
    told = with_supersessions(record, memories_still_true(unit, position))
    ended = {each.memory_id: each.supersedes for each in told.memories}
    chunks = [
        chunk.model_copy(update={"supersedes": chunk.supersedes or ended.get(chunk.source_id or "")})
        for chunk in write.chunks
    ]
    return write.model_copy(update={"chunks": chunks})


def replace_stored_scene(
    unit: UnitOfWork, stored: StoredScene, *, settings: IngestSettings, created_at: datetime
) -> SceneWriteResult:
    """Derive a stored scene anew from its own text and record, after what is known has changed."""
    scene = SceneInput(
        chapter_index=stored.chapter_index,
        scene_index=stored.scene_index,
        title=stored.title,
        text=stored.text or "",
        record=stored.record,
        record_origin=record_origin_of(stored),
        extraction_status=stored.extraction_status,
        failure_reason=stored.failure_reason,
        story_time=stored.story_time,
    )
    return replace_scene(
        unit,
        scene,
        read_surroundings(unit, stored.position),
        project_id=stored.project_id,
        stored=stored,
        settings=settings,
        created_at=created_at,
    )


def record_origin_of(stored: StoredScene) -> RecordOrigin:
    """Return who made a stored scene's record; "supplied" where there is none."""
    return "supplied" if stored.record_origin == "rules" else stored.record_origin


def same_record(left: SceneRecord | None, right: SceneRecord | None) -> bool:
    """Tell whether two records say the same, wherever their scenes stand."""
    if left is None or right is None:
        return left is right
    place = {"chapter_index", "scene_index"}
    return left.model_dump(mode="json", exclude=place) == right.model_dump(mode="json", exclude=place)


def read_surroundings(unit: UnitOfWork, position: StoryPosition) -> SceneSurroundings:
    """Read what is known on entering a scene: all entities, who was on stage lately, and where."""
    before = unit.scenes.list_as_of(as_of=position, last=SCENES_BEFORE)
    recent = [entity_id for scene in reversed(before) for entity_id in scene.participants]
    return SceneSurroundings(
        entities=[stored.entity for stored in unit.entities.list_all()],
        recent_ids=list(dict.fromkeys(recent)),
        previous_location_id=before[-1].location_id if before else None,
    )


def _new_scene_id(unit: UnitOfWork, project_id: str, scene: SceneInput) -> str:
    """Make an id that is the same for the same story, and free: the scene that had it may have moved away."""
    keys = (f"{project_id}\x1f{scene.chapter_index}:{scene.scene_index}\x1f{attempt}" for attempt in count())
    ids = (sha256(key.encode("utf-8")).hexdigest()[:32] for key in keys)
    return next(scene_id for scene_id in ids if not unit.scenes.holds_id(scene_id))


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
        story_time=record.story_time if record else scene.story_time,
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
    if scene.record is not None and scene.record.is_flashback:
        return []
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
