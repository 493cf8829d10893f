"""What a failing tool means for a context: an issue, never an exception."""

from __future__ import annotations

import logging
from typing import Any

from novelgen.deadlines import CallOutcome
from novelgen.models.context import IssueKind, ReportIssue

logger = logging.getLogger(__name__)

# What our own bugs raise. A caller's tool may raise them too, so that in production they degrade like the rest.
BUGS = (TypeError, KeyError, AttributeError, AssertionError, NameError, NotImplementedError)


def issue_of(stage: str, outcome: CallOutcome[Any], *, propagate_bugs: bool) -> ReportIssue | None:
    """Return what a tool's failure means for the context, or None when it answered.

    Args:
        stage: What was being done.
        outcome: How the call ended.
        propagate_bugs: Whether to raise what only a programming error raises, as tests want it.

    Raises:
        Exception: A programming error, when `propagate_bugs` is set.
    """
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
