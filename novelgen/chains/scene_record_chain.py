"""A finished scene in, the record of what it established out.

The model reads and proposes; ids, evidence, bounds and importance are decided by the rooms below
(`extraction`, `records`). It has no tools, and of its answer only what fits the scene and the entities that
it was shown is kept. The chain keeps nothing between runs.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel, ConfigDict, Field

from novelgen.chains.stepwise_chain import StepwiseChain
from novelgen.deadlines import Deadline
from novelgen.errors import DeadlineExceededError, ModelError
from novelgen.extraction.answer_reading import WindowReading
from novelgen.extraction.conclusion import concluded, failed, hash_of_text
from novelgen.extraction.known_story import SceneSoFar
from novelgen.extraction.prompt_lists import PROMPT_LIST_TOKENS
from novelgen.extraction.request import SceneRecordRequest, SceneRecordResult
from novelgen.extraction.window_reader import SceneWindow, WindowReader, is_of_substance
from novelgen.models.position import require_project_id
from novelgen.records.windows import OVERLAP_SENTENCES, WINDOW_CHARACTERS, reading_windows
from novelgen.text.language import story_language
from novelgen.text.scrub import require_size, scrub_text

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
class _Run:
    """One extraction on its way through the chain."""

    request: SceneRecordRequest
    started_s: float
    deadline: Deadline
    text: str
    windows: tuple[SceneWindow, ...]
    readings: tuple[WindowReading, ...] = ()
    error: ModelError | DeadlineExceededError | None = None
    model_calls: int = 0


class SceneRecordChain(StepwiseChain[RecordInput, SceneRecordResult]):
    """Extracts the record of a finished scene with a chat model.

    Works as any LangChain Runnable. Nothing that the model or its server does is raised: the result is then
    `failed` and says why. A result is never `done` without a fact, unless the scene is too short for one.

    Args:
        model: Any LangChain chat model.
        settings: Deadline and windows.
    """

    def __init__(self, model: BaseChatModel, *, settings: SceneRecordSettings | None = None) -> None:
        self._settings = settings or SceneRecordSettings()
        self._reader = WindowReader(model, prompt_list_tokens=self._settings.prompt_list_tokens)
        super().__init__(
            RunnableLambda(self._begin).with_config(run_name="cut_windows")
            | RunnableLambda(self._read_windows).with_config(run_name="read_windows")
            | RunnableLambda(_conclude).with_config(run_name="conclude")
        )

    def _begin(self, given: RecordInput) -> _Run:
        request = SceneRecordRequest.model_validate(given)
        require_project_id(request.project_id)
        require_size(request.text, f"scene {request.scene_index} of chapter {request.chapter_index}")
        text = scrub_text(request.text)
        return _Run(
            request=request,
            started_s=time.monotonic(),
            deadline=Deadline.after(self._settings.timeout_s),
            text=text,
            windows=self._windows(request, text),
        )

    def _windows(self, request: SceneRecordRequest, text: str) -> tuple[SceneWindow, ...]:
        spans = reading_windows(
            text,
            window_characters=self._settings.window_characters,
            overlap_sentences=self._settings.overlap_sentences,
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

    def _read_windows(self, run: _Run) -> _Run:
        conversation = self._reader.conversation(deadline=run.deadline)
        so_far = SceneSoFar.on_entering(run.request)
        readings: list[WindowReading] = []
        error: ModelError | DeadlineExceededError | None = None
        try:
            for window in run.windows:
                reading = self._reader.read(window, so_far, conversation=conversation)
                so_far = so_far.after(reading.record, reading.proposed)
                readings.append(reading)
        except (ModelError, DeadlineExceededError) as raised:
            error = raised
        return replace(run, readings=tuple(readings), error=error, model_calls=conversation.requests)


def _conclude(run: _Run) -> SceneRecordResult:
    if run.error is None:
        result = concluded(run.request, text=run.text, readings=run.readings)
    else:
        issues = [issue for reading in run.readings for issue in reading.issues]
        result = failed(run.error, window=len(run.readings) + 1, windows=len(run.windows), issues=issues)
    if result.status == "failed":
        place = f"{run.request.chapter_index}:{run.request.scene_index}"
        logger.warning("no record of scene %s of %r: %s", place, run.request.project_id, result.reason)
    elapsed_s = time.monotonic() - run.started_s
    return result.model_copy(
        update={"windows": len(run.windows), "model_calls": run.model_calls, "elapsed_s": elapsed_s}
    )
