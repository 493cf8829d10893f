"""Keeps the files of an embedded index from filling the disk; runs only in the process of the index."""

from __future__ import annotations

import resource

from novelgen.errors import VectorIndexDamagedError
from runtime.vectors.index_size import most_file_bytes, swollen_file
from runtime.vectors.locations import EmbeddedIndex

_MARGIN = 2
"""Twice what a sound file can take: what stops at the limit is then found too long by the next look."""
_MAX_TIMES_WRITTEN = 32


def limit_files(index: EmbeddedIndex, *, written_bytes: int = 0) -> None:
    """Refuse an index with a file that no sound one can have, and let this process write none much longer.

    Damaged files make Chroma write gigabytes without an error. A write beyond the limit fails in its native code
    (it does not say so), and the next call of this function says what is wrong.

    Args:
        index: Folder of the index.
        written_bytes: Texts and vectors that are about to be written.

    Raises:
        VectorIndexDamagedError: A file is far too long.
    """
    swollen = swollen_file(index)
    if swollen is not None:
        raise VectorIndexDamagedError(f"the vector index {str(index)!r} is damaged ({swollen}); rebuild it")
    limit = _MARGIN * most_file_bytes(index) + _MAX_TIMES_WRITTEN * written_bytes
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    within_hard = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (within_hard, hard))
