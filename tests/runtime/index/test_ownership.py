"""One process owns an embedded index; users within it share, and other programs ask through it."""

import json
import os
import shutil
from pathlib import Path

import pytest

from novelgen.errors import VectorIndexDamagedError, VectorIndexError, VectorIndexOwnedError
from runtime.index.locations import ChromaFolder
from runtime.index.ownership import IndexOwnership, borrow, read_owner
from runtime.index.process import IndexProcess, IndexProcessRegistry
from tests.runtime.index.conftest import OpenIndex, embedded, index_in, process_of, program, worker_pid
from tests.runtime.index.story_rows import make_rows

SECOND = """
import sys
from pathlib import Path
from runtime.index.locations import ChromaFolder
from runtime.index.process import IndexProcess
from tests.runtime.index.conftest import index_in
from tests.runtime.index.story_rows import make_rows
process = IndexProcess(ChromaFolder(Path(sys.argv[1])))
index = index_in(process)
rows = make_rows(6)
index.add(rows[4:])
print(len(index.list_ids()), *[hit.chunk_id for hit in index.query([rows[1].vector], top_k=1)[0]])
print(len(index.list_ids()), index.is_in_doubt, flush=True)
if sys.stdin.readline():
    print(len(index.list_ids(timeout_s=30)), process.pid)
process.close()
"""

HOLDER = """
import sys, time
from pathlib import Path
from runtime.index.locations import ChromaFolder
from runtime.index.ownership import IndexOwnership

ownership = IndexOwnership(ChromaFolder(Path(sys.argv[1])))
ownership.acquire()
print("held", flush=True)
time.sleep(600)
"""


@pytest.mark.slow
def test_a_second_program_asks_through_the_first(tmp_path: Path, open_index: OpenIndex) -> None:
    """It writes and finds in the owner's process; when the owner gives the index up it goes on by itself."""
    owner = open_index(ChromaFolder(tmp_path / "vectors"))
    rows = make_rows(4)
    owner.add(rows, timeout_s=30)
    pid = worker_pid(owner)
    second = program(SECOND, str(embedded(owner)))
    assert second.stdin is not None
    assert second.stdout is not None
    assert second.stdout.readline() == f"6 {rows[1].chunk_id}\n"
    assert second.stdout.readline() == "6 False\n"
    assert (len(owner.list_ids()), worker_pid(owner)) == (6, pid)
    told = tmp_path / "vectors.control" / "owner.address"
    assert told.stat().st_mode & 0o077 == 0
    assert Path(json.loads(told.read_text())["address"]).parent.stat().st_mode & 0o077 == 0
    process_of(owner).close()
    output, errors = second.communicate("go on\n", timeout=60)
    assert second.returncode == 0, errors
    assert output.split()[0] == "6"
    assert not told.exists()


def test_what_tells_no_owner_of_this_user_is_not_asked(
    tmp_path: Path, shared: OpenIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A torn file, a wrong key, an address where nobody listens, and another user's file lend nothing."""
    true = embedded(shared("demo")).control_folder / "owner.address"
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


@pytest.mark.slow
def test_a_damaged_index_of_another_program_is_not_removed(tmp_path: Path, open_index: OpenIndex) -> None:
    """Its files are the owner's, who goes on writing."""
    owner = open_index(ChromaFolder(tmp_path / "vectors"))
    owner.add(make_rows(2))
    second = index_in(IndexProcess(embedded(owner)))
    shutil.rmtree(tmp_path / "vectors")
    with pytest.raises(VectorIndexDamagedError):
        second.add(make_rows(2))
    with pytest.raises(VectorIndexOwnedError, match="is damaged and owned by process"):
        second.discard_files()
    owner.add(make_rows(2), timeout_s=5)
    assert len(second.list_ids()) == 2
    process_of(second).close()


@pytest.mark.slow
def test_the_index_is_free_when_its_owner_is_killed(tmp_path: Path, open_index: OpenIndex) -> None:
    """The lock is the system's: kill -9 gives it up, and the next owner knows that it was not given up in order."""
    index = ChromaFolder(tmp_path / "vectors")
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
    assert open_index(index).list_ids(timeout_s=20) == set()


@pytest.mark.slow
def test_users_of_one_program_share_one_process(tmp_path: Path) -> None:
    """Two spellings of a path are one index, which ends with its last user."""
    (tmp_path / "link").symlink_to(tmp_path)
    registry = IndexProcessRegistry()
    first = registry.borrow(ChromaFolder(tmp_path / "vectors"))
    second = registry.borrow(ChromaFolder(tmp_path / "link" / "vectors"))
    assert first is second
    index_in(first).add(make_rows(2), timeout_s=30)
    registry.give_back(first)
    assert len(index_in(second).list_ids()) == 2
    registry.give_back(second)
    assert second.pid is None
    assert registry.borrow(ChromaFolder(tmp_path / "vectors")) is not second


def test_taking_and_giving_twice_is_harmless(tmp_path: Path) -> None:
    """Ownership knows whether it is held."""
    ownership = IndexOwnership(ChromaFolder(tmp_path / "vectors"))
    for _ in range(2):
        ownership.acquire()
    for _ in range(2):
        ownership.release()
    assert not (tmp_path / "vectors.control" / "owner.pid").exists()


def test_a_lock_file_that_cannot_be_made_is_an_error_of_the_index(tmp_path: Path) -> None:
    """A file where the control folder should be is named in the message."""
    (tmp_path / "vectors.control").write_text("in the way")
    with pytest.raises(VectorIndexError, match=r"lock of the vector index .* cannot be taken.*vectors\.control"):
        IndexOwnership(ChromaFolder(tmp_path / "vectors")).acquire()


@pytest.mark.parametrize(("content", "owner"), [(None, "unknown"), (b"", "unknown"), (b"\xff", "unknown"), (b"7", "7")])
def test_an_owner_that_cannot_be_read_is_unknown(tmp_path: Path, content: bytes | None, owner: str) -> None:
    """The name of the owner is for the message only and never in the way."""
    if content is not None:
        (tmp_path / "owner.pid").write_bytes(content)
    assert read_owner(tmp_path / "owner.pid") == owner
