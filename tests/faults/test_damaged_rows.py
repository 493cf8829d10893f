"""One damaged value costs itself alone: contexts come, exports go on, doctor names the row and mends it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from novelgen.models.context import MemoryContextRequest, SceneMemoryContext
from runtime.ingest.indexing import verify_index
from runtime.stores import MemoryStores
from runtime.story.condition import diagnose
from runtime.story.story import Story
from tests.faults.expectations import context_of, require_without_database, stages
from tests.support.demo_project import settings_for

DAMAGES = {
    "memory_chunks.entities_mentioned": "UPDATE memory_chunks SET entities_mentioned='[1,' WHERE row_id={row}",
    "memory_chunks.attached": "UPDATE memory_chunks SET attached='[\"C0\", ' WHERE row_id={row}",
    "state_changes.value": "UPDATE state_changes SET value='\"half' WHERE row_id={row}",
    "scenes.record": "UPDATE scenes SET record=substr(record, 1, 40) WHERE row_id={row}",
    "scenes.participants": "UPDATE scenes SET participants='[\"C0\",' WHERE row_id={row}",
    "entities.profile": "UPDATE entities SET profile='{{\"age\":' WHERE row_id={row}",
    "embeddings.vector": "UPDATE embeddings SET vector=substr(vector, 1, 6) WHERE rowid={row}",
}
"""A value to what cuts it in one row."""


def _file(folder: Path) -> Path:
    return folder / "demo" / "data" / "novel.db"


def _damage(folder: Path, what: str) -> None:
    table = what.partition(".")[0]
    with closing(sqlite3.connect(_file(folder))) as connection, connection:
        condition = "record IS NOT NULL" if what == "scenes.record" else "1"
        [row] = connection.execute(f"SELECT rowid FROM {table} WHERE {condition} LIMIT 1").fetchone()
        connection.execute(DAMAGES[what].format(row=row).replace("row_id=", "rowid="))


@pytest.mark.parametrize("what", DAMAGES)
def test_a_damaged_value_costs_itself_alone(
    demo_folder: Path, request_in_demo: MemoryContextRequest, healthy_demo: SceneMemoryContext, what: str
) -> None:
    """The context is whole but for it; export, rebuild and repair work, and afterwards nothing is found any more."""
    _damage(demo_folder, what)
    with MemoryStores(settings_for(demo_folder)) as stores:
        context = context_of(stores, request_in_demo)
        assert stages(context) == set()
        assert len(context.relevant_memories) >= len(healthy_demo.relevant_memories) - 1
        assert len(context.entity_states) >= len(healthy_demo.entity_states) - 1
        story = Story(stores, "demo")
        [finding] = [each for each in diagnose(stores, "demo").findings if each.kind == "rows_damaged"]
        assert what in finding.message
        story.export(demo_folder / "exported")

        repaired = diagnose(stores, "demo", repair=True)
        assert "rows_repaired" in [each.kind for each in repaired.repairs]
        assert "rows_damaged" not in [each.kind for each in diagnose(stores, "demo").findings]
        story.reindex()
        assert verify_index(stores, "demo").is_sound
        assert stages(context_of(stores, request_in_demo)) == set()


@pytest.mark.parametrize("what", ["memory_chunks.entities_mentioned", "scenes.record", "embeddings.vector"])
def test_an_index_is_built_anew_beside_a_damaged_value(demo_folder: Path, what: str) -> None:
    """Nothing has to be repaired before; a vector that was cut is made anew by it."""
    _damage(demo_folder, what)
    with MemoryStores(settings_for(demo_folder)) as stores:
        Story(stores, "demo").reindex()
        assert verify_index(stores, "demo").is_sound
        kinds = [each.kind for each in diagnose(stores, "demo").findings]
    assert ("rows_damaged" in kinds) == (what != "embeddings.vector")


def test_a_scene_whose_record_was_damaged_can_be_read_again(demo_folder: Path) -> None:
    """After the repair it waits for extraction, with its text."""
    _damage(demo_folder, "scenes.record")
    with MemoryStores(settings_for(demo_folder)) as stores:
        diagnose(stores, "demo", repair=True)
        [scene] = [each.scene for each in Story(stores, "demo").list_scenes() if each.scene.record is None]
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
