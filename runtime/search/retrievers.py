"""What is retrieved for a scene: by meaning, words, entities, threads, and of late; and how answers are kept."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from novelgen.deadlines import Deadline, call_with_deadline
from novelgen.errors import DatabaseError, DeadlineExceededError
from novelgen.lorebook import is_called
from novelgen.memory.search import (
    KEYWORD_RETRIEVER,
    LEXICAL_RETRIEVER,
    SEMANTIC_RETRIEVER,
    RetrieverHit,
    SearchQuery,
    SearchRequest,
    Vector,
)
from novelgen.models.memory import (
    CONTENT_TYPES,
    DISTILLED_TYPES,
    WHOLE_TEXT_TYPES,
    StoryMemoryChunk,
    is_entity_target,
    targets_of,
)
from novelgen.models.state import most_due
from runtime.index.rows import IndexHit, exact_search
from runtime.storage.records import MemoryFilter
from runtime.stores import MemoryStores

Told = TypeVar("Told")

PASSAGES_BESIDE_MEMORIES = 20
"""Where distilled memories are found, so many passages per query are enough: they would crowd them out."""
DUE_THREADS = 3
"""So many threads that wait longest and weigh most are looked up, whoever the scene is about."""

MAX_BEYOND_ENTITIES = 1_000
"""So many memories of a chapter or the book are looked at: most are only there because nothing else has them."""

_FACTS_BEFORE_PASSAGES = ([kind for kind in CONTENT_TYPES if kind not in WHOLE_TEXT_TYPES], list(WHOLE_TEXT_TYPES))


@dataclass(frozen=True)
class RetrieverAnswer:
    """What a retriever found, before the memories are read."""

    hits: Mapping[str, list[RetrieverHit]] = field(default_factory=dict)
    chunks: Mapping[str, StoryMemoryChunk] = field(default_factory=dict)
    linked: int | None = None


def ranked_answer(
    retriever: str, scored: Iterable[tuple[str, float]], query_index: int | None = None
) -> RetrieverAnswer:
    """Return the answer of one retriever to one query, from ids and scores in their order."""
    return RetrieverAnswer(
        hits={
            chunk_id: [RetrieverHit(retriever=retriever, query_index=query_index, rank=rank, score=score)]
            for rank, (chunk_id, score) in enumerate(scored, start=1)
        }
    )


def merged(answers: Iterable[RetrieverAnswer]) -> RetrieverAnswer:
    """Return all hits of all answers, per chunk in the order of the answers."""
    hits: dict[str, list[RetrieverHit]] = {}
    chunks: dict[str, StoryMemoryChunk] = {}
    for answer in answers:
        for chunk_id, found in answer.hits.items():
            hits.setdefault(chunk_id, []).extend(found)
        chunks.update(answer.chunks)
    return RetrieverAnswer(hits=hits, chunks=chunks)


def same_filters(request: SearchRequest, only: Collection[int] | None = None) -> list[tuple[MemoryFilter, list[int]]]:
    """Group a request's queries by their filter, in order of first use, as (filter, query indices)."""
    groups: dict[str, tuple[MemoryFilter, list[int]]] = {}
    for index, query in enumerate(request.queries):
        if only is not None and index not in only:
            continue
        memory_filter = MemoryFilter(
            as_of=request.as_of,
            entities=query.entities,
            content_types=[query.content_type] if query.content_type else [],
            tags=query.tags,
        )
        groups.setdefault(memory_filter.model_dump_json(), (memory_filter, []))[1].append(index)
    return list(groups.values())


def search_words(stores: MemoryStores, request: SearchRequest) -> RetrieverAnswer:
    """Search all queries by words, cut by position in SQL: names and rare words, whatever the embeddings think."""
    answers: list[RetrieverAnswer] = []
    with stores.database(request.project_id).read() as unit:
        for memory_filter, numbers in same_filters(request):
            matches = unit.lexical.match([request.queries[number].text for number in numbers], memory_filter)
            limit = request.candidates_per_query
            for kinds in [memory_filter.content_types] if memory_filter.content_types else _FACTS_BEFORE_PASSAGES:
                wanted = memory_filter.model_copy(update={"content_types": kinds})
                found = unit.lexical.best(matches, wanted, limit=limit)
                answers += [
                    ranked_answer(LEXICAL_RETRIEVER, ((hit.chunk_id, hit.score) for hit in hits), number)
                    for number, hits in zip(numbers, found, strict=True)
                ]
                if any(found):
                    limit = PASSAGES_BESIDE_MEMORIES
    return merged(answers)


def entity_memories(stores: MemoryStores, request: SearchRequest) -> RetrieverAnswer:
    """List the weightiest memories linked to any entity that the scene touches, or to a chapter or the book."""
    entity_ids = [each for each in request.entity_ids if is_entity_target(each)]
    beyond = [each for each in request.entity_ids if not is_entity_target(each)]
    with stores.database(request.project_id).read() as unit:
        of_entities = unit.memories.by_entities(
            entity_ids, as_of=request.as_of, content_types=DISTILLED_TYPES, limit=request.candidates_per_query
        )
        beside_entities = unit.memories.by_entities(
            beyond, as_of=request.as_of, content_types=DISTILLED_TYPES, limit=MAX_BEYOND_ENTITIES
        )
        everything = MemoryFilter(as_of=request.as_of, entities=entity_ids, content_types=list(DISTILLED_TYPES))
        counts = request.counts_linked and bool(entity_ids)
        linked = unit.memories.count(everything) if counts else None
    about = [chunk for chunk in beside_entities if not targets_of(chunk).isdisjoint(beyond)]
    listed = {chunk.chunk_id: chunk for chunk in [*of_entities, *about[: request.candidates_per_query]]}
    return replace(_listed_answer("entity", listed.values()), linked=linked)


