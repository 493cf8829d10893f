"""Bringing a database to the schema of this version."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, Engine, inspect, text
from sqlalchemy.exc import OperationalError

from novelgen.errors import SchemaVersionError
from runtime.storage.connection import WRITING, postgres_engine, sqlite_engine
from runtime.storage.tables import METADATA

HEAD = "head"
OPENING_PATIENCE = 4
PAUSE_S = 0.05
_POSTGRES_LOCK = 7_203_554_101
"""Key of the advisory lock under which one process at a time migrates a server's database."""


def migrate_to_head(url: URL, *, busy_timeout_s: float, target: str = HEAD) -> None:
    """Bring a database to a revision, in one transaction; a database that is there already is only read.

    Args:
        url: The database.
        busy_timeout_s: Seconds to wait for another process that writes; `OPENING_PATIENCE` times as long for those
            that open the same new database.
        target: A revision; the newest by default.

    Raises:
        SchemaVersionError: When the database was written by a newer version, or by another program.
        sqlalchemy.exc.DBAPIError: When the database fails.
    """
    ends_s = time.monotonic() + OPENING_PATIENCE * busy_timeout_s
    while True:
        try:
            _migrate(url, busy_timeout_s, target)
        except (sqlite3.OperationalError, OperationalError) as error:
            if not _is_busy(error) or time.monotonic() >= ends_s:
                raise
            time.sleep(PAUSE_S)
        else:
            return


def _migrate(url: URL, busy_timeout_s: float, target: str) -> None:
    engine = _engine(url, busy_timeout_s)
    try:
        script = ScriptDirectory(str(Path(__file__).parent))
        wanted = script.get_current_head() if target == HEAD else target
        with engine.connect() as connection, connection.begin():
            if _current_revision(connection, script) == wanted:
                return
        with engine.connect().execution_options(**{WRITING: True}) as connection, connection.begin():
            _lock(connection)
            if _current_revision(connection, script) != wanted:
                command.upgrade(_config(connection), target)
    finally:
        engine.dispose()


def _is_busy(error: sqlite3.OperationalError | OperationalError) -> bool:
    """Tell whether SQLite was busy: a file that turns to its write-ahead log says so at once, whatever the timeout."""
    cause = error.orig if isinstance(error, OperationalError) else error
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)


def _engine(url: URL, busy_timeout_s: float) -> Engine:
    if url.get_backend_name() == "sqlite":
        # Foreign keys off: altering a table copies and drops it, and a drop would cascade.
        return sqlite_engine(
            url, busy_timeout_s=busy_timeout_s, pool_size=1, foreign_keys=False, write_ahead_log=True
        )
    return postgres_engine(url, busy_timeout_s=busy_timeout_s, statement_timeout_s=0, pool_size=1)


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", "runtime.storage:migrations")
    config.attributes["connection"] = connection
    return config


def _lock(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _POSTGRES_LOCK})


def _current_revision(connection: Connection, script: ScriptDirectory) -> str | None:
    current = MigrationContext.configure(connection).get_current_revision()
    known = {revision.revision for revision in script.walk_revisions()}
    if current is not None and current not in known:
        raise SchemaVersionError(
            f"the database has schema version {current!r}, which this version of novelgen does not know;"
            " update novelgen"
        )
    if current is None and set(inspect(connection).get_table_names()) & set(METADATA.tables):
        raise SchemaVersionError(
            "the database holds tables of another program; choose another file or database"
        )
    return current
