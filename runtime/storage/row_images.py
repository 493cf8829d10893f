"""Images of rows: the columns that a change may alter, as JSON keeps them."""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import LargeBinary
from sqlmodel.sql.sqltypes import UTCDateTime

from novelgen.characters.memory import CharacterMemory
from runtime.storage.change import Image, Images, RowChange
from runtime.storage.columns import PLACE
from runtime.storage.records import (
    POSITIONED_TABLES,
    AliasRow,
    CharacterFileAlias,
    CharacterMemoryRow,
    CharacterSecret,
    Disclosure,
    EntityRow,
    FeltChange,
    FlagChange,
    Knowledge,
    LoopEvent,
    MemoryRow,
    NameMention,
    Pair,
    RelationshipChange,
    Row,
    Scene,
    State,
    Summary,
)
from runtime.storage.references import REFERRING
from runtime.storage.session import table_name, table_of


class ImagedTable(NamedTuple):
    """A table's key columns, and the columns an entity change may alter."""

    table: type[Row]
    key: tuple[str, ...] = ("row_id",)
    altered: tuple[str, ...] | None = None

    @property
    def columns(self) -> Sequence[str]:
        """The columns that an image has."""
        return list(self.table.model_fields) if self.altered is None else (*self.key, *self.altered)


_OF_BOTH = ("character_id", "other_id")

# Parents before children.
IMAGED_TABLES = {
    table_name(imaged.table): imaged
    for imaged in (
        ImagedTable(EntityRow, ("entity_id",)),
        ImagedTable(AliasRow, ("entity_id", "alias")),
        ImagedTable(CharacterFileAlias, ("entity_id", "alias")),
        ImagedTable(NameMention, ("scene_id", "entity_id", "name")),
        ImagedTable(Scene, ("scene_id",), (*REFERRING[Scene], "content_hash")),
        ImagedTable(MemoryRow, ("chunk_id",), REFERRING[MemoryRow]),
        ImagedTable(State),
        ImagedTable(LoopEvent),
        ImagedTable(CharacterMemoryRow, ("memory_id",), (*REFERRING[CharacterMemoryRow], "superseded_by")),
        ImagedTable(FeltChange, altered=_OF_BOTH),
        ImagedTable(Disclosure, altered=_OF_BOTH),
        ImagedTable(CharacterSecret),
        ImagedTable(Pair, ("relationship_id",)),
        ImagedTable(RelationshipChange),
        ImagedTable(Summary),
        ImagedTable(FlagChange),
        ImagedTable(Knowledge, altered=("scene_id", "source_id", "kind", *REFERRING[Knowledge])),
    )
}

_SUBJECT_COLUMNS = ("entity_id", "loop_id")
"""They tell what a row is about, and are kept of every row."""

NAMES = "names"
"""In place of a table: all other names of an entity, which are put back together, in their order."""

DELETED_IMAGE: Image = {"status": "deleted"}


def memory_change(before: CharacterMemory | None, after: CharacterMemory) -> RowChange:
    """Return a memory's change, undone by a deletion for a new one."""
    key = {"memory_id": after.memory_id}
    if before is None:
        return RowChange(table=table_name(CharacterMemoryRow), key=key, before=DELETED_IMAGE, after={})
    old, new = (memory.model_dump(exclude={"created_at"}) for memory in (before, after))
    names = [name for name, value in new.items() if old[name] != value]
    was, became = ({name: plain_value(image[name]) for name in names} for image in (old, new))
    return RowChange(table=table_name(CharacterMemoryRow), key=key, before=was, after=became)


def differences(before: Images, after: Images) -> list[RowChange]:
    """Return the rows that differ between two moments."""
    changes = []
    for table in dict.fromkeys([*before, *after]):
        old_rows, new_rows = before.get(table, {}), after.get(table, {})
        for key in dict.fromkeys([*old_rows, *new_rows]):
            old, new = old_rows.get(key), new_rows.get(key)
            if old == new:
                continue
            row = RowChange(table=table, key={name: (old or new or {})[name] for name in key_columns(table)})
            if old and new:
                names = [name for name, value in new.items() if old.get(name) != value or name in _SUBJECT_COLUMNS]
                old, new = ({name: image.get(name) for name in names} for image in (old, new))
            changes.append(row.model_copy(update={"before": old, "after": new}))
    return changes


def following_columns(table: type[Row]) -> tuple[str, ...]:
    """Return the columns that follow the scene wherever it moves: they are as they are now."""
    return PLACE if table in POSITIONED_TABLES else ()


def key_columns(table: str) -> tuple[str, ...]:
    """Return the key columns of a table, or of what stands in place of one."""
    return ("entity_id",) if table == NAMES else IMAGED_TABLES[table].key


def key_text(table: str, image: Mapping[str, Any]) -> str:
    """Return the key of an image as a text."""
    return json.dumps([image[name] for name in key_columns(table)])


def row_conditions(row: RowChange) -> list[Any]:
    """Return the conditions that a row's key fits."""
    imaged = IMAGED_TABLES[row.table]
    return [getattr(imaged.table, name) == row.key[name] for name in imaged.key]


def plain_value(value: Any) -> Any:
    """Return a column's value as JSON keeps it."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return value.isoformat() if isinstance(value, datetime) else value


def stored_values(table: type[Row], row: Image) -> Image:
    """Return an image's row in the table's types."""
    columns = table_of(table).c
    readers_by_type: Mapping[type, Callable[[str], Any]] = {
        UTCDateTime: datetime.fromisoformat,
        LargeBinary: base64.b64decode,
    }
    return {
        name: readers_by_type.get(type(columns[name].type), str)(value) if isinstance(value, str) else value
        for name, value in row.items()
    }


def image_text(image: Image) -> str:
    """Return the beginning of an image for a message."""
    return json.dumps(image, ensure_ascii=False)[:120]
