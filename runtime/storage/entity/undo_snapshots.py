"""Images of a project's rows before and after a change, by which the change can be undone exactly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Table, and_, select

from novelgen.errors import UserInputError
from runtime.storage.session import StorageSession
from runtime.storage.tables import (
    ALIASES,
    CHARACTER_FILE_ALIASES,
    CHARACTER_MEMORIES,
    CHARACTER_SECRETS,
    CHUNK_ENTITIES,
    CHUNKS,
    DISCLOSURES,
    DISPOSITION_CHANGES,
    ENTITIES,
    LOOP_EVENTS,
    MENTIONS,
    RELATIONSHIP_CHANGES,
    RELATIONSHIPS,
    SCENES,
    STATES,
)

Image = dict[str, Any]

Images = Mapping[str, Mapping[str, Image]]
"""Table to key to row."""


@dataclass(frozen=True)
class _Imaged:
    """Which columns of a table are pictured: those of its key, and those that may change or tell rows apart."""

    table: Table
    key: tuple[str, ...]
    columns: tuple[str, ...]


class RowChange(BaseModel):
    """A row before and after; None where it was not there."""

    table: str
    before: Image | None = None
    after: Image | None = None

    @property
    def image(self) -> Image:
        """The row as the change left it, or as it was where the change took it away."""
        return self.after or self.before or {}


def _whole(table: Table, *key: str) -> _Imaged:
    return _Imaged(table, key, tuple(column.name for column in table.c))


# Parents before children.
_IMAGED = (
    _whole(ENTITIES, "entity_id"),
    _whole(ALIASES, "entity_id", "alias"),
    _whole(CHARACTER_FILE_ALIASES, "entity_id", "alias"),
    _whole(MENTIONS, "scene_id", "entity_id", "name"),
    _Imaged(
        SCENES, ("scene_id",), ("scene_id", "participants", "location_id", "pov", "record", "content_hash")
    ),
    _Imaged(CHUNKS, ("chunk_id",), ("chunk_id", "entities_mentioned", "attached", "detached", "slot_type")),
    _whole(CHUNK_ENTITIES, "chunk_row_id", "entity_id"),
    _Imaged(
        STATES, ("row_id",), ("row_id", "scene_id", "attribute", "kind", "entity_id", "entity_type", "value")
    ),
    _Imaged(LOOP_EVENTS, ("row_id",), ("row_id", "scene_id", "loop_id", "kind", "detail")),
    _Imaged(
        CHARACTER_MEMORIES,
        ("memory_id",),
        ("memory_id", "character_id", "participants", "heard_from", "slot", "superseded_by"),
    ),
    _Imaged(DISPOSITION_CHANGES, ("row_id",), ("row_id", "character_id", "other_id")),
    _Imaged(DISCLOSURES, ("row_id",), ("row_id", "character_id", "other_id")),
    _whole(CHARACTER_SECRETS, "row_id"),
    _whole(RELATIONSHIPS, "relationship_id"),
    _whole(RELATIONSHIP_CHANGES, "row_id"),
)

_BY_NAME = {imaged.table.name: imaged for imaged in _IMAGED}

_PARENTS = (ENTITIES.name, RELATIONSHIPS.name)


def undo_snapshots(session: StorageSession) -> Images:
    """Return the images of all rows of a project that a merge or split can touch."""
    return {imaged.table.name: _images(session, imaged) for imaged in _IMAGED}


def row_changes(before: Images, after: Images) -> list[RowChange]:
    """Return the rows that differ between two moments."""
    changes = []
    for table, old_rows in before.items():
        new_rows = after[table]
        for key in [*old_rows, *(key for key in new_rows if key not in old_rows)]:
            old, new = old_rows.get(key), new_rows.get(key)
            if old != new:
                changes.append(RowChange(table=table, before=old, after=new))
    return changes


def restore_rows(session: StorageSession, changes: Sequence[RowChange]) -> None:
    """Put rows back as they were before a change.

    Args:
        session: A writing session.
        changes: What the change did.

    Raises:
        UserInputError: When one of the rows is no longer as the change left it; nothing is restored then.
    """
    _require_unchanged(undo_snapshots(session), changes)
    order = list(_BY_NAME)
    forward = sorted(changes, key=lambda each: order.index(each.table))
    returning = [change for change in forward if change.after is None]
    # Parents come first, for what is to hang on them again; what was added goes before the rest comes, which
    # may need its numbers.
    _insert(session, [change for change in returning if change.table in _PARENTS])
    _update(session, [change for change in forward if change.before and change.after])
    _delete(session, [change for change in reversed(forward) if change.before is None])
    _insert(session, [change for change in returning if change.table not in _PARENTS])


def _insert(session: StorageSession, changes: Sequence[RowChange]) -> None:
    for change in changes:
        table = _BY_NAME[change.table].table
        session.insert(table, [_with_free_row_id(session, table, change.image)])


def _update(session: StorageSession, changes: Sequence[RowChange]) -> None:
    revision = session.revision()
    for change in changes:
        imaged, before = _BY_NAME[change.table], change.before or {}
        values = {name: value for name, value in before.items() if name not in imaged.key}
        if imaged.table is CHARACTER_MEMORIES:
            # Who has them at hand must see that they changed.
            values["changed"] = revision
        session.run(imaged.table.update().where(_is_row(imaged, session.project_id, before)).values(**values))


def _delete(session: StorageSession, changes: Sequence[RowChange]) -> None:
    for change in changes:
        imaged = _BY_NAME[change.table]
        session.run(imaged.table.delete().where(_is_row(imaged, session.project_id, change.image)))


def _with_free_row_id(session: StorageSession, table: Table, row: Image) -> Image:
    """Keep a row's number, which orders rows, unless somebody has it by now."""
    number = row.get("row_id")
    if (
        number is None
        or session.connection.scalar(select(table.c.row_id).where(table.c.row_id == number)) is None
    ):
        return row
    return {name: value for name, value in row.items() if name != "row_id"}


def _require_unchanged(now: Images, changes: Sequence[RowChange]) -> None:
    for change in changes:
        current = now[change.table].get(_key(_BY_NAME[change.table], change.image))
        if _without_number(current) != _without_number(change.after):
            raise UserInputError(
                f"a row of {change.table} changed since ({_shown(current, change.image)}); undo what was changed"
                " after it first, or correct it by hand"
            )


def _images(session: StorageSession, imaged: _Imaged) -> dict[str, Image]:
    columns = [imaged.table.c[name] for name in imaged.columns]
    rows = session.rows(select(*columns).where(session.owns(imaged.table)))
    images = (dict(row._mapping) for row in rows)
    return {_key(imaged, image): image for image in images}


def _key(imaged: _Imaged, image: Image) -> str:
    return json.dumps([image[name] for name in imaged.key])


def _is_row(imaged: _Imaged, project_id: str, image: Image) -> Any:
    same_key = (imaged.table.c[name] == image[name] for name in imaged.key)
    return and_(imaged.table.c.project_id == project_id, *same_key)


def _without_number(image: Image | None) -> Image | None:
    return None if image is None else {name: value for name, value in image.items() if name != "row_id"}


def _shown(current: Image | None, image: Image) -> str:
    text = json.dumps(current if current is not None else image, ensure_ascii=False)
    return ("gone: " if current is None else "now: ") + text[:120]
