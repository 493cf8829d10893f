"""What every repository works with: a connection in a transaction, its dialect and the clock."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Executable,
    FromClause,
    Row,
    Table,
    Text,
    any_,
    cast,
    func,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite

from novelgen.errors import DatabaseError, UnknownProjectError
from runtime.storage.tables import PROJECTS

AnyRow: TypeAlias = "Row[*tuple[Any, ...]]"
"""A row of a query whose columns are not told to the type checker."""

Integers: TypeAlias = NDArray[np.int64]

SQL_BATCH = 500
"""Values per list of parameters; SQLite takes at most 32,766 in a statement."""


class StorageSession:
    """A connection in a transaction, bound to one project."""

    def __init__(self, connection: Connection, clock: Callable[[], datetime], *, project_id: str) -> None:
        self.connection = connection
        self.now = clock
        self.project_id = project_id

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is SQLite; else it is PostgreSQL."""
        return self.connection.dialect.name == "sqlite"

    def rows(self, statement: Executable, parameters: Any = None) -> Sequence[AnyRow]:
        """Run a query and return all rows."""
        return self.connection.execute(statement, parameters).all()

    def scalar(self, statement: Executable) -> Any:
        """Run a query and return the first value of its first row, or None."""
        return self.connection.scalar(statement)

    def select(
        self,
        what: Table | Sequence[ColumnElement[Any]],
        *conditions: ColumnElement[bool],
        order: Sequence[ColumnElement[Any]] = (),
        limit: int | None = None,
        offset: int | None = None,
    ) -> Sequence[AnyRow]:
        """Return the project's rows of a table, whole or some columns of it, that fit all conditions."""
        table, columns = (what, [what]) if isinstance(what, Table) else (what[0].table, what)
        statement = select(*columns).where(self.owns(table), *conditions).order_by(*order).limit(limit).offset(offset)
        return self.rows(statement)

    def one(self, what: Table | Sequence[ColumnElement[Any]], *conditions: ColumnElement[bool]) -> AnyRow | None:
        """Return the first of the project's rows that fit all conditions; None where there is none."""
        return next(iter(self.select(what, *conditions, limit=1)), None)

    def values(
        self, column: ColumnElement[Any], *conditions: ColumnElement[bool], order: Sequence[ColumnElement[Any]] = ()
    ) -> list[Any]:
        """Return what the project's rows that fit all conditions have in a column."""
        return [row[0] for row in self.select([column], *conditions, order=order)]

    def integers(self, columns: Sequence[ColumnElement[int]], *conditions: ColumnElement[bool]) -> list[Integers]:
        """Read columns of whole numbers whole: the database joins each, which spares an object per row."""
        # SQLite joins numbers as they are; PostgreSQL wants texts.
        texts = columns if self.is_sqlite else [cast(column, Text) for column in columns]
        joined = (func.aggregate_strings(each, ",") for each in texts)
        return [parsed_integers(each) for each in self.connection.execute(select(*joined).where(*conditions)).one()]

    def run(self, statement: Executable, parameters: Any = None) -> int:
        """Run a writing statement and return the number of rows that it touched."""
        return self.connection.execute(statement, parameters).rowcount

    def insert(self, table: Table, rows: Sequence[dict[str, Any]]) -> None:
        """Insert rows that all have the same keys; none is allowed."""
        if rows:
            self.connection.execute(table.insert(), list(rows))

    def upsert(self, table: Table) -> sqlite.Insert | postgresql.Insert:
        """Return an INSERT that can be given ON CONFLICT, for this dialect."""
        return sqlite.insert(table) if self.is_sqlite else postgresql.insert(table)

    def among(self, column: ColumnElement[Any], values: Iterable[str | int]) -> ColumnElement[bool]:
        """Return the condition that a column has one of the values: one parameter, however many they are."""
        wanted = list(values)
        if self.is_sqlite:
            listed = func.json_each(json.dumps(wanted)).table_valued("value")
            return column.in_(select(listed.c.value))
        return column == any_(cast(wanted, ARRAY(column.type)))

    def owns(self, table: FromClause) -> ColumnElement[bool]:
        """Return the condition that a row of the table belongs to the project."""
        return table.c.project_id == self.project_id

    def own(self, rows: Sequence[AnyRow]) -> Sequence[AnyRow]:
        """Return the rows after checking that each carries the project's id."""
        for row in rows:
            if row.project_id != self.project_id:
                raise DatabaseError(
                    f"a row of project {row.project_id!r} was read for {self.project_id!r}; check the database"
                )
        return rows

    def touch(self) -> None:
        """Count a write to the project, which also lets its writers queue up on PostgreSQL."""
        touched = self.run(
            PROJECTS.update().where(self.owns(PROJECTS)).values(story_revision=PROJECTS.c.story_revision + 1)
        )
        if not touched:
            raise UnknownProjectError(f"no project {self.project_id!r} is stored; create it first")

    def revision(self) -> int:
        """Return the number of the last write to the project, this transaction's own if it touched it."""
        statement = select(PROJECTS.c.story_revision).where(self.owns(PROJECTS))
        return int(self.connection.execute(statement).scalar_one())


class Repository:
    """What reads and writes one kind of thing within a transaction."""

    def __init__(self, session: StorageSession) -> None:
        self._session = session


def parsed_integers(joined: str | None) -> Integers:
    """Return the numbers of a text with commas between them; none for no text."""
    return np.fromstring(joined or "", dtype=np.int64, sep=",")


def batches(values: Iterable[Any], size: int = SQL_BATCH) -> list[list[Any]]:
    """Cut values into lists of at most `size`; none gives no list."""
    listed = list(values)
    return [listed[start : start + size] for start in range(0, len(listed), size)]
