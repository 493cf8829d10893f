"""The schema grows without losing anything."""

import shutil
import threading
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateIndex, CreateTable

from novelgen.errors import SchemaVersionError
from runtime.storage.connection import database_url as url_of
from runtime.storage.database import DatabaseManager
from runtime.storage.migrations import runner
from runtime.storage.migrations.runner import is_ours, migrate_to_head
from runtime.storage.tables import METADATA, TOUCHED_BY_HAND
from tests.runtime.storage.stories import everything, memory, scene, store


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


def test_a_change_of_the_tables_is_another_baseline() -> None:
    """The baseline is made of the models, so that a database of other ones must be told by its name.

    Where this fails, give HEAD and the baseline another name, add the old one to NEVER_RELEASED, and write the new
    fingerprint here.
    """
    dialect = sqlite.dialect()
    indexes = (index for table in METADATA.sorted_tables for index in sorted(table.indexes, key=lambda each: each.name))
    made = [*map(CreateTable, METADATA.sorted_tables), *map(CreateIndex, indexes)]
    # The order of columns and of what holds for them tells nothing.
    lines = (sorted(line.strip(" ,\t") for line in str(each.compile(dialect=dialect)).split("\n")) for each in made)
    fingerprint = sha256("\n".join(map("\n".join, lines)).encode()).hexdigest()[:12]

    assert (runner.HEAD, fingerprint) == ("baseline_3", "c3f91559f7d6")


@pytest.mark.parametrize(
    ("version", "told"),
    [("9999", r"'9999'.*update novelgen"), ("0008", r"'0008'.*novelgen export.*novelgen import")],
    ids=["later", "before the first release"],
)
def test_another_version_is_refused_and_left_alone(database_url: str, version: str, told: str) -> None:
    """A database of a later novelgen, or of before the first release, is not touched; the message says what to do."""
    DatabaseManager.open(database_url).close()
    engine = create_engine(url_of(database_url))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :version"), {"version": version})

    with pytest.raises(SchemaVersionError, match=told):
        DatabaseManager.open(database_url)
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == version
    engine.dispose()


NEXT_REVISION = """
import sqlalchemy as sa
from alembic import op

revision = "next"
down_revision = {head!r}
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("memory_chunks") as table:
        table.add_column(sa.Column("mood", sa.Text(), server_default="calm", nullable=False))
    op.create_table("moods", sa.Column("mood", sa.Text(), primary_key=True))
"""


def _fill(database_url: str) -> dict[str, Any]:
    """Store two memories with one that stands for them, and return all that there is."""
    database = DatabaseManager.open(database_url)
    with database.project("demo").write() as unit:
        unit.projects.create(language="zh")
    store(database, scene(1, 1, memory("M1", "黛玉藏起了剑。"), memory("M2", "黛玉想要离开。")))
    with database.project("demo").write() as unit:
        sources = [unit.memories.require(name).chunk for name in ("M1", "M2")]
        assert unit.consolidations.add(memory("M3", "黛玉藏剑，想要离开。"), sources)
    held = everything(database)
    database.close()
    return held


def _migrate_to_next(database_url: str, tmp_path: Path) -> None:
    scripts = tmp_path / "migrations"
    shutil.copytree(runner.MIGRATIONS, scripts, ignore=shutil.ignore_patterns("__pycache__"))
    (scripts / "versions" / "next.py").write_text(NEXT_REVISION.format(head=runner.HEAD), encoding="utf-8")
    runner.migrate_to_head(url_of(database_url), busy_timeout_s=5, target="next", scripts=scripts)


def test_a_later_revision_keeps_what_is_stored(database_url: str, tmp_path: Path) -> None:
    """A table that is altered, which SQLite does by copying it, loses no row and no link to one."""
    _fill(database_url)
    _migrate_to_next(database_url, tmp_path)
    engine = create_engine(url_of(database_url))
    with engine.connect() as connection:
        memories = connection.execute(text("SELECT chunk_id, content, mood FROM memory_chunks ORDER BY chunk_id")).all()
        links = connection.scalar(text("SELECT count(*) FROM consolidation_sources"))
    engine.dispose()

    assert [tuple(row) for row in memories] == [
        ("M1", "黛玉藏起了剑。", "calm"),
        ("M2", "黛玉想要离开。", "calm"),
        ("M3", "黛玉藏剑，想要离开。", "calm"),
    ]
    assert links == 2


def test_a_revision_that_fails_leaves_the_old_version_whole(database_url: str, tmp_path: Path) -> None:
    """Half a migration is none: the schema changes in one transaction, and goes on working."""
    held = _fill(database_url)
    engine = create_engine(url_of(database_url))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE moods (in_the_way INTEGER)"))

    with pytest.raises(DBAPIError, match="already exists"):
        _migrate_to_next(database_url, tmp_path)
    assert "mood" not in {column["name"] for column in inspect(engine).get_columns("memory_chunks")}
    engine.dispose()
    database = DatabaseManager.open(database_url)
    assert everything(database) == held
    store(database, scene(2, 1, memory("M9", "新的一章。")))
    database.close()


def test_the_head_is_the_last_revision() -> None:
    """A database that stands there is recognised without Alembic."""
    assert ScriptDirectory(str(runner.MIGRATIONS)).get_current_head() == runner.HEAD


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
