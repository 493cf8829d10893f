"""Searching a story's memory: all retrievers side by side for a planned scene, and one query's answer in order."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray

from novelgen.deadlines import Deadline, call_with_deadline, run_concurrently
from novelgen.errors import (
    DatabaseError,
    DeadlineExceededError,
    NovelgenError,
    SchemaVersionError,
    StoreError,
    UnknownProjectError,
    UserInputError,
)
from novelgen.language.language import estimate_tokens
from novelgen.language.name_lists import split_names
from novelgen.language.normalise import scrub_text
from novelgen.language.resolver import NameResolver
from novelgen.memory.note_keys import is_called
from novelgen.memory.query_scores import relevance, search_order
from novelgen.memory.search import (
    CALLED_NOTES_RETRIEVER,
    ENTITY_RETRIEVER,
    LEXICAL_RETRIEVER,
    RECENT_RETRIEVER,
    SEMANTIC_RETRIEVER,
    THREAD_RETRIEVER,
    Candidate,
    RankedMemories,
    RetrieverHit,
    SearchQuery,
    SearchRequest,
    SearchResult,
    Vector,
)
from novelgen.models.context import ReportIssue
from novelgen.models.memory import (
    CONTENT_TYPES,
    DISTILLED_TYPES,
    WHOLE_TEXT_TYPES,
    ContentType,
    StoryMemoryChunk,
    found_under,
    is_entity_target,
    targets_of,
)
from novelgen.models.position import END_OF_STORY, StoryPosition, require_project_id
from novelgen.models.state import most_due
from novelgen.nearest import near_names
from runtime.index.rows import INDEXED_FIELDS, IndexedText, IndexHit, exact_search
from runtime.search.text_names import names_in_text
from runtime.storage.models import MemoryFilter
from runtime.stores import MemoryStores, built_with

if TYPE_CHECKING:
    from runtime.index.project_index import ProjectIndex
    from runtime.storage.chunks import IndexState

Answer = TypeVar("Answer")

PASSAGES_BESIDE_MEMORIES = 20
"""Where as many facts are found as were asked for, so many passages per query are enough: they would crowd them out."""
DUE_THREADS = 3
"""So many threads that wait longest and weigh most are looked up, whoever the scene is about."""

MAX_BEYOND_ENTITIES = 1_000
"""So many memories of a chapter or the book are looked at: most are only there because nothing else has them."""

_FACTS_BEFORE_PASSAGES = ([kind for kind in CONTENT_TYPES if kind not in WHOLE_TEXT_TYPES], list(WHOLE_TEXT_TYPES))


QueryVectors = Mapping[int, Vector]
"""Embedding by index of the query, for those that are asked by meaning."""


@dataclass(frozen=True)
class RetrieverAnswer:
    """A retriever's hits, before memories are read."""

    hits: Mapping[str, list[RetrieverHit]] = field(default_factory=dict)
    chunks: Mapping[str, StoryMemoryChunk] = field(default_factory=dict)
    linked: int | None = None
    vectors: QueryVectors = field(default_factory=dict)
    """By which it was searched, by index of the query."""
    issue: ReportIssue | None = None
    """Why it had to fall back."""
    awaited: int | None = None
    """Memories that the index is still to take up, where it was looked at."""


Ranking = tuple[int | None, Iterable[tuple[str, float]]]
"""Index of a query, None without one, and the ids of its memories with their scores, best first."""


def ranked_answer(
    retriever: str, rankings: Iterable[Ranking], chunks: Mapping[str, StoryMemoryChunk] | None = None
) -> RetrieverAnswer:
    """Return the answer of one retriever to its queries."""
    hits: dict[str, list[RetrieverHit]] = {}
    for query_index, ranking in rankings:
        for rank, (chunk_id, score) in enumerate(ranking, start=1):
            hit = RetrieverHit(retriever=retriever, query_index=query_index, rank=rank, score=score)
            hits.setdefault(chunk_id, []).append(hit)
    return RetrieverAnswer(hits=hits, chunks=chunks or {})


