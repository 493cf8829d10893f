"""The index on Chroma, embedded or on a server: its operations; runs only in the process of the index.

A project has two names of collections, one of which is live. A rebuild fills the other and makes it live by one write
of its stamp, so that a reader finds the old or the new index, whole, whatever happens between. On a server the names
are of the project of one database, so that two databases never share a collection.
"""

import re
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeVar

import chromadb
import httpx
import numpy as np
from chromadb.api import ClientAPI
from chromadb.api.client import SharedSystemClient
from chromadb.api.collection_configuration import CreateHNSWConfiguration
from chromadb.api.models.Collection import Collection
from chromadb.config import Settings
from chromadb.errors import InternalError, NotFoundError
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from novelgen.errors import VectorIndexDamagedError, VectorIndexError
from runtime.index import locations
from runtime.index.rows import CANARY_HITS, STORY_KEY, IndexHit, QueryCut, decode_hit, may_be_shown, require_built

try:
    import resource
except ImportError:  # Windows has no limits of this kind
    resource = None  # type: ignore[assignment]

HNSW: CreateHNSWConfiguration = {"space": "cosine", "ef_construction": 200, "ef_search": 200}
"""Cosine must be asked for (the default is l2); the wider search costs a few ms and keeps recall."""

_VECTOR_FOLDER = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PREDECESSOR_WAIT_S = 5.0
_DELETED_AT_ONCE = 1_000
_READ_AT_ONCE = 10_000
"""Above about 32,000 ids Chroma fails with "too many SQL variables"."""
_SPARE_ROWS = 10
_CANARY_ROWS = 32
_CACHED_COLLECTIONS = 1_000
_MAX_BYTES_PER_CHARACTER = 4
_LIMIT_MARGIN = 2
"""Twice what a sound file can take: what stops at the limit is then found too long by the next look."""
_MAX_TIMES_WRITTEN = 32

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class ProjectCollection:
    """One collection, and what it says about itself."""

    stamp: locations.Stamp
    collection: Collection


