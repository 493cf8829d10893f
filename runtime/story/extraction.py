"""A chat model's passes over stored scenes: records, knowledge, consolidation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, Field

from novelgen.errors import ConfigurationError
from novelgen.model_calls.usage import TokenPrices
from novelgen.models.position import StoryPosition
from runtime.ingest.chapter_pass import ChapterPass, reconcile_chapters
from runtime.ingest.consolidation import DEFAULT_LIMIT, ConsolidationReport, consolidate_project, undo_consolidation
from runtime.ingest.extraction import ExtractionReport, estimate_extraction, extract_scenes
from runtime.ingest.indexing import IndexingResult, drain_outbox
from runtime.ingest.scene_passes import (
    ExtractionEstimate,
    KnowledgeReport,
    SceneChoice,
    ShortsReport,
    estimate_knowledge,
    estimate_shorts,
    read_knowledge,
    rewrite_shorts,
)
from runtime.model_providers.chat_models import build_chat_model
from runtime.settings import NovelgenSettings
from runtime.storage.chunks import StoredConsolidation
from runtime.stores import MemoryStores
from runtime.story.base import At, Count, Name, Progress, StoryBase, async_twin, story_position
from runtime.story.story_difference import StoryDifferences
from runtime.story.threads import thread_warnings

RecordPass = Literal["knowledge", "shorts"]


class StoryExtraction(StoryBase):
    """Letting a chat model read the scenes that have no record, and let one memory stand for several small ones."""

    def extract(
        self,
        *,
        scenes: Sequence[At] = (),
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
        """Let a chat model read scenes without records, and store the results.

        Args:
            scenes: Only these, also where an extraction failed before. One that was read is left while its text is the
                same; its chapter is put right once a scene of the next one is read, or by `scenes.reconcile`.
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
            choice=SceneChoice(_places(scenes), chapter_index, retry_failed=retry_failed, again=again),
            workers=workers or self._stores.settings.memory.summarization.workers,
            reconcile=self._stores.settings.memory.summarization.reconcile_chapters,
            prices=_prices(self._stores, prices),
            progress=progress,
            index_progress=index_progress,
        )
        read_places = [
            (extraction.chapter_index, extraction.scene_index)
            for extraction in report.scenes
            if extraction.outcome == "done"
        ]
        warnings = thread_warnings(self._stores, self.project_id, scenes=read_places)
        changes = StoryDifferences(self._stores, self.project_id).of_scenes(taken=read_places) if tell_changes else None
        return report.model_copy(update={"thread_warnings": warnings, "changes": changes})

    aextract = async_twin(extract)


class StoryExtractionRuns(StoryExtraction):
    """Runs of a model over scenes and their records, with estimates beforehand."""

    def estimate_project(
        self,
        *,
        scenes: Sequence[At] = (),
        chapter_index: int | None = None,
        retry_failed: bool = False,
        again: bool = False,
        prices: TokenPrices | None = None,
    ) -> ExtractionEstimate:
        """Estimate `extract_project` without asking a model or storing."""
        return estimate_extraction(
            self._stores,
            self.project_id,
            choice=SceneChoice(_places(scenes), chapter_index, retry_failed=retry_failed, again=again),
            reconcile=self._stores.settings.memory.summarization.reconcile_chapters,
            prices=_prices(self._stores, prices),
        )

    def run_pass(
        self,
        over: RecordPass,
        *,
        scenes: Sequence[At] = (),
        chapter_index: int | None = None,
        again: bool = False,
        model: str | BaseChatModel | None = None,
        workers: int | None = None,
        prices: TokenPrices | None = None,
        progress: Callable[[int, int], Any] | None = None,
    ) -> KnowledgeReport | ShortsReport:
        """Run a model's pass over recorded scenes: knowledge or short forms.

        Both are written into the records; `undo` takes a whole run over short forms back.
        """
        run = read_knowledge if over == "knowledge" else rewrite_shorts
        return run(
            self._stores,
            self.project_id,
            build_extraction_model(self._stores.settings, model),
            choice=SceneChoice(_places(scenes), chapter_index, again=again),
            workers=workers or self._stores.settings.memory.summarization.workers,
            prices=_prices(self._stores, prices),
            progress=progress,
        )

    def estimate_pass(
        self,
        over: RecordPass,
        *,
        scenes: Sequence[At] = (),
        chapter_index: int | None = None,
        again: bool = False,
        prices: TokenPrices | None = None,
    ) -> ExtractionEstimate:
        """Estimate `run_pass` without asking a model."""
        estimate = estimate_knowledge if over == "knowledge" else estimate_shorts
        choice = SceneChoice(_places(scenes), chapter_index, again=again)
        return estimate(self._stores, self.project_id, choice=choice, prices=_prices(self._stores, prices))


