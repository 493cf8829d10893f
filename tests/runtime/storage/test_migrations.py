"""The schema grows without losing anything."""

import shutil
import threading
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Column, Integer, MetaData, Text, create_engine, inspect, text
from sqlalchemy.exc import DBAPIError

from novelgen.errors import SchemaVersionError
from runtime.care.importing import import_source
from runtime.storage.connection import database_url as url_of
from runtime.storage.database import DatabaseManager
from runtime.storage.migrations import runner
from runtime.storage.migrations.runner import comparison_options, migrate_to_head
from runtime.storage.records import ENDS_SEVERAL, METADATA, TOUCHED_BY_HAND
from runtime.stores import MemoryStores
from tests.runtime.storage.stories import everything, memory, scene, store
from tests.runtime.storage.strangers_story import fill_every_table
from tests.support.demo_project import settings_for

BASELINE = "baseline_3"

EARLIER = Path(__file__).parents[2] / "data" / "project_of_2010ae96.zip"
"""A project as commit 2010ae96 exported it (`export`) and stored it (`novel.db`)."""


def _difference(database_url: str, metadata: MetaData) -> list[Any]:
    """Return what autogenerate would do to a database at the last revision."""
    url = url_of(database_url)
    migrate_to_head(url, busy_timeout_s=5)
    engine = create_engine(url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts=comparison_options())
        difference = compare_metadata(context, metadata)
    engine.dispose()
    return list(difference)


def test_the_migrations_and_the_tables_describe_one_schema(database_url: str) -> None:
    """Autogenerate finds nothing to do, on either database."""
    assert _difference(database_url, METADATA) == []


def test_autogenerate_finds_an_added_column(database_url: str) -> None:
    """A column that only the tables have is found, on either database."""
    metadata = MetaData(naming_convention=METADATA.naming_convention)
    for table in METADATA.sorted_tables:
        table.to_metadata(metadata)
    metadata.tables["scenes"].append_column(Column("later_column", Text, nullable=True))

    ((kind, _, table_name, column),) = _difference(database_url, metadata)
    assert (kind, table_name, column.name) == ("add_column", "scenes", "later_column")


def test_alembic_writes_a_revision_that_imports_sqlalchemy_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`alembic revision --autogenerate` needs no database, and the text that it writes depends on no class of ours."""
    scripts = tmp_path / "migrations"
    shutil.copytree(runner.MIGRATIONS, scripts, ignore=shutil.ignore_patterns("__pycache__"))
    extended = MetaData(naming_convention=METADATA.naming_convention)
    for table in METADATA.sorted_tables:
        table.to_metadata(extended)
    read_at = METADATA.tables["scenes"].c.created_at.type
    extended.tables["scenes"].append_column(Column("read_at", read_at, nullable=True))
    extended.tables["scenes"].append_column(Column("reads", Integer, server_default="0", nullable=False))
    monkeypatch.setattr("runtime.storage.records.METADATA", extended)
    config = Config()
    config.set_main_option("script_location", str(scripts))

    revision = command.revision(config, "Count reads of scenes", autogenerate=True)
    written = Path(revision.path).read_text(encoding="utf-8")
    assert "batch_op.add_column(sa.Column('read_at', sa.DateTime(timezone=True), nullable=True))" in written
    assert "sa.Column('reads', sa.Integer(), server_default='0', nullable=False)" in written
    assert "runtime" not in written
    assert f"down_revision = {runner.HEAD!r}" in written


@pytest.mark.parametrize("version", ["9999", "0008"], ids=["later", "before the baseline"])
def test_another_version_is_refused_and_left_alone(database_url: str, version: str) -> None:
    """A database of a revision that no migration leads on from is not touched; the message says what to do."""
    DatabaseManager.open(database_url).close()
    engine = create_engine(url_of(database_url))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :version"), {"version": version})

    with pytest.raises(SchemaVersionError, match=rf"{version!r}.*update novelgen.*novelgen export"):
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
    op.add_column("projects", sa.Column("later_column", sa.Text(), server_default="calm", nullable=False))
    with op.batch_alter_table("memory_chunks") as table:
        table.add_column(sa.Column("later_column", sa.Text(), server_default="calm", nullable=False))
        table.alter_column("short", existing_type=sa.Text(), nullable=True)
    op.create_table("later_rows", sa.Column("later_column", sa.Text(), primary_key=True))
"""


def _fill(database_url: str) -> dict[str, Any]:
    """Store a story with rows in every table, and return what there is."""
    database = DatabaseManager.open(database_url)
    with database.project("demo").write() as unit:
        unit.projects.create(language="zh")
    fill_every_table(database)
    stored = everything(database)
    database.close()
    return stored


def _migrate_to_next(database_url: str, tmp_path: Path) -> None:
    scripts = tmp_path / "migrations"
    shutil.copytree(runner.MIGRATIONS, scripts, ignore=shutil.ignore_patterns("__pycache__"))
    (scripts / "versions" / "next.py").write_text(NEXT_REVISION.format(head=runner.HEAD), encoding="utf-8")
    runner.migrate_to_head(url_of(database_url), busy_timeout_s=5, target="next", scripts=scripts)


