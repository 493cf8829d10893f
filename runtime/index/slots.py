"""The two collections between which a project's index swaps; runs only in the process of the index.

A project has two names, one of which is live. A rebuild fills the other and makes it live by one write of its stamp,
so that a reader finds the old or the new index, whole, whatever happens between. On a server the names are of the
project of one database, so that two databases never share a collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from chromadb.api import ClientAPI
from chromadb.api.collection_configuration import CreateHNSWConfiguration
from chromadb.api.models.Collection import Collection
from chromadb.errors import NotFoundError
from langchain_chroma import Chroma
from langchain_core.embeddings import Embeddings

from runtime.index.locations import ProjectKey, Stamp

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
