"""The way to the vector index."""

from __future__ import annotations

from runtime.storage.database import DatabaseManager
from tests.runtime.storage.stories import memory, scene, store


def test_changes_of_one_chunk_are_one_entry(database: DatabaseManager) -> None:
    """However often it changes, the last operation counts."""
    store(database, scene(1, 1, memory("M1", "a")), scene(1, 1, memory("M1", "b")), scene(1, 1))
    with database.project("demo").read() as unit:
        (entry,) = unit.outbox.claim()

    assert (entry.chunk_id, entry.operation, entry.state) == ("M1", "delete", "pending")


def test_done_upserts_stay_known_and_done_deletions_go(database: DatabaseManager) -> None:
    """So that the outbox says what the index holds; marking twice is harmless."""
    store(database, scene(1, 1, memory("M1"), memory("M2")), scene(1, 1, memory("M1")))
    with database.project("demo").write() as unit:
        entries = unit.outbox.claim()
        unit.outbox.mark_done(entries)
        unit.outbox.mark_done(entries)
        unit.outbox.mark_done([])
        assert unit.outbox.counts() == {"pending": 0, "done": 1, "failed": 0}
        assert unit.outbox.claim() == []


def test_a_change_after_the_claim_stays_pending(database: DatabaseManager) -> None:
    """A worker's mark counts only for what it saw."""
    store(database, scene(1, 1, memory("M1", "old")))
    with database.project("demo").read() as unit:
        claimed = unit.outbox.claim()
    store(database, scene(1, 1, memory("M1", "new")))
    with database.project("demo").write() as unit:
        unit.outbox.mark_done(claimed)
        unit.outbox.mark_failed(claimed, "too late")
        assert unit.outbox.counts() == {"pending": 1, "done": 0, "failed": 0}


def test_failed_entries_come_again_after_the_pending_ones(database: DatabaseManager) -> None:
    """With the reason and the number of attempts."""
    store(database, scene(1, 1, memory("M1")))
    with database.project("demo").write() as unit:
        for _ in range(2):
            unit.outbox.mark_failed(unit.outbox.claim(), "disk full " * 100)
    store(database, scene(1, 2, memory("M2")))
    with database.project("demo").read() as unit:
        entries = unit.outbox.claim()
        assert [(one.chunk_id, one.attempts) for one in entries] == [("M2", 0), ("M1", 2)]
        assert (entries[1].last_error or "")[:9] == "disk full"
        assert len(entries[1].last_error or "") == 500
        assert [one.chunk_id for one in unit.outbox.claim(limit=1)] == ["M2"]
