"""Reading one window of a scene with a model: the prompt, the answer, and whether it is about this scene."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage

from novelgen.deadlines import Deadline
from novelgen.language.language import StoryLanguage, estimate_tokens, significant_words
from novelgen.memory.evidence import QuoteFinder
from novelgen.model_calls.answers import UnusableAnswerError
from novelgen.model_calls.json_model import JsonConversation, JsonModel
from novelgen.model_calls.prompt_data import NOTHING, as_data, as_data_lines
from novelgen.model_calls.prompting import load_chat_prompt, read_prompt_file
from novelgen.models.context import ReportIssue
from novelgen.reading.answer_reading import STAGE, AnswerReader, WindowReading
from novelgen.reading.known_story import References, SceneSoFar
from novelgen.reading.model_record import MAX_MEMORIES, ModelSceneRecord
from novelgen.reading.prompt_lists import PROMPT_LIST_TOKENS, PromptLists, chosen_lists
from novelgen.reading.request import ProposedEntity, UnplacedItem
from novelgen.reading.second_asking import items_text, with_corrections, without_replaced

TOKENS_OF_A_SCENE_OF_SUBSTANCE = 40
"""A scene of fewer tokens may establish nothing."""

SHARED_SHARE = 1 / 3

MIN_SHARED_WORDS = 2
"""A fact without a quote may be of the scene when this share of its words, and this many, stand there."""


def is_of_substance(text: str) -> bool:
    """Tell whether a scene is long enough to establish something."""
    return estimate_tokens(text) >= TOKENS_OF_A_SCENE_OF_SUBSTANCE


def require_grounded(
    answer: ModelSceneRecord, *, text: str, example: ModelSceneRecord, must_have_facts: bool
) -> ModelSceneRecord:
    """Return an answer without what it took from the prompt's example, or refuse it."""
    if not answer.has_facts():
        if must_have_facts:
            raise UnusableAnswerError("empty", "no memories and no state changes, though the scene has content")
        return answer
    echoed = {memory.content for memory in example.memories}
    own = [memory for memory in answer.memories if memory.content not in echoed]
    if answer.memories and not own:
        raise UnusableAnswerError("echo", "the memories are those of the example, not of the scene")
    if not _is_grounded(answer, text):
        raise UnusableAnswerError("ungrounded", "no quote stands in the scene, and no fact speaks of it")
    return answer.model_copy(update={"memories": own})


def _is_grounded(answer: ModelSceneRecord, text: str) -> bool:
    finder = QuoteFinder(text)
    quotes = [memory.evidence for memory in answer.memories]
    quotes += [change.evidence for change in answer.state_changes]
    if any(finder.find(quote) for quote in quotes):
        return True
    words = significant_words(text)
    told = [memory.content for memory in answer.memories]
    told += [change.value for change in answer.state_changes if isinstance(change.value, str)]
    told += [change.event for change in answer.relationship_changes]
    told += [loop.description for loop in answer.open_loops_created]
    told += [move.note for move in answer.open_loops_moved]
    return any(_speaks_of(each, words) for each in told)


def _speaks_of(fact: str, scene_words: Collection[str]) -> bool:
    words = significant_words(fact)
    shared = len(words.intersection(scene_words))
    return shared >= max(MIN_SHARED_WORDS, SHARED_SHARE * len(words))


PROMPT_VARIABLES = frozenset(
    {"bullets", "example", "format_instructions", "max_memories"}
    | {"entities", "states", "relationships", "threads", "memories", "scenes"}
    | {"place", "context", "scene_text"}
)

REPAIR_VARIABLES = frozenset({"problem"})

CORRECTION_VARIABLES = frozenset({"items"})

MIN_BULLETS = 3
"""Bullets that a summary should have where the setting allows more."""

_RECORD_KEYS = ("memories", "summary")


@dataclass(frozen=True, slots=True)
class SceneWindow:
    """A window to be read.

    `text_id` tells the scene's text from all others. `must_have_facts` says that an answer without any fact
    is refused. `context` is what the window before ended with; it is shown to be understood, not to be read again.
    """

    chapter_index: int
    scene_index: int
    text: str
    text_id: str
    language: StoryLanguage
    max_bullets: int
    must_have_facts: bool
    context: str = ""
    part: int = 1
    parts: int = 1


