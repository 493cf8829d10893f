"""Everything that was found becomes one context within its budgets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from novelgen.assembly.memories import assemble_memories
from novelgen.assembly.states import assemble_states
from novelgen.assembly.timeline import assemble_timeline
from novelgen.memory.outline import StoryOutline
from novelgen.memory.search import SearchResult
from novelgen.models.context import ContextReport, ReportedQuery, SceneMemoryContext
from novelgen.models.request import MemoryContextRequest
from novelgen.models.state import EntityStateSnapshot
from novelgen.planning.retrieval_plan import PlannedQuery, RetrievalPlan
from novelgen.planning.scene_planning import language_of
from novelgen.rendering.labels import labels_for
from novelgen.selection.quotas import NeedQuotas
from novelgen.selection.weights import SelectionWeights
from novelgen.text.tokens import TokenCounter


class ContextBounds(Protocol):
    """What a context may cost; the chain's settings fulfil it."""

    @property
    def memory_budget(self) -> int: ...
    @property
    def state_budget(self) -> int: ...
    @property
    def timeline_budget(self) -> int: ...
    @property
    def max_states(self) -> int: ...
    @property
    def weights(self) -> SelectionWeights: ...
    @property
    def quotas(self) -> NeedQuotas: ...


def assemble_context(
    request: MemoryContextRequest,
    story: StoryOutline,
    plan: RetrievalPlan,
    *,
    search: SearchResult,
    states: Sequence[EntityStateSnapshot],
    timeline: Sequence[EntityStateSnapshot],
    bounds: ContextBounds,
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
    labels = labels_for(language_of(request, story))
    memories = assemble_memories(
        request,
        story,
        plan,
        search=search,
        budget_tokens=bounds.memory_budget,
        weights=bounds.weights,
        count_tokens=count_tokens,
        quotas=bounds.quotas,
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
