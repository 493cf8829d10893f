"""What novelgen's chains share as LangChain Runnables: steps under their own name, and issues instead of errors."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import reduce
from typing import Any, TypeVar

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from novelgen.deadlines import CallOutcome
from novelgen.models.context import IssueKind, ReportIssue

logger = logging.getLogger(__name__)

# What our own bugs raise. A caller's tool may raise them too, so that in production they degrade like the rest.
BUGS = (TypeError, KeyError, AttributeError, AssertionError, NameError, NotImplementedError)


def issue_of(stage: str, outcome: CallOutcome[Any], *, propagate_bugs: bool) -> ReportIssue | None:
    """Return what a tool's failure means for the context, or None when it answered."""
    error = outcome.error
    if error is None:
        return None
    if isinstance(error, BUGS):
        if propagate_bugs:
            raise error
        logger.error("%s failed by a programming error", stage, exc_info=error)
    kind: IssueKind = "timeout" if isinstance(error, TimeoutError) else "unavailable"
    message = str(error) or type(error).__name__
    return ReportIssue(stage=stage, kind=kind, message=f"{type(error).__name__}: {message}")


Given = TypeVar("Given")

Built = TypeVar("Built")


class WholeInput(Runnable[Given, Built]):
    """A step that needs its whole input: where a chain is streamed, mappings that come in pieces are put together.

    A planner in front of it streams a mapping key by key, and a key's value as it grows. LangChain adds pieces up by
    `+`, which mappings do not have, and would go on with the last piece alone.
    """

    def transform(self, input: Iterator[Given], config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Built]:
        """Give what comes of the whole input, as one piece."""
        yield self.invoke(reduce(_with_piece, input), config, **kwargs)

    async def atransform(
        self, input: AsyncIterator[Given], config: RunnableConfig | None = None, **kwargs: Any
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


class StoryStep(WholeInput[Given, Built], RunnableLambda[Given, Built]):
    """A function of a story as a step of a chain."""


class StepwiseChain(WholeInput[Given, Built]):
    """A chain of named steps that is itself a Runnable (`invoke`, `ainvoke`, `batch`, `with_retry`, `|`)."""

    def __init__(self, steps: Runnable[Given, Built]) -> None:
        self._steps = steps

    def invoke(self, input: Given, config: RunnableConfig | None = None, **kwargs: Any) -> Built:
        """Run the steps once."""
        return self._steps.invoke(input, self._configured(config, input), **kwargs)

    async def ainvoke(self, input: Given, config: RunnableConfig | None = None, **kwargs: Any) -> Built:
        """Do the same without blocking the event loop; the same body runs in worker threads."""
        return await self._steps.ainvoke(input, self._configured(config, input), **kwargs)

    def _configured(self, config: RunnableConfig | None, asked: Given) -> RunnableConfig:
        """Return the caller's configuration, with the chain's name where the caller gave none."""
        given = config or {}
        return {**given, "run_name": given.get("run_name") or self.get_name()}
