"""Engines of SQLite and PostgreSQL, their errors, and SQLite backups."""

import json
import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic_core import from_json
from sqlalchemy import URL, Connection, DateTime, Engine, create_engine, event, exc, make_url
from sqlalchemy.dialects.sqlite import DATETIME
from sqlalchemy.engine.interfaces import DBAPIConnection, Dialect
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import ConnectionPoolEntry
from sqlalchemy.util import LRUCache

from novelgen import errors
from novelgen.language.normalise import is_deeper

logger = logging.getLogger(__name__)

IS_TEXT = "novelgen_is_text"
"""SQL function over a BLOB: whether it is UTF-8."""

WRITING = "novelgen_writing"
"""Execution option of a connection that is about to write."""

_DRIVERS = frozenset({"sqlite", "sqlite+pysqlite", "postgresql", "postgresql+psycopg"})

DEEPEST_STORED = 90
"""Levels to which what is stored may nest: an export puts some levels around it, and files are read down to 100."""

_LEVELS_OF_JOURNAL = 3
"""The list, the row and the image that the journal of changes puts around a value that it keeps."""


SYNCHRONOUS = "FULL"
"""How SQLite waits for the disk. A save is acknowledged on commit, so the commit must be on disk: a write-ahead log
with NORMAL may lose the last commits when the power fails. One fsync per scene is cheap."""


class _CompiledOnce(LRUCache[Any, Any]):
    """Statements that SQLAlchemy compiled, for all projects: it would compile each anew for every file.

    The first part of its key is the dialect, and those of our files are set up alike. A key of another kind, as of a
    later SQLAlchemy, is taken whole.
    """

    def get(self, key: Any, default: Any = None) -> Any:
        """Return a statement that any engine has compiled."""
        return super().get(_of_any_file(key), default)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(_of_any_file(key), value)


def _of_any_file(key: Any) -> Any:
    return key[1:] if isinstance(key[0], Dialect) else key


_COMPILED = _CompiledOnce(1000)


def _to_json(value: Any) -> str:
    if is_deeper(value, than=DEEPEST_STORED + _LEVELS_OF_JOURNAL):
        raise errors.UserInputError(
            f"a value nests deeper than {DEEPEST_STORED} levels; nothing was stored, flatten it"
        )
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _from_json(text: str) -> Any:
    # A context reads ten thousand short values, for which the parser of pydantic needs a quarter of the time.
    try:
        return from_json(text)
    except ValueError:
        # Half a character, say, which it refuses.
        return read_damaged_json(text)


def read_damaged_json(text: str) -> Any:
    """Return JSON that pydantic rejects, or an empty value of its kind.

    A damaged cell costs itself alone. `novelgen doctor` names its row.
    """
    try:
        return json.loads(text)
    except ValueError:
        logger.warning("a stored value cannot be read and counts as empty: %r; `novelgen doctor` names it", text[:60])
        return empty_like(text)


class _ReadableMoment(DATETIME):
    """A moment in SQLite; a damaged one is read as the beginning of time."""

    def result_processor(self, dialect: Dialect, coltype: object) -> Any:
        """Return what makes a moment of a stored value."""
        parsed = super().result_processor(dialect, coltype)

        def read(value: Any) -> datetime | None:
            try:
                return parsed(value)  # type: ignore[misc]
            except (ValueError, TypeError):
                logger.warning("a stored moment cannot be read: %r; `novelgen doctor` names it", value)
                return datetime(1970, 1, 1)  # noqa: DTZ001 - SQLite's moments have no zone; all are UTC

        return read


def read_damaged_text(raw_text: bytes) -> str:
    """Return the text of stored bytes; what is no UTF-8 is replaced by U+FFFD."""
    return raw_text.decode("utf-8", "replace")


def is_text(value: object) -> bool:
    """Tell whether stored bytes are UTF-8."""
    try:
        return isinstance(value, bytes) and value.decode("utf-8") is not None
    except UnicodeDecodeError:
        return False


def empty_like(text: str) -> list[Any] | dict[str, Any] | None:
    """Return the empty list or object where a text begins one, else None."""
    return {"[": [], "{": {}}.get(text.lstrip()[:1])  # type: ignore[return-value]


def database_url(url_or_path: str | Path) -> URL:
    """Return the SQLAlchemy URL for a URL or the path of a SQLite file."""
    text = str(url_or_path)
    if "://" not in text:
        return URL.create("sqlite", database=str(Path(text).expanduser().resolve()))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise errors.ConfigurationError(
            "database_url cannot be read; write sqlite:///path or postgresql://user@host/db"
        ) from error
    if url.drivername not in _DRIVERS:
        raise errors.ConfigurationError(
            f"database_url names {url.drivername!r}; use sqlite:///path or postgresql://user@host/db"
        )
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise errors.ConfigurationError(
            "database_url names no file; write sqlite:///path, or for tests take novelgen.testing.open_ephemeral()"
        )
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url


