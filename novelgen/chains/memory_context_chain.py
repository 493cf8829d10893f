"""The main job: a scene plan in, a SceneMemoryContext out.

`memory_context_chain` builds one context; `MemoryContextChain` is the same as a LangChain Runnable.

    python -m novelgen.chains.memory_context_chain PROJECT [PLAN.json] --chapter N --scene M [--characters FILE]
"""

from __future__ import annotations

import logging
import runpy
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Protocol, get_args, runtime_checkable

from langchain_core.documents import BaseDocumentCompressor
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig, RunnableLambda
from pydantic import ValidationError

import novelgen
from novelgen.chains import stepwise_chain
from novelgen.context import scene_planning
from novelgen.context.earlier_scenes import left_off, scene_before
from novelgen.context.memory_list import (
    LEAST_LINE_TOKENS,
    MemoryList,
    best_list,
    list_tokens,
    stored_candidates,
    whole_list,
    with_chosen,
)
from novelgen.context.model_planner import ModelPlanner
from novelgen.context.model_selector import NO_MODEL, ModelSelection, memory_selector, unasked_selection
from novelgen.context.point_of_view import (
    FoundStory,
    PointOfViewCut,
    decided_point_of_view,
    guessed_scenes_issues,
    marked_items,
)
from novelgen.context.retrieval_plan import RetrievalPlan
from novelgen.context.scene_context import admitted_candidates, assemble_context, selection_scene
from novelgen.context.scene_planning import language_of
from novelgen.deadlines import CallOutcome, Deadline, run_concurrently
from novelgen.errors import ContextWriteError, UnknownProjectError, UserInputError
from novelgen.language.language import TokenCounter, estimate_tokens
from novelgen.language.normalise import scrub_tree
from novelgen.memory import answers, protocol
from novelgen.memory.character_view import StoryKnowledge
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.memory.knowledge_story import KnowledgeStory
from novelgen.memory.outline import OutlineScene, StoryOutline, StoryRecap
from novelgen.memory.search import SearchRequest, SearchResult
from novelgen.memory.select import rank_candidates
from novelgen.memory.story_changes import StoryChanges
from novelgen.memory.weights import QuotaName
from novelgen.models.context import (
    LeftOff,
    MemoryContextRequest,
    PlannerReport,
    PointOfView,
    ReportIssue,
    SceneMemoryContext,
)
from novelgen.models.entity import Entity, EntityType
from novelgen.models.memory import DISTILLED_TYPES, StoryMemoryChunk
from novelgen.models.plan import foreign_field_names
from novelgen.models.position import require_project_id, story_place, utc_now
from novelgen.models.state import EntityStateSnapshot
from novelgen.settings import ContextSettings

logger = logging.getLogger(__name__)
NO_KNOWLEDGE: stepwise_chain.Untraced[StoryKnowledge | None] = stepwise_chain.Untraced(None, "not read")
NO_CHANGES: stepwise_chain.Untraced[StoryChanges | None] = stepwise_chain.Untraced(None, "not read")
NOT_READ: stepwise_chain.Untraced[StoryOutline | None] = stepwise_chain.Untraced(None, "not read")
NO_MEMORIES: stepwise_chain.Untraced[Sequence[StoryMemoryChunk] | None] = stepwise_chain.Untraced(None, "not read")
NOT_ASKED = PlannerReport(
    reason="the model chooses from the list of all memories, and was not asked what to search for"
)


@dataclass(frozen=True)
class ContextRun:
    """The immutable state that passes between steps."""

    request: MemoryContextRequest
    started_s: float
    deadline: Deadline
    story: stepwise_chain.Untraced[StoryOutline | None] = NOT_READ
    plan: RetrievalPlan = field(default_factory=RetrievalPlan)
    found: stepwise_chain.Untraced[SearchResult] = stepwise_chain.NOTHING_FOUND
    states: Sequence[EntityStateSnapshot] = ()
    timeline: Sequence[EntityStateSnapshot] = ()
    left_off: LeftOff | None = None
    point_of_view: PointOfView | None = None
    knowledge: stepwise_chain.Untraced[StoryKnowledge | None] = NO_KNOWLEDGE
    changes: stepwise_chain.Untraced[StoryChanges | None] = NO_CHANGES
    memories: stepwise_chain.Untraced[Sequence[StoryMemoryChunk] | None] = NO_MEMORIES
    issues: tuple[ReportIssue, ...] = ()
    timings_s: dict[str, float] = field(default_factory=dict)
    is_unknown_project: bool = False

    @property
    def outline(self) -> StoryOutline | None:
        """The story before the scene, or None when it could not be read."""
        return self.story.value

    @property
    def search(self) -> SearchResult:
        """The results of all retrievers."""
        return self.found.value

    def with_issues(self, *issues: ReportIssue | None) -> ContextRun:
        """Return the run with further issues."""
        return replace(self, issues=(*self.issues, *stepwise_chain.logged(*issues)))

    def with_timings(self, timings_s: dict[str, float]) -> ContextRun:
        """Return the run with further stages' seconds."""
        return replace(self, timings_s={**self.timings_s, **timings_s})


