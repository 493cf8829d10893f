"""Which memories something later has replaced, as of a position."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence, Set
from typing import Any

from sqlalchemy import Select, select

from novelgen.models.memory import CONSOLIDATED
from novelgen.models.position import StoryPosition, story_place
from novelgen.records.supersession import SlotHolder, closed_by
from runtime.storage.cuts import before
from runtime.storage.session import AnyRow, StorageSession
from runtime.storage.tables import CHUNKS, CONSOLIDATION_SOURCES

_CONSOLIDATED = CHUNKS.alias("consolidated")
_COLUMNS = (
    CHUNKS.c.chunk_id,
    CHUNKS.c.source_id,
    CHUNKS.c.supersedes,
    CHUNKS.c.slot_type,
    CHUNKS.c.chapter_index,
    CHUNKS.c.scene_index,
)


def superseded_by(
    session: StorageSession, project_id: str, rows: Sequence[AnyRow], as_of: StoryPosition
) -> dict[str, str]:
    """Tell which of the given memories have been replaced strictly before a position.

    A memory is replaced by an active one that names its source_id in `supersedes`, or, where it holds a slot,
    by the next memory of the same slot at a strictly later position. A consolidated memory is replaced when all
    of its sources are, by what replaced the last of them.

    Args:
        session: A session.
        project_id: The project.
        rows: Rows of memories with chunk_id, source_id, slot_type, event_type and position.
        as_of: Position of the read: what replaces must lie before it, too.

    Returns:
        Chunk id to the source_id (or chunk id, where it has none) of what replaced it.
    """
    result: dict[str, str] = {}
    holders = _slot_holders(session, project_id, {row.slot_type for row in rows if row.slot_type}, as_of)
    named = _named(session, project_id, {row.source_id for row in rows if row.source_id}, as_of)
    for row in rows:
        closer = closed_by(holders.get(row.slot_type, []), story_place(row)) if row.slot_type else None
        if closer is not None:
            result[row.chunk_id] = closer
        if row.source_id in named:
            result[row.chunk_id] = named[row.source_id]
    consolidated = [row.chunk_id for row in rows if row.event_type == CONSOLIDATED]
    return result | (_of_consolidated(session, project_id, consolidated, as_of) if consolidated else {})


def _of_consolidated(
    session: StorageSession, project_id: str, chunk_ids: Sequence[str], as_of: StoryPosition
) -> dict[str, str]:
    sources: dict[str, list[AnyRow]] = defaultdict(list)
    statement = (
        select(_CONSOLIDATED.c.chunk_id.label("consolidated_id"), *_COLUMNS, CHUNKS.c.event_type)
        .select_from(CONSOLIDATION_SOURCES)
        .join(_CONSOLIDATED, _CONSOLIDATED.c.row_id == CONSOLIDATION_SOURCES.c.consolidated_row_id)
        .join(CHUNKS, CHUNKS.c.row_id == CONSOLIDATION_SOURCES.c.source_row_id)
        .where(
            CONSOLIDATION_SOURCES.c.project_id == project_id,
            session.among(_CONSOLIDATED.c.chunk_id, chunk_ids),
        )
    )
    rows = session.rows(statement)
    for row in sorted(rows, key=story_place):
        sources[row.consolidated_id].append(row)
    replaced = superseded_by(session, project_id, rows, as_of)
    return {
        chunk_id: replaced[found[-1].chunk_id]
        for chunk_id, found in sources.items()
        if all(row.chunk_id in replaced for row in found)
    }


def _slot_holders(
    session: StorageSession, project_id: str, slots: Set[str], as_of: StoryPosition
) -> dict[str, list[SlotHolder]]:
    holders: dict[str, list[SlotHolder]] = defaultdict(list)
    in_slots = session.among(CHUNKS.c.slot_type, slots)
    for row in session.rows(_visible(project_id, as_of).where(in_slots)) if slots else ():
        holders[row.slot_type].append(SlotHolder(story_place(row), row.source_id or row.chunk_id))
    return {slot: sorted(found) for slot, found in holders.items()}


def _named(
    session: StorageSession, project_id: str, source_ids: Set[str], as_of: StoryPosition
) -> dict[str, str]:
    named: dict[str, str] = {}
    successors = session.among(CHUNKS.c.supersedes, source_ids)
    rows = session.rows(_visible(project_id, as_of).where(successors)) if source_ids else ()
    for row in sorted(rows, key=story_place):
        if row.supersedes != row.source_id:
            named.setdefault(row.supersedes, row.source_id or row.chunk_id)
    return named


def _visible(project_id: str, as_of: StoryPosition) -> Select[Any]:
    return select(*_COLUMNS).where(
        CHUNKS.c.project_id == project_id, CHUNKS.c.status == "active", before(as_of, CHUNKS)
    )
