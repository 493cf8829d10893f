"""Timeline entries as single lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from novelgen.rendering.labels import Labels
from novelgen.rendering.states import render_attribute

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
    kind = labels.list_separator.join(part for part in (entry["relationship_type"], entry["status"]) if part)
    views = [
        f"{name}{labels.colon}{view}"
        for name, view in ((first, entry.get("perspective_a")), (second, entry.get("perspective_b")))
        if view
    ]
    return labels.separator.join([f"{first} – {second}{labels.colon}{kind}", *views])


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