@runtime_checkable
class ContextWriter(Protocol):
    """Storage for finished contexts.

    runtime writes them as JSON files.
    """

    def write(self, context: SceneMemoryContext) -> Path | None:
        """Keep the context, whole or not at all.

        Raises:
            ContextWriteError: When it could not be kept; the chain reports it and goes on.
        """
        ...


TRACE_TAG = "novelgen"
ContextInput = MemoryContextRequest | Mapping[str, Any]


class MemoryContextChain(stepwise_chain.StepwiseChain[ContextInput, SceneMemoryContext]):
    """Builds the memory context of a planned scene.

    Works as any LangChain Runnable (`invoke`, `ainvoke`, `batch`, `stream`, `with_retry`, `|`). Nothing
    that fails in the model, the memory or the writer reaches the caller: the context says what is missing
    in `report.issues`.

    A callback handler sees the run with the tag "novelgen" and, as metadata, its project and place; under it
    the runs read_outline, plan (with the model's call), retrieve (with one run per retriever), select and write.

    Args:
        memory: The memory tools, `runtime`'s or a double; a search alone is enough.
        model: Chat model for planning; None plans by rules.
        writer: Keeps the finished context; None keeps nothing.
        settings: Budgets and deadlines.
        selector_model: Chat model that chooses memories unless `selector` of request or settings is "rules"; None
            takes `model`.
        reranker: Reranker of LangChain that chooses in the place of the model.
        model_timeout_s: Seconds for all calls of the model for one plan, and again for its selection.
        count_tokens: Token counter of the budgets.
        known_issues: What every context has to say of how the chain was built.
        clock: Gives the moment stamped on contexts.
        propagate_bugs: Raise TypeError, KeyError and their like instead of degrading; for tests.
    """

    def __init__(
        self,
        memory: protocol.MemoryTools | protocol.StoryMemory,
        *,
        model: BaseChatModel | None = None,
        writer: ContextWriter | None = None,
        settings: ContextSettings | None = None,
        selector_model: BaseChatModel | None = None,
        reranker: BaseDocumentCompressor | None = None,
        model_timeout_s: float = 20.0,
        count_tokens: TokenCounter = estimate_tokens,
        known_issues: Sequence[ReportIssue] = (),
        clock: Callable[[], datetime] = utc_now,
        propagate_bugs: bool = False,
    ) -> None:
        self._memory = protocol.as_story_memory(memory)
        self._takes_names = isinstance(self._memory, protocol.PartialStoryMemory)
        self._settings = settings or ContextSettings()
        list_tokens = self._settings.planner_list_tokens
        self._planner = ModelPlanner(model, timeout_s=model_timeout_s, list_tokens=list_tokens) if model else None
        chooser = selector_model or model
        self._selector = memory_selector(chooser, reranker, timeout_s=model_timeout_s)
        self._selects_by_planner = reranker is None and chooser is model
        self._writer = writer
        self._count_tokens = count_tokens
        self._known_issues = tuple(known_issues)
        self._clock = clock
        self._propagate_bugs = propagate_bugs
        super().__init__(
            RunnableLambda(self._begin).with_config(run_name="read_outline")
            | RunnableLambda(self._plan).with_config(run_name="plan")
            | RunnableLambda(self._retrieve).with_config(run_name="retrieve")
            | RunnableLambda(self._assemble).with_config(run_name="select")
            | RunnableLambda(self._write).with_config(run_name="write")
        )

    def _configured(self, config: RunnableConfig | None, request: ContextInput) -> RunnableConfig:
        """Add the run's tag and place to the metadata of the config."""
        value = super()._configured(config, request)
        return {
            **value,
            "tags": [*(value.get("tags") or ()), TRACE_TAG],
            "metadata": {**_place_of(request), **(value.get("metadata") or {})},
        }

    def _begin(self, value: ContextInput) -> ContextRun:
        try:
            request = MemoryContextRequest.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            if not first["loc"] and isinstance(reason := first.get("ctx", {}).get("error"), ValueError):
                raise UserInputError(str(reason)) from error
            where = ".".join(str(part) for part in first["loc"]) or "the request"
            if first["type"] == "missing":
                raise UserInputError(f"a context needs {where}; pass it with the request") from error
            raise UserInputError(f"{where} cannot be {first['input']!r:.200}: {first['msg']}") from error
        require_project_id(request.project_id)
        # Once, here: neither queries nor stores nor prompts could take a lone surrogate or a NUL.
        request = MemoryContextRequest.model_validate(scrub_tree(request.model_dump()))
        if request.pov.strip():
            plan = request.scene_plan.model_copy(update={"pov": request.pov.strip()})
            request = request.model_copy(update={"scene_plan": plan})
        deadline = Deadline.after(self._settings.chain_timeout_s, stage="context")
        run = ContextRun(request, started_s=time.monotonic(), deadline=deadline)
        run = run.with_issues(*self._known_issues, *_scene_number_issues(request), *_foreign_field_issues(request))
        read_function = answers.checked(
            "outline", partial(self._memory.outline, request.project_id, as_of=request.position), StoryOutline
        )
        timeout_s = self._stage(run.deadline, "outline").remaining_s
        outcome = run_concurrently({"outline": read_function}, timeouts_s={"outline": timeout_s})["outline"]
        run = run.with_timings({"outline": outcome.elapsed_s})
        if isinstance(outcome.error, UnknownProjectError):
            # One issue says so, and nothing is looked up.
            issue = ReportIssue(stage="outline", kind="unresolved", message=str(outcome.error))
            return replace(run.with_issues(issue), is_unknown_project=True)
        outline = outcome.value
        if outline is not None:
            shown_text = f"{len(outline.scenes)} scenes, {len(outline.entities)} entities"
            run = replace(run, story=stepwise_chain.Untraced(outline, shown_text))
        request = scene_planning.with_single_names(request, outline)
        return replace(run, request=request).with_issues(self._issue("outline", outcome))

    def _plan(self, run: ContextRun) -> ContextRun:
        started_s = time.monotonic()
        unread_issues: list[ReportIssue] = []
        planner = self._planner
        if planner is not None and not self._settings.planner_rounds and self._is_chosen_by_model(run):
            run = self._with_memories(run)
            planner = None if self._whole_list(run, None) else planner
        scene_plan = scene_planning.plan_scene(
            run.request,
            run.outline,
            planner=planner,
            recall=partial(self._recall, run, unread_issues),
            takes_names=self._takes_names,
        )
        run = replace(run, plan=scene_plan.plan, deadline=run.deadline.later(scene_plan.model_time_s))
        run = run.with_issues(*unread_issues)
        if planner is not None:
            run = run.with_timings({"model": scene_plan.model_time_s})
        elif self._planner is not None:
            run = replace(run, plan=run.plan.model_copy(update={"planner": NOT_ASKED}))
        if self._settings.planner_rounds > 1 and scene_plan.plan.planner.used == "llm":
            run = self._plan_second_round(run, scene_plan)
        run = run.with_timings({"plan": time.monotonic() - started_s})
        run = self._with_names_of_text(run)
        point_of_view, issue = decided_point_of_view(run.request, run.plan, run.outline, self._settings.knowledge)
        return replace(run.with_issues(*run.plan.issues, issue), point_of_view=point_of_view)

    def _recall(
        self, run: ContextRun, unread_issues: list[ReportIssue], entity_ids: Sequence[str]
    ) -> tuple[StoryRecap, Sequence[EntityStateSnapshot]]:
        """Read the planner's additional material, and report unreadable parts in `unread`."""
        request = run.request
        story_recap = StoryRecap(
            scenes=scene_planning.known_story(request, run.outline).scenes[-scene_planning.SCENES_OF_A_RECAP :]
        )
        reads: dict[str, Callable[[], Any]] = {}
        if (recap := protocol.further_read(self._memory, "recap")) is not None:
            recap = partial(recap, request.project_id, as_of=request.position)
            reads["recap"] = answers.checked("recap", recap, StoryRecap)
        if entity_ids and not self._takes_names:
            states = partial(self._memory.get_entity_states, request.project_id, entity_ids, as_of=request.position)
            reads["states"] = answers.checked_states("get_entity_states", states)
        timeout_s = self._stage(run.deadline, "recap").remaining_s
        outcomes = run_concurrently(reads, timeouts_s=dict.fromkeys(reads, timeout_s))
        unread_issues += filter(None, (self._issue("plan", outcome) for outcome in outcomes.values()))
        values = {name: stepwise_chain.value_of(outcome) for name, outcome in outcomes.items()}
        return values.get("recap") or story_recap, values.get("states") or ()

    def _plan_second_round(self, run: ContextRun, scene_plan: scene_planning.PlannedScene) -> ContextRun:
        """Let the model see the first hits and plan again.

        A failure keeps the first round's plan.
        """
        request = self._search_request(run, self._stage(run.deadline, "first_hits"))
        run, result = self._call_tool(run, "first_hits", self._search(request), of="plan")
        if result is None or self._planner is None:
            return run
        further = scene_planning.plan_second_round(
            scene_plan,
            run.request,
            run.outline,
            planner=self._planner,
            first_result=result,
            takes_names=self._takes_names,
        )
        took_s = further.model_time_s - scene_plan.model_time_s
        run = replace(run, plan=further.plan, deadline=run.deadline.later(took_s))
        return run.with_timings({"model": further.model_time_s})

    def _with_names_of_text(self, run: ContextRun) -> ContextRun:
        """Let the text say which of the plan's names that no entity bears it knows, and by which other names."""
        read, names = protocol.further_read(self._memory, "names_in_text"), run.plan.unresolved_names
        if not names or run.outline is None or read is None:
            return run
        look = partial(read, run.request.project_id, names, as_of=run.request.position)
        run, results = self._call_tool(run, "names", answers.checked("names_in_text", look, dict), of="names")
        return run if results is None else replace(run, plan=scene_planning.with_names_of_text(run.plan, results))

    def _retrieve(self, run: ContextRun) -> ContextRun:
        if run.is_unknown_project:
            return run
        request, settings = run.request, self._settings
        story = scene_planning.known_story(request, run.outline)
        state_ids = scene_planning.entities_for_states(
            scene_planning.state_candidates(run.plan), story, limit=settings.max_states
        )
        # A memory that does not know the story, or could not tell it, is asked by the names of plan and cast.
        is_by_name = self._takes_names or run.outline is None
        deadline = self._stage(run.deadline, "retrieval")
        requested_request = self._search_request(run, deadline.share("search"))
        beside = self._reads_of_knowledge(run, state_ids)
        beside_s = deadline.share("knowledge").remaining_s
        # The scene whose end the context shows, where there is room for it and the memory gives texts.
        last_scene = scene_before(story.scenes, run.point_of_view, as_of=request.position)
        ends: dict[str, Callable[[], Any]] = {}
        scene_text = protocol.further_read(self._memory, "scene_text")
        if last_scene is not None and self._tokens_of("left_off") and scene_text is not None:
            end = partial(scene_text, request.project_id, *story_place(last_scene), as_of=request.position)
            ends["left_off"] = answers.checked("scene_text", end, str)
        outcomes = run_concurrently(
            {
                **beside,
                **ends,
                "search": self._search(requested_request),
                "states": self._states_by_name(request) if is_by_name else self._states(request, state_ids),
                "timeline": answers.checked_states(
                    "get_recent_timeline",
                    partial(
                        self._memory.get_recent_timeline,
                        request.project_id,
                        request.chapter_index,
                        context_window=settings.chapters_around,
                        as_of=request.position,
                    ),
                ),
            },
            timeouts_s=dict.fromkeys(("search", "states", "timeline"), deadline.remaining_s)
            | dict.fromkeys((*beside, "left_off"), beside_s),
        )
        if last_scene is not None and "left_off" in outcomes:
            run = self._with_left_off(run, last_scene, outcomes.pop("left_off"))
        run = self._with_knowledge(run, {name: outcomes.pop(name) for name in beside})
        run = run.with_timings({stage: outcome.elapsed_s for stage, outcome in outcomes.items()})
        run = run.with_issues(*(self._issue(stage, outcome) for stage, outcome in outcomes.items()))
        values = {stage: stepwise_chain.value_of(outcome) for stage, outcome in outcomes.items()}
        search = values["search"] or run.search
        stepwise_chain.trace_retrievers(requested_request, search)
        if is_by_name:
            run = _with_entities(run, values["states"] or {})
            values["states"] = list((values["states"] or {}).values())
        return replace(
            run.with_issues(*search.issues).with_timings(dict(search.timings_s)),
            found=stepwise_chain.untraced_search(search),
            states=values["states"] or (),
            timeline=values["timeline"] or (),
        )

    def _search(self, request: SearchRequest) -> Callable[[], SearchResult]:
        return answers.checked_search(partial(self._memory.search, request))

    def _states(
        self, request: MemoryContextRequest, entity_ids: Sequence[str]
    ) -> Callable[[], list[EntityStateSnapshot]]:
        read_states = partial(self._memory.get_entity_states, request.project_id, entity_ids, as_of=request.position)
        return answers.checked_states("get_entity_states", read_states)

    def _states_by_name(self, request: MemoryContextRequest) -> Callable[[], dict[str, EntityStateSnapshot]]:
        names = scene_planning.names_for_states(request, limit=self._settings.max_states)
        return partial(protocol.states_by_name, self._memory, request.project_id, names, as_of=request.position)

    def _tokens_of(self, quota: QuotaName) -> int:
        return self._settings.quotas.tokens(quota, self._settings.memory_budget)

    def _with_left_off(self, run: ContextRun, scene: OutlineScene, outcome: CallOutcome[Any]) -> ContextRun:
        """Return the run with the end of the scene before, or with the issue that says why it is missing."""
        run = run.with_timings({"left_off": outcome.elapsed_s})
        if (issue := self._issue("left_off", outcome)) is not None:
            return run.with_issues(issue)
        place = f"{scene.chapter_index}:{scene.scene_index}"
        if not outcome.value:
            message = f"the text of scene {place} is not stored, so that the context does not show how it ended"
            return run.with_issues(ReportIssue(stage="left_off", kind="unavailable", message=message))
        tokens = self._tokens_of("left_off")
        ended_omission = left_off(scene, outcome.value, budget_tokens=tokens, count_tokens=self._count_tokens)
        if ended_omission is None:
            message = f"the last sentence of scene {place} does not fit the {tokens} tokens of its share"
            return run.with_issues(ReportIssue(stage="left_off", kind="over_limit", message=message))
        return replace(run, left_off=ended_omission)

    def _reads_of_knowledge(self, run: ContextRun, state_ids: Sequence[str]) -> dict[str, Callable[[], Any]]:
        """Return the reads for character knowledge, none for a plan without names."""
        project_id, as_of = run.request.project_id, run.request.position
        knowledge = protocol.further_read(self._memory, "knowledge")
        changes = protocol.further_read(self._memory, "changes")
        if knowledge is None or not self._cast(run):
            return {}
        reads = {"knowledge": answers.checked("knowledge", partial(knowledge, project_id, as_of=as_of), KnowledgeStory)}
        if changes is None:
            return reads
        is_cut = run.point_of_view is not None and run.point_of_view.mode != "mark"
        changes = partial(changes, project_id, state_ids if is_cut else (), as_of=as_of)
        return {**reads, "changes": answers.checked("changes", changes, StoryChanges)}

    def _with_knowledge(self, run: ContextRun, outcomes: Mapping[str, CallOutcome[Any]]) -> ContextRun:
        """Add character knowledge, or report how the point of view is handled without it."""
        run = run.with_issues(*(self._issue("knowledge", outcome) for outcome in outcomes.values()))
        values = {name: outcome.value for name, outcome in outcomes.items()}
        if outcomes:
            run = run.with_timings({"knowledge": max(outcome.elapsed_s for outcome in outcomes.values())})
        story: KnowledgeStory | None = values.get("knowledge")
        if story is None:
            return self._without_knowledge(run)
        changes: StoryChanges | None = values.get("changes")
        rules = StoryKnowledge(KnowledgeRules(story), changes.stands_for if changes else {})
        return replace(
            run,
            knowledge=stepwise_chain.Untraced(rules, f"{len(story.memories)} memories, {len(story.events)} events"),
            changes=stepwise_chain.Untraced(changes, f"{len(changes.states) if changes else 0} changes"),
        )

    def _without_knowledge(self, run: ContextRun) -> ContextRun:
        """Report how the point of view is handled when knowledge is unavailable."""
        view = run.point_of_view
        if view is None or view.mode == "mark":
            return run
        text = (
            "everything but their own state and feelings is left out, for nothing else can be shown to be known to them"
            if view.mode == "exclude"
            else "nothing is set apart"
        )
        issue = ReportIssue(
            stage="knowledge",
            kind="degraded",
            message=f"who knows what could not be told, so that of the point of view {view.name!r} {text}",
        )
        mode = "exclude" if view.mode == "exclude" else "mark"
        return replace(run.with_issues(issue), point_of_view=view.model_copy(update={"mode": mode}))

    def _cast(self, run: ContextRun) -> list[str]:
        """Return the characters of the plan, including its point of view."""
        types = {entity.entity_id: entity.entity_type for entity in run.outline.entities} if run.outline else {}
        named_ids = [entity_id for entity_id in run.plan.entity_ids if entity_id not in run.plan.inferred_ids]
        pov_id = run.point_of_view.character_id if run.point_of_view else None
        ids = dict.fromkeys([*named_ids, *([pov_id] if pov_id else [])])
        return [other_id for other_id in ids if types.get(other_id) == "character"]

    def _cut(self, run: ContextRun) -> tuple[ContextRun, PointOfViewCut | None]:
        """Divide the results by the point of view's knowledge, within a time limit."""
        view = run.point_of_view
        if view is None or view.mode == "mark":
            return run, None
        knowledge = run.knowledge.value
        view_cut = PointOfViewCut(
            found=FoundStory(
                scene_planning.known_story(run.request, run.outline), run.search, run.states, run.timeline
            ),
            character_id=view.character_id,
            view=knowledge.of(view.character_id, is_shown=True) if knowledge and view.character_id else None,
            changes=run.changes.value,
            request=run.request,
        )
        run, unknown_counts = self._call_tool(run, "knowers", view_cut.counted, of="knowledge")
        if unknown_counts is None:
            run = self._without_knowledge(replace(run, knowledge=NO_KNOWLEDGE))
            return run, None if view.mode == "separate" else replace(view_cut, view=None)
        return replace(run, point_of_view=view.model_copy(update={"unknown": unknown_counts})), view_cut

    def _assemble(self, run: ContextRun) -> SceneMemoryContext:
        run, view_cut = self._cut(run)
        run, view_cut, selection = self._select(run, view_cut)
        started_s = time.monotonic()
        context = assemble_context(
            run.request,
            scene_planning.known_story(run.request, run.outline),
            run.plan,
            search=run.search,
            states=run.states,
            timeline=run.timeline,
            bounds=self._settings,
            count_tokens=self._count_tokens,
            timestamp=self._clock(),
            point_of_view=run.point_of_view,
            view_cut=view_cut,
            left_off=run.left_off,
            first_ids=selection.chunk_ids if selection else (),
        )
        if selection is not None:
            context = _with_report(context, selector=selection.report)
        run = run.with_timings({"select": time.monotonic() - started_s})
        run, context = self._with_knowers(run, context)
        if view_cut is not None:
            run = _without_quotes(run).with_issues(*guessed_scenes_issues(context))
            context = _with_report(context, planner=run.plan.planner)
        # Of the second scene of a story the end of the first tells what went before.
        is_told = not self._tokens_of("story_so_far") or run.outline is None or len(run.outline.scenes) < 2
        if run.left_off is not None and view_cut is None and not context.story_so_far and not is_told:
            message = "nothing that is stored tells the scenes before in short, or it does not fit its share"
            run = run.with_issues(ReportIssue(stage="story_so_far", kind="unavailable", message=message))
        run = run.with_timings({"total": time.monotonic() - run.started_s})
        return _with_report(context, issues=list(run.issues), timings_s=run.timings_s)

    def _select(
        self, run: ContextRun, view_cut: PointOfViewCut | None
    ) -> tuple[ContextRun, PointOfViewCut | None, ModelSelection | None]:
        """Let the model choose from the memories before the scene, and add its choice."""
        request = run.request
        if not self._is_chosen_by_model(run):
            return run, view_cut, None
        if self._selector is None:
            return run.with_issues(NO_MODEL), view_cut, None
        planning_failure = _planning_failure(run.plan) if self._selects_by_planner else None
        if planning_failure is not None:
            selection = unasked_selection(planning_failure.kind)
            return run.with_issues(*selection.issues), view_cut, selection
        run, memory_list = self._memory_list(run, view_cut)
        if not memory_list.lines:
            return run, view_cut, None
        story = view_cut.known.outline if view_cut else scene_planning.known_story(request, run.outline)
        started_s = time.monotonic()
        selection = self._selector.select(
            request, memory_list, open_loops=story.open_loops, language=language_of(request, story)
        )
        took_s = time.monotonic() - started_s
        run = replace(run, deadline=run.deadline.later(took_s)).with_timings({"selector": took_s})
        run = run.with_issues(*selection.issues)
        search = with_chosen(run.search, memory_list, selection.chunk_ids)
        run = replace(run, found=stepwise_chain.untraced_search(search))
        return run, view_cut and replace(view_cut, found=replace(view_cut.found, search=search)), selection

    def _memory_list(self, run: ContextRun, view_cut: PointOfViewCut | None) -> tuple[ContextRun, MemoryList]:
        """Return the list of all memories before the scene, or of the best that the search found."""
        request, settings = run.request, self._settings
        run = self._with_memories(run)
        whole = self._whole_list(run, view_cut)
        if whole is not None:
            return run, whole
        search = view_cut.known.search if view_cut else run.search
        scene = selection_scene(scene_planning.known_story(request, run.outline), run.plan, search)
        ranked_candidates = [
            candidate
            for candidate in rank_candidates(admitted_candidates(search, request), scene, weights=settings.weights)
            if candidate.chunk.content_type in DISTILLED_TYPES
        ]
        return run, best_list(
            ranked_candidates,
            budget_tokens=list_tokens(settings.selector_tokens),
            most=settings.selector_candidates,
            count_tokens=self._count_tokens,
        )

    def _with_memories(self, run: ContextRun) -> ContextRun:
        """Return the run with all memories before the scene, none where they are more than a list holds."""
        request, memories_before = run.request, protocol.further_read(self._memory, "memories_before")
        if run.memories.value is not None or memories_before is None:
            return run
        most = list_tokens(self._settings.selector_tokens) // LEAST_LINE_TOKENS
        read = partial(memories_before, request.project_id, as_of=request.position, most=most)
        run, memories = self._call_tool(
            run, "memory_list", lambda: answers.read_list("memories_before", read(), StoryMemoryChunk), of="select"
        )
        count_text = f"{len(memories or ())} memories"
        return replace(run, memories=stepwise_chain.Untraced(memories or (), count_text))

    def _whole_list(self, run: ContextRun, view_cut: PointOfViewCut | None) -> MemoryList | None:
        """Return the list of all memories before the scene; None where it does not fit or has none."""
        candidates = stored_candidates(run.memories.value or (), run.search)
        candidates = admitted_candidates(SearchResult(candidates=tuple(candidates)), run.request)
        candidates = view_cut.known_candidates(candidates) if view_cut else candidates
        if not candidates:
            return None
        budget_tokens = list_tokens(self._settings.selector_tokens)
        return whole_list(candidates, budget_tokens=budget_tokens, count_tokens=self._count_tokens)

    def _is_chosen_by_model(self, run: ContextRun) -> bool:
        """Return whether a model, not the rules, chooses the memories of the scene."""
        chosen_by = run.request.selector or self._settings.selector or ("model" if self._selector else "rules")
        return chosen_by == "model" and not run.is_unknown_project

    def _with_knowers(self, run: ContextRun, context: SceneMemoryContext) -> tuple[ContextRun, SceneMemoryContext]:
        """Add the planned characters that know a memory to its receipt."""
        knowledge, cast = run.knowledge.value, self._cast(run)
        if knowledge is None or not cast:
            return run, context
        mark = partial(marked_items, context.report.items, context.relevant_memories, cast, knowledge)
        run, items = self._call_tool(run, "knowers", mark, of="knowledge")
        return run, context if items is None else _with_report(context, items=items)

    def _write(self, context: SceneMemoryContext) -> SceneMemoryContext:
        if self._writer is None:
            return context
        deadline = Deadline.after(self._settings.chain_timeout_s - _spent_s(context), stage="context")
        timeout_s = self._stage(deadline, "write").remaining_s
        write = partial(self._writer.write, context)
        outcome = run_concurrently({"write": write}, timeouts_s={"write": timeout_s})["write"]
        issue = self._issue("write", outcome)
        if issue is None:
            return context
        if isinstance(outcome.error, ContextWriteError):
            issue = issue.model_copy(update={"kind": "not_written", "message": str(outcome.error)})
        logger.error("the context was not written: %s", issue.message)
        issues = [*context.report.issues, issue]
        return _with_report(context, issues=issues)

    def _search_request(self, run: ContextRun, deadline: Deadline) -> SearchRequest:
        return SearchRequest(
            project_id=run.request.project_id,
            queries=list(run.plan.queries),
            entity_ids=run.plan.entity_ids,
            as_of=run.request.position,
            candidates_per_query=self._settings.candidates_per_query,
            timeout_s=deadline.remaining_s,
            open_loops=None if run.outline is None else list(run.outline.open_loops),
        )

    def _call_tool(
        self, run: ContextRun, name: str, call: Callable[[], stepwise_chain.T], *, of: str
    ) -> tuple[ContextRun, stepwise_chain.T | None]:
        """Call one tool within its share of the time.

        The run records the duration, and a failure at stage `of`.
        """
        timeout_s = self._stage(run.deadline, name).remaining_s
        outcome = run_concurrently({name: call}, timeouts_s={name: timeout_s})[name]
        spent_s = run.timings_s.get(name, 0.0) + outcome.elapsed_s
        value = stepwise_chain.value_of(outcome)
        return run.with_issues(self._issue(of, outcome)).with_timings({name: spent_s}), value

    def _stage(self, deadline: Deadline, stage: str) -> Deadline:
        """Return the deadline of a stage's calls to tools, each of which has a limit of its own."""
        return deadline.share(stage, at_most_s=self._settings.tool_timeout_s)

    def _issue(self, stage: str, outcome: CallOutcome[Any]) -> ReportIssue | None:
        return stepwise_chain.issue_of(stage, outcome, propagate_bugs=self._propagate_bugs)


