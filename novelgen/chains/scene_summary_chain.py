"""One scene in, three to five bullets out, written by a model. The chain keeps nothing between runs."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel, Field

from novelgen.chains.stepwise_chain import StepwiseChain
from novelgen.deadlines import Deadline
from novelgen.errors import DeadlineExceededError, ModelError
from novelgen.language.extractive import MAX_BULLETS, MIN_BULLETS
from novelgen.language.language import StoryLanguage, story_language
from novelgen.language.sentences import split_sentences
from novelgen.model_calls.answers import UnusableAnswerError, require_grounded, whole_sentences
from novelgen.model_calls.json_model import JsonModel, issue_kind_of
from novelgen.model_calls.prompt_data import as_data
from novelgen.model_calls.prompting import load_chat_prompt
from novelgen.models.context import ReportIssue

logger = logging.getLogger(__name__)

SCENE_SUMMARY_STAGE = "scene_summary"
BULLET_TOKENS = 60
MAX_SCENE_CHARACTERS = 60_000
"""A longer text is no scene that a model should read at once."""
PROMPT_VARIABLES = frozenset({"scene", "format_instructions", "max_bullets"})
REPAIR_VARIABLES = frozenset({"problem"})


class ModelBullets(BaseModel):
    """What the model is asked for."""

    summary: list[str] = Field(description="the bullets, each one short whole sentence")


class SceneSummaryRequest(BaseModel):
    """The scene that is to be summed up."""

    text: str = Field(min_length=1)
    max_bullets: int = Field(default=MAX_BULLETS, ge=1)


class SceneSummaryResult(BaseModel):
    """The bullets, none when the model wrote none that can be used; the issue then says why."""

    bullets: list[str] = Field(default_factory=list)
    issue: ReportIssue | None = None


SceneSummaryInput = SceneSummaryRequest | Mapping[str, Any]


class SceneSummaryChain(StepwiseChain[SceneSummaryInput, SceneSummaryResult]):
    """Sums scenes up; works as any LangChain Runnable. Nothing that the model or its server does is raised."""

    def __init__(self, model: BaseChatModel, *, timeout_s: float = 60.0) -> None:
        self._model = JsonModel(model, ModelBullets, keys=("summary",))
        self._timeout_s = timeout_s
        super().__init__(RunnableLambda(self._summed_up))

    def _summed_up(self, given: SceneSummaryInput) -> SceneSummaryResult:
        request = SceneSummaryRequest.model_validate(given)
        if len(request.text) > MAX_SCENE_CHARACTERS:
            message = f"a scene of {len(request.text)} characters is too long for one summary; cut it into scenes"
            return _failed(ReportIssue(stage=SCENE_SUMMARY_STAGE, kind="over_limit", message=message))
        language = story_language(request.text)
        repair = load_chat_prompt("repair_scene_summary", language, variables=REPAIR_VARIABLES)
        deadline = Deadline.after(self._timeout_s)
        conversation = self._model.conversation(deadline=deadline, stage=SCENE_SUMMARY_STAGE)
        try:
            bullets = conversation.obtain(
                self._prompt(request, language),
                accept=lambda answer: _accepted(answer, request),
                repair=lambda problem: repair.format_messages(problem=problem),
            )
        except (ModelError, DeadlineExceededError) as error:
            message = f"the model wrote no summary: {error}"
            return _failed(ReportIssue(stage=SCENE_SUMMARY_STAGE, kind=issue_kind_of(error), message=message))
        return SceneSummaryResult(bullets=bullets)

    def _prompt(self, request: SceneSummaryRequest, language: StoryLanguage) -> list[BaseMessage]:
        prompt = load_chat_prompt("summarise_scene", language, variables=PROMPT_VARIABLES)
        return prompt.format_messages(
            scene="\n".join(as_data(line) for line in request.text.splitlines()),
            format_instructions=self._model.format_instructions(),
            max_bullets=str(request.max_bullets),
        )


def _failed(issue: ReportIssue) -> SceneSummaryResult:
    logger.warning("%s", issue.message)
    return SceneSummaryResult(issue=issue)


def _accepted(answer: ModelBullets, request: SceneSummaryRequest) -> list[str]:
    said = [each.strip().lstrip("-•* ") for each in answer.summary if each.strip()]
    bullets = [
        whole_sentences(each, field=f"summary[{index}]", max_tokens=BULLET_TOKENS)
        for index, each in enumerate(dict.fromkeys(said))
    ]
    sentences = sum(bool(request.text[span.start : span.end].strip()) for span in split_sentences(request.text))
    wanted = min(MIN_BULLETS, request.max_bullets, sentences)
    if len(bullets) < wanted:
        raise UnusableAnswerError("empty", f"summary has {len(bullets)} bullets and needs {wanted} or more")
    kept = bullets[: request.max_bullets]
    require_grounded(" ".join(kept), shown=request.text, names=())
    return kept