def merged(answers: Iterable[RetrieverAnswer]) -> RetrieverAnswer:
    """Return the hits of all answers by chunk, with counts."""
    hits: dict[str, list[RetrieverHit]] = {}
    chunks: dict[str, StoryMemoryChunk] = {}
    linked_count: int | None = None
    awaited_count: int | None = None
    for answer in answers:
        linked_count = answer.linked if linked_count is None else linked_count
        awaited_count = answer.awaited if awaited_count is None else awaited_count
        for chunk_id, retriever_hits in answer.hits.items():
            hits.setdefault(chunk_id, []).extend(retriever_hits)
        chunks.update(answer.chunks)
    return RetrieverAnswer(hits=hits, chunks=chunks, linked=linked_count, awaited=awaited_count)


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
    rankings: list[Ranking] = []
    with stores.database(request.project_id).read() as unit:
        matches = unit.lexical.match([query.text for query in request.queries], MemoryFilter(as_of=request.as_of))
        for memory_filter, numbers in same_filters(request):
            hits_by_kinds = unit.lexical.best_of_kinds(
                matches.of_queries(numbers),
                memory_filter,
                kinds=[memory_filter.content_types] if memory_filter.content_types else _FACTS_BEFORE_PASSAGES,
                limit=request.candidates_per_query,
                least=PASSAGES_BESIDE_MEMORIES,
            )
            rankings += [
                (number, [(hit.chunk_id, hit.score) for hit in hits])
                for hit_lists in hits_by_kinds
                for number, hits in zip(numbers, hit_lists, strict=True)
            ]
    return ranked_answer(LEXICAL_RETRIEVER, rankings)


def entity_memories(stores: MemoryStores, request: SearchRequest) -> RetrieverAnswer:
    """List the weightiest memories linked to any entity that the scene touches, or to a chapter or the book."""
    entity_ids = [entity_id for entity_id in request.entity_ids if is_entity_target(entity_id)]
    beyond = [entity_id for entity_id in request.entity_ids if not is_entity_target(entity_id)]
    with stores.database(request.project_id).read() as unit:
        of_entities = unit.memories.by_entities(
            entity_ids,
            as_of=request.as_of,
            content_types=DISTILLED_TYPES,
            limit=request.candidates_per_query,
            is_bare=True,
        )
        beside_entities = unit.memories.by_entities(
            beyond, as_of=request.as_of, content_types=DISTILLED_TYPES, limit=MAX_BEYOND_ENTITIES
        )
        everything = MemoryFilter(as_of=request.as_of, entities=entity_ids, content_types=list(DISTILLED_TYPES))
        counts = request.counts_linked and bool(entity_ids)
        linked_count = unit.memories.count(everything) if counts else None
    about = [chunk for chunk in beside_entities if not targets_of(chunk).isdisjoint(beyond)]
    listed_memories_by_id = {chunk.chunk_id: chunk for chunk in [*of_entities, *about[: request.candidates_per_query]]}
    return replace(_listed_answer(ENTITY_RETRIEVER, listed_memories_by_id.values()), linked=linked_count)


def thread_memories(stores: MemoryStores, request: SearchRequest) -> RetrieverAnswer:
    """List memories of scenes with relevant or due threads."""
    touched_ids = set(request.entity_ids)
    with stores.database(request.project_id).read() as unit:
        waiting_threads = request.open_loops
        if waiting_threads is None:
            waiting_threads = unit.threads.list_as_of(as_of=request.as_of)
        due_ids = {thread.loop_id for thread in most_due(waiting_threads, DUE_THREADS)}
        threads = [
            thread
            for thread in waiting_threads
            if thread.loop_id in due_ids or not touched_ids.isdisjoint(thread.related_entities)
        ]
        places = {place for thread in threads for place in thread.scenes()}
        chunks = unit.memories.of_scenes(
            sorted(places), as_of=request.as_of, content_types=DISTILLED_TYPES, is_bare=True
        )
    return _listed_answer(THREAD_RETRIEVER, chunks[: request.candidates_per_query])


def recent_memories(stores: MemoryStores, request: SearchRequest) -> RetrieverAnswer:
    """List the latest memories of high importance."""
    with stores.database(request.project_id).read() as unit:
        chunks = unit.memories.recent_high_signal(as_of=request.as_of)
    return _listed_answer(RECENT_RETRIEVER, chunks)


