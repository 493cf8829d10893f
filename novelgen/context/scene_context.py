"""Everything that was found becomes one context within its budgets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, get_args

from novelgen.context.card_facts import card_facts
from novelgen.context.earlier_scenes import story_so_far
from novelgen.context.labels import Labels, labels_for
from novelgen.context.point_of_view import FoundStory, PointOfViewCut, guessed_scenes
from novelgen.context.prompt_block import prompt_order
from novelgen.context.rendering import render_attribute, render_states, render_timeline_entry, state_parts
from novelgen.context.retrieval_plan import RetrievalPlan
from novelgen.context.scene_planning import language_of
from novelgen.context.timeline_section import AssembledTimeline, assemble_timeline
from novelgen.language.language import TokenCounter, significant_words
from novelgen.language.sentences import Span, split_sentences
from novelgen.memory.attributes import LOCATION_ATTRIBUTE, PLACES, slot_of
from novelgen.memory.character_view import CharacterView
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
from novelgen.models.folds import is_guessed_presence
from novelgen.models.memory import (
    DISTILLED_TYPES,
    NOTE_ID,
    PASSAGE_TYPES,
    StoryMemoryChunk,
    is_entity_target,
    over_from,
    replacing_scene,
    scene_target,
)
from novelgen.models.position import Place, sort_key, story_place
from novelgen.models.state import PRESENCE_ATTRIBUTE, EntityStateSnapshot
from novelgen.settings import ContextSettings


def with_successors(
    selection: Selection,
    candidates: Sequence[StoryMemoryChunk],
    request: MemoryContextRequest,
    *,
    slots: Mapping[str, tuple[Place, str]],
    is_told: bool,
    places_left: Mapping[str, Place] = MappingProxyType({}),
) -> Selection:
    """Return the memories with their successors, in words if needed.

    Args:
        selection: The chosen memories.
        candidates: All that the search found.
        request: The request.
        slots: Slots of states to where and in which words they hold.
        places_left: Slots of stated places to the scenes that show their bearers elsewhere.
        is_told: A successor may be told in words.
    """
    as_of = request.position
    named_memories_by_id = {
        memory.memory_id: memory for memory in candidates if as_of.admits(memory.chapter_index, memory.scene_index)
    }
    told_ids = {context_item.memory_id for context_item in selection.items}
    items: list[ContextItem] = []
    chunks = [_left_behind(chunk, places_left) for chunk in selection.chunks]
    for item, chunk in zip(selection.items, chunks, strict=True):
        if item.told_in is not None:
            items.append(item)
            continue
        newer = _newest(chunk, named_memories_by_id)
        slot = slots.get(chunk.slot_type or "") if chunk.superseded_by else None
        if slot is not None and slot[0] > story_place(chunk):
            source_id = (newer and newer.source_id) or chunk.superseded_by or ""
            now = HoldsNow(source_id=source_id, chapter_index=slot[0][0], scene_index=slot[0][1], text=slot[1])
        elif newer is not None:
            source_id = newer.memory_id
            words = newer.short or newer.content
            is_new = source_id not in told_ids and newer.superseded_by is None
            # A newer memory of several facts may be short for another one of them. An author's note says what is over.
            is_related = source_id.startswith(NOTE_ID) or content_words(words) & content_words(chunk.content)
            text = words if is_new and is_related else ""
            place = newer.model_dump(include={"chapter_index", "scene_index"})
            now = HoldsNow(source_id=source_id, text=text, **place)
        elif (scene := replacing_scene(chunk.superseded_by) or over_from(chunk.superseded_by)) is not None:
            source_id = chunk.superseded_by or ""
            now = HoldsNow(source_id=source_id, chapter_index=scene[0], scene_index=scene[1])
        else:
            items.append(item)
            continue
        told_ids.add(source_id)
        items.append(item.model_copy(update={"holds_now": now if is_told else now.model_copy(update={"text": ""})}))
    return replace(selection, items=tuple(items), chunks=tuple(chunks))


def _left_behind(chunk: StoryMemoryChunk, places_left: Mapping[str, Place]) -> StoryMemoryChunk:
    """Return a memory, replaced by the later scene that shows the bearer of its place elsewhere."""
    left = places_left.get(chunk.slot_type or "")
    if chunk.superseded_by is not None or left is None or left <= story_place(chunk):
        return chunk
    return chunk.model_copy(update={"superseded_by": scene_target(left)})


def _newest(chunk: StoryMemoryChunk, named_memories_by_id: Mapping[str, StoryMemoryChunk]) -> StoryMemoryChunk | None:
    """Return the latest found successor of a memory."""
    memories = [chunk]
    while (newer := named_memories_by_id.get(memories[-1].superseded_by or "")) is not None and newer not in memories:
        memories.append(newer)
    return memories[-1] if len(memories) > 1 else None


def admitted_candidates(search: SearchResult, request: MemoryContextRequest) -> list[Candidate]:
    """Return the project's candidates strictly before the scene."""
    as_of = request.position
    return [
        candidate
        for candidate in search.candidates
        if candidate.chunk.project_id == request.project_id
        and as_of.admits(candidate.chunk.chapter_index, candidate.chunk.scene_index)
    ]


