"""Damaged, missing and locked index files end in an error of ours, never in a hang or an empty answer."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from filelock import FileLock, Timeout

from novelgen.deadlines import Deadline
from novelgen.errors import DeadlineExceededError, VectorIndexDamagedError, VectorIndexError, VectorIndexGoneError
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.index.locations import ChromaFolder
from runtime.index.process import IndexProcess
from runtime.index.project_index import ProjectIndex
from runtime.index.rows import IndexRow
from tests.faults.matrix import covers
from tests.runtime.index.conftest import OpenIndex, index_in, is_alive, process_of, program, run_program, wait_until
from tests.runtime.index.story_rows import DIMENSION, expected, make_row, make_rows, random_vectors

pytestmark = pytest.mark.slow

# Beyond Chroma's sync threshold of 1,000 rows vectors live in files of their own.
ROWS = make_rows(1_100, positions=[(chapter, 1) for chapter in range(40)])
REBUILT = ROWS[:60]


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a sound, closed index and its control folder."""
    folder = tmp_path_factory.mktemp("pristine")
    process = IndexProcess(ChromaFolder(folder / "vectors"))
    index_in(process).add(ROWS)
    process.close()
    return folder


def rebuilt(index: ProjectIndex, rows: list[IndexRow]) -> None:
    """Remove the files of a damaged index and write its rows anew."""
    index.discard_files()
    index.add(rows)


@pytest.fixture
def index(pristine: Path, tmp_path: Path) -> ChromaFolder:
    """A copy of the sound index, to be damaged."""
    shutil.copytree(pristine, tmp_path / "data")
    return ChromaFolder(tmp_path / "data" / "vectors")


def sqlite_file(index: ChromaFolder) -> Path:
    return index.path / "chroma.sqlite3"


def vector_folder(index: ChromaFolder) -> Path:
    (folder,) = (entry for entry in index.path.iterdir() if entry.is_dir())
    return folder


def overwrite(path: Path, *, size_bytes: int) -> None:
    with path.open("r+b") as stream:
        stream.write(os.urandom(size_bytes))


def replace_folder_by_file(index: ChromaFolder) -> None:
    shutil.rmtree(index.path)
    index.path.write_text("not a folder")


def randomise(path: Path) -> None:
    overwrite(path, size_bytes=path.stat().st_size)


DAMAGES: dict[str, tuple[int, Callable[[ChromaFolder], None]]] = {
    "index folder removed": (1, lambda index: shutil.rmtree(index.path)),
    "index folder is a file": (2, replace_folder_by_file),
    "database removed": (3, lambda index: sqlite_file(index).unlink()),
    "database header garbage": (4, lambda index: overwrite(sqlite_file(index), size_bytes=100)),
    "database cut": (4, lambda index: os.truncate(sqlite_file(index), 20_000)),
    "vector folder removed": (5, lambda index: shutil.rmtree(vector_folder(index))),
    "vectors random": (7, lambda index: randomise(vector_folder(index) / "data_level0.bin")),
    "vector list empty": (8, lambda index: os.truncate(vector_folder(index) / "index_metadata.pickle", 0)),
}
"""By name, each with its row of the fault matrix."""


@pytest.mark.parametrize(
    "damage", [pytest.param(damage, marks=covers(row), id=name) for name, (row, damage) in DAMAGES.items()]
)
def test_damage_is_told_and_a_rebuild_repairs_it(
    open_index: OpenIndex, index: ChromaFolder, damage: Callable[[ChromaFolder], None]
) -> None:
    """A question on damaged files raises, again and again, until a rebuild makes all as it was."""
    damage(index)
    project_index = open_index(index)
    for _ in range(2):
        with pytest.raises(VectorIndexDamagedError, match="rebuil"):
            project_index.query(random_vectors(1), top_k=3, must_hold_rows=True, deadline=Deadline.after(60))
    rebuilt(project_index, REBUILT)
    assert project_index.verify(*expected(REBUILT)).is_sound
    names = {entry.name for entry in index.path.parent.iterdir()}
    assert names == {"vectors", "vectors.control"}


