"""Stored values that cannot be read: which rows hold them, and putting empty ones in their place."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import JSON, ColumnElement, Text, cast, delete, func, select
from sqlalchemy.types import TypeDecorator
from sqlmodel import col

from runtime.storage.chunks import OutboxRepository
from runtime.storage.connection import empty_like
from runtime.storage.records import Embedding, MemoryRow, Row, Scene
from runtime.storage.session import Repository, StorageSession, table_name, table_of, tables_by_name

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


def readable_json(session: StorageSession, column: Any) -> ColumnElement[bool]:
    """Return the condition that a column's JSON can be read; PostgreSQL stores no other."""
    readable: ColumnElement[bool] = func.json_valid(column) == 1 if session.is_sqlite else column.is_not(None)
    return readable


def whole_vector() -> ColumnElement[bool]:
    """Return the condition that a stored vector has as many numbers as it should."""
    return func.length(col(Embedding.vector)) == col(Embedding.dimension) * BYTES_PER_NUMBER


class DamageRepository(Repository):
    """Finds and replaces values that cannot be read."""

    def list_damaged(self) -> list[DamagedValue]:
        """Return every value of the project that cannot be read, table by table."""
        found = []
        if self._session.is_sqlite:
            for table in tables_by_name().values():
                if "project_id" in table.model_fields:
                    found += [value for name in _json_columns(table) for value in self._of_column(table, name)]
        of_memory = col(Embedding.chunk_row_id) == col(MemoryRow.row_id)
        statement = select(col(MemoryRow.row_id), col(MemoryRow.chunk_id)).join(Embedding, of_memory)
        rows = self._session.rows(statement.where(self._session.owns(MemoryRow), ~whole_vector()).distinct())
        return found + [DamagedValue(table_name(Embedding), row[0], "vector", row[1]) for row in rows]

    def replace_damaged(self) -> list[DamagedValue]:
        """Put empty values in the place of those that cannot be read, and return which.

        A vector is deleted and made anew with the next indexing; a scene's record is gone and can be read again.
        """
        damaged = self.list_damaged()
        if not damaged:
            return []
        self._session.touch()
        vectors = [value for value in damaged if value.table == table_name(Embedding)]
        row_ids = [value.row_id for value in vectors]
        self._session.run(delete(Embedding).where(self._session.among(Embedding.chunk_row_id, row_ids)))
        OutboxRepository(self._session).queue([value.name for value in vectors], "upsert")
        for value in damaged:
            if value.table != table_name(Embedding):
                self._replace(tables_by_name()[value.table], value)
        return damaged

    def _of_column(self, table: type[Row], column_name: str) -> list[DamagedValue]:
        key, column = _key(table), getattr(table, column_name)
        name = next((getattr(table, each) for each in _KEYS if each in table.model_fields), key)
        damaged = (column.is_not(None), func.json_valid(column) == 0)
        rows = self._session.rows(select(key, name).where(self._session.owns(table), *damaged))
        return [DamagedValue(table_name(table), row[0], column_name, str(row[1])) for row in rows]

    def _replace(self, table: type[Row], value: DamagedValue) -> None:
        this = _key(table) == value.row_id
        column = cast(getattr(table, value.column), Text)
        text = self._session.scalar(select(column).where(self._session.owns(table), this))
        values: dict[str, Any] = {value.column: empty_like(text or "")}
        if table is Scene and value.column == "record":
            values = {"record": None, "record_origin": "rules", "extraction_status": "none"}
        self._session.update(table, this, **values)


def _json_columns(table: type[Row]) -> list[str]:
    types = {column.name: column.type for column in table_of(table).c}
    plain = {name: kind.impl_instance if isinstance(kind, TypeDecorator) else kind for name, kind in types.items()}
    return [name for name, kind in plain.items() if isinstance(kind, JSON)]


def _key(table: type[Row]) -> Any:
    name = "row_id" if "row_id" in table.model_fields else next(iter(table_of(table).primary_key.columns)).name
    return getattr(table, name)
