"""Retrieval planning by a language model, grounded in the scene."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage

from novelgen.context import retrieval_plan as planning
from novelgen.deadlines import Deadline
from novelgen.errors import DeadlineExceededError, ModelError
from novelgen.language.language import StoryLanguage, estimate_tokens, folded, significant_words
from novelgen.language.resolver import Mention, NameResolver
from novelgen.memory.outline import StoryOutline
from novelgen.memory.search import NAMES_PURPOSE, SearchQuery, SearchResult
from novelgen.model_calls.answers import UnusableAnswerError
from novelgen.model_calls.json_model import Question, issue_kind_of
from novelgen.model_calls.prompting import load_chat_prompt, read_prompt_example
from novelgen.models.context import MemoryContextRequest, PlannerReport, ReportIssue
from novelgen.models.entity import Entity

SHARED_WORDS_OF_A_GROUNDED_QUERY = 2


@dataclass(frozen=True, slots=True)
class Ground:
    """The permitted subjects of a plan."""

    names: NameResolver
    has_known_entities: bool
    scene_text: str
    example: planning.ModelRetrievalPlan
    thread_ids: frozenset[str] = frozenset()


def ground_plan(answer: planning.ModelRetrievalPlan, ground: Ground) -> planning.RetrievalPlan:
    """Keep the model's queries that name known entities or share scene words."""
    if not (answer.entities or answer.queries or answer.events):
        raise UnusableAnswerError("empty", "the plan is empty")
    if set(answer.entities) <= set(ground.example.entities) and _search_texts(answer) <= _search_texts(ground.example):
        raise UnusableAnswerError("echo", "the plan repeats the example of the prompt")
    entity_ids = _known_ids(answer.entities, ground.names)[: planning.MAX_ENTITIES]
    queries = _grounded_queries(answer, ground)
    if not entity_ids and (not queries or (answer.entities and ground.has_known_entities)):
        raise UnusableAnswerError(
            "ungrounded", f"nothing in the plan belongs to this story: entities {answer.entities[:3]!r}"
        )
    return planning.RetrievalPlan(
        entity_ids=entity_ids,
        queries=queries,
        thread_ids=_open_threads(answer, ground),
        planner=PlannerReport(used="llm", reason="the model's plan was added to that of the rules"),
    )


def _open_threads(answer: planning.ModelRetrievalPlan, ground: Ground) -> list[str]:
    return [thread_id for thread_id in answer.threads if thread_id in ground.thread_ids]


def _grounded_queries(answer: planning.ModelRetrievalPlan, ground: Ground) -> list[SearchQuery]:
    scene_words = significant_words(ground.scene_text)
    echoes = _search_texts(ground.example)
    queries = [(query, "model") for query in answer.queries]
    queries += [(planning.ModelQuery(query=event), "event") for event in answer.events]
    queries_by_text: dict[str, SearchQuery] = {}
    for query, purpose in queries:
        text = folded(query.query)
        if not text or text in echoes:
            continue
        mentions = ground.names.find_mentions(query.query)
        shared = significant_words(query.query).intersection(scene_words)
        if mentions or len(shared) >= SHARED_WORDS_OF_A_GROUNDED_QUERY:
            says_more = bool(significant_words(_without(query.query, mentions)))
            queries_by_text.setdefault(
                text, _search_query(query, purpose if says_more else NAMES_PURPOSE, ground.names)
            )
    return list(queries_by_text.values())[: planning.MAX_QUERIES]


def _search_query(query: planning.ModelQuery, purpose: str, names: NameResolver) -> SearchQuery:
    return SearchQuery(
        text=query.query,
        purpose=purpose,
        entities=_known_ids(query.entities, names),
        content_type=query.content_type,
        tags=query.tags,
        origin="llm",
    )


def _known_ids(picked: Iterable[str], names: NameResolver) -> list[str]:
    """The distinct known entities of ids and names."""
    ordered_ids: dict[str, None] = {}
    for name in picked:
        resolved_text = names.resolve(name).entity_id
        ordered_ids.update(dict.fromkeys([resolved_text] if resolved_text else names.entity_ids_in(name)))
    return list(ordered_ids)


def _without(text: str, mentions: Sequence[Mention]) -> str:
    """Return the text with a space in place of every name."""
    for mention in sorted(mentions, key=lambda mention: mention.start, reverse=True):
        text = f"{text[: mention.start]} {text[mention.end :]}"
    return text


def _search_texts(plan: planning.ModelRetrievalPlan) -> frozenset[str]:
    return frozenset(map(folded, [*(query.query for query in plan.queries), *plan.events]))


_PROMPT = "plan_retrieval"


@dataclass(frozen=True)
class FirstRound:
    """The first plan of a model, and the state for a second round."""

    plan: planning.RetrievalPlan
    messages: Sequence[BaseMessage]
    ground: Ground
    language: StoryLanguage
    left_s: float


