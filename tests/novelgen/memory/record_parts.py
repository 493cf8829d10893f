"""Small parts of records for the tests of their rules."""

from typing import Any

from novelgen.language.chronology import TellingScene
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.record import RecordedMemory, RecordedStateChange, SceneRecord
from novelgen.models.state import StateChange


def memory(memory_id: str, content: str = "", *, event_type: str = "event", **fields: Any) -> RecordedMemory:
    """Return a memory of a record."""
    return RecordedMemory(
        memory_id=memory_id, content=content or f"Memory {memory_id}.", event_type=event_type, **fields
    )


def changed(entity_id: str, **changes: Any) -> RecordedStateChange:
    """Return a state change of a record."""
    return RecordedStateChange(entity_id=entity_id, changes=changes)


def record(**fields: Any) -> SceneRecord:
    """Return a record of scene 1 of chapter 1."""
    return SceneRecord.model_validate({"chapter_index": 1, "scene_index": 1, **fields})


def stored(
    source_id: str, event_type: str, *entities: str, content: str = "", at: tuple[int, int] = (1, 1), **fields: Any
) -> StoryMemoryChunk:
    """Return a stored memory."""
    return StoryMemoryChunk(
        chunk_id=f"k-{source_id}",
        project_id="p",
        chapter_index=at[0],
        scene_index=at[1],
        content=content or f"Memory {source_id}.",
        content_type="memory",
        entities_mentioned=list(entities),
        source_id=source_id,
        event_type=event_type,
        **fields,
    )


def scene(chapter: int, index: int, *participants: str, time: str | None = None) -> TellingScene:
    """Return where and when a scene plays; its id comes from its place."""
    return TellingScene(
        scene_id=f"s{chapter}-{index}",
        chapter_index=chapter,
        scene_index=index,
        story_time=time,
        participants=list(participants),
    )


def stated(entity_id: str, attribute: str, value: Any, at: tuple[int, int], **fields: Any) -> StateChange:
    """Return a stated change of one attribute."""
    return StateChange(
        entity_id=entity_id, attribute=attribute, value=value, chapter_index=at[0], scene_index=at[1], **fields
    )