class ChromaIndex:
    """Does what `VectorStoreManager` asks; the client is opened at its first use."""

    def __init__(self, location: locations.IndexLocation) -> None:
        self._location = location
        self._client: ClientAPI | None = None
        self._opened_file: tuple[int, int] | None = None
        self._process_lock: FileLock | None = None
        self._live: dict[locations.ProjectKey, ProjectCollection] = {}
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

    def _upsert(
        self, stamp: locations.Stamp, columns: dict[str, Any], *, must_exist: bool = False, is_rebuild: bool = False
    ) -> None:
        def write(found: ProjectCollection | None) -> None:
            target = found or self._create(stamp, beside=self._find(stamp.key, "building"))
            target.stamp.require_same_vectors(stamp)
            if isinstance(self._location, locations.EmbeddedIndex):
                texts_bytes = sum(_MAX_BYTES_PER_CHARACTER * len(text) for text in columns["documents"])
                _limit_files(self._location, written_bytes=columns["embeddings"].nbytes + texts_bytes)
            target.collection.upsert(**columns)

        if is_rebuild:
            write(self._building(stamp.key))
        else:
            self._with_live(stamp.key, write, must_exist=must_exist)

    def _delete(self, key: locations.ProjectKey, chunk_ids: Sequence[str]) -> None:
        def delete(live: ProjectCollection | None) -> None:
            if live is not None:
                for start in range(0, len(chunk_ids), _DELETED_AT_ONCE):
                    live.collection.delete(ids=list(chunk_ids[start : start + _DELETED_AT_ONCE]))

        self._with_live(key, delete)

    def _query(
        self, stamp: locations.Stamp, vectors: NDArray[np.float32], cut: QueryCut, *, must_exist: bool = False
    ) -> list[list[IndexHit]]:
        def ask(live: ProjectCollection | None) -> list[list[IndexHit]]:
            if live is None:
                return [[] for _ in vectors]
            live.stamp.require_same_vectors(stamp)
            return search(live, vectors, cut)

        return self._with_live(stamp.key, ask, must_exist=must_exist)

    def _ids(self, key: locations.ProjectKey) -> list[str]:
        return self._with_live(key, lambda live: [] if live is None else _ids_of(live))

    def _drop(self, key: locations.ProjectKey) -> None:
        self._live.pop(key, None)
        self._delete_collections(key.slot_names)

    def _build_begin(self, stamp: locations.Stamp) -> None:
        live = self._find(stamp.key, "live")
        # What an earlier rebuild left there goes.
        self._delete_collections([_free_name(stamp.key, beside=live)])
        generation = live.stamp.generation + 1 if live is not None else 1
        self._create(replace(stamp, generation=generation, state="building"), beside=live)

    def _build_commit(
        self, key: locations.ProjectKey, expected_ids: set[str], sample: Mapping[str, NDArray[np.float32]]
    ) -> None:
        """Swap, where the built collection holds just what is expected and finds it: the other is deleted."""
        built = self._building(key)
        vectors = np.array(list(sample.values()), dtype=np.float32)
        cut = QueryCut(key.project_id, CANARY_HITS)
        found = search(built, vectors, cut) if sample else []
        require_built(key.project_id, _ids_of(built), expected_ids, dict(zip(sample, found, strict=True)))
        built.collection.modify(metadata=asdict(replace(built.stamp, state="live")))
        self._live.pop(key, None)
        self._delete_collections([_free_name(key, beside=built)])

    def _build_abort(self, key: locations.ProjectKey) -> None:
        live = self._find(key, "live")
        self._delete_collections(name for name in key.slot_names if live is None or name != live.collection.name)

    # Collections

    def _with_live(
        self, key: locations.ProjectKey, use: Callable[[ProjectCollection | None], Answer], *, must_exist: bool = False
    ) -> Answer:
        """Use the live collection; look it up once more when another process has swapped it meanwhile."""
        try:
            return use(self._find_live(key, must_exist=must_exist))
        except NotFoundError:
            self._live.pop(key, None)
            return use(self._find_live(key, must_exist=must_exist))

    def _find_live(self, key: locations.ProjectKey, *, must_exist: bool) -> ProjectCollection | None:
        # A client whose files vanished under it has no live collections.
        self._opened()
        if key in self._live:
            return self._live[key]
        live = self._find(key, "live")
        if live is None:
            if must_exist:
                raise VectorIndexDamagedError(
                    f"rows of project {key.project_id!r} were written to the vector index, but are gone, or this is "
                    "another index; rebuild it"
                )
            return None
        _prove_vectors_stand(live)
        if len(self._live) >= _CACHED_COLLECTIONS:
            self._live.clear()
        self._live[key] = live
        return live

    def _building(self, key: locations.ProjectKey) -> ProjectCollection:
        built = self._find(key, "building")
        if built is None:
            raise VectorIndexError(f"no rebuild of project {key.project_id!r} is under way; begin one")
        return built

    def _find(self, key: locations.ProjectKey, state: Literal["live", "building"]) -> ProjectCollection | None:
        """Find the collection that answers for a project, of the greatest generation, or that a rebuild is filling."""
        found = (self._open(name) for name in key.slot_names)
        fitting = [each for each in found if each is not None and each.stamp.state == state]
        return max(fitting, key=lambda each: each.stamp.generation, default=None)

    def _open(self, name: str) -> ProjectCollection | None:
        client = self._opened()
        try:
            collection = client.get_collection(name, embedding_function=None)
        except NotFoundError:
            return None
        stamp = locations.Stamp.read(collection.metadata or {})
        return None if stamp is None else ProjectCollection(stamp, collection)

    def _create(self, stamp: locations.Stamp, *, beside: ProjectCollection | None) -> ProjectCollection:
        name = _free_name(stamp.key, beside=beside)
        self._opened().get_or_create_collection(
            name, metadata=asdict(stamp), configuration={"hnsw": HNSW}, embedding_function=None
        )
        created = self._open(name)
        if created is None:
            raise NotFoundError(f"collection {name!r} vanished or carries no stamp")
        return created

    def _delete_collections(self, names: Iterable[str]) -> None:
        """Delete collections, and the vector folders that Chroma leaves behind of them."""
        for name in names:
            try:
                self._opened().delete_collection(name)
            except NotFoundError:
                continue
        if not isinstance(self._location, locations.EmbeddedIndex):
            return
        address = (self._location.path / locations.DATABASE_FILE).as_uri() + "?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=1.0)) as database:
            used = {row[0] for row in database.execute("SELECT id FROM segments")}
        for folder in self._location.path.iterdir():
            if folder.is_dir() and _VECTOR_FOLDER.fullmatch(folder.name) and folder.name not in used:
                shutil.rmtree(folder)

    # The client

    def _opened(self) -> ClientAPI:
        """Return the open client; one whose files vanished under it is given up."""
        if self._client is None:
            self._client = (
                _open_server(self._location)
                if isinstance(self._location, locations.ChromaServer)
                else self._open_folder(self._location)
            )
        elif isinstance(self._location, locations.EmbeddedIndex) and _file_of(self._location) != self._opened_file:
            self._client = None
            # Collections of an earlier client would go on reading from files that were replaced.
            self._live.clear()
            raise VectorIndexDamagedError(
                f"the vector index {str(self._location)!r} was removed or replaced while open; rebuild it"
            )
        return self._client

    def _open_folder(self, index: locations.EmbeddedIndex) -> ClientAPI:
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

    def _wait_for_predecessor(self, index: locations.EmbeddedIndex) -> None:
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


def _open_server(server: locations.ChromaServer) -> ClientAPI:
    host, port, uses_tls = server.address
    try:
        return chromadb.HttpClient(
            host=host, port=port, ssl=uses_tls, headers=server.request_headers, settings=_settings()
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


def _file_of(index: locations.EmbeddedIndex) -> tuple[int, int] | None:
    """Return what tells the database of an index from another one in its place."""
    try:
        status = (index.path / locations.DATABASE_FILE).stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino)


