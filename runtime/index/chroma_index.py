"""Chroma collections through `langchain_chroma.Chroma`, inside the index process."""

import re
import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import replace
from itertools import chain
from typing import Any

import chromadb
import httpx
import numpy as np
from chromadb import errors as chroma_errors
from chromadb.api import ClientAPI
from chromadb.api.client import SharedSystemClient
from chromadb.api.collection_configuration import CreateHNSWConfiguration
from chromadb.config import Settings
from chromadb.errors import NotFoundError
from filelock import FileLock, Timeout
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from novelgen.errors import EmbeddingMismatchError, VectorIndexDamagedError, VectorIndexError
from runtime.index import locations
from runtime.index.langchain_index import Collections, LangChainIndex, VectorStoreFactory, batches
from runtime.index.rows import IndexColumns
from runtime.index.vector_index import Collection

try:
    import resource
except ImportError:  # Windows has no limits of this kind
    resource = None  # type: ignore[assignment]

HNSW: CreateHNSWConfiguration = {"space": "cosine", "ef_construction": 200, "ef_search": 200}
"""Cosine must be asked for (the default is l2); the wider search costs a few ms and keeps recall."""

_VECTOR_FOLDER = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_EARLIER_NAMES = re.compile(r"novelgen-[0-9a-f]{40}-[ab]")
"""Names of collections before the live one was told by SQL."""
_PREDECESSOR_WAIT_S = 5.0
_CANARY_ROWS = 32
_MAX_BYTES_PER_CHARACTER = 4
_LIMIT_MARGIN = 2
"""Twice what a sound file can take: what stops at the limit is then found too long by the next look."""
_MAX_TIMES_WRITTEN = 32

_MEANINGS: dict[type[Exception], type[VectorIndexError]] = {
    chroma_errors.InvalidDimensionException: EmbeddingMismatchError,
    chroma_errors.InvalidUUIDError: VectorIndexDamagedError,
    chroma_errors.VersionMismatchError: VectorIndexDamagedError,
}
_REFUSALS = (chroma_errors.ChromaAuthError, chroma_errors.AuthorizationError)
_REFUSED_STATUSES = (401, 403)
_SQLITE_CODE = re.compile(r"\(code: (\d+)\)")
_SQLITE_MEANINGS = {
    5: "it is locked by another process",
    6: "it is locked by another process",
    8: "it is read-only",
    10: "its disk failed",
    13: "its disk is full",
    14: "it cannot be opened",
}
_DAMAGED_SQLITE_CODES = frozenset({11, 26, 1032})
# Chroma's Rust core raises one InternalError for everything, so that damage beyond SQLite's codes shows in its text
# alone. The last is met after damaged pages, and on a full disk, where the index cannot be read any more either.
_DAMAGED_TEXT = re.compile(
    "finding id|hnsw|malformed|not a database|pickle|no such table|error in compaction", re.IGNORECASE
)


class _ChromaIndex(LangChainIndex):
    """One collection, asked all questions at once.

    `langchain_chroma` takes one question, and reads a row anew for each that finds it: 8 questions for 410 rows take
    about three times as long.
    """

    def __init__(self, factory: VectorStoreFactory, collection: Collection, client: ClientAPI) -> None:
        super().__init__(factory, collection)
        self._collection = client.get_collection(collection.name, embedding_function=None)

    def _nearest_documents(self, vectors: NDArray[np.float32], top_k: int) -> list[list[Document]]:
        id_lists = self._collection.query(query_embeddings=vectors, n_results=top_k, include=[])["ids"]
        ids = list(dict.fromkeys(chain.from_iterable(id_lists)))
        documents = {document.id: document for batch in batches(ids) for document in self.store.get_by_ids(batch)}
        return [[documents[row_id] for row_id in row_ids if row_id in documents] for row_ids in id_lists]


