"""Several memories in, the text of the one that stands for them out.

A model may write it; what it says is taken only where it says no more than the memories do. Otherwise, and
without a model, the memories' own sentences are joined. The chain keeps nothing between runs.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel, Field

from novelgen.chains.stepwise_chain import StepwiseChain
from novelgen.deadlines import Deadline
from novelgen.errors import DeadlineExceededError, ModelError
from novelgen.language.language import StoryLanguage, story_language
from novelgen.memory.consolidation import (
    CONSOLIDATION_STAGE,
    DEFAULT_RULES,
    ConsolidatedText,
    ConsolidationRules,
    ModelConsolidation,
    extractive_text,
    grounded_text,
)
from novelgen.model_calls.json_model import JsonModel, issue_kind_of
from novelgen.model_calls.prompt_data import as_data
from novelgen.model_calls.prompting import load_chat_prompt
from novelgen.models.context import ReportIssue
from novelgen.models.memory import StoryMemoryChunk

logger = logging.getLogger(__name__)

PROMPT_VARIABLES = frozenset({"facts", "format_instructions", "max_tokens"})
REPAIR_VARIABLES = frozenset({"problem"})
_KEYS = ("content", "short")


class ConsolidationRequest(BaseModel):
    """What is to be told in one memory."""

    sources: list[StoryMemoryChunk] = Field(min_length=1, description="In story order.")
    names: list[str] = Field(default_factory=list, description="Every name of the story, later ones too.")


class ConsolidationResult(BaseModel):
    """The text, and whether a model wrote it; if one was to and did not, the issue says why."""

    text: ConsolidatedText
    is_models: bool = False
    issues: list[ReportIssue] = Field(default_factory=list)


ConsolidationInput = ConsolidationRequest | Mapping[str, Any]


class ConsolidationChain(StepwiseChain[ConsolidationInput, ConsolidationResult]):
    """Writes the text of consolidated memories; works as any LangChain Runnable.

    Nothing that the model or its server does is raised: the text is then joined from the sources.
    """

    def __init__(
        self, model: BaseChatModel | None = None, *, timeout_s: float = 60.0, rules: ConsolidationRules = DEFAULT_RULES
    ) -> None:
        self._model = None if model is None else JsonModel(model, ModelConsolidation, keys=_KEYS)
        self._timeout_s = timeout_s
        self._rules = rules
        super().__init__(RunnableLambda(self._consolidated))

    def _consolidated(self, given: ConsolidationInput) -> ConsolidationResult:
        request = ConsolidationRequest.model_validate(given)
        extract = extractive_text(request.sources, self._rules)
        if self._model is None:
            return ConsolidationResult(text=extract)
        try:
            text = self._asked(self._model, request)
        except (ModelError, DeadlineExceededError) as error:
            message = f"the model did not write the memory, its sources' sentences were joined: {error}"
            logger.warning("%s", message)
            issue = ReportIssue(stage=CONSOLIDATION_STAGE, kind=issue_kind_of(error), message=message)
            return ConsolidationResult(text=extract, issues=[issue])
        return ConsolidationResult(text=text, is_models=True)

    def _asked(self, model: JsonModel[ModelConsolidation], request: ConsolidationRequest) -> ConsolidatedText:
        language = story_language("\n".join(each.content for each in request.sources))
        repair = load_chat_prompt("repair_consolidation", language, variables=REPAIR_VARIABLES)
        conversation = model.conversation(deadline=Deadline.after(self._timeout_s), stage="consolidation of memories")
        return conversation.obtain(
            self._prompt(model, request.sources, language),
            accept=partial(grounded_text, sources=request.sources, names=request.names, rules=self._rules),
            repair=lambda problem: repair.format_messages(problem=problem),
        )

    def _prompt(
        self, model: JsonModel[ModelConsolidation], sources: list[StoryMemoryChunk], language: StoryLanguage
    ) -> list[BaseMessage]:
        prompt = load_chat_prompt("consolidate_memories", language, variables=PROMPT_VARIABLES)
        return prompt.format_messages(
            facts="\n".join(f"- {as_data(source.content)}" for source in sources),
            format_instructions=model.format_instructions(),
            max_tokens=str(self._rules.max_tokens),
        )
