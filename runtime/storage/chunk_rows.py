"""Memories as rows and rows as memories."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from sqlalchemy import select

from novelgen.models.memory import StoryMemoryChunk, is_entity_target, linked_targets
from runtime.storage.lexical_index import searchable_text
from runtime.storage.lexical_terms import index_tokens
from runtime.storage.records import StoredMemory
from runtime.storage.session import AnyRow
from runtime.storage.tables import CHUNKS

_READ_COLUMNS = (
    "chunk_id",
    "project_id",
    "chapter_index",
    "scene_index",
    "content",
    "content_type",
    "entities_mentioned",
    "tags",
    "embedding_id",
    "created_at",
    "short",
    "importance",
    "tier",
    "source_id",
    "span_start",
    "span_end",
    "event_type",
    "supersedes",
    "slot_type",
    "verified",
    "origin",
    "pinned",
    "attached",
    "detached",
)
CHUNK_SELECT = select(*(CHUNKS.c[name] for name in _READ_COLUMNS))
STORED_SELECT = CHUNK_SELECT.add_columns(
    CHUNKS.c.status, CHUNKS.c.scene_id, CHUNKS.c.from_scene, CHUNKS.c.last_accessed_at
)


def text_hash(*parts: str | None) -> str:
    """Return a hash over texts and the borders between them."""
    digest = sha256()
    for part in parts:
        body = (part or "").encode("utf-8", "surrogatepass")
        digest.update(f"{part is None}:{len(body)}:".encode())
        digest.update(body)
    return digest.hexdigest()


def chunk_values(chunk: StoryMemoryChunk, entity_ids: Sequence[str]) -> dict[str, Any]:
    """Return the columns that the chunk itself decides; position, scene and the author's marks are not among them.

    Args:
        chunk: A validated memory.
        entity_ids: What it is linked to.
    """
    start, end = chunk.source_span or (None, None)
    copied = chunk.model_dump(
        include={
            "chunk_id",
            "project_id",
            "content",
            "content_type",
            "tags",
            "embedding_id",
            "short",
            "importance",
            "tier",
            "source_id",
            "event_type",
            "supersedes",
            "slot_type",
            "verified",
            "origin",
        }
    )
    return copied | {
        "entities_mentioned": list(dict.fromkeys(entity_ids)),
        "span_start": start,
        "span_end": end,
        "content_hash": text_hash(chunk.content, chunk.short),
        "term_count": len(index_tokens(searchable_text(chunk.content, chunk.short))),
    }


def chunk_of(row: AnyRow, superseded_by: str | None = None) -> StoryMemoryChunk:
    """Return the memory of a row of `CHUNK_SELECT`; it was validated when it was written.

    Its entities are those of its origin and of the author's hand together.
    """
    (
        chunk_id,
        project_id,
        chapter_index,
        scene_index,
        content,
        content_type,
        entities_mentioned,
        tags,
        embedding_id,
        created_at,
        short,
        importance,
        tier,
        source_id,
        span_start,
        span_end,
        event_type,
        supersedes,
        slot_type,
        verified,
        origin,
        pinned,
        attached,
        detached,
    ) = row[: len(_READ_COLUMNS)]
    if attached or detached:
        linked = linked_targets(entities_mentioned, attached, detached)
        entities_mentioned = [target for target in linked if is_entity_target(target)]
    return StoryMemoryChunk.model_construct(
        chunk_id=chunk_id,
        project_id=project_id,
        chapter_index=chapter_index,
        scene_index=scene_index,
        content=content,
        content_type=content_type,
        entities_mentioned=entities_mentioned,
        tags=tags,
        embedding_id=embedding_id,
        created_at=created_at,
        short=short,
        importance=importance,
        tier="pinned" if pinned else tier,
        source_id=source_id,
        source_span=None if span_start is None else (span_start, span_end),
        event_type=event_type,
        supersedes=supersedes,
        superseded_by=superseded_by,
        slot_type=slot_type,
        verified=verified,
        origin=origin,
    )


def stored_memory_of(row: AnyRow) -> StoredMemory:
    """Return the memory of a row of `STORED_SELECT`, with what the author decided about it."""
    return StoredMemory.model_construct(
        chunk=chunk_of(row),
        status=row.status,
        pinned=row.pinned,
        scene_id=row.scene_id,
        from_scene=row.from_scene,
        last_accessed_at=row.last_accessed_at,
    )
