"""Opening, transactions, backup, and what a broken file does."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import column, make_url, select, table, text

from novelgen.errors import (
    ConfigurationError,
    DatabaseBusyError,
    DatabaseError,
    SchemaVersionError,
    UnknownProjectError,
)
from runtime.storage.connection import SYNCHRONOUS, sqlite_engine
from runtime.storage.database import DatabaseManager
from tests.runtime.storage.stories import everything, memory, scene, store
from tests.support.databases import BOTH, on_both_databases


def test_an_unknown_project_creates_nothing(tmp_path: Path) -> None:
    """Neither the file nor its folder appears."""
    path = tmp_path / "projects" / "unknown" / "data" / "novel.db"

    with pytest.raises(UnknownProjectError, match="create the project first"):
        DatabaseManager.open(path, create=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["mysql://x/y", "nonsense://", "://x", "sqlite+://", "sqlite://", "sqlite:///:memory:"])
def test_other_databases_are_refused_by_name(url: str) -> None:
    """Only SQLite and PostgreSQL are known."""
    with pytest.raises(ConfigurationError, match="database_url"):
        DatabaseManager(url)


def test_sqlite_is_set_up_to_last(monkeypatch: pytest.MonkeyPatch, database: DatabaseManager) -> None:
    """Write-ahead log, full synchronisation and foreign keys are on in every connection."""
    monkeypatch.setattr("runtime.storage.connection.SYNCHRONOUS", SYNCHRONOUS)
    database.close()
    with database.project("demo").read() as unit:
        connection = unit.projects._session.connection
        pragmas = {
            name: connection.scalar(text(f"PRAGMA {name}"))
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }

    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 5000}


@on_both_databases
def test_a_block_that_raises_stores_nothing(database: DatabaseManager) -> None:
    """One transaction each: all or nothing."""
    before = everything(database)

    def fail_halfway() -> None:
        with database.project("demo").write() as unit:
            unit.scenes.replace_scene(scene(1, 1, memory("M1")))
            raise RuntimeError("halfway")

    with pytest.raises(RuntimeError, match="halfway"):
        fail_halfway()

    assert everything(database) == before


@on_both_databases
def test_a_reader_does_not_wait_for_a_writer_and_sees_one_state(database: DatabaseManager) -> None:
    """While a write is open, reads answer from before it; a read that began before the commit stays there."""
    with database.project("demo").read() as reading:
        assert reading.memories.count() == 0
        with database.project("demo").write() as unit:
            unit.scenes.replace_scene(scene(1, 1, memory("M1")))
            with database.project("demo").read() as other:
                assert other.memories.count() == 0
        assert reading.memories.count() == 0
    with database.project("demo").read() as unit:
        assert unit.memories.count() == 1


def test_another_process_that_keeps_writing_is_named(database: DatabaseManager) -> None:
    """After the busy timeout a write is refused clearly, and reads go on."""
    path = str(database.path)
    impatient = DatabaseManager(path, busy_timeout_s=0.1)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with (
        pytest.raises(DatabaseBusyError, match="another process or thread is writing"),
        impatient.project("demo").write(),
    ):
        pass
    with impatient.project("demo").read() as unit:
        assert unit.projects.get() is not None
    other.execute("ROLLBACK")
    other.close()
    with impatient.project("later").write() as unit:
        unit.projects.create()
    impatient.close()


def test_another_thread_that_keeps_writing_is_named(database: DatabaseManager) -> None:
    """Writers of one process queue up; one that waits too long is told."""
    impatient = DatabaseManager(str(database.path), busy_timeout_s=0.1)
    with (
        impatient.project("demo").write(),
        pytest.raises(DatabaseBusyError, match="another thread kept writing"),
        impatient.project("demo").write(),
    ):
        pass
    impatient.close()


def _no_database(path: Path) -> None:
    path.write_bytes(b"not a database at all" * 500)


def _of_another_program(path: Path) -> None:
    with closing(sqlite3.connect(path)) as foreign:
        foreign.execute("CREATE TABLE scenes (x)")
        foreign.commit()


@pytest.mark.parametrize(
    ("made", "kind", "told"),
    [
        (_no_database, DatabaseError, "restore a backup"),
        (_of_another_program, SchemaVersionError, "another program"),
        (Path.mkdir, DatabaseError, "check the path"),
    ],
    ids=["no database", "tables of our names without our versions", "a folder in the file's place"],
)
def test_what_is_no_database_of_ours_is_named_and_left_as_it_is(
    tmp_path: Path, made: Callable[[Path], None], kind: type[DatabaseError], told: str
) -> None:
    """Each has a name in the error tree, and nothing of it is overwritten."""
    path = tmp_path / "novel.db"
    made(path)
    before = path.is_file() and path.read_bytes()[100:]

    with pytest.raises(kind, match=told):
        DatabaseManager.open(path)
    # The header tells that a write-ahead log was asked for.
    assert (path.is_file() and path.read_bytes()[100:]) == before


def test_a_backup_holds_everything_and_can_be_opened(tmp_path: Path, database: DatabaseManager) -> None:
    """Even while a writer is in the middle of something, which the copy does not hold."""
    store(database, scene(1, 1, memory("M1", "林黛玉")))
    before = everything(database)
    with database.project("demo").write() as unit:
        unit.memories.add_note("half done")
        database.backup(tmp_path / "backups" / "copy.db")
    copy = DatabaseManager.open(tmp_path / "backups" / "copy.db", create=False)

    assert everything(copy) == before
    with copy.project("demo").read() as unit:
        assert [hit.chunk_id for hit in unit.lexical.search("黛玉")] == ["M1"]
    assert [file.name for file in (tmp_path / "backups").glob("*.partial")] == []
    copy.close()


def test_a_backup_that_fails_leaves_the_old_one(tmp_path: Path, database: DatabaseManager) -> None:
    """The target is replaced whole or not at all."""
    target = tmp_path / "folder"
    target.mkdir()

    with pytest.raises(DatabaseError, match="could not be copied"):
        database.backup(target)
    assert [file.name for file in tmp_path.iterdir() if file.name.endswith("partial")] == []


@pytest.mark.parametrize("database", BOTH[1:], indirect=True)
def test_reads_survive_a_lost_connection(database: DatabaseManager) -> None:
    """A read whose connection to the server is cut runs once more and answers."""
    attempts = []

    def work(unit: object) -> int:
        attempts.append(1)
        connection = unit.projects._session.connection  # type: ignore[attr-defined]
        if len(attempts) == 1:
            connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
        return connection.scalar(text("SELECT 7"))

    assert database.project("demo").reading(work) == 7
    assert len(attempts) == 2


def test_statements_are_compiled_once_for_all_files(tmp_path: Path) -> None:
    """What one project's file asked another's does not compile again, and each answers with its own rows."""

    def answers(name: str) -> str:
        url = make_url(f"sqlite:///{tmp_path / name}")
        engine = sqlite_engine(url, busy_timeout_s=1.0, pool_size=1)
        with closing(engine.raw_connection()) as raw:
            raw.execute("CREATE TABLE told (word TEXT)")
            raw.execute("INSERT INTO told VALUES (?)", (name,))
            raw.commit()
        with engine.connect() as connection:
            result = connection.execute(select(column("word")).select_from(table("told")))
            assert result.scalars().all() == [name]
        engine.dispose()
        return str(result.context.cache_hit.name)

    answers("one")
    assert answers("other") == "CACHE_HIT"
