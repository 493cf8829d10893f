"""One owner per embedded index: a lock of the operating system, and who holds it."""

from __future__ import annotations

import os
from pathlib import Path

from filelock import FileLock, Timeout

from novelgen.errors import VectorIndexError, VectorIndexOwnedError
from runtime.vectors.locations import EmbeddedIndex

HOW_TO_SHARE = (
    "one process owns an embedded index; to share it, start `chroma run --path FOLDER --host 127.0.0.1 "
    "--port 8000` and set the vector server URL to http://127.0.0.1:8000 in every process"
)


class IndexOwnership:
    """The exclusive right of this process to open an embedded index.

    The lock belongs to the operating system: it ends with the process that holds it, however that ends.

    Args:
        index: The embedded index to own.
    """

    def __init__(self, index: EmbeddedIndex) -> None:
        self._index = index
        self._lock = FileLock(index.control_folder / "owner.lock", thread_local=False)
        self._owner_file = index.control_folder / "owner.pid"

    def acquire(self) -> bool:
        """Take the right, or refuse without waiting; taking it again is harmless.

        Returns:
            Whether the owner before left it behind: killed, or still in doubt of the index.

        Raises:
            VectorIndexOwnedError: Another process owns the index; the message names it and how to share.
            VectorIndexError: The lock file cannot be created.
        """
        if self._lock.is_locked:
            return False
        try:
            self._index.control_folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(blocking=False)
            was_left_behind = self._owner_file.exists()
            self._owner_file.write_text(f"{os.getpid()}\n", encoding="ascii")
        except Timeout as error:
            raise VectorIndexOwnedError(
                f"the vector index {str(self._index)!r} is owned by process {self._owner()}; {HOW_TO_SHARE}"
            ) from error
        except OSError as error:
            self._lock.release()
            raise VectorIndexError(
                f"the lock of the vector index {str(self._index)!r} cannot be taken: {error}"
            ) from error
        return was_left_behind

    def release(self, *, in_doubt: bool = False) -> None:
        """Give the right up; harmless when it is not held.

        Args:
            in_doubt: Let the next owner know that the index was interrupted and not compared with SQL since.
        """
        if self._lock.is_locked:
            if not in_doubt:
                self._owner_file.unlink(missing_ok=True)
            self._lock.release()

    def _owner(self) -> str:
        return read_owner(self._owner_file)


def read_owner(owner_file: Path) -> str:
    """Read which process wrote the owner file.

    Returns:
        The process id as text, or `unknown`.
    """
    try:
        return owner_file.read_text(encoding="ascii").strip() or "unknown"
    except (OSError, ValueError):
        return "unknown"
