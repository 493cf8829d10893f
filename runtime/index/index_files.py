"""The files of an embedded index and beside it: who owns it, what should be in it, and how long its files may be."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

from filelock import FileLock, Timeout

from novelgen.errors import VectorIndexDamagedError, VectorIndexError, VectorIndexOwnedError
from runtime.index.locations import EmbeddedIndex, IndexLocation

HOW_TO_SHARE = (
    "one process owns an embedded index; to share it, start `chroma run --path FOLDER --host 127.0.0.1 "
    "--port 8000` and set the vector server URL to http://127.0.0.1:8000 in every process"
)
DATABASE_FILE = "chroma.sqlite3"
VECTOR_FILE = "data_level0.bin"

_MARKER_SCHEMA_VERSION = 1
_LINKS_BYTES = 132
"""Neighbours of a vector on the lowest level, for Chroma's default of 16: a count and 32 places of 4 bytes each."""
_LABEL_BYTES = 8
_VALUE_BYTES = 4
_SPARE_BYTES = 64 * 2**20
_MAX_TIMES_DATABASE = 32
"""A row takes 1.5 KB of the database or more; its vector of 3,072 values with two dead ones takes 37 KB."""


class IndexOwnership:
    """The exclusive right of this process to open an embedded index.

    The lock belongs to the operating system: it ends with the process that holds it, however that ends.
    """

    def __init__(self, index: EmbeddedIndex) -> None:
        self._index = index
        self._lock = FileLock(index.control_folder / "owner.lock", thread_local=False)
        self._owner_file = index.control_folder / "owner.pid"

    def acquire(self) -> bool:
        """Take the right, or refuse without waiting; taking it again is harmless."""
        if self._lock.is_locked:
            return False
        try:
            self._index.control_folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(blocking=False)
            was_left_behind = self._owner_file.exists()
            self._owner_file.write_text(f"{os.getpid()}\n", encoding="ascii")
        except Timeout as error:
            raise VectorIndexOwnedError(
                f"the vector index {str(self._index)!r} is owned by process {read_owner(self._owner_file)}; "
                f"{HOW_TO_SHARE}"
            ) from error
        except OSError as error:
            self._lock.release()
            raise VectorIndexError(
                f"the lock of the vector index {str(self._index)!r} cannot be taken: {error}"
            ) from error
        return was_left_behind

    def release(self, *, in_doubt: bool = False) -> None:
        """Give the right up; harmless when it is not held."""
        if self._lock.is_locked:
            if not in_doubt:
                self._owner_file.unlink(missing_ok=True)
            self._lock.release()


def require_unowned(index: EmbeddedIndex) -> None:
    """Refuse an index that a process owns."""
    if not index.control_folder.is_dir():
        return
    ownership = IndexOwnership(index)
    was_left_behind = ownership.acquire()
    ownership.release(in_doubt=was_left_behind)


def read_owner(owner_file: Path) -> str:
    """Read which process wrote the owner file: its id as text, or `unknown`."""
    try:
        return owner_file.read_text(encoding="ascii").strip() or "unknown"
    except (OSError, ValueError):
        return "unknown"


class RowsMarker:
    """The set of projects of which rows were written, in a file outside of the index folder.

    Chroma creates an empty store in silence where its files are missing: so "opened empty" is told from "never
    written".
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def projects(self) -> frozenset[str]:
        """Read which projects should have rows; empty when nothing was ever written."""
        try:
            document = json.loads(self._path.read_text(encoding="utf-8"))
            return frozenset(str(project_id) for project_id in document["projects"])
        except FileNotFoundError:
            return frozenset()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise VectorIndexDamagedError(
                f"marker {str(self._path)!r} of the vector index cannot be read; rebuild the index"
            ) from error

    def add(self, project_id: str) -> None:
        """Remember that rows of the project were written."""
        known = self.projects()
        if project_id not in known:
            self._write(known | {project_id})

    def remove(self, project_id: str) -> None:
        """Forget the project: its rows were dropped on purpose."""
        known = self.projects()
        if project_id in known:
            self._write(known - {project_id})

    def reset(self) -> None:
        """Forget a marker that cannot be read; one that can is kept."""
        try:
            self.projects()
        except VectorIndexDamagedError:
            self._write(frozenset())

    def _write(self, projects: frozenset[str]) -> None:
        temporary = self._path.with_suffix(".tmp")
        with temporary.open("w", encoding="utf-8") as stream:
            json.dump({"schema_version": _MARKER_SCHEMA_VERSION, "projects": sorted(projects)}, stream)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(self._path)


def kept_vectors(location: IndexLocation, dimension: int) -> int:
    """Count the vectors in the files of an embedded index, as of Chroma's last write to them.

    The graph of a vector index never frees the place of a row that was deleted or changed.
    """
    vectors_bytes = sum(length_bytes for file, length_bytes in _lengths(location).items() if file.name == VECTOR_FILE)
    return vectors_bytes // (_LINKS_BYTES + dimension * _VALUE_BYTES + _LABEL_BYTES)


def max_file_bytes(index: EmbeddedIndex) -> int:
    """Return how long each file of a sound index is at most, told from its database, which damage never swells."""
    database = index.path / DATABASE_FILE
    return _SPARE_BYTES + _MAX_TIMES_DATABASE * (database.stat().st_size if database.is_file() else 0)


def swollen_file(location: IndexLocation) -> str | None:
    """Tell of a file that no sound index can have.

    Measured: one damaged length in `link_lists.bin` lets Chroma write gigabytes of nothing (11 GB for 1,500 rows),
    while it goes on answering.
    """
    lengths = _lengths(location)
    if not isinstance(location, EmbeddedIndex) or not lengths:
        return None
    max_bytes = max_file_bytes(location)
    longest = max(lengths, key=lambda file: lengths[file])
    if lengths[longest] <= max_bytes:
        return None
    return (
        f"its file {longest.name!r} takes {lengths[longest] // 2**20} MB, where at most {max_bytes // 2**20} MB "
        "can be in use"
    )


def _lengths(location: IndexLocation) -> dict[Path, int]:
    """List all files with their lengths in bytes; any of them may be removed by a rebuild under our eyes."""
    found: dict[Path, int] = {}
    if isinstance(location, EmbeddedIndex):
        for folder, _, names in os.walk(location.path):
            for name in names:
                with contextlib.suppress(OSError):
                    found[Path(folder) / name] = (Path(folder) / name).stat().st_size
    return found