def sqlite_file(url: URL) -> Path | None:
    """Return the file of a SQLite URL, or None for a server and for a database in memory."""
    if url.get_backend_name() != "sqlite" or url.database in (None, "", ":memory:"):
        return None
    return Path(str(url.database))


def sqlite_engine(
    url: URL, *, busy_timeout_s: float, pool_size: int, foreign_keys: bool = True, write_ahead_log: bool = False
) -> Engine:
    """Open SQLite with our own transactions: BEGIN IMMEDIATE to write, deferred to read.

    SQLite answers "database is locked" at once, whatever the timeout, to a reader that turns writer after
    another's commit; BEGIN IMMEDIATE takes the write lock first and waits for it.
    """
    read_only = _read_only_address(url)
    engine = create_engine(
        read_only or url,
        connect_args={"check_same_thread": False, "timeout": busy_timeout_s, "isolation_level": None},
        pool_size=pool_size,
        max_overflow=2 * pool_size,
        pool_timeout=busy_timeout_s,
        json_serializer=_to_json,
        json_deserializer=_from_json,
        execution_options={"compiled_cache": _COMPILED},
    )

    engine.dialect.colspecs = {**engine.dialect.colspecs, DateTime: _ReadableMoment}

    @event.listens_for(engine, "connect")
    def _on_connect(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        connection.text_factory = read_damaged_text
        connection.create_function(IS_TEXT, 1, is_text, deterministic=True)
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA foreign_keys={'ON' if foreign_keys else 'OFF'}")
        cursor.execute(f"PRAGMA synchronous={SYNCHRONOUS}")
        if write_ahead_log and read_only is None:
            # The file remembers it. With a write-ahead log a reader never waits for a writer.
            cursor.execute("PRAGMA journal_mode=WAL")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _on_begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get(WRITING, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    return engine


def is_on_read_only_disk(path: Path) -> bool:
    """Tell whether nothing can be written where a file lies, whoever asks."""
    try:
        return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def _read_only_address(url: URL) -> URL | None:
    """Return the read-only address of a file, None if writable.

    SQLite needs files beside one that has a write-ahead log. That it cannot have them it takes only where it is told
    that the file does not change; then it leaves the log aside, which is empty but after a kill.
    """
    path = sqlite_file(url)
    if path is None or not is_on_read_only_disk(path):
        return None
    log = path.with_name(f"{path.name}-wal")
    has_log = log.exists() and log.stat().st_size > 0
    options = {"mode": "ro", "uri": "true"} | ({} if has_log else {"immutable": "1"})
    return URL.create("sqlite", database=path.absolute().as_uri(), query=options)


def postgres_engine(url: URL, *, busy_timeout_s: float, statement_timeout_s: float, pool_size: int) -> Engine:
    """Open PostgreSQL by psycopg 3, with connections that are checked before use and bounded statements."""
    options = f"-c statement_timeout={int(statement_timeout_s * 1000)} -c lock_timeout={int(busy_timeout_s * 1000)}"
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
        raise errors.ConfigurationError(
            "database_url names PostgreSQL, which needs the package psycopg: pip install 'novelgen[postgres]'"
        ) from error


def reading_options(engine: Engine) -> dict[str, Any]:
    """Return the execution options of a read transaction: one snapshot, nothing written."""
    if engine.dialect.name == "sqlite":
        return {WRITING: False}
    return {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}


Meaning = tuple[type[errors.DatabaseError], str]
"""What an error becomes, and what is to be done."""

_BUSY: Meaning = errors.DatabaseBusyError, "another process or thread is writing; try again once it has ended"
_FULL: Meaning = errors.DatabaseFullError, "free disk space and check that the file and its folder can be written"
_READ_ONLY: Meaning = (
    errors.DatabaseReadOnlyError,
    "the disk, the file or its folder can only be read; nothing was stored, give the right to write there",
)
_DAMAGED: Meaning = errors.DatabaseError, "restore a backup; the file was left as it is"
_SCHEMA: Meaning = (errors.SchemaVersionError, "open it with DatabaseManager.open, which migrates, or update novelgen")
_LOST: Meaning = errors.DatabaseError, "check that the database server runs, then try again"
_REFUSED: Meaning = errors.DatabaseError, "the database refused the statement; this is a bug in novelgen"

_SQLITE_CODES: dict[int, Meaning] = {
    **dict.fromkeys((sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL), _BUSY),
    **dict.fromkeys((sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR), _FULL),
    **dict.fromkeys((sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM), _READ_ONLY),
    **dict.fromkeys((sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB), _DAMAGED),
    sqlite3.SQLITE_CANTOPEN: (errors.DatabaseError, "check the path and its permissions"),
    sqlite3.SQLITE_SCHEMA: _SCHEMA,
}
"""By SQLite's primary result code."""

_REFUSED_BY_SQLITE: Meaning = errors.DatabaseError, "`novelgen doctor PROJECT` tells whether the database is sound"

_SQLITE_WORDS: dict[str, Meaning] = {
    "no such table: projects": (
        errors.DatabaseError,
        "the database is empty: its file was deleted or replaced; restore a backup, or run `novelgen ingest PROJECT`",
    ),
    **dict.fromkeys(("no such table", "no such column"), _SCHEMA),
    "malformed JSON": (errors.DatabaseError, "a stored value is damaged; `novelgen doctor PROJECT` names it"),
}
"""By how the message begins."""

_POSTGRES_STATES: dict[str, Meaning] = {
    **dict.fromkeys(("08", "57P"), _LOST),
    **dict.fromkeys(("40", "55P03"), _BUSY),
    **dict.fromkeys(("42P01", "42703"), _SCHEMA),
    **dict.fromkeys(("XX001", "XX002"), _DAMAGED),
    "57014": (errors.DatabaseBusyError, "the statement ran longer than statement_timeout_s"),
    "53": (errors.DatabaseFullError, "the server is out of disk, memory or connections"),
    "25006": (errors.DatabaseReadOnlyError, "the server is read-only; nothing was stored"),
}
"""By PostgreSQL's SQLSTATE, or how it begins."""

MAPPED_CLASSES: dict[type[exc.DBAPIError], Meaning] = {
    **dict.fromkeys((exc.DBAPIError, exc.ProgrammingError, exc.NotSupportedError), _REFUSED),
    **dict.fromkeys((exc.DatabaseError, exc.InternalError), _DAMAGED),
    **dict.fromkeys((exc.InterfaceError, exc.OperationalError), _LOST),
    exc.DataError: (errors.DatabaseError, "a value does not fit its column"),
    exc.IntegrityError: (errors.DatabaseError, "two rows claim one id, or a row points to one that is gone"),
}
"""What an error without a known code becomes, by its class."""

_NOT_RETRYABLE = (exc.DataError, exc.IntegrityError, exc.ProgrammingError, exc.NotSupportedError)


@contextmanager
def database_errors() -> Iterator[None]:
    """Raise novelgen errors from database errors."""
    try:
        yield
    except exc.DBAPIError as error:
        raise translated(error) from error
    except exc.StatementError as error:
        # What a value's own conversion refused, before the database saw it.
        if isinstance(error.orig, errors.NovelgenError):
            raise error.orig from None
        raise
    except UnicodeEncodeError as error:
        what = str(error.object)[max(0, error.start - 20) : error.end + 20]
        raise errors.UserInputError(f"{what!r} holds half a character, which no text has; write it anew") from error
    except UnicodeDecodeError as error:
        raise errors.DatabaseError(
            f"the database holds bytes that are no text ({error.reason}); {_DAMAGED[1]}"
        ) from error
    except OverflowError as error:
        raise errors.UserInputError(f"a number is too large for the database: {error}; give a smaller one") from error
    except exc.TimeoutError as error:
        raise errors.DatabaseBusyError(f"no free database connection: {error}; ask for fewer things at once") from error


def translated(error: exc.DBAPIError) -> errors.DatabaseError:
    """Return the novelgen error for an error of the database driver."""
    meaning: Meaning | None = None
    if isinstance(error.orig, sqlite3.Error):
        code: int = getattr(error.orig, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        statement = str(error.orig)
        meaning = next(
            (sqlite_word for words, sqlite_word in _SQLITE_WORDS.items() if statement.startswith(words)), None
        )
        meaning = meaning or _SQLITE_CODES.get(code & 0xFF, _REFUSED_BY_SQLITE)
    elif state := _postgres_state(error):
        meaning = next(
            (postgres_state for prefix, postgres_state in _POSTGRES_STATES.items() if state.startswith(prefix)), None
        )
    kind, advice = meaning or MAPPED_CLASSES[type(error)]
    result = kind(f"{error.orig}; {advice}")
    if isinstance(error, _NOT_RETRYABLE):
        result.is_retryable = False
    return result


def is_lost_connection(error: errors.DatabaseError) -> bool:
    """Tell whether the error says that the connection to the server was lost."""
    cause = error.__cause__
    return isinstance(cause, exc.DBAPIError) and (
        cause.connection_invalidated or _postgres_state(cause).startswith(("08", "57P"))
    )


def _postgres_state(error: exc.DBAPIError) -> str:
    return getattr(error.orig, "sqlstate", None) or ""


def backup_sqlite(source: Path, target: Path) -> None:
    """Copy a SQLite database by its online backup, beside writers."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        address = f"{source.resolve().as_uri()}?mode=ro"
        with closing(sqlite3.connect(address, uri=True)) as origin, closing(sqlite3.connect(temporary)) as copy:
            origin.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")
        with temporary.open("rb+") as written_buffered_random:
            os.fsync(written_buffered_random.fileno())
        temporary.replace(target)
    except (sqlite3.Error, OSError) as error:
        temporary.unlink(missing_ok=True)
        raise errors.DatabaseError(f"{str(source)!r} could not be copied to {str(target)!r}: {error}") from error
