"""Rows of memories as memories, and which of them something later replaced."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence, Set
from hashlib import sha256
from typing import Any

from sqlalchemy import Select, select

from novelgen.models.memory import CONSOLIDATED, StoryMemoryChunk, is_entity_target, linked_targets
from novelgen.models.position import Place, StoryPosition
from novelgen.records.supersession import SlotHolder, closed_by
from runtime.storage.cuts import before
from runtime.storage.memory.lexical import index_tokens, searchable_text
from runtime.storage.records import StoredMemory
from runtime.storage.session import AnyRow, StorageSession
from runtime.storage.tables import CHUNKS, CONSOLIDATION_SOURCES

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


_CONSOLIDATED = CHUNKS.alias("consolidated")

_COLUMNS = (
    CHUNKS.c.chunk_id,
    CHUNKS.c.source_id,
    CHUNKS.c.supersedes,
    CHUNKS.c.slot_type,
    CHUNKS.c.chapter_index,
    CHUNKS.c.scene_index,
)


def superseded_by(session: StorageSession, rows: Sequence[AnyRow], as_of: StoryPosition) -> dict[str, str]:
    """Tell which of the given memories have been replaced strictly before a position.

    A memory is replaced by an active one that names its source_id in `supersedes`, or, where it holds a slot,
    by the next memory of the same slot at a strictly later position. A consolidated memory is replaced when all
    of its sources are, by what replaced the last of them.

    Args:
        session: A session.
        rows: Rows of memories with chunk_id, source_id, slot_type, event_type and position.
        as_of: Position of the read: what replaces must lie before it, too.

    Returns:
        Chunk id to the source_id (or chunk id, where it has none) of what replaced it.
    """
    result: dict[str, str] = {}
    holders = _slot_holders(session, {row.slot_type for row in rows if row.slot_type}, as_of)
    named = _named(session, {row.source_id for row in rows if row.source_id}, as_of)
    for row in rows:
        closer = closed_by(holders.get(row.slot_type, []), _place(row)) if row.slot_type else None
        if closer is not None:
            result[row.chunk_id] = closer
        if row.source_id in named:
            result[row.chunk_id] = named[row.source_id]
    consolidated = [row.chunk_id for row in rows if row.event_type == CONSOLIDATED]
    return result | (_of_consolidated(session, consolidated, as_of) if consolidated else {})


def _of_consolidated(
    session: StorageSession, chunk_ids: Sequence[str], as_of: StoryPosition
) -> dict[str, str]:
    sources: dict[str, list[AnyRow]] = defaultdict(list)
    statement = (
        select(_CONSOLIDATED.c.chunk_id.label("consolidated_id"), *_COLUMNS, CHUNKS.c.event_type)
        .select_from(CONSOLIDATION_SOURCES)
        .join(_CONSOLIDATED, _CONSOLIDATED.c.row_id == CONSOLIDATION_SOURCES.c.consolidated_row_id)
        .join(CHUNKS, CHUNKS.c.row_id == CONSOLIDATION_SOURCES.c.source_row_id)
        .where(
            CONSOLIDATION_SOURCES.c.project_id == session.project_id,
            session.among(_CONSOLIDATED.c.chunk_id, chunk_ids),
        )
    )
    rows = session.rows(statement)
    for row in sorted(rows, key=_place):
        sources[row.consolidated_id].append(row)
    replaced = superseded_by(session, rows, as_of)
    return {
        chunk_id: replaced[found[-1].chunk_id]
        for chunk_id, found in sources.items()
        if all(row.chunk_id in replaced for row in found)
    }


def _slot_holders(
    session: StorageSession, slots: Set[str], as_of: StoryPosition
) -> dict[str, list[SlotHolder]]:
    holders: dict[str, list[SlotHolder]] = defaultdict(list)
    in_slots = session.among(CHUNKS.c.slot_type, slots)
    for row in session.rows(_visible(session.project_id, as_of).where(in_slots)) if slots else ():
        holders[row.slot_type].append(SlotHolder(_place(row), row.source_id or row.chunk_id))
    return {slot: sorted(found) for slot, found in holders.items()}


def _named(session: StorageSession, source_ids: Set[str], as_of: StoryPosition) -> dict[str, str]:
    named: dict[str, str] = {}
    successors = session.among(CHUNKS.c.supersedes, source_ids)
    rows = session.rows(_visible(session.project_id, as_of).where(successors)) if source_ids else ()
    for row in sorted(rows, key=_place):
        if row.supersedes != row.source_id:
            named.setdefault(row.supersedes, row.source_id or row.chunk_id)
    return named


def _visible(project_id: str, as_of: StoryPosition) -> Select[Any]:
    return select(*_COLUMNS).where(
        CHUNKS.c.project_id == project_id, CHUNKS.c.status == "active", before(as_of, CHUNKS)
    )


def _place(row: AnyRow) -> Place:
    chapter = -1 if row.chapter_index is None else row.chapter_index
    return chapter, -1 if row.scene_index is None else row.scene_index
