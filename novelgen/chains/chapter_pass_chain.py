"""A chapter whose scenes were read in, what is to be put right of it out: who is who, which threads are over.

The model proposes; what no list holds and no quote proves is dropped (`extraction.chapter_reading`). The chain
keeps nothing between runs.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel, Field

from novelgen.chains.stepwise_chain import StepwiseChain
from novelgen.deadlines import Deadline
from novelgen.errors import DeadlineExceededError, ModelError
from novelgen.language.language import estimate_tokens
from novelgen.model_calls.json_model import JsonModel, issue_kind_of
from novelgen.model_calls.prompting import load_chat_prompt, read_prompt_file
from novelgen.model_calls.usage import ModelUsage
from novelgen.models.context import ReportIssue
from novelgen.reading.chapter_reading import (
    CHAPTER_STAGE,
    ChapterAnswerReader,
    ChapterLists,
    ChapterReading,
    ChapterRequest,
    ModelChapter,
)

logger = logging.getLogger(__name__)

PROMPT_VARIABLES = frozenset(
    {"example", "format_instructions", "known_entities", "memories", "new_entities", "scenes", "threads"}
)
REPAIR_VARIABLES = frozenset({"problem"})
_KEYS = ("same_entities", "threads_ended")


class ChapterPassResult(BaseModel):
    """What is to be put right; None when the model gave no usable answer, and the issue says why."""

    reading: ChapterReading | None = None
    issue: ReportIssue | None = None
    model_calls: int = 0
    usage: ModelUsage = Field(default_factory=ModelUsage, description="What the provider counted.")
    elapsed_s: float = Field(default=0.0, ge=0)


ChapterPassInput = ChapterRequest | Mapping[str, Any]


class ChapterPassChain(StepwiseChain[ChapterPassInput, ChapterPassResult]):
    """Asks a chat model what of a chapter belongs together and what is over; works as any LangChain Runnable.

    Nothing that the model or its server does is raised.
    """

    def __init__(self, model: BaseChatModel, *, timeout_s: float = 180.0) -> None:
        self._model = JsonModel(model, ModelChapter, keys=_KEYS)
        self._timeout_s = timeout_s
        super().__init__(RunnableLambda(self._reconciled).with_config(run_name="reconcile_chapter"))

    def prompt_tokens(self, request: ChapterRequest) -> int:
        """Estimate the tokens of the prompt that a chapter makes."""
        messages = self._prompt(request, ChapterLists(request))
        return sum(estimate_tokens(message.text) for message in messages)

    def _prompt(self, request: ChapterRequest, lists: ChapterLists) -> list[BaseMessage]:
        prompt = load_chat_prompt("reconcile_chapter", request.language, variables=PROMPT_VARIABLES)
        return prompt.format_messages(
            example=read_prompt_file(f"reconcile_chapter_example.{request.language}.json").strip(),
            format_instructions=self._model.format_instructions(),
            **lists.variables(),
        )

    def _reconciled(self, given: ChapterPassInput) -> ChapterPassResult:
        request = ChapterRequest.model_validate(given)
        started_s = time.monotonic()
        lists = ChapterLists(request)
        repair = load_chat_prompt("repair_chapter", request.language, variables=REPAIR_VARIABLES)
        messages = self._prompt(request, lists)
        conversation = self._model.conversation(deadline=Deadline.after(self._timeout_s), stage=CHAPTER_STAGE)
        reading, issue = None, None
        try:
            reading = conversation.obtain(
                messages,
                accept=lambda answer: ChapterAnswerReader(request, lists).read(answer),
                repair=lambda problem: repair.format_messages(problem=problem),
            )
        except (ModelError, DeadlineExceededError) as error:
            message = f"chapter {request.chapter_index} was not reconciled: {error}"
            logger.warning("%s", message)
            issue = ReportIssue(stage=CHAPTER_STAGE, kind=issue_kind_of(error), message=message)
        return ChapterPassResult(
            reading=reading,
            issue=issue,
            model_calls=conversation.requests,
            usage=conversation.usage,
            elapsed_s=time.monotonic() - started_s,
        )
