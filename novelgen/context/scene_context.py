"""Everything that was found becomes one context within its budgets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from novelgen.context.labels import Labels, labels_for
from novelgen.context.lines import render_states
from novelgen.context.memories import AssembledMemories, assemble_memories
from novelgen.context.point_of_view import FoundStory, PointOfViewCut
from novelgen.context.retrieval_plan import PlannedQuery, RetrievalPlan
from novelgen.context.scene_planning import language_of
from novelgen.context.timeline import AssembledTimeline, assemble_timeline
from novelgen.language.language import TokenCounter
from novelgen.memory.outline import StoryOutline
from novelgen.memory.pay_off import SceneAhead
from novelgen.memory.search import SearchResult
from novelgen.models.context import (
    ContextReport,
    HiddenContext,
    LeftOff,
    LeftOutItem,
    LeftOutWhy,
    MemoryContextRequest,
    PointOfView,
    ReportedQuery,
    SceneMemoryContext,
)
from novelgen.models.memory import PASSAGE_TYPES, StoryMemoryChunk
from novelgen.models.state import EntityStateSnapshot
from novelgen.settings import ContextSettings


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
    """
    filled = [snapshot for snapshot in snapshots if snapshot.state_data]
    wanted = filled[:max_states]
    rendered = render_states(wanted, names, labels=labels, budget_tokens=budget_tokens, count_tokens=count_tokens)
    taken = [snapshot for snapshot in wanted if snapshot.entity_id in rendered.lines]
    budget = str(budget_tokens)
    too_many = LeftOutWhy(code="over_max_states", values={"limit": str(max_states)})
    no_room = LeftOutWhy(code="no_attribute_fits", values={"budget": budget})
    left_out = [_left_out(snapshot.entity_id, too_many) for snapshot in filled[max_states:]]
    left_out += [
        _left_out(snapshot.entity_id, no_room) for snapshot in wanted if snapshot.entity_id not in rendered.lines
    ]
    for entity_id, dropped in rendered.dropped.items():
        if entity_id in rendered.lines:
            told = {"budget": budget, "attributes": ", ".join(dropped)}
            left_out.append(_left_out(entity_id, LeftOutWhy(code="partly_in_prompt", values=told)))
    return AssembledStates(snapshots=taken, tokens=rendered.tokens, left_out=left_out)


def _left_out(entity_id: str, why: LeftOutWhy) -> LeftOutItem:
    return LeftOutItem(section="states", id=entity_id, reason=why.sentence, why=why)


class ContextParts(BaseModel):
    """Memories, states and timeline, each within its budget."""

    memories: AssembledMemories
    states: AssembledStates
    timeline: AssembledTimeline


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
    point_of_view: PointOfView | None = None,
    cut: PointOfViewCut | None = None,
    left_off: LeftOff | None = None,
) -> SceneMemoryContext:
    """Choose and bound memories, states and timeline, and write the receipts.

    Whatever lies at or after the planned scene is dropped here once more, whoever let it through.
    """
    language = language_of(request, story)
    assembler = _Assembler(request, story, plan, bounds, labels_for(language), count_tokens)
    found = cut.known if cut else FoundStory(story, search, states, timeline)
    names = {entity.entity_id: entity.name for entity in found.outline.entities}
    parts = assembler.parts(found, names)
    memories, shown, times = parts.memories, parts.states, parts.timeline
    ended, unknown = _known_end(left_off, cut, point_of_view, names)
    before = [*ended.present, ended.location_id or ""] if ended else []
    report = ContextReport(
        planner=plan.planner,
        queries=[cut.reported(query) if cut else _reported(query) for query in plan.queries],
        entities=plan.entity_ids,
        unresolved_names=cut.reported_names(plan.unresolved_names) if cut else plan.unresolved_names,
        names=_names_in_use(names, [*plan.entity_ids, *_ids_in(shown.snapshots), *_ids_in(times.timeline), *before]),
        items=memories.items,
        tokens={
            "memories": memories.tokens,
            "states": shown.tokens,
            "timeline": times.tokens,
            **({"left_off": ended.tokens} if ended else {}),
        },
        tokens_per_need={
            "states": shown.tokens,
            **({"left_off": ended.tokens} if ended else {}),
            **times.tokens_per_need,
            **memories.tokens_per_need,
        },
        left_out=[*memories.left_out, *shown.left_out, *times.left_out, *unknown],
        story_version=story.story_version,
        language=language,
        scene_plan=request.scene_plan,
        point_of_view=point_of_view,
    )
    return SceneMemoryContext(
        project_id=request.project_id,
        chapter_index=request.chapter_index,
        scene_index=request.scene_index,
        entity_states=shown.snapshots,
        relevant_memories=memories.chunks,
        timeline_context=times.timeline,
        left_off=ended,
        retrieval_timestamp=timestamp,
        report=report,
        hidden=_hidden(assembler, cut) if cut and point_of_view and point_of_view.mode == "separate" else None,
    )


def _known_end(
    left_off: LeftOff | None, cut: PointOfViewCut | None, point_of_view: PointOfView | None, names: Mapping[str, str]
) -> tuple[LeftOff | None, list[LeftOutItem]]:
    """Return the end of the scene before where the point of view saw all that it tells, else why it is left out."""
    if left_off is None or cut is None or point_of_view is None:
        return left_off, []
    place = (left_off.chapter_index, left_off.scene_index)
    if cut.view is not None and cut.view.saw_told(f"{left_off.title}\n{left_off.text}", *place):
        known_place = left_off.location_id if left_off.location_id in names else None
        present = [each for each in left_off.present if each in names]
        return left_off.model_copy(update={"location_id": known_place, "present": present}), []
    why = LeftOutWhy(code="not_known", values={"name": point_of_view.name})
    left_out = LeftOutItem(
        section="left_off", id=f"{place[0]}:{place[1]}", tokens=left_off.tokens, reason=why.sentence, why=why
    )
    return None, [left_out]


