"""A memory filter as SQL conditions."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Select, select

from runtime.storage.memory_cuts import brought, seen
from runtime.storage.records import MemoryFilter
from runtime.storage.tables import CHUNK_ENTITIES, CHUNK_TAGS, CHUNKS


def filter_conditions(project_id: str, memory_filter: MemoryFilter) -> list[ColumnElement[bool]]:
    """Return the conditions on `memory_chunks` that a filter stands for, the project's among them."""
    cut = brought if memory_filter.unconsolidated else seen
    conditions = [
        CHUNKS.c.project_id == project_id,
        CHUNKS.c.status.in_(memory_filter.statuses),
        cut(project_id, memory_filter.as_of),
    ]
    if memory_filter.content_types:
        conditions.append(CHUNKS.c.content_type.in_(memory_filter.content_types))
    if memory_filter.entities:
        conditions.append(CHUNKS.c.row_id.in_(linked_rows(project_id, memory_filter.entities)))
    if memory_filter.tags:
        tagged = select(CHUNK_TAGS.c.chunk_row_id).where(
            CHUNK_TAGS.c.project_id == project_id, CHUNK_TAGS.c.tag.in_(memory_filter.tags)
        )
        conditions.append(CHUNKS.c.row_id.in_(tagged))
    if memory_filter.unverified_only:
        conditions.append(CHUNKS.c.verified.is_(False))
    return conditions


def linked_rows(project_id: str, entity_ids: list[str]) -> Select[tuple[int]]:
    """Return a query for the row ids of the chunks that are linked to one of the entities."""
    return select(CHUNK_ENTITIES.c.chunk_row_id).where(
        CHUNK_ENTITIES.c.project_id == project_id, CHUNK_ENTITIES.c.entity_id.in_(entity_ids)
    )
