"""How many vectors the files of an embedded index hold, those of deleted rows included."""

from __future__ import annotations

import contextlib

from runtime.vectors.locations import IndexLocation

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
    folder = getattr(location, "path", None)
    if folder is None:
        return 0
    total = 0
    for file in folder.glob(f"*/{VECTOR_FILE}"):
        # A rebuild may remove it under our eyes.
        with contextlib.suppress(OSError):
            total += file.stat().st_size
    return total // (_LINKS_BYTES + dimension * _VALUE_BYTES + _LABEL_BYTES)


def index_bytes(location: IndexLocation) -> int:
    """Return how long the files of an embedded index are together; 0 for a server and for no files."""
    folder = getattr(location, "path", None)
    if folder is None:
        return 0
    total = 0
    for file in folder.rglob("*"):
        with contextlib.suppress(OSError):
            total += file.stat().st_size
    return total
