"""Chains that ask a chat model one question: summaries, consolidated memories, short forms, a chapter put right."""

import logging
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel, Field

from novelgen.chains.stepwise_chain import StepwiseChain
from novelgen.errors import DeadlineExceededError, ModelError
from novelgen.language.extractive import MAX_BULLETS, MIN_BULLETS
from novelgen.language.language import StoryLanguage, story_language
from novelgen.language.sentences import SENTENCE_ENDS, split_sentences
from novelgen.memory import consolidation
from novelgen.model_calls import answers
from novelgen.model_calls.answer_parser import AnswerParser
from novelgen.model_calls.json_model import Question, failure_fields
from novelgen.model_calls.prompt_data import as_data, piped
from novelgen.model_calls.usage import ModelWork
from novelgen.models.context import ReportIssue
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.record import SHORT_FORM_LIMIT, RecordedMemory
from novelgen.reading import chapter_reading
from novelgen.reading.prompt_lists import PROMPT_LIST_TOKENS
from novelgen.reading.request import SceneResult

SHORTS_STAGE = "short forms"


class ShortFormsRequest(BaseModel):
    """Memories of a scene, of which the short forms are to be written anew."""

    chapter_index: int
    scene_index: int
    language: StoryLanguage
    memories: list[RecordedMemory] = Field(default_factory=list)
    names: list[str] = Field(default_factory=list, description="Every name of the story, later ones too.")

    def numbered(self) -> dict[str, RecordedMemory]:
        """Return the memories by the numbers that they have in the prompt."""
        return {f"M{number}": memory for number, memory in enumerate(self.memories, start=1)}

    def values(self) -> dict[str, str]:
        """Return the variables of the prompt."""
        lines = [
            piped(number, as_data(memory.content), as_data(memory.short)) for number, memory in self.numbered().items()
        ]
        return {"memories": "\n".join(lines)}


class ModelShort(answers.ModelPart):
    """The short form of one memory."""

    id: answers.Text = Field(description="number of the memory: M4")
    short: answers.Text


class ModelShorts(answers.ModelPart):
    """The short forms of all memories of the list."""

    shorts: Annotated[list[ModelShort], answers.AtMost(99)]


def accepted_shorts(answer: ModelShorts, *, request: ShortFormsRequest) -> dict[str, str]:
    """Return the short forms that stand, by memory_id: short enough, and without a name that the memory has not."""
    numbered_memories_by_id = request.numbered()
    matches = {
        numbered_memories_by_id[number].memory_id: model_short.short
        for model_short in answer.shorts
        if (number := model_short.id.strip().upper()) in numbered_memories_by_id
        and 0 < len(model_short.short) <= SHORT_FORM_LIMIT
        and _says_no_more(model_short.short, numbered_memories_by_id[number], request.names)
    }
    if request.memories and not matches:
        raise answers.UnusableAnswerError("ungrounded", "no short form fits its memory")
    return matches


def _says_no_more(short: str, memory: RecordedMemory, names: Sequence[str]) -> bool:
    try:
        answers.require_grounded(short, source=f"{memory.content} {memory.short}", names=names)
    except answers.UnusableAnswerError:
        return False
    return True


logger = logging.getLogger(__name__)
SUMMARY_STAGE = "summary"
SUMMARY_TOKENS = 150
SCENE_SUMMARY_STAGE = "scene_summary"
BULLET_TOKENS = 60
MAX_SCENE_CHARACTERS = 60_000
"""A longer text is no scene that a model should read at once."""

_BULLET_MARK = re.compile(r"\s*(?:[-–—•*·‣●]+\s*|\d{1,2}[.)]\s+|[(（]?\d{1,2}[)）、．]\s*)")


class ModelSummary(BaseModel):
    """What the model is asked for."""

    summary: str = Field(description="the summary in two to five whole sentences")


class SummaryRequest(BaseModel):
    """The material of a summary."""

    events: list[str] = Field(min_length=1, description="In story order.")
    names: list[str] = Field(default_factory=list, description="Every name of the story, later ones too.")


class SummaryResult(ModelWork):
    """The summary, empty when the model wrote no usable one.

    An issue then gives the reason.
    """

    text: str = ""


class SummaryChain(StepwiseChain[SummaryRequest | Mapping[str, Any], SummaryResult]):
    """Runnable that summarises a chapter or part, and reports failures as issues."""

    def __init__(self, model: BaseChatModel, *, timeout_s: float = 60.0) -> None:
        self._timeout_s = timeout_s
        self._question = Question(
            model,
            ModelSummary,
            prompt="summarise_chapter",
            repair="repair_summary",
            stage=SUMMARY_STAGE,
            keys=("summary",),
        )
        super().__init__(RunnableLambda(self._written))

    def _written(self, value: SummaryRequest | Mapping[str, Any]) -> SummaryResult:
        request = SummaryRequest.model_validate(value)

        def accepted(answer: ModelSummary) -> str:
            text = answers.whole_sentences(answer.summary, field="summary", max_tokens=SUMMARY_TOKENS)
            answers.require_grounded(text, source="\n".join(request.events), names=request.names)
            return text

        text, work = self._question.answer(
            story_language("\n".join(request.events)),
            {"events": _as_list(request.events), "max_tokens": str(SUMMARY_TOKENS)},
            accept=accepted,
            timeout_s=self._timeout_s,
            failure="the model wrote no summary",
        )
        return SummaryResult(text=text or "", **work)


