"""A scene that has a record in, who knows what when it ends out.

The model proposes; whom no list holds is dropped, and what no quote proves is less sure
(`reading.knowledge_reading`). The chain keeps nothing between runs.
"""

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableLambda

from novelgen.chains.stepwise_chain import StepwiseChain
from novelgen.errors import DeadlineExceededError, ModelError
from novelgen.language.scrub import scrub_text
from novelgen.language.sentences import WINDOW_CHARACTERS
from novelgen.memory.evidence import QuoteFinder
from novelgen.model_calls.json_model import JsonConversation, Question, failure_fields
from novelgen.models.context import ReportIssue
from novelgen.reading.knowledge_reading import (
    KNOWLEDGE_STAGE,
    KnowledgeAnswerReader,
    ModelSceneKnowledge,
    SceneKnowledge,
    SceneKnowledgeRequest,
    knowledge_lists,
)
from novelgen.reading.known_story import Placer, References
from novelgen.reading.request import PromptMemory, ScenePart, SceneResult

logger = logging.getLogger(__name__)

EARLIER_TOKENS = 4000

WINDOWS_AT_ONCE = 2
"""So many windows of an extraction are read at once here: an answer is short, and a tale wants to be seen whole."""

KnowledgeInput = SceneKnowledgeRequest | Mapping[str, Any]


class SceneKnowledgeResult(SceneResult):
    """Who knows what; None when the model gave no usable answer, and `reason` says why."""

    knowledge: SceneKnowledge | None = None


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
        prompt_list_tokens: int = EARLIER_TOKENS,
    ) -> None:
        self._question = Question(
            model,
            ModelSceneKnowledge,
            prompt="scene_knowledge",
            repair="repair_scene_knowledge",
            stage="reading of who knows what",
            keys=("memories",),
        )
        self._timeout_s = timeout_s
        self._cut = partial(SceneKnowledgeRequest.cut, window_characters=WINDOWS_AT_ONCE * window_characters)
        self._earlier_tokens = prompt_list_tokens
        super().__init__(RunnableLambda(self._read).with_config(run_name="read_knowledge"))

    def prompt_tokens(self, given: KnowledgeInput) -> list[int]:
        """Estimate the tokens of the first prompt of each part of a scene."""
        request = SceneKnowledgeRequest.model_validate(given)
        tokens = []
        for part, asked in _with_memories(request, self._cut(request)):
            lists = knowledge_lists(request, asked, max_tokens=self._earlier_tokens)
            values = {**request.values_of(part, request.language), **lists.texts}
            tokens.append(self._question.prompt_tokens(request.language, values))
        return tokens

    def _read(self, given: KnowledgeInput) -> SceneKnowledgeResult:
        request = SceneKnowledgeRequest.model_validate(given)
        parts = self._cut(request)
        conversation = self._question.begin(self._timeout_s)
        read = SceneKnowledge()
        try:
            for part, asked in _with_memories(request, parts):
                read = read.plus(self._asked(request, part, asked, conversation))
        except (ModelError, DeadlineExceededError) as error:
            place = f"scene {request.scene_index} of chapter {request.chapter_index}"
            logger.warning("%s was not read for who knows what: %s", place, error)
            told = failure_fields(error, stage=KNOWLEDGE_STAGE)
            told["issues"] = [*read.issues, *told["issues"]]
            return SceneKnowledgeResult(windows=len(parts), **told, **conversation.work())
        return SceneKnowledgeResult(
            status="done",
            knowledge=read,
            windows=len(parts),
            issues=[*conversation.issues(KNOWLEDGE_STAGE), *read.issues],
            **conversation.work(),
        )

    def _asked(
        self,
        request: SceneKnowledgeRequest,
        part: ScenePart,
        asked: Sequence[PromptMemory],
        conversation: JsonConversation[ModelSceneKnowledge],
    ) -> SceneKnowledge:
        lists = knowledge_lists(request, asked, max_tokens=self._earlier_tokens)
        present = [each.entity.entity_id for each in request.cast if each.is_present]
        references = References(
            [each.entity for each in request.cast],
            shown_ids=[each.entity_id for each in lists.shown],
            present_ids=present,
            stand_ins=request.stand_ins,
        )

        def accepted(answer: ModelSceneKnowledge) -> SceneKnowledge:
            reader = KnowledgeAnswerReader(
                Placer(references),
                lists.memory_ids,
                asked={each.memory_id: each.entities for each in asked},
                present=present,
                text=f"{part.context}\n{part.text}",
            )
            return reader.read(answer)

        values = {**request.values_of(part, request.language), **lists.texts}
        read = self._question.ask(conversation, request.language, values, accept=accepted)
        if not lists.left_out:
            return read
        message = (
            f"the prompt had no room for {lists.left_out} earlier memories within {self._earlier_tokens} tokens;"
            " memory.summarization.prompt_list_tokens gives more"
        )
        issue = ReportIssue(stage=KNOWLEDGE_STAGE, kind="over_limit", message=message)
        return read.model_copy(update={"issues": [issue, *read.issues]})


def _with_memories(
    request: SceneKnowledgeRequest, parts: Sequence[ScenePart]
) -> list[tuple[ScenePart, list[PromptMemory]]]:
    """Return each part with the memories that it asks about: those whose quote it holds, the last those without."""
    text = scrub_text(request.text)
    finder = QuoteFinder(text)
    asked: list[list[PromptMemory]] = [[] for _ in parts]
    for memory in request.memories if parts else ():
        proof = finder.find(memory.evidence)
        at = proof.start if proof else len(text)
        asked[next((number for number, part in enumerate(parts) if at < part.end), len(parts) - 1)].append(memory)
    return list(zip(parts, asked, strict=True))
