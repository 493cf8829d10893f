"""The operations of the index on Chroma, embedded or on a server; runs only in the process of the index."""

import shutil
import sqlite3
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, TypeVar

import chromadb
import httpx
import numpy as np
from chromadb.api import ClientAPI
from chromadb.api.client import SharedSystemClient
from chromadb.config import Settings
from chromadb.errors import NotFoundError
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from novelgen.errors import VectorIndexDamagedError, VectorIndexError
from runtime.index import slots
from runtime.index.locations import (
    DATABASE_FILE,
    ChromaServer,
    EmbeddedIndex,
    IndexLocation,
    ProjectKey,
    RowsMarker,
    Stamp,
    max_file_bytes,
    swollen_file,
)
from runtime.index.rows import IndexHit, QueryCut
from runtime.index.slots import ProjectCollection, search

try:
    import resource
except ImportError:  # Windows has no limits of this kind
    resource = None  # type: ignore[assignment]

_PREDECESSOR_WAIT_S = 5.0
_BATCH_ROWS = 1_000
_CANARY_ROWS = 32
_CACHED_COLLECTIONS = 1_000
_MAX_BYTES_PER_CHARACTER = 4
_LIMIT_MARGIN = 2
"""Twice what a sound file can take: what stops at the limit is then found too long by the next look."""
_MAX_TIMES_WRITTEN = 32

Columns = dict[str, Any]
"""Rows as `encode_rows` writes them."""
Answer = TypeVar("Answer")


class ChromaIndex:
    """Does what `VectorStoreManager` asks; the client is opened at its first use."""

    def __init__(self, location: IndexLocation) -> None:
        self._location = location
        self._marker = (
            RowsMarker(location.control_folder / "marker.json") if isinstance(location, EmbeddedIndex) else None
        )
        self._client: ClientAPI | None = None
        self._opened_file: tuple[int, int] | None = None
        self._process_lock: FileLock | None = None
        self._live: dict[ProjectKey, ProjectCollection] = {}
        self.operations: dict[str, Callable[..., Any]] = {
            "upsert": self._upsert,
            "delete": self._delete,
            "query": self._query,
            "ids": self._ids,
            "drop": self._drop,
            "build_begin": self._build_begin,
            "build_commit": self._build_commit,
            "build_abort": self._build_abort,
        }

    # Operations: on the collection that answers, or on the one that a rebuild is filling beside it

    def _upsert(self, stamp: Stamp, columns: Columns, *, must_exist: bool = False, is_rebuild: bool = False) -> None:
        def write(live: ProjectCollection | None) -> None:
            if live is None and must_exist:
                raise _lost(stamp.project_id)
            target = live or slots.create_live(self._opened(), stamp)
            target.stamp.require_same_vectors(stamp)
            self._write(target, columns)

        self._with(stamp.key, write, is_rebuild=is_rebuild)
        if self._marker is not None and not is_rebuild:
            self._marker.add(stamp.project_id)

    def _delete(self, key: ProjectKey, chunk_ids: Sequence[str]) -> None:
        def delete(live: ProjectCollection | None) -> None:
            if live is not None:
                for start in range(0, len(chunk_ids), _BATCH_ROWS):
                    live.store.delete(ids=list(chunk_ids[start : start + _BATCH_ROWS]))

        self._with(key, delete)

    def _query(
        self,
        stamp: Stamp,
        vectors: NDArray[np.float32],
        cut: QueryCut,
        *,
        must_exist: bool = False,
        is_rebuild: bool = False,
    ) -> list[list[IndexHit]]:
        def ask(found: ProjectCollection | None) -> list[list[IndexHit]]:
            if found is None:
                if must_exist:
                    raise _lost(stamp.project_id)
                return [[] for _ in vectors]
            found.stamp.require_same_vectors(stamp)
            return search(found, vectors, cut)

        return self._with(stamp.key, ask, is_rebuild=is_rebuild)

    def _ids(self, key: ProjectKey, *, is_rebuild: bool = False) -> list[str]:
        def read(found: ProjectCollection | None) -> list[str]:
            return [] if found is None else list(found.store.get(include=[])["ids"])

        return self._with(key, read, is_rebuild=is_rebuild)

    def _drop(self, key: ProjectKey) -> None:
        self._live.pop(key, None)
        slots.delete_slots(self._opened(), key, keep_live=False)
        if self._marker is not None:
            self._marker.remove(key.project_id)
        self._remove_orphans()

    def _build_begin(self, stamp: Stamp) -> None:
        if self._marker is not None:
            self._marker.reset()
        slots.create_building(self._opened(), stamp)

    def _build_commit(self, key: ProjectKey) -> None:
        built = self._building(key)
        _prove_vectors_stand(built)
        slots.make_live(self._opened(), built)
        self._live.pop(key, None)
        if self._marker is not None:
            self._marker.add(key.project_id)
        self._remove_orphans()

    def _build_abort(self, key: ProjectKey) -> None:
        slots.delete_slots(self._opened(), key, keep_live=True)
        self._remove_orphans()

    # Collections

    def _write(self, target: ProjectCollection, columns: Columns) -> None:
        texts_bytes = sum(_MAX_BYTES_PER_CHARACTER * len(text) for text in columns["documents"])
        if isinstance(self._location, EmbeddedIndex):
            _limit_files(self._location, written_bytes=columns["embeddings"].nbytes + texts_bytes)
        # LangChain's own write embeds the text; given vectors go through Chroma's.
        target.collection.upsert(**columns)

    def _with(
        self, key: ProjectKey, use: Callable[[ProjectCollection | None], Answer], *, is_rebuild: bool = False
    ) -> Answer:
        """Use a collection; look the live one up once more when another process has swapped it meanwhile."""
        if is_rebuild:
            return use(self._building(key))
        try:
            return use(self._find_live(key))
        except NotFoundError:
            self._live.pop(key, None)
            return use(self._find_live(key))

    def _building(self, key: ProjectKey) -> ProjectCollection:
        built = slots.find_building(self._opened(), key)
        if built is None:
            raise VectorIndexError(f"no rebuild of project {key.project_id!r} is under way; begin one")
        return built

    def _find_live(self, key: ProjectKey) -> ProjectCollection | None:
        client = self._opened()
        if key in self._live:
            return self._live[key]
        live = slots.find_live(client, key)
        if live is None:
            if self._marker is not None and key.project_id in self._marker.projects():
                raise _lost(key.project_id)
            return None
        _prove_vectors_stand(live)
        if len(self._live) >= _CACHED_COLLECTIONS:
            self._live.clear()
        self._live[key] = live
        return live

    def _remove_orphans(self) -> None:
        """Remove vector folders that Chroma left behind when it deleted their collections."""
        if not isinstance(self._location, EmbeddedIndex):
            return
        address = (self._location.path / DATABASE_FILE).as_uri() + "?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=1.0)) as database:
            used = {row[0] for row in database.execute("SELECT id FROM segments")}
        for folder in self._location.path.iterdir():
            if folder.is_dir() and _is_uuid(folder.name) and folder.name not in used:
                shutil.rmtree(folder)

    # The client

    def _opened(self) -> ClientAPI:
        """Return the open client; one whose files vanished under it is given up."""
        if self._client is None:
            self._client = (
                _open_server(self._location)
                if isinstance(self._location, ChromaServer)
                else self._open_folder(self._location)
            )
        elif isinstance(self._location, EmbeddedIndex) and _file_of(self._location) != self._opened_file:
            self._client = None
            # Collections of an earlier client would go on reading from files that were replaced.
            self._live.clear()
            raise VectorIndexDamagedError(
                f"the vector index {str(self._location)!r} was removed or replaced while open; rebuild it"
            )
        return self._client

    def _open_folder(self, index: EmbeddedIndex) -> ClientAPI:
        self._wait_for_predecessor(index)
        if index.path.exists() and not index.path.is_dir():
            raise VectorIndexDamagedError(f"the vector index {str(index)!r} is a file, not a folder; rebuild the index")
        _limit_files(index)
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
        self._opened_file = _file_of(index)
        return client

    def _wait_for_predecessor(self, index: EmbeddedIndex) -> None:
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


