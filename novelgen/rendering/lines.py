"""Entity states and timeline entries as compact lines, the states within a token budget."""

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
    "place",
    "holder",
    "condition",
    "physical_state",
    "inventory",
    "knowledge",
    "goals",
    "emotional_state",
    "for_now",
)

HOLDS = "holds"
"""Under which name a line tells the things that have somebody as their holder."""


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
    carried = render_value(data.get("inventory", []), names, labels).casefold()
    held = [each for each in snapshot.holds if names.get(each, each).casefold() not in carried]
    if held:
        parts.append((HOLDS, render_attribute(HOLDS, held, names, labels)))
    presence = data.get(PRESENCE_ATTRIBUTE)
    if isinstance(presence, Mapping) and not {"location_id", "place"} & data.keys():
        # Who was only seen, nobody knows where, was seen in a scene.
        where = presence.get("location_id") or (place_of(presence, labels) if not parts else None)
        if where:
            parts.append((PRESENCE_ATTRIBUTE, render_attribute(PRESENCE_ATTRIBUTE, where, names, labels)))
    return parts


def _line(
    snapshot: EntityStateSnapshot, texts: Sequence[str], names: Mapping[str, str], labels: Labels
) -> str:
    name = names.get(snapshot.entity_id, snapshot.entity_id)
    return f"- {name}{labels.colon}{labels.separator.join(texts)}"


DEFAULT_INTENSITY = 5
"""Not worth telling."""

SECTION_ORDER = (
    "part_summaries",
    "chapter_summaries",
    "recent_events",
    "open_loops",
    "relationships",
    "snapshots",
)


def place_of(entry: Mapping[str, Any], labels: Labels) -> str:
    """Render an entry's source position: `3:2`, `3`, or the word for everywhere."""
    chapter, scene = entry.get("chapter_index"), entry.get("scene_index")
    if chapter is None:
        return labels.everywhere
    return f"{chapter}" if scene is None else f"{chapter}:{scene}"


def render_timeline_entry(
    section: str, entry: Mapping[str, Any], names: Mapping[str, str], *, labels: Labels
) -> str:
    """Render one entry of `timeline_context` as a line with its source position, of a part from where to where."""
    body = _BODIES[section](entry, names, labels)
    start = f"{entry['first_chapter']}–" if section == "part_summaries" else ""
    return f"- [{start}{place_of(entry, labels)}] {body}"


def _event(entry: Mapping[str, Any], names: Mapping[str, str], labels: Labels) -> str:
    return str(entry["event"])


def _loop(entry: Mapping[str, Any], names: Mapping[str, str], labels: Labels) -> str:
    moving = f" ({labels.advanced})" if entry.get("status") == "advanced" else ""
    return f"{entry['description']}{moving}"


def _relationship(entry: Mapping[str, Any], names: Mapping[str, str], labels: Labels) -> str:
    first, second = (names.get(entry[key], entry[key]) for key in ("character_a", "character_b"))
    intensity = entry.get("intensity", DEFAULT_INTENSITY)
    weight = f"{labels.intensity} {intensity}" if intensity != DEFAULT_INTENSITY else ""
    both = _feelings(entry.get("dimensions"), labels)
    kind = labels.list_separator.join(
        part for part in (entry["relationship_type"], entry["status"], weight, both) if part
    )
    views = [
        f"{name}{labels.colon}{labels.list_separator.join(told)}"
        for name, side in ((first, "a"), (second, "b"))
        if (
            told := [
                each
                for each in (
                    entry.get(f"perspective_{side}"),
                    _feelings(entry.get(f"dimensions_{side}"), labels),
                )
                if each
            ]
        )
    ]
    happened = entry.get("latest_event")
    latest = [f"{labels.latest}{labels.colon}{happened}"] if happened else []
    return labels.separator.join([f"{first} – {second}{labels.colon}{kind}", *views, *latest])


def _feelings(values: Mapping[str, int] | None, labels: Labels) -> str:
    return labels.list_separator.join(
        f"{labels.dimensions.get(name, name)} {value}" for name, value in (values or {}).items() if value
    )


def _snapshot(entry: Mapping[str, Any], names: Mapping[str, str], labels: Labels) -> str:
    name = names.get(entry["entity_id"], entry["entity_id"])
    state = entry["state_data"]
    unverified = entry.get("unverified", ())
    texts = [
        render_attribute(key, state[key], names, labels, is_proven=key not in unverified) for key in state
    ]
    return f"{name}{labels.colon}{labels.separator.join(texts)}"


def _summary(entry: Mapping[str, Any], names: Mapping[str, str], labels: Labels) -> str:
    return str(entry["summary"])


def _part(entry: Mapping[str, Any], names: Mapping[str, str], labels: Labels) -> str:
    title = f"{entry['title']}{labels.colon}" if entry.get("title") else ""
    return f"{title}{entry['summary']}"


_BODIES = {
    "recent_events": _event,
    "open_loops": _loop,
    "relationships": _relationship,
    "snapshots": _snapshot,
    "chapter_summaries": _summary,
    "part_summaries": _part,
}
