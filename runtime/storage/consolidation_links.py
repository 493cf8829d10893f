"""Finding consolidated memories by what they stand for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, select

from novelgen.errors import UserInputError
from runtime.storage.session import StorageSession, batches
from runtime.storage.tables import CHUNKS, CONSOLIDATION_SOURCES

_SOURCE = CHUNKS.alias("source")


def standing_for_rows(session: StorageSession, row_ids: Iterable[int]) -> list[dict[str, Any]]:
    """Return the whole rows of the consolidated memories that stand for any of the memories."""
    found: dict[int, dict[str, Any]] = {}
    for batch in batches(row_ids):
        found |= _standing_for(session, _SOURCE.c.row_id.in_(batch))
    return list(found.values())


def standing_for_scenes(session: StorageSession, scene_ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return the whole rows of the consolidated memories that stand for any memory of the scenes."""
    return list(_standing_for(session, session.among(_SOURCE.c.scene_id, scene_ids)).values())


def standing_for_source_ids(session: StorageSession, source_ids: Iterable[str]) -> list[dict[str, Any]]:
    """Return the whole rows of the consolidated memories that stand for memories of these `source_id`s."""
    named = session.among(_SOURCE.c.source_id, source_ids)
    return list(_standing_for(session, (session.owns(_SOURCE)) & named).values())


def require_not_consolidated(session: StorageSession, row_id: int, chunk_id: str) -> None:
    """Refuse a change by hand of a consolidated memory.

    Raises:
        UserInputError: When the memory is consolidated; it is derived, its sources are what counts.
    """
    links = CONSOLIDATION_SOURCES
    found = select(links.c.source_row_id).where(links.c.consolidated_row_id == row_id).limit(1)
    if session.connection.scalar(found) is not None:
        raise UserInputError(
            f"{chunk_id!r} stands for other memories and cannot be changed itself; change its sources, or "
            f"take it back with `novelgen consolidate PROJECT --undo {chunk_id}`"
        )


def _standing_for(session: StorageSession, condition: ColumnElement[bool]) -> dict[int, dict[str, Any]]:
    links = CONSOLIDATION_SOURCES
    wanted = (
        select(links.c.consolidated_row_id)
        .join(_SOURCE, _SOURCE.c.row_id == links.c.source_row_id)
        .where(condition)
    )
    statement = select(CHUNKS).where(CHUNKS.c.row_id.in_(wanted)).order_by(CHUNKS.c.row_id)
    return {row["row_id"]: dict(row) for row in session.connection.execute(statement).mappings()}
