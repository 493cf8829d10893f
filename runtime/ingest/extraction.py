"""Extracting the records of stored scenes with a model: which are read, and what becomes of the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, Field

from novelgen.chains.scene_record_chain import SceneRecordChain, SceneRecordSettings
from novelgen.errors import UserInputError
from novelgen.extraction.conclusion import AllocatedKind, with_given_ids
from novelgen.extraction.request import ExtractionFault, SceneRecordRequest, SceneRecordResult, UnverifiedFact
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from novelgen.records.merge import known_loop_ids
from novelgen.records.supersession import with_supersessions
from novelgen.text.language import StoryLanguage
from runtime.ingest.consolidation import consolidate_beyond_setting
from runtime.ingest.entities import store_entities_in
from runtime.ingest.index_upkeep import rebuild_if_bloated
from runtime.ingest.indexing import IndexingResult, drain_outbox
from runtime.ingest.scene_input import SceneInput
from runtime.ingest.scene_writes import read_surroundings, replace_scene, same_record
from runtime.ingest.story_before import memories_still_true, read_story_before
from runtime.storage.records import ExtractionStatus, StoredScene
from runtime.storage.unit import UnitOfWork
from runtime.stores import MemoryStores

UNREAD_STATUSES: tuple[ExtractionStatus, ...] = ("none", "pending")


@dataclass(frozen=True, slots=True)
class ExtractionChoice:
    """What is asked for; by itself, the scenes of all chapters that have no record and were not tried yet.

    Args:
        scenes: Only these, whatever a model made of them before; the other arguments do not count then.
        chapter_index: Only this chapter; None means all.
        retry_failed: Also scenes whose extraction failed before.
        again: Also scenes whose record a model made.
    """

    scenes: tuple[StoryPosition, ...] = ()
    chapter_index: int | None = None
    retry_failed: bool = False
    again: bool = False


def chosen_scenes(unit: UnitOfWork, choice: ExtractionChoice) -> list[StoryPosition]:
    """Return the scenes to read in story order, each once; those with a record of a person are never among them.

    Raises:
        UnknownSceneError: When one that is named is not stored.
        UserInputError: When one that is named has a record that no model made.
    """
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
    return scene.extraction_status in UNREAD_STATUSES or (
        choice.retry_failed and scene.extraction_status == "failed"
    )


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
    issues: list[ReportIssue] = Field(default_factory=list)
    model_calls: int = 0
    elapsed_s: float = 0.0


class ExtractionReport(BaseModel):
    """What became of the scenes of one run, and of the vector index after them."""

    scenes: list[SceneExtraction] = Field(default_factory=list)
    indexing: IndexingResult = Field(default_factory=IndexingResult)
    consolidation: list[ReportIssue] = Field(
        default_factory=list, description="What went wrong in consolidating, where the settings ask for it."
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
    progress: Callable[[int, int], Any] | None = None,
) -> ExtractionReport:
    """Extract the records of stored scenes, in story order.

    Each scene is stored in one transaction before the next is read, so that the next one knows its people and
    threads, and a broken run goes on where it stopped. What came from an earlier extraction of a scene is
    replaced, but for single memories that an author changed; a record that no model made is left alone.

    Args:
        stores: The stores.
        project_id: The project.
        model: Any LangChain chat model.
        choice: Which scenes; by default those that have no record and were not tried yet.
        settings: Deadline and windows of each scene.
        progress: Called after each scene with the scenes done and the scenes in all.

    Returns:
        What became of each scene; a failed one keeps its text, and its record where it had one, else its
        status is `failed` and says why.

    Raises:
        UnknownProjectError: When no such project is stored.
        UnknownSceneError: When a scene that is named is not stored.
        UserInputError: When a scene that is named has a record that no model made; nothing is read then.
        DatabaseError: When the database fails; the scenes before the failing one are stored.
    """
    chain = SceneRecordChain(model, settings=settings)
    with stores.database(project_id).read() as unit:
        waiting = chosen_scenes(unit, choice or ExtractionChoice())
    done: list[SceneExtraction] = []
    for position in waiting:
        done.append(_extracted(stores, project_id, position, chain))
        if progress is not None:
            progress(len(done), len(waiting))
    indexing = rebuild_if_bloated(stores, project_id, drain_outbox(stores, project_id))
    consolidation = consolidate_beyond_setting(stores, project_id)
    return ExtractionReport(scenes=done, indexing=indexing, consolidation=consolidation)


def _extracted(
    stores: MemoryStores, project_id: str, position: StoryPosition, chain: SceneRecordChain
) -> SceneExtraction:
    with stores.database(project_id).read() as unit:
        scene = unit.scenes.require(position)
        request = _request(unit, scene, max_bullets=stores.settings.memory.summarization.max_bullets)
    # The model takes its time; no transaction is open meanwhile.
    result = chain.invoke(request)
    with stores.database(project_id).write() as unit:
        return _stored(stores, unit, scene, result)


def _request(unit: UnitOfWork, scene: StoredScene, *, max_bullets: int) -> SceneRecordRequest:
    """The scene and what the story knows on entering it."""
    return SceneRecordRequest(
        project_id=scene.project_id,
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
        title=scene.title,
        text=scene.text or "",
        language=_known_language(unit.projects.require().language),
        present_ids=list(read_surroundings(unit, scene.position).recent_ids),
        max_bullets=max_bullets,
        **read_story_before(unit, scene),
    )


def _known_language(language: str) -> StoryLanguage | None:
    if language.casefold().startswith("zh"):
        return "zh"
    return "en" if language.casefold().startswith("en") else None


def _stored(
    stores: MemoryStores, unit: UnitOfWork, read: StoredScene, result: SceneRecordResult
) -> SceneExtraction:
    stored = unit.scenes.get(read.position)
    if stored is None or stored.text != read.text or not same_record(stored.record, read.record):
        return _outcome(read, result, "overtaken")
    if result.record is None and stored.record is not None:
        return _outcome(read, result, "failed")
    known_loops = _known_loops(stored.record, result.record)
    record, entities = with_given_ids(result, _allocator(unit), known_loops=known_loops)
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
    return _outcome(read, result, result.status, record=record, entities=entities)


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
        issues=result.issues,
        model_calls=result.model_calls,
        elapsed_s=result.elapsed_s,
    )
