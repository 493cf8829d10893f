"""Opens Chroma, embedded or on a server; runs only in the process of the index."""

from __future__ import annotations

from pathlib import Path

import chromadb
import httpx
from chromadb.api import ClientAPI
from chromadb.api.client import SharedSystemClient
from chromadb.config import Settings
from filelock import FileLock, Timeout

from novelgen.errors import VectorIndexDamagedError, VectorIndexError
from runtime.vectors.file_limit import limit_files
from runtime.vectors.locations import ChromaServer, EmbeddedIndex, IndexLocation
from runtime.vectors.marker import RowsMarker

_PREDECESSOR_WAIT_S = 5.0


class ChromaConnection:
    """A client that is opened at its first use, and watched for files that vanish under it.

    Args:
        location: Folder or server of the index.
    """

    def __init__(self, location: IndexLocation) -> None:
        self.location = location
        self.marker = (
            RowsMarker(location.control_folder / "marker.json")
            if isinstance(location, EmbeddedIndex)
            else None
        )
        self._client: ClientAPI | None = None
        self._opened_file: tuple[int, int] | None = None
        self._process_lock: FileLock | None = None

    def client(self) -> ClientAPI:
        """Return the open client.

        Raises:
            VectorIndexDamagedError: The folder is a file, its database is none of Chroma's, a file in it is far
                too long, or it was removed or replaced while open.
            VectorIndexError: The server cannot be reached, or an earlier process still holds the folder.
        """
        if self._client is not None:
            self._check_files_stand()
            return self._client
        if isinstance(self.location, ChromaServer):
            self._client = _open_server(self.location)
        else:
            self._take_process_lock(self.location)
            self._client = self._open_folder(self.location)
        return self._client

    def make_room(self, written_bytes: int) -> None:
        """Let the files of an embedded index grow by a write, and no further than a sound one can.

        Args:
            written_bytes: Texts and vectors that are about to be written.

        Raises:
            VectorIndexDamagedError: A file is far too long already.
        """
        if isinstance(self.location, EmbeddedIndex):
            limit_files(self.location, written_bytes=written_bytes)

    def _open_folder(self, index: EmbeddedIndex) -> ClientAPI:
        self._check_before_opening(index.path)
        limit_files(index)
        # Chroma keeps half-opened engines by path: without this a failed opening would be found again.
        SharedSystemClient.clear_system_cache()
        try:
            index.path.mkdir(parents=True, exist_ok=True)
            client = chromadb.PersistentClient(str(index.path), settings=_settings())
        except ValueError as error:
            # Chroma says so when the tables of its database are not those of a Chroma index.
            raise VectorIndexDamagedError(
                f"the vector index {str(index)!r} cannot be opened ({error}); rebuild it"
            ) from error
        self._opened_file = _file_identity(index.path)
        return client

    def _check_before_opening(self, path: Path) -> None:
        if path.exists() and not path.is_dir():
            raise VectorIndexDamagedError(
                f"the vector index {str(path)!r} is a file, not a folder; rebuild the index"
            )

    def _check_files_stand(self) -> None:
        if isinstance(self.location, ChromaServer) or self._opened_file is None:
            return
        if _file_identity(self.location.path) != self._opened_file:
            self._client = None
            raise VectorIndexDamagedError(
                f"the vector index {str(self.location)!r} was removed or replaced while open; rebuild it"
            )

    def _take_process_lock(self, index: EmbeddedIndex) -> None:
        """Wait until no other process of an index, an orphan included, has this folder open."""
        if self._process_lock is not None:
            return
        index.control_folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(index.control_folder / "process.lock", thread_local=False)
        try:
            lock.acquire(timeout=_PREDECESSOR_WAIT_S)
        except Timeout as error:
            raise VectorIndexError(
                f"an earlier process still holds the vector index {str(index)!r}; try again"
            ) from error
        self._process_lock = lock


def _open_server(server: ChromaServer) -> ClientAPI:
    try:
        return chromadb.HttpClient(
            host=server.host, port=server.port, ssl=server.uses_tls, settings=_settings()
        )
    except (ValueError, httpx.HTTPError) as error:
        raise VectorIndexError(
            f"the Chroma server {str(server)!r} cannot be reached; start it with `chroma run` ({error})"
        ) from error


def _settings() -> Settings:
    # Without `_env_file=None` Chroma would read a `.env` that belongs to the user's program.
    return Settings(anonymized_telemetry=False, _env_file=None)


def _file_identity(path: Path) -> tuple[int, int] | None:
    try:
        status = (path / "chroma.sqlite3").stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino)
