"""Everything that was found becomes one context within its budgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, get_args

from novelgen.context.lines import (
    Labels,
    labels_for,
    render_attribute,
    render_states,
    render_timeline_entry,
    state_parts,
)
from novelgen.context.point_of_view import FoundStory, PointOfViewCut
from novelgen.context.prompt_block import prompt_order
from novelgen.context.retrieval_plan import RetrievalPlan
from novelgen.context.scene_planning import language_of
from novelgen.context.timeline import AssembledTimeline, assemble_timeline, story_so_far
from novelgen.language.language import TokenCounter, significant_words
from novelgen.memory.attributes import slot_of
from novelgen.memory.outline import StoryOutline
from novelgen.memory.pay_off import SceneAhead
from novelgen.memory.retelling import content_words
from novelgen.memory.search import Candidate, SearchResult, SelectionScene
from novelgen.memory.select import Selection, select_memories
from novelgen.models.context import (
    ContextItem,
    ContextReport,
    HiddenContext,
    HoldsNow,
    LeftOff,
    LeftOutItem,
    LeftOutWhy,
    MemoryContextRequest,
    PointOfView,
    ReportedQuery,
    SceneMemoryContext,
    ToldBefore,
    ToldSection,
)
from novelgen.models.memory import NOTE_ID, PASSAGE_TYPES, StoryMemoryChunk, is_entity_target
from novelgen.models.position import Place, sort_key, story_place
from novelgen.models.state import EntityStateSnapshot
from novelgen.settings import ContextSettings


def with_what_holds(
    chosen: Selection,
    found: Sequence[StoryMemoryChunk],
    request: MemoryContextRequest,
    *,
    slots: Mapping[str, tuple[Place, str]],
    is_told: bool,
) -> Selection:
    """Return the memories with their successors, in words if needed."""
    named = {each.memory_id: each for each in found if request.position.admits(each.chapter_index, each.scene_index)}
    told = {each.memory_id for each in chosen.items}
    items: list[ContextItem] = []
    for item, chunk in zip(chosen.items, chosen.chunks, strict=True):
        if item.told_in is not None:
            items.append(item)
            continue
        newer = _newest(chunk, named)
        slot = slots.get(chunk.slot_type or "") if chunk.superseded_by else None
        if slot is not None and slot[0] > story_place(chunk):
            source_id = (newer and newer.source_id) or chunk.superseded_by or ""
            now = HoldsNow(source_id=source_id, chapter_index=slot[0][0], scene_index=slot[0][1], text=slot[1])
        elif newer is not None:
            source_id = newer.memory_id
            words = newer.short or newer.content
            is_new = source_id not in told and newer.superseded_by is None
            # A newer memory of several facts may be short for another one of them.
            text = words if is_new and content_words(words) & content_words(chunk.content) else ""
            place = newer.model_dump(include={"chapter_index", "scene_index"})
            now = HoldsNow(source_id=source_id, text=text, **place)
        else:
            items.append(item)
            continue
        told.add(source_id)
        items.append(item.model_copy(update={"holds_now": now if is_told else now.model_copy(update={"text": ""})}))
    return replace(chosen, items=tuple(items))


def _newest(chunk: StoryMemoryChunk, named: Mapping[str, StoryMemoryChunk]) -> StoryMemoryChunk | None:
    """Return the latest found successor of a memory."""
    met = [chunk]
    while (newer := named.get(met[-1].superseded_by or "")) is not None and newer not in met:
        met.append(newer)
    return met[-1] if len(met) > 1 else None


def admitted_candidates(search: SearchResult, request: MemoryContextRequest) -> list[Candidate]:
    """Return the project's candidates strictly before the scene."""
    return [
        candidate
        for candidate in search.candidates
        if candidate.chunk.project_id == request.project_id
        and request.position.admits(candidate.chunk.chapter_index, candidate.chunk.scene_index)
    ]


