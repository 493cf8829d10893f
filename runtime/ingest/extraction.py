"""Extraction of stored scenes' records with a model."""

from collections.abc import Callable
from statistics import fmean
from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic import Field

from novelgen.chains.question_chains import ChapterPassChain
from novelgen.chains.scene_record_chain import ReadScene, SceneRecordChain
from novelgen.errors import UserInputError
from novelgen.language.language import stated_language
from novelgen.memory.attributes import with_supersessions
from novelgen.memory.merge import known_loop_ids, loops_said_again, with_loops_said_again
from novelgen.model_calls.usage import TokenPrices
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity
from novelgen.models.position import StoryPosition
from novelgen.models.record import is_unsaid
from novelgen.models.story_difference import StoryDifference
from novelgen.reading.chapter_reading import ChapterRequest, ChapterScene
from novelgen.reading.conclusion import AllocatedKind, with_given_ids
from novelgen.reading.request import (
    ExtractionFault,
    SceneRecordRequest,
    SceneRecordResult,
    UnplacedItem,
    UnverifiedFact,
)
from runtime.ingest import scene_passes
from runtime.ingest.chapter_pass import ChapterPass, chapter_left_behind, chapters_to_retry, reconcile_chapter
from runtime.ingest.consolidation import consolidate_beyond_setting
from runtime.ingest.entities import store_entities_in, store_identities_in
from runtime.ingest.indexing import drain_outbox, rebuild_if_bloated
from runtime.ingest.scene_input import SceneInput
from runtime.ingest.scene_writes import keep_of_run, memories_still_true, new_run, read_surroundings, replace_scene
from runtime.ingest.story_before import record_request
from runtime.model_providers.chat_models import UnavailableChatModel
from runtime.storage.change import ChangeNumber, number_of
from runtime.storage.columns import ExtractionStatus
from runtime.storage.database import UnitOfWork
from runtime.storage.records import Scene
from runtime.stores import MemoryStores

UNREAD_STATUSES: tuple[ExtractionStatus, ...] = ("none", "pending")

ANSWER_TOKENS = 1000
ANSWER_TOKENS_PER_TEXT_TOKEN = 0.5
"""An answer's length, as two whole books gave it: 1,300 tokens for scenes of 1,200, 1,600 for scenes of 960."""

CHAPTER_TOKENS_PER_SCENE = 600
CHAPTER_ANSWER_TOKENS = 500
"""What a chapter's end shows of each of its scenes, and how long the answer to it is: a guess, not measured."""


def _choose_scenes(unit: UnitOfWork, choice: scene_passes.SceneChoice) -> list[StoryPosition]:
    """Return the scenes to read, never those with a person's record."""

    def is_due(scene: Scene) -> bool:
        if scene.record is not None:
            return choice.again and scene.record_origin == "extracted"
        status = scene.extraction_status
        return status in UNREAD_STATUSES or (choice.retry_failed and status == "failed")

    positions = scene_passes.chosen_scenes(unit, choice, require=_require_readable, is_due=is_due)
    if not choice.scenes or choice.again:
        return positions
    # A scene that is named once more says nothing new while its text is the same.
    return [position for position in positions if unit.scenes.require(position).record is None]


def _require_readable(scene: Scene) -> None:
    if scene.record is not None and scene.record_origin != "extracted":
        summary_text = "written by its author" if scene.record_origin == "author" else "supplied"
        raise UserInputError(
            f"scene {str(scene.position)!r} has a record that was {summary_text}, which no model"
            f" replaces; change it with `novelgen record edit {scene.project_id} {scene.position}`"
        )


class SceneExtraction(scene_passes.SceneReport):
    """The result of one scene.

    A `failed` one keeps its earlier record.
    """

    fault: ExtractionFault | None = None
    had_record: bool = Field(default=False, description="A model had read it before.")
    memories: int = 0
    state_changes: int = 0
    new_entities: list[Entity] = Field(default_factory=list)
    unverified: list[UnverifiedFact] = Field(default_factory=list)
    unplaced: list[UnplacedItem] = Field(
        default_factory=list, description="What the model said and the record does not hold."
    )
    change_id: ChangeNumber = None


class ExtractionReport(scene_passes.PassReport[SceneExtraction]):
    """The results of a run's scenes, and of the vector index."""

    failed_before: int = Field(
        default=0, description="Scenes that an earlier run could not read and this one was not asked to."
    )
    chapters: list[ChapterPass] = Field(
        default_factory=list, description="What was put right at the end of chapters, where that was asked for."
    )
    consolidation: list[ReportIssue] = Field(
        default_factory=list, description="What went wrong in consolidating, where the settings ask for it."
    )
    change_id: ChangeNumber = None
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


