"""The two collections between which a project's index swaps; runs only in the process of the index.

A project has two names, one of which is live. A rebuild fills the other and makes it live by one
write of its stamp, so that a reader finds the old or the new index, whole, whatever happens between.
On a server the names are of the project of one database, so that two databases never share a collection.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from chromadb.api import ClientAPI
from chromadb.api.collection_configuration import CreateHNSWConfiguration
from chromadb.api.models.Collection import Collection
from chromadb.errors import NotFoundError
from langchain_chroma import Chroma
from langchain_core.embeddings import Embeddings

from novelgen.errors import EmbeddingMismatchError

INDEX_SCHEMA_VERSION = 1
HNSW: CreateHNSWConfiguration = {"space": "cosine", "ef_construction": 200, "ef_search": 200}
"""Cosine must be asked for (the default is l2); the wider search costs a few ms and keeps recall."""


@dataclass(frozen=True, slots=True)
class ProjectKey:
    """Which project an index is of, also among those of several databases that have the same id.

    Args:
        project_id: Id of the project.
        index_id: Tells the project's index on a server from those of other databases; empty for an embedded one.
    """

    project_id: str
    index_id: str = ""

    @property
    def slot_names(self) -> tuple[str, str]:
        """Names of both collections, in ASCII whatever the script of the id."""
        # A project id holds no slash.
        whole = f"{self.index_id}/{self.project_id}" if self.index_id else self.project_id
        digest = hashlib.sha256(whole.encode("utf-8")).hexdigest()[:40]
        return f"novelgen-{digest}-a", f"novelgen-{digest}-b"


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a collection says about itself.

    Args:
        project_id: Project whose rows it holds.
        embedding_model: Name of the model that made the vectors.
        dimension: Length of every vector.
        generation: Number of the rebuild that made it; of two live collections the greater counts.
        state: `building` until a rebuild was verified, then `live`.
        schema_version: Layout of rows and metadata.
        index_id: As in `ProjectKey`; stamps of before have none.
    """

    project_id: str
    embedding_model: str
    dimension: int
    generation: int = 1
    state: Literal["building", "live"] = "live"
    schema_version: int = INDEX_SCHEMA_VERSION
    index_id: str = ""

    @property
    def key(self) -> ProjectKey:
        """Which project the collection is of."""
        return ProjectKey(self.project_id, self.index_id)

    def require_same_vectors(self, other: Stamp) -> None:
        """Refuse to mix vectors of two models, dimensions or layouts.

        Raises:
            EmbeddingMismatchError: They differ; the message names both.
        """
        mine = (self.embedding_model, self.dimension, self.schema_version)
        theirs = (other.embedding_model, other.dimension, other.schema_version)
        if mine != theirs:
            raise EmbeddingMismatchError(
                f"the index of project {self.project_id!r} was built with (model, dimension, schema) "
                f"{mine!r}, but {theirs!r} is configured; run `novelgen reindex`"
            )


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
    """Find the collection that answers for a project.

    Returns:
        The live collection of the greatest generation, None when there is none.
    """
    found = [_open(client, name) for name in key.slot_names]
    live = [slot for slot in found if slot is not None and slot.stamp.state == "live"]
    return max(live, key=lambda slot: slot.stamp.generation, default=None)


def find_building(client: ClientAPI, key: ProjectKey) -> ProjectCollection | None:
    """Find the collection that a rebuild of the project is filling, None when there is none."""
    found = [_open(client, name) for name in key.slot_names]
    return next((slot for slot in found if slot is not None and slot.stamp.state == "building"), None)


def create_live(client: ClientAPI, stamp: Stamp) -> ProjectCollection:
    """Create the first collection of a project, live from the start, beside an unfinished rebuild."""
    building = find_building(client, stamp.key)
    first, second = stamp.key.slot_names
    taken = building is not None and building.collection.name == first
    return _create(client, second if taken else first, stamp)


def create_building(client: ClientAPI, stamp: Stamp) -> ProjectCollection:
    """Create an empty collection beside the live one; what an earlier rebuild left there is removed."""
    live = find_live(client, stamp.key)
    first, second = stamp.key.slot_names
    name = second if live is not None and live.collection.name == first else first
    _delete(client, name)
    generation = live.stamp.generation + 1 if live is not None else 1
    return _create(client, name, replace(stamp, generation=generation, state="building"))


def make_live(client: ClientAPI, built: ProjectCollection) -> None:
    """Swap: the built collection answers from now on, the other is deleted."""
    built.collection.modify(metadata=asdict(replace(built.stamp, state="live")))
    for name in built.stamp.key.slot_names:
        if name != built.collection.name:
            _delete(client, name)


def delete_slots(client: ClientAPI, key: ProjectKey, *, keep_live: bool) -> None:
    """Delete what is stored of a project: everything, or only what a rebuild left unfinished."""
    live = find_live(client, key) if keep_live else None
    for name in key.slot_names:
        if live is None or name != live.collection.name:
            _delete(client, name)


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
    client.get_or_create_collection(
        name, metadata=asdict(stamp), configuration={"hnsw": HNSW}, embedding_function=None
    )
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
