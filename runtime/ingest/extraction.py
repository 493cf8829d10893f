"""Extracting the records of stored scenes with a model: which are read, and what becomes of the answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, Field

from novelgen.chains.scene_record_chain import ReadScene, SceneRecordChain, SceneRecordSettings
from novelgen.errors import ModelRefusedError, UserInputError
from novelgen.language.language import StoryLanguage
from novelgen.memory.merge import known_loop_ids, loops_said_again, with_loops_said_again
from novelgen.memory.supersession import with_supersessions
from novelgen.model_calls.usage import ModelUsage, TokenPrices, total_usage
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord, is_unsaid
from novelgen.models.story_difference import StoryDifference
from novelgen.reading.conclusion import AllocatedKind, with_given_ids
from novelgen.reading.request import (
    ExtractionFault,
    SceneRecordRequest,
    SceneRecordResult,
    UnplacedItem,
    UnverifiedFact,
)
from novelgen.reading.unmasked import in_shown_ids
from runtime.ingest.chapter_pass import ChapterPass, chapters_to_retry, reconcile_chapter
from runtime.ingest.consolidation import consolidate_beyond_setting
from runtime.ingest.entities import store_entities_in
from runtime.ingest.identity import findings_with_given_ids, store_identities_in
from runtime.ingest.index_upkeep import rebuild_if_bloated
from runtime.ingest.indexing import IndexingResult, drain_outbox
from runtime.ingest.reading_ahead import ReadingAhead
from runtime.ingest.scene_input import SceneInput
from runtime.ingest.scene_writes import read_surroundings, replace_scene, same_record
from runtime.ingest.story_before import memories_still_true, read_story_before
from runtime.storage.records import ExtractionStatus, StoredScene
from runtime.storage.unit import UnitOfWork
from runtime.stores import MemoryStores

UNREAD_STATUSES: tuple[ExtractionStatus, ...] = ("none", "pending")


@dataclass(frozen=True, slots=True)
class ExtractionChoice:
    """What is asked for; by itself, the scenes of all chapters that have no record and were not tried yet."""

    scenes: tuple[StoryPosition, ...] = ()
    chapter_index: int | None = None
    retry_failed: bool = False
    again: bool = False


def chosen_scenes(unit: UnitOfWork, choice: ExtractionChoice) -> list[StoryPosition]:
    """Return the scenes to read in story order, each once; those with a record of a person are never among them."""
    if choice.scenes:
        return [_require_readable(unit.scenes.require(place)) for place in sorted(set(choice.scenes))]
    return [
        scene.position
        for scene in unit.scenes.list_as_of()
        if choice.chapter_index in (None, scene.chapter_index) and _is_due(scene, choice)
    ]


def _is_due(scene: StoredScene, choice: ExtractionChoice) -> bool:
    if scene.record is not None:
        return choice.again and scene.record_origin == "extracted"
    return scene.extraction_status in UNREAD_STATUSES or (choice.retry_failed and scene.extraction_status == "failed")


def _require_readable(scene: StoredScene) -> StoryPosition:
    if scene.record is not None and scene.record_origin != "extracted":
        raise UserInputError(
            f"scene {str(scene.position)!r} has a record that was {_made(scene.record_origin)}, which no model"
            f" replaces; change it with `novelgen record edit {scene.project_id} {scene.position}`"
        )
    return scene.position


def _made(origin: str) -> str:
    return "written by its author" if origin == "author" else "supplied"


Outcome = Literal["done", "failed", "overtaken"]

RETRY_PAUSE_S = 1.0
"""So long a server that nobody answers at may take to come back, before the run is given up."""


class SceneExtraction(BaseModel):
    """What became of one scene.

    `overtaken` says that somebody changed the scene or its record meanwhile; the answer was dropped. A scene
    that had a record of a model before and `failed` keeps that, whole.
    """

    chapter_index: int
    scene_index: int
    outcome: Outcome
    fault: ExtractionFault | None = None
    reason: str | None = None
    had_record: bool = Field(default=False, description="A model had read it before.")
    memories: int = 0
    state_changes: int = 0
    new_entities: list[Entity] = Field(default_factory=list)
    unverified: list[UnverifiedFact] = Field(default_factory=list)
    unplaced: list[UnplacedItem] = Field(
        default_factory=list, description="What the model said and the record does not hold."
    )
    issues: list[ReportIssue] = Field(default_factory=list)
    model_calls: int = 0
    usage: ModelUsage = Field(default_factory=ModelUsage, description="What the provider counted.")
    elapsed_s: float = 0.0


class ExtractionReport(BaseModel):
    """What became of the scenes of one run, and of the vector index after them."""

    scenes: list[SceneExtraction] = Field(default_factory=list)
    stopped: str | None = Field(
        default=None, description="Why the run was given up: the model refuses, and would every other scene."
    )
    waiting: int = Field(default=0, description="Scenes of the project that nobody read yet, after the run.")
    failed_before: int = Field(
        default=0, description="Scenes that an earlier run could not read and this one was not asked to."
    )
    usage: ModelUsage = Field(default_factory=ModelUsage, description="What the provider counted in all of the run.")
    price: float | None = Field(default=None, description="Of that, where prices are known; no discounts.")
    indexing: IndexingResult = Field(default_factory=IndexingResult)
    chapters: list[ChapterPass] = Field(
        default_factory=list, description="What was put right at the end of chapters, where that was asked for."
    )
    consolidation: list[ReportIssue] = Field(
        default_factory=list, description="What went wrong in consolidating, where the settings ask for it."
    )
    thread_warnings: list[str] = Field(
        default_factory=list,
        exclude_if=is_unsaid,
        description="Critical threads that are overdue, and those that ended without a word, in the story's language.",
    )
    changes: StoryDifference | None = Field(
        default=None,
        exclude_if=is_unsaid,
        description="What the scenes that were read changed; of many the last one, with totals of all.",
    )

    def count(self, outcome: Outcome) -> int:
        """Return how many scenes had that outcome."""
        return sum(scene.outcome == outcome for scene in self.scenes)


def extract_scenes(
    stores: MemoryStores,
    project_id: str,
    model: BaseChatModel,
    *,
    choice: ExtractionChoice | None = None,
    settings: SceneRecordSettings | None = None,
    workers: int = 1,
    reconcile: bool = False,
    prices: TokenPrices | None = None,
    progress: Callable[[int, int], Any] | None = None,
    index_progress: Callable[[int, int], Any] | None = None,
) -> ExtractionReport:
    """Extract the records of stored scenes, in story order.

    Each scene is stored in one transaction, in story order, so that the next one knows its people and threads
    and a broken run goes on where it stopped. With several workers the model reads scenes side by side: it is
    shown what is stored when a scene is begun, and what it says is decided by what is stored at the scene's
    turn. What came from an earlier extraction of a scene is replaced, but for single memories that an author
    changed; a record that no model made is left alone.

    A refusal that every scene would meet (key, model, quota, address) ends the run: those scenes stay as they
    are and wait for the next. An interrupt stores what was read whole by then and is raised on.
    """
    with stores.database(project_id).read() as unit:
        positions = chosen_scenes(unit, choice or ExtractionChoice())
        retried = chapters_to_retry(unit) if reconcile else []
    run = _ExtractionRun(stores, project_id, SceneRecordChain(model, settings=settings))
    timeout_s = (settings or SceneRecordSettings()).timeout_s
    close = partial(run.close_chapter, model=model, timeout_s=timeout_s)
    for chapter_index in retried:
        close(chapter_index)
    last_scenes = {position.chapter_index: position for position in positions}.values() if reconcile else ()
    ahead = ReadingAhead(positions, begin=run.begin, workers=workers)
    try:
        for position, read in ahead:
            run.finish(position, read)
            if run.refusal is not None:
                ahead.stop()
            elif position in last_scenes:
                close(position.chapter_index or 0)
            if progress is not None:
                progress(len(run.scenes), len(positions))
    except KeyboardInterrupt:
        ahead.stop()
        for position, read in ahead.take_finished():
            run.finish(position, read)
        raise
    indexing = rebuild_if_bloated(stores, project_id, drain_outbox(stores, project_id, progress=index_progress))
    consolidation = consolidate_beyond_setting(stores, project_id)
    with stores.database(project_id).read() as unit:
        census = unit.scenes.census()
    by_chapter = [chapter.usage for chapter in run.chapters]
    usage = total_usage([*(scene.usage for scene in run.scenes), *by_chapter, run.refused_usage])
    price = (prices or TokenPrices()).price_of(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)
    return ExtractionReport(
        scenes=run.scenes,
        stopped=run.refusal,
        waiting=census.scenes - census.with_record - census.failed,
        failed_before=max(0, census.failed - sum(_is_marked_failed(scene) for scene in run.scenes)),
        usage=usage,
        price=price,
        indexing=indexing,
        chapters=run.chapters,
        consolidation=consolidation,
    )


def _is_marked_failed(scene: SceneExtraction) -> bool:
    return scene.outcome == "failed" and not scene.had_record


@dataclass(frozen=True, slots=True)
class _Reading:
    """A scene as it stood when the model was asked, what it answered, and how many scenes were stored by then."""

    scene: StoredScene
    answers: ReadScene
    version: int


class _ExtractionRun:
    """One run over the scenes of a project; everything but the model's calls happens in one thread."""

    def __init__(self, stores: MemoryStores, project_id: str, chain: SceneRecordChain) -> None:
        self._stores = stores
        self._project_id = project_id
        self._database = stores.database(project_id)
        self._chain = chain
        self._version = 0
        self.scenes: list[SceneExtraction] = []
        self.chapters: list[ChapterPass] = []
        self.refusal: str | None = None
        self.refused_usage = ModelUsage()

    def begin(self, position: StoryPosition) -> Callable[[], _Reading]:
        """Return the work that lets the model read a scene, by what is stored now."""
        with self._database.read() as unit:
            scene = unit.scenes.require(position)
            request = self._request(unit, scene)
        version = self._version
        return lambda: _Reading(scene, _answers(self._chain, request), version)

    def finish(self, position: StoryPosition, reading: _Reading) -> None:
        """Decide what the model's answers mean by what is stored now, and store it; a refusal is only noted."""
        answers = reading.answers
        if isinstance(answers.error, ModelRefusedError):
            self.refusal = self.refusal or str(answers.error)
            self.refused_usage = self.refused_usage.plus(answers.usage)
            return
        request = None
        if reading.version != self._version:
            with self._database.read() as unit:
                request = self._request(unit, reading.scene)
        result = self._chain.conclude(answers, request)
        with self._database.write() as unit:
            self.scenes.append(_stored(self._stores, unit, reading.scene, result))
        self._version += 1

    def close_chapter(self, chapter_index: int, *, model: BaseChatModel, timeout_s: float) -> None:
        """Put right what spans the scenes of a chapter; those that are being read ahead are decided after it."""
        done = reconcile_chapter(self._stores, self._project_id, chapter_index, model=model, timeout_s=timeout_s)
        if done.outcome not in ("waiting", "unchanged"):
            self.chapters.append(done)
            self._version += 1

    def _request(self, unit: UnitOfWork, scene: StoredScene) -> SceneRecordRequest:
        return _request(unit, scene, max_bullets=self._stores.settings.memory.summarization.max_bullets)


