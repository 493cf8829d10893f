"""What a failing database becomes at the border of the storage: one of novelgen's own errors."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import exc

from novelgen.errors import DatabaseBusyError, DatabaseError, DatabaseFullError, SchemaVersionError

_BUSY_ADVICE = "another process or thread is writing; try again, or raise busy_timeout_s"
_FULL_ADVICE = "free disk space and check that the file and its folder can be written"
_DAMAGED_ADVICE = "restore a backup; the file was left as it is"
_SCHEMA_ADVICE = "open it with DatabaseManager.open, which migrates, or update novelgen"
_LOST_ADVICE = "check that the database server runs, then try again"

_SQLITE_CODES: dict[int, tuple[type[DatabaseError], str]] = {
    sqlite3.SQLITE_BUSY: (DatabaseBusyError, _BUSY_ADVICE),
    sqlite3.SQLITE_LOCKED: (DatabaseBusyError, _BUSY_ADVICE),
    sqlite3.SQLITE_PROTOCOL: (DatabaseBusyError, _BUSY_ADVICE),
    sqlite3.SQLITE_FULL: (DatabaseFullError, _FULL_ADVICE),
    sqlite3.SQLITE_READONLY: (DatabaseFullError, _FULL_ADVICE),
    sqlite3.SQLITE_IOERR: (DatabaseFullError, _FULL_ADVICE),
    sqlite3.SQLITE_PERM: (DatabaseFullError, _FULL_ADVICE),
    sqlite3.SQLITE_CANTOPEN: (DatabaseError, "check the path and its permissions"),
    sqlite3.SQLITE_CORRUPT: (DatabaseError, _DAMAGED_ADVICE),
    sqlite3.SQLITE_NOTADB: (DatabaseError, _DAMAGED_ADVICE),
    sqlite3.SQLITE_SCHEMA: (SchemaVersionError, _SCHEMA_ADVICE),
}
"""By SQLite's primary result code."""

_POSTGRES_STATES: dict[str, tuple[type[DatabaseError], str]] = {
    "08": (DatabaseError, _LOST_ADVICE),
    "57P": (DatabaseError, _LOST_ADVICE),
    "57014": (DatabaseBusyError, "the statement ran longer than statement_timeout_s"),
    "40": (DatabaseBusyError, _BUSY_ADVICE),
    "55P03": (DatabaseBusyError, _BUSY_ADVICE),
    "53": (DatabaseFullError, "the server is out of disk, memory or connections"),
    "25006": (DatabaseFullError, "the server is read-only"),
    "42P01": (SchemaVersionError, _SCHEMA_ADVICE),
    "42703": (SchemaVersionError, _SCHEMA_ADVICE),
    "XX001": (DatabaseError, _DAMAGED_ADVICE),
    "XX002": (DatabaseError, _DAMAGED_ADVICE),
}
"""By PostgreSQL's SQLSTATE, the longest prefix first."""

_OWN_FAULT = "the database refused the statement; this is a bug in novelgen"
_REFUSED: tuple[type[DatabaseError], str] = (DatabaseError, _OWN_FAULT)

MAPPED_CLASSES: dict[type[exc.DBAPIError], tuple[type[DatabaseError], str]] = {
    exc.DBAPIError: _REFUSED,
    exc.InterfaceError: (DatabaseError, _LOST_ADVICE),
    exc.DatabaseError: (DatabaseError, _DAMAGED_ADVICE),
    exc.DataError: (DatabaseError, "a value does not fit its column"),
    exc.OperationalError: (DatabaseError, _LOST_ADVICE),
    exc.IntegrityError: (DatabaseError, "two rows claim one id, or a row points to one that is gone"),
    exc.InternalError: (DatabaseError, _DAMAGED_ADVICE),
    exc.ProgrammingError: _REFUSED,
    exc.NotSupportedError: _REFUSED,
}
"""What an error without a known code becomes, by its class."""

_NOT_RETRYABLE = (exc.DataError, exc.IntegrityError, exc.ProgrammingError, exc.NotSupportedError)


@contextmanager
def database_errors() -> Iterator[None]:
    """Turn what the database raises inside into novelgen's errors, the original as their cause.

    Raises:
        DatabaseError: Or the subclass that fits: busy, full, schema version.
    """
    try:
        yield
    except exc.DBAPIError as error:
        raise translated(error) from error
    except exc.TimeoutError as error:
        raise DatabaseBusyError(f"no free database connection: {error}; raise pool_size") from error


def translated(error: exc.DBAPIError) -> DatabaseError:
    """Return the novelgen error for an error of the database driver.

    Args:
        error: As SQLAlchemy raised it.

    Returns:
        The error to raise, with the driver's message and what to do. It is retryable unless the statement
        itself was refused.
    """
    kind, advice = _by_sqlite_code(error) or _by_postgres_state(error) or MAPPED_CLASSES[type(error)]
    result = kind(f"{error.orig}; {advice}")
    if isinstance(error, _NOT_RETRYABLE):
        result.is_retryable = False
    return result


def is_lost_connection(error: DatabaseError) -> bool:
    """Tell whether the error says that the connection to the server was lost."""
    cause = error.__cause__
    return isinstance(cause, exc.DBAPIError) and (
        cause.connection_invalidated or (_postgres_state(cause) or "").startswith(("08", "57P"))
    )


def _by_sqlite_code(error: exc.DBAPIError) -> tuple[type[DatabaseError], str] | None:
    if not isinstance(error.orig, sqlite3.Error):
        return None
    if str(error.orig).startswith(("no such table", "no such column")):
        return SchemaVersionError, _SCHEMA_ADVICE
    code: int = getattr(error.orig, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return _SQLITE_CODES.get(code & 0xFF)


def _by_postgres_state(error: exc.DBAPIError) -> tuple[type[DatabaseError], str] | None:
    state = _postgres_state(error)
    if state is None:
        return None
    fitting: Callable[[str], bool] = state.startswith
    prefix = max(filter(fitting, _POSTGRES_STATES), key=len, default=None)
    return None if prefix is None else _POSTGRES_STATES[prefix]


def _postgres_state(error: exc.DBAPIError) -> str | None:
    return getattr(error.orig, "sqlstate", None)
