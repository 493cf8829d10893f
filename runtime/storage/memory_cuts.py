"""Which memories a read sees, in one place: the cut by position, and consolidated memories in their sources' stead.

A consolidated memory stands at the position of its last source. A read strictly after that position sees it and
none of its sources; every other read sees the sources that lie before it, and not the consolidated memory, which
the cut by position alone takes care of.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, Select, and_, select

from novelgen.models.position import StoryPosition
from runtime.storage.cuts import before
from runtime.storage.tables import CHUNKS, CONSOLIDATION_SOURCES

_CONSOLIDATED = CHUNKS.alias("consolidated")


def seen(project_id: str, as_of: StoryPosition) -> ColumnElement[bool]:
    """Return the condition on `memory_chunks` that a read at a position sees a memory of a project.

    Args:
        project_id: The project.
        as_of: Position of the read.
    """
    return and_(before(as_of, CHUNKS), CHUNKS.c.row_id.not_in(_stood_for(project_id, as_of)))


def brought(project_id: str, as_of: StoryPosition) -> ColumnElement[bool]:
    """Return the same condition as if nothing were consolidated: what scenes and authors brought."""
    consolidated = select(CONSOLIDATION_SOURCES.c.consolidated_row_id).where(
        CONSOLIDATION_SOURCES.c.project_id == project_id
    )
    return and_(before(as_of, CHUNKS), CHUNKS.c.row_id.not_in(consolidated))


def _stood_for(project_id: str, as_of: StoryPosition) -> Select[tuple[int]]:
    """Row ids of the sources of all consolidated memories before a position."""
    links = CONSOLIDATION_SOURCES
    return (
        select(links.c.source_row_id)
        .join(_CONSOLIDATED, _CONSOLIDATED.c.row_id == links.c.consolidated_row_id)
        .where(links.c.project_id == project_id, before(as_of, _CONSOLIDATED))
    )