def called_notes(stores: MemoryStores, request: SearchRequest) -> RetrieverAnswer:
    """List notes that are pinned or triggered by a key."""
    asked_text = "\n".join(query.text for query in request.queries)
    with stores.database(request.project_id).read() as unit:
        notes = unit.memories.pinned_or_keyed_notes(as_of=request.as_of)
    called_memories = [memory for memory in notes if memory.tier == "pinned" or is_called(memory.tags, asked_text)]
    return _listed_answer(CALLED_NOTES_RETRIEVER, called_memories[: request.candidates_per_query])


def _listed_answer(retriever: str, chunks: Iterable[StoryMemoryChunk]) -> RetrieverAnswer:
    """Return the answer of a retriever that lists memories in its own order, without a query."""
    chunks_by_id = {chunk.chunk_id: chunk for chunk in chunks}
    return ranked_answer(retriever, [(None, _scores_of_order(chunks_by_id))], chunks_by_id)


def _scores_of_order(chunk_ids: Iterable[str]) -> list[tuple[str, float]]:
    return [(chunk_id, 1.0 / rank) for rank, chunk_id in enumerate(chunk_ids, start=1)]


MAX_EXACT_IDS = 5_000
"""A filter that admits no more memories is searched exactly, by their vectors in SQL: no index is better at it."""
OVERFETCH = 2
SPARE_ROWS = 10
"""The index does not know where a reader stands: so many more rows are asked for, of which SQL leaves the later out."""


def query_vectors(stores: MemoryStores, queries: Sequence[SearchQuery]) -> QueryVectors:
    """Embed the queries beyond names in one batch, or all.

    Words and links find names better, and embedding a query is the dearest step of a search. Measured on both
    books, without those of names the choice is as good at half the embeddings.
    """
    telling = [index for index, query in enumerate(queries) if not query.is_names_only]
    asked_numbers = telling or list(range(len(queries)))
    vectors = stores.embeddings.embed_queries([queries[index].text for index in asked_numbers])
    return dict(zip(asked_numbers, np.asarray(vectors, dtype=np.float32), strict=True))


def search_index(
    stores: MemoryStores, request: SearchRequest, vectors: QueryVectors, *, state: IndexState | None, deadline: Deadline
) -> RetrieverAnswer:
    """Ask the vector index, and let SQL say which rows may be shown and how near they are.

    Where SQL is down, the index answers by position alone, in its own order. A narrow filter, and a cut that leaves too
    few of the nearest rows, are searched exactly.
    """
    index = stores.vectors(request.project_id, index_id=None if state is None else state.index_id)
    answers: list[RetrieverAnswer] = []
    for memory_filter, numbers in same_filters(request, vectors.keys()):
        asked_vectors = _rows(vectors, numbers)
        if state is None:
            answers.append(_documents_answer(index, request, asked_vectors, numbers, deadline=deadline))
            continue
        ids = _narrow_ids(stores, request, memory_filter, deadline=deadline)
        if ids is not None and len(ids) <= MAX_EXACT_IDS:
            answers.append(search_exactly(stores, request, {number: vectors[number] for number in numbers}))
            continue
        wanted_count = OVERFETCH * request.candidates_per_query + SPARE_ROWS
        hit_lists = index.query(asked_vectors, top_k=wanted_count, must_hold_rows=state.holds_rows, deadline=deadline)
        answers.append(
            _settled_answer(stores, request, hit_lists, vectors, numbers, allowed=ids, wanted_count=wanted_count)
        )
    return merged(answers)


def _narrow_ids(
    stores: MemoryStores, request: SearchRequest, memory_filter: MemoryFilter, *, deadline: Deadline
) -> set[str] | None:
    """Return the ids admitted by filters, None for the position alone."""
    if memory_filter == MemoryFilter(as_of=request.as_of):
        return None

    def read() -> set[str]:
        with stores.database(request.project_id).read() as unit:
            return set(unit.memories.filtered_ids(memory_filter))

    return call_with_deadline(read, timeout_s=deadline.share("allowed_ids").remaining_s, stage="allowed-ids")