def thread_memories(stores: MemoryStores, request: SearchRequest) -> RetrieverAnswer:
    """List the memories of the scenes that planted or moved an open thread of the scene's entities, or a due one."""
    touched = set(request.entity_ids)
    with stores.database(request.project_id).read() as unit:
        waiting = unit.threads.list_as_of(as_of=request.as_of)
        due = {thread.loop_id for thread in most_due(waiting, DUE_THREADS)}
        threads = [
            thread for thread in waiting if thread.loop_id in due or not touched.isdisjoint(thread.related_entities)
        ]
        places = {place for thread in threads for place in thread.scenes()}
        chunks = unit.memories.of_scenes(sorted(places), as_of=request.as_of, content_types=DISTILLED_TYPES)
    return _listed_answer("loop", chunks[: request.candidates_per_query])


def recent_memories(stores: MemoryStores, request: SearchRequest) -> RetrieverAnswer:
    """List the latest memories of high importance."""
    with stores.database(request.project_id).read() as unit:
        chunks = unit.memories.recent_high_signal(as_of=request.as_of)
    return _listed_answer("recent", chunks)


def called_notes(stores: MemoryStores, request: SearchRequest) -> RetrieverAnswer:
    """List the author's notes that are pinned, or whose key stands in what is asked."""
    asked = "\n".join(query.text for query in request.queries)
    with stores.database(request.project_id).read() as unit:
        notes = unit.memories.pinned_or_keyed_notes(as_of=request.as_of)
    called = [each for each in notes if each.tier == "pinned" or is_called(each.tags, asked)]
    return _listed_answer(KEYWORD_RETRIEVER, called[: request.candidates_per_query])


def _listed_answer(retriever: str, chunks: Iterable[StoryMemoryChunk]) -> RetrieverAnswer:
    """Return the answer of a retriever that lists memories in its own order, without a query."""
    listed = list(chunks)
    ranked = ranked_answer(retriever, ((chunk.chunk_id, 1.0 / rank) for rank, chunk in enumerate(listed, start=1)))
    return RetrieverAnswer(hits=ranked.hits, chunks={chunk.chunk_id: chunk for chunk in listed})


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
    stores: MemoryStores, request: SearchRequest, vectors: QueryVectors, *, must_exist: bool, deadline: Deadline
) -> RetrieverAnswer:
    """Ask Chroma, with the ids that SQL allows, or by position alone when SQL is down."""
    index = stores.vectors(request.project_id)
    groups = same_filters(request, vectors.keys())
    filters = [memory_filter for memory_filter, _ in groups]
    # The ids that each filter admits; None: any, for they are too many, or SQL does not say them in time.

    def read() -> list[list[str] | None]:
        with stores.database(request.project_id).read() as unit:
            found = [unit.memories.filtered_ids(each, limit=MAX_ID_LIST + 1) for each in filters]
        return [ids if len(ids) <= MAX_ID_LIST else None for ids in found]

    known = _told_in_time(read, stage="allowed-ids", deadline=deadline.share("allowed_ids")) or [None for _ in filters]
    answers: list[RetrieverAnswer] = []
    for (_, numbers), allowed in zip(groups, known, strict=True):
        found = index.query(
            request.project_id,
            _rows(vectors, numbers),
            top_k=request.candidates_per_query,
            as_of=request.as_of,
            chunk_ids=allowed,
            must_exist=must_exist,
            deadline=deadline,
        )
        for number, hits in zip(numbers, found, strict=True):
            ranked = ranked_answer(SEMANTIC_RETRIEVER, ((hit.chunk_id, hit.similarity) for hit in hits), number)
            answers.append(RetrieverAnswer(hits=ranked.hits, chunks={hit.chunk_id: _chunk_of(hit) for hit in hits}))
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


def _chunk_of(hit: IndexHit) -> StoryMemoryChunk:
    """Return the memory as far as the index knows it, for when SQL cannot be asked."""
    known = ("chunk_id", "project_id", "chapter_index", "scene_index", "content", "content_type", "source_id")
    return StoryMemoryChunk.model_validate({name: getattr(hit, name) for name in known})


def was_indexed(stores: MemoryStores, project_id: str, *, deadline: Deadline) -> bool | None:
    """Tell whether the index was ever given something of a project; None where SQL does not say so in time."""

    def read() -> bool:
        with stores.database(project_id).read() as unit:
            project = unit.projects.get()
            return project is not None and project.embedding_model is not None

    return _told_in_time(read, stage="was-indexed", deadline=deadline)


def _told_in_time(read: Callable[[], Told], *, stage: str, deadline: Deadline) -> Told | None:
    """Ask SQL; where it does not answer, the index must be asked by position alone and trusted."""
    try:
        return call_with_deadline(read, timeout_s=deadline.remaining_s, stage=stage)
    except (DatabaseError, DeadlineExceededError):
        # With the database down the index still answers by project and position; the outage itself is
        # reported where the memories are read.
        return None
