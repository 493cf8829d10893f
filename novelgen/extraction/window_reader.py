"""Reading one window of a scene with a model."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage

from novelgen.extraction.answer_reading import AnswerReader, WindowReading
from novelgen.extraction.grounding import require_grounded
from novelgen.extraction.model_record import MAX_MEMORIES, ModelSceneRecord
from novelgen.extraction.record_prompt import loops_text, relationships_text, states_text
from novelgen.extraction.references import References
from novelgen.extraction.scene_so_far import SceneSoFar
from novelgen.model_calls.json_model import JsonConversation, JsonModel
from novelgen.model_calls.prompt_data import as_data, as_data_lines, entities_text, listed_entities
from novelgen.prompting import load_chat_prompt, read_prompt_file
from novelgen.text.cjk import StoryLanguage

PROMPT_VARIABLES = frozenset(
    {"bullets", "example", "format_instructions", "known_entities", "max_memories", "open_loops"}
    | {"relationships", "scene_text", "states", "title"}
)
REPAIR_VARIABLES = frozenset({"problem"})

FEWEST_BULLETS = 3
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


class WindowReader:
    """Reads windows with a chat model; keep one per model.

    Args:
        model: Any LangChain chat model.
    """

    def __init__(self, model: BaseChatModel) -> None:
        self._model = JsonModel(model, ModelSceneRecord, keys=_RECORD_KEYS)

    def conversation(self, *, ends_at: float) -> JsonConversation[ModelSceneRecord]:
        """Begin the calls of one scene, which share a deadline (a moment of `time.monotonic`)."""
        return self._model.conversation(ends_at=ends_at, stage="extraction of a scene record")

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
        messages, references = self._prompt(window, so_far)
        repair = load_chat_prompt("repair_scene_record", window.language, variables=REPAIR_VARIABLES)
        return conversation.obtain(
            messages,
            accept=partial(_reading_of, window=window, so_far=so_far, references=references),
            repair=lambda problem: repair.format_messages(problem=problem),
        )

    def _prompt(self, window: SceneWindow, so_far: SceneSoFar) -> tuple[list[BaseMessage], References]:
        """The prompt, and what an answer to it may refer to."""
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
        shown_ids = [entity.entity_id for entity in listed]
        return messages, References(so_far.entities, shown_ids=shown_ids, present_ids=so_far.present_ids)


def _reading_of(
    answer: ModelSceneRecord, *, window: SceneWindow, so_far: SceneSoFar, references: References
) -> WindowReading:
    example = ModelSceneRecord.model_validate_json(_example_text(window.language))
    grounded = require_grounded(
        answer, text=window.text, example=example, must_have_facts=window.must_have_facts
    )
    reader = AnswerReader(references, so_far, text=window.text, text_id=window.text_id)
    return reader.read(grounded, chapter_index=window.chapter_index, scene_index=window.scene_index)


def _bullets(most: int) -> str:
    return f"{FEWEST_BULLETS}-{most}" if most > FEWEST_BULLETS else str(most)


def _example_text(language: StoryLanguage) -> str:
    return read_prompt_file(f"scene_record_example.{language}.json").strip()
