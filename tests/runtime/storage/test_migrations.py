"""The schema grows without losing anything."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect, text

from novelgen.errors import DatabaseError, SchemaVersionError
from runtime.storage.connection import database_url as url_of
from runtime.storage.database import DatabaseManager
from runtime.storage.migrations.runner import is_ours, migrate_to_head
from runtime.storage.tables import METADATA, TOUCHED_BY_HAND


def test_the_migrations_and_the_models_describe_one_schema(database_url: str) -> None:
    """Autogenerate finds nothing to do, on either database."""
    url = url_of(database_url)
    migrate_to_head(url, busy_timeout_s=5)
    engine = create_engine(url)
    with engine.connect() as connection:
        # PostgreSQL has no = for JSON, by which Alembic would compare a default.
        compare = {"compare_type": True, "compare_server_default": engine.dialect.name == "sqlite"}
        context = MigrationContext.configure(connection, opts={"include_name": is_ours, **compare})
        difference = compare_metadata(context, METADATA)
    engine.dispose()

    assert difference == []


def test_a_newer_version_is_refused_and_left_alone(tmp_path: Path) -> None:
    """A database of a later novelgen is not touched."""
    DatabaseManager.open(tmp_path / "novel.db").close()
    engine = create_engine(f"sqlite:///{tmp_path / 'novel.db'}")
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))

    with pytest.raises(SchemaVersionError, match=r"'9999'.*update novelgen"):
        DatabaseManager.open(tmp_path / "novel.db")
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == "9999"
    engine.dispose()


def test_a_schema_that_cannot_be_made_leaves_nothing(tmp_path: Path) -> None:
    """The first migration, too, is all or nothing."""
    engine = create_engine(f"sqlite:///{tmp_path / 'novel.db'}")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE memory_terms (in_the_way INTEGER)"))

    with pytest.raises(DatabaseError, match="already exists"):
        DatabaseManager.open(tmp_path / "novel.db")
    assert inspect(engine).get_table_names() == ["memory_terms"]
    engine.dispose()


def test_several_that_open_at_once_migrate_once(database_url: str) -> None:
    """Threads that open an empty database together all succeed."""
    failures: list[BaseException] = []

    def open_it() -> None:
        try:
            DatabaseManager.open(database_url, busy_timeout_s=20).close()
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert failures == []


def test_what_an_author_touched_is_found_by_its_own_index(tmp_path: Path) -> None:
    """The condition of the index is that of the query, word for word, else every memory would be read."""
    database = DatabaseManager.open(tmp_path / "novel.db")
    database.close()
    engine = create_engine(f"sqlite:///{tmp_path / 'novel.db'}")
    asked = f"SELECT chunk_id FROM memory_chunks WHERE project_id = 'demo' AND ({TOUCHED_BY_HAND})"
    with engine.connect() as connection:
        steps = [row.detail for row in connection.execute(text(f"EXPLAIN QUERY PLAN {asked}"))]
    engine.dispose()

    assert any("ix_memory_chunks_by_hand" in step for step in steps), steps
