"""Nearest rows of one collection, cut by position and id; runs only in the process of the index.

Measured on 20,000 rows: an unfiltered query takes 5 ms, a range filter 16 to 67, fetching everything
1,200. So a question first asks for a few rows more than it needs without a filter, and only where the
cut leaves too few is asked again with the range as a filter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from chromadb.errors import InternalError
from langchain_chroma import Chroma
from numpy.typing import NDArray

from novelgen.errors import VectorIndexDamagedError
from runtime.vectors.row_metadata import STORY_KEY, may_be_shown

IDS_PER_QUERY = 10_000
"""Above about 32,000 Chroma fails with "too many SQL variables"; longer lists are asked for in parts."""
_SPARE_ROWS = 10

Hit = dict[str, Any]


@dataclass(frozen=True, slots=True)
class QueryCut:
    """Which rows of a collection a question may return.

    Args:
        project_id: Project that every row must carry.
        top_k: Most rows to return per question.
        before_key: Story key that every row must lie below; None cuts nothing.
        chunk_ids: Ids among which to search; None means all.
    """

    project_id: str
    top_k: int
    before_key: int | None
    chunk_ids: tuple[str, ...] | None


def search(store: Chroma, vectors: NDArray[np.float32], cut: QueryCut) -> list[list[Hit]]:
    """Find the nearest rows for each question.

    Args:
        store: Collection of the project.
        vectors: Questions, shape (questions, dimension).
        cut: Which rows may be returned.

    Returns:
        Per question its rows, best first, ties by id.

    Raises:
        VectorIndexDamagedError: Rows are listed whose vectors are gone.
    """
    merged: list[list[Hit]] = [[] for _ in vectors]
    for part in _id_parts(cut.chunk_ids):
        known = part
        for question, vector in enumerate(vectors.tolist()):
            try:
                hits = _search_part(store, vector, cut=cut, chunk_ids=known)
            except InternalError as error:
                known = _ids_that_exist(store, known, error=error)
                hits = _search_part(store, vector, cut=cut, chunk_ids=known)
            merged[question].extend(hits)
    return [_best(hits, top_k=cut.top_k) for hits in merged]


def _id_parts(chunk_ids: tuple[str, ...] | None) -> Iterator[list[str] | None]:
    if chunk_ids is None:
        yield None
        return
    unique = list(dict.fromkeys(chunk_ids))
    for start in range(0, len(unique), IDS_PER_QUERY):
        yield unique[start : start + IDS_PER_QUERY]


def _search_part(
    store: Chroma, vector: list[float], *, cut: QueryCut, chunk_ids: list[str] | None
) -> list[Hit]:
    if chunk_ids is not None and not chunk_ids:
        return []
    wanted = cut.top_k * (1 if cut.before_key is None or chunk_ids is not None else 2) + _SPARE_ROWS
    raw = _ask(store, vector, wanted=wanted, chunk_ids=chunk_ids, where=None)
    hits = _admitted(raw, cut)
    if len(hits) >= cut.top_k or len(raw) < wanted:
        return hits
    where: dict[str, Any] = {"project_id": cut.project_id}
    if cut.before_key is not None:
        where = {STORY_KEY: {"$lt": cut.before_key}}
    return _admitted(_ask(store, vector, wanted=wanted, chunk_ids=chunk_ids, where=where), cut)


def _ask(
    store: Chroma,
    vector: list[float],
    *,
    wanted: int,
    chunk_ids: list[str] | None,
    where: dict[str, Any] | None,
) -> list[tuple[Any, float]]:
    # LangChain hands further keywords to the collection's query: `ids` restricts the search there.
    restriction: dict[str, Any] = {} if chunk_ids is None else {"ids": chunk_ids}
    return store.similarity_search_by_vector_with_relevance_scores(
        vector, k=wanted, filter=where, **restriction
    )


def _admitted(raw: Iterable[tuple[Any, float]], cut: QueryCut) -> list[Hit]:
    return [
        {
            "chunk_id": document.id,
            "metadata": document.metadata,
            "content": document.page_content,
            "similarity": max(-1.0, min(1.0, 1.0 - distance)),
        }
        for document, distance in raw
        if may_be_shown(document.metadata, project_id=cut.project_id, before_key=cut.before_key)
    ]


def _ids_that_exist(store: Chroma, chunk_ids: list[str] | None, *, error: InternalError) -> list[str]:
    """Chroma fails as a whole when one id is absent: leave those out, unless that is not the cause."""
    if chunk_ids is None:
        raise error
    existing = store.get(ids=chunk_ids, include=[])["ids"]
    if len(existing) == len(chunk_ids):
        raise VectorIndexDamagedError(
            f"the vector index lists rows whose vectors are gone ({error}); rebuild it"
        ) from error
    return existing


def _best(hits: list[Hit], *, top_k: int) -> list[Hit]:
    return sorted(hits, key=lambda hit: (-hit["similarity"], hit["chunk_id"]))[:top_k]
