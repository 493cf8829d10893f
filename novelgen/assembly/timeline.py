"""The timeline of a context: threads, recent events, relationships, recent changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from novelgen.memory.outline import StoryOutline
from novelgen.models.context import LeftOutItem
from novelgen.models.loop import LOOP_WEIGHTS, OpenLoop
from novelgen.models.relationship import Relationship
from novelgen.models.state import EntityStateSnapshot
from novelgen.rendering.labels import Labels
from novelgen.rendering.timeline import render_timeline_entry

RECENT_SCENES = 3
# Rounds serve the sections in this order, so that each gets its most wanted entry before any gets a second.
FILL_ORDER = ("open_loops", "recent_events", "relationships", "chapter_summaries", "snapshots")


class AssembledTimeline(BaseModel):
    """`timeline_context` within its budget; None when there is nothing to tell."""

    timeline: dict[str, list[dict[str, Any]]] | None = None
    tokens: int = 0
    left_out: list[LeftOutItem] = Field(default_factory=list)


def assemble_timeline(
    outline: StoryOutline | None,
    snapshots: Sequence[EntityStateSnapshot],
    names: Mapping[str, str],
    *,
    entity_ids: Sequence[str],
    shown_states: Sequence[EntityStateSnapshot],
    labels: Labels,
    budget_tokens: int,
    count_tokens: Callable[[str], int],
) -> AssembledTimeline:
    """Fill the timeline in rounds over its sections until the budget is full.

    Args:
        outline: What the story has shown before the position; None when it could not be read.
        snapshots: Snapshots of the chapters around, in story order.
        names: Entity id to name, for the lines.
        entity_ids: Entities that the scene touches; threads and relationships of theirs come first.
        shown_states: Snapshots already in the context; of their entities no earlier state is told.
        labels: Words of the story's language.
        budget_tokens: Bound for all lines together.
        count_tokens: Token counter.

    Returns:
        Sections in the order that a reader wants (`chapter_summaries`, `recent_events`, `open_loops`,
        `relationships`, `snapshots`), each in story order; a section without entries is absent.
    """
    wanted = _wanted_entries(outline, snapshots, entity_ids, shown_states)
    taken: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    left_out: list[LeftOutItem] = []
    used = 0
    for depth in range(max((len(entries) for entries in wanted.values()), default=0)):
        for section in FILL_ORDER:
            if depth >= len(wanted[section]):
                continue
            entry = wanted[section][depth]
            line = render_timeline_entry(section, entry, names, labels=labels)
            cost = count_tokens(line)
            if used + cost <= budget_tokens:
                taken.setdefault(section, []).append((depth, entry))
                used += cost
            else:
                left_out.append(_left_out(section, entry, line, cost, budget_tokens))
    timeline = {section: _in_story_order(taken[section]) for section in FILL_ORDER if section in taken}
    return AssembledTimeline(timeline=timeline or None, tokens=used, left_out=left_out)


def _wanted_entries(
    outline: StoryOutline | None,
    snapshots: Sequence[EntityStateSnapshot],
    entity_ids: Sequence[str],
    shown_states: Sequence[EntityStateSnapshot],
) -> dict[str, list[dict[str, Any]]]:
    touched = set(entity_ids)
    shown = {state.entity_id for state in shown_states}
    changes = [
        {
            "entity_id": each.entity_id,
            "chapter_index": each.chapter_index,
            "scene_index": each.scene_index,
            "state_data": {key: value for key, value in each.state_data.items() if key != "presence"},
        }
        for each in reversed(snapshots)
        if each.entity_id not in shown
    ]
    entries: dict[str, list[dict[str, Any]]] = {section: [] for section in FILL_ORDER}
    entries["snapshots"] = [change for change in changes if change["state_data"]]
    if outline is not None:
        entries["open_loops"] = [_loop_entry(loop) for loop in rank_loops(outline.open_loops, touched)]
        entries["recent_events"] = _recent_events(outline)
        entries["relationships"] = [
            _relationship_entry(each) for each in _touching_relationships(outline.relationships, touched)
        ]
        entries["chapter_summaries"] = [
            summary.model_dump(mode="json") for summary in reversed(outline.chapter_summaries)
        ]
    return entries


def rank_loops(loops: Sequence[OpenLoop], touched: set[str]) -> list[OpenLoop]:
    """Order open loops: those of the scene's entities first, then the weighty, then the old."""
    return sorted(
        loops,
        key=lambda loop: (
            -min(2, len(touched & set(loop.related_entities))),
            -LOOP_WEIGHTS[loop.importance],
            -(loop.age_scenes or 0),
            loop.loop_id,
        ),
    )


def _recent_events(outline: StoryOutline) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    for scene in reversed(outline.scenes[-RECENT_SCENES:]):
        events += [
            {"chapter_index": scene.chapter_index, "scene_index": scene.scene_index, "event": event}
            for event in scene.key_events
        ]
    return events


def _touching_relationships(relationships: Sequence[Relationship], touched: set[str]) -> list[Relationship]:
    """Relationships whose both sides the scene touches, the most intense and most recent first."""
    both = [each for each in relationships if {each.character_a, each.character_b} <= touched]
    return sorted(
        both,
        key=lambda each: (
            -each.intensity,
            -(each.chapter_index or 0),
            -(each.scene_index or 0),
            each.relationship_id,
        ),
    )


def _loop_entry(loop: OpenLoop) -> dict[str, Any]:
    return loop.model_dump(mode="json", exclude={"resolution_summary"})


def _relationship_entry(relationship: Relationship) -> dict[str, Any]:
    return relationship.model_dump(mode="json", exclude={"history"})


def _in_story_order(entries: Sequence[tuple[int, dict[str, Any]]]) -> list[dict[str, Any]]:
    def place(pair: tuple[int, dict[str, Any]]) -> tuple[int, int, int]:
        depth, entry = pair
        chapter, scene = entry.get("chapter_index"), entry.get("scene_index")
        return (-1 if chapter is None else chapter, -1 if scene is None else scene, depth)

    return [entry for _, entry in sorted(entries, key=place)]


def _left_out(section: str, entry: Mapping[str, Any], line: str, cost: int, budget: int) -> LeftOutItem:
    name = entry.get("loop_id") or entry.get("relationship_id") or entry.get("entity_id") or ""
    return LeftOutItem(
        section="timeline",
        id=f"{section}:{name}" if name else section,
        text=line,
        tokens=cost,
        reason=f"does not fit what timeline_budget={budget} has left",
    )
