"""A finished scene in, the record of what it established out.

The model reads and proposes; ids, evidence, bounds and importance are decided by the rooms below
(`extraction`, `records`). It has no tools, and of its answer only what fits the scene and the entities that
it was shown is kept. The chain keeps nothing between runs.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableLambda
from pydantic import BaseModel, ConfigDict, Field

from novelgen.chains.stepwise_chain import StepwiseChain
from novelgen.deadlines import Deadline
from novelgen.errors import DeadlineExceededError, ModelError
from novelgen.language.language import story_language
from novelgen.language.scrub import require_size, scrub_text
from novelgen.memory.windows import OVERLAP_SENTENCES, WINDOW_CHARACTERS, reading_windows
from novelgen.model_calls.json_model import JsonConversation
from novelgen.model_calls.usage import ModelUsage
from novelgen.models.position import require_project_id
from novelgen.reading.answer_reading import WindowReading
from novelgen.reading.conclusion import concluded, failed, hash_of_text
from novelgen.reading.known_story import SceneSoFar
from novelgen.reading.model_record import ModelSceneRecord
from novelgen.reading.prompt_lists import PROMPT_LIST_TOKENS
from novelgen.reading.request import SceneRecordRequest, SceneRecordResult
from novelgen.reading.second_asking import is_worth_asking
from novelgen.reading.window_reader import (
    PromptTokens,
    SceneWindow,
    WindowAnswer,
    WindowReader,
    interpreted,
    is_of_substance,
)

logger = logging.getLogger(__name__)

RecordInput = SceneRecordRequest | Mapping[str, Any]


class SceneRecordSettings(BaseModel):
    """Deadline, windows and lists of an extraction."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    timeout_s: float = Field(default=180.0, gt=0, le=3600, description="For all windows of a scene together.")
    window_characters: int = Field(default=WINDOW_CHARACTERS, ge=200)
    overlap_sentences: int = Field(
        default=OVERLAP_SENTENCES, ge=0, description="Of the window before, shown as context."
    )
    prompt_list_tokens: int = Field(
        default=PROMPT_LIST_TOKENS, ge=200, description="What a prompt lists of the story so far, in all."
    )


@dataclass(frozen=True, slots=True)
class ReadScene:
    """What a model answered about a scene, window by window; nothing of it is stored, or decided, yet.

    `readings` is what the answers mean by what the story knew when the model was asked.
    """

    request: SceneRecordRequest
    started_s: float
    deadline: Deadline
    text: str
    windows: tuple[SceneWindow, ...]
    answers: tuple[WindowAnswer, ...] = ()
    readings: tuple[WindowReading, ...] = ()
    error: ModelError | DeadlineExceededError | None = None
    model_calls: int = 0
    usage: ModelUsage = field(default_factory=ModelUsage)
    elapsed_s: float = 0.0


