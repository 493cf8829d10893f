"""Extract the record of a finished scene, or the knowledge at its end."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableLambda

from novelgen.chains.stepwise_chain import StepwiseChain
from novelgen.errors import DeadlineExceededError, ModelError, ModelRefusedError
from novelgen.language.language import StoryLanguage, estimate_tokens
from novelgen.language.matching import QuoteFinder
from novelgen.language.normalise import scrub_text
from novelgen.language.sentences import WINDOW_CHARACTERS
from novelgen.model_calls.json_model import JsonConversation, Question, failure_fields
from novelgen.model_calls.prompt_data import as_data, line_tokens
from novelgen.model_calls.prompting import load_chat_prompt, read_prompt_example
from novelgen.model_calls.usage import ModelUsage
from novelgen.models.context import ReportIssue
from novelgen.reading import answer_reading, knowledge_reading
from novelgen.reading.conclusion import concluded, failed, is_of_substance, require_grounded
from novelgen.reading.known_story import Placer, References, SceneSoFar
from novelgen.reading.model_record import MAX_MEMORIES, ModelSceneRecord
from novelgen.reading.prompt_lists import PROMPT_LIST_TOKENS, PromptLists, chosen_lists
from novelgen.reading.request import PromptMemory, ScenePart, SceneRecordRequest, SceneRecordResult, SceneResult

logger = logging.getLogger(__name__)
PROMPT = "scene_record"

MIN_BULLETS = 3
"""Bullets that a summary should have where the setting allows more."""

MAX_SO_FAR_TOKENS = 200

_GIVEN_LABELS: Mapping[StoryLanguage, tuple[str, str]] = {
    "en": ("the parts before told: ", "already remembered of them: "),
    "zh": ("前面各部分的内容：", "已经从中记下的："),
}

RecordInput = SceneRecordRequest | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PromptTokens:
    """Estimated tokens of a prompt, and of its lists of the story so far and its text within them."""

    all: int
    lists: int
    text: int


@dataclass(frozen=True, slots=True)
class ReadScene:
    """A model's answers about a scene, part by part, before any decision."""

    request: SceneRecordRequest
    parts: Sequence[ScenePart]
    work: Mapping[str, Any]
    answers: tuple[answer_reading.WindowAnswer, ...] = ()
    readings: tuple[answer_reading.WindowReading, ...] = ()
    error: ModelError | DeadlineExceededError | None = None
    issues: tuple[ReportIssue, ...] = ()

    @property
    def reason(self) -> str | None:
        """Why the model gave no usable answer."""
        return None if self.error is None else str(self.error)

    @property
    def is_refused(self) -> bool:
        """Whether the model would refuse every other scene, too."""
        return isinstance(self.error, ModelRefusedError)

    @property
    def is_nobody_there(self) -> bool:
        """Whether nobody answered at the model's address."""
        return isinstance(self.error, ModelRefusedError) and self.error.is_nobody_there

    @property
    def usage(self) -> ModelUsage:
        """The usage counted by the provider."""
        return self.work["usage"]

    @property
    def model_calls(self) -> int:
        """How often the model was asked."""
        return self.work["model_calls"]


