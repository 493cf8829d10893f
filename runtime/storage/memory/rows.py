"""Rows of memories as memories, and which of them something later replaced."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from hashlib import sha256
from typing import Any

from sqlalchemy import Select, select

from novelgen.memory.supersession import SlotHolder, closed_by
from novelgen.models.memory import AttachedTo, StoryMemoryChunk, attached_to, is_entity_target, linked_targets
from novelgen.models.position import StoryPosition, story_place
from runtime.storage.cuts import before
from runtime.storage.memory.lexical import index_tokens, searchable_text
from runtime.storage.records import StoredMemory
from runtime.storage.session import AnyRow, StorageSession
from runtime.storage.tables import CHUNKS, CONSOLIDATION_SOURCES, ENTITIES, alias_with_columns

_SHARED_COLUMNS = (
    "chunk_id",
    "project_id",
    "content",
    "content_type",
    "tags",
    "embedding_id",
    "is_indexed",
    "is_consolidated",
    "short",
    "importance",
    "tier",
    "source_id",
    "event_type",
    "supersedes",
    "slot_type",
    "verified",
    "origin",
)
"""Columns that are fields of a memory, name for name; `_READ_COLUMNS` begins with them."""

_READ_COLUMNS = (
    *_SHARED_COLUMNS,
    "chapter_index",
    "scene_index",
    "created_at",
    "entities_mentioned",
    "span_start",
    "span_end",
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


def text_values(memory: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a memory that follow from its text."""
    content, short = memory["content"], memory["short"]
    terms = index_tokens(searchable_text(content, short))
    return {"content_hash": text_hash(content, short), "term_count": len(terms)}


def chunk_values(chunk: StoryMemoryChunk, entity_ids: Sequence[str]) -> dict[str, Any]:
    """Return the columns that the chunk itself decides; position, scene and the author's marks are not among them."""
    start, end = chunk.source_span or (None, None)
    copied = chunk.model_dump(include=set(_SHARED_COLUMNS))
    derived = {"entities_mentioned": list(dict.fromkeys(entity_ids)), "span_start": start, "span_end": end}
    return copied | derived | text_values(copied)


def entities_linked(session: StorageSession, rows: Sequence[AnyRow]) -> dict[str, AttachedTo]:
    """Return the stored entities that memories are linked to, by id, for `chunk_of`."""
    ids = {target for row in rows for target in (*row.entities_mentioned, *row.attached)}
    if not ids:
        return {}
    statement = select(ENTITIES.c.entity_id, ENTITIES.c.entity_type).where(
        session.owns(ENTITIES), session.among(ENTITIES.c.entity_id, ids)
    )
    return {row[0]: AttachedTo(type=row[1], id=row[0]) for row in session.rows(statement)}


def chunk_of(
    row: AnyRow, superseded_by: str | None = None, known: Mapping[str, AttachedTo] | None = None
) -> StoryMemoryChunk:
    """Return the memory of a row of `CHUNK_SELECT`; it was validated when it was written.

    Its entities are those of its origin and of the author's hand together. What it is attached to is told where the
    entities are `known`.
    """
    shared = dict(zip(_SHARED_COLUMNS, row, strict=False))
    chapter_index, scene_index, created_at, entities_mentioned, *span, pinned, attached, detached = row[
        len(_SHARED_COLUMNS) : len(_READ_COLUMNS)
    ]
    linked = entities_mentioned
    if attached or detached:
        linked = linked_targets(entities_mentioned, attached, detached)
        entities_mentioned = [target for target in linked if is_entity_target(target)]
    if pinned:
        shared["tier"] = "pinned"
    return StoryMemoryChunk.model_construct(
        **shared,
        chapter_index=chapter_index,
        scene_index=scene_index,
        created_at=created_at,
        entities_mentioned=entities_mentioned,
        attached_to=[] if known is None else attached_to(linked, known),
        source_span=None if span[0] is None else (span[0], span[1]),
        superseded_by=superseded_by,
    )