def selection_scene(story: StoryOutline, plan: RetrievalPlan, search: SearchResult) -> SelectionScene:
    """Return the planned scene as the choice sees it."""
    return SelectionScene(
        ordinal=len(story.scenes),
        queries=plan.queries,
        vectors=search.query_vectors,
        entity_ids=frozenset(each for each in plan.entity_ids if each not in plan.inferred_ids),
        ordinals={story_place(each): ordinal for ordinal, each in enumerate(story.scenes)},
        open_loops=tuple(story.open_loops),
        unread_places=frozenset(story_place(scene) for scene in story.scenes if scene.is_guessed),
    )


@dataclass(frozen=True)
class AssembledStates:
    """Snapshots within bounds in order, their cost, and the omitted ones."""

    snapshots: list[EntityStateSnapshot]
    tokens: int
    left_out: list[LeftOutItem]


def assemble_states(
    snapshots: Sequence[EntityStateSnapshot],
    names: Mapping[str, str],
    *,
    labels: Labels,
    budget_tokens: int,
    max_states: int,
    count_tokens: TokenCounter,
    also_called: Mapping[str, str] | None = None,
) -> AssembledStates:
    """Take the first `max_states` snapshots, each whole, of which at least one attribute fits the budget."""
    filled = [snapshot for snapshot in snapshots if state_parts(snapshot, names, labels)]
    wanted = filled[:max_states]
    rendered = render_states(
        wanted, names, labels=labels, budget_tokens=budget_tokens, count_tokens=count_tokens, also_called=also_called
    )
    shown = rendered.lines.keys() | rendered.minds.keys() | rendered.held.keys()
    budget = {"budget": str(budget_tokens)}
    too_many = LeftOutWhy(code="over_max_states", values={"limit": str(max_states)})
    no_room = LeftOutWhy(code="no_attribute_fits", values=budget)
    missed = [(each.entity_id, too_many) for each in filled[max_states:]]
    missed += [(each.entity_id, no_room) for each in wanted if each.entity_id not in shown]
    missed += [
        (entity_id, LeftOutWhy(code="partly_in_prompt", values=budget | {"attributes": ", ".join(dropped)}))
        for entity_id, dropped in rendered.dropped.items()
        if entity_id in shown
    ]
    return AssembledStates(
        snapshots=[snapshot for snapshot in wanted if snapshot.entity_id in shown],
        tokens=rendered.tokens,
        left_out=[why.item(section="states", id=entity_id) for entity_id, why in missed],
    )


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
    first_ids: Sequence[str] = (),
) -> SceneMemoryContext:
    """Choose and bound all sections.

    Anything at or after the scene is dropped again here.
    """
    language = language_of(request, story)
    assembler = _Assembler(request, story, plan, bounds, labels_for(language), count_tokens)
    found = cut.known if cut else FoundStory(story, search, states, timeline)
    names = found.outline.names
    also_called = _also_called(found, request)
    ended, unknown = _known_end(left_off, cut, point_of_view, names)
    so_far = assembler.story_so_far(found)
    tokens_before = _told_tokens(so_far) | ({"left_off": ended.tokens} if ended else {})
    shown = assembler.states(found, names, also_called)
    left_tokens = max(0, bounds.memory_budget - sum(tokens_before.values()))
    memories = assembler.memories(found, budget_tokens=left_tokens, so_far=so_far, first_ids=first_ids)
    times = assembler.timeline(found, names, shown=shown.snapshots, memories=memories)
    if point_of_view is None:
        # With one a memory's own line says who does not know it, which no other line could.
        memories = _each_fact_once(memories, _told_elsewhere(ended, so_far, times, shown, names, assembler.labels))
    memories = with_what_holds(
        memories,
        [each.chunk for each in found.search.candidates],
        request,
        slots=_slots(found.states, names, assembler.labels, shown={each.entity_id for each in shown.snapshots}),
        is_told=point_of_view is None,
    )
    if point_of_view is None:
        memories = _with_told_ones(memories, found.search.candidates, request, ended, so_far, top_k=assembler.top_k)
    used = [
        *plan.entity_ids,
        *_ids_in(shown.snapshots),
        *(each.id for each in shown.left_out),
        *_ids_in(times.timeline),
    ]
    used += [*ended.present, ended.location_id or ""] if ended else []
    report = ContextReport(
        planner=plan.planner,
        queries=[cut.reported(query) if cut else ReportedQuery(**query.model_dump()) for query in plan.queries],
        entities=plan.entity_ids,
        unresolved_names=cut.reported_names(plan.unresolved_names) if cut else plan.unresolved_names,
        names=_names_in_use(names, used),
        also_called={
            each.entity_id: also_called[each.entity_id] for each in shown.snapshots if each.entity_id in also_called
        },
        items=_receipts(memories, is_full=bounds.full_report),
        tokens={"memories": memories.tokens, "states": shown.tokens, "timeline": times.tokens, **tokens_before},
        tokens_per_need={
            "states": shown.tokens,
            **tokens_before,
            **times.tokens_per_need,
            "memories": memories.tokens - memories.passage_tokens,
            "passages": memories.passage_tokens,
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
        relevant_memories=_given_out(memories, is_full=bounds.full_report),
        timeline_context=times.timeline,
        story_so_far=so_far,
        left_off=ended,
        retrieval_timestamp=timestamp,
        report=report,
        hidden=_hidden(assembler, cut) if cut and point_of_view and point_of_view.mode == "separate" else None,
    )


def _told_tokens(so_far: Sequence[ToldBefore]) -> dict[str, int]:
    return {"story_so_far": sum(each.tokens for each in so_far)} if so_far else {}


def _given_out(memories: Selection, *, is_full: bool) -> list[StoryMemoryChunk]:
    """Return memories in context form, with attachments beyond their entities."""
    return [
        chunk
        if is_full or not all(is_entity_target(each.id) for each in chunk.attached_to)
        else chunk.model_copy(update={"attached_to": []})
        for chunk in memories.chunks
    ]


def _receipts(memories: Selection, *, is_full: bool) -> list[ContextItem]:
    in_prompt = prompt_order([item for item in memories.items if item.told_in is None])
    places = {item.chunk_id: index for index, item in enumerate(in_prompt)}
    untold: dict[str, Any] = {} if is_full else {"score_parts": {}}
    return [item.model_copy(update={"prompt_index": places.get(item.chunk_id), **untold}) for item in memories.items]


def _slots(
    states: Sequence[EntityStateSnapshot], names: Mapping[str, str], labels: Labels, *, shown: Collection[str]
) -> dict[str, tuple[Place, str]]:
    """Return the slot values of states, without words where a line has them."""
    return {
        slot_of(state.entity_id, name): (
            sort_key(*state.since[name]),
            "" if state.entity_id in shown else render_attribute(name, value, names, labels),
        )
        for state in states
        for name, value in state.state_data.items()
        if name in state.since
    }


def _also_called(found: FoundStory, request: MemoryContextRequest) -> dict[str, str]:
    """Return by id the name that the plan, or more memories than not, have for people listed under quite another."""
    bearers = Counter(name for entity in found.outline.entities for name in entity.names())
    planned = {each.strip() for each in request.scene_plan.characters}
    texts = [each.chunk.content for each in found.search.candidates if each.chunk.content_type not in PASSAGE_TYPES]
    wanted, called = {each.entity_id for each in found.states}, {}
    for entity in found.outline.entities:
        if entity.entity_id not in wanted or entity.entity_type != "character":
            continue
        own, *aliases = entity.names()
        others = [each for each in aliases if bearers[each] == 1 and not _are_alike(each, own)]
        uses = Counter({name: sum(name in text for text in texts) for name in (own, *others)})
        most = max(others, key=lambda name: (name in planned, uses[name]), default="")
        if most in planned or uses[most] > uses[own]:
            called[entity.entity_id] = most
    return called


def _are_alike(one: str, other: str) -> bool:
    """Tell whether two names are forms of one: everybody takes Captain Amsel for Ferro Amsel."""
    return one in other or other in one or bool(significant_words(one) & significant_words(other))


def _known_end(
    left_off: LeftOff | None, cut: PointOfViewCut | None, point_of_view: PointOfView | None, names: Mapping[str, str]
) -> tuple[LeftOff | None, list[LeftOutItem]]:
    """Return the end of the previous scene, or the reason for omitting it."""
    if left_off is None or cut is None or point_of_view is None:
        return left_off, []
    place = (left_off.chapter_index, left_off.scene_index)
    if cut.view is not None and cut.view.saw_told(f"{left_off.title}\n{left_off.text}", *place):
        known_place = left_off.location_id if left_off.location_id in names else None
        present = [each for each in left_off.present if each in names]
        return left_off.model_copy(update={"location_id": known_place, "present": present}), []
    why = LeftOutWhy(code="not_known", values={"name": point_of_view.name})
    return None, [why.item(section="left_off", id=f"{place[0]}:{place[1]}", tokens=left_off.tokens)]


_SHARE_BESIDE_MEMORIES = 0.25
"""Of the budget of what is hidden its states may take so much, and its timeline with what happened lately; its
memories take what is left."""


def _hidden(assembler: _Assembler, cut: PointOfViewCut) -> HiddenContext | None:
    """Return the facts hidden from the point of view, or None."""
    names = cut.found.outline.names
    budget_tokens = assembler.bounds.hidden_budget
    beside = int(_SHARE_BESIDE_MEMORIES * budget_tokens)
    bounds = assembler.bounds.model_copy(update={"state_budget": beside, "timeline_budget": beside})
    within = replace(assembler, bounds=bounds)
    states = within.states(cut.hidden, names)
    times = within.timeline(cut.hidden, names, shown=(), memories=Selection())
    so_far = within.story_so_far(cut.hidden, budget_tokens=max(0, beside - times.tokens))
    tokens = {"states": states.tokens, "timeline": times.tokens, **_told_tokens(so_far)}
    memories = assembler.memories(cut.hidden, budget_tokens=budget_tokens - sum(tokens.values()), so_far=so_far)
    if not (memories.chunks or states.snapshots or times.timeline or so_far):
        return None
    return HiddenContext(
        entity_states=states.snapshots,
        memories=_given_out(memories, is_full=bounds.full_report),
        timeline_context=times.timeline,
        story_so_far=so_far,
        items=_receipts(memories, is_full=bounds.full_report),
        names=_names_in_use(names, [*_ids_in(states.snapshots), *_ids_in(times.timeline)]),
        tokens={"memories": memories.tokens, **tokens},
    )


@dataclass(frozen=True)
class _Assembler:
    """Chooses sections from the results within bounds."""

    request: MemoryContextRequest
    story: StoryOutline
    plan: RetrievalPlan
    bounds: ContextSettings
    labels: Labels
    count_tokens: TokenCounter

    @property
    def top_k(self) -> int | None:
        """Maximum number of memories, None for the budget alone."""
        return self.bounds.top_k if self.request.top_k is None else self.request.top_k

    def story_so_far(self, found: FoundStory, *, budget_tokens: int | None = None) -> list[ToldBefore]:
        """Tell the last scenes, chapters and parts within their share of the memories' budget."""
        share = self.bounds.quotas.tokens("story_so_far", self.bounds.memory_budget)
        return story_so_far(
            found.outline,
            as_of=self.request.position,
            budget_tokens=share if budget_tokens is None else budget_tokens,
            labels=self.labels,
            count_tokens=self.count_tokens,
        )

    def memories(
        self, found: FoundStory, *, budget_tokens: int, so_far: Sequence[ToldBefore] = (), first_ids: Sequence[str] = ()
    ) -> Selection:
        """Choose the memories, lowering those told by the story so far."""
        told = sum(each.level == "scene" for each in so_far)
        weights, request = self.bounds.weights, self.request
        if told > weights.at_hand_scenes:
            weights = weights.model_copy(update={"at_hand_scenes": told})
        return select_memories(
            admitted_candidates(found.search, request),
            selection_scene(self.story, self.plan, found.search),
            weights=weights,
            budget_tokens=budget_tokens,
            count_tokens=self.count_tokens,
            top_k=self.top_k,
            first_ids=first_ids,
        )

    def states(
        self, found: FoundStory, names: Mapping[str, str], also_called: Mapping[str, str] | None = None
    ) -> AssembledStates:
        """Choose the states."""
        return assemble_states(
            self._before(found.states),
            names,
            labels=self.labels,
            budget_tokens=self.bounds.state_budget,
            max_states=self.bounds.max_states,
            count_tokens=self.count_tokens,
            also_called=also_called,
        )

    def timeline(
        self, found: FoundStory, names: Mapping[str, str], *, shown: Sequence[EntityStateSnapshot], memories: Selection
    ) -> AssembledTimeline:
        """Fill the timeline, aware of the threads that chosen memories tell."""
        scene = self.request.scene_plan
        known = (each.chunk for each in found.search.candidates)
        ahead = SceneAhead(
            texts=(scene.location, scene.purpose, *scene.key_actions),
            entity_ids=frozenset(self.plan.entity_ids),
            expected_ids=frozenset(self.plan.thread_ids),
            chosen=[(each.place, each.content) for each in memories.chunks if each.content_type not in PASSAGE_TYPES],
            known_texts=[
                each.content
                for each in known
                if each.content_type not in PASSAGE_TYPES
                and self.request.position.admits(each.chapter_index, each.scene_index)
            ],
        )
        return assemble_timeline(
            found.outline,
            self._before(found.timeline),
            names,
            shown_states=shown,
            ahead=ahead,
            labels=self.labels,
            budget_tokens=self.bounds.timeline_budget,
            count_tokens=self.count_tokens,
            quotas=self.bounds.quotas,
            pov_id=self.plan.pov_id,
        )

    def _before(self, snapshots: Sequence[EntityStateSnapshot]) -> list[EntityStateSnapshot]:
        return [
            each
            for each in snapshots
            if each.project_id == self.request.project_id
            and self.request.position.admits(each.chapter_index, each.scene_index)
        ]


TOLD_SHARE = 0.85
"""From this share of its words on that one other line holds, a memory tells nothing that the line does not."""


def _told_elsewhere(
    ended: LeftOff | None,
    so_far: Sequence[ToldBefore],
    times: AssembledTimeline,
    shown: AssembledStates,
    names: Mapping[str, str],
    labels: Labels,
) -> list[tuple[str, frozenset[str]]]:
    """Return the words of each line that a block tells beside its memories, with the section that it stands in."""
    lines = [("left_off", ended.text)] if ended else []
    lines += [("story_so_far", each.text) for each in so_far]
    for section, entries in (times.timeline or {}).items():
        lines += [(section, render_timeline_entry(section, each, names, labels=labels)) for each in entries]
    for snapshot in shown.snapshots:
        name = names.get(snapshot.entity_id, "")
        lines += [("states", f"{name} {text}") for _, text in state_parts(snapshot, names, labels)]
    return [(section, content_words(text)) for section, text in lines]


def _each_fact_once(memories: Selection, lines: Sequence[tuple[str, frozenset[str]]]) -> Selection:
    """Mark the memories that scenes before tell, and leave out those that states and the timeline tell.

    States and timeline are fields that every reader of a context has; the end of the scene before and the story so far
    are not, so that their memories stay among the relevant ones, without tokens.
    """
    sections: dict[str, str] = {}
    for item in memories.items:
        words = content_words(item.text)
        enough = TOLD_SHARE * len(words)
        # A short note's words may all stand in the prose of a scene, which says something else with them.
        is_note = (item.source_id or "").startswith(NOTE_ID)
        near = [line for line in lines if not (is_note and line[0] in _TOLD_SECTIONS)]
        section = next((section for section, said in near if words and len(words & said) >= enough), None)
        if section is not None:
            sections[item.chunk_id] = section
    gone = [
        LeftOutWhy(code="told_elsewhere", values={"section": section}).item(
            id=item.chunk_id, **item.model_dump(include={"source_id", "text", "tokens", "score"})
        )
        for item in memories.items
        if (section := sections.get(item.chunk_id)) is not None and section not in _TOLD_SECTIONS
    ]
    gone_ids = {each.id for each in gone}
    return Selection(
        chunks=tuple(chunk for chunk in memories.chunks if chunk.chunk_id not in gone_ids),
        items=tuple(
            item.model_copy(update={"told_in": sections[item.chunk_id], "tokens": 0})
            if item.chunk_id in sections
            else item
            for item in memories.items
            if item.chunk_id not in gone_ids
        ),
        left_out=(*gone, *memories.left_out),
    )


_TOLD_SECTIONS = frozenset(get_args(ToldSection))


def _with_told_ones(
    memories: Selection,
    candidates: Sequence[Candidate],
    request: MemoryContextRequest,
    ended: LeftOff | None,
    so_far: Sequence[ToldBefore],
    *,
    top_k: int | None,
) -> Selection:
    """Add the memories of the scenes before that were not chosen, since the prompt tells them in another section."""
    lines: dict[Place, list[tuple[ToldSection, frozenset[str]]]] = {}
    if ended is not None:
        lines[ended.chapter_index, ended.scene_index] = [("left_off", content_words(ended.text))]
    for before in so_far:
        if before.scene_index is not None:
            place = (before.chapter_index, before.scene_index)
            lines.setdefault(place, []).append(("story_so_far", content_words(before.text)))
    chosen_ids = {chunk.chunk_id for chunk in memories.chunks}
    listed = [content_words(chunk.content) for chunk in memories.chunks]
    waiting = [
        candidate
        for candidate in candidates
        if (chunk := candidate.chunk).place in lines
        and chunk.project_id == request.project_id
        and request.position.admits(chunk.chapter_index, chunk.scene_index)
        and chunk.chunk_id not in chosen_ids
        and chunk.content_type not in PASSAGE_TYPES
        and chunk.superseded_by is None
    ]
    waiting.sort(key=lambda each: (-each.chunk.importance, story_place(each.chunk), each.chunk.memory_id))
    chunks, items = list(memories.chunks), list(memories.items)
    for candidate in waiting:
        chunk = candidate.chunk
        words = content_words(chunk.content)
        enough = TOLD_SHARE * len(words)
        section = next(
            (name for name, said in lines[story_place(chunk)] if words and len(words & said) >= enough), None
        )
        is_listed = any(len(words & said) >= enough for said in listed)
        if section is None or is_listed or (top_k is not None and len(items) >= top_k):
            continue
        listed.append(words)
        chunks.append(chunk)
        items.append(
            ContextItem(
                **chunk.model_dump(include={"chunk_id", "source_id", "chapter_index", "scene_index"}),
                text=chunk.content.strip(),
                tokens=0,
                arm_ranks=candidate.best_ranks(),
                told_in=section,
            )
        )
    ids = {item.chunk_id for item in items}
    left_out = tuple(each for each in memories.left_out if each.id not in ids)
    return Selection(chunks=tuple(chunks), items=tuple(items), left_out=left_out)


def _names_in_use(names: Mapping[str, str], used: Iterable[str]) -> dict[str, str]:
    return {each: names[each] for each in sorted(set(used)) if each in names}


def _ids_in(value: Any) -> list[str]:
    """Every string in a nested value."""
    if isinstance(value, EntityStateSnapshot):
        return [value.entity_id, *_ids_in(value.state_data)]
    if isinstance(value, Mapping):
        return [each for part in value.values() for each in _ids_in(part)]
    if isinstance(value, list | tuple):
        return [each for part in value for each in _ids_in(part)]
    return [value] if isinstance(value, str) else []
