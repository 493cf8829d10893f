"""Bringing a database to the schema of this version."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, Engine, inspect, text

from novelgen.errors import SchemaVersionError
from runtime.storage.connection import WRITING, postgres_engine, sqlite_engine
from runtime.storage.tables import METADATA

HEAD = "head"
MIGRATIONS = Path(__file__).parent
_POSTGRES_LOCK = 7_203_554_101
"""Key of the advisory lock under which one process at a time migrates a server's database."""

_LEXICAL_TABLE = "memory_terms"
"""The lexical index: on SQLite a virtual table with shadow tables that nobody may touch."""


def migrate_to_head(url: URL, *, busy_timeout_s: float, target: str = HEAD, scripts: Path = MIGRATIONS) -> None:
    """Bring a database to a revision, in one transaction; a database that is there already is only read."""
    engine = _engine(url, busy_timeout_s)
    try:
        script = ScriptDirectory(str(scripts))
        wanted = script.get_current_head() if target == HEAD else target
        with engine.connect() as connection, connection.begin():
            if _current_revision(connection, script) == wanted:
                return
        with engine.connect().execution_options(**{WRITING: True}) as connection, connection.begin():
            _lock(connection)
            if _current_revision(connection, script) != wanted:
                command.upgrade(_config(connection, scripts), target)
    finally:
        engine.dispose()


def is_ours(name: str | None, kind: str, _parents: Any) -> bool:
    """Tell whether Alembic compares something with the models: all but the lexical index and its shadow tables."""
    return kind != "table" or not (name or "").startswith(_LEXICAL_TABLE)


def _engine(url: URL, busy_timeout_s: float) -> Engine:
    if url.get_backend_name() == "sqlite":
        # Foreign keys off: altering a table copies and drops it, and a drop would cascade.
        return sqlite_engine(url, busy_timeout_s=busy_timeout_s, pool_size=1, foreign_keys=False, write_ahead_log=True)
    return postgres_engine(url, busy_timeout_s=busy_timeout_s, statement_timeout_s=0, pool_size=1)


def _config(connection: Connection, scripts: Path) -> Config:
    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
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
        raise SchemaVersionError("the database holds tables of another program; choose another file or database")
    return current
