"""How long the files of an embedded index are, and how long those of a sound one can be."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from runtime.vectors.locations import EmbeddedIndex, IndexLocation

VECTOR_FILE = "data_level0.bin"
_DATABASE_FILE = "chroma.sqlite3"
_LINKS_BYTES = 132
"""Neighbours of a vector on the lowest level, for Chroma's default of 16: a count and 32 places of 4 bytes each."""
_LABEL_BYTES = 8
_VALUE_BYTES = 4
_SPARE_BYTES = 64 * 2**20
_MAX_TIMES_DATABASE = 32
"""A row takes 1.5 KB of the database or more; its vector of 3,072 values with two dead ones takes 37 KB."""


def kept_vectors(location: IndexLocation, dimension: int) -> int:
    """Count the vectors in the files of an embedded index, as of Chroma's last write to them.

    The graph of a vector index never frees the place of a row that was deleted or changed.

    Args:
        location: Folder of the index; of a server's files nothing is known.
        dimension: Length of every vector.

    Returns:
        Vectors, living and dead; 0 for a server and for an index without files.
    """
    vectors_bytes = sum(
        length_bytes for file, length_bytes in _files(location).items() if file.name == VECTOR_FILE
    )
    return vectors_bytes // (_LINKS_BYTES + dimension * _VALUE_BYTES + _LABEL_BYTES)


def most_file_bytes(index: EmbeddedIndex) -> int:
    """Return how long each file of a sound index is at most, told from its database, which damage never swells."""
    database = index.path / _DATABASE_FILE
    return _SPARE_BYTES + _MAX_TIMES_DATABASE * (database.stat().st_size if database.is_file() else 0)


def swollen_file(location: IndexLocation) -> str | None:
    """Tell of a file that no sound index can have.

    Measured: one damaged length in `link_lists.bin` lets Chroma write gigabytes of nothing (11 GB for 1,500 rows),
    while it goes on answering.

    Args:
        location: Folder of the index; of a server's files nothing is known.

    Returns:
        The longest such file and its length in words; None when there is none.
    """
    if not isinstance(location, EmbeddedIndex):
        return None
    most_bytes = most_file_bytes(location)
    files = _files(location)
    longest = max(files, key=lambda file: files[file], default=None)
    if longest is None or files[longest] <= most_bytes:
        return None
    return (
        f"its file {longest.name!r} takes {files[longest] // 2**20} MB, where at most {most_bytes // 2**20} MB "
        "can be in use"
    )


def _files(location: IndexLocation) -> dict[Path, int]:
    """List all files with their lengths in bytes; any of them may be removed by a rebuild under our eyes."""
    found: dict[Path, int] = {}
    if isinstance(location, EmbeddedIndex):
        for folder, _, names in os.walk(location.path):
            for name in names:
                with contextlib.suppress(OSError):
                    found[Path(folder) / name] = (Path(folder) / name).stat().st_size
    return found
