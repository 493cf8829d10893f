"""An index is rebuilt beside the old one, verified, and swapped; verification finds silent loss."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from novelgen.deadlines import Deadline
from novelgen.errors import DatabaseError, DeadlineExceededError, VectorIndexError
from runtime.index.locations import EmbeddedIndex
from runtime.index.manager import IndexVerification, VectorStoreManager
from runtime.index.rows import IndexRow
from tests.runtime.index.conftest import OpenManager, run_program
from tests.runtime.index.story_rows import make_row, make_rows, random_vectors


def ids_of(rows: list[IndexRow]) -> list[str]:
    return [row.chunk_id for row in rows]


def vector_folders(manager: VectorStoreManager) -> list[str]:
    assert isinstance(manager.location, EmbeddedIndex)
    return [entry.name for entry in manager.location.path.iterdir() if entry.is_dir()]


def test_a_rebuild_replaces_all_rows(shared: VectorStoreManager) -> None:
    """Progress is told after each batch; a project that was never written can be built, even with no rows."""
    shared.upsert(make_rows(30, project_id="replaced", seed=1))
    rows, told = make_rows(600, project_id="replaced", seed=2), []
    assert shared.rebuild("replaced", iter(rows), expected_ids=ids_of(rows), progress=told.append) == 600
    assert told == [250, 500, 600]
    assert shared.list_ids("replaced") == set(ids_of(rows))
    assert shared.query("replaced", [rows[17].vector], top_k=1)[0][0].chunk_id == "c0017"
    rows = make_rows(3, project_id="first")
    assert shared.rebuild("first", rows, expected_ids=ids_of(rows)) == 3
    assert shared.rebuild("nothing", [], expected_ids=[]) == 0
    assert shared.query("nothing", random_vectors(1), top_k=1) == [[]]


def test_rebuilds_leave_no_folders_behind(shared: VectorStoreManager) -> None:
    """A project keeps one vector folder at most, and a rebuild never writes a foreign row."""
    before = len(vector_folders(shared))
    rows = make_rows(5, project_id="orphans")
    for _ in range(3):
        shared.rebuild("orphans", rows, expected_ids=ids_of(rows))
    assert len(vector_folders(shared)) == before + 1
    shared.drop("orphans")
    assert len(vector_folders(shared)) == before
    with pytest.raises(ValueError, match="row 'c0000' is of project 'demo', not 'mine'"):
        shared.rebuild("mine", make_rows(1), expected_ids=["c0000"])


@pytest.mark.parametrize("expected", [["c0000"], ["c0000", "c0001", "c0002"]])
def test_rows_that_are_not_those_expected_are_not_swapped_in(shared: VectorStoreManager, expected: list[str]) -> None:
    """Too many or too few rows keep the old index, which goes on answering and can be written."""
    shared.upsert([make_row("old", random_vectors(1)[0], project_id="kept")])
    with pytest.raises(VectorIndexError, match="the old one was kept, rebuild again"):
        shared.rebuild("kept", make_rows(2, project_id="kept"), expected_ids=expected)
    assert shared.list_ids("kept") == {"old"}
    shared.upsert([make_row("old", random_vectors(1)[0], project_id="kept")])


def test_a_source_that_fails_half_way_keeps_the_old_index(shared: VectorStoreManager) -> None:
    """An error of the database passes through and nothing is swapped."""

    def failing() -> Iterator[IndexRow]:
        yield from make_rows(300, project_id="half")
        raise DatabaseError("the database went away")

    shared.upsert([make_row("old", random_vectors(1)[0], project_id="half")])
    with pytest.raises(DatabaseError, match="went away"):
        shared.rebuild("half", failing(), expected_ids=["x"])
    assert shared.list_ids("half") == {"old"}


def test_writers_wait_while_readers_go_on(shared: VectorStoreManager) -> None:
    """During a rebuild the old index answers, and a write that cannot wait is refused."""
    shared.upsert([make_row("old", random_vectors(1)[0], project_id="busy")])
    seen: list[str] = []

    def during(count: int) -> None:
        seen.extend(hit.chunk_id for hit in shared.query("busy", random_vectors(1), top_k=5)[0])
        with pytest.raises(DeadlineExceededError, match=r"another write .* or a rebuild"):
            shared.delete("busy", ["old"], timeout_s=0.05)

    rows = make_rows(4, project_id="busy")
    shared.rebuild("busy", rows, expected_ids=ids_of(rows), progress=during)
    assert seen == ["old"]
    assert shared.count("busy") == 4


def test_a_rebuild_cut_short_by_a_kill_is_taken_up_by_the_next(open_manager: OpenManager, tmp_path: Path) -> None:
    """What a dead program left unfinished neither answers nor stands in the way."""
    source = """
import os, signal, sys
from pathlib import Path
from runtime.index.locations import EmbeddedIndex
from runtime.index.manager import VectorStoreManager
from tests.runtime.index.story_rows import MODEL, DIMENSION, make_rows
manager = VectorStoreManager(EmbeddedIndex(Path(sys.argv[1])), embedding_model=MODEL, dimension=DIMENSION)
try:
    kill = lambda _: os.kill(manager.process.pid, signal.SIGKILL)
    manager.rebuild("demo", make_rows(9), expected_ids=[], progress=kill)
except Exception as error:
    print(type(error).__name__)
"""
    assert run_program(source, str(tmp_path / "vectors")).strip() == "VectorIndexError"
    manager = open_manager(EmbeddedIndex(tmp_path / "vectors"))
    assert manager.query("demo", random_vectors(1), top_k=3, deadline=Deadline.after(20)) == [[]]
    manager.upsert([make_row("new", random_vectors(1)[0])])
    assert manager.list_ids("demo") == {"new"}
    rows = make_rows(3)
    manager.rebuild("demo", rows, expected_ids=ids_of(rows))
    assert manager.list_ids("demo") == set(ids_of(rows))


def test_verification_names_missing_unexpected_and_lost_rows(shared: VectorStoreManager) -> None:
    """Many of one vector are sound, ids are compared as sets, and who is not found by its own vector is lost."""
    rows = make_rows(80, project_id="sound")
    rows += [make_row(f"same{index}", [1.0] * 16, project_id="sound") for index in range(30)]
    shared.upsert(rows)
    found = shared.verify("sound", ((row.chunk_id, row.vector) for row in rows), sample_size=110)
    assert found.is_sound
    assert (found.rows, found.canaries) == (110, 110)
    shared.upsert(make_rows(5, project_id="compared"))
    expected = {"c0000": None, "c0001": None, "c0002": None, "c0003": None, "lost": None}
    found = shared.verify("compared", expected)
    assert found == IndexVerification(("lost",), ("c0004",), (), rows=5, canaries=0)
    assert str(found) == "5 rows expected: 1 missing, 1 unexpected, 0 of 0 sampled vectors not found"
    shared.upsert(make_rows(40, project_id="silent"))
    expected = {row.chunk_id: row.vector for row in make_rows(40, project_id="silent")}
    expected["c0005"] = random_vectors(1, seed=99)[0]
    found = shared.verify("silent", expected)
    assert found.lost_ids == ("c0005",)
    assert not found.is_sound
    assert re.search("1 of 40 sampled", str(found))
