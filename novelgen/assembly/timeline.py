"""The timeline of a context: summaries, threads, recent events, relationships, recent changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from novelgen.assembly.timeline_filling import FILL_ORDER, TimelineLine, fill_timeline
from novelgen.memory.outline import StoryOutline
from novelgen.models.context import LeftOutItem
from novelgen.models.loop import LOOP_WEIGHTS, OpenLoop
from novelgen.models.relationship import Relationship
from novelgen.models.state import EntityStateSnapshot
from novelgen.rendering.labels import Labels
from novelgen.rendering.timeline import SECTION_ORDER, render_timeline_entry
from novelgen.selection.quotas import DEFAULT_QUOTAS, NeedQuotas

RECENT_SCENES = 3


class AssembledTimeline(BaseModel):
    """`timeline_context` within its budget; None when there is nothing to tell."""

    timeline: dict[str, list[dict[str, Any]]] | None = None
    tokens: int = 0
    tokens_per_need: dict[str, int] = Field(default_factory=dict, description="Adds up to `tokens`.")
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
    quotas: NeedQuotas = DEFAULT_QUOTAS,
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
        quotas: Shares of the budget.

    Returns:
        Sections in the order that a reader wants (`part_summaries`, `chapter_summaries`, `recent_events`,
        `open_loops`, `relationships`, `snapshots`), each in story order; a section without entries is absent.
    """

    def line(section: str, depth: int, entry: dict[str, Any]) -> TimelineLine:
        text = render_timeline_entry(section, entry, names, labels=labels)
        return TimelineLine(section, depth, entry, text, count_tokens(text))

    wanted = _wanted_entries(outline, snapshots, entity_ids, shown_states)
    lines = {
        section: [line(section, depth, entry) for depth, entry in enumerate(entries)]
        for section, entries in wanted.items()
    }
    filled = fill_timeline(lines, budget_tokens=budget_tokens, quotas=quotas)
    timeline = {
        section: _in_story_order(taken)
        for section in SECTION_ORDER
        if (taken := [each for each in filled.taken if each.section == section])
    }
    return AssembledTimeline(
        timeline=timeline or None,
        tokens=sum(each.tokens for each in filled.taken),
        tokens_per_need=dict(filled.tokens_per_need()),
        left_out=[_left_out(each, reason) for each, reason in filled.left_out],
    )


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
            **({"unverified": list(each.unverified)} if each.unverified else {}),
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
        entries["chapter_summaries"] = _latest_first(outline.chapter_summaries)
        entries["part_summaries"] = _latest_first(outline.part_summaries)
    return entries


def _latest_first(summaries: Sequence[BaseModel]) -> list[dict[str, Any]]:
    return [summary.model_dump(mode="json") for summary in reversed(summaries)]


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


def _in_story_order(lines: Sequence[TimelineLine]) -> list[dict[str, Any]]:
    def place(line: TimelineLine) -> tuple[int, int, int]:
        chapter, scene = line.entry.get("chapter_index"), line.entry.get("scene_index")
        return (-1 if chapter is None else chapter, -1 if scene is None else scene, line.depth)

    return [dict(line.entry) for line in sorted(lines, key=place)]


def _left_out(line: TimelineLine, reason: str) -> LeftOutItem:
    name = line.entry.get("loop_id") or line.entry.get("relationship_id") or line.entry.get("entity_id") or ""
    return LeftOutItem(
        section="timeline",
        id=f"{line.section}:{name}" if name else line.section,
        text=line.text,
        tokens=line.tokens,
        reason=reason,
    )