def _settled_answer(
    stores: MemoryStores,
    request: SearchRequest,
    hit_lists: Sequence[Sequence[IndexHit]],
    vectors: QueryVectors,
    numbers: Sequence[int],
    *,
    allowed: Collection[str] | None,
    wanted_count: int,
) -> RetrieverAnswer:
    """Order hits by SQL vectors, with exact search as a supplement."""
    id_lists = [[hit.chunk_id for hit in hits] for hits in hit_lists]
    hits_by_id = {
        chunk_id: hit
        for ids, hits in zip(id_lists, hit_lists, strict=True)
        for chunk_id, hit in zip(ids, hits, strict=True)
    }
    identity = stores.embedding_identity
    with stores.database(request.project_id).read() as unit:
        names, matrix = unit.embeddings.matrix(
            identity.model_name, dimension=identity.dimension, as_of=request.as_of, ids=list(hits_by_id)
        )
    rows = {name: row for row, name in enumerate(names) if allowed is None or name in allowed}
    limit = request.candidates_per_query
    rankings: list[Ranking] = []
    short: list[int] = []
    for number, hit_ids in zip(numbers, id_lists, strict=True):
        ids = [chunk_id for chunk_id in hit_ids if chunk_id in rows]
        if len(ids) < limit and len(hit_ids) >= wanted_count:
            short.append(number)
        elif ids:
            nearest = matrix[[rows[chunk_id] for chunk_id in ids]]
            (ranking,) = exact_search(nearest, ids, query_vectors=vectors[number][np.newaxis], top_k=limit)
            rankings.append((number, ranking))
    answer = ranked_answer(SEMANTIC_RETRIEVER, rankings)
    if short:
        answer = merged([answer, search_exactly(stores, request, {number: vectors[number] for number in short})])
    texts = (
        hits_by_id[name].text_before(request.as_of, project_id=request.project_id)
        for name in answer.hits.keys() & hits_by_id.keys()
    )
    return replace(answer, chunks={text.chunk_id: _chunk_of(text) for text in texts if text is not None})


def _documents_answer(
    index: ProjectIndex,
    request: SearchRequest,
    asked_vectors: NDArray[np.float32],
    numbers: Sequence[int],
    *,
    deadline: Deadline,
) -> RetrieverAnswer:
    """Take the documents of the index as they are, in its order, cut by the position that they carry."""
    text_lists = index.texts_before(asked_vectors, request.as_of, top_k=request.candidates_per_query, deadline=deadline)
    # A store tells no score that means the same everywhere.
    rankings = [
        (number, _scores_of_order(text.chunk_id for text in texts))
        for number, texts in zip(numbers, text_lists, strict=True)
    ]
    chunks = {text.chunk_id: _chunk_of(text) for texts in text_lists for text in texts}
    return ranked_answer(SEMANTIC_RETRIEVER, rankings, chunks)


def search_exactly(stores: MemoryStores, request: SearchRequest, vectors: QueryVectors) -> RetrieverAnswer:
    """Search the SQL embeddings exactly, as the index's fallback and oracle."""
    database = stores.database(request.project_id)
    identity = stores.embedding_identity
    rankings: list[Ranking] = []
    for memory_filter, numbers in same_filters(request, vectors.keys()):
        is_narrow = memory_filter != MemoryFilter(as_of=request.as_of)
        with database.read() as unit:
            ids = unit.memories.filtered_ids(memory_filter) if is_narrow else None
            names, matrix = unit.embeddings.matrix(
                identity.model_name, dimension=identity.dimension, as_of=request.as_of, ids=ids
            )
        if not names:
            continue
        matches = exact_search(matrix, names, query_vectors=_rows(vectors, numbers), top_k=request.candidates_per_query)
        rankings += zip(numbers, matches, strict=True)
    return ranked_answer(SEMANTIC_RETRIEVER, rankings)


def _rows(vectors: QueryVectors, numbers: Sequence[int]) -> NDArray[np.float32]:
    return np.stack([vectors[number] for number in numbers])


def _chunk_of(text: IndexedText) -> StoryMemoryChunk:
    """Return the memory as far as the index knows it, for when SQL cannot be asked."""
    return StoryMemoryChunk.model_validate({name: getattr(text, name) for name in INDEXED_FIELDS})


