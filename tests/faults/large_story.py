"""A story with so many memories that Chroma keeps their vectors in files of their own."""

from pathlib import Path

from novelgen.models.context import MemoryContextRequest
from novelgen.models.entity import Entity
from novelgen.models.plan import ScenePlan
from novelgen.models.record import SceneRecord
from runtime.ingest.entities import store_entities
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.stores import MemoryStores
from tests.support.demo_project import settings_for

PROJECT = "large"
SCENES = 11
# Chroma writes vectors to files of their own beyond 1,000 rows.
MEMORIES_PER_SCENE = 100
EMBEDDINGS = "fake:16"

_ENTITIES = [
    Entity(entity_id="C0", entity_type="character", name="Anna"),
    Entity(entity_id="C1", entity_type="character", name="Boris"),
    Entity(entity_id="L0", entity_type="location", name="the mill"),
    Entity(entity_id="I0", entity_type="item", name="the ring"),
]
_THINGS = ("letter", "coin", "knife", "lantern", "bread", "saddle", "map", "bell", "rope", "flute")
_PLACES = ("stable", "bridge", "attic", "well", "orchard", "cellar", "ferry", "chapel", "quarry", "gate")


def build_large_story(folder: Path) -> None:
    """Ingest the story into a projects folder."""
    with MemoryStores(settings_for(folder, embedding_model=EMBEDDINGS)) as stores:
        stores.create_project(PROJECT, language="en")
        store_entities(stores, PROJECT, _ENTITIES)
        result = ingest_scenes(stores, PROJECT, [_scene(number) for number in range(1, SCENES + 1)])
        assert result.indexing.waiting == 0, result.issues


def large_request() -> MemoryContextRequest:
    """Return the plan of the scene after all others."""
    plan = ScenePlan(
        scene_number=1,
        location="the mill",
        characters=["Anna", "Boris"],
        purpose="Anna asks Boris where the lantern from the cellar is",
        key_actions=["Anna finds the rope at the ferry", "Boris shows her the ring"],
    )
    return MemoryContextRequest(project_id=PROJECT, chapter_index=2, scene_index=1, scene_plan=plan)


def _scene(number: int) -> SceneInput:
    facts = [
        f"Anna hid the {_THINGS[index // 10]} number {number} of the {_PLACES[index % 10]} from Boris."
        for index in range(MEMORIES_PER_SCENE)
    ]
    record = SceneRecord.model_validate(
        {
            "chapter_index": 1,
            "scene_index": number,
            "location_id": "L0",
            "characters_present": ["C0", "C1"],
            "state_changes": [{"entity_id": "I0", "changes": {"holder": f"C{number % 2}"}}],
            "memories": [
                {"memory_id": f"M{number}-{index}", "content": fact, "entities": ["C0", "C1"]}
                for index, fact in enumerate(facts)
            ],
        }
    )
    text = "Anna met Boris at the mill and showed him the ring."
    return SceneInput(chapter_index=1, scene_index=number, text=text, record=record)
