"""One damaged value costs itself alone: contexts come, exports go on, doctor names the row and mends it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from novelgen.errors import DatabaseError
from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from runtime.ingest.indexing import verify_index
from runtime.stores import MemoryStores
from runtime.story.condition import diagnose
from runtime.story.story import Story
from tests.faults.expectations import context_of, require_without_database, stages
from tests.support.demo_project import settings_for
from tests.support.variants import variants

pytestmark = pytest.mark.slow

DAMAGES = {
    "memory_chunks.entities_mentioned": "UPDATE memory_chunks SET entities_mentioned='[1,' WHERE row_id={row}",
    "memory_chunks.attached": "UPDATE memory_chunks SET attached='[\"C0\", ' WHERE row_id={row}",
    "state_changes.value": "UPDATE state_changes SET value='\"half' WHERE row_id={row}",
    "scenes.record": "UPDATE scenes SET record=substr(record, 1, 40) WHERE row_id={row}",
    "scenes.participants": "UPDATE scenes SET participants='[\"C0\",' WHERE row_id={row}",
    "entities.profile": "UPDATE entities SET profile='{{\"age\":' WHERE row_id={row}",
    "embeddings.vector": "UPDATE embeddings SET vector=substr(vector, 1, 6) WHERE rowid={row}",
    "memory_chunks.content": "UPDATE memory_chunks SET content=cast(x'5468ff6520e9' AS TEXT) WHERE row_id={row}",
    "entities.name": "UPDATE entities SET name=cast(x'41ff6461' AS TEXT) WHERE row_id={row}",
    "memory_chunks.created_at": "UPDATE memory_chunks SET created_at='2026-1\u0001-29' WHERE row_id={row}",
    "entities.updated_at": "UPDATE entities SET updated_at=7 WHERE row_id={row}",
}
"""A value to what cuts it, or makes it no text, in one row."""

CORE_DAMAGES = ["memory_chunks.entities_mentioned", "scenes.record", "embeddings.vector", "entities.name"]
"""One of each kind: cut JSON of a memory, of a scene, cut bytes, and what is no text."""

WORSE_DAMAGES = {
    "entities.first_chapter": "UPDATE entities SET first_chapter='one' WHERE row_id={row}",
    "entities.profile": "UPDATE entities SET profile='none' WHERE row_id={row}",
}
"""The same of what nothing can stand in for, so that all of its kind is missing until it is repaired."""


def _file(folder: Path) -> Path:
    return folder / "demo" / "data" / "novel.db"


def _damage(folder: Path, what: str, statement: str = "") -> None:
    statement = statement or DAMAGES[what]
    table = what.partition(".")[0]
    with closing(sqlite3.connect(_file(folder))) as connection, connection:
        condition = "record IS NOT NULL" if what == "scenes.record" else "1"
        [row] = connection.execute(f"SELECT rowid FROM {table} WHERE {condition} LIMIT 1").fetchone()
        connection.execute(statement.format(row=row).replace("row_id=", "rowid="))


@pytest.mark.parametrize("what", variants(DAMAGES, CORE_DAMAGES))
def test_a_damaged_value_costs_itself_alone(
    demo_folder: Path, request_in_demo: MemoryContextRequest, healthy_demo: SceneMemoryContext, what: str
) -> None:
    """The context is whole but for it; export and repair work, and afterwards nothing is found any more."""
    _damage(demo_folder, what)
    with MemoryStores(settings_for(demo_folder)) as stores:
        context = context_of(stores, request_in_demo)
        assert stages(context) == set()
        assert len(context.relevant_memories) >= len(healthy_demo.relevant_memories) - 1
        assert len(context.entity_states) >= len(healthy_demo.entity_states) - 1
        story = Story(stores, "demo")
        [finding] = [each for each in diagnose(stores, "demo").findings if each.kind == "rows_damaged"]
        assert what in finding.message
        story.project.export(demo_folder / "exported")

        repaired = diagnose(stores, "demo", repair=True)
        assert "rows_repaired" in [each.kind for each in repaired.repairs]
        assert "rows_damaged" not in [each.kind for each in diagnose(stores, "demo").findings]
        assert stages(context_of(stores, request_in_demo)) == set()


@pytest.mark.parametrize("what", WORSE_DAMAGES)
def test_what_nothing_can_stand_in_for_is_named_by_whoever_needs_it(
    demo_folder: Path, request_in_demo: MemoryContextRequest, what: str
) -> None:
    """A context comes and says so, doctor names the row, and after the repair all is there."""
    _damage(demo_folder, what, WORSE_DAMAGES[what])
    with MemoryStores(settings_for(demo_folder)) as stores:
        context = context_of(stores, request_in_demo)
        assert context.relevant_memories
        assert any(f"{what} of " in issue.message for issue in context.report.issues)
        with pytest.raises(DatabaseError, match=f"{what} of .*novelgen doctor demo --repair"):
            Story(stores, "demo").project.export(demo_folder / "exported")
        [finding] = [each for each in diagnose(stores, "demo").findings if each.kind == "rows_damaged"]
        assert what in finding.message

        diagnose(stores, "demo", repair=True)
        assert [each.kind for each in diagnose(stores, "demo").findings if each.level == "broken"] == []
        assert stages(context_of(stores, request_in_demo)) == set()
        Story(stores, "demo").project.export(demo_folder / "exported")


def test_a_sound_project_has_no_damaged_value(demo_folder: Path) -> None:
    """Whatever the tables hold fits its column, in Chinese as well; a bug is not blamed on it."""
    with MemoryStores(settings_for(demo_folder)) as stores:
        Story(stores, "demo").memories.add("锻炉已冷。", attached_to=["book"])
        database = stores.database("demo")
        assert database.list_damaged() == []
        with pytest.raises(KeyError), database.read():
            raise KeyError("a bug")


def test_what_others_depend_on_is_left_as_it_is(demo_folder: Path) -> None:
    """A value that would become one with another's is named, and nothing is lost."""
    with closing(sqlite3.connect(_file(demo_folder))) as connection, connection:
        connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute("INSERT INTO counters SELECT project_id, cast(x'ff' AS TEXT), 1 FROM projects")
        connection.execute("INSERT INTO counters SELECT project_id, cast(x'fe' AS TEXT), 1 FROM projects")
    with MemoryStores(settings_for(demo_folder)) as stores:
        repairs = {finding.kind: finding.message for finding in diagnose(stores, "demo", repair=True).repairs}
    assert "counters.kind" in repairs["rows_beyond_repair"]


