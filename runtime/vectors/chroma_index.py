"""The operations of the index on Chroma, embedded or on a server; runs only in the process of the index."""

from __future__ import annotations

import shutil
import sqlite3
import uuid
from collections.abc import Callable
from contextlib import closing
from typing import Any, TypeVar

from chromadb.api import ClientAPI
from chromadb.errors import NotFoundError

from novelgen.errors import VectorIndexDamagedError, VectorIndexError
from runtime.vectors import collection_slots as slots
from runtime.vectors.chroma_client import ChromaConnection
from runtime.vectors.chroma_query import QueryCut, search
from runtime.vectors.collection_slots import ProjectCollection, ProjectKey, Stamp
from runtime.vectors.frames import Head, unpack_vectors
from runtime.vectors.locations import EmbeddedIndex, IndexLocation

_BATCH_ROWS = 1_000
_CANARY_ROWS = 32
_CACHED_COLLECTIONS = 1_000
_MAX_BYTES_PER_CHARACTER = 4

Answer = TypeVar("Answer")


class ChromaIndex:
    """Answers requests of `VectorStoreManager`; each request and reply is a JSON-ready dict.

    Args:
        location: Folder or server of the index.
    """

    def __init__(self, location: IndexLocation) -> None:
        self._connection = ChromaConnection(location)
        self._live: dict[ProjectKey, ProjectCollection] = {}
        self._live_client: ClientAPI | None = None
        self.operations: dict[str, Callable[[Head, bytes], Head]] = {
            "upsert": self._upsert,
            "delete": self._delete,
            "query": self._query,
            "ids": self._ids,
            "drop": self._drop,
            "build_begin": self._build_begin,
            "build_upsert": self._build_upsert,
            "build_ids": self._build_ids,
            "build_query": self._build_query,
            "build_commit": self._build_commit,
            "build_abort": self._build_abort,
        }

    def _upsert(self, request: Head, body: bytes) -> Head:
        asked = _asked_stamp(request)

        def write(live: ProjectCollection | None) -> Head:
            if live is None and request["must_exist"]:
                raise _lost(asked.project_id)
            target = live or slots.create_live(self._connection.client(), asked)
            target.stamp.require_same_vectors(asked)
            self._write_rows(target, request, body)
            return {}

        self._with_live(asked.key, write)
        if self._connection.marker is not None:
            self._connection.marker.add(asked.project_id)
        return {}

    def _delete(self, request: Head, body: bytes) -> Head:
        chunk_ids: list[str] = request["chunk_ids"]

        def delete(live: ProjectCollection | None) -> Head:
            if live is not None:
                for start in range(0, len(chunk_ids), _BATCH_ROWS):
                    live.store.delete(ids=chunk_ids[start : start + _BATCH_ROWS])
            return {}

        return self._with_live(_key(request), delete)

    def _query(self, request: Head, body: bytes) -> Head:
        return self._with_live(_key(request), lambda live: _search(live, request, body))

    def _ids(self, request: Head, body: bytes) -> Head:
        def read(live: ProjectCollection | None) -> Head:
            return {"ids": [] if live is None else live.store.get(include=[])["ids"]}

        return self._with_live(_key(request), read)

    def _drop(self, request: Head, body: bytes) -> Head:
        self._live.pop(_key(request), None)
        slots.delete_slots(self._connection.client(), _key(request), keep_live=False)
        if self._connection.marker is not None:
            self._connection.marker.remove(request["project_id"])
        return {"orphans_removed": self._remove_orphans()}

    def _build_begin(self, request: Head, body: bytes) -> Head:
        if self._connection.marker is not None:
            self._connection.marker.reset()
        built = slots.create_building(self._connection.client(), _asked_stamp(request))
        return {"generation": built.stamp.generation}

    def _build_upsert(self, request: Head, body: bytes) -> Head:
        self._write_rows(self._building(_key(request)), request, body)
        return {}

    def _build_ids(self, request: Head, body: bytes) -> Head:
        built = self._building(_key(request))
        _prove_vectors_stand(built)
        return {"ids": built.store.get(include=[])["ids"]}

    def _build_query(self, request: Head, body: bytes) -> Head:
        return _search(self._building(_key(request)), request, body)

    def _build_commit(self, request: Head, body: bytes) -> Head:
        key = _key(request)
        slots.make_live(self._connection.client(), self._building(key))
        self._live.pop(key, None)
        if self._connection.marker is not None:
            self._connection.marker.add(key.project_id)
        return {"orphans_removed": self._remove_orphans()}

    def _build_abort(self, request: Head, body: bytes) -> Head:
        slots.delete_slots(self._connection.client(), _key(request), keep_live=True)
        return {"orphans_removed": self._remove_orphans()}

    def _write_rows(self, target: ProjectCollection, request: Head, body: bytes) -> None:
        rows: list[dict[str, Any]] = request["rows"]
        self._connection.make_room(
            len(body) + sum(_MAX_BYTES_PER_CHARACTER * len(row["content"]) for row in rows)
        )
        # LangChain's own write embeds the text; given vectors go through Chroma's.
        target.collection.upsert(
            ids=[row["chunk_id"] for row in rows],
            embeddings=unpack_vectors(body, dimension=target.stamp.dimension),
            documents=[row["content"] for row in rows],
            metadatas=[row["metadata"] for row in rows],
        )

    def _building(self, key: ProjectKey) -> ProjectCollection:
        built = slots.find_building(self._connection.client(), key)
        if built is None:
            raise VectorIndexError(f"no rebuild of project {key.project_id!r} is under way; begin one")
        return built

    def _with_live(self, key: ProjectKey, use: Callable[[ProjectCollection | None], Answer]) -> Answer:
        """Use the live collection; look it up once more when another process has swapped it meanwhile."""
        try:
            return use(self._find_live(key))
        except NotFoundError:
            self._live.pop(key, None)
            return use(self._find_live(key))

    def _find_live(self, key: ProjectKey) -> ProjectCollection | None:
        client = self._connection.client()
        if client is not self._live_client:
            # Collections of an earlier client would go on reading from files that were replaced.
            self._live.clear()
            self._live_client = client
        if key in self._live:
            return self._live[key]
        live = slots.find_live(client, key)
        if live is None:
            self._refuse_lost_project(key.project_id)
            return None
        _prove_vectors_stand(live)
        if len(self._live) >= _CACHED_COLLECTIONS:
            self._live.clear()
        self._live[key] = live
        return live

    def _refuse_lost_project(self, project_id: str) -> None:
        marker = self._connection.marker
        if marker is not None and project_id in marker.projects():
            raise _lost(project_id)

    def _remove_orphans(self) -> int:
        """Remove vector folders that Chroma left behind when it deleted their collections."""
        location = self._connection.location
        if not isinstance(location, EmbeddedIndex):
            return 0
        address = (location.path / "chroma.sqlite3").as_uri() + "?mode=ro"
        with closing(sqlite3.connect(address, uri=True, timeout=1.0)) as database:
            used = {row[0] for row in database.execute("SELECT id FROM segments")}
        orphans = [
            folder
            for folder in location.path.iterdir()
            if folder.is_dir() and _is_uuid(folder.name) and folder.name not in used
        ]
        for folder in orphans:
            shutil.rmtree(folder)
        return len(orphans)


def _asked_stamp(request: Head) -> Stamp:
    return Stamp(
        project_id=request["project_id"],
        embedding_model=request["embedding_model"],
        dimension=request["dimension"],
        index_id=request["index_id"],
    )


def _key(request: Head) -> ProjectKey:
    return ProjectKey(request["project_id"], request["index_id"])


def _lost(project_id: str) -> VectorIndexDamagedError:
    return VectorIndexDamagedError(
        f"rows of project {project_id!r} were written to the vector index, but are gone, or this is another "
        "index; rebuild it"
    )


def _search(found: ProjectCollection | None, request: Head, body: bytes) -> Head:
    asked = _asked_stamp(request)
    vectors = unpack_vectors(body, dimension=asked.dimension)
    if found is None:
        if request["must_exist"]:
            raise _lost(asked.project_id)
        return {"hits": [[] for _ in vectors]}
    found.stamp.require_same_vectors(asked)
    chunk_ids = request["chunk_ids"]
    cut = QueryCut(
        project_id=asked.project_id,
        top_k=request["top_k"],
        before_key=request["before_key"],
        chunk_ids=None if chunk_ids is None else tuple(chunk_ids),
    )
    return {"hits": search(found, vectors, cut)}


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
