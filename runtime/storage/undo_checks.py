"""Checks before an undo: rows must stand as the change left them."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from novelgen.errors import UserInputError
from runtime.storage.change import Change, Image, RowChange
from runtime.storage.columns import PLACE
from runtime.storage.records import EntityRow, MemoryRow, NameMention, Scene, State
from runtime.storage.row_images import IMAGED_TABLES, following_columns, image_text, key_columns, plain_value
from runtime.storage.session import table_name

_PASSED_OVER = ("row_id", "updated_at", "changed", "content_hash")
"""A row may get another number and mark, and says when something else was said of it."""


def require_as_left(change: Change, now: Mapping[str, Any], *, but_for: Collection[str] = ()) -> None:
    """Reject the undo of fields that changed again since."""
    altered = {name: value for name, value in change.after.items() if name not in but_for}
    require_same(change, altered, now, change.entity_id)


def require_scene_as_left(change: Change, scene: Scene, *, is_as_left: bool) -> None:
    """Refuse to take back a part of a change in a scene that was altered since."""
    if not is_as_left:
        raise UserInputError(
            f"scene {scene.position} changed since change {change.change_id};"
            " undo the later change first, or correct it by hand"
        )


_OF_A_SCENE: Mapping[str, frozenset[str]] = {
    table_name(Scene): frozenset(("participants", "location_id", "pov", "content_hash")),
    table_name(MemoryRow): frozenset(("entities_mentioned",)),
    table_name(State): frozenset(State.model_fields),
    table_name(NameMention): frozenset(NameMention.model_fields),
}
"""Columns that are derived from a scene's text and record, by table."""


def derived_columns(table: str, now: Image | None) -> frozenset[str]:
    """Return the columns of a row that a scene derives; an author's own state or memory has none."""
    is_own = now is not None and (
        (table == table_name(State) and now["origin"] != "record")
        or (table == table_name(MemoryRow) and not now["from_scene"])
    )
    return frozenset() if is_own else _OF_A_SCENE.get(table, frozenset())


def is_row_as_left(change: Change, row: RowChange, now: Image | None) -> bool:
    """Return whether a row stands as a change left it."""
    try:
        require_row_as_left(change, row, now)
    except UserInputError:
        return False
    return True


def thing_text(row: RowChange, now: Image | None) -> str:
    """Return what a row is of, in words."""
    image = {**row.image, **(now or {})}
    if row.table == table_name(Scene):
        return f"scene {image.get('chapter_index')}:{image.get('scene_index')}"
    if row.table == table_name(EntityRow):
        return f"card {row.key['entity_id']} ({image.get('name', '')})"
    if row.table == table_name(MemoryRow):
        return f"memory {row.key['chunk_id']}"
    return " ".join(str(row.key[name]) for name in key_columns(row.table))


def require_row_as_left(change: Change, row: RowChange, now: Image | None) -> None:
    """Refuse the undo of a row that changed again since."""
    key = key_columns(row.table)
    if now is None and row.after is not None and row.table == table_name(MemoryRow):
        raise UserInputError(
            f"memory {row.key['chunk_id']!r} is gone; its scene was deleted, or does not say it any more"
        )
    if row.after is None and key == ("row_id",):
        # Whatever has its number by now is another row.
        return
    if (now is None) != (row.after is None):
        result = "it is gone" if now is None else "it is there again"
        raise UserInputError(
            f"a row of {row.table} changed since change {change.change_id} ({image_text(row.image)}: {result}); "
            "undo the later change first, or correct it by hand"
        )
    # Of a row that stayed only what the change altered is here, its place where the change moved it.
    is_whole = row.before is None or row.after is None
    passed_over = (*_PASSED_OVER, *(following_columns(IMAGED_TABLES[row.table].table) if is_whole else ()))
    remaining_fields, plain = (
        {name: _wherever(value) for name, value in (image or {}).items() if name not in passed_over}
        for image in (row.after, now)
    )
    require_same(change, remaining_fields, plain, thing_text(row, now))


def _wherever(value: Any) -> Any:
    """Return a value in image form, with a record's place unread."""
    if isinstance(value, Mapping) and "characters_present" in value:
        return {**value, **dict.fromkeys(PLACE)}
    return plain_value(value)


def require_same(change: Change, remaining_fields: Mapping[str, Any], now: Mapping[str, Any], what: str) -> None:
    """Refuse the undo of fields that have other values by now."""
    for name, value in remaining_fields.items():
        if now.get(name) != value:
            raise UserInputError(
                f"{name} of {what!r} changed since change {change.change_id} (now {json.dumps(now.get(name))[:80]});"
                " undo the later change first, or correct it by hand"
            )
