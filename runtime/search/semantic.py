"""The semantic retriever: Chroma first, exact search over the embeddings in SQL when Chroma fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from novelgen.deadlines import Deadline, call_with_deadline
from novelgen.errors import DatabaseError, DeadlineExceededError
from novelgen.memory.search import SEMANTIC_RETRIEVER, SearchQuery, SearchRequest, Vector
from novelgen.models.memory import StoryMemoryChunk
from runtime.index.rows import IndexHit, exact_search
from runtime.search.retrievers import RetrieverAnswer, merged, ranked_answer, same_filters
from runtime.storage.records import MemoryFilter
from runtime.stores import MemoryStores

# Up to so many ids go to Chroma; beyond, it searches everything and is cut by position afterwards (measured:
# an id list costs less than a range filter up to some thousands, more beyond).
MAX_ID_LIST = 5_000

QueryVectors = Mapping[int, Vector]
"""Embedding by index of the query, for those that are asked by meaning."""


def query_vectors(stores: MemoryStores, queries: Sequence[SearchQuery]) -> QueryVectors:
    """Embed the queries that say more than names, in one batch; all where none says more.

    Words and links find names better, and embedding a query is the dearest step of a search. Measured on both
    books, without those of names the choice is as good at half the embeddings.
    """
    telling = [index for index, query in enumerate(queries) if not query.is_names_only]
    asked = telling or list(range(len(queries)))
    vectors = stores.embeddings.embed_queries([queries[index].text for index in asked])
    return dict(zip(asked, np.asarray(vectors, dtype=np.float32), strict=True))


def search_index(
    stores: MemoryStores, request: SearchRequest, vectors: QueryVectors, *, deadline: Deadline
) -> RetrieverAnswer:
    """Ask Chroma, with the ids that SQL allows, or by position alone when SQL is down."""
    index = stores.vectors(request.project_id)
    groups = same_filters(request, vectors.keys())
    known = _known_in_time(stores, request.project_id, groups, deadline=deadline.share("allowed_ids"))
    answers: list[RetrieverAnswer] = []
    for (_, numbers), allowed in zip(groups, known.allowed_ids, strict=True):
        found = index.query(
            request.project_id,
            _rows(vectors, numbers),
            top_k=request.candidates_per_query,
            as_of=request.as_of,
            chunk_ids=allowed,
            must_exist=known.was_indexed,
            deadline=deadline,
        )
        for number, hits in zip(numbers, found, strict=True):
            ranked = ranked_answer(SEMANTIC_RETRIEVER, ((hit.chunk_id, hit.similarity) for hit in hits), number)
            answers.append(RetrieverAnswer(hits=ranked.hits, chunks={hit.chunk_id: chunk_of_hit(hit) for hit in hits}))
    return merged(answers)


def search_exactly(stores: MemoryStores, request: SearchRequest, vectors: QueryVectors) -> RetrieverAnswer:
    """Search the embeddings kept in SQL, exactly; fallback and oracle of the index."""
    database = stores.database(request.project_id)
    answers: list[RetrieverAnswer] = []
    for memory_filter, numbers in same_filters(request, vectors.keys()):
        is_narrow = memory_filter != MemoryFilter(as_of=request.as_of)
        with database.read() as unit:
            ids = unit.memories.filtered_ids(memory_filter) if is_narrow else None
            names, matrix = unit.embeddings.matrix(stores.embeddings.model_name, as_of=request.as_of, ids=ids)
        if not names:
            continue
        found = exact_search(matrix, names, query_vectors=_rows(vectors, numbers), top_k=request.candidates_per_query)
        answers += [
            ranked_answer(SEMANTIC_RETRIEVER, ((name, float(score)) for name, score in hits), number)
            for number, hits in zip(numbers, found, strict=True)
        ]
    return merged(answers)


def _rows(vectors: QueryVectors, numbers: Sequence[int]) -> NDArray[np.float32]:
    return np.stack([vectors[number] for number in numbers])


def chunk_of_hit(hit: IndexHit) -> StoryMemoryChunk:
    """Return the memory as far as the index knows it, for when SQL cannot be asked."""
    return StoryMemoryChunk.model_validate(
        {
            "chunk_id": hit.chunk_id,
            "project_id": hit.project_id,
            "chapter_index": hit.chapter_index,
            "scene_index": hit.scene_index,
            "content": hit.content,
            "content_type": hit.content_type,
            "source_id": hit.source_id,
        }
    )


@dataclass(frozen=True)
class _KnownInSql:
    """What SQL says of an index: the ids that each group may find (None: any), and whether rows were written."""

    allowed_ids: list[list[str] | None]
    was_indexed: bool


def _known_in_time(
    stores: MemoryStores, project_id: str, groups: Sequence[tuple[MemoryFilter, list[int]]], *, deadline: Deadline
) -> _KnownInSql:
    """Ask SQL; where it does not answer, the index must be asked by position alone and trusted."""
    read = partial(_known, stores, project_id, [memory_filter for memory_filter, _ in groups])
    try:
        return call_with_deadline(read, timeout_s=deadline.remaining_s, stage="allowed-ids")
    except (DatabaseError, DeadlineExceededError):
        # With the database down the index still answers by project and position; the outage itself is
        # reported where the memories are read.
        return _KnownInSql([None for _ in groups], was_indexed=False)


def _known(stores: MemoryStores, project_id: str, filters: Sequence[MemoryFilter]) -> _KnownInSql:
    with stores.database(project_id).read() as unit:
        found = [unit.memories.filtered_ids(each, limit=MAX_ID_LIST + 1) for each in filters]
        was_indexed = unit.projects.require().embedding_model is not None
    return _KnownInSql([ids if len(ids) <= MAX_ID_LIST else None for ids in found], was_indexed)