def memory_context_chain(
    scene_plan: object,
    characters_config: object = None,
    *,
    project_id: str,
    chapter_index: int,
    scene_index: int,
    memory: protocol.MemoryTools | protocol.StoryMemory | None = None,
    model: BaseChatModel | None = None,
    writer: ContextWriter | None = None,
    settings: ContextSettings | None = None,
    **more: Any,
) -> SceneMemoryContext:
    """Build the memory context of one planned scene.

    Args:
        scene_plan: A ScenePlan, or a mapping, Pydantic model or dataclass with its fields.
        characters_config: The characters, as a CharactersConfig or alike; None means none.
        project_id: The project, a plain string.
        chapter_index: Chapter of the scene.
        scene_index: The scene within its chapter.
        memory: The memory tools, or a double of them; None opens the stores of the settings for this call, and writes
            the context to `projects/<id>/scene_<chapter>_<scene>_memory.json`.
        model: Chat model for planning; None takes that of the settings with their stores, else plans by rules.
        writer: Keeps the context; only with a memory of one's own.
        settings: Budgets and deadlines; only with a memory of one's own.
        **more: Further fields of MemoryContextRequest: chapter_plan, hints, pov, knowledge, top_k, selector, and the
            story's own settings as `story_settings`.

    Returns:
        The context. What fails in model, memory or writer is an issue of its report.

    Raises:
        UserInputError: When the plan or another argument is wrong; names the value and the fix.
    """
    request = {
        "project_id": project_id,
        "chapter_index": chapter_index,
        "scene_index": scene_index,
        "scene_plan": scene_plan,
        **({} if characters_config is None else {"characters_config": characters_config}),
        **{("settings" if name == "story_settings" else name): value for name, value in more.items()},
    }
    if memory is not None:
        return MemoryContextChain(memory, model=model, writer=writer, settings=settings).invoke(request)
    if writer is not None or settings is not None:
        raise UserInputError("writer and settings go with a memory; pass memory, or leave them to config.yaml")
    with novelgen.open(chat_model=model) as stories:
        return stories.context_chain(project_id).invoke(request)


