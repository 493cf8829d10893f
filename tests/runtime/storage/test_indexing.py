"""What the vector index has yet to follow, and the vectors that are kept beside memories."""

import numpy as np
import pytest

from novelgen.errors import EmbeddingError
from runtime.storage.database import DatabaseManager
from tests.runtime.storage.stories import at, memory, scene, store
from tests.support.databases import on_both_databases


def test_changes_of_one_chunk_are_one_entry(database: DatabaseManager) -> None:
    """However often it changes, the last operation counts."""
    store(database, scene(1, 1, memory("M1", "a")), scene(1, 1, memory("M1", "b")), scene(1, 1))
    with database.project("demo").read() as unit:
        (entry,) = unit.outbox.claim()

    assert (entry.chunk_id, entry.operation, entry.state) == ("M1", "delete", "pending")


@on_both_databases
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


@on_both_databases
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


@pytest.fixture
def told(database: DatabaseManager) -> DatabaseManager:
    """Three memories in two chapters, two of them with vectors."""
    store(database, scene(1, 1, memory("M1"), memory("M2")), scene(2, 1, memory("M3")))
    with database.project("demo").write() as unit:
        vectors = {"M1": [0.5, -1.0], "M3": np.array([3.0, 4.0]), "gone": [9.0, 9.0]}
        assert unit.embeddings.put("m", vectors) == 2
    return database


@on_both_databases
def test_vectors_come_back_as_they_went_in(told: DatabaseManager) -> None:
    """As float32, one row per id; another model adds to, the same model replaces what is stored."""
    with told.project("demo").read() as unit:
        ids, matrix = unit.embeddings.matrix("m")

    assert matrix.dtype == np.float32
    assert dict(zip(ids, matrix.tolist(), strict=True)) == {"M1": [0.5, -1.0], "M3": [3.0, 4.0]}
    with told.project("demo").write() as unit:
        unit.embeddings.put("n", {"M1": [1.0, 2.0, 3.0]})
        unit.embeddings.put("m", {"M1": [7.0, 7.0]})
        assert unit.embeddings.matrix("n")[1].shape == (1, 3)
        assert unit.embeddings.matrix("m", ids=["M1"])[1].tolist() == [[7.0, 7.0]]
        assert [len(unit.embeddings.matrix(model)[0]) for model in ("m", "n")] == [2, 1]


def test_the_matrix_is_cut_by_position_model_ids_and_status(told: DatabaseManager) -> None:
    """Nothing left gives an empty matrix."""
    with told.project("demo").write() as unit:
        matrix = unit.embeddings.matrix
        assert matrix("m", as_of=at(2))[0] == ["M1"]
        assert matrix("m", ids=["M3", "M2", "nope"])[0] == ["M3"]
        unit.memories.decide("M1", "ban")
        assert matrix("m")[0] == ["M3"]
        ids, empty = matrix("other")
        assert (ids, empty.shape) == ([], (0, 0))
    with told.project("demo2").read() as unit:
        assert unit.embeddings.matrix("m")[0] == []


def test_broken_vectors_are_refused(told: DatabaseManager) -> None:
    """Nothing that a search would choke on is stored."""
    cases: list[tuple[dict, str]] = [
        ({"M1": [1.0], "M2": [1.0, 2.0]}, "one length"),
        ({"M1": []}, "one length"),
        ({"M1": [[1.0]]}, "one length"),
        ({"M1": [float("nan")]}, "'M1' holds values that are not finite"),
        ({"M2": [float("inf")]}, "'M2' holds values that are not finite"),
    ]
    for vectors, reason in cases:
        with pytest.raises(EmbeddingError, match=reason), told.project("demo").write() as unit:
            unit.embeddings.put("m", vectors)
