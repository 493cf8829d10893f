"""Which entity states enter the context."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pydantic import BaseModel, Field

from novelgen.models.context import LeftOutItem
from novelgen.models.state import EntityStateSnapshot
from novelgen.rendering.labels import Labels
from novelgen.rendering.states import render_states


class AssembledStates(BaseModel):
    """Snapshots within bounds, in the order given, their cost in the prompt, and what was left out."""

    snapshots: list[EntityStateSnapshot] = Field(default_factory=list)
    tokens: int = 0
    left_out: list[LeftOutItem] = Field(default_factory=list)


def assemble_states(
    snapshots: Sequence[EntityStateSnapshot],
    names: Mapping[str, str],
    *,
    labels: Labels,
    budget_tokens: int,
    max_states: int,
    count_tokens: Callable[[str], int],
) -> AssembledStates:
    """Take the first `max_states` snapshots of which at least one attribute fits the budget.

    A snapshot is never cut: it holds its whole state. The budget bounds its line in the prompt.

    Args:
        snapshots: Most wanted first, empty states excluded by the caller or dropped here.
        names: Entity id to name, for the lines.
        labels: Words of the story's language.
        budget_tokens: Bound for all lines together.
        max_states: Bound for the number of snapshots.
        count_tokens: Token counter.
    """
    filled = [snapshot for snapshot in snapshots if snapshot.state_data]
    wanted = filled[:max_states]
    rendered = render_states(
        wanted, names, labels=labels, budget_tokens=budget_tokens, count_tokens=count_tokens
    )
    taken = [snapshot for snapshot in wanted if snapshot.entity_id in rendered.lines]
    left_out = [_left_out(snapshot, f"more than max_states={max_states}") for snapshot in filled[max_states:]]
    left_out += [
        _left_out(snapshot, f"no attribute fits state_budget={budget_tokens}")
        for snapshot in wanted
        if snapshot.entity_id not in rendered.lines
    ]
    left_out += [
        LeftOutItem(
            section="states",
            id=entity_id,
            reason=f"in the JSON only, not in the prompt within state_budget={budget_tokens}: {', '.join(dropped)}",
        )
        for entity_id, dropped in rendered.dropped.items()
        if entity_id in rendered.lines
    ]
    return AssembledStates(snapshots=taken, tokens=rendered.tokens, left_out=left_out)


def _left_out(snapshot: EntityStateSnapshot, reason: str) -> LeftOutItem:
    return LeftOutItem(section="states", id=snapshot.entity_id, reason=reason)