class ChromaCollections(Collections):
    """Collections of one embedded index or Chroma server, opened on first use."""

    def __init__(self, location: locations.ChromaFolder | locations.ChromaServer) -> None:
        super().__init__(self._open_store)
        self._index = location if isinstance(location, locations.ChromaFolder) else None
        self._server = location if isinstance(location, locations.ChromaServer) else None
        self._client: ClientAPI | None = None
        self._opened_file: tuple[int, int] | None = None
        self._process_lock: FileLock | None = None

    def do(self, operation: str, collection: Collection, **arguments: Any) -> Any:
        """Run one operation on a collection.

        See `Collections.do`.
        """
        client = self._opened_client()
        if "*" in collection.name:
            collection = replace(collection, name=_largest_collection(client, collection.name))
        if operation == "add" and self._index is not None:
            columns: IndexColumns = arguments["columns"]
            texts_bytes = sum(_MAX_BYTES_PER_CHARACTER * len(text) for text in columns.texts)
            _limit_files(self._index, written_bytes=columns.vectors.nbytes + texts_bytes)
        if operation == "drop":
            return self._drop(client, collection)
        try:
            return getattr(self.opened(collection), operation)(**arguments)
        except NotFoundError:
            # Another program has replaced the collection.
            self.forget(collection)
            raise

    def _open_store(self, name: str, embeddings: Embeddings) -> Chroma:
        store = Chroma(name, embeddings, client=self._opened_client(), collection_configuration={"hnsw": HNSW})
        _require_vectors(store, embeddings.embed_query(""))
        return store

    def _index_of(self, collection: Collection) -> LangChainIndex:
        return _ChromaIndex(self._factory, collection, self._opened_client())

    def _drop(self, client: ClientAPI, collection: Collection) -> None:
        """Delete a collection, and in an embedded index the leftovers of others."""
        names = {collection.name}
        if self._index is not None:
            place = collection.name.rpartition("-")[0]
            listing = [listing.name for listing in client.list_collections()]
            names |= {name for name in listing if name.startswith(f"{place}-") or _EARLIER_NAMES.fullmatch(name)}
        for name in names:
            with suppress(NotFoundError):
                client.delete_collection(name)
        self.forget()
        if self._index is None:
            return
        address = (self._index.path / locations.DATABASE_FILE).as_uri() + "?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=1.0)) as database:
            segment_ids = {row[0] for row in database.execute("SELECT id FROM segments")}
        for folder in self._index.path.iterdir():
            # Chroma leaves the folder of a deleted collection behind.
            if folder.is_dir() and _VECTOR_FOLDER.fullmatch(folder.name) and folder.name not in segment_ids:
                shutil.rmtree(folder)

    def _opened_client(self) -> ClientAPI:
        """Return the open client, reopening one with vanished files."""
        if self._client is None:
            self._client = _open_server(self._server) if self._server is not None else self._open_folder()
        elif self._index is not None and _file_of(self._index) != self._opened_file:
            self._client = None
            # Collections of an earlier client would go on reading from files that were replaced.
            self.forget()
            raise VectorIndexDamagedError(
                f"the vector index {str(self._index)!r} was removed or replaced while open; rebuild it"
            )
        return self._client

    def _open_folder(self) -> ClientAPI:
        index = self._index
        assert index is not None
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

    def _wait_for_predecessor(self, index: locations.ChromaFolder) -> None:
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

    def index_error(self, error: Exception) -> VectorIndexError:
        """Translate a failure of Chroma, its HTTP client, the disk or SQLite."""
        return map_failure(error)


