"""One process owns an embedded index; managers within it share, and other programs ask through it."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from novelgen.deadlines import Deadline
from novelgen.errors import DeadlineExceededError, VectorIndexError, VectorIndexOwnedError
from runtime.index.locations import EmbeddedIndex, IndexOwnership, borrow, read_owner
from runtime.index.manager import VectorStoreManager
from runtime.index.process import IndexProcessRegistry
from tests.runtime.index.conftest import OpenManager, program
from tests.runtime.index.story_rows import DIMENSION, MODEL, make_rows

SECOND = """
import sys
from pathlib import Path
from runtime.index.locations import EmbeddedIndex
from runtime.index.manager import VectorStoreManager
from tests.runtime.index.story_rows import make_rows
manager = VectorStoreManager(EmbeddedIndex(Path(sys.argv[1])), embedding_model="fake-embeddings", dimension=16)
rows = make_rows(6)
manager.upsert(rows[4:])
print(manager.count("demo"), *[hit.chunk_id for hit in manager.query("demo", [rows[1].vector], top_k=1)[0]])
print(manager.rebuild("demo", rows[:5]), manager.process.in_doubt, flush=True)
if sys.stdin.readline():
    print(manager.count("demo", timeout_s=30), manager.process.pid)
manager.close()
"""

HOLDER = """
import sys, time
from pathlib import Path
from runtime.index.locations import EmbeddedIndex
from runtime.index.locations import IndexOwnership

ownership = IndexOwnership(EmbeddedIndex(Path(sys.argv[1])))
ownership.acquire()
print("held", flush=True)
time.sleep(600)
"""


def test_a_second_program_asks_through_the_first(tmp_path: Path, open_manager: OpenManager) -> None:
    """It writes, finds and rebuilds in the owner's process; when the owner gives the index up it goes on by itself."""
    owner = open_manager(EmbeddedIndex(tmp_path / "vectors"))
    rows = make_rows(4)
    owner.upsert(rows, timeout_s=30)
    pid = owner.process.pid
    second = program(SECOND, str(owner.location))
    assert second.stdin is not None
    assert second.stdout is not None
    assert second.stdout.readline() == f"6 {rows[1].chunk_id}\n"
    assert second.stdout.readline() == "5 False\n"
    assert (owner.count("demo"), owner.process.pid) == (5, pid)
    told = tmp_path / "vectors.control" / "owner.address"
    assert told.stat().st_mode & 0o077 == 0
    assert Path(json.loads(told.read_text())["address"]).parent.stat().st_mode & 0o077 == 0
    owner.close()
    output, errors = second.communicate("go on\n", timeout=60)
    assert second.returncode == 0, errors
    assert output.split()[0] == "5"
    assert not told.exists()


