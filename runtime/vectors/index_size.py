"""How many vectors the files of an embedded index hold, those of deleted rows included."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from runtime.vectors.locations import EmbeddedIndex, IndexLocation

VECTOR_FILE = "data_level0.bin"
_LINKS_BYTES = 132
"""Neighbours of a vector on the lowest level, for Chroma's default of 16: a count and 32 places of 4 bytes each."""
_LABEL_BYTES = 8
_VALUE_BYTES = 4


def kept_vectors(location: IndexLocation, dimension: int) -> int:
    """Count the vectors in the files of an embedded index, as of Chroma's last write to them.

    The graph of a vector index never frees the place of a row that was deleted or changed.

    Args:
        location: Folder of the index; of a server's files nothing is known.
        dimension: Length of every vector.

    Returns:
        Vectors, living and dead; 0 for a server and for an index without files.
    """
    vectors_bytes = _files_bytes(location, only=VECTOR_FILE)
    return vectors_bytes // (_LINKS_BYTES + dimension * _VALUE_BYTES + _LABEL_BYTES)


def index_bytes(location: IndexLocation) -> int:
    """Return how long the files of an embedded index are together; 0 for a server and for no files."""
    return _files_bytes(location)


def _files_bytes(location: IndexLocation, *, only: str | None = None) -> int:
    """Add up all files, or those of one name; any of them may be removed by a rebuild under our eyes."""
    if not isinstance(location, EmbeddedIndex):
        return 0
    total = 0
    for folder, _, names in os.walk(location.path):
        for name in names:
            if only in (None, name):
                with contextlib.suppress(OSError):
                    total += (Path(folder) / name).stat().st_size
    return total
