"""Short ways to the models that the storage tests write."""

from typing import Any

from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from novelgen.models.state import StateChange
from runtime.storage.database import DatabaseManager
from runtime.storage.models import SceneWrite, SceneWriteResult


class Undone(Exception):
    """Ends a transaction so that nothing of it is stored."""


def at(chapter: int, scene: int | None = None) -> StoryPosition:
    """A position."""
    return StoryPosition(chapter, scene)


def memory(chunk_id: str, content: str = "", project_id: str = "demo", **fields: Any) -> StoryMemoryChunk:
    """A distilled memory whose source_id is its chunk_id."""
    defaults: dict[str, Any] = {
        "content": content or f"Memory {chunk_id}.",
        "content_type": "memory",
        "source_id": chunk_id,
        "origin": "record",
    }
    return StoryMemoryChunk(chunk_id=chunk_id, project_id=project_id, **(defaults | fields))


def change(entity_id: str, attribute: str, value: Any, **fields: Any) -> StateChange:
    """A state change without a position; the scene gives it one."""
    return StateChange(entity_id=entity_id, attribute=attribute, value=value, **fields)


def record(chapter: int, scene: int, **fields: Any) -> SceneRecord:
    """A scene record."""
    return SceneRecord.model_validate({"chapter_index": chapter, "scene_index": scene, **fields})


def scene(chapter: int, number: int, *chunks: StoryMemoryChunk, **fields: Any) -> SceneWrite:
    """A scene of the project "demo"."""
    defaults: dict[str, Any] = {"project_id": "demo", "text": f"Text of scene {chapter}:{number}."}
    return SceneWrite(chapter_index=chapter, scene_index=number, chunks=list(chunks), **(defaults | fields))


def store(database: DatabaseManager, *writes: SceneWrite) -> list[SceneWriteResult]:
    """Write scenes, each in a transaction of its own."""
    results = []
    for write in writes:
        with database.project(write.project_id).write() as unit:
            results.append(unit.scenes.replace_scene(write))
    return results


def everything(database: DatabaseManager, project_id: str = "demo") -> dict[str, Any]:
    """All that a project holds, as plain data without moments of writing."""
    with database.project(project_id).read() as unit:
        memories = unit.memories.list_matching()
        return {
            "scenes": [
                one.model_dump(exclude={"updated_at", "created_at"}) for one in unit.scenes.list_as_of(with_text=True)
            ],
            "memories": [one.model_dump(exclude={"chunk": {"created_at"}}) for one in memories],
            "states": [one.model_dump() for one in unit.states.changes_of()],
            "loops": [
                one.model_dump()
                for one in unit.threads.list_as_of(statuses=("open", "advanced", "resolved", "abandoned"))
            ],
            "relationships": [one.model_dump() for one in unit.relationships.list_as_of()],
            "mentions": unit.entities.first_mentions(),
        }
