"""What one run of the memory context chain has gathered so far."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from novelgen.chains.untraced import NOTHING_FOUND, Untraced, untraced_search
from novelgen.memory.outline import StoryOutline
from novelgen.memory.search import SearchResult
from novelgen.models.context import ReportIssue
from novelgen.models.request import MemoryContextRequest
from novelgen.models.state import EntityStateSnapshot
from novelgen.planning.retrieval_plan import RetrievalPlan

logger = logging.getLogger(__name__)

NOT_READ: Untraced[StoryOutline | None] = Untraced(None, "not read")


@dataclass(frozen=True)
class ContextRun:
    """The state that passes from step to step; every step returns a new one.

    Whoever traces the chain sees the request, the plan, the states and the issues, and of the outline and the
    search how much they hold.
    """

    request: MemoryContextRequest
    started_s: float
    story: Untraced[StoryOutline | None] = NOT_READ
    plan: RetrievalPlan = field(default_factory=RetrievalPlan)
    model_time_s: float = 0.0
    found: Untraced[SearchResult] = NOTHING_FOUND
    states: Sequence[EntityStateSnapshot] = ()
    timeline: Sequence[EntityStateSnapshot] = ()
    issues: tuple[ReportIssue, ...] = ()
    timings_s: dict[str, float] = field(default_factory=dict)

    @property
    def outline(self) -> StoryOutline | None:
        """The story before the scene; None when it could not be read at all."""
        return self.story.value

    @property
    def search(self) -> SearchResult:
        """What all retrievers found."""
        return self.found.value

    def with_outline(self, outline: StoryOutline) -> ContextRun:
        """Return the run with the story before the scene."""
        shown = f"{len(outline.scenes)} scenes, {len(outline.entities)} entities"
        return replace(self, story=Untraced(outline, shown))

    def with_search(self, search: SearchResult) -> ContextRun:
        """Return the run with what all retrievers found."""
        return replace(self, found=untraced_search(search))

    def with_issues(self, *issues: ReportIssue) -> ContextRun:
        """Return the run with further issues; each is logged once, here."""
        for issue in issues:
            logger.warning("%s %s: %s", issue.stage, issue.kind, issue.message)
        return replace(self, issues=(*self.issues, *issues))

    def with_timings(self, timings_s: dict[str, float]) -> ContextRun:
        """Return the run with further stages' seconds."""
        return replace(self, timings_s={**self.timings_s, **timings_s})

    def spent_s(self, clock: Callable[[], float] = time.monotonic) -> float:
        """Return the seconds spent so far, in which the model's time does not count."""
        return clock() - self.started_s - self.model_time_s
