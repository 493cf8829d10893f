"""What a trace of a chain shows: what each retriever found, and large values by their size alone."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Generic, TypeVar

from langchain_core.runnables import RunnableLambda

from novelgen.memory.search import SearchRequest, SearchResult

T = TypeVar("T")


class Untraced(Generic[T]):
    """Holds a value that callback handlers see as one line.

    A handler takes every step's input and output apart and sends them away: thousands of candidates with their
    vectors would be 12 MB for each of two steps, in a book of 10,000 memories. This is no dataclass and no model,
    so that tracers ask for its text and nothing else.
    """

    __slots__ = ("shown", "value")

    def __init__(self, value: T, shown: str) -> None:
        self.value = value
        self.shown = shown

    def __repr__(self) -> str:
        return self.shown


def untraced_search(search: SearchResult) -> Untraced[SearchResult]:
    """Hold what all retrievers found; a trace has the best of each retriever in a run of its own."""
    return Untraced(search, f"{len(search.candidates)} candidates")


NOTHING_FOUND = untraced_search(SearchResult())

MAX_SHOWN_IDS = 20
"""So many chunk ids of a retriever are in its run, its best first."""


def trace_retrievers(request: SearchRequest, search: SearchResult) -> None:
    """Tell the handlers of the running step what each retriever of a finished search found.

    Every retriever becomes a run `arm_<name>` under the step, tagged "arm": what it was asked goes in, the number
    of its candidates, its best chunk ids, its seconds and its issues come out. The retrievers have run already and
    side by side, so that their seconds are in the output and not in the run's own duration.
    """
    for retriever, output in retriever_summaries(search).items():
        asked = {
            "queries": [query.text for query in request.queries],
            "entity_ids": request.entity_ids,
            "as_of": str(request.as_of),
        }
        RunnableLambda(partial(_told, output)).invoke(asked, {"run_name": f"arm_{retriever}", "tags": ["arm"]})


def retriever_summaries(search: SearchResult) -> Mapping[str, dict[str, Any]]:
    """Sum up what each retriever of a search found."""
    ranks: dict[str, dict[str, int]] = {}
    for candidate in search.candidates:
        for hit in candidate.hits:
            found = ranks.setdefault(hit.retriever, {})
            chunk_id = candidate.chunk.chunk_id
            found[chunk_id] = min(hit.rank, found.get(chunk_id, hit.rank))
    timed = {name.removeprefix("arm_") for name in search.timings_s if name.startswith("arm_")}
    return {
        retriever: _summary(retriever, ranks.get(retriever, {}), search) for retriever in sorted(timed | ranks.keys())
    }


def _told(output: Mapping[str, Any], _: object) -> Mapping[str, Any]:
    return output


def _summary(retriever: str, ranks: Mapping[str, int], search: SearchResult) -> dict[str, Any]:
    return {
        "candidates": len(ranks),
        "best": sorted(ranks, key=lambda chunk_id: (ranks[chunk_id], chunk_id))[:MAX_SHOWN_IDS],
        "elapsed_s": search.timings_s.get(f"arm_{retriever}"),
        "issues": [f"{issue.kind}: {issue.message}" for issue in search.issues if issue.stage == retriever],
    }