class SceneRecordChain(StepwiseChain[RecordInput, SceneRecordResult]):
    """Extracts the record of a finished scene with a chat model.

    Works as any LangChain Runnable. Nothing that the model or its server does is raised: the result is then
    `failed` and says why. A result is never `done` without a fact, unless the scene is too short for one.

    The two halves can be had one by one: `reading` asks the model, which takes its time and needs the story
    only for the prompt; `conclude` decides what the answers mean, by what the story knows by then. So scenes
    can be read side by side and still be concluded in story order.
    """

    def __init__(
        self,
        model: BaseChatModel,
        *,
        timeout_s: float = 180.0,
        window_characters: int = WINDOW_CHARACTERS,
        prompt_list_tokens: int = PROMPT_LIST_TOKENS,
    ) -> None:
        self._question = Question(
            model,
            ModelSceneRecord,
            prompt=PROMPT,
            repair="repair_scene_record",
            stage="extraction of a scene record",
            keys=("memories", "summary"),
        )
        self._timeout_s = timeout_s
        self._cut = partial(SceneRecordRequest.cut, window_characters=window_characters)
        self._list_tokens = prompt_list_tokens
        self.reading: Runnable[RecordInput, ReadScene] = RunnableLambda(self._read).with_config(run_name="read_windows")
        super().__init__(self.reading | RunnableLambda(self.conclude).with_config(run_name="conclude"))

    def conclude(self, read: ReadScene, request: SceneRecordRequest | None = None) -> SceneRecordResult:
        """Return the facts established by the answers about a scene."""
        readings = read.readings
        if request is not None:
            so_far, anew = SceneSoFar.on_entering(request), []
            for part, answer in zip(read.parts, read.answers, strict=False):
                anew.append(answer_reading.interpreted(part, so_far, answer))
                so_far = so_far.after(anew[-1].record, anew[-1].proposed)
            readings = tuple(anew)
        if read.error is None:
            result = concluded(request or read.request, text=scrub_text(read.request.text), readings=readings)
        else:
            issues = [issue for reading in readings for issue in reading.issues]
            result = failed(read.error, window=len(readings) + 1, windows=len(read.parts), issues=issues)
        if result.status == "failed":
            place = f"{read.request.chapter_index}:{read.request.scene_index}"
            logger.warning("no record of scene %s of %r: %s", place, read.request.project_id, result.reason)
        issues = [*read.issues, *result.issues]
        return result.model_copy(update={"windows": len(read.parts), "issues": issues, **read.work})

    def prompt_tokens(self, record_input: RecordInput) -> list[PromptTokens]:
        """Estimate the tokens of each part's first prompt for the present story."""
        request = SceneRecordRequest.model_validate(record_input)
        so_far = SceneSoFar.on_entering(request)
        estimates = []
        for part in self._cut(request):
            lists, values = self._values(part, so_far)
            tokens = self._question.prompt_tokens(request.told_in, values)
            list_tokens = sum(map(estimate_tokens, lists.texts.values()))
            estimates.append(PromptTokens(all=tokens, lists=list_tokens, text=estimate_tokens(part.text)))
        return estimates

    def _read(self, value: RecordInput) -> ReadScene:
        request = SceneRecordRequest.model_validate(value)
        parts = self._cut(request)
        conversation = self._question.begin(self._timeout_s)
        so_far = SceneSoFar.on_entering(request)
        answers: list[answer_reading.WindowAnswer] = []
        readings: list[answer_reading.WindowReading] = []
        error: ModelError | DeadlineExceededError | None = None
        try:
            for part in parts:
                answer = self._ask_part(part, so_far, conversation)
                reading = answer_reading.interpreted(part, so_far, answer)
                if answer_reading.is_worth_asking(reading.unplaced):
                    answer = self._asked_again(part, so_far, answer, reading, conversation)
                    reading = answer_reading.interpreted(part, so_far, answer)
                so_far = so_far.after(reading.record, reading.proposed)
                answers.append(answer)
                readings.append(reading)
        except (ModelError, DeadlineExceededError) as raised:
            error = raised
        issues = tuple(conversation.issues(answer_reading.STAGE))
        return ReadScene(request, parts, conversation.work(), tuple(answers), tuple(readings), error, issues)

    def _ask_part(
        self, part: ScenePart, so_far: SceneSoFar, conversation: JsonConversation[ModelSceneRecord]
    ) -> answer_reading.WindowAnswer:
        """Let the model read a part, with at most one call to repair a bad answer."""
        lists, values = self._values(part, so_far)
        language = so_far.request.told_in
        example = ModelSceneRecord.model_validate_json(read_prompt_example(PROMPT, language))
        record = self._question.ask(
            conversation,
            language,
            values,
            accept=partial(
                require_grounded,
                text=f"{part.context}\n{part.text}",
                example=example,
                must_have_facts=part.parts == 1 and is_of_substance(part.text),
            ),
        )
        return answer_reading.WindowAnswer(
            record,
            lists=lists,
            shortage=lists.shortage(),
            proposed={entity.temporary_id: entity for entity in so_far.proposed},
        )

    def _asked_again(
        self,
        part: ScenePart,
        so_far: SceneSoFar,
        answer: answer_reading.WindowAnswer,
        reading: answer_reading.WindowReading,
        conversation: JsonConversation[ModelSceneRecord],
    ) -> answer_reading.WindowAnswer:
        """Ask once about unresolved names, and keep the old answer on failure."""
        values = {"items": answer_reading.items_text(reading.unplaced)}
        prompt = load_chat_prompt("correct_scene_record", so_far.request.told_in, variables=values)
        try:
            correction = conversation.say([*conversation.said, *prompt.format_messages(**values)])
        except (ModelError, DeadlineExceededError) as error:
            logger.info("what could not be placed stays out: %s", error)
            return answer
        merged_record = answer_reading.with_corrections(answer.said, correction, reading.unplaced)
        still_unplaced = answer_reading.interpreted(part, so_far, replace(answer, said=merged_record)).unplaced
        return replace(answer, said=answer_reading.without_replaced(merged_record, answer.said, still_unplaced))

    def _values(self, part: ScenePart, so_far: SceneSoFar) -> tuple[PromptLists, dict[str, str]]:
        """Return the prompt's lists and, for later parts, the earlier results."""
        request, language = so_far.request, so_far.request.told_in
        lists = chosen_lists(part.text, so_far, language=language, max_tokens=self._list_tokens)
        values = request.values_of(part, language)
        for label, given_names in zip(_GIVEN_LABELS[language], (so_far.summary, so_far.remembered), strict=True):
            if given_names and part.parts > 1:
                values["place"] += "\n" + as_data(label + _last_that_fit(given_names, MAX_SO_FAR_TOKENS))
        most = request.max_bullets
        bullets = f"{MIN_BULLETS}-{most}" if most > MIN_BULLETS else str(most)
        return lists, {**values, **lists.texts, "bullets": bullets, "max_memories": str(MAX_MEMORIES)}