def _with_entities(run: ContextRun, states: Mapping[str, EntityStateSnapshot]) -> ContextRun:
    """Return the run with ids and names of the entities of states that were found by name."""
    types = get_args(EntityType)
    names = {state.entity_id: (name, state.entity_type) for name, state in states.items()}
    # Nobody says the names of what a state refers to, so that ids must do.
    for entity_id in scene_planning.referenced_ids(states.values()):
        names.setdefault(entity_id, (entity_id, ""))
    entities = [
        Entity.model_validate({"entity_id": other_name, "entity_type": kind if kind in types else "term", "name": name})
        for other_name, (name, kind) in names.items()
    ]
    story = scene_planning.known_story(run.request, run.outline).model_copy(update={"entities": entities})
    plan = scene_planning.with_known_ids(run.plan, {name: state.entity_id for name, state in states.items()})
    return replace(run, story=stepwise_chain.Untraced(story, f"{len(entities)} entities by name"), plan=plan)


def _place_of(request: object) -> dict[str, Any]:
    """The project and place of a request as metadata, as far as it has them: it is not validated yet."""
    payload = dict(request) if isinstance(request, MemoryContextRequest | Mapping) else {}
    return {name: payload[name] for name in ("project_id", "chapter_index", "scene_index") if name in payload}


