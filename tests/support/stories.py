"""A tiny story, for tests of everything above the stores."""

from datetime import UTC, datetime
from functools import cache

from novelgen.models.context import MemoryContextRequest
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.plan import ScenePlan
from novelgen.models.record import SceneRecord
from novelgen.models.state import StateChange
from novelgen.models.user_file import Character, CharactersConfig
from tests.support.stored_story import StoredStory

PROJECT = "lighthouse"
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def memory(
    source_id: str, content: str, chapter: int | None, scene: int | None, *entities: str, importance: int = 5
) -> StoryMemoryChunk:
    """Return a stored memory of the lighthouse story."""
    return StoryMemoryChunk(
        chunk_id=f"k-{source_id}",
        project_id=PROJECT,
        chapter_index=chapter,
        scene_index=scene,
        content=content,
        content_type="memory",
        entities_mentioned=list(entities),
        source_id=source_id,
        importance=importance,
        created_at=NOW,
    )


MEMORIES = [
    memory("M1", "Ada hid the brass key under the third stair of the lighthouse.", 1, 1, "C0", "I0", "L0"),
    memory("M2", "Ben promised Ada to keep the lamp burning until her return.", 1, 2, "C1", "C0", importance=8),
    memory("M3", "The keeper's logbook names a wreck called the Marigold.", 2, 1, "I1"),
    memory("M4", "Ben sold the brass key to the harbour master.", 3, 1, "C1", "I0", importance=9),
]

ENTITIES = [
    Entity(entity_id="C0", entity_type="character", name="Ada", first_chapter=1, first_scene=1),
    Entity(
        entity_id="C1",
        entity_type="character",
        name="Ben",
        aliases=[EntityAlias(alias="the lamplighter")],
        first_chapter=1,
        first_scene=2,
    ),
    Entity(entity_id="C2", entity_type="character", name="Cornelius", first_chapter=3, first_scene=1),
    Entity(entity_id="I0", entity_type="item", name="the brass key", first_chapter=1, first_scene=1),
    Entity(entity_id="L0", entity_type="location", name="the lighthouse", first_chapter=1, first_scene=1),
]

CHANGES = [
    StateChange(entity_id="C0", attribute="location_id", value="L0", chapter_index=1, scene_index=1),
    StateChange(entity_id="C1", attribute="goals", value=["keep the lamp"], chapter_index=1, scene_index=2),
    StateChange(entity_id="I0", entity_type="item", attribute="holder", value="C0", chapter_index=1, scene_index=1),
    StateChange(entity_id="I0", entity_type="item", attribute="holder", value="C2", chapter_index=3, scene_index=1),
]

RECORDS = [
    SceneRecord.model_validate({"chapter_index": chapter, "scene_index": scene, "key_events": [event], **more})
    for chapter, scene, event, more in (
        (1, 1, "Ada hides it", {"location_id": "L0", "characters_present": ["C0"]}),
        (
            1,
            2,
            "A vow",
            {
                "location_id": "L0",
                "characters_present": ["C0", "C1"],
                "open_loops_created": [
                    {
                        "id": "OL0",
                        "category": "promise",
                        "description": "Will Ben keep the lamp burning?",
                        "importance": "high",
                        "related_characters": ["C1"],
                    }
                ],
                "relationship_changes": [
                    {
                        "character_a": "C0",
                        "character_b": "C1",
                        "relationship_type": "friends",
                        "status": "trusting",
                        "perspective_a": "Ben never lies",
                        "intensity": 7,
                    }
                ],
            },
        ),
        (2, 1, "The logbook is read", {"characters_present": ["C0"]}),
        (3, 1, "The key is sold", {"characters_present": ["C1", "C2"]}),
    )
]


@cache
def lighthouse_memory() -> StoredStory:
    """Return the whole story, which nobody changes; chapter 3 lies in the future of the usual plan."""
    story = StoredStory.of_chunks(PROJECT, MEMORIES, records=RECORDS, entities=ENTITIES, changes=CHANGES)
    # The first search loads what searches, which no deadline of a test should pay for.
    assert story.search_story_memory(PROJECT, "the brass key")
    return story


def lighthouse_request(chapter_index: int = 2, scene_index: int = 2) -> MemoryContextRequest:
    """Return a plan of a scene in which Ada looks for the key and asks Ben."""
    return MemoryContextRequest(
        project_id=PROJECT,
        chapter_index=chapter_index,
        scene_index=scene_index,
        scene_plan=ScenePlan(
            scene_number=scene_index,
            location="the lighthouse",
            characters=["Ada", "the lamplighter"],
            purpose="Ada returns and looks for the brass key",
            key_actions=["Ada searches the third stair", "She asks Ben about the lamp and his promise"],
        ),
        characters=CharactersConfig(protagonist=Character(name="Ada"), supporting_characters=[Character(name="Ben")]),
    )
