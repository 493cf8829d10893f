"""Bringing a database to the schema of this version."""

import threading
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, inspect, text

from novelgen.errors import SchemaVersionError
from runtime.storage.connection import WRITING, postgres_engine, sqlite_engine
from runtime.storage.tables import METADATA

HEAD = "baseline_3"
"""The revision that this version works on."""

NEVER_RELEASED = frozenset([*(f"{number:04}" for number in range(1, 9)), "baseline", "baseline_2"])
"""Revisions of the time before the first release, which no migration leads on from."""

MIGRATIONS = Path(__file__).parent
_POSTGRES_LOCK = 7_203_554_101
"""Key of the advisory lock under which one process at a time migrates a server's database."""

_ALEMBIC = threading.Lock()
"""Alembic keeps what it works on in its modules: two threads at once would work on one another's connection."""

_LEXICAL_TABLE = "memory_terms"
"""The lexical index: on SQLite a virtual table with shadow tables that nobody may touch."""

_VERSION_TABLE = "alembic_version"


def migrate_to_head(url: URL, *, busy_timeout_s: float, target: str = HEAD, scripts: Path = MIGRATIONS) -> None:
    """Bring a database to a revision, in one transaction; one that stands there already is only read."""
    engine = _engine(url, busy_timeout_s)
    try:
        with engine.connect() as connection, connection.begin():
            if _current_revision(connection) == target:
                return
        # Alembic costs a third of a second to import, and nearly every database stands at head.
        from alembic import command
        from alembic.config import Config
        from alembic.script import ScriptDirectory

        known = {each.revision for each in ScriptDirectory(str(scripts)).walk_revisions()}
        with engine.connect().execution_options(**{WRITING: True}) as connection, connection.begin():
            if connection.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _POSTGRES_LOCK})
            current = _current_revision(connection)
            if current in NEVER_RELEASED:
                raise SchemaVersionError(
                    f"the database has schema version {current!r} of the time before the first release; write its "
                    "projects as files with the version that made it, `novelgen export PROJECT DIR`, and take them in "
                    "with this one into an empty folder of projects, `novelgen import DIR --project PROJECT`"
                )
            if current is not None and current not in known:
                raise SchemaVersionError(
                    f"the database has schema version {current!r}, which this version of novelgen does not know;"
                    " update novelgen"
                )
            if current != target:
                with _ALEMBIC:
                    config = Config()
                    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
                    config.attributes["connection"] = connection
                    command.upgrade(config, target)
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


def _current_revision(connection: Connection) -> str | None:
    """Return the revision of a database; None where it is empty."""
    tables = set(inspect(connection).get_table_names())
    if _VERSION_TABLE in tables:
        revision: str | None = connection.scalar(text(f"SELECT version_num FROM {_VERSION_TABLE}"))
        return revision
    if tables & set(METADATA.tables):
        raise SchemaVersionError("the database holds tables of another program; choose another file or database")
    return None
