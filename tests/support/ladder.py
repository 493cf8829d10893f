"""The seconds that the stages of a context and of a check have, derived from the table of shares."""

import math

from novelgen.deadlines import SHARES, Deadline
from novelgen.settings import ContinuitySettings


def ladder(*, chain_timeout_s: float, tool_timeout_s: float) -> dict[str, float]:
    """Return the seconds of every stage, each begun with nothing spent before it; of a check by the defaults."""
    roots = {"context": chain_timeout_s, "check": ContinuitySettings().timeout_s}
    stages = {name: Deadline.after(timeout_s, stage=name, clock=lambda: 0.0) for name, timeout_s in roots.items()}
    for name, share in SHARES.items():
        limit_s = tool_timeout_s if share.of == "context" else math.inf
        stages[name] = stages[share.of].share(name, at_most_s=limit_s)
    return {name: round(deadline.remaining_s, 2) for name, deadline in stages.items()}
