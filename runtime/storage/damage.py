"""Stored values that cannot be read: which rows hold them, and putting others in their place."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import Any, NamedTuple, get_origin

from pydantic_core import PydanticUndefined
from sqlalchemy import (
    JSON,
    Boolean,
    ColumnElement,
    DateTime,
    Float,
    Integer,
    LargeBinary,
    Select,
    String,
    Text,
    and_,
    case,
    cast,
    delete,
    false,
    func,
    or_,
    select,
    type_coerce,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.types import TypeDecorator
from sqlmodel import col

from novelgen.language.normalise import name_key
from runtime.storage.chunks import OutboxRepository
from runtime.storage.connection import IS_TEXT, read_damaged_json, read_damaged_text
from runtime.storage.records import AliasRow, Embedding, EntityRow, MemoryRow, Row, Scene
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
    """Return a condition for readable JSON, trivial on PostgreSQL."""
    readable: ColumnElement[bool] = func.json_valid(column) == 1 if session.is_sqlite else column.is_not(None)
    return readable


def whole_vector() -> ColumnElement[bool]:
    """Return the condition that a stored vector has as many numbers as it should."""
    return func.length(col(Embedding.vector)) == col(Embedding.dimension) * BYTES_PER_NUMBER


class Replacement(NamedTuple):
    """Damaged values that were replaced, and those that could not be."""

    done: list[DamagedValue]
    left: list[DamagedValue]


class DamageRepository(Repository):
    """Finds and replaces values that cannot be read."""

    def list_damaged(self) -> list[DamagedValue]:
        """Return every value of the project that cannot be read, table by table."""
        damaged: list[DamagedValue] = []
        if self._session.is_sqlite:
            for table in tables_by_name().values():
                if "project_id" in table.model_fields:
                    damaged += self._of_table(table)
        damaged += self._nameless()
        of_memory = col(Embedding.chunk_row_id) == col(MemoryRow.row_id)
        statement = select(col(MemoryRow.row_id), col(MemoryRow.chunk_id)).join(Embedding, of_memory)
        rows = self._session.rows(statement.where(self._session.owns(MemoryRow), ~whole_vector()).distinct())
        return damaged + [DamagedValue(table_name(Embedding), row[0], "vector", row[1]) for row in rows]

    def replace_damaged(self) -> Replacement:
        """Put what can be read, or nothing, in the place of values that cannot be read.

        A vector is deleted and made anew with the next indexing; a scene's record is gone and can be read again.
        """
        damaged = self.list_damaged()
        if not damaged:
            return Replacement([], [])
        self._session.touch()
        vectors = [value for value in damaged if value.table == table_name(Embedding)]
        row_ids = [value.row_id for value in vectors]
        self._session.run(delete(Embedding).where(self._session.among(Embedding.chunk_row_id, row_ids)))
        OutboxRepository(self._session).queue([value.name for value in vectors], "upsert")
        damaged_values, remaining_damaged_values = list(vectors), list[DamagedValue]()
        for value in damaged:
            if value.table != table_name(Embedding):
                (
                    damaged_values if self._replace(tables_by_name()[value.table], value) else remaining_damaged_values
                ).append(value)
        return Replacement(damaged_values, remaining_damaged_values)

    def _nameless(self) -> list[DamagedValue]:
        """Return the empty names of cards, and the empty ones among their other names."""
        entities, aliases = col(EntityRow.entity_id), col(AliasRow.entity_id)
        return [
            *(
                DamagedValue(table_name(EntityRow), row[0], "name", row[1])
                for row in self._session.select([_key(EntityRow), entities], EntityRow.name == "")
            ),
            *(
                DamagedValue(table_name(AliasRow), row[0], "alias", row[1])
                for row in self._session.select([_key(AliasRow), aliases], AliasRow.alias == "")
            ),
        ]

    def _of_table(self, table: type[Row]) -> list[DamagedValue]:
        rows = self._session.rows(_damaged_rows(table).where(self._session.owns(table)))
        return [
            DamagedValue(table_name(table), row.key, column.name, str(row.name))
            for row in rows
            for column in table_of(table).c
            if getattr(row, f"fault_of_{column.name}")
        ]

    def _replace(self, table: type[Row], value: DamagedValue) -> bool:
        this = _key(table) == value.row_id
        if table is AliasRow and value.column == "alias" and self._session.count(table, this, AliasRow.alias == ""):
            self._session.delete(table, this)
            return True
        if table is EntityRow and value.column == "name" and self._session.count(table, this, EntityRow.name == ""):
            # Its id is the one name that it has.
            self._session.update(table, this, name=value.name, name_key=name_key(value.name))
            return True
        damaged_value = self._session.scalar(
            select(type_coerce(getattr(table, value.column), Text)).where(self._session.owns(table), this)
        )
        values: dict[str, Any] = {value.column: _replacement(table, value.column, damaged_value, self._session.now())}
        if table is Scene and value.column == "record":
            values = {"record": None, "record_origin": "rules", "extraction_status": "none"}
        try:
            with self._session.connection.begin_nested():
                self._session.update(table, this, **values)
        except IntegrityError:
            return False
        return True


@cache
def _damaged_rows(table: type[Row]) -> Select[Any]:
    """Return the query for the damaged rows of all projects, which takes longer to build than to run."""
    key = _key(table)
    name = next((getattr(table, column) for column in _KEYS if column in table.model_fields), key)
    faults = {column.name: _is_damaged(table, getattr(table, column.name)) for column in table_of(table).c}
    labels = (fault.label(f"fault_of_{column_name}") for column_name, fault in faults.items())
    return select(key.label("key"), type_coerce(name, Text).label("name"), *labels).where(or_(*faults.values()))


def _is_damaged(table: type[Row], column: Any) -> ColumnElement[bool]:
    """Return the condition that SQLite holds what does not fit a column."""
    kind, stored_function = _kind(column), func.typeof(column)
    is_text = func.coalesce(getattr(func, IS_TEXT)(cast(column, LargeBinary)), 0) == 1
    if isinstance(kind, JSON):
        fits = and_(stored_function == "text", is_text, func.json_valid(column) == 1)
        json_type = _JSON_TYPES.get(_value_type(table, column.key))
        if json_type is not None:
            # Of what is no JSON SQLite cannot say the type.
            fits = and_(fits, case((func.json_valid(column) == 1, func.json_type(column).in_([json_type, "null"]))))
    elif isinstance(kind, DateTime):
        fits = and_(stored_function == "text", func.julianday(column).is_not(None))
    elif isinstance(kind, Integer | Boolean):
        fits = stored_function == "integer"
    elif isinstance(kind, Float):
        fits = stored_function.in_(["real", "integer"])
    elif isinstance(kind, LargeBinary):
        fits = stored_function == "blob"
    else:
        fits = and_(stored_function == "text", is_text)
    return and_(stored_function != "null", func.coalesce(fits, false()) == false())


_JSON_TYPES = {list: "array", dict: "object"}


def _kind(column: Any) -> Any:
    return column.type.impl_instance if isinstance(column.type, TypeDecorator) else column.type


def _value_type(table: type[Row], column_name: str) -> Any:
    annotation = table.model_fields[column_name].annotation
    return get_origin(annotation) or annotation


def _replacement(table: type[Row], column_name: str, damaged_value: Any, now: datetime) -> Any:
    """Return what a column holds in place of a damaged value: what can be read of a text, else nothing."""
    column = getattr(table, column_name)
    kind = _kind(column)
    text = read_damaged_text(damaged_value) if isinstance(damaged_value, bytes) else str(damaged_value)
    if isinstance(kind, JSON):
        value_type = _value_type(table, column_name)
        value = read_damaged_json(text)
        return value if value_type not in _JSON_TYPES or isinstance(value, value_type) else value_type()
    if isinstance(kind, String):
        return text
    if table_of(table).c[column_name].nullable:
        return None
    default = table.model_fields[column_name].get_default(call_default_factory=True, validated_data={})
    if default is not PydanticUndefined and default is not None:
        return default
    return now if isinstance(kind, DateTime) else 0


def _key(table: type[Row]) -> Any:
    name = "row_id" if "row_id" in table.model_fields else next(iter(table_of(table).primary_key.columns)).name
    return getattr(table, name)