def extract_scenes(
    stores: MemoryStores,
    project_id: str,
    model: BaseChatModel,
    *,
    choice: scene_passes.SceneChoice | None = None,
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

    A scene that is named is read again only with `again`, while its text is the same. A chapter is put right after the
    last of its scenes that are read; of scenes that are named, once one of the next chapter is.
    """
    database = stores.database(project_id)
    choice = choice or scene_passes.SceneChoice()
    with database.read() as unit:
        positions = _choose_scenes(unit, choice)
        closed_first: list[int] = []
        if reconcile:
            # Scene by scene a chapter ends where the next one is begun; one that failed waits for a run over all.
            closed_first = chapter_left_behind(unit, positions) if choice.scenes else chapters_to_retry(unit)
    chain = SceneRecordChain(model, **scene_passes.bounds_of(stores))
    max_bullets = stores.settings.memory.summarization.max_bullets
    closes_at_end = reconcile and not choice.scenes
    last_scenes = {position.chapter_index: position for position in positions}.values() if closes_at_end else ()
    begun_scenes: dict[StoryPosition, tuple[Scene, int]] = {}
    chapters: list[ChapterPass] = []
    version = 0
    """How often the story changed in this run: what was asked before is decided anew by what is stored."""

    def begin(position: StoryPosition) -> Callable[[], ReadScene]:
        with database.read() as unit:
            scene = unit.scenes.require(position)
            request = record_request(unit, scene, max_bullets=max_bullets)
        begun_scenes[position] = scene, version
        return lambda: chain.reading.invoke(request)

    def finish(position: StoryPosition, answers: ReadScene) -> SceneExtraction:
        nonlocal version
        scene, version_then = begun_scenes.pop(position)
        request = None
        if version_then != version:
            with database.read() as unit:
                request = record_request(unit, scene, max_bullets=max_bullets)
        result = chain.conclude(answers, request)
        version += 1
        with database.write() as unit:
            return _stored(stores, unit, scene, result, run_id=run_id)

    def close(chapter_index: int) -> None:
        """Review a chapter, before scenes read ahead are decided."""
        nonlocal version
        chapter_pass = reconcile_chapter(stores, project_id, chapter_index, model=model)
        if chapter_pass.outcome not in ("waiting", "unchanged"):
            chapters.append(chapter_pass)
            version += 1

    for chapter_index in closed_first:
        close(chapter_index)
    run_id = new_run()
    run = scene_passes.PassRun(begin, finish)
    run.read(
        positions,
        workers=workers,
        progress=progress,
        then=lambda position: close(position.chapter_index or 0) if position in last_scenes else None,
    )
    indexing = rebuild_if_bloated(stores, project_id, drain_outbox(stores, project_id, progress=index_progress))
    consolidation = consolidate_beyond_setting(stores, project_id)
    with database.read() as unit:
        census = unit.scenes.census()
    marked_failed = sum(scene.outcome == "failed" and not scene.had_record for scene in run.scenes)
    return ExtractionReport(
        **run.totals(prices, beside=chapters),
        waiting=census.scenes - census.with_record - census.failed,
        failed_before=max(0, census.failed - marked_failed),
        indexing=indexing,
        chapters=chapters,
        consolidation=consolidation,
        change_id=next(
            (extraction.change_id for extraction in reversed(run.scenes) if extraction.change_id is not None), None
        ),
    )


def _stored(
    stores: MemoryStores, unit: UnitOfWork, loaded_scene: Scene, result: SceneRecordResult, *, run_id: str
) -> SceneExtraction:
    stored_scene = scene_passes.still_as_read(unit, loaded_scene)
    if stored_scene is None:
        return _outcome(loaded_scene, "overtaken", result)
    if result.record is None and stored_scene.record is not None:
        return _outcome(loaded_scene, "failed", result)
    known_loops: dict[str, str] = {}
    open_before = unit.threads.list_as_of(as_of=loaded_scene.position)
    if result.record is not None:
        created = result.record.open_loops_created
        known_loops = dict(loops_said_again(created, open_before))
        if stored_scene.record is not None:
            known_loops |= known_loop_ids(stored_scene.record.open_loops_created, created)

    def allocate(kind: AllocatedKind) -> str:
        return unit.threads.next_id() if kind == "open_loop" else unit.entities.next_id(kind)

    result, entities = with_given_ids(result, allocate, known_loops=known_loops)
    if entities:
        store_entities_in(unit, entities, origin="extracted", stores=stores)
    record = result.record
    if record is not None:
        record = with_loops_said_again(record, {loop.loop_id for loop in open_before})
        record = with_supersessions(record, memories_still_true(unit, loaded_scene.position))
    scene_fields = {"record": record, "record_origin": "extracted", "story_time": None}
    outcome = {"extraction_status": result.status, "failure_reason": result.reason}
    scene = SceneInput.of_stored(stored_scene, **scene_fields, **outcome).scrubbed()
    before = unit.scenes.image(stored_scene)
    replace_scene(
        unit,
        scene,
        read_surroundings(unit, scene),
        project_id=loaded_scene.project_id,
        stored_scene=stored_scene,
        stores=stores,
    )
    change = None if record is None else keep_of_run(unit, "extract", run_id, stored_scene.scene_id, before)
    identities = store_identities_in(
        unit, names=result.new_names, pairs=result.same_entities, at=loaded_scene.position, stores=stores
    )
    results: dict[str, Any] = {"new_entities": list(entities), "change_id": number_of(change)}
    if record is not None:
        results |= {"memories": len(record.memories), "state_changes": len(record.state_changes)}
        results |= {"unverified": result.unverified, "unplaced": result.unplaced}
    extraction = _outcome(loaded_scene, result.status, result, **results)
    extraction.issues += identities.issues
    return extraction


def _outcome(
    scene: Scene, outcome: scene_passes.SceneOutcome, result: SceneRecordResult, **outcome_details: Any
) -> SceneExtraction:
    outcome_fields = {"fault": result.fault, "had_record": scene.record is not None}
    return SceneExtraction.of(scene, outcome, result, **outcome_fields, **outcome_details)


SAMPLED_LISTS = 3
"""Before so many scenes the lists of the story are made for an estimate: each reads the names of three scenes."""


def estimate_extraction(
    stores: MemoryStores,
    project_id: str,
    *,
    choice: scene_passes.SceneChoice | None = None,
    reconcile: bool = False,
    prices: TokenPrices | None = None,
) -> scene_passes.ExtractionEstimate:
    """Estimate an extraction without asking a model.

    The prompts are really made, without the story's lists; those count as long as they are now, and while the
    story is read for the first time as a third of what they may be, for they grow with it.
    """
    chain = SceneRecordChain(UnavailableChatModel(reason=scene_passes.NOTHING_ASKED), **scene_passes.bounds_of(stores))
    summarization = stores.settings.memory.summarization
    with stores.database(project_id).read() as unit:
        positions = _choose_scenes(unit, choice or scene_passes.SceneChoice())
        stored_scenes_by_position = {scene.position: scene for scene in unit.scenes.list_as_of(with_text=True)}
        chosen_scenes = [stored_scenes_by_position[position] for position in positions]
        language = stated_language(unit.projects.require().language)
        # Mean tokens of the lists, by what is stored now, in scenes spread over those that are to be read.
        before = scene_passes.spread(chosen_scenes, about=SAMPLED_LISTS)
        sampled = [record_request(unit, scene, max_bullets=summarization.max_bullets) for scene in before]
    lists_now = [tokens.lists for request in sampled for tokens in chain.prompt_tokens(request)]
    requests = [
        SceneRecordRequest(
            project_id=project_id,
            chapter_index=scene.chapter_index,
            scene_index=scene.scene_index,
            text=scene.text or "",
            language=language,
        )
        for scene in chosen_scenes
    ]
    prompts = [tokens for request in requests for tokens in chain.prompt_tokens(request)]
    lists = max(round(fmean(lists_now)) if lists_now else 0, summarization.prompt_list_tokens // 3)
    input_tokens = sum(tokens.all for tokens in prompts) + lists * len(prompts)
    text_tokens = sum(tokens.text for tokens in prompts)
    output_tokens = round(ANSWER_TOKENS * len(prompts) + ANSWER_TOKENS_PER_TEXT_TOKEN * text_tokens)
    chapters = len({request.chapter_index for request in requests}) if reconcile else 0
    if chapters:
        # What the prompt at the end of a chapter has without the chapter.
        empty = ChapterScene(chapter_index=1, scene_index=1, text="")
        frame = ChapterRequest(chapter_index=1, language=requests[0].language or "en", scenes=[empty])
        closing = ChapterPassChain(UnavailableChatModel(reason=scene_passes.NOTHING_ASKED))
        input_tokens += chapters * closing.prompt_tokens(frame)
        input_tokens += len(requests) * CHAPTER_TOKENS_PER_SCENE
        output_tokens += chapters * CHAPTER_ANSWER_TOKENS
    return scene_passes.ExtractionEstimate(
        scenes=len(requests), calls=len(prompts) + chapters, input_tokens=input_tokens, output_tokens=output_tokens
    ).priced(prices)