class ModelBullets(BaseModel):
    """What the model is asked for."""

    summary: list[str] = Field(description="the bullets, each one short whole sentence")


class SceneSummaryRequest(BaseModel):
    """The scene that is to be summed up."""

    text: str = Field(min_length=1)
    max_bullets: int = Field(default=MAX_BULLETS, ge=1)


class SceneSummaryResult(ModelWork):
    """The bullets, empty when the model wrote no usable ones.

    An issue then gives the reason.
    """

    bullets: list[str] = Field(default_factory=list)


class _BulletsParser(AnswerParser[ModelBullets]):
    """Parser for bullets, as JSON or line by line."""

    def read_text(self, text: str) -> ModelBullets:
        try:
            return super().read_text(text)
        except answers.UnusableAnswerError as error:
            lines = [line for line in answers.spoken_text(text).splitlines() if line.strip()]
            bullets = [line for line in lines if _BULLET_MARK.match(line)] or (lines if len(lines) > 1 else [])
            if error.fault != "not_json" or not bullets:
                raise
            return ModelBullets(summary=[_BULLET_MARK.sub("", line, count=1) for line in bullets])


class SceneSummaryChain(StepwiseChain[SceneSummaryRequest | Mapping[str, Any], SceneSummaryResult]):
    """Runnable that summarises a scene in three to five bullets."""

    def __init__(self, model: BaseChatModel, *, timeout_s: float = 60.0) -> None:
        self._timeout_s = timeout_s
        self._question = Question(
            model,
            ModelBullets,
            prompt="summarise_scene",
            repair="repair_scene_summary",
            stage=SCENE_SUMMARY_STAGE,
            keys=("summary",),
        )
        self._question.parser = _BulletsParser(pydantic_object=ModelBullets, keys=("summary",))
        super().__init__(RunnableLambda(self._summed_up))

    def _summed_up(self, value: SceneSummaryRequest | Mapping[str, Any]) -> SceneSummaryResult:
        request = SceneSummaryRequest.model_validate(value)
        if len(request.text) > MAX_SCENE_CHARACTERS:
            message = f"a scene of {len(request.text)} characters is too long for one summary; cut it into scenes"
            logger.warning("%s", message)
            issue = ReportIssue(stage=SCENE_SUMMARY_STAGE, kind="over_limit", message=message)
            return SceneSummaryResult(issues=[issue])
        bullets, work = self._question.answer(
            story_language(request.text),
            {
                "scene": "\n".join(as_data(line) for line in request.text.splitlines()),
                "max_bullets": str(request.max_bullets),
            },
            accept=partial(_accepted_bullets, request=request),
            timeout_s=self._timeout_s,
            failure="the model wrote no summary",
        )
        return SceneSummaryResult(bullets=bullets or [], **work)


def _accepted_bullets(answer: ModelBullets, *, request: SceneSummaryRequest) -> list[str]:
    statements = [item.strip().lstrip("-•* ") for item in answer.summary if item.strip()]
    if not any(word[-1:] in SENTENCE_ENDS for word in statements):
        # Whoever ends none of its bullets with a stop writes so; where only one lacks it, it was cut off.
        statements = [item + ("。" if story_language(request.text) == "zh" else ".") for item in statements if item]
    bullets = [
        answers.whole_sentences(key, field=f"summary[{index}]", max_tokens=BULLET_TOKENS)
        for index, key in enumerate(dict.fromkeys(statements))
    ]
    sentences = sum(bool(request.text[span.start : span.end].strip()) for span in split_sentences(request.text))
    wanted_count = min(MIN_BULLETS, request.max_bullets, sentences)
    if len(bullets) < wanted_count:
        raise answers.UnusableAnswerError(
            "empty", f"summary has {len(bullets)} bullets and needs {wanted_count} or more"
        )
    kept_names = bullets[: request.max_bullets]
    answers.require_grounded(" ".join(kept_names), source=request.text, names=())
    return kept_names


class ConsolidationRequest(BaseModel):
    """The memories to consolidate into one."""

    sources: list[StoryMemoryChunk] = Field(min_length=1, description="In story order.")
    names: list[str] = Field(default_factory=list, description="Every name of the story, later ones too.")


class ConsolidationResult(ModelWork):
    """The consolidated text and its origin.

    An issue gives the reason when the model's text is missing.
    """

    text: consolidation.ConsolidatedText
    is_models: bool = False


