"""The plan of what to look up, made by a language model; a model that fails leaves it to the rules."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Sequence
from functools import partial

from langchain_core.exceptions import OutputParserException
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.output_parsers import PydanticOutputParser
from pydantic import ValidationError

from novelgen.deadlines import call_with_deadline
from novelgen.errors import DeadlineExceededError, ModelError, ModelUnavailableError
from novelgen.models.context import IssueKind, PlannerReport, ReportIssue
from novelgen.models.entity import Entity
from novelgen.models.request import MemoryContextRequest
from novelgen.names.resolver import NameResolver
from novelgen.planning.grounding import Ground, ground_plan
from novelgen.planning.model_answer import cut_text_in, described, is_cut
from novelgen.planning.parsing import UnusableAnswerError, parse_json_object
from novelgen.planning.planner_prompt import background_text, known_entities_text, scene_plan_text
from novelgen.planning.response_formats import STATUS_CODES_OF_A_REFUSED_FORMAT, response_formats
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
from novelgen.text.scrub import scrub_text

logger = logging.getLogger(__name__)

PROMPT_VARIABLES = frozenset(
    {"background", "example", "format_instructions", "known_entities", "max_entities", "max_events"}
    | {"max_queries", "max_query_characters", "scene_plan"}
)
REPAIR_VARIABLES = frozenset({"problem"})
MAX_REPAIRED_CHARACTERS = 2000

_SCHEMA_KEYS = frozenset({"properties", "$defs", "$schema"})
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
        self._model = model
        self._timeout_s = timeout_s
        self._parser: PydanticOutputParser[ModelRetrievalPlan] = PydanticOutputParser(
            pydantic_object=ModelRetrievalPlan
        )
        self._formats = response_formats(model, ModelRetrievalPlan)

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
            format_instructions=self._parser.get_format_instructions(),
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
        ends_at = time.monotonic() + self._timeout_s
        answer = self._ask(messages, ends_at)
        try:
            return self._read(answer, ground)
        except UnusableAnswerError as error:
            logger.info("the model's plan is asked for once more: %s", error)
            repair = load_chat_prompt("repair_retrieval_plan", language, variables=REPAIR_VARIABLES)
            said = AIMessage(str(answer.text)[:MAX_REPAIRED_CHARACTERS] or "-")
            messages = [*messages, said, *repair.format_messages(problem=str(error))]
        return self._read(self._ask(messages, ends_at), ground)

    def _ask(self, messages: list[BaseMessage], ends_at: float) -> AIMessage:
        """Call the model in the strictest response format that its server takes, and remember that one."""
        formats = self._formats
        while True:
            response_format, *looser = formats
            model = self._model.bind(response_format=response_format) if response_format else self._model
            remaining_s = ends_at - time.monotonic()
            try:
                answer = call_with_deadline(
                    partial(model.invoke, messages), timeout_s=remaining_s, stage="planning by the model"
                )
            except DeadlineExceededError:
                raise
            except Exception as error:
                cut_text = cut_text_in(error)
                if cut_text is not None:
                    self._formats = formats
                    return AIMessage(cut_text, response_metadata={"finish_reason": "length"})
                status = getattr(error, "status_code", None)
                if not looser or status not in STATUS_CODES_OF_A_REFUSED_FORMAT:
                    raise ModelUnavailableError(f"the model gave no answer: {described(error)}") from error
                logger.info("response format refused (%s): %s", status, described(error))
                formats = looser
            else:
                self._formats = formats
                return answer

    def _read(self, answer: AIMessage, ground: Ground) -> RetrievalPlan:
        if is_cut(answer):
            raise UnusableAnswerError("cut", "the answer was cut at its token limit; make it much shorter")
        found = parse_json_object(scrub_text(answer.text), keys=_PLAN_KEYS)
        if _SCHEMA_KEYS & found.keys():
            raise UnusableAnswerError("echo", "the answer repeats the JSON schema instead of filling it")
        try:
            plan = self._parser.parse(json.dumps(found))
        except OutputParserException as error:
            raise UnusableAnswerError("schema", _schema_problem(error)) from error
        return ground_plan(plan, ground)


def _schema_problem(error: OutputParserException) -> str:
    if not isinstance(error.__cause__, ValidationError):
        return "the JSON does not fit the schema"
    first = error.__cause__.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"the JSON does not fit the schema: {place}: {first['msg']}"


def _failed(error: ModelError | DeadlineExceededError) -> RetrievalPlan:
    kind: IssueKind = "malformed"
    if isinstance(error, DeadlineExceededError):
        kind = "timeout"
    elif isinstance(error, ModelUnavailableError):
        kind = "unavailable"
    elif isinstance(error, UnusableAnswerError) and error.fault == "cut":
        kind = "over_limit"
    return RetrievalPlan(
        planner=PlannerReport(used="rules", reason=f"the model's plan was not used: {error}"),
        issues=[ReportIssue(stage="plan", kind=kind, message=str(error))],
    )
