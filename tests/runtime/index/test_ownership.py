"""One process owns an embedded index; managers within it share."""

import os
from pathlib import Path

import pytest

from novelgen.errors import VectorIndexError, VectorIndexOwnedError
from runtime.index.locations import EmbeddedIndex, IndexOwnership, read_owner
from runtime.index.manager import VectorStoreManager
from tests.runtime.index.conftest import OpenManager, program, run_program
from tests.runtime.index.story_rows import make_rows

pytestmark = pytest.mark.index_started_as_shipped

SECOND = """
import sys
from pathlib import Path
from runtime.index.locations import EmbeddedIndex
from runtime.index.manager import VectorStoreManager
manager = VectorStoreManager(EmbeddedIndex(Path(sys.argv[1])), embedding_model="fake-embeddings", dimension=16)
for act in (manager.start, lambda: manager.count("demo"), lambda: manager.upsert([])):
    try:
        act()
    except Exception as error:
        print(type(error).__name__, error)
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


def test_a_second_program_is_refused_and_the_first_is_unharmed(shared: VectorStoreManager) -> None:
    """The refusal names the owner and how to share; the owner goes on with the same process."""
    shared.upsert(make_rows(4))
    pid = shared.process.pid
    lines = run_program(SECOND, str(shared.location)).splitlines()
    assert len(lines) == 2
    for line in lines:
        assert line.startswith(f"VectorIndexOwnedError the vector index '{shared.location}' is owned by process")
        assert f"process {os.getpid()};" in line
        assert "chroma run" in line
    assert (shared.count("demo"), shared.process.pid) == (4, pid)


def test_the_index_is_free_when_its_owner_is_killed(tmp_path: Path, open_manager: OpenManager) -> None:
    """The lock is the system's: kill -9 gives it up, and the next owner knows that it was not given up in order."""
    index = EmbeddedIndex(tmp_path / "vectors")
    owner = program(HOLDER, str(index.path))
    assert owner.stdout is not None
    assert owner.stdout.readline() == "held\n"
    second = IndexOwnership(index)
    with pytest.raises(VectorIndexOwnedError, match=f"owned by process {owner.pid};"):
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
