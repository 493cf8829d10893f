"""All arms of a search, side by side, each failing alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novelgen.deadlines import CallOutcome, run_concurrently
from novelgen.errors import (
    DeadlineExceededError,
    NovelgenError,
    StoreError,
    UnknownProjectError,
)
from novelgen.memory.search import Candidate, SearchRequest, SearchResult, Vector
from novelgen.models.context import ReportIssue
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import require_project_id
from runtime.retrieval.answers import ArmAnswer, merged
from runtime.retrieval.lexical import search_words
from runtime.retrieval.relational import entity_memories, loop_memories, recent_memories
from runtime.retrieval.semantic import QueryVectors, query_vectors, search_exactly, search_index
from runtime.stores import MemoryStores

# Shares of the time: what hangs leaves some to what comes after it. The memories that the arms found are read
# after the arms; the exact search is asked after the index.
ARMS_SHARE = 0.75
INDEX_SHARE = 0.7


def search_memories(stores: MemoryStores, request: SearchRequest) -> SearchResult:
    """Run all queries over all arms and return every candidate with its place in each arm.

    Each arm works under its own deadline. An arm that fails is an issue; the others answer. With the
    database down, candidates come from Chroma alone; with Chroma down, from exact search over SQL and from
    words, unless `search_fallback` is off: then nothing is found and the issue says so.

    Args:
        stores: The stores.
        request: Queries, entities and position.

    Returns:
        Candidates in order of chunk id, all of the project and strictly before the position.

    Raises:
        InvalidProjectIdError: When the project id is not a plain string.
        UnknownProjectError: When no such project is stored.
    """
    require_project_id(request.project_id)
    outcomes = run_concurrently(
        {name: partial(arm, stores, request) for name, arm in _arms(request).items()},
        timeouts_s=dict.fromkeys(_arms(request), request.timeout_s * ARMS_SHARE),
    )
    _require_known_project(outcomes)
    issues = _failures(outcomes)
    semantic: SemanticAnswer | None = outcomes["semantic"].value if "semantic" in outcomes else None
    if semantic is not None and semantic.issue is not None:
        issues.append(semantic.issue)
    timings = {f"arm_{name}": outcome.elapsed_s for name, outcome in outcomes.items()}
    semantic_failed = any(issue.stage == "semantic" for issue in issues)
    if semantic_failed and stores.settings.memory.search_fallback == "off":
        return SearchResult(issues=tuple(issues), timings_s=timings)
    answers = _answers(outcomes)
    answer = merged(answers)
    memories, issue = _read_memories(stores, request, answer)
    candidates = (
        Candidate(memories.chunks[name], tuple(answer.hits.get(name, ())), memories.vectors.get(name))
        for name in sorted(memories.chunks)
        if _is_allowed(memories.chunks[name], request)
    )
    return SearchResult(
        candidates=tuple(candidates),
        query_vectors=_in_order(semantic.vectors, request) if semantic is not None else (),
        issues=(*issues, *([issue] if issue else [])),
        timings_s=timings,
        linked=next((each.linked for each in answers if each.linked is not None), None),
    )


@dataclass(frozen=True)
class SemanticAnswer:
    """What the semantic arm found, by which vectors, and whether it had to fall back."""

    found: ArmAnswer
    vectors: QueryVectors
    issue: ReportIssue | None = None


def _semantic_arm(stores: MemoryStores, request: SearchRequest) -> SemanticAnswer:
    vectors = query_vectors(stores, request.queries)
    timeout_s = request.timeout_s * ARMS_SHARE * INDEX_SHARE
    try:
        found = search_index(stores, request, vectors, timeout_s=timeout_s)
    except (StoreError, DeadlineExceededError) as error:
        issue = ReportIssue(
            stage="semantic",
            kind="timeout" if isinstance(error, DeadlineExceededError) else "degraded",
            message=f"the vector index did not answer ({error}); `novelgen doctor` says how to repair it",
        )
        return SemanticAnswer(_fallback(stores, request, vectors), vectors, issue)
    return SemanticAnswer(found, vectors)


def _in_order(vectors: QueryVectors, request: SearchRequest) -> tuple[Vector | None, ...]:
    return tuple(vectors.get(index) for index in range(len(request.queries)))


def _fallback(stores: MemoryStores, request: SearchRequest, vectors: QueryVectors) -> ArmAnswer:
    if stores.settings.memory.search_fallback == "off":
        return ArmAnswer()
    try:
        return search_exactly(stores, request, vectors)
    except StoreError:
        # The database's outage is reported by the arms that live on it.
        return ArmAnswer()


def _arms(request: SearchRequest) -> dict[str, Callable[[MemoryStores, SearchRequest], Any]]:
    by_query: dict[str, Callable[[MemoryStores, SearchRequest], Any]] = {
        "semantic": _semantic_arm,
        "lexical": search_words,
    }
    return {
        **(by_query if request.queries else {}),
        **({"entity": entity_memories} if request.entity_ids else {}),
        "loop": loop_memories,
        "recent": recent_memories,
    }


def _answers(outcomes: dict[str, CallOutcome[Any]]) -> list[ArmAnswer]:
    found = [(name, outcome.value) for name, outcome in outcomes.items() if outcome.value is not None]
    return [value.found if name == "semantic" else value for name, value in found]


def _require_known_project(outcomes: dict[str, CallOutcome[Any]]) -> None:
    """Raise when no arm knows the project; a project whose database alone is gone is still in the index."""
    errors = [outcome.error for outcome in outcomes.values()]
    if all(isinstance(error, UnknownProjectError) for error in errors) and errors[0] is not None:
        raise errors[0]


def _failures(outcomes: dict[str, CallOutcome[Any]]) -> list[ReportIssue]:
    return [_failure(name, outcome.error) for name, outcome in outcomes.items() if outcome.error is not None]


def _failure(arm: str, error: Exception) -> ReportIssue:
    if not isinstance(error, NovelgenError):
        raise error
    kind = "timeout" if isinstance(error, DeadlineExceededError) else "unavailable"
    return ReportIssue.model_validate({"stage": arm, "kind": kind, "message": str(error)})


@dataclass(frozen=True)
class ReadMemories:
    """The candidates' memories and their vectors, by chunk id."""

    chunks: dict[str, StoryMemoryChunk]
    vectors: dict[str, NDArray[np.float32]]


