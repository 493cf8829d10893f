"""The two collections between which a project's index swaps, and asking one; runs only in the process of the index.

A project has two names, one of which is live. A rebuild fills the other and makes it live by one write of its stamp,
so that a reader finds the old or the new index, whole, whatever happens between. On a server the names are of the
project of one database, so that two databases never share a collection.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from chromadb.api import ClientAPI
from chromadb.api.collection_configuration import CreateHNSWConfiguration
from chromadb.api.models.Collection import Collection
from chromadb.errors import InternalError, NotFoundError
from langchain_chroma import Chroma
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from novelgen.errors import VectorIndexDamagedError
from runtime.index.locations import ProjectKey, Stamp
from runtime.index.rows import STORY_KEY, IndexHit, QueryCut, decode_hit, may_be_shown

HNSW: CreateHNSWConfiguration = {"space": "cosine", "ef_construction": 200, "ef_search": 200}
"""Cosine must be asked for (the default is l2); the wider search costs a few ms and keeps recall."""


@dataclass(frozen=True, slots=True)
class ProjectCollection:
    """One collection: LangChain's store, and Chroma's own handle for given vectors and several questions."""

    stamp: Stamp
    store: Chroma
    collection: Collection


class RefusingEmbeddings(Embeddings):
    """Stands where LangChain wants a model: vectors are always given, text is never embedded here."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Refuse."""
        raise NotImplementedError("the index embeds no text; pass vectors")

    def embed_query(self, text: str) -> list[float]:
        """Refuse."""
        raise NotImplementedError("the index embeds no text; pass a vector")


def find_live(client: ClientAPI, key: ProjectKey) -> ProjectCollection | None:
    """Find the live collection of the greatest generation, which answers for a project; None when there is none."""
    live = [slot for slot in _stamped(client, key) if slot.stamp.state == "live"]
    return max(live, key=lambda slot: slot.stamp.generation, default=None)


def find_building(client: ClientAPI, key: ProjectKey) -> ProjectCollection | None:
    """Find the collection that a rebuild of the project is filling, None when there is none."""
    return next((slot for slot in _stamped(client, key) if slot.stamp.state == "building"), None)


def create_live(client: ClientAPI, stamp: Stamp) -> ProjectCollection:
    """Create the first collection of a project, live from the start, beside an unfinished rebuild."""
    return _create(client, _free_name(stamp.key, beside=find_building(client, stamp.key)), stamp)


def create_building(client: ClientAPI, stamp: Stamp) -> ProjectCollection:
    """Create an empty collection beside the live one; what an earlier rebuild left there is removed."""
    live = find_live(client, stamp.key)
    name = _free_name(stamp.key, beside=live)
    _delete(client, name)
    generation = live.stamp.generation + 1 if live is not None else 1
    return _create(client, name, replace(stamp, generation=generation, state="building"))


def make_live(client: ClientAPI, built: ProjectCollection) -> None:
    """Swap: the built collection answers from now on, the other is deleted."""
    built.collection.modify(metadata=asdict(replace(built.stamp, state="live")))
    _delete(client, _free_name(built.stamp.key, beside=built))


def delete_slots(client: ClientAPI, key: ProjectKey, *, keep_live: bool) -> None:
    """Delete what is stored of a project: everything, or only what a rebuild left unfinished."""
    live = find_live(client, key) if keep_live else None
    for name in key.slot_names:
        if live is None or name != live.collection.name:
            _delete(client, name)


def _free_name(key: ProjectKey, *, beside: ProjectCollection | None) -> str:
    first, second = key.slot_names
    return second if beside is not None and beside.collection.name == first else first


def _stamped(client: ClientAPI, key: ProjectKey) -> list[ProjectCollection]:
    found = (_open(client, name) for name in key.slot_names)
    return [slot for slot in found if slot is not None]


def _open(client: ClientAPI, name: str) -> ProjectCollection | None:
    try:
        collection = client.get_collection(name, embedding_function=None)
        store = Chroma(
            collection_name=name,
            client=client,
            embedding_function=RefusingEmbeddings(),
            create_collection_if_not_exists=False,
        )
    except NotFoundError:
        return None
    stamp = _read_stamp(collection.metadata or {})
    return None if stamp is None else ProjectCollection(stamp=stamp, store=store, collection=collection)


def _create(client: ClientAPI, name: str, stamp: Stamp) -> ProjectCollection:
    client.get_or_create_collection(name, metadata=asdict(stamp), configuration={"hnsw": HNSW}, embedding_function=None)
    created = _open(client, name)
    if created is None:
        raise NotFoundError(f"collection {name!r} vanished or carries no stamp")
    return created


def _delete(client: ClientAPI, name: str) -> None:
    try:
        client.delete_collection(name)
    except NotFoundError:
        return


def _read_stamp(metadata: Mapping[str, Any]) -> Stamp | None:
    known = {"index_id": "", **metadata}
    try:
        return Stamp(**{key: known[key] for key in Stamp.__dataclass_fields__})
    except KeyError:
        return None


IDS_PER_QUERY = 10_000
"""Above about 32,000 Chroma fails with "too many SQL variables"; longer lists are asked for in parts."""
_SPARE_ROWS = 10


