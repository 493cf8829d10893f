"""Every failure of a database has a name in novelgen's tree."""

import sqlite3
import sys
from collections.abc import Iterator

import pytest
from sqlalchemy import exc

from novelgen.errors import (
    ConfigurationError,
    DatabaseBusyError,
    DatabaseError,
    DatabaseFullError,
    DatabaseReadOnlyError,
    SchemaVersionError,
)
from runtime.storage.connection import (
    MAPPED_CLASSES,
    database_errors,
    database_url,
    is_lost_connection,
    postgres_engine,
    translated,
)


def _subclasses(kind: type[exc.DBAPIError]) -> Iterator[type[exc.DBAPIError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _subclasses(child)


def _sqlite_error(code: int, message: str = "broken") -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(message)
    error.sqlite_errorcode = code
    return error


class _ServerError(Exception):
    def __init__(self, state: str) -> None:
        super().__init__(f"server says {state}")
        self.sqlstate = state


@pytest.mark.parametrize("kind", sorted(set(_subclasses(exc.DBAPIError)), key=lambda kind: kind.__name__))
def test_every_class_of_driver_error_is_mapped(kind: type[exc.DBAPIError]) -> None:
    """A class that a new SQLAlchemy adds fails here until somebody decides what it means."""
    assert kind in MAPPED_CLASSES
    assert isinstance(translated(kind("SELECT 1", {}, Exception("why"))), DatabaseError)


@pytest.mark.parametrize(
    ("expected", "codes", "states"),
    [
        (
            DatabaseBusyError,
            [sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_SNAPSHOT, sqlite3.SQLITE_LOCKED],
            ["40001", "55P03", "57014"],
        ),
        (DatabaseFullError, [sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE], ["53100"]),
        (DatabaseReadOnlyError, [sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM], ["25006"]),
        (DatabaseError, [sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB], ["57P01"]),
        (SchemaVersionError, [sqlite3.SQLITE_SCHEMA], ["42P01"]),
    ],
)
def test_codes_decide(expected: type[DatabaseError], codes: list[int], states: list[str]) -> None:
    """SQLite's result code, extended or not, and PostgreSQL's SQLSTATE say what happened."""
    for error in (*map(_sqlite_error, codes), *map(_ServerError, states)):
        assert type(translated(exc.OperationalError("SELECT 1", {}, error))) is expected, error


def test_a_missing_table_is_a_question_of_the_schema_version() -> None:
    """SQLite has no code for it, only a message."""
    error = exc.OperationalError("SELECT 1", {}, _sqlite_error(1, "no such table: scenes"))

    assert isinstance(translated(error), SchemaVersionError)


def test_an_error_says_whether_to_try_again() -> None:
    """A lost connection, a refused statement and an exhausted pool are told apart; a bug of ours stays what it is."""
    with pytest.raises(DatabaseError, match="57P01") as caught, database_errors():
        raise exc.OperationalError("SELECT 1", {}, _ServerError("57P01"))

    assert caught.value.is_retryable
    assert is_lost_connection(caught.value)
    error = translated(exc.IntegrityError("INSERT", {}, sqlite3.IntegrityError("UNIQUE constraint failed")))

    assert not error.is_retryable
    assert not is_lost_connection(error)
    with pytest.raises(DatabaseBusyError, match="fewer things at once"), database_errors():
        raise exc.TimeoutError("QueuePool limit reached")
    with pytest.raises(KeyError, match="ours"), database_errors():
        raise KeyError("ours")


def test_a_missing_psycopg_names_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """A PostgreSQL address without its driver is a setting to mend, not a bug."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    url = database_url("postgresql://novelgen@127.0.0.1/novelgen")
    with pytest.raises(ConfigurationError, match=r"pip install 'novelgen\[postgres\]'"):
        postgres_engine(url, busy_timeout_s=1, statement_timeout_s=1, pool_size=1)
