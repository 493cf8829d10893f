"""Images of a project's rows before and after a change, by which the change can be undone exactly."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Column, ColumnElement, LargeBinary, Table, and_, not_, or_, select

from novelgen.errors import UserInputError
from novelgen.models.knowledge import ALL_LIVED
from runtime.storage.session import StorageSession
from runtime.storage.tables import (
    ALIASES,
    CHARACTER_CHANGES,
    CHARACTER_FILE_ALIASES,
    CHARACTER_MEMORIES,
    CHARACTER_SECRETS,
    CHUNK_ENTITIES,
    CHUNKS,
    DISCLOSURES,
    DISPOSITION_CHANGES,
    ENTITIES,
    KNOWLEDGE_EVENTS,
    LOOP_EVENTS,
    MENTIONS,
    POSITIONED_TABLES,
    RELATIONSHIP_CHANGES,
    RELATIONSHIPS,
    SCENES,
    STATES,
    UtcTimestamp,
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

    @property
    def everything(self) -> tuple[str, ...]:
        """All columns, by which a row that goes can come back."""
        return tuple(column.name for column in self.table.c)


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
    _Imaged(SCENES, ("scene_id",), ("scene_id", "participants", "location_id", "pov", "record", "content_hash")),
    _Imaged(CHUNKS, ("chunk_id",), ("chunk_id", "entities_mentioned", "attached", "detached", "slot_type")),
    _whole(CHUNK_ENTITIES, "chunk_row_id", "entity_id"),
    _whole(STATES, "row_id"),
    _whole(LOOP_EVENTS, "row_id"),
    _Imaged(
        CHARACTER_MEMORIES,
        ("memory_id",),
        ("memory_id", "character_id", "participants", "heard_from", "slot", "superseded_by"),
    ),
    _Imaged(DISPOSITION_CHANGES, ("row_id",), ("row_id", "character_id", "other_id")),
    _Imaged(CHARACTER_CHANGES, ("row_id",), ("row_id", "character_id", "changed_rows")),
    _Imaged(DISCLOSURES, ("row_id",), ("row_id", "character_id", "other_id")),
    _whole(CHARACTER_SECRETS, "row_id"),
    _whole(RELATIONSHIPS, "relationship_id"),
    _whole(RELATIONSHIP_CHANGES, "row_id"),
    _Imaged(KNOWLEDGE_EVENTS, ("row_id",), ("row_id", "scene_id", "source_id", "kind", "character_id", "learned_from")),
)

_BY_NAME = {imaged.table.name: imaged for imaged in _IMAGED}

_PARENTS = (ENTITIES.name, RELATIONSHIPS.name)


def _of_either(table: Table) -> Callable[[str], ColumnElement[bool]]:
    return lambda entity_id: or_(table.c.character_id == entity_id, table.c.other_id == entity_id)


def _of(table: Table) -> Callable[[str], ColumnElement[bool]]:
    return lambda entity_id: table.c.character_id == entity_id


def _known_or_told(entity_id: str) -> ColumnElement[bool]:
    table = KNOWLEDGE_EVENTS
    tale = and_(table.c.source_id == ALL_LIVED, table.c.learned_from == entity_id)
    return or_(table.c.character_id == entity_id, tale)


GOING_WITH: Mapping[Table, Callable[[str], ColumnElement[bool]]] = {
    CHARACTER_MEMORIES: _of(CHARACTER_MEMORIES),
    CHARACTER_CHANGES: _of(CHARACTER_CHANGES),
    CHARACTER_SECRETS: _of(CHARACTER_SECRETS),
    DISPOSITION_CHANGES: _of_either(DISPOSITION_CHANGES),
    DISCLOSURES: _of_either(DISCLOSURES),
    KNOWLEDGE_EVENTS: _known_or_told,
}
"""Which rows of what a character knows, remembers and feels go when an entity is deleted: those that are its own, and
those that say nothing without it. What another felt for somebody, or told to somebody, is of both."""


def undo_snapshots(session: StorageSession, *, deleted_id: str | None = None) -> Images:
    """Return the images of all rows of a project that a merge, split or deletion can touch."""
    return {imaged.table.name: _images(session, imaged, deleted_id) for imaged in _IMAGED}


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
    """Put rows back as they were before a change."""
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
        row = _with_free_row_id(session, table, _at_its_scene(session, table, change.image))
        session.insert(table, [_as_stored(table, row) | _revised(session, table)])


def _update(session: StorageSession, changes: Sequence[RowChange]) -> None:
    for change in changes:
        imaged, before = _BY_NAME[change.table], change.before or {}
        kept = (*imaged.key, *_following(imaged.table))
        values = {name: value for name, value in before.items() if name not in kept}
        values = _as_stored(imaged.table, values) | _revised(session, imaged.table)
        session.run(imaged.table.update().where(_is_row(imaged, session.project_id, before)).values(**values))


def _delete(session: StorageSession, changes: Sequence[RowChange]) -> None:
    for change in changes:
        imaged = _BY_NAME[change.table]
        session.run(imaged.table.delete().where(_is_row(imaged, session.project_id, change.image)))


def _revised(session: StorageSession, table: Table) -> dict[str, int]:
    """Return the mark by which who has memories of characters at hand sees that they changed."""
    return {"changed": session.revision()} if table is CHARACTER_MEMORIES else {}


def _at_its_scene(session: StorageSession, table: Table, row: Image) -> Image:
    """Return a row with the position that its scene has by now."""
    if table not in POSITIONED_TABLES or row.get("scene_id") is None:
        return row
    place = select(SCENES.c.chapter_index, SCENES.c.scene_index)
    here = session.connection.execute(
        place.where(session.owns(SCENES), SCENES.c.scene_id == row["scene_id"])
    ).one_or_none()
    if here is None:
        raise UserInputError(
            f"the scene of a row of {table.name} was deleted since ({_shown(None, row)}); correct it by hand"
        )
    return {**row, "chapter_index": here.chapter_index, "scene_index": here.scene_index}


def _with_free_row_id(session: StorageSession, table: Table, row: Image) -> Image:
    """Keep a row's number, which orders rows, unless somebody has it by now."""
    number = row.get("row_id")
    if number is None or session.connection.scalar(select(table.c.row_id).where(table.c.row_id == number)) is None:
        return row
    return {name: value for name, value in row.items() if name != "row_id"}