class _Found(NamedTuple):
    """A row that Chroma returned, not yet judged."""

    chunk_id: str
    similarity: float
    metadata: Mapping[str, Any]
    content: str | None


def search(found: ProjectCollection, vectors: NDArray[np.float32], cut: QueryCut) -> list[list[IndexHit]]:
    """Find the nearest rows for each question, cut by position and id.

    Measured on 20,000 rows: an unfiltered query takes 5 ms, a range filter 16 to 67, fetching everything 1,200. So a
    question first asks for a few rows more than it needs without a filter, and only where the cut leaves too few is
    asked again with the range as a filter.
    """
    merged: list[list[IndexHit]] = [[] for _ in vectors]
    for chunk_ids in _id_parts(cut.chunk_ids):
        for hits, more in zip(merged, _search_part(found, vectors, cut, chunk_ids), strict=True):
            hits.extend(more)
    return [sorted(hits, key=lambda hit: (-hit.similarity, hit.chunk_id))[: cut.top_k] for hits in merged]


def _id_parts(chunk_ids: tuple[str, ...] | None) -> Iterator[list[str] | None]:
    if chunk_ids is None:
        yield None
        return
    unique = list(dict.fromkeys(chunk_ids))
    for start in range(0, len(unique), IDS_PER_QUERY):
        yield unique[start : start + IDS_PER_QUERY]


def _search_part(
    found: ProjectCollection, vectors: NDArray[np.float32], cut: QueryCut, chunk_ids: list[str] | None
) -> list[list[IndexHit]]:
    try:
        return _search_ids(found.collection, vectors, cut, chunk_ids)
    except InternalError as error:
        if chunk_ids is None:
            raise
        # Chroma fails as a whole when one id is absent: leave those out, unless that is not the cause.
        existing = found.store.get(ids=chunk_ids, include=[])["ids"]
        if len(existing) == len(chunk_ids):
            raise VectorIndexDamagedError(
                f"the vector index lists rows whose vectors are gone ({error}); rebuild it"
            ) from error
    return _search_ids(found.collection, vectors, cut, existing)


def _search_ids(
    collection: Collection, vectors: NDArray[np.float32], cut: QueryCut, chunk_ids: list[str] | None
) -> list[list[IndexHit]]:
    if chunk_ids is not None and not chunk_ids:
        return [[] for _ in vectors]
    wanted = cut.top_k * (1 if cut.before_key is None or chunk_ids is not None else 2) + _SPARE_ROWS
    raw = _ask(collection, vectors, wanted=wanted, chunk_ids=chunk_ids, where=None)
    answers = [_admitted(rows, cut) for rows in raw]
    short = [
        question for question, hits in enumerate(answers) if len(hits) < cut.top_k and len(raw[question]) == wanted
    ]
    if short:
        again = _ask(collection, vectors[short], wanted=wanted, chunk_ids=chunk_ids, where=_filter(cut))
        for question, rows in zip(short, again, strict=True):
            answers[question] = _admitted(rows, cut)
    return answers


def _filter(cut: QueryCut) -> dict[str, Any]:
    """Filter by one key only: a second one costs as much again, and every row is checked anyway."""
    if cut.before_key is None:
        return {"project_id": cut.project_id}
    return {STORY_KEY: {"$lt": cut.before_key}}


def _ask(
    collection: Collection,
    vectors: NDArray[np.float32],
    *,
    wanted: int,
    chunk_ids: list[str] | None,
    where: dict[str, Any] | None,
) -> list[list[_Found]]:
    # LangChain asks one question at a time (three times slower for six, measured); Chroma takes them together.
    # Of a row that several questions find, it would read the metadata for each: dearer than the search itself.
    answer: Any = collection.query(
        query_embeddings=vectors, n_results=wanted, ids=chunk_ids, where=where, include=["distances"]
    )
    rows = _contents(collection, sorted({chunk_id for found in answer["ids"] for chunk_id in found}))
    # Of a row that is gone by now there is neither.
    return [
        [
            _Found(chunk_id, 1.0 - distance, *rows.get(chunk_id, ({}, None)))
            for chunk_id, distance in zip(*found, strict=True)
        ]
        for found in zip(answer["ids"], answer["distances"], strict=True)
    ]


def _contents(collection: Collection, chunk_ids: list[str]) -> dict[str, tuple[Mapping[str, Any], str | None]]:
    rows: dict[str, tuple[Mapping[str, Any], str | None]] = {}
    for start in range(0, len(chunk_ids), IDS_PER_QUERY):
        read: Any = collection.get(ids=chunk_ids[start : start + IDS_PER_QUERY], include=["metadatas", "documents"])
        for chunk_id, metadata, content in zip(read["ids"], read["metadatas"], read["documents"], strict=True):
            rows[chunk_id] = (metadata or {}, content)
    return rows


def _admitted(rows: list[_Found], cut: QueryCut) -> list[IndexHit]:
    return [
        decode_hit(row.chunk_id, row.content, row.metadata, similarity=row.similarity)
        for row in rows
        if isinstance(row.content, str)
        and may_be_shown(row.metadata, project_id=cut.project_id, before_key=cut.before_key)
    ]