@pytest.mark.parametrize("what", ["memory_chunks.entities_mentioned", "scenes.record", "embeddings.vector"])
def test_an_index_is_built_anew_beside_a_damaged_value(demo_folder: Path, what: str) -> None:
    """Nothing has to be repaired before; a vector that was cut is made anew by it."""
    _damage(demo_folder, what)
    with MemoryStores(settings_for(demo_folder)) as stores:
        Story(stores, "demo").project.reindex()
        assert verify_index(stores, "demo").is_sound
        kinds = [each.kind for each in diagnose(stores, "demo").findings]
    assert ("rows_damaged" in kinds) == (what != "embeddings.vector")


def test_a_scene_whose_record_was_damaged_can_be_read_again(demo_folder: Path) -> None:
    """After the repair it waits for extraction, with its text."""
    _damage(demo_folder, "scenes.record")
    with MemoryStores(settings_for(demo_folder)) as stores:
        diagnose(stores, "demo", repair=True)
        [scene] = [each.scene for each in Story(stores, "demo").scenes.list() if each.scene.record is None]
    assert scene.extraction_status == "none"


def test_a_schema_that_is_no_text_is_a_damaged_database(
    demo_folder: Path, request_in_demo: MemoryContextRequest
) -> None:
    """Memories come from the index, and doctor says what to do."""
    file = _file(demo_folder)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = file.read_bytes()
    assert b"CREATE TABLE scenes (" in content
    file.write_bytes(content.replace(b"CREATE TABLE scenes (", b"\xff\xfeEATE TABLE scenes ("))
    with MemoryStores(settings_for(demo_folder)) as stores:
        require_without_database(context_of(stores, request_in_demo))
        assert [each.kind for each in diagnose(stores, "demo").findings if each.level == "broken"] == ["database_fails"]


def test_an_empty_name_is_named_and_mended(demo_folder: Path, request_in_demo: MemoryContextRequest) -> None:
    """Of a card and of an alias: the context comes, doctor names both, and the repair leaves none."""
    with closing(sqlite3.connect(_file(demo_folder))) as connection, connection:
        [(entity_id,)] = connection.execute("SELECT entity_id FROM entities ORDER BY row_id LIMIT 1").fetchall()
        connection.execute("UPDATE entities SET name='' WHERE entity_id=?", (entity_id,))
        connection.execute("UPDATE entity_aliases SET alias='' WHERE row_id=(SELECT min(row_id) FROM entity_aliases)")
    with MemoryStores(settings_for(demo_folder)) as stores:
        assert stages(context_of(stores, request_in_demo)) == set()
        [finding] = [each for each in diagnose(stores, "demo").findings if each.kind == "rows_damaged"]
        assert f"entities.name of {entity_id}" in finding.message
        assert "entity_aliases.alias of " in finding.message
        diagnose(stores, "demo", repair=True)
        assert "rows_damaged" not in [each.kind for each in diagnose(stores, "demo").findings]
        assert Story(stores, "demo").entities.get(entity_id).entity.name == entity_id