@covers(6)
def test_vectors_cut_in_half_are_found_by_verification(open_index: OpenIndex, index: ChromaFolder) -> None:
    """Chroma crashes or answers wrongly and says nothing; both are found, and a rebuild repairs it."""
    vectors = vector_folder(index) / "data_level0.bin"
    os.truncate(vectors, vectors.stat().st_size // 2)
    project_index = open_index(index)
    try:
        sound = project_index.verify(*expected(ROWS), timeout_s=60).is_sound
    except VectorIndexDamagedError:
        sound = False
    assert not sound
    rebuilt(project_index, REBUILT)
    assert project_index.verify(*expected(REBUILT)).is_sound


def test_a_damaged_index_cannot_fill_the_disk(open_index: OpenIndex, index: ChromaFolder) -> None:
    """A damaged length makes Chroma write 100 GB and say nothing; the file stops short, and the next write says it."""
    links = vector_folder(index) / "link_lists.bin"
    with links.open("r+b") as stream:
        stream.write((68 * 2**21).to_bytes(4, "little"))
    project_index = open_index(index)
    added = [make_row(f"new{number}", vector) for number, vector in enumerate(random_vectors(1_500, seed=3))]
    with pytest.raises(VectorIndexDamagedError, match=r"'link_lists.bin' takes \d+ MB, where .* rebuild it"):
        project_index.add(added, timeout_s=60)
    assert 2**26 < links.stat().st_size < 2**29
    with pytest.raises(VectorIndexDamagedError, match="rebuild"):
        project_index.add(added[:1], timeout_s=60)
    assert "'link_lists.bin'" in str(project_index.oversized_file())
    rebuilt(project_index, REBUILT)
    assert project_index.verify(*expected(REBUILT)).is_sound
    assert project_index.oversized_file() is None


def test_a_folder_removed_under_an_open_index_is_noticed(open_index: OpenIndex, index: ChromaFolder) -> None:
    """Chroma would go on reading from deleted files; then a new row must not make the emptied index look alive."""
    project_index = open_index(index)
    assert len(project_index.list_ids(timeout_s=60)) == len(ROWS)
    shutil.rmtree(index.path)
    with pytest.raises(VectorIndexDamagedError, match="was removed or replaced while open"):
        project_index.query(random_vectors(1), top_k=3)
    with pytest.raises(VectorIndexGoneError, match="but are gone"):
        project_index.query(random_vectors(1), top_k=3, must_hold_rows=True)
    with pytest.raises(VectorIndexGoneError, match=r"rows were written .* but are gone"):
        project_index.add([make_row("new", random_vectors(1)[0])], must_hold_rows=True, timeout_s=60)
    project_index.add([make_row("new", random_vectors(1)[0])])
    assert len(project_index.list_ids()) == 1


@pytest.fixture
def exclusive_lock(index: ChromaFolder) -> Iterator[sqlite3.Connection]:
    """Another program holds the database of the index."""
    with closing(sqlite3.connect(sqlite_file(index), isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield connection


def test_a_locked_index_ends_each_call_in_its_time(
    open_index: OpenIndex, index: ChromaFolder, exclusive_lock: sqlite3.Connection
) -> None:
    """Opening a locked index would freeze the program; here it fails, and works when the lock is gone."""
    project_index = open_index(index)
    process_of(project_index).start()
    with pytest.raises((DeadlineExceededError, VectorIndexError), match=r"in time|locked|still starting"):
        project_index.query(random_vectors(1), top_k=3, deadline=Deadline.after(4))
    exclusive_lock.execute("ROLLBACK")
    assert len(project_index.query(random_vectors(1), top_k=3, deadline=Deadline.after(60))[0]) == 3


def test_a_process_frozen_in_native_code_does_not_outlive_its_killed_program(
    index: ChromaFolder, exclusive_lock: sqlite3.Connection
) -> None:
    """Nothing in Python can run there; the alarm of the system ends it all the same."""
    owner = program(LOCKED_OWNER, str(index.path))
    assert owner.stdout is not None
    worker = int(owner.stdout.readline())
    assert wait_until(lambda: _is_locked(index.control_folder / "process.lock"))
    owner.kill()
    owner.communicate()
    assert wait_until(lambda: not is_alive(worker), timeout_s=60)


def _is_locked(path: Path) -> bool:
    try:
        with FileLock(path, blocking=False):
            return False
    except Timeout:
        return True


def test_a_write_lock_ends_a_write_in_its_time(open_index: OpenIndex, index: ChromaFolder) -> None:
    """A write that waits for another program's lock ends at its deadline and may be repeated."""
    project_index = open_index(index)
    assert len(project_index.list_ids(timeout_s=60)) == len(ROWS)
    row = make_row("late", random_vectors(1, seed=4)[0])
    with closing(sqlite3.connect(sqlite_file(index), isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        with pytest.raises((DeadlineExceededError, VectorIndexError), match=r"in time|locked"):
            project_index.add([row], timeout_s=1)
        connection.execute("ROLLBACK")
    project_index.add([row])
    assert "late" in project_index.list_ids(["late"])


@covers(20)
def test_planted_rows_are_never_returned(open_index: OpenIndex, index: ChromaFolder) -> None:
    """By the documents alone, rows of another project, from the future, or without a key stay inside."""
    run_program(PLANT, str(index.path))
    project_index = open_index(index)
    assert "foreign" in project_index.list_ids(timeout_s=60)
    early = project_index.texts_before([[1.0] * DIMENSION], StoryPosition(2), top_k=20)[0]
    assert {text.chunk_id for text in early} & PLANTED == set()
    assert len(early) == 20
    late = project_index.texts_before([[1.0] * DIMENSION], END_OF_STORY, top_k=20)[0]
    assert {text.chunk_id for text in late} & PLANTED == {"future"}


PLANTED = {"foreign", "future", "bare", "partial"}

LOCKED_OWNER = """
import sys, time
from pathlib import Path
from novelgen.errors import NovelgenError
from runtime.index.locations import ChromaFolder
from runtime.index.process import IndexProcess
from tests.runtime.index.conftest import index_in
process = IndexProcess(ChromaFolder(Path(sys.argv[1])))
project_index = index_in(process)
process.start()
print(process.pid, flush=True)
while True:
    try:
        project_index.list_ids(timeout_s=6)
    except NovelgenError:
        time.sleep(0.1)
"""

PLANT = """
import sys, chromadb
client = chromadb.PersistentClient(sys.argv[1])
(collection,) = client.list_collections()
whole = {"project_id": "demo", "chapter_index": 1, "scene_index": 1, "source_id": "", "content_type": "memory"}
rows = {
    "foreign": whole | {"project_id": "other"},
    "future": whole | {"chapter_index": 90},
    "partial": {key: value for key, value in whole.items() if key != "chapter_index"},
    "bare": {"x": 1},
}
rows = {name: row | ({} if name == "bare" else {"chunk_id": name}) for name, row in rows.items()}
collection.upsert(ids=list(rows), metadatas=list(rows.values()), documents=["planted"] * 4,
                  embeddings=[[1.0] * 16] * 4)
"""