def stored_memories_of(session: StorageSession, rows: Sequence[AnyRow]) -> list[StoredMemory]:
    """Return the memories of rows of `STORED_SELECT`, with what the author decided about them."""
    known = entities_linked(session, rows)
    return [_stored_memory_of(row, known) for row in rows]


def _stored_memory_of(row: AnyRow, known: Mapping[str, AttachedTo]) -> StoredMemory:
    return StoredMemory.model_construct(
        chunk=chunk_of(row, known=known),
        status=row.status,
        pinned=row.pinned,
        scene_id=row.scene_id,
        from_scene=row.from_scene,
        last_accessed_at=row.last_accessed_at,
    )


_CONSOLIDATED = alias_with_columns(CHUNKS, "consolidated")

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
    """
    result: dict[str, str] = {}
    holders = _slot_holders(session, {row.slot_type for row in rows if row.slot_type}, as_of)
    named = _named(session, {row.source_id for row in rows if row.source_id}, as_of)
    for row in rows:
        closer = closed_by(holders.get(row.slot_type, []), story_place(row)) if row.slot_type else None
        if closer is not None:
            result[row.chunk_id] = closer
        if row.source_id in named:
            result[row.chunk_id] = named[row.source_id]
    consolidated = [row.chunk_id for row in rows if row.is_consolidated]
    return result | (_of_consolidated(session, consolidated, as_of) if consolidated else {})


def _of_consolidated(session: StorageSession, chunk_ids: Sequence[str], as_of: StoryPosition) -> dict[str, str]:
    sources: dict[str, list[AnyRow]] = defaultdict(list)
    statement = (
        select(_CONSOLIDATED.c.chunk_id.label("consolidated_id"), *_COLUMNS, CHUNKS.c.is_consolidated)
        .select_from(CONSOLIDATION_SOURCES)
        .join(_CONSOLIDATED, _CONSOLIDATED.c.row_id == CONSOLIDATION_SOURCES.c.consolidated_row_id)
        .join(CHUNKS, CHUNKS.c.row_id == CONSOLIDATION_SOURCES.c.source_row_id)
        .where(session.owns(CONSOLIDATION_SOURCES), session.among(_CONSOLIDATED.c.chunk_id, chunk_ids))
    )
    rows = session.rows(statement)
    for row in sorted(rows, key=story_place):
        sources[row.consolidated_id].append(row)
    replaced = superseded_by(session, rows, as_of)
    return {
        chunk_id: replaced[found[-1].chunk_id]
        for chunk_id, found in sources.items()
        if all(row.chunk_id in replaced for row in found)
    }


def _slot_holders(session: StorageSession, slots: Set[str], as_of: StoryPosition) -> dict[str, list[SlotHolder]]:
    holders: dict[str, list[SlotHolder]] = defaultdict(list)
    in_slots = session.among(CHUNKS.c.slot_type, slots)
    for row in session.rows(_visible(session.project_id, as_of).where(in_slots)) if slots else ():
        holders[row.slot_type].append(SlotHolder(story_place(row), row.source_id or row.chunk_id))
    return {slot: sorted(found) for slot, found in holders.items()}


def _named(session: StorageSession, source_ids: Set[str], as_of: StoryPosition) -> dict[str, str]:
    named: dict[str, str] = {}
    successors = session.among(CHUNKS.c.supersedes, source_ids)
    rows = session.rows(_visible(session.project_id, as_of).where(successors)) if source_ids else ()
    for row in sorted(rows, key=story_place):
        if row.supersedes != row.source_id:
            named.setdefault(row.supersedes, row.source_id or row.chunk_id)
    return named


def _visible(project_id: str, as_of: StoryPosition) -> Select[Any]:
    return select(*_COLUMNS).where(
        CHUNKS.c.project_id == project_id, CHUNKS.c.status == "active", before(as_of, CHUNKS)
    )
