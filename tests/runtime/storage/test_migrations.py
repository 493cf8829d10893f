"""The schema grows without losing anything."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect, text

from novelgen.errors import DatabaseError, SchemaVersionError
from runtime.storage.connection import database_url as url_of
from runtime.storage.database import DatabaseManager
from runtime.storage.lexical_index import searchable_text
from runtime.storage.lexical_terms import index_tokens
from runtime.storage.migrations.runner import migrate_to_head
from runtime.storage.migrations.scope import is_ours
from runtime.storage.tables import METADATA
from tests.runtime.storage.stories import at, memory, scene, store

MOMENT = "2024-01-02 03:04:05.000000"


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


def test_the_first_version_is_migrated_with_its_data(database_url: str) -> None:
    """What 0001 held is readable, searchable and writable at head, and ids go on after those in use."""
    url = url_of(database_url)
    migrate_to_head(url, busy_timeout_s=5, target="0001")
    _fill_first_version(database_url)
    database = DatabaseManager.open(database_url)
    with database.read() as unit:
        (stored,) = unit.scenes.list_as_of("demo", with_text=True)
        assert (stored.text, stored.label, stored.extraction_status) == ("旧的场景。", "S007", "none")
        (chunk,) = unit.memories.by_ids("demo", ["M1"])
        assert (chunk.content, chunk.slot_type, chunk.verified, chunk.tags) == (
            "黛玉藏起了剑。",
            None,
            True,
            ["剑"],
        )
        assert [hit.chunk_id for hit in unit.lexical.search("demo", "黛玉")] == ["M1"]
        assert [entity.name for entity in unit.entities.list_as_of("demo", as_of=at(9))] == ["黛玉"]
    (result,) = store(database, scene(2, 1, memory("M2", slot_type="C4.secret")))
    with database.write() as unit:
        assert result.label == "S008"
        assert unit.entities.next_id("demo", "character") == "C5"
        assert unit.scenes.delete_scene("demo", at(1, 1)) == ["M1"]
        assert unit.lexical.search("demo", "黛玉") == []
    database.close()


def test_states_of_before_are_verified_by_the_quotes_of_their_records(database_url: str) -> None:
    """0006 looks for each quote in the stored scene; authors' words and what has no scene stay as they were."""
    url = url_of(database_url)
    migrate_to_head(url, busy_timeout_s=5, target="0005")
    _fill_states_before_evidence(database_url)
    database = DatabaseManager.open(database_url)
    with database.read() as unit:
        changes = unit.states.changes_of("demo")
    database.close()
    assert {change.attribute: (change.verified, change.source_span) for change in changes} == {
        "holder": (True, (0, 4)),
        "mood": (False, None),
        "goals": (False, None),
        "presence": (True, None),
        "note": (True, None),
    }


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


def test_a_migration_that_fails_leaves_the_old_version_whole(tmp_path: Path) -> None:
    """Half a migration is none: the schema changes in one transaction."""
    url = url_of(tmp_path / "novel.db")
    migrate_to_head(url, busy_timeout_s=5, target="0001")
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE relationship_changes (in_the_way INTEGER)"))

    with pytest.raises(DatabaseError, match="already exists"):
        DatabaseManager.open(tmp_path / "novel.db")
    assert "counters" not in inspect(engine).get_table_names()
    assert "record" not in {column["name"] for column in inspect(engine).get_columns("scenes")}
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == "0001"
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


