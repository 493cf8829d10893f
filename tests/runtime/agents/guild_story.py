"""A made-up story of a mapmakers' guild, with records."""

from typing import Any

from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.record import SceneRecord
from runtime.ingest.scene_input import SceneInput

ENTITIES = [
    Entity(
        entity_id="C0",
        entity_type="character",
        name="Elena Thorne",
        aliases=[EntityAlias(alias="the Cartographer")],
        role="protagonist",
        description="A mapmaker with an obsessive attention to detail",
        profile={"personality": {"fears": ["being forgotten"]}},
    ),
    Entity(entity_id="C1", entity_type="character", name="Marcus Vale", description="Elena's old teacher"),
    Entity(entity_id="C2", entity_type="character", name="Odile Brandt", description="A smuggler"),
    Entity(
        entity_id="L0",
        entity_type="location",
        name="the Archive",
        description="A vast underground library",
        profile={"atmosphere": "musty"},
    ),
    Entity(entity_id="I0", entity_type="item", name="the map fragment"),
]

_TEXTS = {
    (1, 1): "Elena Thorne broke into the Archive after hours and found the map fragment.",
    (1, 2): "Marcus Vale caught Elena Thorne at the desk of her father in the Archive.",
    (2, 1): "Odile Brandt sold Elena Thorne a passage over the frozen lake.",
}
_RECORDS: dict[tuple[int, int], dict[str, Any]] = {
    (1, 1): {
        "title": "The hidden fragment",
        "location_id": "L0",
        "characters_present": ["C0"],
        "summary": ["Elena searches her father's desk", "She finds a map fragment in a false bottom"],
        "state_changes": [{"entity_id": "C0", "changes": {"emotional_state": "anxious"}}],
        "open_loops_created": [{"id": "OL0", "description": "What does the fragment lead to?", "importance": "high"}],
    },
    (1, 2): {
        "title": "Caught",
        "location_id": "L0",
        "characters_present": ["C0", "C1"],
        "summary": ["Marcus confronts Elena in the archive"],
        "relationship_changes": [
            {
                "character_a": "C1",
                "character_b": "C0",
                "relationship_type": "mentor-student",
                "status": "strained",
                "perspective_a": "she asks too many questions",
                "perspective_b": "he hides something",
                "intensity": 7,
            }
        ],
    },
    (2, 1): {
        "title": "A passage",
        "characters_present": ["C0", "C2"],
        "summary": ["Odile sells a passage over the frozen lake"],
        "state_changes": [{"entity_id": "C0", "changes": {"emotional_state": "hopeful"}}],
        "relationship_changes": [
            {"character_a": "C0", "character_b": "C1", "status": "hostile", "event": "he betrayed her"},
            {"character_a": "C0", "character_b": "C2", "relationship_type": "business", "intensity": 3},
        ],
    },
}


def scene(chapter: int, number: int) -> SceneInput:
    """Return a scene of the story with its record."""
    place = (chapter, number)
    record = SceneRecord.model_validate({"chapter_index": chapter, "scene_index": number, **_RECORDS[place]})
    return SceneInput(chapter_index=chapter, scene_index=number, text=_TEXTS[place], record=record)
