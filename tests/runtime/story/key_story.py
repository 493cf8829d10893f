"""Stories told in few lines: scenes with what they established, and the people of the heron key."""

from collections.abc import Mapping, Sequence
from typing import Any

from novelgen.models.entity import Entity
from novelgen.models.record import SceneRecord
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import IngestResult, ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from runtime.story.story import Story

PEOPLE = {"C0": "Ada", "C1": "Ben", "C2": "Cornelius", "C3": "Dora"}


def fact(memory_id: str, content: str, *about: str, **more: Any) -> dict[str, Any]:
    return {"memory_id": memory_id, "content": content, "entities": list(about), "event_type": "event", **more}


def scene(place: tuple[int, int], text: str, present: str, **record: Any) -> SceneInput:
    chapter, number = place
    given = {"chapter_index": chapter, "scene_index": number, "characters_present": present.split(), **record}
    return SceneInput(chapter_index=chapter, scene_index=number, text=text, record=SceneRecord.model_validate(given))


def heard(who: str, what: str, by: str, **more: Any) -> dict[str, Any]:
    return {"character_id": who, "memory_ids": [what], "from_id": by, **more}


def stored_story(
    stores: MemoryStores,
    project_id: str,
    scenes: Sequence[SceneInput],
    people: Mapping[str, str] = PEOPLE,
    *,
    language: str = "en",
    index: bool = True,
) -> tuple[Story, IngestResult]:
    """Store some people, known before the first scene, and scenes."""
    stores.create_project(project_id, language=language)
    first = {"first_chapter": 1, "first_scene": 0, "name_first_chapter": 1, "name_first_scene": 0}
    known = [Entity(entity_id=each, entity_type="character", name=name, **first) for each, name in people.items()]
    store_entities(stores, project_id, known, origin="author")
    return Story(stores, project_id), ingest_scenes(stores, project_id, scenes, index=index)