@dataclass(frozen=True, slots=True)
class WindowAnswer:
    """What a model said of a window, and what its prompt had shown.

    `shown_ids` are the entities that the prompt listed, `memory_ids` the memories that stood as M1, M2 … in it,
    `shortage` says what found no room; `proposed` holds the entities of earlier windows of the scene that it
    listed under temporary ids, as they were proposed then.
    """

    said: ModelSceneRecord
    shown_ids: tuple[str, ...]
    memory_ids: Mapping[str, str]
    shortage: str | None
    proposed: Mapping[str, ProposedEntity]


@dataclass(frozen=True, slots=True)
class PromptTokens:
    """Estimated tokens of a prompt, and of its lists of the story so far and its text within them."""

    all: int
    lists: int
    text: int


class WindowReader:
    """Reads windows with a chat model; keep one per model."""

    def __init__(self, model: BaseChatModel, *, prompt_list_tokens: int = PROMPT_LIST_TOKENS) -> None:
        self._list_tokens = prompt_list_tokens
        self._model = JsonModel(model, ModelSceneRecord, keys=_RECORD_KEYS)

    def conversation(self, *, deadline: Deadline) -> JsonConversation[ModelSceneRecord]:
        """Begin the calls of one scene, which share a deadline."""
        return self._model.conversation(deadline=deadline, stage="extraction of a scene record")

    def ask(
        self, window: SceneWindow, so_far: SceneSoFar, *, conversation: JsonConversation[ModelSceneRecord]
    ) -> WindowAnswer:
        """Let the model read a window, with at most one call to repair a bad answer."""
        lists = self._lists(window, so_far)
        repair = load_chat_prompt("repair_scene_record", window.language, variables=REPAIR_VARIABLES)
        said = conversation.obtain(
            self._prompt(window, so_far, lists),
            accept=partial(_grounded, window=window),
            repair=lambda problem: repair.format_messages(problem=problem),
        )
        return WindowAnswer(
            said,
            shown_ids=lists.shown_ids,
            memory_ids=lists.memory_ids,
            shortage=lists.shortage(self._list_tokens),
            proposed={each.temporary_id: each for each in so_far.proposed},
        )

    def ask_again(
        self,
        window: SceneWindow,
        so_far: SceneSoFar,
        answer: WindowAnswer,
        *,
        unplaced: Sequence[UnplacedItem],
        conversation: JsonConversation[ModelSceneRecord],
    ) -> WindowAnswer:
        """Ask once what was meant by that which could not be placed, right after the answer that says it."""
        prompt = load_chat_prompt("correct_scene_record", window.language, variables=CORRECTION_VARIABLES)
        correction = conversation.ask_again(prompt.format_messages(items=items_text(unplaced)))
        merged = with_corrections(answer.said, correction, unplaced)
        still_unplaced = interpreted(window, so_far, replace(answer, said=merged)).unplaced
        return replace(answer, said=without_replaced(merged, answer.said, still_unplaced))

    def prompt_tokens(self, window: SceneWindow, so_far: SceneSoFar) -> PromptTokens:
        """Estimate the tokens of the prompt that a window makes."""
        lists = self._lists(window, so_far)
        messages = self._prompt(window, so_far, lists)
        return PromptTokens(
            all=sum(estimate_tokens(message.text) for message in messages),
            lists=sum(map(estimate_tokens, lists.texts.values())),
            text=estimate_tokens(window.text),
        )

    def _lists(self, window: SceneWindow, so_far: SceneSoFar) -> PromptLists:
        return chosen_lists(window.text, so_far, language=window.language, max_tokens=self._list_tokens)

    def _prompt(self, window: SceneWindow, so_far: SceneSoFar, lists: PromptLists) -> list[BaseMessage]:
        """What is the same for every scene of a project comes first, so that providers can keep it."""
        language = window.language
        prompt = load_chat_prompt("scene_record", language, variables=PROMPT_VARIABLES)
        return prompt.format_messages(
            example=_example_text(language),
            format_instructions=self._model.format_instructions(),
            bullets=_bullets(window.max_bullets),
            max_memories=str(MAX_MEMORIES),
            **lists.texts,
            place=_place_text(window, so_far),
            context=as_data_lines(window.context).strip() or NOTHING[language],
            scene_text=as_data_lines(window.text).strip(),
        )