def index_state(stores: MemoryStores, project_id: str, *, deadline: Deadline) -> IndexState | None:
    """Return SQL's state of an index, None after a timeout."""

    def read() -> IndexState:
        with stores.database(project_id).read() as unit:
            return unit.outbox.index_state()

    return _read_or_none(read, stage="index-state", deadline=deadline)


def _read_or_none(read_function: Callable[[], Answer], *, stage: str, deadline: Deadline) -> Answer | None:
    """Query SQL, or return None after a timeout, trusting the index."""
    try:
        return call_with_deadline(read_function, timeout_s=deadline.remaining_s, stage=stage)
    except (DatabaseError, DeadlineExceededError):
        # With the database down the index still answers by project and position; the outage itself is
        # reported where the memories are read.
        return None


DEFAULT_TOP_K = 10
MAX_TOP_K = 200
MIN_CANDIDATES = 50
"""So many are looked at per retriever, however few are asked for: the first of them must be the same."""

MAX_QUERY_TOKENS = 512
"""What the built-in embedding model sees of a text."""

MAX_VARIANTS = 3
"""So many ways of saying a name are added to a query, which must not drown in them."""

Retriever = Callable[[MemoryStores, SearchRequest], Any]

LISTING_RETRIEVERS: Mapping[str, Retriever] = {
    ENTITY_RETRIEVER: entity_memories,
    THREAD_RETRIEVER: thread_memories,
    RECENT_RETRIEVER: recent_memories,
    CALLED_NOTES_RETRIEVER: called_notes,
}
"""Retrievers that need no query, in the order of their answers."""
RETRIEVERS = (SEMANTIC_RETRIEVER, LEXICAL_RETRIEVER, *LISTING_RETRIEVERS)
"""Names of all retrievers."""


class SearchFilters(TypedDict, total=False):
    """Filters of a search, as in `ranked_memories`."""

    entities: Sequence[str] | None
    content_type: ContentType | None
    tags: Sequence[str] | None
    top_k: int
    as_of: StoryPosition | None
    min_relevance: float


def ranked_memories(
    stores: MemoryStores,
    project_id: str,
    query: str,
    *,
    entities: Sequence[str] | None = None,
    content_type: ContentType | None = None,
    tags: Sequence[str] | None = None,
    top_k: int = DEFAULT_TOP_K,
    as_of: StoryPosition | None = None,
    min_relevance: float = 0.0,
) -> RankedMemories:
    """Answer one query, best first: every door that searches, the tool, the command and the retriever, asks here."""
    require_project_id(project_id)
    if not 0 <= min_relevance <= 1:
        raise UserInputError(f"min_relevance {min_relevance!r} is not from 0 to 1")
    text = scrub_text(query)
    if not text.strip():
        raise UserInputError(f"query {query!r} is empty; say what to look for")
    text, shortened = _cut_to_model_window(text)
    position = as_of or END_OF_STORY
    entity_ids, unknown_issues, variants = _entity_ids(stores, project_id, entities or (), position)
    text = " ".join([text, *variants])
    search_query = SearchQuery(text=text, entities=entity_ids, content_type=content_type, tags=list(tags or ()))
    limit = max(1, min(top_k, MAX_TOP_K))
    request = SearchRequest(
        project_id=project_id,
        queries=[search_query],
        as_of=position,
        candidates_per_query=max(MIN_CANDIDATES, limit),
        timeout_s=stores.settings.memory.tool_timeout_s,
    )
    deadline = Deadline.after(request.timeout_s, stage="search")
    result = search_memories(stores, request, by_query_alone=True, deadline=deadline)
    failures = {issue.stage: issue.message for issue in result.issues if issue.kind != "stale"}
    if not result.candidates and ("memories" in failures or {SEMANTIC_RETRIEVER, LEXICAL_RETRIEVER} <= failures.keys()):
        raise StoreError("; ".join(f"{stage}: {message}" for stage, message in failures.items()))
    unfit_ids, unheeded_issues = _unfit_ids(result, text, min_relevance)
    best = [memory for memory in search_order(result.candidates, text) if memory.chunk.chunk_id not in unfit_ids][
        :limit
    ]
    outdated = [memory.chunk for memory in best if memory.is_outdated]
    holding, issues = _current_versions(stores, request, outdated, deadline=deadline)
    if holding:
        # What holds is told beside what it replaced, however it is put itself.
        unfit_ids -= {memory.chunk_id for memory in holding.values()}
        ordered = search_order(result.candidates, text, holding=holding)
        best = [memory for memory in ordered if memory.chunk.chunk_id not in unfit_ids][:limit]
    return RankedMemories(
        memories=best, issues=[*shortened, *unknown_issues, *result.issues, *unheeded_issues, *issues]
    )


