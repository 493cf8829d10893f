"""The chat model that reads scenes, as the settings say."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel

from novelgen.chains.scene_record_chain import SceneRecordSettings
from novelgen.errors import ConfigurationError
from runtime.providers.chat_models import build_chat_model
from runtime.settings import NovelgenSettings


def with_extraction_model(settings: NovelgenSettings, model: str | None) -> NovelgenSettings:
    """Return settings that name another extraction model; None changes nothing."""
    if model is None:
        return settings
    summarization = settings.memory.summarization.model_copy(update={"model": model})
    memory = settings.memory.model_copy(update={"summarization": summarization})
    return settings.model_copy(update={"memory": memory})


def build_extraction_model(settings: NovelgenSettings) -> BaseChatModel:
    """Build the model of `memory.summarization.model`, else the planner's.

    Raises:
        ConfigurationError: When the settings name none, or one that cannot be built; never holds the key.
    """
    summarization = settings.memory.summarization
    model = build_chat_model(
        summarization.model or settings.model,
        base_url=settings.model_base_url,
        api_key=settings.model_api_key,
        timeout_s=summarization.timeout_s,
        max_tokens=summarization.max_tokens,
    )
    if model is None:
        raise ConfigurationError(
            "no model for extraction; set memory.summarization.model in config.yaml, or NOVELGEN_MODEL, to "
            "provider:model such as openai:gpt-4.1-mini"
        )
    return model


def extraction_settings(settings: NovelgenSettings) -> SceneRecordSettings:
    """Return deadline and windows of the extraction that the program's settings ask for."""
    summarization = settings.memory.summarization
    return SceneRecordSettings(
        timeout_s=summarization.timeout_s, window_characters=summarization.window_characters
    )
