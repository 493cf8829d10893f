"""A scene that has a record in, who knows what when it ends out.

The model proposes; whom no list holds is dropped, and what no quote proves is less sure
(`extraction.knowledge_reading`). The chain keeps nothing between runs.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel, Field

from novelgen.chains.stepwise_chain import StepwiseChain
from novelgen.deadlines import Deadline
from novelgen.errors import DeadlineExceededError, ModelError, ModelRefusedError
from novelgen.language.language import StoryLanguage, estimate_tokens
from novelgen.language.scrub import require_size, scrub_text
from novelgen.memory.evidence import QuoteFinder
from novelgen.memory.windows import OVERLAP_SENTENCES, WINDOW_CHARACTERS, reading_windows
from novelgen.model_calls.json_model import JsonConversation, JsonModel, issue_kind_of
from novelgen.model_calls.prompt_data import NOTHING, as_data_lines
from novelgen.model_calls.prompting import load_chat_prompt, read_prompt_file
from novelgen.model_calls.usage import ModelUsage
from novelgen.models.context import ReportIssue
from novelgen.models.position import require_project_id
from novelgen.reading.knowledge_lists import JudgedMemory, KnowledgeLists, SceneKnowledgeRequest, knowledge_lists
from novelgen.reading.knowledge_reading import (
    KNOWLEDGE_STAGE,
    KnowledgeAnswerReader,
    ModelSceneKnowledge,
    SceneKnowledge,
)
from novelgen.reading.known_story import References
from novelgen.reading.placing import Placer

logger = logging.getLogger(__name__)

PROMPT_VARIABLES = frozenset(
    {"example", "format_instructions", "cast", "memories", "earlier", "place", "context", "scene_text"}
)
REPAIR_VARIABLES = frozenset({"problem"})
_KEYS = ("memories",)

EARLIER_TOKENS = 4000

WINDOWS_AT_ONCE = 2
"""So many windows of an extraction are read at once here: an answer is short, and a tale wants to be seen whole."""

_PLACE: Mapping[StoryLanguage, str] = {"en": "chapter {chapter}, scene {scene}", "zh": "第{chapter}章第{scene}场"}
_PART: Mapping[StoryLanguage, str] = {"en": ", part {part} of {parts}", "zh": "，第{part}部分，共{parts}部分"}

KnowledgeInput = SceneKnowledgeRequest | Mapping[str, Any]


class SceneKnowledgeResult(BaseModel):
    """Who knows what; None when the model gave no usable answer, and `reason` says why."""

    status: Literal["done", "failed"]
    knowledge: SceneKnowledge | None = None
    reason: str | None = None
    is_refused: bool = Field(
        default=False, description="The model would refuse every other scene, too: key, model, quota, address."
    )
    is_nobody_there: bool = Field(default=False, description="Nobody answered at the model's address.")
    issues: list[ReportIssue] = Field(default_factory=list)
    windows: int = 0
    model_calls: int = 0
    usage: ModelUsage = Field(default_factory=ModelUsage, description="What the provider counted.")
    elapsed_s: float = Field(default=0.0, ge=0)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a scene that one prompt shows, and the memories that it asks about."""

    text: str
    context: str
    asked: tuple[JudgedMemory, ...]
    number: int
    parts: int