def _cut_to_model_window(text: str) -> tuple[str, list[ReportIssue]]:
    """Cut a query to the embedding model's window."""
    # Estimated tokens grow with the text, character by character.
    end = bisect(range(len(text)), MAX_QUERY_TOKENS, key=lambda number: estimate_tokens(text[: number + 1]))
    if end == len(text):
        return text, []
    message = f"the query has {len(text)} characters; its first {end} were searched, as much as a model compares"
    return text[:end], [ReportIssue(stage="search", kind="degraded", message=message)]


def _unfit_ids(result: SearchResult, query: str, min_relevance: float) -> tuple[set[str], list[ReportIssue]]:
    """Return the ids of poor matches, none with an issue if incomparable."""
    if not min_relevance:
        return set(), []
    vector = next(iter(result.query_vectors), None)
    if vector is None:
        message = f"meaning could not be compared, so that min_relevance={min_relevance:g} left nothing out"
        return set(), [ReportIssue(stage="search", kind="degraded", message=message)]
    fits = {candidate.chunk.chunk_id: relevance(candidate, query, vector) for candidate in result.candidates}
    return {name for name, value in fits.items() if value < min_relevance}, []


def search_memories(
    stores: MemoryStores, request: SearchRequest, *, deadline: Deadline, by_query_alone: bool = False
) -> SearchResult:
    """Run all queries over all retrievers and return every candidate with its place in each retriever.

    Each retriever works under its own deadline. A retriever that fails is an issue; the others answer. With the
    database down, candidates come from Chroma alone; with Chroma down, from exact search over SQL and from
    words, unless `search_fallback` is off: then nothing is found and the issue says so.

    Args:
        stores: Open stores.
        request: The queries and the entities that the scene touches.
        deadline: For the whole search.
        by_query_alone: Leave out the retrievers that need no query.
    """
    retrieving = deadline.share("retrievers")
    retrievers: dict[str, Retriever] = {}
    if request.queries:
        retrievers[SEMANTIC_RETRIEVER] = partial(_semantic_retriever, deadline=retrieving)
        retrievers[LEXICAL_RETRIEVER] = search_words
    if not by_query_alone:
        retrievers |= LISTING_RETRIEVERS
        if not request.entity_ids:
            del retrievers[ENTITY_RETRIEVER]
    outcomes = run_concurrently(
        {name: partial(retriever, stores, request) for name, retriever in retrievers.items()},
        timeouts_s=dict.fromkeys(retrievers, retrieving.remaining_s),
    )
    errors = {name: outcome.error for name, outcome in outcomes.items() if outcome.error is not None}
    # A project whose database alone is gone is still in the index.
    if errors and len(errors) == len(outcomes) and all(isinstance(e, UnknownProjectError) for e in errors.values()):
        raise next(iter(errors.values()))
    newer = next((error for error in errors.values() if isinstance(error, SchemaVersionError)), None)
    if newer is not None and by_query_alone:
        # A context does with what the index tells; who searches would take that for all there is.
        raise newer
    answers: dict[str, RetrieverAnswer] = {
        name: call_outcome.value for name, call_outcome in outcomes.items() if call_outcome.value is not None
    }
    semantic = answers.get(SEMANTIC_RETRIEVER)
    issues = [_failure(name, error) for name, error in errors.items()]
    issues += [answer.issue for answer in answers.values() if answer.issue is not None]
    timings = {f"retriever_{name}": outcome.elapsed_s for name, outcome in outcomes.items()}
    semantic_failed = any(issue.stage == SEMANTIC_RETRIEVER for issue in issues)
    if semantic_failed and stores.settings.memory.search_fallback == "off":
        return SearchResult(issues=tuple(issues), timings_s=timings)
    answer = merged(answers.values())
    read = run_concurrently(
        {"read": partial(_memories_in_sql, stores, request, answer)},
        timeouts_s={"read": deadline.share("memories").remaining_s},
    )["read"]
    if read.error is not None:
        issues.append(_failure("memories", read.error))
    # Without SQL the memories are what the retrievers have of them.
    memories = read.value or _ReadMemories(dict(answer.chunks), {})
    candidates = (
        Candidate(memories.chunks[name], tuple(answer.hits.get(name, ())), memories.vectors.get(name))
        for name in sorted(memories.chunks)
        if _is_allowed(memories.chunks[name], request)
    )
    return SearchResult(
        candidates=tuple(candidates),
        query_vectors=tuple(map(semantic.vectors.get, range(len(request.queries)))) if semantic is not None else (),
        issues=(*issues, *_awaited_meaning(request, memories.awaited)),
        timings_s=timings,
        linked=answer.linked,
    )


