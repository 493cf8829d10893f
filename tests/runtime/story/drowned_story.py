"""A made-up story in which somebody dies and a secret comes out later, for checks of drafts."""

from typing import Any

from novelgen.models.entity import Entity
from novelgen.models.record import SceneRecord
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores

ENTITIES = [
    Entity(entity_id="C0", entity_type="character", name="Ilse Moor"),
    Entity(entity_id="C1", entity_type="character", name="Tobias Fenn"),
    Entity(entity_id="L0", entity_type="location", name="the Tide Mill"),
]

SECRET = "The miller's will names Ilse Moor as the heir of the Tide Mill."

TEXTS = {
    (1, 1): "Ilse Moor and Tobias Fenn locked the Tide Mill at dusk and shared a loaf on the step.",
    (2, 1): "The sluice broke and Tobias Fenn drowned before Ilse Moor could reach him.",
    (3, 1): f"Ilse Moor opened the drawer of the dead man. {SECRET}",
}

_MEMORIES = {
    (1, 1): ("M001", "event", "Ilse Moor and Tobias Fenn locked the Tide Mill at dusk.", ["C0", "C1", "L0"]),
    (2, 1): ("M002", "death", "Tobias Fenn drowned when the sluice broke.", ["C1"]),
    (3, 1): ("M003", "discovery", SECRET, ["C0", "L0"]),
}

DEAD_ACT = "Tobias Fenn walked into the kitchen and said, “Good morning.”"
"""A sentence of a draft that nothing but his death contradicts."""


def scene(chapter: int, number: int) -> SceneInput:
    """Return a scene of the story with its record."""
    place = (chapter, number)
    memory_id, event_type, content, entities = _MEMORIES[place]
    drowned: list[dict[str, Any]] = [{"entity_id": "C1", "changes": {"status": "dead"}}]
    record = SceneRecord.model_validate(
        {
            "chapter_index": chapter,
            "scene_index": number,
            "location_id": "L0",
            "characters_present": ["C0"] if chapter == 3 else ["C0", "C1"],
            "summary": [content],
            "state_changes": drowned if chapter == 2 else [],
            "memories": [
                {
                    "memory_id": memory_id,
                    "event_type": event_type,
                    "content": content,
                    "importance": 8,
                    "entities": entities,
                }
            ],
        }
    )
    return SceneInput(chapter_index=chapter, scene_index=number, text=TEXTS[place], record=record)


def tell_drowned_story(stores: MemoryStores, project_id: str, *, index: bool = False) -> None:
    """Store the story in a project of its own."""
    stores.create_project(project_id, language="en")
    store_entities(stores, project_id, ENTITIES, origin="author")
    ingest_scenes(stores, project_id, [scene(*place) for place in TEXTS], index=index)
