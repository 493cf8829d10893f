"""Stored values that cannot be read: which rows hold them, and putting empty ones in their place."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import JSON, ColumnElement, Table, Text, cast, func, select

from runtime.storage.chunks import OutboxRepository
from runtime.storage.connection import empty_like
from runtime.storage.session import Repository, StorageSession
from runtime.storage.tables import CHUNKS, EMBEDDINGS, METADATA, SCENES

BYTES_PER_NUMBER = 4
"""Of a stored vector, whose numbers are float32."""

_KEYS = ("label", "chunk_id", "entity_id", "loop_id", "relationship_id", "memory_id", "character_id")
"""Columns that name a row to people; else its number does."""


class DamagedValue(NamedTuple):
    """A value that cannot be read, by table, row and column."""

    table: str
    row_id: int | str
    column: str
    name: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column} of {self.name}"


def readable_json(session: StorageSession, column: ColumnElement[object]) -> ColumnElement[bool]:
    """Return the condition that a column's JSON can be read; PostgreSQL stores no other."""
    return func.json_valid(column) == 1 if session.is_sqlite else column.is_not(None)


def whole_vector() -> ColumnElement[bool]:
    """Return the condition that a stored vector has as many numbers as it should."""
    return func.length(EMBEDDINGS.c.vector) == EMBEDDINGS.c.dimension * BYTES_PER_NUMBER


class DamageRepository(Repository):
    """Finds and replaces values that cannot be read."""

    def list_damaged(self) -> list[DamagedValue]:
        """Return every value of the project that cannot be read, table by table."""
        found = []
        if self._session.is_sqlite:
            for table in METADATA.sorted_tables:
                columns = [column for column in table.c if isinstance(column.type, JSON)]
                if "project_id" in table.c and columns:
                    found += [value for column in columns for value in self._of_column(table, column)]
        joined = CHUNKS.join(EMBEDDINGS, EMBEDDINGS.c.chunk_row_id == CHUNKS.c.row_id)
        statement = select(CHUNKS.c.row_id, CHUNKS.c.chunk_id).select_from(joined)
        rows = self._session.rows(statement.where(self._session.owns(CHUNKS), ~whole_vector()).distinct())
        return found + [DamagedValue(EMBEDDINGS.name, row[0], "vector", row[1]) for row in rows]

    def replace_damaged(self) -> list[DamagedValue]:
        """Put empty values in the place of those that cannot be read, and return which.

        A vector is deleted and made anew with the next indexing; a scene's record is gone and can be read again.
        """
        damaged = self.list_damaged()
        if not damaged:
            return []
        self._session.touch()
        vectors = [value for value in damaged if value.table == EMBEDDINGS.name]
        row_ids = [value.row_id for value in vectors]
        self._session.run(EMBEDDINGS.delete().where(self._session.among(EMBEDDINGS.c.chunk_row_id, row_ids)))
        OutboxRepository(self._session).queue([value.name for value in vectors], "upsert")
        for value in damaged:
            if value.table != EMBEDDINGS.name:
                self._replace(METADATA.tables[value.table], value)
        return damaged

    def _of_column(self, table: Table, column: ColumnElement[object]) -> list[DamagedValue]:
        key = _key(table)
        name = next((table.c[each] for each in _KEYS if each in table.c), key)
        damaged = (column.is_not(None), func.json_valid(column) == 0)
        rows = self._session.rows(select(key, name).where(self._session.owns(table), *damaged))
        return [DamagedValue(table.name, row[0], str(column.key), str(row[1])) for row in rows]

    def _replace(self, table: Table, value: DamagedValue) -> None:
        this = _key(table) == value.row_id
        column = table.c[value.column]
        text = self._session.scalar(select(cast(column, Text)).where(self._session.owns(table), this))
        values: dict[str, Any] = {value.column: empty_like(text or "")}
        if table is SCENES and value.column == "record":
            values = {"record": None, "record_origin": "rules", "extraction_status": "none"}
        self._session.update(table, this, **values)


def _key(table: Table) -> ColumnElement[object]:
    return table.c.row_id if "row_id" in table.c else next(iter(table.primary_key.columns))