def _require_unchanged(now: Images, changes: Sequence[RowChange]) -> None:
    for change in changes:
        current = now[change.table].get(_key(_BY_NAME[change.table], change.image))
        passed_over = (*_PASSED_OVER, *_following(_BY_NAME[change.table].table))
        if not _is_as_left(current, change.after, passed_over):
            raise UserInputError(
                f"a row of {change.table} changed since ({_shown(current, change.image)}); undo what was changed"
                " after it first, or correct it by hand"
            )


def _images(session: StorageSession, imaged: _Imaged, deleted_id: str | None) -> dict[str, Image]:
    goes = GOING_WITH.get(imaged.table)
    if deleted_id is None or goes is None:
        return _pictured(session, imaged, imaged.columns)
    going = goes(deleted_id)
    staying = or_(not_(going), going.is_(None))
    return {
        **_pictured(session, imaged, imaged.columns, staying),
        **_pictured(session, imaged, imaged.everything, going),
    }


def _pictured(
    session: StorageSession, imaged: _Imaged, names: Sequence[str], *conditions: ColumnElement[bool]
) -> dict[str, Image]:
    columns = [imaged.table.c[name] for name in names]
    rows = session.rows(select(*columns).where(session.owns(imaged.table), *conditions))
    images = ({name: _plain(value) for name, value in row._mapping.items()} for row in rows)
    return {_key(imaged, image): image for image in images}


def _key(imaged: _Imaged, image: Image) -> str:
    return json.dumps([image[name] for name in imaged.key])


def _is_row(imaged: _Imaged, project_id: str, image: Image) -> Any:
    same_key = (imaged.table.c[name] == image[name] for name in imaged.key)
    return and_(imaged.table.c.project_id == project_id, *same_key)


def _is_as_left(current: Image | None, after: Image | None, passed_over: Collection[str]) -> bool:
    """Tell whether a row is as a change left it; columns that came after the change was kept say nothing."""
    if current is None or after is None:
        return current is after
    return all(current.get(name) == value for name, value in after.items() if name not in passed_over)


_PASSED_OVER = ("row_id", "updated_at", "changed")
"""A row may get another number, and says when something else was said of it."""


def _following(table: Table) -> tuple[str, ...]:
    """Return the columns that follow the scene wherever it moves: they are as they are now."""
    return ("chapter_index", "scene_index") if table in POSITIONED_TABLES else ()


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return value.isoformat() if isinstance(value, datetime) else value


def _as_stored(table: Table, row: Image) -> Image:
    """Return a row of an image, whose moments and bytes are texts, as the table has it."""
    return {name: _value(table.c[name], value) for name, value in row.items()}


def _value(column: Column[Any], value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if isinstance(column.type, UtcTimestamp):
        return datetime.fromisoformat(value)
    return base64.b64decode(value) if isinstance(column.type, LargeBinary) else value


def _shown(current: Image | None, image: Image) -> str:
    text = json.dumps(current if current is not None else image, ensure_ascii=False)
    return ("gone: " if current is None else "now: ") + text[:120]
