"""Bringing a database to the schema of this version."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, Connection, DateTime, Engine, String, create_engine, inspect, text
from sqlalchemy.types import TypeDecorator, TypeEngine

from novelgen.errors import SchemaVersionError
from runtime.storage.connection import WRITING, postgres_engine, sqlite_engine
from runtime.storage.records import METADATA

if TYPE_CHECKING:
    from alembic.script import ScriptDirectory

HEAD = "types_reading_back"
"""The revision that this version works on."""

MIGRATIONS = Path(__file__).parent
_POSTGRES_LOCK = 7_203_554_101
"""Key of the advisory lock under which one process at a time migrates a server's database."""

_ALEMBIC = threading.Lock()
"""Alembic keeps what it works on in its modules: two threads at once would work on one another's connection."""

_LEXICAL_TABLE = "memory_terms"
"""The lexical index: on SQLite a virtual table with shadow tables that nobody may touch."""

_VERSION_TABLE = "alembic_version"


def migrate_to_head(url: URL, *, busy_timeout_s: float, target: str = HEAD, scripts: Path = MIGRATIONS) -> None:
    """Migrate a database in one transaction, only reading a current one."""
    engine = _engine(url, busy_timeout_s)
    try:
        with engine.connect() as connection, connection.begin():
            if _current_revision(connection) == target:
                return
        # Alembic costs a third of a second to import, and nearly every database stands at head.
        from alembic import command
        from alembic.config import Config
        from alembic.script import ScriptDirectory

        known_names = {script.revision for script in ScriptDirectory(str(scripts)).walk_revisions()}
        with engine.connect().execution_options(**{WRITING: True}) as connection, connection.begin():
            if connection.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _POSTGRES_LOCK})
            current = _current_revision(connection)
            if current is not None and current not in known_names:
                raise SchemaVersionError(
                    f"the database has schema version {current!r}, which this version of novelgen does not know;"
                    " update novelgen, or write its projects as files with the version that made it,"
                    " `novelgen export PROJECT DIR`, and take them in with this one into an empty folder,"
                    " `novelgen import DIR --project PROJECT`"
                )
            if current != target:
                with _ALEMBIC:
                    config = Config()
                    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
                    config.attributes["connection"] = connection
                    command.upgrade(config, target)
    finally:
        engine.dispose()


def comparison_options() -> dict[str, Any]:
    """Return how Alembic compares the tables with those of a database."""
    return {"include_name": _is_ours, "compare_type": _differ_in_type, "render_item": _render_type}


@contextmanager
def new_database(scripts: ScriptDirectory) -> Iterator[Connection]:
    """Give a connection to a new database in memory that stands at the last revision."""
    from alembic.migration import MigrationContext
    from alembic.operations import Operations

    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        migration = MigrationContext.configure(connection)
        with Operations.context(migration):
            for revision in reversed(list(scripts.walk_revisions())):
                revision.module.upgrade()
        migration.stamp(scripts, "heads")
        connection.commit()
        yield connection
    engine.dispose()


def _is_ours(name: str | None, kind: str, _parents: Any) -> bool:
    """Return whether Alembic compares something: all but the lexical index and its shadow tables."""
    return kind != "table" or not (name or "").startswith(_LEXICAL_TABLE)


def _differ_in_type(
    _context: Any, _reflected: Any, _column: Any, stored_type: TypeEngine[Any], declared_type: TypeEngine[Any]
) -> bool | None:
    """Return False for two text types, None to defer to Alembic."""
    if isinstance(declared_type, TypeDecorator):
        declared_type = declared_type.impl_instance
    return False if isinstance(stored_type, String) and isinstance(declared_type, String) else None


def _render_type(kind: str, item: Any, _context: Any) -> str | bool:
    """Return a custom type as SQLAlchemy's, so that revisions stay independent."""
    if kind == "type" and isinstance(item, TypeDecorator):
        implementation = item.impl_instance
        if isinstance(implementation, DateTime):
            return f"sa.DateTime(timezone={implementation.timezone})"
        return "sa.Text()" if isinstance(implementation, String) else f"sa.{type(implementation).__name__}()"
    return False


def _engine(url: URL, busy_timeout_s: float) -> Engine:
    if url.get_backend_name() == "sqlite":
        # Foreign keys off: altering a table copies and drops it, and a drop would cascade.
        return sqlite_engine(url, busy_timeout_s=busy_timeout_s, pool_size=1, foreign_keys=False, write_ahead_log=True)
    return postgres_engine(url, busy_timeout_s=busy_timeout_s, statement_timeout_s=0, pool_size=1)


def _current_revision(connection: Connection) -> str | None:
    """Return a database's revision, None if empty."""
    tables = set(inspect(connection).get_table_names())
    if _VERSION_TABLE in tables:
        revision: str | None = connection.scalar(text(f"SELECT version_num FROM {_VERSION_TABLE}"))
        return revision
    if tables & set(METADATA.tables):
        raise SchemaVersionError("the database holds tables of another program; choose another file or database")
    return None