class ConsolidationChain(StepwiseChain[ConsolidationRequest | Mapping[str, Any], ConsolidationResult]):
    """Writes the text of the memory that stands for several.

    Without a model, and where its text cannot be used, the sources' own sentences are joined; nothing that the model
    or its server does is raised.
    """

    def __init__(self, model: BaseChatModel | None = None, *, timeout_s: float = 60.0) -> None:
        self._timeout_s = timeout_s
        self._question: Question[consolidation.ModelConsolidation] | None = None
        if model is not None:
            self._question = Question(
                model,
                consolidation.ModelConsolidation,
                prompt="consolidate_memories",
                repair="repair_consolidation",
                stage=consolidation.CONSOLIDATION_STAGE,
                keys=("content", "short"),
            )
        super().__init__(RunnableLambda(self._consolidated))

    def _consolidated(self, value: ConsolidationRequest | Mapping[str, Any]) -> ConsolidationResult:
        request = ConsolidationRequest.model_validate(value)
        extract = consolidation.extractive_text(request.sources)
        if self._question is None:
            return ConsolidationResult(text=extract)
        contents = [source.content for source in request.sources]
        text, work = self._question.answer(
            story_language("\n".join(contents)),
            {"facts": _as_list(contents), "max_tokens": str(consolidation.MAX_TOKENS)},
            accept=partial(consolidation.grounded_text, sources=request.sources, names=request.names),
            timeout_s=self._timeout_s,
            failure="the model did not write the memory, its sources' sentences were joined",
        )
        return ConsolidationResult(text=text or extract, is_models=text is not None, **work)


class ChapterPassResult(ModelWork):
    """The corrections of a chapter, or None without a usable answer.

    An issue then gives the reason.
    """

    reading: chapter_reading.ChapterReading | None = None


class ChapterPassChain(StepwiseChain[chapter_reading.ChapterRequest | Mapping[str, Any], ChapterPassResult]):
    """Runnable that asks for duplicates and endings across a read chapter.

    The model proposes; what no list holds and no quote proves is dropped (`reading.chapter_reading`). Nothing that the
    model or its server does is raised.
    """

    def __init__(
        self, model: BaseChatModel, *, timeout_s: float = 180.0, prompt_list_tokens: int = PROMPT_LIST_TOKENS
    ) -> None:
        self._timeout_s = timeout_s
        self._lists = partial(chapter_reading.ChapterLists, list_tokens=prompt_list_tokens)
        self._question = Question(
            model,
            chapter_reading.ModelChapter,
            prompt="reconcile_chapter",
            repair="repair_chapter",
            stage=chapter_reading.CHAPTER_STAGE,
            keys=("same_entities", "threads_ended"),
        )
        super().__init__(RunnableLambda(self._reconciled).with_config(run_name="reconcile_chapter"))

    def prompt_tokens(self, request: chapter_reading.ChapterRequest) -> int:
        """Estimate the tokens of the prompt that a chapter makes."""
        return self._question.prompt_tokens(request.language, self._lists(request).texts)

    def _reconciled(self, value: chapter_reading.ChapterRequest | Mapping[str, Any]) -> ChapterPassResult:
        request = chapter_reading.ChapterRequest.model_validate(value)
        lists = self._lists(request)
        reading, work = self._question.answer(
            request.language,
            lists.texts,
            accept=lambda answer: chapter_reading.ChapterAnswerReader(request, lists).read(answer),
            timeout_s=self._timeout_s,
            failure=f"chapter {request.chapter_index} was not reconciled",
        )
        return ChapterPassResult(reading=reading, **work)


class ShortFormsResult(SceneResult):
    """The new short forms by memory_id, or None without a usable answer.

    `reason` then gives the cause.
    """

    shorts: dict[str, str] | None = None


class ShortFormsChain(StepwiseChain[ShortFormsRequest | Mapping[str, Any], ShortFormsResult]):
    """Runnable that rewrites short forms of memories, and reports failures as issues."""

    def __init__(self, model: BaseChatModel, *, timeout_s: float = 60.0) -> None:
        self._timeout_s = timeout_s
        self._question = Question(
            model, ModelShorts, prompt="short_forms", repair="repair_short_forms", stage=SHORTS_STAGE, keys=("shorts",)
        )
        super().__init__(RunnableLambda(self._rewritten).with_config(run_name="rewrite_short_forms"))

    def prompt_tokens(self, request: ShortFormsRequest) -> int:
        """Estimate the tokens of the prompt that a scene's memories make."""
        return self._question.prompt_tokens(request.language, request.values())

    def _rewritten(self, value: ShortFormsRequest | Mapping[str, Any]) -> ShortFormsResult:
        request = ShortFormsRequest.model_validate(value)
        if not request.memories:
            return ShortFormsResult(status="done", shorts={})
        conversation = self._question.begin(self._timeout_s)
        try:
            shorts = self._question.ask(
                conversation, request.language, request.values(), accept=partial(accepted_shorts, request=request)
            )
        except (ModelError, DeadlineExceededError) as error:
            return ShortFormsResult(**failure_fields(error, stage=SHORTS_STAGE), **conversation.work())
        issues = conversation.issues(SHORTS_STAGE)
        return ShortFormsResult(status="done", shorts=shorts, issues=issues, **conversation.work())


def _as_list(texts: list[str]) -> str:
    return "\n".join(f"- {as_data(text)}" for text in texts)