def _fill_first_version(database_url: str) -> None:
    engine = create_engine(url_of(database_url))
    tokens = " ".join(index_tokens(searchable_text("黛玉藏起了剑。", None)))
    parameters = {"moment": MOMENT, "terms": tokens, "json": json.dumps(["剑"]), "links": json.dumps(["C4"])}
    is_sqlite = engine.dialect.name == "sqlite"
    terms = (
        "INSERT INTO memory_terms(rowid, scope, terms) SELECT row_id, 'SCOPE1X', :terms FROM memory_chunks"
        if is_sqlite
        else "INSERT INTO memory_terms(chunk_row_id, terms)"
        " SELECT row_id, array_to_tsvector('{SCOPE1X}') || to_tsvector('simple', :terms) FROM memory_chunks"
    )
    with engine.begin() as connection:
        for statement in (
            (
                "INSERT INTO projects(project_id, name, language, created_at, settings, story_revision)"
                " VALUES ('demo', 'Demo', 'zh', :moment, '{}', 3)"
            ),
            (
                "INSERT INTO scenes(scene_id, project_id, label, chapter_index, scene_index, title, text, text_hash,"
                " created_at, updated_at) VALUES ('abc', 'demo', 'S007', 1, 1, '', '旧的场景。', 'x', :moment, :moment)"
            ),
            (
                "INSERT INTO entities(project_id, entity_id, entity_type, name, name_key, role, description, profile,"
                " origin) VALUES ('demo', 'C4', 'character', '黛玉', '黛玉', '', '', '{}', 'supplied')"
            ),
            (
                "INSERT INTO memory_chunks(project_id, chunk_id, scene_id, from_scene, chapter_index, scene_index,"
                " content, content_type, content_hash, term_count, entities_mentioned, tags, created_at, importance,"
                " tier, origin, status, pinned) VALUES ('demo', 'M1', 'abc', true, 1, 1, '黛玉藏起了剑。', 'memory',"
                " 'h', 6, :links, :json, :moment, 5, 'regular', 'record', 'active', false)"
            ),
            "INSERT INTO chunk_entities SELECT row_id, 'C4', 'demo', 'record' FROM memory_chunks",
            terms,
        ):
            connection.execute(text(statement), {k: v for k, v in parameters.items() if f":{k}" in statement})
    engine.dispose()


def _fill_states_before_evidence(database_url: str) -> None:
    record = {
        "chapter_index": 1,
        "scene_index": 1,
        "state_changes": [
            {"entity_id": "I0", "changes": {"holder": "C4"}, "evidence": "旧的场景"},
            {"entity_id": "C4", "changes": {"mood": "sad"}, "evidence": "她哭了一夜"},
            {"entity_id": "C4", "changes": {"goals": ["x"]}, "evidence": None},
        ],
    }
    states = [
        ("I0", "holder", '"C4"', "explicit", "record", "abc"),
        ("C4", "mood", '"sad"', "explicit", "record", "abc"),
        ("C4", "goals", '["x"]', "explicit", "record", "abc"),
        ("C4", "presence", "{}", "presence", "record", "abc"),
        ("C4", "note", '"n"', "explicit", "author", None),
    ]
    engine = create_engine(url_of(database_url))
    with engine.begin() as connection:
        for statement in (
            (
                "INSERT INTO projects(project_id, name, language, created_at, settings, story_revision)"
                " VALUES ('demo', 'Demo', 'zh', :moment, '{}', 3)"
            ),
            (
                "INSERT INTO scenes(scene_id, project_id, label, chapter_index, scene_index, title, text, text_hash,"
                " created_at, updated_at, participants, record, record_origin, extraction_status, content_hash)"
                " VALUES ('abc', 'demo', 'S007', 1, 1, '', '旧的场景。', 'x', :moment, :moment, '[]', :record,"
                " 'extracted', 'done', 'h')"
            ),
        ):
            parameters = {"moment": MOMENT, "record": json.dumps(record)}
            connection.execute(text(statement), {k: v for k, v in parameters.items() if f":{k}" in statement})
        names = ("entity", "attribute", "value", "kind", "origin", "scene")
        connection.execute(
            text(
                "INSERT INTO state_changes(project_id, scene_id, chapter_index, scene_index, entity_id, entity_type,"
                " attribute, value, kind, origin, created_at)"
                f" VALUES ('demo', :scene, 1, 1, :entity, 'character', :attribute, :value, :kind, :origin, '{MOMENT}')"
            ),
            [dict(zip(names, state, strict=True)) for state in states],
        )
    engine.dispose()