def _limit_files(index: locations.EmbeddedIndex, *, written_bytes: int = 0) -> None:
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


def _free_name(key: locations.ProjectKey, *, beside: ProjectCollection | None) -> str:
    first, second = key.slot_names
    return second if beside is not None and beside.collection.name == first else first


def _ids_of(found: ProjectCollection) -> list[str]:
    return list(found.collection.get(include=[])["ids"])


def _prove_vectors_stand(found: ProjectCollection) -> None:
    """Ask for some listed rows by id: only there does Chroma say that their vectors are gone."""
    listed = found.collection.get(limit=_CANARY_ROWS, include=[])["ids"]
    if not listed:
        return
    direction = np.zeros((1, found.stamp.dimension), dtype=np.float32)
    direction[0, 0] = 1.0
    answer = found.collection.query(direction, n_results=len(listed), ids=listed, include=["documents"])
    if not answer["ids"][0]:
        raise VectorIndexDamagedError("the vector index lists rows but finds none of them; rebuild it")


def search(found: ProjectCollection, vectors: NDArray[np.float32], cut: QueryCut) -> list[list[IndexHit]]:
    """Find the nearest rows for each question, cut by position and id.

    Measured on 20,000 rows: an unfiltered query takes 5 ms, a range filter 16 to 67, fetching everything 1,200. So a
    question first asks for a few rows more than it needs without a filter, and only where the cut leaves too few is
    asked again with the range as a filter.
    """
    try:
        return _nearest(found.collection, vectors, cut)
    except InternalError as error:
        if cut.chunk_ids is None:
            raise
        # Chroma fails as a whole when one id is absent: leave those out, unless that is not the cause.
        existing = found.collection.get(ids=list(cut.chunk_ids), include=[])["ids"]
        if len(existing) == len(cut.chunk_ids):
            raise VectorIndexDamagedError(
                f"the vector index lists rows whose vectors are gone ({error}); rebuild it"
            ) from error
    return _nearest(found.collection, vectors, replace(cut, chunk_ids=tuple(existing)))


def _nearest(collection: Collection, vectors: NDArray[np.float32], cut: QueryCut) -> list[list[IndexHit]]:
    if cut.chunk_ids == ():
        return [[] for _ in vectors]
    wanted = cut.top_k * (1 if cut.before_key is None or cut.chunk_ids is not None else 2) + _SPARE_ROWS
    answers = _ask(collection, vectors, cut, wanted=wanted, where=None)
    short = [number for number, (hits, seen) in enumerate(answers) if len(hits) < cut.top_k and seen == wanted]
    if short:
        # By one key only: a second one costs as much again, and every row is checked anyway.
        where = {"project_id": cut.project_id} if cut.before_key is None else {STORY_KEY: {"$lt": cut.before_key}}
        again = _ask(collection, vectors[short], cut, wanted=wanted, where=where)
        for number, answer in zip(short, again, strict=True):
            answers[number] = answer
    return [sorted(hits, key=lambda hit: (-hit.similarity, hit.chunk_id))[: cut.top_k] for hits, _ in answers]


def _ask(
    collection: Collection, vectors: NDArray[np.float32], cut: QueryCut, *, wanted: int, where: dict[str, Any] | None
) -> list[tuple[list[IndexHit], int]]:
    """Return for each question what may be shown of the rows that Chroma found, and how many those were."""
    # Of a row that several questions find, Chroma would read the metadata for each: dearer than the search itself.
    ids = None if cut.chunk_ids is None else list(cut.chunk_ids)
    answer: Any = collection.query(
        query_embeddings=vectors, n_results=wanted, ids=ids, where=where, include=["distances"]
    )
    found = sorted({chunk_id for each in answer["ids"] for chunk_id in each})
    rows: dict[str, tuple[Mapping[str, Any], str | None]] = {}
    for start in range(0, len(found), _READ_AT_ONCE):
        read: Any = collection.get(ids=found[start : start + _READ_AT_ONCE], include=["metadatas", "documents"])
        for chunk_id, metadata, content in zip(read["ids"], read["metadatas"], read["documents"], strict=True):
            rows[chunk_id] = (metadata or {}, content)

    def hits(ids: Sequence[str], distances: Sequence[float]) -> list[IndexHit]:
        return [
            decode_hit(chunk_id, content, metadata, similarity=1.0 - distance)
            for chunk_id, distance in zip(ids, distances, strict=True)
            # Of a row that is gone by now there is neither.
            for metadata, content in [rows.get(chunk_id, ({}, None))]
            if isinstance(content, str) and may_be_shown(metadata, cut)
        ]

    return [(hits(*each), len(each[0])) for each in zip(answer["ids"], answer["distances"], strict=True)]