class StoryReconciliation(StoryBase):
    """Reviews of chapters that a model has read."""

    def reconcile(
        self,
        *,
        chapter_index: int | None = None,
        again: bool = False,
        model: str | BaseChatModel | None = None,
        progress: Callable[[int, int], Any] | None = None,
    ) -> ReconciliationReport:
        """Review read chapters across their scenes, without reading them again."""
        chapters = reconcile_chapters(
            self._stores,
            self.project_id,
            model=build_extraction_model(self._stores.settings, model),
            chapters=None if chapter_index is None else [chapter_index],
            again=again,
            progress=progress,
        )
        return ReconciliationReport(chapters=chapters, indexing=drain_outbox(self._stores, self.project_id))

    areconcile = async_twin(reconcile)


class StoryConsolidation(StoryBase):
    """Consolidation of small memories."""

    def consolidate(
        self,
        *,
        limit: Count | None = None,
        with_model: bool = True,
        dry_run: bool = False,
        progress: Callable[[int, int], Any] | None = None,
    ) -> ConsolidationReport:
        """Let one memory stand for several small ones where an entity has more than a limit.

        Args:
            limit: Most memories per entity; None takes that of the settings, else a default.
            with_model: Let the model of the settings write them, where one is set.
            dry_run: Only tell what would be consolidated.
            progress: Called after each group with those done and all.

        Raises:
            UnknownProjectError: When no such project is stored.
            ConfigurationError: When the settings name a model that cannot be built.
        """
        settings = self._stores.settings
        memory = settings.memory
        is_models = with_model and not dry_run and is_extraction_model_set(settings)
        return consolidate_project(
            self._stores,
            self.project_id,
            limit=limit or memory.consolidation.max_memories_per_entity or DEFAULT_LIMIT,
            model=build_extraction_model(settings) if is_models else None,
            dry_run=dry_run,
            progress=progress,
        )

    def list_consolidations(self) -> list[StoredConsolidation]:
        """Return the consolidated memories with their sources, in story order."""
        with self._stores.database(self.project_id).read() as unit:
            return unit.consolidations.list_all()

    def undo_consolidations(self, *, chunk_id: Name | None = None) -> list[str]:
        """Take one consolidated memory back, or all where none is named.

        Args:
            chunk_id: Only this one; None takes all back.
        """
        return undo_consolidation(self._stores, self.project_id, chunk_id)

    aconsolidate = async_twin(consolidate)
    alist_consolidations = async_twin(list_consolidations)
    aundo_consolidations = async_twin(undo_consolidations)


class ReconciliationReport(BaseModel):
    """The results of chapter reviews, and of the vector index."""

    chapters: list[ChapterPass] = Field(default_factory=list)
    indexing: IndexingResult = Field(default_factory=IndexingResult)


def _places(scenes: Sequence[At]) -> tuple[StoryPosition, ...]:
    return tuple(story_position(scene) for scene in scenes)


def is_extraction_model_set(settings: NovelgenSettings) -> bool:
    """Tell whether the settings name a model that reads scenes."""
    return bool(settings.memory.summarization.model or settings.model)


def _prices(stores: MemoryStores, token_prices: TokenPrices | None) -> TokenPrices:
    summarization = stores.settings.memory.summarization
    token_prices = token_prices or TokenPrices()
    return TokenPrices(
        price_in=summarization.price_in if token_prices.price_in is None else token_prices.price_in,
        price_out=summarization.price_out if token_prices.price_out is None else token_prices.price_out,
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
