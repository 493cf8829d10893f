"""A stored memory: a distilled fact, a summary bullet, a passage or an author's note."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from novelgen.models.timestamps import UtcDatetime, utc_now

ContentType = Literal["scene", "dialogue", "description", "summary", "memory", "note"]
CONTENT_TYPES: tuple[ContentType, ...] = ("scene", "dialogue", "description", "summary", "memory", "note")
MemoryTier = Literal["pinned", "important", "regular"]
MemoryOrigin = Literal["record", "extracted", "text", "author"]


class StoryMemoryChunk(BaseModel):
    """One retrievable piece of the story's memory.

    The position is that of the scene it came from; None means that it is visible everywhere (a note, canon).
    """

    chunk_id: str = Field(min_length=1)
    project_id: str = Field(min_length=1)
    chapter_index: int | None = None
    scene_index: int | None = None
    content: str
    content_type: ContentType = "scene"
    entities_mentioned: list[str] = Field(default_factory=list, description="Entity ids.")
    tags: list[str] = Field(default_factory=list)
    embedding_id: str | None = Field(
        default=None, description="Its id in the vector index; None means its chunk_id."
    )
    is_indexed: bool = Field(
        default=True, description="Whether the vector index holds it; else it is found by words alone."
    )
    is_consolidated: bool = Field(
        default=False, description="Whether it stands for several others from its position on."
    )
    created_at: UtcDatetime = Field(default_factory=utc_now)

    short: str | None = Field(default=None, description="Short form that may stand for the content.")
    importance: int = Field(default=5, ge=1, le=10)
    tier: MemoryTier = "regular"
    source_id: str | None = Field(
        default=None,
        description="memory_id of a scene record's memory, or <chapter>:<scene>:summary|key_events:<index>.",
    )
    source_span: tuple[int, int] | None = Field(
        default=None, description="Characters [start, end) in the scene."
    )
    event_type: str | None = None
    supersedes: str | None = Field(
        default=None, description="source_id of the memory that this one replaces."
    )
    superseded_by: str | None = Field(
        default=None, description="source_id of what replaced it, as of the position that was read."
    )
    slot_type: str | None = Field(default=None, description="Slot that holds one value at a time: I1.holder.")
    verified: bool = Field(default=True, description="Whether its evidence was found in the scene's text.")
    origin: MemoryOrigin = "text"
