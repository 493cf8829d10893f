"""A database of any earlier version is migrated with its data, and works on.

A new revision is covered as it stands; give it rows in `released_data.ROWS` and a check in `CHECKS`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.exc import DBAPIError

from novelgen.errors import SchemaVersionError
from runtime.storage.connection import database_url as url_of
from runtime.storage.database import DatabaseManager
from runtime.storage.migrations import runner
from runtime.storage.unit import UnitOfWork
from tests.runtime.storage.released_data import MOMENT, ROWS, fill
from tests.runtime.storage.stories import at, memory, scene, store


def _revisions() -> list[str]:
    script = ScriptDirectory(str(runner.MIGRATIONS))
    return sorted(each.revision for each in script.walk_revisions())


REVISIONS = _revisions()


def _first(unit: UnitOfWork) -> None:
    """Scenes, memories with words, links and vectors, states, names and the outbox."""
    stored = unit.scenes.require(at(1, 1))
    assert (stored.text, stored.label, stored.extraction_status) == ("旧的场景。", "S007", "none")
    (chunk,) = unit.memories.by_ids(["M1"])
    assert (chunk.content, chunk.slot_type, chunk.verified) == ("黛玉藏起了剑。", None, True)
    assert (chunk.tags, chunk.entities_mentioned, chunk.created_at) == (["剑"], ["C4"], MOMENT)
    assert "M1" in [hit.chunk_id for hit in unit.lexical.search("黛玉")]
    assert "M1" in [each.chunk_id for each in unit.memories.by_entities(["C4"], as_of=at(9))]
    names, matrix = unit.embeddings.matrix("fake:2", as_of=at(9))
    assert (names, matrix.tolist()) == (["M1"], [[1.0, 0.0]])
    held = unit.entities.get("C4")
    assert held is not None
    assert (held.entity.name, [each.alias for each in held.entity.aliases]) == ("黛玉", ["颦儿"])
    (early,) = unit.states.snapshots(["C4"], as_of=at(1, 2))
    assert early.state_data == {"mood": "忧愁"}
    (note,) = [each for each in unit.memories.list_matching() if each.chunk.content_type == "note"]
    assert (note.chunk.chunk_id, note.pinned, note.from_scene) == ("N1", True, False)
    assert [(each.chunk_id, each.revision) for each in unit.outbox.claim(limit=9)] == [("M1", 1)]


def _records(unit: UnitOfWork) -> None:
    """Records, slots, supersession, loops, relationships, mentions."""
    stored = unit.scenes.require(at(1, 2))
    assert stored.record is not None
    assert stored.record.state_changes[0].changes == {"goals": ["离开"]}
    assert (stored.participants, stored.extraction_status) == (["C4", "C5"], "done")
    (old, new) = unit.memories.by_ids(["M1", "M2"])
    assert (new.slot_type, new.verified, old.superseded_by) == ("I1.holder", False, "M2")
    (loop,) = unit.threads.list_as_of()
    assert (loop.loop_id, loop.description, loop.chapter_index) == ("OL3", "谁拿了剑？", 1)
    (relationship,) = unit.relationships.list_as_of()
    assert (relationship.relationship_id, relationship.status) == ("R2", "疏远")
    assert unit.entities.first_mentions()["C4", "黛玉"] == (1, 2)
    (state,) = unit.states.snapshots(["C4"])
    assert state.state_data.items() >= {"mood": "忧愁", "goals": ["离开"]}.items()


def _journal(unit: UnitOfWork) -> None:
    """Merges of entities, which can be undone."""
    (change,) = [each for each in unit.merges.list_all() if each.kind == "merge"]
    assert (change.kind, change.entity_id, change.other_id, change.undone_at) == ("merge", "C4", "C1", None)


def _attachments(unit: UnitOfWork) -> None:
    """What an author attached by hand."""
    found = {(each.target, each.origin) for each in unit.attachments.attachments_of("M4")}
    assert ("C4", "manual") in found


def _last_read(unit: UnitOfWork) -> None:
    """The moment of the last reading."""
    read = {each.chunk.chunk_id: each.last_accessed_at for each in unit.memories.list_matching()}
    assert (read["M5"], read["M1"]) == (MOMENT, None)


def _evidence(unit: UnitOfWork) -> None:
    """What no quote proves."""
    assert [each.attribute for each in unit.states.unverified()] == ["location"]


def _consolidated(unit: UnitOfWork) -> None:
    """Memories that stand for others."""
    (stored,) = unit.consolidations.list_all()
    assert (stored.chunk.chunk_id, stored.source_ids) == ("M8", ["M6", "M7"])


def _summaries(unit: UnitOfWork) -> None:
    """What a person wrote of a chapter."""
    (standing,) = unit.summaries.list_as_of()
    assert (standing.summary.text, standing.summary.written_at) == ("黛玉想要离开。", MOMENT)


def _knowledge(unit: UnitOfWork) -> None:
    """What an author says of who knows what."""
    (said,) = unit.knowledge.said(as_of=at(1, 3))
    assert (said.character_id, said.learned_from, said.certainty) == ("C5", "C4", 0.5)
    assert unit.knowledge.said(as_of=at(1, 2)) == []


def _cards(unit: UnitOfWork) -> None:
    """Moments of cards, what documents say of scenes beside, and what a history says of a change."""
    term, old = unit.entities.get("T1"), unit.entities.get("C4")
    assert term is not None
    assert old is not None
    assert (term.created_at, old.created_at) == (MOMENT, None)
    assert unit.scenes.require(at(1, 9)).other_fields == {"markdown_file": "scene_009.md"}
    said = [each.detail for each in unit.exchange.contents().states if each.attribute == "no_change"]
    assert said == [{"summary": "她什么也没说。"}]


def _deletions(unit: UnitOfWork) -> None:
    """Deletions beside merges."""
    assert [each.entity_id for each in unit.merges.list_all() if each.kind == "delete"] == ["OL9"]


def _author_changes(unit: UnitOfWork) -> None:
    """What an author changed, with what was there before."""
    (change,) = unit.journal.latest(5, subjects=["memory"])
    assert (change.kind, change.entity_id, change.before) == ("pin", "M1", {"pinned": False})
    assert (change.created_at, change.undone_at) == (MOMENT, None)


CHECKS: dict[str, tuple[Callable[[UnitOfWork], None], ...]] = {
    runner.HEAD: (
        _first,
        _records,
        _journal,
        _attachments,
        _last_read,
        _evidence,
        _consolidated,
        _summaries,
        _knowledge,
        _cards,
        _deletions,
        _author_changes,
    )
}
"""What must be read at head of the rows that a revision made possible."""

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


@pytest.mark.parametrize("released", REVISIONS)
def test_what_a_version_held_is_there_at_head(database_url: str, released: str) -> None:
    """Its rows read as before through the repositories; ids, words and deletion go on from there."""
    held = _build(database_url, released)
    _reads_and_works_on(database_url, held)


def test_a_later_revision_keeps_what_is_stored(database_url: str, tmp_path: Path) -> None:
    """A table that is altered, which SQLite does by copying it, loses no row and no link to one."""
    _build(database_url, REVISIONS[-1])
    runner.migrate_to_head(
        url_of(database_url), busy_timeout_s=5, target="next", scripts=_scripts_with_a_next(tmp_path)
    )
    engine = create_engine(url_of(database_url))
    with engine.connect() as connection:
        moods = set(connection.scalars(text("SELECT mood FROM memory_chunks")))
        memories, links = (
            connection.scalar(text(f"SELECT count(*) FROM {table}"))
            for table in ("memory_chunks", "consolidation_sources")
        )
    engine.dispose()

    assert (moods, memories, links) == ({"calm"}, 8, 2)


def test_a_revision_that_fails_leaves_the_old_version_whole(database_url: str, tmp_path: Path) -> None:
    """Half a migration is none: the schema changes in one transaction, and goes on working."""
    held = _build(database_url, REVISIONS[-1])
    engine = create_engine(url_of(database_url))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE moods (in_the_way INTEGER)"))

    with pytest.raises(DBAPIError, match="already exists"):
        runner.migrate_to_head(
            url_of(database_url), busy_timeout_s=5, target="next", scripts=_scripts_with_a_next(tmp_path)
        )
    assert "mood" not in {column["name"] for column in inspect(engine).get_columns("memory_chunks")}
    engine.dispose()
    _reads_and_works_on(database_url, held)


def _scripts_with_a_next(tmp_path: Path) -> Path:
    scripts = tmp_path / "migrations"
    shutil.copytree(runner.MIGRATIONS, scripts, ignore=shutil.ignore_patterns("__pycache__"))
    (scripts / "versions" / "next.py").write_text(NEXT_REVISION.format(head=REVISIONS[-1]), encoding="utf-8")
    return scripts


def _reads_and_works_on(database_url: str, held: list[str]) -> None:
    database = DatabaseManager.open(database_url)
    try:
        with database.project("demo").read() as unit:
            for revision in held:
                for check in CHECKS.get(revision, ()):
                    check(unit)
            labels = [each.label for each in unit.scenes.list_as_of()]
        _works_on(database, labels)
    finally:
        database.close()


def _build(database_url: str, released: str) -> list[str]:
    """Make a database of a version with the rows that it may hold; return the revisions up to it."""
    held = REVISIONS[: REVISIONS.index(released) + 1]
    runner.migrate_to_head(url_of(database_url), busy_timeout_s=5, target=released)
    engine = create_engine(url_of(database_url))
    with engine.begin() as connection:
        fill(connection, held)
    engine.dispose()
    return held


def _works_on(database: DatabaseManager, labels: list[str]) -> None:
    (result,) = store(database, scene(2, 1, memory("M9", "新的一章。", slot_type="C4.secret")))
    assert result.label == f"S{int(max(labels)[1:]) + 1:03d}"
    with database.project("demo").write() as unit:
        taken = {each.entity.entity_id for each in unit.entities.list_all()}
        assert unit.entities.next_id("character") == f"C{max(int(each[1:]) for each in taken) + 1}"
        assert "M1" in unit.scenes.delete_scene(at(1, 1))
        assert "M1" not in [hit.chunk_id for hit in unit.lexical.search("黛玉")]
        assert [hit.chunk_id for hit in unit.lexical.search("新的一章")] == ["M9"]


def test_rows_and_checks_are_of_known_revisions() -> None:
    """Nothing here is left behind by a revision that was renamed."""
    assert set(ROWS) == set(CHECKS)
    assert set(ROWS) <= set(REVISIONS)


def test_the_head_is_the_last_revision() -> None:
    """A database that stands there is recognised without Alembic."""
    assert ScriptDirectory(str(runner.MIGRATIONS)).get_current_head() == runner.HEAD


def test_a_database_before_the_first_release_is_refused(database_url: str) -> None:
    """Nothing leads on from it; the message names export and import, and nothing is changed."""
    _build(database_url, runner.HEAD)
    engine = create_engine(url_of(database_url))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0008'"))
    with pytest.raises(SchemaVersionError, match=r"'0008'.*novelgen export.*novelgen import"):
        DatabaseManager.open(database_url)
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == "0008"
    engine.dispose()