class SceneKnowledgeChain(StepwiseChain[KnowledgeInput, SceneKnowledgeResult]):
    """Asks a chat model who knows what when a scene ends; works as any LangChain Runnable.

    Nothing that the model or its server does is raised.
    """

    def __init__(
        self,
        model: BaseChatModel,
        *,
        timeout_s: float = 180.0,
        window_characters: int = WINDOW_CHARACTERS,
        earlier_tokens: int = EARLIER_TOKENS,
    ) -> None:
        self._model = JsonModel(model, ModelSceneKnowledge, keys=_KEYS)
        self._timeout_s = timeout_s
        self._window_characters = WINDOWS_AT_ONCE * window_characters
        self._earlier_tokens = earlier_tokens
        super().__init__(RunnableLambda(self._read).with_config(run_name="read_knowledge"))

    def prompt_tokens(self, given: KnowledgeInput) -> list[int]:
        """Estimate the tokens of the first prompt of each part of a scene."""
        request = SceneKnowledgeRequest.model_validate(given)
        prompts = [self._prompt(request, part, self._lists(request, part)) for part in self._parts(request)]
        return [sum(estimate_tokens(message.text) for message in messages) for messages in prompts]

    def _read(self, given: KnowledgeInput) -> SceneKnowledgeResult:
        request = SceneKnowledgeRequest.model_validate(given)
        require_project_id(request.project_id)
        place = f"scene {request.scene_index} of chapter {request.chapter_index}"
        require_size(request.text, place)
        started_s = time.monotonic()
        parts = self._parts(request)
        conversation = self._model.conversation(
            deadline=Deadline.after(self._timeout_s), stage="reading of who knows what"
        )
        read = SceneKnowledge()
        failure: ModelError | DeadlineExceededError | None = None
        try:
            for part in parts:
                read = read.plus(self._asked(request, part, conversation))
        except (ModelError, DeadlineExceededError) as error:
            logger.warning("%s was not read for who knows what: %s", place, error)
            failure = error
        issues = read.issues
        if failure is not None:
            issue = ReportIssue(stage=KNOWLEDGE_STAGE, kind=issue_kind_of(failure), message=str(failure))
            issues = [*issues, issue]
        return SceneKnowledgeResult(
            status="failed" if failure else "done",
            knowledge=None if failure else read,
            reason=str(failure) if failure else None,
            is_refused=isinstance(failure, ModelRefusedError),
            is_nobody_there=isinstance(failure, ModelRefusedError) and failure.is_nobody_there,
            issues=issues,
            windows=len(parts),
            model_calls=conversation.requests,
            usage=conversation.usage,
            elapsed_s=time.monotonic() - started_s,
        )

    def _asked(
        self, request: SceneKnowledgeRequest, part: _Part, conversation: JsonConversation[ModelSceneKnowledge]
    ) -> SceneKnowledge:
        lists = self._lists(request, part)
        repair = load_chat_prompt("repair_scene_knowledge", request.language, variables=REPAIR_VARIABLES)
        read = conversation.obtain(
            self._prompt(request, part, lists),
            accept=lambda answer: _reader(request, part, lists).read(answer),
            repair=lambda problem: repair.format_messages(problem=problem),
        )
        if not lists.left_out:
            return read
        message = (
            f"the prompt had no room for {lists.left_out} earlier memories within {self._earlier_tokens} tokens;"
            " memory.summarization.prompt_list_tokens gives more"
        )
        issue = ReportIssue(stage=KNOWLEDGE_STAGE, kind="over_limit", message=message)
        return read.model_copy(update={"issues": [issue, *read.issues]})

    def _parts(self, request: SceneKnowledgeRequest) -> list[_Part]:
        """Cut a scene; a memory is asked about where its quote stands, without one at the scene's end."""
        text = scrub_text(request.text)
        spans = reading_windows(text, window_characters=self._window_characters, overlap_sentences=OVERLAP_SENTENCES)
        finder = QuoteFinder(text)
        asked: list[list[JudgedMemory]] = [[] for _ in spans]
        for memory in request.memories if spans else ():
            proof = finder.find(memory.evidence)
            at = proof.start if proof else len(text)
            number = next((at_ for at_, span in enumerate(spans) if at < span.end), len(spans) - 1)
            asked[number].append(memory)
        return [
            _Part(
                text=text[span.start : span.end],
                context=text[span.context_start : span.start],
                asked=tuple(asked[number]),
                number=number + 1,
                parts=len(spans),
            )
            for number, span in enumerate(spans)
        ]

    def _lists(self, request: SceneKnowledgeRequest, part: _Part) -> KnowledgeLists:
        return knowledge_lists(request, part.asked, max_tokens=self._earlier_tokens)

    def _prompt(self, request: SceneKnowledgeRequest, part: _Part, lists: KnowledgeLists) -> list[BaseMessage]:
        """What is the same for every scene comes first, so that providers can keep it."""
        language = request.language
        prompt = load_chat_prompt("scene_knowledge", language, variables=PROMPT_VARIABLES)
        place = _PLACE[language].format(chapter=request.chapter_index, scene=request.scene_index)
        if part.parts > 1:
            place += _PART[language].format(part=part.number, parts=part.parts)
        return prompt.format_messages(
            example=read_prompt_file(f"scene_knowledge_example.{language}.json").strip(),
            format_instructions=self._model.format_instructions(),
            **lists.texts,
            place=place,
            context=as_data_lines(part.context).strip() or NOTHING[language],
            scene_text=as_data_lines(part.text).strip(),
        )


def _reader(request: SceneKnowledgeRequest, part: _Part, lists: KnowledgeLists) -> KnowledgeAnswerReader:
    present = [each.entity.entity_id for each in request.cast if each.is_present]
    references = References(
        [each.entity for each in request.cast],
        shown_ids=[each.entity_id for each in lists.shown],
        present_ids=present,
        stand_ins=request.stand_ins,
    )
    return KnowledgeAnswerReader(
        Placer(references),
        lists.memory_ids,
        asked={each.memory_id: each.about for each in part.asked},
        present=present,
        text=f"{part.context}\n{part.text}",
    )