def _semantic_retriever(stores: MemoryStores, request: SearchRequest, *, deadline: Deadline) -> RetrieverAnswer:
    # A setting that names no model is told, whether there is something to be found or not.
    _ = stores.embeddings
    state = index_state(stores, request.project_id, deadline=deadline.share("index"))
    identity = None if state is None else built_with(state)
    if state is not None and identity is None:
        # To embed the queries and start the index takes a second, and nothing is there to be found.
        return RetrieverAnswer(awaited=state.awaited)
    vectors = query_vectors(stores, request.queries)
    beside: Any = {"vectors": vectors, "awaited": None if state is None else state.awaited}
    mismatch = None if identity is None else stores.embedding_mismatch(request.project_id, identity)
    if mismatch is not None:
        issue = ReportIssue(stage=SEMANTIC_RETRIEVER, kind="degraded", message=f"meaning is not compared: {mismatch}")
        return replace(_fallback(stores, request, vectors), issue=issue, **beside)
    try:
        answer = search_index(stores, request, vectors, state=state, deadline=deadline.share("index"))
    except (StoreError, DeadlineExceededError) as error:
        if isinstance(error, DeadlineExceededError):
            # One that loads its libraries, or is at other work, has nothing to be repaired.
            message = f"the vector index did not answer in its time ({error}); the next search asks it again"
            issue = ReportIssue(stage=SEMANTIC_RETRIEVER, kind="timeout", message=message)
        else:
            message = f"the vector index did not answer ({error}); `novelgen doctor` says how to repair it"
            issue = ReportIssue(stage=SEMANTIC_RETRIEVER, kind="degraded", message=message)
        return replace(_fallback(stores, request, vectors), issue=issue, **beside)
    return replace(answer, **beside)


def _fallback(stores: MemoryStores, request: SearchRequest, vectors: QueryVectors) -> RetrieverAnswer:
    if stores.settings.memory.search_fallback == "off":
        return RetrieverAnswer()
    try:
        return search_exactly(stores, request, vectors)
    except StoreError:
        # The database's outage is reported by the retrievers that live on it.
        return RetrieverAnswer()


def _failure(retriever: str, error: Exception) -> ReportIssue:
    if not isinstance(error, NovelgenError):
        raise error
    kind = "timeout" if isinstance(error, DeadlineExceededError) else "unavailable"
    return ReportIssue.model_validate({"stage": retriever, "kind": kind, "message": str(error)})


@dataclass(frozen=True)
class _ReadMemories:
    """The candidates' memories and their vectors, by chunk id."""

    chunks: dict[str, StoryMemoryChunk]
    vectors: dict[str, NDArray[np.float32]]
    awaited: int = 0
    """Memories of the project that the index is still to take up."""


