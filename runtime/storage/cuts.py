"""Which rows a read may see: strictly before its position, and fitting its filter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Select, and_, case, not_, or_, select, true, tuple_

from novelgen.models.memory import BOOK, chapter_of_target
from novelgen.models.position import StoryPosition
from runtime.storage.records import MemoryFilter
from runtime.storage.session import StorageSession, batches
from runtime.storage.tables import CHUNK_ENTITIES, CHUNK_TAGS, CHUNKS, CONSOLIDATION_SOURCES, SCENES, alias_with_columns

Place = tuple[int | None, int | None]
"""Chapter and scene, as they are stored; None where there is none."""


def scene_ids_at(session: StorageSession, places: Iterable[Place]) -> dict[Place, str]:
    """Return the ids of the scenes at these places; a place without a scene is left out."""
    found: dict[Place, str] = {}
    for batch in batches({place for place in places if None not in place}, 500):
        statement = select(SCENES.c.chapter_index, SCENES.c.scene_index, SCENES.c.scene_id).where(
            session.owns(SCENES), tuple_(SCENES.c.chapter_index, SCENES.c.scene_index).in_(batch)
        )
        found.update({(row[0], row[1]): row[2] for row in session.rows(statement)})
    return found


def before(as_of: StoryPosition, table: FromClause) -> ColumnElement[bool]:
    """Return the condition that a row lies strictly before a position, as `StoryPosition.admits` has it."""
    return before_columns(as_of, table.c.chapter_index, table.c.scene_index)


def before_columns(as_of: StoryPosition, chapter: ColumnElement[Any], scene: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return the same condition for columns of other names."""
    if as_of.chapter_index is None:
        return true()
    earlier_chapter = or_(chapter.is_(None), chapter < as_of.chapter_index)
    if as_of.scene_index is None:
        return earlier_chapter
    earlier_scene = and_(chapter == as_of.chapter_index, scene.is_not(None), scene < as_of.scene_index)
    return or_(earlier_chapter, earlier_scene)


def within(since: StoryPosition, until: StoryPosition, table: FromClause) -> ColumnElement[bool]:
    """Return the condition that a row lies before one position and not before another, earlier one."""
    return and_(before(until, table), not_(before(since, table)))


def story_order(table: FromClause) -> tuple[ColumnElement[Any], ColumnElement[Any]]:
    """Return the sort keys of story order: without a position first, a chapter as a whole before its scenes."""
    return table.c.chapter_index.asc().nulls_first(), table.c.scene_index.asc().nulls_first()


_CONSOLIDATED = alias_with_columns(CHUNKS, "consolidated")


def visible(project_id: str, as_of: StoryPosition) -> ColumnElement[bool]:
    """Return the condition on `memory_chunks` that a read at a position sees a memory of a project."""
    return and_(before(as_of, CHUNKS), CHUNKS.c.row_id.not_in(_stood_for(project_id, as_of)))


def unconsolidated(project_id: str, as_of: StoryPosition) -> ColumnElement[bool]:
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


def filter_conditions(project_id: str, memory_filter: MemoryFilter) -> list[ColumnElement[bool]]:
    """Return the conditions on `memory_chunks` that a filter stands for, the project's among them."""
    cut = unconsolidated if memory_filter.unconsolidated else visible
    conditions = [
        CHUNKS.c.project_id == project_id,
        CHUNKS.c.status.in_(memory_filter.statuses),
        cut(project_id, memory_filter.as_of),
    ]
    if memory_filter.content_types:
        conditions.append(CHUNKS.c.content_type.in_(memory_filter.content_types))
    if memory_filter.entities:
        conditions.append(linked_to(project_id, memory_filter.entities))
    if memory_filter.tags:
        tagged = select(CHUNK_TAGS.c.chunk_row_id).where(
            CHUNK_TAGS.c.project_id == project_id, CHUNK_TAGS.c.tag.in_(memory_filter.tags)
        )
        conditions.append(CHUNKS.c.row_id.in_(tagged))
    if memory_filter.unverified_only:
        conditions.append(CHUNKS.c.verified.is_(False))
    return conditions


def linked_to(project_id: str, targets: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition on `memory_chunks` that a memory is attached to one of some targets.

    A chapter has also what stands in it, and the book what is attached to nothing.
    """
    conditions: list[ColumnElement[bool]] = [CHUNKS.c.row_id.in_(linked_rows(project_id, list(targets)))]
    chapters = [chapter for each in targets if (chapter := chapter_of_target(each)) is not None]
    if chapters:
        conditions.append(CHUNKS.c.chapter_index.in_(chapters))
    if BOOK in targets:
        links = select(CHUNK_ENTITIES.c.chunk_row_id).where(CHUNK_ENTITIES.c.chunk_row_id == CHUNKS.c.row_id)
        conditions.append(~links.exists())
    return or_(*conditions)


def linked_rows(project_id: str, entity_ids: list[str]) -> Select[tuple[int]]:
    """Return a query for the row ids of the chunks that are linked to one of the entities."""
    return select(CHUNK_ENTITIES.c.chunk_row_id).where(
        CHUNK_ENTITIES.c.project_id == project_id, CHUNK_ENTITIES.c.entity_id.in_(entity_ids)
    )


def order_in_force(table: FromClause) -> tuple[ColumnElement[Any], ...]:
    """Return the sort keys of events in the order in which they count: at one place the author's last.

    The same order as `novelgen.models.folds.in_force`; what was stored later comes later.
    """
    by_author = case((table.c.origin == "author", 1), else_=0)
    return (*story_order(table), by_author, table.c.row_id)
