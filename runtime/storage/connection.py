"""Engines: how SQLite and PostgreSQL are opened so that the same code runs on both."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import ConnectionPoolEntry

from novelgen.errors import ConfigurationError

WRITING = "novelgen_writing"
"""Execution option of a connection that is about to write."""

_DRIVERS = frozenset({"sqlite", "sqlite+pysqlite", "postgresql", "postgresql+psycopg"})
_to_json = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))


def _from_json(text: str) -> Any:
    # Of the lists that memories carry most are empty, and a context reads ten thousand of them.
    return [] if text == "[]" else json.loads(text)


def database_url(url_or_path: str | Path) -> URL:
    """Return the SQLAlchemy URL for a URL or the path of a SQLite file.

    Args:
        url_or_path: `sqlite:///…`, `postgresql://…` (psycopg 3 is taken) or a path.

    Raises:
        ConfigurationError: When the URL cannot be read or names another database.
    """
    text = str(url_or_path)
    if "://" not in text:
        return URL.create("sqlite", database=str(Path(text).expanduser().resolve()))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise ConfigurationError(
            "database_url cannot be read; write sqlite:///path or postgresql://user@host/db"
        ) from error
    if url.drivername not in _DRIVERS:
        raise ConfigurationError(
            f"database_url names {url.drivername!r}; use sqlite:///path or postgresql://user@host/db"
        )
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url


def sqlite_file(url: URL) -> Path | None:
    """Return the file of a SQLite URL, or None for a server and for a database in memory."""
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        return None
    return Path(str(url.database))


def sqlite_engine(
    url: URL,
    *,
    busy_timeout_s: float,
    pool_size: int,
    foreign_keys: bool = True,
    write_ahead_log: bool = False,
) -> Engine:
    """Open SQLite with our own transactions: BEGIN IMMEDIATE to write, deferred to read.

    SQLite answers "database is locked" at once, whatever the timeout, to a reader that turns writer after
    another's commit; BEGIN IMMEDIATE takes the write lock first and waits for it.
    """
    engine = create_engine(
        url,
        connect_args={"check_same_thread": False, "timeout": busy_timeout_s, "isolation_level": None},
        pool_size=pool_size,
        max_overflow=2 * pool_size,
        pool_timeout=busy_timeout_s,
        json_serializer=_to_json,
        json_deserializer=_from_json,
    )

    @event.listens_for(engine, "connect")
    def _on_connect(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA foreign_keys={'ON' if foreign_keys else 'OFF'}")
        # FULL: a save is acknowledged on commit, so the commit must be on disk; WAL with NORMAL may lose
        # the last commits when the power fails. One fsync per scene is cheap.
        cursor.execute("PRAGMA synchronous=FULL")
        if write_ahead_log:
            # The file remembers it. With a write-ahead log a reader never waits for a writer.
            cursor.execute("PRAGMA journal_mode=WAL")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _on_begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get(WRITING, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def postgres_engine(url: URL, *, busy_timeout_s: float, statement_timeout_s: float, pool_size: int) -> Engine:
    """Open PostgreSQL by psycopg 3, with connections that are checked before use and bounded statements.

    Raises:
        ConfigurationError: When psycopg is not installed, or its library cannot be loaded.
    """
    options = (
        f"-c statement_timeout={int(statement_timeout_s * 1000)} -c lock_timeout={int(busy_timeout_s * 1000)}"
    )
    try:
        return create_engine(
            url,
            connect_args={"options": options, "connect_timeout": max(2, int(busy_timeout_s))},
            pool_pre_ping=True,
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_timeout=busy_timeout_s,
            json_serializer=_to_json,
        )
    except ImportError as error:
        raise ConfigurationError(
            "database_url names PostgreSQL, which needs the package psycopg: pip install 'novelgen[postgres]'"
        ) from error


def reading_options(engine: Engine) -> dict[str, Any]:
    """Return the execution options of a read transaction: one snapshot, nothing written."""
    if engine.dialect.name == "sqlite":
        return {WRITING: False}
    return {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
