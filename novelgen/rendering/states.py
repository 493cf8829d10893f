"""Entity states as compact lines within a token budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from novelgen.models.state import PRESENCE_ATTRIBUTE, EntityStateSnapshot
from novelgen.rendering.labels import Labels

ATTRIBUTE_ORDER = (
    "status",
    "identity",
    "disguise",
    "location_id",
    "holder",
    "physical_state",
    "inventory",
    "knowledge",
    "goals",
    "emotional_state",
)


class RenderedStates(BaseModel):
    """State lines that fit a budget, and what did not.

    `lines` has one entry per snapshot that got at least one attribute, in the snapshots' order.
    """

    lines: dict[str, str] = Field(default_factory=dict, description="Entity id to its line.")
    tokens: int = 0
    dropped: dict[str, list[str]] = Field(
        default_factory=dict, description="Entity id to attributes left out."
    )


def render_states(
    snapshots: Sequence[EntityStateSnapshot],
    names: Mapping[str, str],
    *,
    labels: Labels,
    budget_tokens: int,
    count_tokens: Callable[[str], int],
) -> RenderedStates:
    """Render states so that every entity is served before any is served twice.

    Attributes enter in rounds: the weightiest attribute of each entity first, in the order of the
    snapshots, then the second of each, until the budget is full. An attribute enters whole or not at all;
    those that no quote proves come last, and say so.

    Args:
        snapshots: Most wanted first; an entity occurs once.
        names: Entity id to the name under which it is known at the position.
        labels: Words of the story's language.
        budget_tokens: Upper bound for all lines together.
        count_tokens: Token counter.
    """
    parts = [_state_parts(snapshot, names, labels) for snapshot in snapshots]
    taken: list[list[str]] = [[] for _ in snapshots]
    dropped: dict[str, list[str]] = {}
    used = 0
    for depth in range(max((len(each) for each in parts), default=0)):
        for index, snapshot in enumerate(snapshots):
            if depth >= len(parts[index]):
                continue
            attribute, text = parts[index][depth]
            line = _line(snapshot, [*taken[index], text], names, labels)
            before = count_tokens(_line(snapshot, taken[index], names, labels)) if taken[index] else 0
            cost = count_tokens(line) - before
            if used + cost <= budget_tokens:
                taken[index].append(text)
                used += cost
            else:
                dropped.setdefault(snapshot.entity_id, []).append(attribute)
    lines = {
        snapshot.entity_id: _line(snapshot, taken[index], names, labels)
        for index, snapshot in enumerate(snapshots)
        if taken[index]
    }
    return RenderedStates(lines=lines, tokens=used, dropped=dropped)


def render_attribute(
    name: str, value: Any, names: Mapping[str, str], labels: Labels, *, is_proven: bool = True
) -> str:
    """Render one attribute with its value; one that no quote proves says so."""
    mark = "" if is_proven else labels.unverified
    return f"{labels.attribute(name)}{labels.colon}{render_value(value, names, labels)}{mark}"


def render_value(value: Any, names: Mapping[str, str], labels: Labels) -> str:
    """Render one attribute's value: ids become names, lists and dicts are joined."""
    if isinstance(value, Mapping):
        pairs = (f"{key}{labels.colon}{render_value(each, names, labels)}" for key, each in value.items())
        return labels.list_separator.join(pairs)
    if isinstance(value, list | tuple):
        return labels.list_separator.join(render_value(each, names, labels) for each in value)
    text = str(value)
    return names.get(text, text)


def _state_parts(
    snapshot: EntityStateSnapshot, names: Mapping[str, str], labels: Labels
) -> list[tuple[str, str]]:
    data = snapshot.state_data
    ordered = [name for name in ATTRIBUTE_ORDER if name in data]
    ordered += sorted(name for name in data if name not in ATTRIBUTE_ORDER and name != PRESENCE_ATTRIBUTE)
    parts = [
        (name, render_attribute(name, data[name], names, labels, is_proven=name not in snapshot.unverified))
        for name in sorted(ordered, key=lambda each: each in snapshot.unverified)
    ]
    presence = data.get(PRESENCE_ATTRIBUTE)
    if isinstance(presence, Mapping) and "location_id" not in data and presence.get("location_id"):
        place = render_attribute(PRESENCE_ATTRIBUTE, presence["location_id"], names, labels)
        parts.append((PRESENCE_ATTRIBUTE, place))
    return parts


def _line(
    snapshot: EntityStateSnapshot, texts: Sequence[str], names: Mapping[str, str], labels: Labels
) -> str:
    name = names.get(snapshot.entity_id, snapshot.entity_id)
    return f"- {name}{labels.colon}{labels.separator.join(texts)}"
