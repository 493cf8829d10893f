"""Shared building blocks of the chains: steps, issues and traces."""

import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial, reduce
from typing import Any, Generic, TypeVar

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from novelgen.deadlines import CallOutcome
from novelgen.errors import MemoryAnswerError, MemoryToolError
from novelgen.memory.search import SearchRequest, SearchResult
from novelgen.models.context import IssueKind, ReportIssue

logger = logging.getLogger(__name__)

# What our own bugs raise. A caller's tool may raise them too, so that in production they degrade like the rest.
BUGS = (TypeError, KeyError, AttributeError, AssertionError, NameError, NotImplementedError)


def issue_of(stage: str, outcome: CallOutcome[Any], *, propagate_bugs: bool) -> ReportIssue | None:
    """Return the issue that a failed tool causes, or None."""
    error = outcome.error
    if error is None:
        return None
    if isinstance(error, BUGS):
        if propagate_bugs:
            raise error
        logger.error("%s failed by a programming error", stage, exc_info=error)
    kind: IssueKind = "timeout" if isinstance(error, TimeoutError) else "unavailable"
    if isinstance(error, MemoryAnswerError):
        kind = "malformed"
    message = str(error) or type(error).__name__
    return ReportIssue(stage=stage, kind=kind, message=f"{type(error).__name__}: {message}")


def value_of(outcome: CallOutcome[Any]) -> Any:
    """Return the answer of a tool, or the usable part of an answer with an error."""
    error = outcome.error
    return error.usable if isinstance(error, MemoryToolError) else outcome.value


def logged(*issues: ReportIssue | None) -> tuple[ReportIssue, ...]:
    """Return issues, each logged once, here."""
    matching_issues = tuple(issue for issue in issues if issue is not None)
    for issue in matching_issues:
        # What waits for `novelgen index` waits by choice, and stands in the context itself.
        level = logging.INFO if (issue.stage, issue.kind) == ("index", "stale") else logging.WARNING
        logger.log(level, "%s %s: %s", issue.stage, issue.kind, issue.message)
    return matching_issues


Input = TypeVar("Input")
Built = TypeVar("Built")


class WholeInput(Runnable[Input, Built]):
    """A step that needs its whole input: where a chain is streamed, mappings that come in pieces are put together.

    A planner in front of it streams a mapping key by key, and a key's value as it grows. LangChain adds pieces up by
    `+`, which mappings do not have, and would go on with the last piece alone.
    """

    def transform(self, input: Iterator[Input], config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Built]:
        """Yield the result for the whole input as one chunk."""
        yield self.invoke(reduce(_with_piece, input), config, **kwargs)

    async def atransform(
        self, input: AsyncIterator[Input], config: RunnableConfig | None = None, **kwargs: Any
    ) -> AsyncIterator[Built]:
        """Do the same without blocking the event loop."""
        pieces = [piece async for piece in input]
        yield await self.ainvoke(reduce(_with_piece, pieces), config, **kwargs)


def _with_piece(whole: Any, piece: Any) -> Any:
    if isinstance(whole, Mapping) and isinstance(piece, Mapping):
        return {**whole, **piece}
    try:
        return whole + piece
    except TypeError:
        return piece


class StoryStep(WholeInput[Input, Built], RunnableLambda[Input, Built]):
    """A function of a story as a step of a chain."""


class StepwiseChain(WholeInput[Input, Built]):
    """A chain of named steps that is itself a Runnable (`invoke`, `ainvoke`, `batch`, `with_retry`, `|`)."""

    def __init__(self, steps: Runnable[Input, Built]) -> None:
        self._steps = steps

    def invoke(self, input: Input, config: RunnableConfig | None = None, **kwargs: Any) -> Built:
        """Run the steps once."""
        return self._steps.invoke(input, self._configured(config, input), **kwargs)

    async def ainvoke(self, input: Input, config: RunnableConfig | None = None, **kwargs: Any) -> Built:
        """Run in a worker thread without blocking the event loop."""
        return await self._steps.ainvoke(input, self._configured(config, input), **kwargs)

    def _configured(self, config: RunnableConfig | None, request: Input) -> RunnableConfig:
        """Return the caller's configuration, with the chain's name where the caller gave none."""
        value = config or {}
        return {**value, "run_name": value.get("run_name") or self.get_name()}


T = TypeVar("T")


class Untraced(Generic[T]):
    """Holds a value that callback handlers see as one line.

    A handler takes every step's input and output apart and sends them away: thousands of candidates with their
    vectors would be 12 MB for each of two steps, in a book of 10,000 memories. This is no dataclass and no model,
    so that tracers ask for its text and nothing else.
    """

    __slots__ = ("shown", "value")

    def __init__(self, value: T, label: str) -> None:
        self.value = value
        self.shown = label

    def __repr__(self) -> str:
        return self.shown


def untraced_search(search: SearchResult) -> Untraced[SearchResult]:
    """Wrap the search result, which is traced per retriever in its own runs."""
    return Untraced(search, f"{len(search.candidates)} candidates")


NOTHING_FOUND = untraced_search(SearchResult())

MAX_SHOWN_IDS = 20
"""So many chunk ids of a retriever are in its run, its best first."""


def trace_retrievers(request: SearchRequest, search: SearchResult) -> None:
    """Report the matches of each retriever to the callbacks of the running step.

    Every retriever becomes a run `retriever_<name>` under the step, tagged "retriever": the queries go in, the number
    of its candidates, its best chunk ids, its seconds and its issues come out. The retrievers have run already and
    side by side, so that their seconds are in the output and not in the run's own duration.
    """
    for retriever, output in retriever_summaries(search).items():
        requested_fields = {
            "queries": [query.text for query in request.queries],
            "entity_ids": request.entity_ids,
            "as_of": str(request.as_of),
        }
        RunnableLambda(partial(_pass_output, output)).invoke(
            requested_fields, {"run_name": f"retriever_{retriever}", "tags": ["retriever"]}
        )


def retriever_summaries(search: SearchResult) -> Mapping[str, dict[str, Any]]:
    """Summarise the matches of each retriever."""
    ranks: dict[str, dict[str, int]] = {}
    for candidate in search.candidates:
        for hit in candidate.hits:
            found_counts = ranks.setdefault(hit.retriever, {})
            chunk_id = candidate.chunk.chunk_id
            found_counts[chunk_id] = min(hit.rank, found_counts.get(chunk_id, hit.rank))
    timed = {name.removeprefix("retriever_") for name in search.timings_s if name.startswith("retriever_")}
    return {
        retriever: {
            "candidates": len(found_counts := ranks.get(retriever, {})),
            "best": sorted(found_counts, key=lambda chunk_id: (found_counts[chunk_id], chunk_id))[:MAX_SHOWN_IDS],
            "elapsed_s": search.timings_s.get(f"retriever_{retriever}"),
            "issues": [f"{issue.kind}: {issue.message}" for issue in search.issues if issue.stage == retriever],
        }
        for retriever in sorted(timed | ranks.keys())
    }


def _pass_output(output: Mapping[str, Any], _: object) -> Mapping[str, Any]:
    return output
