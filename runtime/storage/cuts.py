"""The cut by story position as a SQL condition, in one place."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, FromClause, and_, case, or_, true

from novelgen.models.position import StoryPosition


def before(as_of: StoryPosition, table: FromClause) -> ColumnElement[bool]:
    """Return the condition that a row lies strictly before a position, as `StoryPosition.admits` has it.

    Args:
        as_of: Position of the read.
        table: A table or alias with the columns `chapter_index` and `scene_index`.

    Returns:
        A condition that is true for rows without a position, and at the end of the story for every row. A
        row with a chapter only counts from the next chapter on.
    """
    return before_columns(as_of, table.c.chapter_index, table.c.scene_index)


def before_columns(
    as_of: StoryPosition, chapter: ColumnElement[Any], scene: ColumnElement[Any]
) -> ColumnElement[bool]:
    """Return the same condition for columns of other names."""
    if as_of.chapter_index is None:
        return true()
    earlier_chapter = or_(chapter.is_(None), chapter < as_of.chapter_index)
    if as_of.scene_index is None:
        return earlier_chapter
    earlier_scene = and_(chapter == as_of.chapter_index, scene.is_not(None), scene < as_of.scene_index)
    return or_(earlier_chapter, earlier_scene)


def story_order(table: FromClause) -> tuple[ColumnElement[Any], ColumnElement[Any]]:
    """Return the sort keys of story order: without a position first, a chapter as a whole before its scenes."""
    return table.c.chapter_index.asc().nulls_first(), table.c.scene_index.asc().nulls_first()


def order_in_force(table: FromClause) -> tuple[ColumnElement[Any], ...]:
    """Return the sort keys of events in the order in which they count: at one place the author's last.

    The same order as `novelgen.models.folds.in_force`; what was stored later comes later.
    """
    by_author = case((table.c.origin == "author", 1), else_=0)
    return (*story_order(table), by_author, table.c.row_id)
