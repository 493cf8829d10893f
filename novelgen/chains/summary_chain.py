"""What happened in a chapter or part in, its summary out, written by a model.

What it says is taken only where it says no more than it was shown. The chain keeps nothing between runs.
"""

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
from novelgen.language.language import StoryLanguage, story_language
from novelgen.model_calls.answers import require_grounded, whole_sentences
from novelgen.model_calls.json_model import JsonModel, issue_kind_of
from novelgen.model_calls.prompt_data import as_data
from novelgen.model_calls.prompting import load_chat_prompt
from novelgen.models.context import ReportIssue

logger = logging.getLogger(__name__)

SUMMARY_STAGE = "summary"
SUMMARY_TOKENS = 150
PROMPT_VARIABLES = frozenset({"events", "format_instructions", "max_tokens"})
REPAIR_VARIABLES = frozenset({"problem"})


class ModelSummary(BaseModel):
    """What the model is asked for."""

    summary: str = Field(description="the summary in two to five whole sentences")


class SummaryRequest(BaseModel):
    """What is to be summed up."""

    events: list[str] = Field(min_length=1, description="In story order.")
    names: list[str] = Field(default_factory=list, description="Every name of the story, later ones too.")


class SummaryResult(BaseModel):
    """The summary, empty when the model wrote none that can be used; the issue then says why."""

    text: str = ""
    issue: ReportIssue | None = None


SummaryInput = SummaryRequest | Mapping[str, Any]


class SummaryChain(StepwiseChain[SummaryInput, SummaryResult]):
    """Writes summaries; works as any LangChain Runnable. Nothing that the model or its server does is raised."""

    def __init__(self, model: BaseChatModel, *, timeout_s: float = 60.0) -> None:
        self._model = JsonModel(model, ModelSummary, keys=("summary",))
        self._timeout_s = timeout_s
        super().__init__(RunnableLambda(self._written))

    def _written(self, given: SummaryInput) -> SummaryResult:
        request = SummaryRequest.model_validate(given)
        language = story_language("\n".join(request.events))
        repair = load_chat_prompt("repair_summary", language, variables=REPAIR_VARIABLES)
        conversation = self._model.conversation(deadline=Deadline.after(self._timeout_s), stage=SUMMARY_STAGE)
        try:
            text = conversation.obtain(
                self._prompt(request, language),
                accept=lambda answer: _accepted(answer, request),
                repair=lambda problem: repair.format_messages(problem=problem),
            )
        except (ModelError, DeadlineExceededError) as error:
            issue = ReportIssue(
                stage=SUMMARY_STAGE, kind=issue_kind_of(error), message=f"the model wrote no summary: {error}"
            )
            logger.warning("%s", issue.message)
            return SummaryResult(issue=issue)
        return SummaryResult(text=text)

    def _prompt(self, request: SummaryRequest, language: StoryLanguage) -> list[BaseMessage]:
        prompt = load_chat_prompt("summarise_chapter", language, variables=PROMPT_VARIABLES)
        return prompt.format_messages(
            events="\n".join(f"- {as_data(event)}" for event in request.events),
            format_instructions=self._model.format_instructions(),
            max_tokens=str(SUMMARY_TOKENS),
        )


def _accepted(answer: ModelSummary, request: SummaryRequest) -> str:
    text = whole_sentences(answer.summary, field="summary", max_tokens=SUMMARY_TOKENS)
    require_grounded(text, shown="\n".join(request.events), names=request.names)
    return text