def _memories_in_sql(stores: MemoryStores, request: SearchRequest, answer: RetrieverAnswer) -> _ReadMemories:
    project_id, as_of = request.project_id, request.as_of
    model_name = stores.embedding_model
    with stores.database(project_id).read() as unit:
        memories = unit.memories.by_ids(sorted(answer.hits), as_of=as_of)
        chunks = {chunk.chunk_id: chunk for chunk in memories}
        if model_name is None:
            # Said by the semantic retriever; what words and entities found is read all the same.
            return _ReadMemories(chunks=chunks, vectors={})
        dimension = stores.embeddings.known_dimension
        names, matrix = unit.embeddings.matrix(model_name, dimension=dimension, as_of=as_of, ids=list(chunks))
        awaited_count = answer.awaited
        if awaited_count is None:
            awaited_count = unit.outbox.index_state().awaited if request.queries else 0
    return _ReadMemories(chunks, dict(zip(names, matrix, strict=True)), awaited_count)


def _awaited_meaning(request: SearchRequest, awaited_count: int) -> list[ReportIssue]:
    """Report the part of the story not indexed by meaning yet."""
    if not awaited_count:
        return []
    message = (
        f"{awaited_count} memories are found by words and names only until "
        f"`novelgen index {request.project_id}` is done"
    )
    return [ReportIssue(stage="index", kind="stale", message=message)]


def _is_allowed(chunk: StoryMemoryChunk, request: SearchRequest) -> bool:
    return chunk.project_id == request.project_id and request.as_of.admits(chunk.chapter_index, chunk.scene_index)


def _entity_ids(
    stores: MemoryStores, project_id: str, names: Sequence[str], as_of: StoryPosition
) -> tuple[list[str], list[ReportIssue], list[str]]:
    """Return the ids of names at the position, with issues for unknown ones.

    What no entity bears but the text holds is searched for instead, in all ways in which the text says it.
    """
    if not names:
        return [], [], []
    ids: dict[str, None] = {}
    variants: dict[str, None] = {}
    issues: list[ReportIssue] = []
    with stores.database(project_id).read() as unit:
        known_entities = unit.entities.list_as_of(as_of=as_of)
        resolver = NameResolver(known_entities)
        for name in split_names(names, known_entities):
            if not is_entity_target(target := name.strip()):
                ids[target] = None
                if not unit.memories.count(MemoryFilter(as_of=as_of, entities=[target])):
                    message = f"no memory is attached to {target!r} at this position"
                    issues.append(ReportIssue(stage="search", kind="unresolved", message=message))
                continue
            resolution = resolver.resolve(name)
            meant_ids = [resolution.entity_id] if resolution.entity_id else resolution.candidate_ids
            if not meant_ids and not unit.memories.count(MemoryFilter(as_of=as_of, entities=[name])):
                statements = names_in_text(unit, [name], as_of=as_of).get(name, [])[:MAX_VARIANTS]
                variants |= dict.fromkeys(statements)
                if statements:
                    continue
                near = near_names(name, known_entities)
                message = f"nobody is known as {name!r} at this position, so no memory is of them; {near}"
                issues.append(ReportIssue(stage="search", kind="unresolved", message=message))
            # What nobody bears may be an id that memories are linked to, whose entity nobody has stored.
            ids |= dict.fromkeys(meant_ids or [name])
    return list(ids), issues, list(variants)


def _current_versions(
    stores: MemoryStores, request: SearchRequest, outdated: Sequence[StoryMemoryChunk], *, deadline: Deadline
) -> tuple[dict[str, StoryMemoryChunk], list[ReportIssue]]:
    """Return the present fact of each outdated memory, within the filters."""
    if not outdated:
        return {}, []

    def read() -> dict[str, StoryMemoryChunk]:
        with stores.database(request.project_id).read() as unit:
            return unit.memories.current_versions(outdated, as_of=request.as_of)

    try:
        holding = call_with_deadline(read, timeout_s=deadline.share("holding").remaining_s, stage="holding")
    except (StoreError, DeadlineExceededError) as error:
        return {}, [_failure("holding", error)]
    return {name: chunk for name, chunk in holding.items() if _admits(request.queries[0], chunk)}, []


def _admits(query: SearchQuery, chunk: StoryMemoryChunk) -> bool:
    return (
        (query.content_type is None or chunk.content_type == query.content_type)
        and (not query.tags or not set(query.tags).isdisjoint(chunk.tags))
        and (not query.entities or not found_under(chunk).isdisjoint(query.entities))
    )