class SceneRecordChain(StepwiseChain[RecordInput, SceneRecordResult]):
    """Extracts the record of a finished scene with a chat model.

    Works as any LangChain Runnable. Nothing that the model or its server does is raised: the result is then
    `failed` and says why. A result is never `done` without a fact, unless the scene is too short for one.

    The two halves can be had one by one: `reading` asks the model, which takes its time and needs the story
    only for the prompt; `conclude` decides what the answers mean, by what the story knows by then. So scenes
    can be read side by side and still be concluded in story order.
    """

    def __init__(self, model: BaseChatModel, *, settings: SceneRecordSettings | None = None) -> None:
        self._settings = settings or SceneRecordSettings()
        self._reader = WindowReader(model, prompt_list_tokens=self._settings.prompt_list_tokens)
        self.reading: Runnable[RecordInput, ReadScene] = RunnableLambda(self._begin).with_config(
            run_name="cut_windows"
        ) | RunnableLambda(self._read_windows).with_config(run_name="read_windows")
        super().__init__(self.reading | RunnableLambda(self.conclude).with_config(run_name="conclude"))

    def conclude(self, read: ReadScene, request: SceneRecordRequest | None = None) -> SceneRecordResult:
        """Decide what the answers about a scene establish."""
        readings = read.readings if request is None else _read_anew(read, request)
        if read.error is None:
            result = concluded(request or read.request, text=read.text, readings=readings)
        else:
            issues = [issue for reading in readings for issue in reading.issues]
            result = failed(read.error, window=len(readings) + 1, windows=len(read.windows), issues=issues)
        if result.status == "failed":
            place = f"{read.request.chapter_index}:{read.request.scene_index}"
            logger.warning("no record of scene %s of %r: %s", place, read.request.project_id, result.reason)
        return result.model_copy(
            update={
                "windows": len(read.windows),
                "model_calls": read.model_calls,
                "usage": read.usage,
                "elapsed_s": read.elapsed_s,
            }
        )

    def prompt_tokens(self, given: RecordInput) -> list[PromptTokens]:
        """Estimate the tokens of the first prompt of each window of a scene, by what is known of the story now."""
        read = self._begin(given)
        so_far = SceneSoFar.on_entering(read.request)
        return [self._reader.prompt_tokens(window, so_far) for window in read.windows]

    def _begin(self, given: RecordInput) -> ReadScene:
        request = SceneRecordRequest.model_validate(given)
        require_project_id(request.project_id)
        require_size(request.text, f"scene {request.scene_index} of chapter {request.chapter_index}")
        text = scrub_text(request.text)
        return ReadScene(
            request=request,
            started_s=time.monotonic(),
            deadline=Deadline.after(self._settings.timeout_s),
            text=text,
            windows=self._windows(request, text),
        )

    def _windows(self, request: SceneRecordRequest, text: str) -> tuple[SceneWindow, ...]:
        spans = reading_windows(
            text, window_characters=self._settings.window_characters, overlap_sentences=self._settings.overlap_sentences
        )
        return tuple(
            SceneWindow(
                chapter_index=request.chapter_index,
                scene_index=request.scene_index,
                text=text[span.start : span.end],
                text_id=f"{request.project_id}\x1f{hash_of_text(text)}",
                language=request.language or story_language(text),
                max_bullets=request.max_bullets,
                must_have_facts=len(spans) == 1 and is_of_substance(text),
                context=text[span.context_start : span.start],
                part=part,
                parts=len(spans),
            )
            for part, span in enumerate(spans, start=1)
        )

    def _read_windows(self, read: ReadScene) -> ReadScene:
        conversation = self._reader.conversation(deadline=read.deadline)
        so_far = SceneSoFar.on_entering(read.request)
        answers: list[WindowAnswer] = []
        readings: list[WindowReading] = []
        error: ModelError | DeadlineExceededError | None = None
        try:
            for window in read.windows:
                answer = self._reader.ask(window, so_far, conversation=conversation)
                reading = interpreted(window, so_far, answer)
                if is_worth_asking(reading.unplaced):
                    answer = self._asked_again(window, so_far, answer, reading, conversation)
                    reading = interpreted(window, so_far, answer)
                so_far = so_far.after(reading.record, reading.proposed)
                answers.append(answer)
                readings.append(reading)
        except (ModelError, DeadlineExceededError) as raised:
            error = raised
        return replace(
            read,
            answers=tuple(answers),
            readings=tuple(readings),
            error=error,
            model_calls=conversation.requests,
            usage=conversation.usage,
            elapsed_s=time.monotonic() - read.started_s,
        )

    def _asked_again(
        self,
        window: SceneWindow,
        so_far: SceneSoFar,
        answer: WindowAnswer,
        reading: WindowReading,
        conversation: JsonConversation[ModelSceneRecord],
    ) -> WindowAnswer:
        """The answer with what the model corrected of it; as it was where that cannot be had."""
        try:
            return self._reader.ask_again(window, so_far, answer, unplaced=reading.unplaced, conversation=conversation)
        except (ModelError, DeadlineExceededError) as error:
            logger.info("what could not be placed stays out: %s", error)
            return answer


def _read_anew(read: ReadScene, request: SceneRecordRequest) -> tuple[WindowReading, ...]:
    so_far = SceneSoFar.on_entering(request)
    readings: list[WindowReading] = []
    for window, answer in zip(read.windows, read.answers, strict=False):
        reading = interpreted(window, so_far, answer)
        so_far = so_far.after(reading.record, reading.proposed)
        readings.append(reading)
    return tuple(readings)
