"""Letting a chat model read the scenes that have no record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel

from novelgen.chains.scene_record_chain import SceneRecordSettings
from novelgen.errors import ConfigurationError
from novelgen.models.position import StoryPosition
from runtime.ingest.extraction import ExtractionChoice, ExtractionReport, extract_scenes
from runtime.providers.chat_models import build_chat_model
from runtime.settings import NovelgenSettings
from runtime.stores import MemoryStores


def extract_project(
    stores: MemoryStores,
    project_id: str,
    *,
    scenes: Sequence[StoryPosition] = (),
    chapter_index: int | None = None,
    retry_failed: bool = False,
    again: bool = False,
    model: str | BaseChatModel | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> ExtractionReport:
    """Let a model read stored scenes and store what it finds, each with the quote that proves it.

    Args:
        stores: The stores.
        project_id: The project.
        scenes: Only these, whatever a model made of them before; the next three do not count then.
        chapter_index: Only this chapter; None means all.
        retry_failed: Also scenes whose extraction failed before.
        again: Also scenes that a model read before.
        model: The chat model, or its name as provider:model; None takes that of the settings.
        progress: Called after each scene with those done and all.

    Raises:
        UnknownProjectError: When no such project is stored.
        UnknownSceneError: When a scene that is named is not stored.
        UserInputError: When a scene that is named has a record that no model made.
        ConfigurationError: When no model is configured, or it cannot be built.
        DatabaseError: When the database fails.
    """
    summarization = stores.settings.memory.summarization
    return extract_scenes(
        stores,
        project_id,
        build_extraction_model(stores.settings, model),
        choice=ExtractionChoice(
            scenes=tuple(scenes), chapter_index=chapter_index, retry_failed=retry_failed, again=again
        ),
        settings=SceneRecordSettings(
            timeout_s=summarization.timeout_s,
            window_characters=summarization.window_characters,
            prompt_list_tokens=summarization.prompt_list_tokens,
        ),
        progress=progress,
    )


def count_failed_scenes(stores: MemoryStores, project_id: str) -> int:
    """Return how many stored scenes a model could not read, which no run reads again unless it is asked to.

    Raises:
        UnknownProjectError: When no such project is stored.
    """
    with stores.database(project_id).read() as unit:
        return sum(scene.extraction_status == "failed" for scene in unit.scenes.list_as_of())


def build_extraction_model(
    settings: NovelgenSettings, model: str | BaseChatModel | None = None
) -> BaseChatModel:
    """Build the model that reads scenes and writes summaries.

    Args:
        settings: The settings.
        model: The model, or its name; None takes `memory.summarization.model`, else `model` of the settings.

    Raises:
        ConfigurationError: When there is none, or one that cannot be built; never holds the key.
    """
    if isinstance(model, BaseChatModel):
        return model
    summarization = settings.memory.summarization
    built = build_chat_model(
        model or summarization.model or settings.model,
        base_url=settings.model_base_url,
        api_key=settings.model_api_key,
        timeout_s=summarization.timeout_s,
        max_tokens=summarization.max_tokens,
    )
    if built is None:
        raise ConfigurationError(
            "no model for extraction; set memory.summarization.model in config.yaml, or NOVELGEN_MODEL, to "
            "provider:model such as openai:gpt-4.1-mini"
        )
    return built