def _answers(chain: SceneRecordChain, request: SceneRecordRequest) -> ReadScene:
    """Let the model read a scene, once more when nobody was there: a local server may be starting again."""
    read = chain.reading.invoke(request)
    if isinstance(read.error, ModelRefusedError) and read.error.is_nobody_there:
        time.sleep(RETRY_PAUSE_S)
        read = chain.reading.invoke(request)
    return read


def scene_requests(stores: MemoryStores, project_id: str, choice: ExtractionChoice) -> list[SceneRecordRequest]:
    """Return what a model would be given of each chosen scene, by what is stored now."""
    max_bullets = stores.settings.memory.summarization.max_bullets
    with stores.database(project_id).read() as unit:
        return [
            _request(unit, unit.scenes.require(position), max_bullets=max_bullets)
            for position in chosen_scenes(unit, choice)
        ]


def _request(unit: UnitOfWork, scene: StoredScene, *, max_bullets: int) -> SceneRecordRequest:
    """The scene and what the story knows on entering it."""
    request = SceneRecordRequest(
        project_id=scene.project_id,
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
        title=scene.title,
        text=scene.text or "",
        language=known_language(unit.projects.require().language),
        present_ids=list(read_surroundings(unit, scene.position).recent_ids),
        max_bullets=max_bullets,
        **read_story_before(unit, scene),
    )
    return in_shown_ids(request)