def _last_that_fit(texts: Sequence[str], max_tokens: int) -> str:
    """Return the latest of several texts that fit."""
    kept_texts: list[str] = []
    used_tokens = 0
    for text in reversed(texts):
        used_tokens += line_tokens(text)
        if kept_texts and used_tokens > max_tokens:
            break
        kept_texts.insert(0, text)
    return " / ".join(kept_texts)


WINDOWS_AT_ONCE = 2
"""So many windows of an extraction are read at once here: an answer is short, and a tale wants to be seen whole."""

KnowledgeInput = knowledge_reading.SceneKnowledgeRequest | Mapping[str, Any]


class SceneKnowledgeResult(SceneResult):
    """Character knowledge, or None without a usable answer.

    `reason` then gives the cause.
    """

    knowledge: knowledge_reading.SceneKnowledge | None = None


class SceneKnowledgeChain(StepwiseChain[KnowledgeInput, SceneKnowledgeResult]):
    """Runnable that asks a chat model for character knowledge at a scene's end.

    Nothing that the model or its server does is raised.
    """

    def __init__(
        self,
        model: BaseChatModel,
        *,
        timeout_s: float = 180.0,
        window_characters: int = WINDOW_CHARACTERS,
        prompt_list_tokens: int = PROMPT_LIST_TOKENS,
    ) -> None:
        self._question = Question(
            model,
            knowledge_reading.ModelSceneKnowledge,
            prompt="scene_knowledge",
            repair="repair_scene_knowledge",
            stage="reading of who knows what",
            keys=("memories",),
        )
        self._timeout_s = timeout_s
        self._cut = partial(
            knowledge_reading.SceneKnowledgeRequest.cut, window_characters=WINDOWS_AT_ONCE * window_characters
        )
        # The text is longer by as many windows, so that the prompt as a whole is not.
        self._earlier_tokens = prompt_list_tokens // WINDOWS_AT_ONCE
        super().__init__(RunnableLambda(self._read).with_config(run_name="read_knowledge"))

    def prompt_tokens(self, knowledge_input: KnowledgeInput) -> list[int]:
        """Estimate the tokens of the first prompt of each part of a scene."""
        request = knowledge_reading.SceneKnowledgeRequest.model_validate(knowledge_input)
        tokens = []
        for part, memories in _with_memories(request, self._cut(request)):
            lists = knowledge_reading.knowledge_lists(request, memories, max_tokens=self._earlier_tokens)
            values = {**request.values_of(part, request.language), **lists.texts}
            tokens.append(self._question.prompt_tokens(request.language, values))
        return tokens

    def _read(self, value: KnowledgeInput) -> SceneKnowledgeResult:
        request = knowledge_reading.SceneKnowledgeRequest.model_validate(value)
        parts = self._cut(request)
        conversation = self._question.begin(self._timeout_s)
        knowledge = knowledge_reading.SceneKnowledge()
        try:
            for part, memories in _with_memories(request, parts):
                knowledge = knowledge.plus(self._ask_part(request, part, memories, conversation))
        except (ModelError, DeadlineExceededError) as error:
            place = f"scene {request.scene_index} of chapter {request.chapter_index}"
            logger.warning("%s was not read for who knows what: %s", place, error)
            fields = failure_fields(error, stage=knowledge_reading.KNOWLEDGE_STAGE)
            fields["issues"] = [*knowledge.issues, *fields["issues"]]
            return SceneKnowledgeResult(windows=len(parts), **fields, **conversation.work())
        return SceneKnowledgeResult(
            status="done",
            knowledge=knowledge,
            windows=len(parts),
            issues=[*conversation.issues(knowledge_reading.KNOWLEDGE_STAGE), *knowledge.issues],
            **conversation.work(),
        )

    def _ask_part(
        self,
        request: knowledge_reading.SceneKnowledgeRequest,
        part: ScenePart,
        memories: Sequence[PromptMemory],
        conversation: JsonConversation[knowledge_reading.ModelSceneKnowledge],
    ) -> knowledge_reading.SceneKnowledge:
        lists = knowledge_reading.knowledge_lists(request, memories, max_tokens=self._earlier_tokens)
        present = [member.entity.entity_id for member in request.cast if member.is_present]
        references = References(
            [member.entity for member in request.cast],
            shown_ids=lists.shown_ids,
            present_ids=present,
            stand_ins=request.stand_ins,
        )

        def accepted(answer: knowledge_reading.ModelSceneKnowledge) -> knowledge_reading.SceneKnowledge:
            reader = knowledge_reading.KnowledgeAnswerReader(
                Placer(references),
                lists.memory_ids,
                asked={memory.memory_id: memory.entities for memory in memories},
                present=present,
                text=f"{part.context}\n{part.text}",
            )
            return reader.read(answer)

        values = {**request.values_of(part, request.language), **lists.texts}
        knowledge = self._question.ask(conversation, request.language, values, accept=accepted)
        if not (left_out := lists.left_out["memories"]):
            return knowledge
        message = (
            f"the prompt had no room for {left_out} earlier memories within {self._earlier_tokens} tokens;"
            " memory.summarization.prompt_list_tokens gives more"
        )
        issue = ReportIssue(stage=knowledge_reading.KNOWLEDGE_STAGE, kind="over_limit", message=message)
        return knowledge.model_copy(update={"issues": [issue, *knowledge.issues]})


def _with_memories(
    request: knowledge_reading.SceneKnowledgeRequest, parts: Sequence[ScenePart]
) -> list[tuple[ScenePart, list[PromptMemory]]]:
    """Return parts with their memories, matched by quotes.

    The last part takes the memories without quotes.
    """
    text = scrub_text(request.text)
    finder = QuoteFinder(text)
    memory_groups: list[list[PromptMemory]] = [[] for _ in parts]
    for memory in request.memories if parts else ():
        proof = finder.find(memory.evidence)
        at = proof.start if proof else len(text)
        memory_groups[next((number for number, part in enumerate(parts) if at < part.end), len(parts) - 1)].append(
            memory
        )
    return list(zip(parts, memory_groups, strict=True))
