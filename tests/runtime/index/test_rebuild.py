"""An index is rebuilt beside the old one, verified, and swapped; verification finds silent loss."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from novelgen.deadlines import Deadline
from novelgen.errors import DatabaseError, DeadlineExceededError, VectorIndexDamagedError, VectorIndexError
from runtime.index.locations import EmbeddedIndex
from runtime.index.manager import IndexVerification, VectorStoreManager
from runtime.index.rows import IndexHit, IndexRow, require_built
from tests.runtime.index.conftest import OpenManager, run_program
from tests.runtime.index.story_rows import expected, make_row, make_rows, random_vectors


def vector_folders(manager: VectorStoreManager) -> int:
    assert isinstance(manager.location, EmbeddedIndex)
    return sum(entry.is_dir() for entry in manager.location.path.iterdir())


def rows_and_then(rows: list[IndexRow], act: Callable[[], object]) -> Iterator[IndexRow]:
    """Give rows, and do something while they are built."""
    yield from rows
    act()


def test_a_rebuild_replaces_all_rows_and_leaves_no_folder_behind(shared: VectorStoreManager) -> None:
    """A project that was never written can be built, even with no rows, and a foreign row is never written."""
    before = vector_folders(shared)
    shared.upsert(make_rows(30, project_id="replaced", seed=1))
    rows = make_rows(600, project_id="replaced", seed=2)
    for _ in range(2):
        assert shared.rebuild("replaced", iter(rows)) == 600
    assert vector_folders(shared) == before + 1
    assert shared.list_ids("replaced") == {row.chunk_id for row in rows}
    assert shared.query("replaced", [rows[17].vector], top_k=1)[0][0].chunk_id == "c0017"
    shared.drop("replaced")
    assert vector_folders(shared) == before
    assert shared.rebuild("nothing", []) == 0
    assert shared.query("nothing", random_vectors(1), top_k=1) == [[]]
    with pytest.raises(ValueError, match="row 'c0000' is of project 'demo', not 'mine'"):
        shared.rebuild("mine", make_rows(1))


def test_what_was_built_must_be_what_was_written_and_be_found() -> None:
    """Too few rows, too many, and one that its own vector does not find are no index; equals stand for each other."""
    hit = IndexHit("a", "demo", 1, 1, None, "text", "memory", similarity=1.0)
    require_built("demo", ["a", "b"], {"a", "b"}, {"a": [hit], "b": [hit]})
    for built in (["a"], ["a", "b", "c"]):
        with pytest.raises(VectorIndexError, match=r"lacks \d expected rows .* the old one was kept, rebuild again"):
            require_built("demo", built, {"a", "b"}, {})
    far = IndexHit("c", "demo", 1, 1, None, "text", "memory", similarity=0.2)
    for hits in ([], [far], [hit, far]):
        with pytest.raises(VectorIndexDamagedError, match="'b' is not found by its own vector"):
            require_built("demo", ["b"], {"b"}, {"b": hits})


def test_a_source_that_fails_half_way_keeps_the_old_index(shared: VectorStoreManager) -> None:
    """An error of the database passes through, nothing is swapped, and the old index can be written."""

    def fail() -> None:
        raise DatabaseError("the database went away")

    shared.upsert([make_row("old", random_vectors(1)[0], project_id="half")])
    with pytest.raises(DatabaseError, match="went away"):
        shared.rebuild("half", rows_and_then(make_rows(300, project_id="half"), fail))
    shared.upsert([make_row("new", random_vectors(1)[0], project_id="half")])
    assert shared.list_ids("half") == {"old", "new"}


def test_writers_wait_while_readers_go_on(shared: VectorStoreManager) -> None:
    """During a rebuild the old index answers, and a write that cannot wait is refused."""
    shared.upsert([make_row("old", random_vectors(1)[0], project_id="busy")])
    seen: list[str] = []

    def during() -> None:
        seen.extend(hit.chunk_id for hit in shared.query("busy", random_vectors(1), top_k=5)[0])
        with pytest.raises(DeadlineExceededError, match=r"another write .* or a rebuild"):
            shared.delete("busy", ["old"], timeout_s=0.05)

    shared.rebuild("busy", rows_and_then(make_rows(4, project_id="busy"), during))
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
def rows():
    yield from make_rows(300)
    os.kill(manager.process.pid, signal.SIGKILL)
try:
    manager.rebuild("demo", rows())
except Exception as error:
    print(type(error).__name__)
"""
    assert run_program(source, str(tmp_path / "vectors")).strip() == "VectorIndexError"
    manager = open_manager(EmbeddedIndex(tmp_path / "vectors"))
    assert manager.query("demo", random_vectors(1), top_k=3, deadline=Deadline.after(20)) == [[]]
    manager.upsert([make_row("new", random_vectors(1)[0])])
    assert manager.list_ids("demo") == {"new"}
    assert manager.rebuild("demo", make_rows(3)) == 3
    assert manager.list_ids("demo") == {"c0000", "c0001", "c0002"}


def test_verification_names_missing_unexpected_and_lost_rows(shared: VectorStoreManager) -> None:
    """Many of one vector are sound, ids are compared as sets, and who is not found by its own vector is lost."""
    rows = make_rows(80, project_id="sound")
    rows += [make_row(f"same{index}", [1.0] * 16, project_id="sound") for index in range(30)]
    shared.upsert(rows)
    found = shared.verify("sound", *expected(rows))
    assert found.is_sound
    assert (found.rows, found.canaries) == (110, 110)
    silent = make_rows(41, project_id="silent")
    shared.upsert(silent)
    ids, sample = expected(silent[:40])
    found = shared.verify("silent", ids | {"gone"}, sample | {"c0005": random_vectors(1, seed=99)[0]})
    assert found == IndexVerification(("gone",), ("c0040",), ("c0005",), rows=41, canaries=40)
    assert str(found) == "41 rows expected: 1 missing, 1 unexpected, 1 of 40 sampled vectors not found"
    assert not found.is_sound
