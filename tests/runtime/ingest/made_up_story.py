"""A small made-up story with records, for the tests of ingest."""

from typing import Any

from novelgen.models.entity import Entity
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores

ENTITIES = [
    Entity(entity_id="C0", entity_type="character", name="Mary Grey"),
    Entity(entity_id="C1", entity_type="character", name="Tom Hale"),
    Entity(entity_id="L0", entity_type="location", name="Baker Street"),
    Entity(entity_id="I0", entity_type="item", name="the lamp"),
]

TEXTS = {
    (1, 1): "Mary Grey came to Baker Street. She carried the lamp.",
    (1, 2): "Tom Hale took the lamp from Mary Grey and promised to return it.",
    (2, 1): "Mary Grey said nothing. Tom Hale did not come.",
}


def scene(chapter: int, number: int, text: str | None = None, **fields: Any) -> SceneInput:
    """Return a scene of the story, or another text at its place."""
    return SceneInput(chapter_index=chapter, scene_index=number, text=text or TEXTS[chapter, number], **fields)


def record(chapter: int, number: int, **changes: Any) -> SceneRecord:
    """Return a record for a place, with one memory, two bullets, a state, a loop and a relationship."""
    name = f"{chapter}{number}"
    return SceneRecord.model_validate(
        {
            "chapter_index": chapter,
            "scene_index": number,
            "location_id": "L0",
            "characters_present": ["C0", "C1"],
            "summary": [f"Mary Grey acts in {name}.", f"Tom Hale acts in {name}."],
            "key_events": [f"event {name}"],
            "state_changes": [{"entity_id": "C0", "changes": {"mood": f"mood {name}"}}],
            "relationship_changes": [{"character_a": "C0", "character_b": "C1", "status": f"status {name}"}],
            "open_loops_created": [{"id": f"OL{name}", "description": f"loop {name}"}],
            "memories": [{"memory_id": f"M{name}", "content": f"memory {name}", "entities": ["C0"]}],
            **changes,
        }
    )


def recorded_scenes() -> list[SceneInput]:
    """Return the whole story with records."""
    return [scene(*place, record=record(*place)) for place in TEXTS]


def stored_at(stores: MemoryStores, project: str, chapter: int, number: int) -> dict[str, Any]:
    """Return all that is stored of a place, as plain data that can be compared."""
    with stores.database(project).read() as unit:
        stored = unit.scenes.get(StoryPosition(chapter, number))
        places = [(chapter, number)]
        return {
            "scene": None if stored is None else stored.model_dump(),
            "memories": [each.model_dump() for each in unit.memories.of_scenes(places)],
            "states": [
                change.model_dump()
                for change in unit.states.changes_of()
                if (change.chapter_index, change.scene_index) == (chapter, number)
            ],
            "loops": [
                loop.model_dump(exclude={"age_scenes"})
                for loop in unit.threads.list_as_of()
                if (loop.chapter_index, loop.scene_index) == (chapter, number)
            ],
        }
