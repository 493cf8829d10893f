"""Reading one window of a scene with a model: the prompt, the answer, and whether it is about this scene."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage

from novelgen.deadlines import Deadline
from novelgen.extraction.answer_reading import STAGE, AnswerReader, WindowReading
from novelgen.extraction.known_story import References, SceneSoFar
from novelgen.extraction.model_record import MAX_MEMORIES, ModelSceneRecord
from novelgen.extraction.prompt_lists import PROMPT_LIST_TOKENS, PromptLists, chosen_lists
from novelgen.model_calls.answers import UnusableAnswerError
from novelgen.model_calls.json_model import JsonConversation, JsonModel
from novelgen.model_calls.prompt_data import NOTHING, as_data, as_data_lines
from novelgen.models.context import ReportIssue
from novelgen.prompting import load_chat_prompt, read_prompt_file
from novelgen.records.evidence import QuoteFinder
from novelgen.text.language import StoryLanguage, estimate_tokens, significant_words

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
    """Return an answer without what it took from the prompt's example, or refuse it.

    Args:
        answer: What the model said of the text.
        text: What it read.
        example: The worked example of the prompt.
        must_have_facts: Whether an answer without any fact is refused.

    Raises:
        UnusableAnswerError: With fault "empty" when there is no fact, "echo" when all memories are the
            example's, "ungrounded" when there is no quote and no fact that could be of this text.
    """
    if not answer.has_facts():
        if must_have_facts:
            raise UnusableAnswerError(
                "empty", "no memories and no state changes, though the scene has content"
            )
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


class WindowReader:
    """Reads windows with a chat model; keep one per model.

    Args:
        model: Any LangChain chat model.
        prompt_list_tokens: Budget of all that a prompt lists of the story so far, in estimated tokens.
    """

    def __init__(self, model: BaseChatModel, *, prompt_list_tokens: int = PROMPT_LIST_TOKENS) -> None:
        self._list_tokens = prompt_list_tokens
        self._model = JsonModel(model, ModelSceneRecord, keys=_RECORD_KEYS)

    def conversation(self, *, deadline: Deadline) -> JsonConversation[ModelSceneRecord]:
        """Begin the calls of one scene, which share a deadline."""
        return self._model.conversation(deadline=deadline, stage="extraction of a scene record")

    def read(
        self, window: SceneWindow, so_far: SceneSoFar, *, conversation: JsonConversation[ModelSceneRecord]
    ) -> WindowReading:
        """Read a window, with at most one call to repair a bad answer.

        Args:
            window: What to read.
            so_far: What is known before it.
            conversation: The calls of the scene.

        Raises:
            UnusableAnswerError: When the answers cannot be used.
            ModelUnavailableError: When the model or its server fails.
            DeadlineExceededError: When the time is up.
        """
        lists = chosen_lists(window.text, so_far, language=window.language, max_tokens=self._list_tokens)
        repair = load_chat_prompt("repair_scene_record", window.language, variables=REPAIR_VARIABLES)
        reading = conversation.obtain(
            self._prompt(window, so_far, lists),
            accept=partial(_reading_of, window=window, so_far=so_far, lists=lists),
            repair=lambda problem: repair.format_messages(problem=problem),
        )
        shortage = lists.shortage(self._list_tokens)
        if shortage is None:
            return reading
        issue = ReportIssue(stage=STAGE, kind="over_limit", message=shortage)
        return replace(reading, issues=[issue, *reading.issues])

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


def _reading_of(
    answer: ModelSceneRecord, *, window: SceneWindow, so_far: SceneSoFar, lists: PromptLists
) -> WindowReading:
    example = ModelSceneRecord.model_validate_json(_example_text(window.language))
    shown = f"{window.context}\n{window.text}"
    grounded = require_grounded(answer, text=shown, example=example, must_have_facts=window.must_have_facts)
    reader = AnswerReader(
        References(so_far.entities, shown_ids=lists.shown_ids, present_ids=so_far.present_ids),
        so_far,
        text=window.text,
        text_id=window.text_id,
        context=window.context,
        memory_ids=lists.memory_ids,
    )
    return reader.read(grounded, chapter_index=window.chapter_index, scene_index=window.scene_index)


MAX_SO_FAR_TOKENS = 200

_PLACE: Mapping[StoryLanguage, str] = {
    "en": "chapter {chapter}, scene {scene}",
    "zh": "第{chapter}章第{scene}场",
}
_PART: Mapping[StoryLanguage, str] = {
    "en": ", part {part} of {parts}",
    "zh": "，第{part}部分，共{parts}部分",
}
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
