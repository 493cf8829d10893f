"""Storing a scene in a running transaction, with all that is derived from it.

`replace_scene` derives, and `runtime.storage.story.scene_writer` withdraws what came from the scene before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from itertools import count

from novelgen.memory.supersession import ends_another, with_supersessions
from novelgen.memory.vital_status import STATUS_ATTRIBUTES, is_death, is_return_to_life
from novelgen.models.entity import Entity
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from novelgen.models.state import StateChange
from runtime.ingest.scene_facts import (
    ChunkScope,
    passage_chunks,
    presence_states,
    record_chunks,
    recorded_knowledge,
    recorded_states,
)
from runtime.ingest.scene_input import RecordOrigin, SceneInput, SceneReading, SceneSurroundings, name_mentions
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
    """Derive all that a scene brings and store it, in place of what came from it before."""
    ended = _ended_memories(unit, scene, surroundings)
    write = scene_write(
        scene,
        surroundings,
        ended=ended,
        project_id=project_id,
        scene_id=stored.scene_id if stored else _new_scene_id(unit, project_id, scene),
        settings=settings,
        created_at=created_at,
    )
    written = unit.scenes.replace_scene(write)
    return written.model_copy(update={"ended": ended})


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
    """Read what is known on entering a scene: all entities, who was on stage lately and where, and who is dead."""
    before = unit.scenes.list_as_of(as_of=position, last=SCENES_BEFORE)
    recent = [entity_id for scene in reversed(before) for entity_id in scene.participants]
    return SceneSurroundings(
        entities=[stored.entity for stored in unit.entities.list_all()],
        recent_ids=list(dict.fromkeys(recent)),
        previous_location_id=before[-1].location_id if before else None,
        dead_ids=_dead(unit, position),
    )


def _dead(unit: UnitOfWork, position: StoryPosition) -> frozenset[str]:
    dead: set[str] = set()
    for change in unit.states.changes_of_attributes(STATUS_ATTRIBUTES, as_of=position):
        if is_death(change.attribute, change.value):
            dead.add(change.entity_id)
        elif is_return_to_life(change.attribute, change.value):
            dead.discard(change.entity_id)
    return frozenset(dead)


def _new_scene_id(unit: UnitOfWork, project_id: str, scene: SceneInput) -> str:
    """Make an id that is the same for the same story, and free: the scene that had it may have moved away."""
    keys = (f"{project_id}\x1f{scene.chapter_index}:{scene.scene_index}\x1f{attempt}" for attempt in count())
    ids = (sha256(key.encode("utf-8")).hexdigest()[:32] for key in keys)
    return next(scene_id for scene_id in ids if not unit.scenes.holds_id(scene_id))


def _ended_memories(unit: UnitOfWork, scene: SceneInput, surroundings: SceneSurroundings) -> dict[str, str]:
    """Return which memories of a record that came with the scene end which earlier ones, as far as rules tell.

    The record itself stays as it was given; an extracted one says what its memories end.
    """
    record = scene.record
    if record is None or scene.record_origin == "extracted" or not ends_another(record):
        return {}
    people = [each.entity_id for each in surroundings.entities if each.entity_type == "character"]
    at = StoryPosition(scene.chapter_index, scene.scene_index)
    told = with_supersessions(record, memories_still_true(unit, at), people=people)
    return {
        after.memory_id: after.supersedes
        for before, after in zip(record.memories, told.memories, strict=True)
        if after.supersedes and not before.supersedes
    }


def scene_write(
    scene: SceneInput,
    surroundings: SceneSurroundings,
    *,
    ended: Mapping[str, str],
    project_id: str,
    scene_id: str,
    settings: IngestSettings,
    created_at: datetime,
) -> SceneWrite:
    """Derive everything that a scene brings."""
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
        told = [
            each.model_copy(update={"supersedes": each.supersedes or ended.get(each.memory_id)})
            for each in record.memories
        ]
        known = record.model_copy(update={"memories": told})
        chunks = record_chunks(scene, known, scope, mentions_in=reading.mentions_in) + chunks
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
        knowledge=recorded_knowledge(record, text=scene.text, made_by=scene.record_origin) if record else [],
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
        is_guessed=scene.record is None and not scene.cast,
    )
    if scene.record is None:
        return presence
    recorded = recorded_states(scene.record, text=scene.text, made_by=scene.record_origin, entity_types=types)
    return [*presence, *recorded]