def test_what_tells_no_owner_of_this_user_is_not_asked(
    tmp_path: Path, shared: VectorStoreManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A torn file, a wrong key, an address where nobody listens, and another user's file lend nothing."""
    shared.count("demo")
    true = shared.location.control_folder / "owner.address" if isinstance(shared.location, EmbeddedIndex) else tmp_path
    said = json.loads(true.read_text())
    told_in = tmp_path / "owner.address"
    for left in ("", "[]", "{", json.dumps(said | {"key": "00"}), json.dumps(said | {"address": str(tmp_path / "x")})):
        told_in.write_text(left)
        assert borrow(told_in) is None
    found = borrow(true)
    assert found is not None
    found[1].close()
    monkeypatch.setattr(os, "getuid", lambda: -1)
    assert borrow(true) is None


def test_writes_of_two_programs_take_turns(shared: VectorStoreManager, tmp_path: Path) -> None:
    """While the owner writes or rebuilds, what another program writes waits, and is told when that takes too long."""
    registry = IndexProcessRegistry()
    second = VectorStoreManager(shared.location, embedding_model=MODEL, dimension=DIMENSION, registry=registry)
    rows = [replace(row, project_id="turns") for row in make_rows(2)]
    shared.upsert(rows[:1])
    with shared.process.writing(Deadline.after(5)):
        with pytest.raises(DeadlineExceededError):
            second.upsert(rows[1:], timeout_s=0.5)
        assert second.count("turns") == 1
    second.upsert(rows[1:])
    assert shared.count("turns") == 2
    second.close()
    assert shared.count("turns") == 2


def test_a_rebuild_that_cannot_begin_keeps_no_turn(tmp_path: Path, open_manager: OpenManager) -> None:
    """Where another program's rebuild meets damaged files, which it may not remove, the owner goes on writing."""
    owner = open_manager(EmbeddedIndex(tmp_path / "vectors"))
    owner.upsert(make_rows(2))
    registry = IndexProcessRegistry()
    second = VectorStoreManager(owner.location, embedding_model=MODEL, dimension=DIMENSION, registry=registry)
    shutil.rmtree(tmp_path / "vectors")
    with pytest.raises(VectorIndexOwnedError, match="is damaged and owned by process"):
        second.rebuild("demo", make_rows(2))
    owner.upsert(make_rows(2), timeout_s=5)
    assert second.count("demo") == 2
    second.close()


def test_the_index_is_free_when_its_owner_is_killed(tmp_path: Path, open_manager: OpenManager) -> None:
    """The lock is the system's: kill -9 gives it up, and the next owner knows that it was not given up in order."""
    index = EmbeddedIndex(tmp_path / "vectors")
    owner = program(HOLDER, str(index.path))
    assert owner.stdout is not None
    assert owner.stdout.readline() == "held\n"
    second = IndexOwnership(index)
    with pytest.raises(VectorIndexOwnedError, match=f"owned by process {owner.pid},"):
        second.acquire()
    owner.kill()
    owner.communicate()
    assert second.acquire()
    second.release()
    assert not second.acquire()
    second.release()
    assert open_manager(index).count("demo", timeout_s=20) == 0


def test_managers_of_one_program_share_one_process(tmp_path: Path, open_manager: OpenManager) -> None:
    """Two spellings of a path are one index, which ends with its last user."""
    (tmp_path / "link").symlink_to(tmp_path)
    first = open_manager(EmbeddedIndex(tmp_path / "vectors"))
    second = open_manager(EmbeddedIndex(tmp_path / "link" / "vectors"))
    first.upsert(make_rows(2), timeout_s=30)
    assert second.count("demo") == 2
    assert first.process is second.process
    first.close()
    first.close()
    assert second.count("demo") == 2
    second.close()
    assert second.process.pid is None
    third = open_manager(EmbeddedIndex(tmp_path / "vectors"))
    assert third.process is not second.process


def test_taking_and_giving_twice_is_harmless(tmp_path: Path) -> None:
    """Ownership knows whether it is held."""
    ownership = IndexOwnership(EmbeddedIndex(tmp_path / "vectors"))
    for _ in range(2):
        ownership.acquire()
    for _ in range(2):
        ownership.release()
    assert not (tmp_path / "vectors.control" / "owner.pid").exists()


def test_a_lock_file_that_cannot_be_made_is_an_error_of_the_index(tmp_path: Path) -> None:
    """A file where the control folder should be is named in the message."""
    (tmp_path / "vectors.control").write_text("in the way")
    with pytest.raises(VectorIndexError, match=r"lock of the vector index .* cannot be taken.*vectors\.control"):
        IndexOwnership(EmbeddedIndex(tmp_path / "vectors")).acquire()


@pytest.mark.parametrize(("content", "owner"), [(None, "unknown"), (b"", "unknown"), (b"\xff", "unknown"), (b"7", "7")])
def test_an_owner_that_cannot_be_read_is_unknown(tmp_path: Path, content: bytes | None, owner: str) -> None:
    """The name of the owner is for the message only and never in the way."""
    if content is not None:
        (tmp_path / "owner.pid").write_bytes(content)
    assert read_owner(tmp_path / "owner.pid") == owner