def known_language(language: str) -> StoryLanguage | None:
    """Return the language of a project, or None where it is neither of the two."""
    if language.casefold().startswith("zh"):
        return "zh"
    return "en" if language.casefold().startswith("en") else None


def _stored(stores: MemoryStores, unit: UnitOfWork, read: StoredScene, result: SceneRecordResult) -> SceneExtraction:
    stored = unit.scenes.get(read.position)
    if stored is None or stored.text != read.text or not same_record(stored.record, read.record):
        return _outcome(read, result, "overtaken")
    if result.record is None and stored.record is not None:
        return _outcome(read, result, "failed")
    known_loops = _known_loops(stored.record, result.record)
    open_before = unit.outline(as_of=read.position).open_loops
    if result.record is not None:
        known_loops = loops_said_again(result.record.open_loops_created, open_before) | known_loops
    record, entities = with_given_ids(result, _allocator(unit), known_loops=known_loops)
    if record is not None:
        record = with_loops_said_again(record, {loop.loop_id for loop in open_before})
    if entities:
        store_entities_in(
            unit,
            read.project_id,
            entities,
            origin="extracted",
            settings=stores.settings.memory.ingest,
            created_at=stores.clock(),
        )
    if record is not None:
        record = with_supersessions(record, memories_still_true(unit, read.position))
    scene = SceneInput(
        chapter_index=read.chapter_index,
        scene_index=read.scene_index,
        title=read.title,
        text=read.text or "",
        record=record,
        record_origin="extracted",
        extraction_status=result.status,
        failure_reason=result.reason,
    )
    replace_scene(
        unit,
        scene.scrubbed(),
        read_surroundings(unit, read.position),
        project_id=read.project_id,
        stored=stored,
        settings=stores.settings.memory.ingest,
        created_at=stores.clock(),
    )
    names, pairs = findings_with_given_ids(result, entities)
    identities = store_identities_in(
        unit,
        read.project_id,
        names=names,
        pairs=pairs,
        at=read.position,
        settings=stores.settings.memory.ingest,
        created_at=stores.clock(),
    )
    outcome = _outcome(read, result, result.status, record=record, entities=entities)
    return outcome.model_copy(update={"issues": [*outcome.issues, *identities.issues]})


def _known_loops(before: SceneRecord | None, now: SceneRecord | None) -> dict[str, str]:
    if before is None or now is None:
        return {}
    return known_loop_ids(before.open_loops_created, now.open_loops_created)


def _allocator(unit: UnitOfWork) -> Callable[[AllocatedKind], str]:
    def allocate(kind: AllocatedKind) -> str:
        return unit.threads.next_id() if kind == "open_loop" else unit.entities.next_id(kind)

    return allocate


def _outcome(
    scene: StoredScene,
    result: SceneRecordResult,
    outcome: Outcome,
    *,
    record: SceneRecord | None = None,
    entities: Sequence[Entity] = (),
) -> SceneExtraction:
    return SceneExtraction(
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
        outcome=outcome,
        fault=result.fault,
        reason=result.reason,
        had_record=scene.record is not None,
        memories=len(record.memories) if record else 0,
        state_changes=len(record.state_changes) if record else 0,
        new_entities=list(entities),
        unverified=result.unverified if record else [],
        unplaced=result.unplaced if record else [],
        issues=result.issues,
        model_calls=result.model_calls,
        usage=result.usage,
        elapsed_s=result.elapsed_s,
    )
