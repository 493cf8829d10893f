"""Letting a chat model read the scenes that have no record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, Field

from novelgen.chains.scene_knowledge_chain import SceneKnowledgeChain
from novelgen.chains.scene_record_chain import SceneRecordSettings
from novelgen.errors import ConfigurationError
from novelgen.model_calls.usage import TokenPrices
from novelgen.models.position import StoryPosition
from runtime.index.chat_models import UnavailableChatModel, build_chat_model
from runtime.ingest.chapter_pass import ChapterPass, reconcile_chapters
from runtime.ingest.extraction import ExtractionChoice, ExtractionReport, extract_scenes
from runtime.ingest.extraction_estimate import (
    NOTHING_ASKED,
    ExtractionEstimate,
    estimate_extraction,
    estimate_knowledge,
)
from runtime.ingest.indexing import IndexingResult, drain_outbox
from runtime.ingest.knowledge_pass import KnowledgeChoice, KnowledgeReport, read_knowledge
from runtime.settings import NovelgenSettings
from runtime.stores import MemoryStores
from runtime.story.async_twins import async_twin
from runtime.story.base import Progress, required_position
from runtime.story.story_difference import StoryDifferences


class StoryExtraction(StoryDifferences):
    """Letting a chat model read the scenes that have no record."""

    def extract(
        self,
        *,
        scenes: Sequence[StoryPosition | tuple[int, int]] = (),
        chapter_index: int | None = None,
        retry_failed: bool = False,
        again: bool = False,
        model: BaseChatModel | str | None = None,
        progress: Progress | None = None,
        workers: int | None = None,
        prices: TokenPrices | None = None,
        tell_changes: bool = True,
        index_progress: Callable[[int, int], Any] | None = None,
    ) -> ExtractionReport:
        """Let a chat model read the scenes that have no record and store what they establish.

        Args:
            scenes: Only these.
            chapter_index: Only this chapter; None means all.
            retry_failed: Also scenes whose extraction failed before.
            again: Also scenes that a model read before.
            model: Chat model or its name; None takes that of `novelgen.open`, else that of the settings.
            progress: Called after each scene with the scenes done and the scenes in all.

        Returns:
            What became of each scene; a failed one keeps its text.

        Raises:
            ConfigurationError: When there is no model, or it cannot be built.
            UnknownSceneError: When a scene that is named is not stored.
            DatabaseError: When the database fails.
        """
        model = model or self._chat_model
        report = extract_scenes(
            self._stores,
            self.project_id,
            build_extraction_model(self._stores.settings, model),
            choice=ExtractionChoice(
                scenes=tuple(required_position(each) for each in scenes),
                chapter_index=chapter_index,
                retry_failed=retry_failed,
                again=again,
            ),
            settings=_chain_settings(self._stores),
            workers=workers or self._stores.settings.memory.summarization.workers,
            reconcile=self._stores.settings.memory.summarization.reconcile_chapters,
            prices=_prices(self._stores, prices),
            progress=progress,
            index_progress=index_progress,
        )
        read = [(each.chapter_index, each.scene_index) for each in report.scenes if each.outcome == "done"]
        warnings = self.thread_warnings(scenes=read)
        changes = self.what_taken_changed(taken=read) if tell_changes else None
        return report.model_copy(update={"thread_warnings": warnings, "changes": changes})

    def reconcile_project(
        self,
        *,
        chapter_index: int | None = None,
        again: bool = False,
        model: str | BaseChatModel | None = None,
        progress: Callable[[int, int], Any] | None = None,
    ) -> ReconciliationReport:
        """Put right what spans the scenes of chapters that a model read before; no scene is read again."""
        chapters = reconcile_chapters(
            self._stores,
            self.project_id,
            model=build_extraction_model(self._stores.settings, model),
            chapters=None if chapter_index is None else [chapter_index],
            timeout_s=self._stores.settings.memory.summarization.timeout_s,
            again=again,
            progress=progress,
        )
        return ReconciliationReport(chapters=chapters, indexing=drain_outbox(self._stores, self.project_id))

    def estimate_project(
        self,
        *,
        scenes: Sequence[StoryPosition] = (),
        chapter_index: int | None = None,
        retry_failed: bool = False,
        again: bool = False,
        prices: TokenPrices | None = None,
    ) -> ExtractionEstimate:
        """Estimate what `extract_project` would take with the same arguments; no model is asked, nothing is stored."""
        return estimate_extraction(
            self._stores,
            self.project_id,
            choice=ExtractionChoice(
                scenes=tuple(required_position(each) for each in scenes),
                chapter_index=chapter_index,
                retry_failed=retry_failed,
                again=again,
            ),
            settings=_chain_settings(self._stores),
            reconcile=self._stores.settings.memory.summarization.reconcile_chapters,
            prices=_prices(self._stores, prices),
        )

    def read_knowledge_of_project(
        self,
        *,
        scenes: Sequence[StoryPosition] = (),
        chapter_index: int | None = None,
        again: bool = False,
        model: str | BaseChatModel | None = None,
        workers: int | None = None,
        prices: TokenPrices | None = None,
        progress: Callable[[int, int], Any] | None = None,
    ) -> KnowledgeReport:
        """Let a model say who knows what at the end of scenes that have a record, and write it into their records."""
        return read_knowledge(
            self._stores,
            self.project_id,
            _knowledge_chain(self._stores, build_extraction_model(self._stores.settings, model)),
            choice=KnowledgeChoice(
                scenes=tuple(required_position(each) for each in scenes), chapter_index=chapter_index, again=again
            ),
            workers=workers or self._stores.settings.memory.summarization.workers,
            prices=_prices(self._stores, prices),
            progress=progress,
        )

    def estimate_knowledge_of_project(
        self,
        *,
        scenes: Sequence[StoryPosition] = (),
        chapter_index: int | None = None,
        again: bool = False,
        prices: TokenPrices | None = None,
    ) -> ExtractionEstimate:
        """Estimate what `read_knowledge_of_project` would take with the same arguments; no model is asked."""
        return estimate_knowledge(
            self._stores,
            self.project_id,
            _knowledge_chain(self._stores, UnavailableChatModel(reason=NOTHING_ASKED)),
            choice=KnowledgeChoice(
                scenes=tuple(required_position(each) for each in scenes), chapter_index=chapter_index, again=again
            ),
            prices=_prices(self._stores, prices),
        )

    aextract = async_twin(extract)
    areconcile_project = async_twin(reconcile_project)
    aestimate_project = async_twin(estimate_project)
    aread_knowledge_of_project = async_twin(read_knowledge_of_project)
    aestimate_knowledge_of_project = async_twin(estimate_knowledge_of_project)


class ReconciliationReport(BaseModel):
    """What became of each chapter, and of the vector index after them."""

    chapters: list[ChapterPass] = Field(default_factory=list)
    indexing: IndexingResult = Field(default_factory=IndexingResult)


def _knowledge_chain(stores: MemoryStores, model: BaseChatModel) -> SceneKnowledgeChain:
    summarization = stores.settings.memory.summarization
    return SceneKnowledgeChain(
        model,
        timeout_s=summarization.timeout_s,
        window_characters=summarization.window_characters,
        earlier_tokens=summarization.prompt_list_tokens,
    )


def is_extraction_model_set(settings: NovelgenSettings) -> bool:
    """Tell whether the settings name a model that reads scenes."""
    return bool(settings.memory.summarization.model or settings.model)


def _chain_settings(stores: MemoryStores) -> SceneRecordSettings:
    summarization = stores.settings.memory.summarization
    return SceneRecordSettings(
        timeout_s=summarization.timeout_s,
        window_characters=summarization.window_characters,
        prompt_list_tokens=summarization.prompt_list_tokens,
    )


def _prices(stores: MemoryStores, told: TokenPrices | None) -> TokenPrices:
    summarization = stores.settings.memory.summarization
    told = told or TokenPrices()
    return TokenPrices(
        price_in=summarization.price_in if told.price_in is None else told.price_in,
        price_out=summarization.price_out if told.price_out is None else told.price_out,
    )


def build_extraction_model(settings: NovelgenSettings, model: str | BaseChatModel | None = None) -> BaseChatModel:
    """Build the model that reads scenes and writes summaries."""
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
