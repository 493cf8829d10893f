"""The adapter that makes a `VectorIndex` of LangChain's `VectorStore`.

The vectors are made and kept elsewhere. A store embeds texts by itself, so it gets embeddings that hand out the
prepared vectors. Neither scores nor filters of stores are portable: the nearest documents are asked for, and who asks
settles order and cut.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from numpy.typing import NDArray

from novelgen.errors import VectorIndexError, VectorIndexGoneError
from novelgen.model_calls.model_answer import described
from runtime.index.rows import IndexColumns, IndexHit, store_id
from runtime.index.vector_index import Collection

VectorStoreFactory = Callable[[str, Embeddings], VectorStore]
"""Opens the collection of a name, or makes it, over embeddings that the store must use."""

IDS_AT_ONCE = 1_000
"""Chroma fails above about 32,000 ids with "too many SQL variables"; other stores have limits of their own."""

Item = TypeVar("Item")


class PreparedEmbeddings(Embeddings):
    """Embeddings that hand out vectors made before, in the order of their texts."""

    def __init__(self, dimension: int) -> None:
        self._direction = [1.0, *[0.0] * (dimension - 1)]
        self._pending: deque[tuple[str, list[float]]] = deque()

    @contextmanager
    def handing_out(self, texts: Sequence[str], vectors: NDArray[np.float32]) -> Iterator[None]:
        """Let `embed_documents` return these vectors for these texts."""
        self._pending = deque(zip(texts, vectors.tolist(), strict=True))
        try:
            yield
            if self._pending:
                raise VectorIndexError(f"the vector store left {len(self._pending)} texts without a vector")
        finally:
            self._pending.clear()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the prepared vectors, or any vector for a length probe."""
        return [self._next(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Return some vector of the right length, for a store that asks for it when it is opened."""
        return list(self._direction)

    def _next(self, text: str) -> list[float]:
        if not self._pending:
            return list(self._direction)
        expected_text, vector = self._pending.popleft()
        if text != expected_text:
            raise VectorIndexError("the vector store embeds other texts than it was given, and cannot be used")
        return vector


class LangChainIndex:
    """A `VectorIndex` over one LangChain vector store.

    It needs `add_texts` with ids, `similarity_search_by_vector`, `get_by_ids` and `delete`.
    """

    def __init__(self, factory: VectorStoreFactory, collection: Collection) -> None:
        self._name = collection.name
        self._embeddings = PreparedEmbeddings(collection.dimension)
        store: object = factory(collection.name, self._embeddings)
        if not isinstance(store, VectorStore):
            raise VectorIndexError(f"the vector store factory returned {type(store).__name__}, not a VectorStore")
        self.store: Any = store
        self._holds_rows = False

    def add(self, columns: IndexColumns, *, must_hold_rows: bool = False) -> None:
        """See `VectorIndex`."""
        if must_hold_rows and not self._holds_rows:
            self.query(np.asarray([self._embeddings.embed_query("")], np.float32), 1, must_hold_rows=True)
        with self._embeddings.handing_out(columns.texts, columns.vectors):
            self.store.add_texts(columns.texts, metadatas=columns.metadatas, ids=self._store_ids(columns.chunk_ids))
        self._holds_rows = True

    def delete(self, chunk_ids: Sequence[str]) -> None:
        """See `VectorIndex`."""
        # Some stores refuse ids that are absent.
        for existing in batches(sorted(self._stored(chunk_ids))):
            self.store.delete(self._store_ids(existing))

    def query(self, vectors: NDArray[np.float32], top_k: int, *, must_hold_rows: bool = False) -> list[list[IndexHit]]:
        """See `VectorIndex`."""
        results = self._nearest_documents(vectors, top_k)
        if must_hold_rows and not any(results):
            raise VectorIndexGoneError(
                "rows were written to the vector index, but are gone, or this is another index; rebuild it"
            )
        self._holds_rows |= any(map(bool, results))
        # One object for a document that several questions find: hits cross the border of a process.
        hits: dict[str | int, IndexHit] = {}
        return [
            [
                hits.setdefault(document.id or id(document), IndexHit(document.page_content, document.metadata))
                for document in documents
            ]
            for documents in results
        ]

    def _nearest_documents(self, vectors: NDArray[np.float32], top_k: int) -> list[list[Document]]:
        return [self.store.similarity_search_by_vector(vector, k=top_k) for vector in vectors.tolist()]

    def ids(self, chunk_ids: Sequence[str]) -> set[str]:
        """See `VectorIndex`."""
        # Of the stores at hand Chroma alone lists its ids.
        list_ids = getattr(self.store, "get", None)
        if list_ids is None:
            return self._stored(chunk_ids)
        chunk_ids_by_store_id = dict(zip(self._store_ids(chunk_ids), chunk_ids, strict=True))
        return {chunk_ids_by_store_id.get(listed_id, listed_id) for listed_id in list_ids(include=[])["ids"]}

    def drop(self, chunk_ids: Sequence[str]) -> None:
        """See `VectorIndex`."""
        delete_collection = getattr(self.store, "delete_collection", None)
        if delete_collection is not None:
            delete_collection()
        else:
            self.delete(chunk_ids)
        self._holds_rows = False

    def _stored(self, chunk_ids: Sequence[str]) -> set[str]:
        """Return which of the chunks are stored, by their metadata: not every store gives the ids of documents back."""
        document_lists = map(self.store.get_by_ids, batches(self._store_ids(chunk_ids)))
        return {IndexHit("", document.metadata).chunk_id for documents in document_lists for document in documents}

    def _store_ids(self, chunk_ids: Sequence[str]) -> list[str]:
        return [store_id(self._name, chunk_id) for chunk_id in chunk_ids]


class Collections:
    """Opens collections by one factory as they are asked for, and does operations of `VectorIndex` on them."""

    def __init__(self, factory: VectorStoreFactory) -> None:
        self._factory = factory
        self._opened: dict[Collection, LangChainIndex] = {}

    def do(self, operation: str, collection: Collection, **arguments: Any) -> Any:
        """Do one operation on a collection.

        Raises:
            VectorIndexError: When rows are gone, or the store is none.
            Exception: Whatever the store raises.
        """
        try:
            return getattr(self.opened(collection), operation)(**arguments)
        finally:
            if operation == "drop":
                self.forget(collection)

    def opened(self, collection: Collection) -> LangChainIndex:
        """Return the index of a collection, opened at the first call."""
        index = self._opened.get(collection)
        if index is None:
            index = self._opened[collection] = self._index_of(collection)
        return index

    def _index_of(self, collection: Collection) -> LangChainIndex:
        return LangChainIndex(self._factory, collection)

    def index_error(self, error: Exception) -> VectorIndexError:
        """Translate a failure of the store into an error of the index."""
        return VectorIndexError(f"the vector store failed: {described(error)}")

    def forget(self, *collections: Collection) -> None:
        """Reopen these collections next time, by default all."""
        for collection in collections or tuple(self._opened):
            self._opened.pop(collection, None)


def batches(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Yield as many items as a store takes at once."""
    for start in range(0, len(items), IDS_AT_ONCE):
        yield list(items[start : start + IDS_AT_ONCE])