class ModelPlanner:
    """Retrieval planner with a chat model.

    Keep one per model, since it remembers the accepted response format.
    """

    def __init__(
        self, model: BaseChatModel, *, timeout_s: float = 20.0, list_tokens: int = planning.PLANNER_LIST_TOKENS
    ) -> None:
        self._question = Question(
            model,
            planning.ModelRetrievalPlan,
            prompt=_PROMPT,
            repair="repair_retrieval_plan",
            stage="planning by the model",
            keys=("entities", "queries"),
        )
        self._timeout_s = timeout_s
        self._list_tokens = list_tokens

    def plan(
        self,
        request: MemoryContextRequest,
        *,
        entities: Sequence[Entity],
        names: NameResolver,
        language: StoryLanguage,
        story: planning.StorySoFar | None = None,
    ) -> FirstRound:
        """Ask the model for queries, with at most one repair call."""
        prompt_sections = planning.story_sections(
            story or planning.StorySoFar(StoryOutline(project_id=request.project_id)),
            request,
            entities,
            language,
            max_tokens=self._list_tokens,
        )
        scene_text = planning.scene_plan_text(request.scene_plan, language)
        example = read_prompt_example(_PROMPT, language)
        ground = Ground(
            names=names,
            has_known_entities=bool(entities),
            scene_text="\n".join([scene_text, *request.hints, *(prompt_sections.texts[ground] for ground in _GROUNDS)]),
            example=planning.ModelRetrievalPlan.model_validate_json(example),
            thread_ids=frozenset(thread.loop_id for thread in story.outline.open_loops) if story else frozenset(),
        )
        values = {
            "background": planning.background_text(request, language),
            "cards": planning.cards_text(request, language),
            "max_entities": str(planning.MAX_ENTITIES),
            "max_events": str(planning.MAX_EVENTS),
            "max_queries": str(planning.MAX_QUERIES),
            "max_query_characters": str(planning.MAX_QUERY_CHARACTERS),
            "max_threads": str(planning.MAX_THREADS),
            "scene_plan": scene_text,
            **prompt_sections.texts,
        }
        messages = self._question.messages(language, values)
        deadline = Deadline.after(self._timeout_s)
        prompt_tokens = {
            **prompt_sections.tokens,
            "whole": sum(estimate_tokens(str(message.text)) for message in messages),
        }
        prompt_fields = {"prompt_tokens": prompt_tokens, "prompt_left_out": prompt_sections.left_out}
        conversation = self._question.begin(deadline.remaining_s)
        try:
            answer, plan = self._question.ask(
                conversation, language, messages, accept=lambda answer: (answer, ground_plan(answer, ground))
            )
        except (ModelError, DeadlineExceededError) as error:
            failed = _failed(error, f"the model's plan was not used: {error}")
            return FirstRound(_with_report(failed, prompt_fields), (), ground, language, 0.0)
        stated_message = AIMessage(answer.model_dump_json())
        plan = _with_report(plan, {"rounds": 1, **prompt_fields}, conversation.issues("plan"))
        return FirstRound(plan, (*messages, stated_message), ground, language, deadline.remaining_s)

    def plan_second_round(self, first: FirstRound, first_result: SearchResult) -> planning.RetrievalPlan:
        """Show the model its results, and ask once for missing ones."""
        language, ground = first.language, first.ground
        hits = planning.first_hits_text(first_result, language)
        values = {"first_hits": hits, "max_queries": str(planning.MAX_FURTHER_QUERIES)}
        further = load_chat_prompt("plan_retrieval_again", language, variables=values).format_messages(**values)
        grounded = replace(ground, scene_text=f"{ground.scene_text}\n{hits}")
        conversation = self._question.begin(first.left_s)
        try:
            plan = self._question.ask(
                conversation,
                language,
                [*first.messages, *further],
                accept=lambda answer: _further_plan(answer, grounded),
            )
        except (ModelError, DeadlineExceededError) as error:
            return _failed(error, f"of the model's plan only the first round was used: {error}")
        tokens = {**first.plan.planner.prompt_tokens, "first_hits": estimate_tokens(hits)}
        return _with_report(plan, {"rounds": 2, "prompt_tokens": tokens}, conversation.issues("plan"))


_GROUNDS = ("last_scenes", "chapter_so_far", "threads", "states")
"""Sections of the prompt beside the plan whose words a query may speak of."""


def _further_plan(answer: planning.ModelRetrievalPlan, ground: Ground) -> planning.RetrievalPlan:
    """Keep the grounded queries of a second answer, possibly none."""
    if not (answer.entities or answer.queries or answer.events):
        return planning.RetrievalPlan(planner=PlannerReport(used="llm"), thread_ids=_open_threads(answer, ground))
    plan = ground_plan(answer, ground)
    return plan.model_copy(update={"queries": plan.queries[: planning.MAX_FURTHER_QUERIES]})


def _with_report(
    plan: planning.RetrievalPlan, fields: dict[str, Any], issues: Sequence[ReportIssue] = ()
) -> planning.RetrievalPlan:
    planner = plan.planner.model_copy(update=fields)
    return plan.model_copy(update={"planner": planner, "issues": [*plan.issues, *issues]})


def _failed(error: ModelError | DeadlineExceededError, reason: str) -> planning.RetrievalPlan:
    return planning.RetrievalPlan(
        planner=PlannerReport(used="rules", reason=reason),
        issues=[ReportIssue(stage="plan", kind=issue_kind_of(error), message=str(error))],
    )