def status_of(error: BaseException | None) -> int | None:
    """Return the HTTP status behind an error: Chroma raises a bare Exception where a proxy answers in its place."""
    while error is not None:
        if isinstance(error, httpx.HTTPStatusError):
            return error.response.status_code
        error = error.__cause__ or error.__context__
    return None


def _open_server(server: ChromaServer) -> ClientAPI:
    try:
        return chromadb.HttpClient(
            host=server.host,
            port=server.port,
            ssl=server.uses_tls,
            headers=server.request_headers,
            settings=_settings(),
        )
    except (ValueError, httpx.HTTPError) as error:
        if status_of(error) is not None:
            raise
        raise VectorIndexError(
            f"the Chroma server {str(server)!r} cannot be reached; start it with `chroma run` ({error})"
        ) from error


def _settings() -> Settings:
    # Without `_env_file=None` Chroma would read a `.env` that belongs to the user's program.
    return Settings(anonymized_telemetry=False, _env_file=None)


def _file_of(index: EmbeddedIndex) -> tuple[int, int] | None:
    """Return what tells the database of an index from another one in its place."""
    try:
        status = (index.path / DATABASE_FILE).stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino)


def _limit_files(index: EmbeddedIndex, *, written_bytes: int = 0) -> None:
    """Refuse an index with a file that no sound one can have, and let this process write none much longer.

    Damaged files make Chroma write gigabytes without an error. A write beyond the limit fails in its native code
    (it does not say so), and the next call of this function says what is wrong.
    """
    swollen = swollen_file(index)
    if swollen is not None:
        raise VectorIndexDamagedError(f"the vector index {str(index)!r} is damaged ({swollen}); rebuild it")
    if resource is None:
        return
    limit = _LIMIT_MARGIN * max_file_bytes(index) + _MAX_TIMES_WRITTEN * written_bytes
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    within_hard = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (within_hard, hard))


def _lost(project_id: str) -> VectorIndexDamagedError:
    return VectorIndexDamagedError(
        f"rows of project {project_id!r} were written to the vector index, but are gone, or this is another "
        "index; rebuild it"
    )


def _prove_vectors_stand(found: ProjectCollection) -> None:
    """Ask for some listed rows by id: only there does Chroma say that their vectors are gone."""
    listed = found.store.get(limit=_CANARY_ROWS, include=[])["ids"]
    if not listed:
        return
    direction = [1.0] + [0.0] * (found.stamp.dimension - 1)
    hits = found.store.similarity_search_by_vector_with_relevance_scores(direction, k=len(listed), ids=listed)
    if not hits:
        raise VectorIndexDamagedError("the vector index lists rows but finds none of them; rebuild it")


def _is_uuid(name: str) -> bool:
    try:
        uuid.UUID(name)
    except ValueError:
        return False
    return True