def map_failure(error: Exception) -> VectorIndexError:
    """Translate a failure below Chroma, the one border at which it becomes an error of novelgen."""
    text = str(error)
    status = _status_of(error)
    if isinstance(error, _REFUSALS) or status in _REFUSED_STATUSES:
        return VectorIndexError(
            f"the Chroma server refused the request ({text or type(error).__name__}); check the settings "
            "chroma_token and chroma_headers"
        )
    if status is not None and not isinstance(error, chroma_errors.ChromaError):
        return VectorIndexError(f"the Chroma server, or what stands before it, answered with status {status}: {text}")
    if isinstance(error, httpx.HTTPError):
        return VectorIndexError(f"the Chroma server cannot be reached or did not answer: {error!r}")
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
        return VectorIndexDamagedError(f"the vector index is damaged ({error}); rebuild it")
    if not isinstance(error, chroma_errors.ChromaError):
        return VectorIndexError(f"the vector index failed: {error!r}")
    match = _SQLITE_CODE.search(text)
    code = int(match.group(1)) if match else None
    if code in _DAMAGED_SQLITE_CODES or _DAMAGED_TEXT.search(text):
        return VectorIndexDamagedError(f"the vector index is damaged ({text}); rebuild it")
    if code in _SQLITE_MEANINGS:
        return VectorIndexError(f"the vector index cannot be used: {_SQLITE_MEANINGS[code]} ({text})")
    intended_kind = next((_MEANINGS[kind] for kind in type(error).__mro__ if kind in _MEANINGS), VectorIndexError)
    return intended_kind(f"the vector index failed ({type(error).__name__}): {text}")


def _status_of(error: BaseException | None) -> int | None:
    """Return the HTTP status behind an error: Chroma raises a bare Exception where a proxy answers in its place."""
    while error is not None:
        if isinstance(error, httpx.HTTPStatusError):
            return error.response.status_code
        error = error.__cause__ or error.__context__
    return None


def _open_server(server: locations.ChromaServer) -> ClientAPI:
    host, port, uses_tls = server.address
    try:
        return chromadb.HttpClient(
            host=host, port=port, ssl=uses_tls, headers=server.request_headers, settings=_settings()
        )
    except (ValueError, httpx.HTTPError) as error:
        if _status_of(error) is not None:
            raise
        raise VectorIndexError(
            f"the Chroma server {str(server)!r} cannot be reached; start it with `chroma run` ({error})"
        ) from error


def _settings() -> Settings:
    # Without `_env_file=None` Chroma would read a `.env` that belongs to the user's program.
    return Settings(anonymized_telemetry=False, _env_file=None)


def _file_of(index: locations.ChromaFolder) -> tuple[int, int] | None:
    """Return the identity of an index's database file."""
    try:
        status = (index.path / locations.DATABASE_FILE).stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino)


def _limit_files(index: locations.ChromaFolder, *, written_bytes: int = 0) -> None:
    """Refuse an index with a file that no sound one can have, and let this process write none much longer.

    Damaged files make Chroma write gigabytes without an error. A write beyond the limit fails in its native code
    (it does not say so), and the next call of this function says what is wrong.
    """
    swollen = locations.swollen_file(index)
    if swollen is not None:
        raise VectorIndexDamagedError(f"the vector index {str(index)!r} is damaged ({swollen}); rebuild it")
    if resource is None:
        return
    limit = _LIMIT_MARGIN * locations.max_file_bytes(index) + _MAX_TIMES_WRITTEN * written_bytes
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    within_hard = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (within_hard, hard))


def _largest_collection(client: ClientAPI, pattern: str) -> str:
    """Name the collection that holds most rows of those that fit: SQL, which tells the live one, cannot be read."""
    fitting = [listing for listing in client.list_collections() if listing.name.endswith(pattern.lstrip("*"))]
    if not fitting:
        raise VectorIndexError("the vector index holds nothing of this project and embedding model")
    return max(fitting, key=lambda collection: collection.count()).name


def _require_vectors(store: Chroma, direction: list[float]) -> None:
    """Ask for some listed rows by id: only there does Chroma say that their vectors are gone."""
    canary_ids = store.get(limit=_CANARY_ROWS, include=[])["ids"]
    if canary_ids and not store.similarity_search_by_vector(direction, k=len(canary_ids), ids=canary_ids):
        raise VectorIndexDamagedError("the vector index lists rows but finds none of them; rebuild it")