def _foreign_field_issues(request: MemoryContextRequest) -> list[ReportIssue]:
    """Return an issue for the fields of the plan that are not read."""
    names = foreign_field_names(request.scene_plan)
    if not names:
        return []
    return [
        ReportIssue(stage="plan", kind="unresolved", message=f"fields of the plan are not read: {', '.join(names)}")
    ]


def _scene_number_issues(request: MemoryContextRequest) -> list[ReportIssue]:
    """Tell that a plan says it is of another scene of the chapter."""
    number = request.scene_plan.scene_number
    if number in (None, request.scene_index):
        return []
    message = f"the plan says scene_number {number}; the context is that of scene {request.scene_index}, which counts"
    return [ReportIssue(stage="plan", kind="unresolved", message=message)]


def _spent_s(context: SceneMemoryContext) -> float:
    """Return the seconds that a context took, but for the model's, which has a deadline of its own."""
    timings_s = context.report.timings_s
    return timings_s.get("total", 0.0) - timings_s.get("model", 0.0) - timings_s.get("selector", 0.0)


def _planning_failure(plan: RetrievalPlan) -> ReportIssue | None:
    """Return the issue of a model that gave no answer for the plan."""
    if plan.planner.used == "llm":
        return None
    failures = (issue for issue in plan.issues if issue.stage == "plan" and issue.kind in ("timeout", "unavailable"))
    return next(failures, None)


def _without_quotes(run: ContextRun) -> ContextRun:
    """Remove quotations from a failed plan, since they may hold hidden facts."""
    planner = run.plan.planner
    if not planner.prompt_tokens:
        return run
    text = planner.reason.partition(":")[0]
    issues = tuple(
        issue.model_copy(update={"message": issue.message.partition(":")[0]})
        if issue.stage == "plan" and issue.kind != "unresolved"
        else issue
        for issue in run.issues
    )
    plan = run.plan.model_copy(update={"planner": planner.model_copy(update={"reason": text})})
    return replace(run, plan=plan, issues=issues)


def _with_report(context: SceneMemoryContext, **changes: Any) -> SceneMemoryContext:
    return context.model_copy(update={"report": context.report.model_copy(update=changes)})


if __name__ == "__main__":
    sys.argv.insert(1, "context")
    runpy.run_module("novelgen", run_name="__main__", alter_sys=True)
