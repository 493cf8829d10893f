"""The plan of what to look up, made by a language model; a model that fails leaves it to the rules."""

from __future__ import annotations

import time
from collections.abc import Sequence

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage

from novelgen.errors import DeadlineExceededError, ModelError
from novelgen.model_calls.json_model import JsonModel, issue_kind_of
from novelgen.model_calls.prompt_data import known_entities_text
from novelgen.models.context import PlannerReport, ReportIssue
from novelgen.models.entity import Entity
from novelgen.models.request import MemoryContextRequest
from novelgen.names.resolver import NameResolver
from novelgen.planning.grounding import Ground, ground_plan
from novelgen.planning.planner_prompt import background_text, scene_plan_text
from novelgen.planning.retrieval_plan import (
    MAX_ENTITIES,
    MAX_EVENTS,
    MAX_QUERIES,
    MAX_QUERY_CHARACTERS,
    ModelRetrievalPlan,
    RetrievalPlan,
)
from novelgen.prompting import load_chat_prompt, read_prompt_file
from novelgen.text.cjk import StoryLanguage

PROMPT_VARIABLES = frozenset(
    {"background", "example", "format_instructions", "known_entities", "max_entities", "max_events"}
    | {"max_queries", "max_query_characters", "scene_plan"}
)
REPAIR_VARIABLES = frozenset({"problem"})
_PLAN_KEYS = ("entities", "queries")


class ModelPlanner:
    """Plans retrieval with a chat model.

    A planner remembers which response format its server takes; keep one per model.

    Args:
        model: Any LangChain chat model.
        timeout_s: Seconds for all calls of one plan together, whatever the client's own timeouts and
            retries do.
    """

    def __init__(self, model: BaseChatModel, *, timeout_s: float = 20.0) -> None:
        self._model = JsonModel(model, ModelRetrievalPlan, keys=_PLAN_KEYS)
        self._timeout_s = timeout_s

    def plan(
        self,
        request: MemoryContextRequest,
        *,
        entities: Sequence[Entity],
        names: NameResolver,
        language: StoryLanguage,
        touched_ids: Sequence[str] = (),
    ) -> RetrievalPlan:
        """Ask the model what to look up, with at most one call to repair a bad answer.

        Args:
            request: The planned scene.
            entities: The entities known at its position, with the names known there.
            names: Resolver over the same entities.
            language: Language of the story; chooses the prompt.
            touched_ids: Entities that the rules found; listed first where not all can be listed.

        Returns:
            The grounded plan with `planner.used` "llm"; when the model fails in any way an empty plan with
            "rules", the reason, and one issue. Never raises for what the model or its server does.
        """
        scene_text = scene_plan_text(request.scene_plan, language)
        example = read_prompt_file(f"plan_retrieval_example.{language}.json").strip()
        ground = Ground(
            names=names,
            has_known_entities=bool(entities),
            scene_text="\n".join([scene_text, *request.hints]),
            example=ModelRetrievalPlan.model_validate_json(example),
        )
        prompt = load_chat_prompt("plan_retrieval", language, variables=PROMPT_VARIABLES)
        messages = prompt.format_messages(
            background=background_text(request, language),
            example=example,
            format_instructions=self._model.format_instructions(),
            known_entities=known_entities_text(entities, language, first_ids=touched_ids),
            max_entities=str(MAX_ENTITIES),
            max_events=str(MAX_EVENTS),
            max_queries=str(MAX_QUERIES),
            max_query_characters=str(MAX_QUERY_CHARACTERS),
            scene_plan=scene_text,
        )
        try:
            return self._asked_and_repaired(messages, ground, language)
        except (ModelError, DeadlineExceededError) as error:
            return _failed(error)

    def _asked_and_repaired(
        self, messages: list[BaseMessage], ground: Ground, language: StoryLanguage
    ) -> RetrievalPlan:
        repair = load_chat_prompt("repair_retrieval_plan", language, variables=REPAIR_VARIABLES)
        conversation = self._model.conversation(
            ends_at=time.monotonic() + self._timeout_s, stage="planning by the model"
        )
        return conversation.obtain(
            messages,
            accept=lambda plan: ground_plan(plan, ground),
            repair=lambda problem: repair.format_messages(problem=problem),
        )


def _failed(error: ModelError | DeadlineExceededError) -> RetrievalPlan:
    return RetrievalPlan(
        planner=PlannerReport(used="rules", reason=f"the model's plan was not used: {error}"),
        issues=[ReportIssue(stage="plan", kind=issue_kind_of(error), message=str(error))],
    )
