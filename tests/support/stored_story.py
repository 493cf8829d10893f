"""A story in real stores, gone with the program, for tests of what stands above the stores."""

from collections.abc import Sequence
from typing import Any, Self

from novelgen.models.entity import Entity
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.record import SceneRecord
from novelgen.models.state import StateChange
from novelgen.settings import ContextSettings
from runtime.ephemeral import open_ephemeral
from runtime.ingest.entities import store_entities
from runtime.ingest.indexing import drain_outbox
from runtime.ingest.ingest import ingest_scenes
from runtime.ingest.scene_input import SceneInput
from runtime.memory_tools import StoryMemoryTools
from runtime.storage.models import SceneWrite

PATIENT = {"tool_timeout_s": 60.0, "chain_timeout_s": 120.0}


def patient(settings: ContextSettings | None = None) -> ContextSettings:
    """Return settings with time enough for a loaded machine, but where they name deadlines themselves."""
    settings = settings or ContextSettings()
    return settings.model_copy(
        update={name: value for name, value in PATIENT.items() if name not in settings.model_fields_set}
    )


class StoredStory(StoryMemoryTools):
    """The memory of one story; subclasses fail or hang where a test wants it."""

    def __init__(self, project_id: str, *, entities: Sequence[Entity] = (), language: str = "en") -> None:
        self._memory = open_ephemeral()
        super().__init__(self._memory.create(project_id, language=language)._stores)
        store_entities(self._stores, project_id, entities, origin="author")

    @classmethod
    def of_records(cls, project_id: str, records: Sequence[SceneRecord], **said: Any) -> Self:
        """Return a story of what finished scenes established; none of them has a text."""
        story = cls(project_id, **said)
        scenes = [
            SceneInput(chapter_index=each.chapter_index, scene_index=each.scene_index, text="", record=each)
            for each in records
        ]
        assert ingest_scenes(story._stores, project_id, scenes).issues == []
        return story

    @classmethod
    def of_chunks(
        cls,
        project_id: str,
        chunks: Sequence[StoryMemoryChunk],
        *,
        records: Sequence[SceneRecord] = (),
        changes: Sequence[StateChange] = (),
        **said: Any,
    ) -> Self:
        """Return a story of memories as they would be stored, each in its scene."""
        story = cls(project_id, **said)
        by_place = {(each.chapter_index, each.scene_index): each for each in records}
        with story._stores.database(project_id).write() as unit:
            for place in sorted({(each.chapter_index, each.scene_index) for each in (*chunks, *records)}):
                record = by_place.get(place)
                scene = {
                    "project_id": project_id,
                    "chapter_index": place[0],
                    "scene_index": place[1],
                    "text": " ".join(record.key_events) if record else "",
                    "record": record,
                    "record_origin": "supplied",
                    "location_id": record and record.location_id,
                    "participants": record.characters_present if record else [],
                    "chunks": [each for each in chunks if (each.chapter_index, each.scene_index) == place],
                    "states": [each for each in changes if (each.chapter_index, each.scene_index) == place],
                }
                unit.scenes.replace_scene(SceneWrite.model_validate(scene))
        drain_outbox(story._stores, project_id)
        return story
