"""Which known thread a model means: by its id, else by its words where they are unmistakable."""

from __future__ import annotations

import re
from collections.abc import Sequence

from novelgen.language.language import significant_words
from novelgen.models.state import OpenLoop

MIN_SHARED = 0.5
"""Share of the words of both that must be common."""

MIN_LEAD = 0.2
"""How far the best thread must be ahead of the next."""

_LEADING_ID = re.compile(r"\W*((?:new-loop-|[A-Za-z]{1,4}-?)\w*\d+)\b")


def meant_thread(said: str, threads: Sequence[OpenLoop]) -> str | None:
    """Return the id of the thread that is meant, or None when nobody can tell."""
    known = {thread.loop_id.casefold(): thread.loop_id for thread in threads}
    leading = _LEADING_ID.match(said)
    for written in (said.strip(), leading.group(1) if leading else ""):
        if written.casefold() in known:
            return known[written.casefold()]
    ranked = sorted(
        ((_shared(said, thread.description), thread.loop_id) for thread in threads), key=lambda each: -each[0]
    )
    if not ranked or ranked[0][0] < MIN_SHARED:
        return None
    runner_up = ranked[1][0] if len(ranked) > 1 else 0.0
    return ranked[0][1] if ranked[0][0] - runner_up >= MIN_LEAD else None


def _shared(left: str, right: str) -> float:
    """Share of the words of two texts that both hold."""
    first, second = set(significant_words(left)), set(significant_words(right))
    return len(first & second) / max(1, len(first | second))
