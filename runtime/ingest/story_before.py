"""What the story knows on entering a scene that a model is to read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from novelgen.memory.outline import OutlineScene
from novelgen.models.entity import Entity, revealed_identity
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import Place, StoryPosition
from novelgen.models.state import EntityStateSnapshot
from novelgen.reading.request import EntitySighting, KnownMemory, SceneBefore
from runtime.storage.records import MemoryFilter, StoredScene
from runtime.storage.unit import UnitOfWork

LAST_SCENES = 3


def read_story_before(unit: UnitOfWork, scene: StoredScene) -> dict[str, Any]:
    """Return the fields of a `SceneRecordRequest` that say what is known on entering a scene.

    Entities are those known by the end of the scene: also who is named in it for the first time, and of those whom
    an earlier reading of it unmasked the one who was behind the mask.
    """
    position = scene.position
    entities = _described(unit, scene)
    states = unit.states.snapshots([entity.entity_id for entity in entities], as_of=position)
    outline = unit.outline(as_of=position)
    memories = memories_still_true(unit, position)
    return {
        "entities": entities,
        "open_loops": outline.open_loops,
        "states": states,
        "relationships": outline.relationships,
        "stand_ins": _stand_ins(unit, StoryPosition(scene.chapter_index, scene.scene_index + 1)),
        "memories": [_known(chunk) for chunk in memories],
        "scenes_before": _last_scenes(unit, position),
        "story_places": [(scene.chapter_index, scene.scene_index) for scene in outline.scenes],
        "sightings": _sightings(entities, position, outline.scenes, memories, states),
    }


def _stand_ins(unit: UnitOfWork, position: StoryPosition) -> dict[str, str]:
    """Who became part of others, and who is shown by then to be somebody else."""
    masks = {
        one.entity.entity_id: revealed.entity_id
        for one in unit.entities.list_all()
        if (revealed := revealed_identity(one.entity)) and position.admits(revealed.chapter_index, revealed.scene_index)
    }
    return {**unit.merges.survivors(), **masks}


def memories_still_true(unit: UnitOfWork, position: StoryPosition) -> list[StoryMemoryChunk]:
    """Return the memories before a scene that none before it supersedes."""
    found = unit.memories.list_matching(MemoryFilter(as_of=position, content_types=["memory"], unconsolidated=True))
    over = {stored.chunk.supersedes for stored in found}
    return [stored.chunk for stored in found if stored.chunk.source_id not in over]


def _described(unit: UnitOfWork, scene: StoredScene) -> list[Entity]:
    """The entities by the end of a scene, with what earlier scenes said of those that a model found.

    A read as of a position hides such descriptions, for nobody can tell what of a supplied one is yet to come.
    One that a model wrote says no more than the scene that showed the entity first.
    """
    after = StoryPosition(scene.chapter_index, scene.scene_index + 1)
    told = {
        stored.entity.entity_id: stored.entity.description
        for stored in unit.entities.list_all()
        if stored.origin == "extracted"
    }
    return [
        entity.model_copy(update={"description": told[entity.entity_id]})
        if entity.entity_id in told and scene.position.admits(entity.first_chapter, entity.first_scene)
        else entity
        for entity in unit.entities.list_as_of(as_of=after)
    ]


def _known(chunk: StoryMemoryChunk) -> KnownMemory:
    return KnownMemory(
        memory_id=chunk.source_id or chunk.chunk_id,
        says=chunk.short or chunk.content,
        chapter_index=chunk.chapter_index,
        scene_index=chunk.scene_index,
        importance=chunk.importance,
        entities=chunk.entities_mentioned,
    )


def _last_scenes(unit: UnitOfWork, position: StoryPosition) -> list[SceneBefore]:
    return [
        SceneBefore(
            chapter_index=scene.chapter_index,
            scene_index=scene.scene_index,
            story_time=scene.story_time or "",
            location_id=scene.location_id,
            characters_present=scene.participants,
            summary=scene.record.summary if scene.record else [],
        )
        for scene in unit.scenes.list_as_of(as_of=position, last=LAST_SCENES)
    ]


def _sightings(
    entities: Iterable[Entity],
    position: StoryPosition,
    scenes: Sequence[OutlineScene],
    memories: Iterable[StoryMemoryChunk],
    states: Iterable[EntityStateSnapshot],
) -> dict[str, EntitySighting]:
    """Where each entity first appeared, or was last on stage, told of or changed, and in how many scenes it was."""
    places: dict[str, set[Place]] = defaultdict(set)
    for entity in entities:
        first = (entity.first_chapter, entity.first_scene)
        if first[0] is not None and first[1] is not None and position.admits(*first):
            places[entity.entity_id].add((first[0], first[1]))
    for scene in scenes:
        here = (scene.chapter_index, scene.scene_index)
        for entity_id in (*scene.participants, scene.location_id):
            if entity_id is not None:
                places[entity_id].add(here)
    for memory in memories:
        if memory.chapter_index is not None and memory.scene_index is not None:
            for entity_id in memory.entities_mentioned:
                places[entity_id].add((memory.chapter_index, memory.scene_index))
    for state in states:
        if state.chapter_index is not None and state.scene_index is not None:
            places[state.entity_id].add((state.chapter_index, state.scene_index))
    return {
        entity_id: EntitySighting(chapter_index=max(seen)[0], scene_index=max(seen)[1], scenes=len(seen))
        for entity_id, seen in places.items()
    }
