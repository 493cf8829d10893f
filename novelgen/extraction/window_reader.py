"""Reading one window of a scene with a model: the prompt, the answer, and whether it is about this scene."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage

from novelgen.deadlines import Deadline
from novelgen.extraction.answer_reading import AnswerReader, WindowReading
from novelgen.extraction.known_story import References, SceneSoFar
from novelgen.extraction.model_record import MAX_MEMORIES, ModelSceneRecord
from novelgen.extraction.request import ProposedEntity
from novelgen.model_calls.answers import UnusableAnswerError
from novelgen.model_calls.json_model import JsonConversation, JsonModel
from novelgen.model_calls.prompt_data import NOTHING, as_data, as_data_lines, entities_text, listed_entities
from novelgen.models.state import PRESENCE_ATTRIBUTE, OpenLoop, Relationship
from novelgen.prompting import load_chat_prompt, read_prompt_file
from novelgen.records.evidence import QuoteFinder
from novelgen.text.language import StoryLanguage, estimate_tokens, significant_words

MAX_STATE_TOKENS = 1200

MAX_LOOP_TOKENS = 600

MAX_RELATIONSHIP_TOKENS = 400

MAX_LINE_CHARACTERS = 400


def states_text(so_far: SceneSoFar, entity_ids: Sequence[str], language: StoryLanguage) -> str:
    """List the states of the entities that a window names, those first, then the others while there is room."""
    ordered = dict.fromkeys([*(each for each in entity_ids if each in so_far.states), *so_far.states])
    lines = (f"{entity_id} | {_state_line(so_far.states[entity_id])}" for entity_id in ordered)
    return _bounded((line for line in lines if not line.endswith("| ")), MAX_STATE_TOKENS, language)


def loops_text(loops: Sequence[OpenLoop], language: StoryLanguage) -> str:
    """List the open loops by id, category and description."""
    lines = (f"{loop.loop_id} | {loop.category} | {loop.description}" for loop in loops)
    return _bounded(lines, MAX_LOOP_TOKENS, language)


def relationships_text(relationships: Sequence[Relationship], language: StoryLanguage) -> str:
    """List how characters stand: ids, type, status, intensity, dimensions."""
    return _bounded(map(_relationship_line, relationships), MAX_RELATIONSHIP_TOKENS, language)


def _relationship_line(relationship: Relationship) -> str:
    dimensions = ", ".join(f"{name} {value}" for name, value in relationship.dimensions.items())
    parts = [
        f"{relationship.character_a} {relationship.character_b}",
        relationship.relationship_type,
        relationship.status,
        f"intensity {relationship.intensity}",
        dimensions,
    ]
    return " | ".join(part for part in parts if part)


def _state_line(state: dict[str, Any]) -> str:
    shown = {name: value for name, value in state.items() if name != PRESENCE_ATTRIBUTE and value is not None}
    return "; ".join(f"{name}: {_shown(value)}" for name, value in shown.items())


def _shown(value: Any) -> str:
    return "[" + ", ".join(map(str, value)) + "]" if isinstance(value, list) else str(value)


def _bounded(lines: Iterable[str], max_tokens: int, language: StoryLanguage) -> str:
    kept: list[str] = []
    spent = 0
    for line in map(as_data, lines):
        clipped = line[:MAX_LINE_CHARACTERS]
        spent += estimate_tokens(clipped) + 1
        if spent > max_tokens:
            break
        kept.append(clipped)
    return "\n".join(kept) or NOTHING[language]


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
    {"bullets", "example", "format_instructions", "known_entities", "max_memories", "open_loops"}
    | {"relationships", "scene_text", "states", "title"}
)

REPAIR_VARIABLES = frozenset({"problem"})

MIN_BULLETS = 3
"""Bullets that a summary should have where the setting allows more."""

_RECORD_KEYS = ("memories", "summary")


@dataclass(frozen=True, slots=True)
class SceneWindow:
    """A window to be read.

    `text_id` tells the scene's text from all others. `must_have_facts` says that an answer without any fact
    is refused.
    """

    chapter_index: int
    scene_index: int
    title: str
    text: str
    text_id: str
    language: StoryLanguage
    max_bullets: int
    must_have_facts: bool


@dataclass(frozen=True, slots=True)
class WindowAnswer:
    """What a model said of a window, and what its prompt had shown.

    `shown_ids` are the entities that the prompt listed; `proposed` holds those of earlier windows of the scene
    that it listed under temporary ids, as they were proposed then.
    """

    said: ModelSceneRecord
    shown_ids: tuple[str, ...]
    proposed: Mapping[str, ProposedEntity]


class WindowReader:
    """Reads windows with a chat model; keep one per model.

    Args:
        model: Any LangChain chat model.
    """

    def __init__(self, model: BaseChatModel) -> None:
        self._model = JsonModel(model, ModelSceneRecord, keys=_RECORD_KEYS)

    def conversation(self, *, deadline: Deadline) -> JsonConversation[ModelSceneRecord]:
        """Begin the calls of one scene, which share a deadline."""
        return self._model.conversation(deadline=deadline, stage="extraction of a scene record")

    def ask(
        self, window: SceneWindow, so_far: SceneSoFar, *, conversation: JsonConversation[ModelSceneRecord]
    ) -> WindowAnswer:
        """Let the model read a window, with at most one call to repair a bad answer.

        Args:
            window: What to read.
            so_far: What is known before it, as far as anybody knows yet.
            conversation: The calls of the scene.

        Raises:
            UnusableAnswerError: When the answers cannot be used.
            ModelUnavailableError: When the model or its server fails.
            DeadlineExceededError: When the time is up.
        """
        messages, shown_ids = self._prompt(window, so_far)
        repair = load_chat_prompt("repair_scene_record", window.language, variables=REPAIR_VARIABLES)
        said = conversation.obtain(
            messages,
            accept=partial(_grounded, window=window),
            repair=lambda problem: repair.format_messages(problem=problem),
        )
        proposed = {each.temporary_id: each for each in so_far.proposed}
        return WindowAnswer(said, shown_ids, proposed)

    def prompt_tokens(self, window: SceneWindow, so_far: SceneSoFar) -> int:
        """Estimate the tokens of the prompt that a window makes."""
        messages, _ = self._prompt(window, so_far)
        return sum(estimate_tokens(message.text) for message in messages)

    def _prompt(self, window: SceneWindow, so_far: SceneSoFar) -> tuple[list[BaseMessage], tuple[str, ...]]:
        """The prompt, and the ids of entities that an answer to it may refer to."""
        everybody = References(so_far.entities, shown_ids=(), present_ids=so_far.present_ids)
        named = everybody.names.entity_ids_in(window.text)
        listed = listed_entities(so_far.entities, first_ids=[*named, *so_far.present_ids])
        language = window.language
        prompt = load_chat_prompt("scene_record", language, variables=PROMPT_VARIABLES)
        messages = prompt.format_messages(
            example=_example_text(language),
            format_instructions=self._model.format_instructions(),
            known_entities=entities_text(listed, language),
            bullets=_bullets(window.max_bullets),
            max_memories=str(MAX_MEMORIES),
            open_loops=loops_text(so_far.open_loops, language),
            relationships=relationships_text(so_far.relationships, language),
            scene_text=as_data_lines(window.text).strip(),
            states=states_text(so_far, named, language),
            title=as_data(window.title),
        )
        return messages, tuple(entity.entity_id for entity in listed)


def interpreted(window: SceneWindow, so_far: SceneSoFar, answer: WindowAnswer) -> WindowReading:
    """Turn an answer into what the window established, against what the story knows by now.

    Between question and answer other scenes may have been stored: whom the model calls new may be known
    meanwhile, and then is that one.

    Args:
        window: What was read.
        so_far: What is known before it.
        answer: What the model said.
    """
    references = References(
        so_far.entities,
        shown_ids=[each for each in answer.shown_ids if each not in answer.proposed],
        present_ids=so_far.present_ids,
        stand_ins=_stand_ins(so_far, answer),
    )
    reader = AnswerReader(references, so_far, text=window.text, text_id=window.text_id)
    return reader.read(answer.said, chapter_index=window.chapter_index, scene_index=window.scene_index)


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
    return require_grounded(answer, text=window.text, example=example, must_have_facts=window.must_have_facts)


def _bullets(most: int) -> str:
    return f"{MIN_BULLETS}-{most}" if most > MIN_BULLETS else str(most)


def _example_text(language: StoryLanguage) -> str:
    return read_prompt_file(f"scene_record_example.{language}.json").strip()
