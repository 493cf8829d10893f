"""Short ways to live memories."""

from typing import Any

from novelgen.memory.consolidation import LiveMemory
from novelgen.models.memory import StoryMemoryChunk


def chunk(chunk_id: str, chapter: int | None = 1, scene: int | None = 1, **fields: Any) -> StoryMemoryChunk:
    """A small fact about C0 with the tag "road"."""
    defaults: dict[str, Any] = {
        "content": f"Fact {chunk_id}.",
        "content_type": "memory",
        "entities_mentioned": ["C0"],
        "tags": ["road"],
        "importance": 4,
        "origin": "record",
        "source_id": chunk_id,
    }
    given = defaults | fields
    return StoryMemoryChunk(chunk_id=chunk_id, project_id="demo", chapter_index=chapter, scene_index=scene, **given)


def live(chunk_id: str, chapter: int | None = 1, scene: int | None = 1, **fields: Any) -> LiveMemory:
    """The same as a live memory that no author touched."""
    return LiveMemory(chunk(chunk_id, chapter, scene, **fields))
