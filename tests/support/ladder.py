"""The seconds that a context's stages have, derived from the table of shares."""

from __future__ import annotations

import math

from novelgen.deadlines import SHARES, Deadline


def ladder(*, chain_timeout_s: float, tool_timeout_s: float) -> dict[str, float]:
    """Return the seconds of every stage of a context, each begun with nothing spent before it."""
    stages = {"context": Deadline.after(chain_timeout_s, stage="context", clock=lambda: 0.0)}
    for name, share in SHARES.items():
        limit_s = tool_timeout_s if share.of == "context" else math.inf
        stages[name] = stages[share.of].share(name, at_most_s=limit_s)
    return {name: round(deadline.remaining_s, 2) for name, deadline in stages.items()}