_SHARE_BESIDE_MEMORIES = 0.25
"""Of the budget of what is hidden its states may take so much, and its timeline; its memories take what is left."""


def _hidden(assembler: _Assembler, cut: PointOfViewCut) -> HiddenContext | None:
    """Return what the point of view does not know, or None where nothing of it was found or fits."""
    names = {entity.entity_id: entity.name for entity in cut.found.outline.entities}
    budget_tokens = assembler.bounds.hidden_budget
    beside = int(_SHARE_BESIDE_MEMORIES * budget_tokens)
    within = assembler.within(assembler.bounds.model_copy(update={"state_budget": beside, "timeline_budget": beside}))
    states = within.states(cut.hidden, names)
    times = within.timeline(cut.hidden, names, shown=(), memories=AssembledMemories())
    left_tokens = budget_tokens - states.tokens - times.tokens
    memories = assembler.memories(cut.hidden, budget_tokens=left_tokens)
    if not (memories.chunks or states.snapshots or times.timeline):
        return None
    used = [*_ids_in(states.snapshots), *_ids_in(times.timeline)]
    return HiddenContext(
        entity_states=states.snapshots,
        memories=memories.chunks,
        timeline_context=times.timeline,
        items=memories.items,
        names=_names_in_use(names, used),
        tokens={"memories": memories.tokens, "states": states.tokens, "timeline": times.tokens},
    )


@dataclass(frozen=True)
class _Assembler:
    """Chooses from what was found, within bounds."""

    request: MemoryContextRequest
    story: StoryOutline
    plan: RetrievalPlan
    bounds: ContextSettings
    labels: Labels
    count_tokens: TokenCounter

    def within(self, bounds: ContextSettings) -> _Assembler:
        """Return the same with other bounds."""
        return replace(self, bounds=bounds)

    def parts(self, found: FoundStory, names: Mapping[str, str]) -> ContextParts:
        """Return everything of a context."""
        states = self.states(found, names)
        memories = self.memories(found, budget_tokens=self.bounds.memory_budget)
        timeline = self.timeline(found, names, shown=states.snapshots, memories=memories)
        return ContextParts(memories=memories, states=states, timeline=timeline)

    def memories(self, found: FoundStory, *, budget_tokens: int) -> AssembledMemories:
        """Choose the memories; what the scene is like is told by the whole story."""
        return assemble_memories(
            self.request,
            self.story,
            self.plan,
            search=found.search,
            budget_tokens=budget_tokens,
            weights=self.bounds.weights,
            count_tokens=self.count_tokens,
            quotas=self.bounds.quotas,
            top_k=self.bounds.top_k if self.request.top_k is None else self.request.top_k,
            is_full_report=self.bounds.full_report,
        )

    def states(self, found: FoundStory, names: Mapping[str, str]) -> AssembledStates:
        """Choose the states."""
        return assemble_states(
            _before(found.states, self.request),
            names,
            labels=self.labels,
            budget_tokens=self.bounds.state_budget,
            max_states=self.bounds.max_states,
            count_tokens=self.count_tokens,
        )

    def timeline(
        self,
        found: FoundStory,
        names: Mapping[str, str],
        *,
        shown: Sequence[EntityStateSnapshot],
        memories: AssembledMemories,
    ) -> AssembledTimeline:
        """Fill the timeline; the memories chosen already tell which threads the scene could pay off."""
        return assemble_timeline(
            found.outline,
            _before(found.timeline, self.request),
            names,
            entity_ids=self.plan.entity_ids,
            shown_states=shown,
            labels=self.labels,
            budget_tokens=self.bounds.timeline_budget,
            count_tokens=self.count_tokens,
            quotas=self.bounds.quotas,
            pov_id=self.plan.pov_id,
            ahead=self._ahead(found, memories),
        )

    def _ahead(self, found: FoundStory, memories: AssembledMemories) -> SceneAhead:
        scene = self.request.scene_plan
        chosen = [each for each in memories.chunks if each.content_type not in PASSAGE_TYPES]
        return SceneAhead(
            texts=(scene.location, scene.purpose, *scene.key_actions),
            entity_ids=frozenset(self.plan.entity_ids),
            expected_ids=frozenset(self.plan.thread_ids),
            chosen=[(_place_of(each), each.content) for each in chosen],
            known_texts=[
                each.chunk.content
                for each in found.search.candidates
                if each.chunk.content_type not in PASSAGE_TYPES
                and self.request.position.admits(each.chunk.chapter_index, each.chunk.scene_index)
            ],
        )


def _place_of(chunk: StoryMemoryChunk) -> tuple[int, int] | None:
    if chunk.chapter_index is None or chunk.scene_index is None:
        return None
    return (chunk.chapter_index, chunk.scene_index)


def _before(snapshots: Sequence[EntityStateSnapshot], request: MemoryContextRequest) -> list[EntityStateSnapshot]:
    return [
        each
        for each in snapshots
        if each.project_id == request.project_id and request.position.admits(each.chapter_index, each.scene_index)
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