def _rows(database_url: str) -> dict[str, list[dict[str, Any]]]:
    """Return all rows of all tables, without Alembic's own and the column that the next revision adds."""
    engine = create_engine(url_of(database_url))
    rows = {}
    with engine.connect() as connection:
        for table in inspect(engine).get_table_names():
            # SQLite keeps the words of its virtual table in shadow tables, which are read here.
            if table in ("alembic_version", "later_rows") or (
                table == "memory_terms" and engine.dialect.name == "sqlite"
            ):
                continue
            stored = connection.execute(text(f"SELECT * FROM {table}")).mappings()
            rows[table] = sorted(
                ({name: value for name, value in row.items() if name != "later_column"} for row in stored), key=str
            )
    engine.dispose()
    return rows


def _without_rows(rows: dict[str, list[dict[str, Any]]]) -> Sequence[str]:
    return [table for table in METADATA.tables if not rows[table]]


@pytest.mark.slow
def test_an_upgrade_keeps_every_row_of_every_table(database_url: str, tmp_path: Path) -> None:
    """A database that the frozen baseline made, with rows in every table, holds the same rows after an upgrade."""
    migrate_to_head(url_of(database_url), busy_timeout_s=5, target=BASELINE)
    stored = _fill(database_url)
    before = _rows(database_url)
    assert _without_rows(before) == []

    _migrate_to_next(database_url, tmp_path)
    assert _rows(database_url) == before
    engine = create_engine(url_of(database_url))
    with engine.connect() as connection:
        assert set(connection.scalars(text("SELECT later_column FROM memory_chunks"))) == {"calm"}
        connection.execute(text("UPDATE alembic_version SET version_num = :head"), {"head": runner.HEAD})
        connection.commit()
    engine.dispose()
    database = DatabaseManager.open(database_url)
    assert everything(database) == stored
    database.close()


@pytest.mark.slow
def test_an_upgrade_keeps_every_row_of_an_earlier_export(database_url: str, tmp_path: Path) -> None:
    """What 2010ae96 exported comes in, and is the same after an upgrade."""
    with zipfile.ZipFile(EARLIER) as archive:
        archive.extractall(tmp_path)
    settings = settings_for(tmp_path / "projects")
    url = None if "://" not in database_url else database_url
    with MemoryStores(settings.model_copy(update={"database_url": url})) as stores:
        import_source(stores, tmp_path / "export", project_id="demo", index=False)
        stored = url_of(stores.database("demo").database.url.render_as_string(hide_password=False))
    place = stored.render_as_string(hide_password=False)
    before = _rows(place)
    # An export holds neither vectors nor the list of changes.
    assert set(_without_rows(before)) <= {"changes", "embeddings", "character_file_aliases"}

    _migrate_to_next(place, tmp_path)
    assert _rows(place) == before


def test_a_database_of_the_earlier_version_upgrades(tmp_path: Path) -> None:
    """The file that 2010ae96 wrote opens as it is, and holds the same rows after an upgrade."""
    with zipfile.ZipFile(EARLIER) as archive:
        archive.extract("novel.db", tmp_path)
    place = str(tmp_path / "novel.db")
    before = _rows(place)
    assert _without_rows(before) == []
    database = DatabaseManager.open(place)
    assert [one["chunk"]["chunk_id"] for one in everything(database)["memories"]] == ["M1", "M2", "note-N0", "M5"]
    database.close()

    _migrate_to_next(place, tmp_path)
    after = _rows(place)
    assert [row.pop("staged") for row in after["scenes"]] == ["{}"] * 3
    assert [row.pop("file_version") for row in after["scenes"]] == [None] * 3
    assert {row.pop("also_supersedes") for row in after["memory_chunks"]} == {"[]"}
    assert {row.pop("over_at") for row in after["memory_chunks"]} == {None}
    assert {row.pop("adds_knower") for row in after["knowledge_events"]} == {0}
    assert {row.pop("type_reads_back") for row in after["relationship_changes"]} == {0}
    assert after == before


@pytest.mark.slow
def test_a_revision_that_fails_leaves_the_old_version_whole(database_url: str, tmp_path: Path) -> None:
    """Half a migration is none: the schema changes in one transaction, and goes on working."""
    held = _fill(database_url)
    engine = create_engine(url_of(database_url))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE later_rows (in_the_way INTEGER)"))

    with pytest.raises(DBAPIError, match="already exists"):
        _migrate_to_next(database_url, tmp_path)
    assert "later_column" not in {column["name"] for column in inspect(engine).get_columns("memory_chunks")}
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


@pytest.mark.parametrize(
    ("condition", "index"),
    [(TOUCHED_BY_HAND, "ix_memory_chunks_by_hand"), (ENDS_SEVERAL, "ix_memory_chunks_ends_several")],
)
def test_few_memories_are_found_by_an_index_of_their_own(tmp_path: Path, condition: str, index: str) -> None:
    """The condition of the index is that of the query, word for word, else every memory would be read."""
    database = DatabaseManager.open(tmp_path / "novel.db")
    database.close()
    engine = create_engine(f"sqlite:///{tmp_path / 'novel.db'}")
    asked = f"SELECT chunk_id FROM memory_chunks WHERE project_id = 'demo' AND ({condition})"
    with engine.connect() as connection:
        steps = [row.detail for row in connection.execute(text(f"EXPLAIN QUERY PLAN {asked}"))]
    engine.dispose()

    assert any(index in step for step in steps), steps
