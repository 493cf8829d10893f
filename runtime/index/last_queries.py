"""Vectors of the last queries, for a remark that several hear is embedded once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import Future

from runtime.index.embeddings import CheckedEmbeddings

MAX_QUERIES = 128
"""About 1.5 MB of vectors."""


class LastQueries:
    """Keeps the vectors of the last queries; safe to share between threads.

    Who asks for a query that is being embedded waits for that vector: eight characters who hear one remark cost one
    embedding.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._vectors: OrderedDict[tuple[str, str], Future[list[float]]] = OrderedDict()

    def vector(self, embeddings: CheckedEmbeddings, text: str) -> list[float]:
        """Return the vector of a query."""
        key = (embeddings.model_name, text)
        with self._lock:
            found = self._vectors.get(key)
            if found is None:
                coming = self._vectors[key] = Future()
                if len(self._vectors) > MAX_QUERIES:
                    self._vectors.popitem(last=False)
            else:
                self._vectors.move_to_end(key)
        if found is not None:
            return found.result()
        try:
            vector = embeddings.embed_query(text)
        except BaseException as error:
            with self._lock:
                if self._vectors.get(key) is coming:
                    del self._vectors[key]
            # Those who wait hear of it, too; nobody waits for ever.
            coming.set_exception(error)
            raise
        coming.set_result(vector)
        return vector