def interpreted(window: SceneWindow, so_far: SceneSoFar, answer: WindowAnswer) -> WindowReading:
    """Turn an answer into what the window established, against what the story knows by now.

    Between question and answer other scenes may have been stored: whom the model calls new may be known
    meanwhile, and then is that one.
    """
    references = References(
        so_far.entities,
        shown_ids=[each for each in answer.shown_ids if each not in answer.proposed],
        present_ids=so_far.present_ids,
        stand_ins=_stand_ins(so_far, answer),
    )
    reader = AnswerReader(
        references,
        so_far,
        text=window.text,
        text_id=window.text_id,
        context=window.context,
        memory_ids=answer.memory_ids,
    )
    reading = reader.read(answer.said, chapter_index=window.chapter_index, scene_index=window.scene_index)
    if answer.shortage is None:
        return reading
    issue = ReportIssue(stage=STAGE, kind="over_limit", message=answer.shortage)
    return replace(reading, issues=[issue, *reading.issues])


def _stand_ins(so_far: SceneSoFar, answer: WindowAnswer) -> dict[str, str]:
    """What ids of the prompt stand for by now: parts of others, and those that had temporary ids."""
    if not answer.proposed:
        return dict(so_far.stand_ins)
    by_name = References(so_far.entities, shown_ids=(), present_ids=so_far.present_ids)
    now = {
        temporary_id: by_name.entity_id(each.name, entity_types=[each.entity_type])
        for temporary_id, each in answer.proposed.items()
    }
    known = {temporary_id: entity_id for temporary_id, entity_id in now.items() if entity_id is not None}
    return {**so_far.stand_ins, **known}


def _grounded(answer: ModelSceneRecord, *, window: SceneWindow) -> ModelSceneRecord:
    example = ModelSceneRecord.model_validate_json(_example_text(window.language))
    shown = f"{window.context}\n{window.text}"
    return require_grounded(answer, text=shown, example=example, must_have_facts=window.must_have_facts)


MAX_SO_FAR_TOKENS = 200

_PLACE: Mapping[StoryLanguage, str] = {"en": "chapter {chapter}, scene {scene}", "zh": "第{chapter}章第{scene}场"}
_PART: Mapping[StoryLanguage, str] = {"en": ", part {part} of {parts}", "zh": "，第{part}部分，共{parts}部分"}
_GIVEN: Mapping[StoryLanguage, tuple[str, str]] = {
    "en": ("the parts before told: ", "already remembered of them: "),
    "zh": ("前面各部分的内容：", "已经从中记下的："),
}


def _place_text(window: SceneWindow, so_far: SceneSoFar) -> str:
    """Where the text stands; of a part of a scene also what the parts before it gave, the latest of it first kept."""
    language = window.language
    place = _PLACE[language].format(chapter=window.chapter_index, scene=window.scene_index)
    if window.parts == 1:
        return place
    lines = [place + _PART[language].format(part=window.part, parts=window.parts)]
    for label, given in zip(_GIVEN[language], (so_far.summary, so_far.remembered), strict=True):
        if given:
            lines.append(as_data(label + _last_that_fit(given, MAX_SO_FAR_TOKENS)))
    return "\n".join(lines)


def _last_that_fit(texts: Sequence[str], max_tokens: int) -> str:
    kept: list[str] = []
    spent = 0
    for text in reversed(texts):
        spent += estimate_tokens(text) + 1
        if kept and spent > max_tokens:
            break
        kept.insert(0, text)
    return " / ".join(kept)


def _bullets(most: int) -> str:
    return f"{MIN_BULLETS}-{most}" if most > MIN_BULLETS else str(most)


def _example_text(language: StoryLanguage) -> str:
    return read_prompt_file(f"scene_record_example.{language}.json").strip()