def _read_memories(
    stores: MemoryStores, request: SearchRequest, answer: ArmAnswer
) -> tuple[ReadMemories, ReportIssue | None]:
    """Read what was found, and the memories of the same scenes, from SQL; the index must do when SQL is down."""
    timeout_s = request.timeout_s * (1 - ARMS_SHARE)
    outcome = run_concurrently(
        {"read": partial(_memories_in_sql, stores, request, answer)}, timeouts_s={"read": timeout_s}
    )["read"]
    if outcome.value is not None:
        return outcome.value, None
    issue = _failure("memories", outcome.error) if outcome.error else None
    return ReadMemories(dict(answer.chunks), {}), issue


def _memories_in_sql(stores: MemoryStores, request: SearchRequest, answer: ArmAnswer) -> ReadMemories:
    project_id, as_of = request.project_id, request.as_of
    with stores.database(project_id).read() as unit:
        found = unit.memories.by_ids(sorted(answer.hits), as_of=as_of)
        names, matrix = unit.embeddings.matrix(
            stores.embeddings.model_name,
            as_of=as_of,
            ids=[chunk.chunk_id for chunk in found],
        )
    return ReadMemories(
        chunks={chunk.chunk_id: chunk for chunk in found}, vectors=dict(zip(names, matrix, strict=True))
    )


def _is_allowed(chunk: StoryMemoryChunk, request: SearchRequest) -> bool:
    return chunk.project_id == request.project_id and request.as_of.admits(
        chunk.chapter_index, chunk.scene_index
    )
