"""Everything that was found becomes one context within its budgets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from novelgen.assembly.memories import assemble_memories
from novelgen.assembly.timeline import assemble_timeline
from novelgen.memory.outline import StoryOutline
from novelgen.memory.search import SearchResult
from novelgen.models.context import (
    ContextReport,
    LeftOutItem,
    MemoryContextRequest,
    ReportedQuery,
    SceneMemoryContext,
)
from novelgen.models.state import EntityStateSnapshot
from novelgen.planning.retrieval_plan import PlannedQuery, RetrievalPlan
from novelgen.planning.scene_planning import language_of
from novelgen.rendering.labels import Labels, labels_for
from novelgen.rendering.lines import render_states
from novelgen.settings import ContextSettings
from novelgen.text.language import TokenCounter


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


def assemble_context(
    request: MemoryContextRequest,
    story: StoryOutline,
    plan: RetrievalPlan,
    *,
    search: SearchResult,
    states: Sequence[EntityStateSnapshot],
    timeline: Sequence[EntityStateSnapshot],
    bounds: ContextSettings,
    count_tokens: TokenCounter,
    timestamp: datetime,
) -> SceneMemoryContext:
    """Choose and bound memories, states and timeline, and write the receipts.

    Whatever lies at or after the planned scene is dropped here once more, whoever let it through.

    Args:
        request: The planned scene.
        story: The story before it.
        plan: What was looked up.
        search: Candidates of all retrievers.
        states: Snapshots, most wanted first.
        timeline: Snapshots of the chapters around, in story order.
        bounds: Budgets.
        count_tokens: Token counter of the budgets.
        timestamp: Moment of retrieval.

    Returns:
        The context with its report; issues and timings are left to the chain.
    """
    names = {entity.entity_id: entity.name for entity in story.entities}
    language = language_of(request, story)
    labels = labels_for(language)
    memories = assemble_memories(
        request,
        story,
        plan,
        search=search,
        budget_tokens=bounds.memory_budget,
        weights=bounds.weights,
        count_tokens=count_tokens,
        quotas=bounds.quotas,
        top_k=bounds.top_k if request.top_k is None else request.top_k,
        is_full_report=bounds.full_report,
    )
    shown = assemble_states(
        _before(states, request),
        names,
        labels=labels,
        budget_tokens=bounds.state_budget,
        max_states=bounds.max_states,
        count_tokens=count_tokens,
    )
    times = assemble_timeline(
        story,
        _before(timeline, request),
        names,
        entity_ids=plan.entity_ids,
        shown_states=shown.snapshots,
        labels=labels,
        budget_tokens=bounds.timeline_budget,
        count_tokens=count_tokens,
        quotas=bounds.quotas,
    )
    report = ContextReport(
        planner=plan.planner,
        queries=[_reported(query) for query in plan.queries],
        entities=plan.entity_ids,
        unresolved_names=plan.unresolved_names,
        names=_names_in_use(names, [*plan.entity_ids, *_ids_in(shown.snapshots), *_ids_in(times.timeline)]),
        items=memories.items,
        tokens={"memories": memories.tokens, "states": shown.tokens, "timeline": times.tokens},
        tokens_per_need={"states": shown.tokens, **times.tokens_per_need, **memories.tokens_per_need},
        left_out=[*memories.left_out, *shown.left_out, *times.left_out],
        story_version=story.story_version,
        language=language,
        scene_plan=request.scene_plan,
    )
    return SceneMemoryContext(
        project_id=request.project_id,
        chapter_index=request.chapter_index,
        scene_index=request.scene_index,
        entity_states=shown.snapshots,
        relevant_memories=memories.chunks,
        timeline_context=times.timeline,
        retrieval_timestamp=timestamp,
        report=report,
    )


def _before(
    snapshots: Sequence[EntityStateSnapshot], request: MemoryContextRequest
) -> list[EntityStateSnapshot]:
    return [
        each
        for each in snapshots
        if each.project_id == request.project_id
        and request.position.admits(each.chapter_index, each.scene_index)
    ]


def _reported(query: PlannedQuery) -> ReportedQuery:
    return ReportedQuery(
        text=query.text,
        origin=query.origin,
        purpose=query.purpose,
        entities=query.entities,
        content_type=query.content_type,
        tags=query.tags,
    )


def _names_in_use(names: Mapping[str, str], used: Iterable[str]) -> dict[str, str]:
    return {each: names[each] for each in sorted(set(used)) if each in names}


def _ids_in(value: Any) -> list[str]:
    """Every string in a nested value; those that are entity ids are picked out by the caller."""
    if isinstance(value, EntityStateSnapshot):
        return [value.entity_id, *_ids_in(value.state_data)]
    if isinstance(value, Mapping):
        return [each for part in value.values() for each in _ids_in(part)]
    if isinstance(value, list | tuple):
        return [each for part in value for each in _ids_in(part)]
    return [value] if isinstance(value, str) else []