def selection_scene(story: StoryOutline, plan: RetrievalPlan, search: SearchResult) -> SelectionScene:
    """Return the planned scene as the choice sees it."""
    return SelectionScene(
        ordinal=len(story.scenes),
        queries=plan.queries,
        vectors=search.query_vectors,
        entity_ids=frozenset(entity_id for entity_id in plan.entity_ids if entity_id not in plan.inferred_ids),
        ordinals={story_place(scene): ordinal for ordinal, scene in enumerate(story.scenes)},
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
    filled_snapshots = [snapshot for snapshot in snapshots if state_parts(snapshot, names, labels)]
    wanted_snapshots = filled_snapshots[:max_states]
    rendered_states = render_states(
        wanted_snapshots,
        names,
        labels=labels,
        budget_tokens=budget_tokens,
        count_tokens=count_tokens,
        also_called=also_called,
    )
    shown_ids = rendered_states.lines.keys() | rendered_states.minds.keys() | rendered_states.held.keys()
    budget = {"budget": str(budget_tokens)}
    too_many = LeftOutWhy(code="over_max_states", values={"limit": str(max_states)})
    no_room = LeftOutWhy(code="no_attribute_fits", values=budget)
    left_out_pairs = [(snapshot.entity_id, too_many) for snapshot in filled_snapshots[max_states:]]
    left_out_pairs += [
        (snapshot.entity_id, no_room) for snapshot in wanted_snapshots if snapshot.entity_id not in shown_ids
    ]
    left_out_pairs += [
        (entity_id, LeftOutWhy(code="partly_in_prompt", values=budget | {"attributes": ", ".join(dropped)}))
        for entity_id, dropped in rendered_states.dropped.items()
        if entity_id in shown_ids
    ]
    return AssembledStates(
        snapshots=[snapshot for snapshot in wanted_snapshots if snapshot.entity_id in shown_ids],
        tokens=rendered_states.tokens,
        left_out=[why.item(section="states", id=entity_id) for entity_id, why in left_out_pairs],
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
    view_cut: PointOfViewCut | None = None,
    left_off: LeftOff | None = None,
    first_ids: Sequence[str] = (),
) -> SceneMemoryContext:
    """Choose and bound all sections.

    Anything at or after the scene is dropped again here.
    """
    language = language_of(request, story)
    assembler = _Assembler(request, story, plan, bounds, labels_for(language), count_tokens)
    matching_story = view_cut.known if view_cut else FoundStory(story, search, states, timeline)
    names = matching_story.outline.names
    also_called = _also_called(matching_story, request)
    ended_omission, unknown_omissions = _known_end(left_off, view_cut, point_of_view, names, count_tokens)
    so_far = assembler.story_so_far(matching_story)
    tokens_before = _told_tokens(so_far) | ({"left_off": ended_omission.tokens} if ended_omission else {})
    assembled_states = assembler.states(matching_story, names, also_called)
    left_tokens = max(0, bounds.memory_budget - sum(tokens_before.values()))
    cards = card_facts(
        matching_story,
        [entity_id for entity_id in plan.entity_ids if entity_id not in plan.inferred_ids],
        assembled_states.snapshots,
        view_cut=view_cut,
        labels=assembler.labels,
        budget_tokens=bounds.state_budget - assembled_states.tokens,
        count_tokens=count_tokens,
    )
    card_tokens = sum(facts.tokens for facts in cards)
    spare_tokens = assembler.spare_tokens(matching_story, names, assembled_states, card_tokens=card_tokens)
    memories = assembler.memories(
        matching_story,
        budget_tokens=left_tokens,
        spare_tokens=spare_tokens,
        so_far=so_far,
        ended=ended_omission,
        first_ids=first_ids,
    )
    left_by_states = bounds.state_budget - assembled_states.tokens - card_tokens
    left_by_memories = left_by_states - max(0, memories.tokens - left_tokens)
    times = assembler.timeline(
        matching_story,
        names,
        snapshots=assembled_states.snapshots,
        memories=memories,
        budget_tokens=bounds.timeline_budget + min(0, left_by_memories),
    )
    if point_of_view is None:
        # With one a memory's own line says who does not know it, which no other line could.
        memories = _each_fact_once(
            memories, _told_elsewhere(ended_omission, so_far, times, assembled_states, names, assembler.labels)
        )
    elif view_cut is not None and ended_omission is not None:
        memories = _each_fact_once(memories, [("left_off", content_words(ended_omission.text))], passages_only=True)
    memories = with_successors(
        memories,
        [candidate.chunk for candidate in matching_story.search.candidates],
        request,
        slots=_slots(
            matching_story.states,
            names,
            assembler.labels,
            shown_ids={snapshot.entity_id for snapshot in assembled_states.snapshots},
        ),
        places_left=_places_left(matching_story.states),
        is_told=point_of_view is None,
    )
    if point_of_view is None:
        memories = _with_told_ones(
            memories, matching_story.search.candidates, request, ended_omission, so_far, top_k=assembler.top_k
        )
    if view_cut is not None:
        items = zip(memories.items, memories.chunks, strict=True)
        memories = replace(memories, items=tuple(view_cut.with_guesses(item, chunk) for item, chunk in items))
    used_ids = [
        *plan.entity_ids,
        *_ids_in(assembled_states.snapshots),
        *(omission.id for omission in assembled_states.left_out),
        *_ids_in(times.timeline),
        *(facts.entity_id for facts in cards),
    ]
    used_ids += [*ended_omission.present, ended_omission.location_id or ""] if ended_omission else []
    report = ContextReport(
        planner=plan.planner,
        queries=[
            view_cut.reported(query) if view_cut else ReportedQuery(**query.model_dump()) for query in plan.queries
        ],
        entities=plan.entity_ids,
        unresolved_names=view_cut.reported_names(plan.unresolved_names) if view_cut else plan.unresolved_names,
        names=_names_in_use(names, used_ids),
        also_called={
            snapshot.entity_id: also_called[snapshot.entity_id]
            for snapshot in assembled_states.snapshots
            if snapshot.entity_id in also_called
        },
        items=_receipts(memories, is_full=bounds.full_report),
        tokens={
            "memories": memories.tokens,
            "states": assembled_states.tokens,
            "timeline": times.tokens,
            **({"cards": card_tokens} if cards else {}),
            **tokens_before,
        },
        tokens_per_need={
            "states": assembled_states.tokens + card_tokens,
            **tokens_before,
            **times.tokens_per_need,
            "memories": memories.tokens - memories.passage_tokens,
            "passages": memories.passage_tokens,
        },
        left_out=[*memories.left_out, *assembled_states.left_out, *times.left_out, *unknown_omissions],
        story_version=story.story_version,
        language=language,
        scene_plan=request.scene_plan,
        point_of_view=point_of_view,
        scenes_before=len(story.scenes),
        unread_scenes=sum(scene.is_guessed for scene in story.scenes),
    )
    context = SceneMemoryContext(
        project_id=request.project_id,
        chapter_index=request.chapter_index,
        scene_index=request.scene_index,
        entity_states=assembled_states.snapshots,
        relevant_memories=_given_out(memories, is_full=bounds.full_report),
        timeline_context=times.timeline,
        cards=cards,
        story_so_far=so_far,
        left_off=ended_omission,
        retrieval_timestamp=timestamp,
        report=report,
        hidden=_hidden(assembler, view_cut)
        if view_cut and point_of_view and point_of_view.mode == "separate"
        else None,
    )
    if point_of_view is None:
        return context
    withheld_end = left_off if unknown_omissions else None
    doubts = view_cut.doubts(context.hidden, withheld_end) if view_cut else {}
    # What is told again in a scene is a guess, too, and not who was in it.
    scenes = [place for place in guessed_scenes(context) if view_cut is None or not view_cut.has_cast(place)]
    guesses = {"guessed_scenes": scenes, **doubts}
    if view_cut and view_cut.view:
        guesses["untied_notes"] = view_cut.view.untied_notes(_places_told(context))
    view = point_of_view.model_copy(update=guesses)
    return context.model_copy(update={"report": report.model_copy(update={"point_of_view": view})})


def _places_told(context: SceneMemoryContext) -> set[tuple[int, int]]:
    """Return the scenes with text in a context."""
    passages = (memory for memory in context.relevant_memories if memory.content_type in PASSAGE_TYPES)
    lines = (before for before in context.story_so_far if before.level == "scene")
    ends = (context.left_off,) if context.left_off else ()
    return {story_place(told) for told in (*passages, *lines, *ends)}


def _told_tokens(so_far: Sequence[ToldBefore]) -> dict[str, int]:
    return {"story_so_far": sum(notice.tokens for notice in so_far)} if so_far else {}


def _given_out(memories: Selection, *, is_full: bool) -> list[StoryMemoryChunk]:
    """Return memories in context form, with attachments beyond their entities."""
    return [
        chunk
        if is_full or not all(is_entity_target(attachment.id) for attachment in chunk.attached_to)
        else chunk.model_copy(update={"attached_to": []})
        for chunk in memories.chunks
    ]


def _receipts(memories: Selection, *, is_full: bool) -> list[ContextItem]:
    in_prompt = prompt_order([item for item in memories.items if item.told_in is None])
    places = {item.chunk_id: index for index, item in enumerate(in_prompt)}
    blank_fields: dict[str, Any] = {} if is_full else {"score_parts": {}}
    return [
        item.model_copy(update={"prompt_index": places.get(item.chunk_id), **blank_fields}) for item in memories.items
    ]


def _slots(
    states: Sequence[EntityStateSnapshot], names: Mapping[str, str], labels: Labels, *, shown_ids: Collection[str]
) -> dict[str, tuple[Place, str]]:
    """Return the slot values of states, without words where a line has them."""
    return {
        slot_of(state.entity_id, name): (
            sort_key(*state.since[name]),
            "" if state.entity_id in shown_ids else render_attribute(name, value, names, labels),
        )
        for state in states
        for name, value in state.state_data.items()
        if name in state.since
    }


def _places_left(states: Sequence[EntityStateSnapshot]) -> dict[str, Place]:
    """Return the slots of places that nobody is said to be at, with where their bearers were seen last."""
    sights = ((state, state.state_data.get(PRESENCE_ATTRIBUTE)) for state in states)
    return {
        slot_of(state.entity_id, name): (sight["chapter_index"], sight["scene_index"])
        for state, sight in sights
        if isinstance(sight, Mapping) and sight.get(LOCATION_ATTRIBUTE) and not is_guessed_presence(sight)
        for name in PLACES - state.state_data.keys()
    }


def _also_called(story: FoundStory, request: MemoryContextRequest) -> dict[str, str]:
    """Return by id the name that the plan, or more memories than not, have for people listed under quite another."""
    bearers = Counter(name for entity in story.outline.entities for name in entity.names())
    planned_names = {character_id.strip() for character_id in request.scene_plan.characters}
    texts = [
        candidate.chunk.content
        for candidate in story.search.candidates
        if candidate.chunk.content_type not in PASSAGE_TYPES
    ]
    whole_text = "\n".join(texts)
    wanted_ids, other_names = {snapshot.entity_id for snapshot in story.states}, {}
    for entity in story.outline.entities:
        if entity.entity_id not in wanted_ids or entity.entity_type != "character":
            continue
        own, *aliases = entity.names()
        others = [
            alias
            for alias in aliases
            if (alias in planned_names or alias in whole_text) and bearers[alias] == 1 and not _are_alike(alias, own)
        ]
        if not others:
            continue
        uses = Counter({name: sum(name in text for text in texts) for name in (own, *others)})
        most = max(others, key=lambda name: (name in planned_names, uses[name]), default="")
        if most in planned_names or uses[most] > uses[own]:
            other_names[entity.entity_id] = most
    return other_names


def _are_alike(one: str, other: str) -> bool:
    """Tell whether two names are forms of one: everybody takes Captain Amsel for Ferro Amsel."""
    return one in other or other in one or bool(significant_words(one) & significant_words(other))


def _known_end(
    left_off: LeftOff | None,
    view_cut: PointOfViewCut | None,
    point_of_view: PointOfView | None,
    names: Mapping[str, str],
    count_tokens: TokenCounter,
) -> tuple[LeftOff | None, list[LeftOutItem]]:
    """Return the end of the previous scene as far as it is known, and the reason for omitting the rest."""
    if left_off is None or view_cut is None or point_of_view is None:
        return left_off, []
    place = (left_off.chapter_index, left_off.scene_index)
    known_text = _known_text(left_off, view_cut.view) if view_cut.view is not None else ""
    tokens = left_off.tokens if known_text == left_off.text else count_tokens(known_text)
    omissions = []
    if known_text != left_off.text:
        why = LeftOutWhy(code="not_known", values={"name": point_of_view.name})
        label = f"{place[0]}:{place[1]}"
        omissions = [why.item(section="left_off", id=label, tokens=max(0, left_off.tokens - tokens))]
    if view_cut.view is None or not known_text:
        return None, omissions
    known_place = left_off.location_id if left_off.location_id in names else None
    present = [entity_id for entity_id in view_cut.known_present(left_off.present, place) if entity_id in names]
    guesses = [place] if view_cut.view.is_guessed_in(*place) else []
    title = left_off.title if view_cut.view.witnessed_narration(left_off.title, *place) else ""
    fields = {"title": title, "text": known_text, "tokens": tokens, "location_id": known_place, "present": present}
    return left_off.model_copy(update={**fields, "guessed_in": guesses}), omissions


def _known_text(left_off: LeftOff, view: CharacterView) -> str:
    """Return the known end of a scene."""
    place = (left_off.chapter_index, left_off.scene_index)
    if view.witnessed_narration(left_off.text, *place):
        return left_off.text
    if not view.notes_hiding(left_off.text, *place):
        return ""
    # The last paragraphs read best; a scene whose last one tells the note does not vanish for that.
    paragraphs = [Span(*line.span()) for line in re.finditer(r"[^\n]*\S[^\n]*", left_off.text)]
    return _known_spans(left_off, view, paragraphs) or _known_spans(left_off, view, split_sentences(left_off.text))


def _known_spans(left_off: LeftOff, view: CharacterView, spans: Sequence[Span]) -> str:
    """Return the last or other spans without hidden notes."""
    place = (left_off.chapter_index, left_off.scene_index)
    first = len(spans)
    while first and view.witnessed_narration(left_off.text[spans[first - 1].start :], *place):
        first -= 1
    if first < len(spans):
        return left_off.text[spans[first].start :].strip()
    texts = [left_off.text[span.start : span.end] for span in spans]
    known_text = "\n\n".join(text for text in texts if view.witnessed_narration(text, *place))
    return known_text if view.witnessed_narration(known_text, *place) else ""


_SHARE_BESIDE_MEMORIES = 0.25
"""Of the budget of what is hidden its states may take so much, and its timeline with what happened lately; its
memories take what is left."""


def _hidden(assembler: _Assembler, view_cut: PointOfViewCut) -> HiddenContext | None:
    """Return the facts hidden from the point of view, or None."""
    names = view_cut.found.outline.names
    budget_tokens = assembler.bounds.hidden_budget
    beside = int(_SHARE_BESIDE_MEMORIES * budget_tokens)
    bounds = assembler.bounds.model_copy(update={"state_budget": beside, "timeline_budget": beside})
    within = replace(assembler, bounds=bounds)
    states = within.states(view_cut.hidden, names)
    times = within.timeline(view_cut.hidden, names, snapshots=(), memories=Selection())
    so_far = within.story_so_far(view_cut.hidden, budget_tokens=max(0, beside - times.tokens))
    tokens = {"states": states.tokens, "timeline": times.tokens, **_told_tokens(so_far)}
    memories = assembler.memories(view_cut.hidden, budget_tokens=budget_tokens - sum(tokens.values()), so_far=so_far)
    if not (memories.chunks or states.snapshots or times.timeline or so_far):
        return None
    items = zip(memories.items, memories.chunks, strict=True)
    memories = replace(memories, items=tuple(view_cut.with_doubt(item, chunk) for item, chunk in items))
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

    def story_so_far(self, story: FoundStory, *, budget_tokens: int | None = None) -> list[ToldBefore]:
        """Tell the last scenes, chapters and parts within their share of the memories' budget."""
        share = self.bounds.quotas.tokens("story_so_far", self.bounds.memory_budget)
        return story_so_far(
            story.outline,
            as_of=self.request.position,
            budget_tokens=share if budget_tokens is None else budget_tokens,
            labels=self.labels,
            count_tokens=self.count_tokens,
            guessed_scenes=story.guessed_scenes,
        )

    def memories(
        self,
        story: FoundStory,
        *,
        budget_tokens: int,
        spare_tokens: int = 0,
        so_far: Sequence[ToldBefore] = (),
        ended: LeftOff | None = None,
        first_ids: Sequence[str] = (),
    ) -> Selection:
        """Choose the memories, lowering those of the story so far.

        Passages of unread scenes also fill the spare tokens.
        """
        told_count = sum(notice.level == "scene" for notice in so_far)
        weights, request = self.bounds.weights, self.request
        if told_count > weights.at_hand_scenes:
            weights = weights.model_copy(update={"at_hand_scenes": told_count})
        candidates = admitted_candidates(story.search, request)
        scene = selection_scene(self.story, self.plan, story.search)
        lines = [
            content_words(text) for text in [*(notice.text for notice in so_far), *([ended.text] if ended else [])]
        ]
        if lines:
            recent = {story_place(scene) for scene in self.story.scenes[-weights.at_hand_scenes :]}
            near = [candidate for candidate in candidates if candidate.chunk.place in recent]
            scene = replace(scene, told_ids=_conveyed_ids(near, lines))
        return select_memories(
            candidates,
            scene,
            weights=weights,
            budget_tokens=budget_tokens,
            spare_tokens=spare_tokens,
            count_tokens=self.count_tokens,
            top_k=self.top_k,
            first_ids=first_ids,
        )

    def spare_tokens(
        self, found: FoundStory, names: Mapping[str, str], shown_states: AssembledStates, *, card_tokens: int
    ) -> int:
        """Return the tokens that states and timeline leave to unread scenes."""
        if not any(scene.is_guessed for scene in self.story.scenes):
            return 0
        times = self.timeline(found, names, snapshots=shown_states.snapshots, memories=Selection())
        used_tokens = shown_states.tokens + card_tokens + times.tokens
        return self.bounds.state_budget + self.bounds.timeline_budget - used_tokens

    def states(
        self, story: FoundStory, names: Mapping[str, str], also_called: Mapping[str, str] | None = None
    ) -> AssembledStates:
        """Choose the states."""
        return assemble_states(
            self._before(story.states),
            names,
            labels=self.labels,
            budget_tokens=self.bounds.state_budget,
            max_states=self.bounds.max_states,
            count_tokens=self.count_tokens,
            also_called=also_called,
        )

    def timeline(
        self,
        story: FoundStory,
        names: Mapping[str, str],
        *,
        snapshots: Sequence[EntityStateSnapshot],
        memories: Selection,
        budget_tokens: int | None = None,
    ) -> AssembledTimeline:
        """Fill the timeline, aware of the threads that chosen memories tell."""
        scene, as_of = self.request.scene_plan, self.request.position
        known_memories = (candidate.chunk for candidate in story.search.candidates)
        ahead = SceneAhead(
            texts=(scene.location, scene.purpose, *scene.key_actions),
            entity_ids=frozenset(self.plan.entity_ids),
            expected_ids=frozenset(self.plan.thread_ids),
            chosen=[
                (memory.place, memory.content) for memory in memories.chunks if memory.content_type not in PASSAGE_TYPES
            ],
            known_texts=[
                memory.content
                for memory in known_memories
                if memory.content_type not in PASSAGE_TYPES and as_of.admits(memory.chapter_index, memory.scene_index)
            ],
        )
        return assemble_timeline(
            story.outline,
            self._before(story.timeline),
            names,
            shown_states=snapshots,
            ahead=ahead,
            labels=self.labels,
            budget_tokens=self.bounds.timeline_budget if budget_tokens is None else budget_tokens,
            count_tokens=self.count_tokens,
            quotas=self.bounds.quotas,
            pov_id=self.plan.pov_id,
        )

    def _before(self, snapshots: Sequence[EntityStateSnapshot]) -> list[EntityStateSnapshot]:
        return [
            snapshot
            for snapshot in snapshots
            if snapshot.project_id == self.request.project_id
            and self.request.position.admits(snapshot.chapter_index, snapshot.scene_index)
        ]


def _conveyed_ids(candidates: Sequence[Candidate], lines: Sequence[frozenset[str]]) -> frozenset[str]:
    """Return the ids of the memories that one line conveys."""
    conveyed_ids = set()
    for candidate in candidates:
        if candidate.chunk.content_type in DISTILLED_TYPES:
            words = content_words(candidate.chunk.short or candidate.chunk.content)
            if any(len(words & line) >= CONVEYED_SHARE * len(words) for line in lines):
                conveyed_ids.add(candidate.chunk.chunk_id)
    return frozenset(conveyed_ids)


CONVEYED_SHARE = 0.5
"""From this share of its words on that one line holds, in which a fact is told in other words, it is conveyed."""

TOLD_SHARE = 0.85
"""From this share of its words on that one other line holds, a memory tells nothing that the line does not."""


def _told_elsewhere(
    ended_omission: LeftOff | None,
    so_far: Sequence[ToldBefore],
    times: AssembledTimeline,
    assembled_states: AssembledStates,
    names: Mapping[str, str],
    labels: Labels,
) -> list[tuple[str, frozenset[str]]]:
    """Return the words of each line that a block tells beside its memories, with the section that it stands in."""
    lines = [("left_off", ended_omission.text)] if ended_omission else []
    lines += [("story_so_far", notice.text) for notice in so_far]
    for section, entries in (times.timeline or {}).items():
        lines += [(section, render_timeline_entry(section, entry, names, labels=labels)) for entry in entries]
    for snapshot in assembled_states.snapshots:
        name = names.get(snapshot.entity_id, "")
        lines += [("states", f"{name} {text}") for _, text in state_parts(snapshot, names, labels)]
    return [(section, content_words(text)) for section, text in lines]


def _each_fact_once(
    memories: Selection, lines: Sequence[tuple[str, frozenset[str]]], *, passages_only: bool = False
) -> Selection:
    """Mark the memories that scenes before tell, and leave out those that states and the timeline tell.

    States and timeline are fields that every reader of a context has; the end of the scene before and the story so far
    are not, so that their memories stay among the relevant ones, without tokens.
    """
    sections: dict[str, str] = {}
    for item, chunk in zip(memories.items, memories.chunks, strict=True):
        if passages_only and chunk.content_type not in PASSAGE_TYPES:
            continue
        words = content_words(item.text)
        enough = TOLD_SHARE * len(words)
        # A short note's words may all stand in the prose of a scene, which says something else with them.
        is_note = (item.source_id or "").startswith(NOTE_ID)
        near = [line for line in lines if not (is_note and line[0] in _TOLD_SECTIONS)]
        section = next((section for section, said_words in near if words and len(words & said_words) >= enough), None)
        if section is not None:
            sections[item.chunk_id] = section
    omissions = [
        LeftOutWhy(code="told_elsewhere", values={"section": section}).item(
            id=item.chunk_id, **item.model_dump(include={"source_id", "text", "tokens", "score"})
        )
        for item in memories.items
        if (section := sections.get(item.chunk_id)) is not None and section not in _TOLD_SECTIONS
    ]
    gone_ids = {omission.id for omission in omissions}
    return Selection(
        chunks=tuple(chunk for chunk in memories.chunks if chunk.chunk_id not in gone_ids),
        items=tuple(
            item.model_copy(update={"told_in": sections[item.chunk_id], "tokens": 0})
            if item.chunk_id in sections
            else item
            for item in memories.items
            if item.chunk_id not in gone_ids
        ),
        left_out=(*omissions, *memories.left_out),
    )


_TOLD_SECTIONS = frozenset(get_args(ToldSection))


def _with_told_ones(
    memories: Selection,
    candidates: Sequence[Candidate],
    request: MemoryContextRequest,
    ended_omission: LeftOff | None,
    so_far: Sequence[ToldBefore],
    *,
    top_k: int | None,
) -> Selection:
    """Add the memories of the scenes before that were not chosen, since the prompt tells them in another section."""
    lines: dict[Place, list[tuple[ToldSection, frozenset[str]]]] = {}
    if ended_omission is not None:
        lines[ended_omission.chapter_index, ended_omission.scene_index] = [
            ("left_off", content_words(ended_omission.text))
        ]
    for before in so_far:
        if before.scene_index is not None:
            place = (before.chapter_index, before.scene_index)
            lines.setdefault(place, []).append(("story_so_far", content_words(before.text)))
    chosen_ids = {chunk.chunk_id for chunk in memories.chunks}
    listing = [content_words(chunk.content) for chunk in memories.chunks]
    waiting_candidates = [
        candidate
        for candidate in candidates
        if (chunk := candidate.chunk).place in lines
        and chunk.project_id == request.project_id
        and request.position.admits(chunk.chapter_index, chunk.scene_index)
        and chunk.chunk_id not in chosen_ids
        and chunk.content_type not in PASSAGE_TYPES
        and chunk.superseded_by is None
    ]
    waiting_candidates.sort(
        key=lambda candidate: (-candidate.chunk.importance, story_place(candidate.chunk), candidate.chunk.memory_id)
    )
    chunks, items = list(memories.chunks), list(memories.items)
    for candidate in waiting_candidates:
        chunk = candidate.chunk
        words = content_words(chunk.content)
        enough = TOLD_SHARE * len(words)
        section = next(
            (name for name, said_names in lines[story_place(chunk)] if words and len(words & said_names) >= enough),
            None,
        )
        is_listed = any(len(words & said_words) >= enough for said_words in listing)
        if section is None or is_listed or (top_k is not None and len(items) >= top_k):
            continue
        listing.append(words)
        chunks.append(chunk)
        items.append(
            ContextItem(
                **chunk.model_dump(include={"chunk_id", "source_id", "chapter_index", "scene_index"}),
                text=chunk.content.strip(),
                tokens=0,
                retriever_ranks=candidate.best_ranks(),
                told_in=section,
            )
        )
    ids = {item.chunk_id for item in items}
    left_out = tuple(omission for omission in memories.left_out if omission.id not in ids)
    return Selection(chunks=tuple(chunks), items=tuple(items), left_out=left_out)


def _names_in_use(names: Mapping[str, str], used_names: Iterable[str]) -> dict[str, str]:
    return {entity_id: names[entity_id] for entity_id in sorted(set(used_names)) if entity_id in names}


def _ids_in(value: Any) -> list[str]:
    """Every string in a nested value."""
    if isinstance(value, EntityStateSnapshot):
        return [value.entity_id, *_ids_in(value.state_data), *value.believed.values()]
    if isinstance(value, Mapping):
        return [text for part in value.values() for text in _ids_in(part)]
    if isinstance(value, list | tuple):
        return [text for part in value for text in _ids_in(part)]
    return [value] if isinstance(value, str) else []
