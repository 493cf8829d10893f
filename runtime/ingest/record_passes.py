"""Passes in which a model goes over scenes that have a record: who knows what at their end, and short forms anew.

Both write into the records; what a person said there is left alone, and the short forms of a whole run go back."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from pydantic import Field

from novelgen.chains.question_chains import ShortFormsChain, ShortFormsRequest, ShortFormsResult
from novelgen.chains.scene_record_chain import SceneKnowledgeChain, SceneKnowledgeResult
from novelgen.errors import UserInputError
from novelgen.language.language import stated_language, story_language
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.model_calls.usage import TokenPrices
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from novelgen.reading.knowledge_reading import with_knowledge, without_learnings
from runtime.index.chat_models import UnavailableChatModel
from runtime.ingest.indexing import drain_outbox
from runtime.ingest.scene_passes import (
    NOTHING_ASKED,
    ExtractionEstimate,
    PassReport,
    SceneChoice,
    SceneReport,
    bounds_of,
    chosen_scenes,
    estimate_over_scenes,
    run_over_scenes,
    still_as_read,
)
from runtime.ingest.scene_writes import replace_stored_scene
from runtime.ingest.story_before import knowledge_request
from runtime.storage.database import UnitOfWork
from runtime.storage.journal import Change, RowChange
from runtime.storage.records import StoredScene
from runtime.stores import MemoryStores

SURELY_KNOWN = 0.8
"""What somebody knows with this certainty without the scene, they do not learn in it."""

KNOWLEDGE_TOKENS_PER_MEMORY = 60
KNOWLEDGE_ANSWER_TOKENS = 150
"""How long an answer about who knows what is: for each memory of the scene, and for what is learnt in it."""


class SceneKnowledgeReading(SceneReport):
    """What became of one scene; one that `failed` or was `overtaken` by a change meanwhile is as it was."""

    memories: int = Field(default=0, description="Of which it is told now who knows them.")
    learned: int = Field(default=0, description="Earlier memories that somebody learnt, each with each who did.")


class KnowledgeReport(PassReport[SceneKnowledgeReading]):
    """What became of the scenes of one run; `waiting` counts those with a record."""

    without_record: int = Field(default=0, description="Scenes that have no record: this pass reads none of them.")


def read_knowledge(
    stores: MemoryStores,
    project_id: str,
    model: BaseChatModel,
    *,
    choice: SceneChoice | None = None,
    workers: int = 1,
    prices: TokenPrices | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> KnowledgeReport:
    """Read scenes that have a record for who knows what, in story order.

    Each scene is shown nothing of later ones, and is stored in one transaction, so that a broken run goes on where
    it stopped. With several workers the model is shown who knows what when a scene is begun: it may not see yet
    what the scene before it told. What is stored is decided in story order all the same: what somebody knows by
    then they do not learn once more.
    """
    chain = SceneKnowledgeChain(model, **bounds_of(stores))
    database = stores.database(project_id)
    with database.read() as unit:
        positions = _chosen_for_knowledge(unit, choice or SceneChoice())
    run = run_over_scenes(
        database,
        positions,
        request_of=knowledge_request,
        ask=chain.invoke,
        store=partial(_stored, stores),
        workers=workers,
        progress=progress,
    )
    with database.read() as unit:
        stored = unit.scenes.list_as_of(with_text=False)
    return KnowledgeReport(
        **run.totals(prices),
        waiting=sum(each.record is not None and not each.record.knowledge_read for each in stored),
        without_record=sum(each.record is None for each in stored),
        indexing=drain_outbox(stores, project_id),
    )


def _chosen_for_knowledge(unit: UnitOfWork, choice: SceneChoice) -> list[StoryPosition]:
    """Return the scenes to read for who knows what, in story order, each once."""

    def is_due(scene: StoredScene) -> bool:
        return scene.record is not None and (choice.again or not scene.record.knowledge_read)

    return chosen_scenes(unit, choice, require=_require_record, is_due=is_due)


def _require_record(scene: StoredScene) -> None:
    if scene.record is None:
        raise UserInputError(
            f"scene {str(scene.position)!r} has no record, and who knows what is told of the memories of a record;"
            f" `novelgen extract {scene.project_id} --scene {scene.position}` makes one"
        )


def _stored(
    stores: MemoryStores, unit: UnitOfWork, read: StoredScene, result: SceneKnowledgeResult
) -> SceneKnowledgeReading:
    knowledge = result.knowledge
    if knowledge is None:
        return SceneKnowledgeReading.of(read, "failed", result)
    stored = still_as_read(unit, read)
    if stored is None or stored.record is None:
        return SceneKnowledgeReading.of(read, "overtaken", result)
    rules = KnowledgeRules(unit.knowledge_story(as_of=read.position))
    memories = {memory.source_id: memory for memory in rules.story.memories}

    def is_known(character_id: str, memory_id: str) -> bool:
        if memory_id not in memories:
            return False
        knowing = rules.knows(character_id, memories[memory_id])
        return knowing.knows and knowing.certainty >= SURELY_KNOWN

    learned = without_learnings(knowledge.learned, is_known)
    knowledge = knowledge.model_copy(update={"learned": learned})
    # What a record says of who knows what may be a person's word, which no model replaces: what an author wrote may be
    # theirs; of a supplied record it is somebody's until this pass has read the scene.
    was_read = stored.record is not None and stored.record.knowledge_read
    record = with_knowledge(
        stored.record,
        knowledge,
        keep=stored.record_origin == "author" or (stored.record_origin != "extracted" and not was_read),
    )
    replace_stored_scene(unit, stored.model_copy(update={"record": record}), stores=stores)
    told = sum(len(each.memory_ids) or 1 for each in record.learned)
    return SceneKnowledgeReading.of(read, "done", result, memories=len(knowledge.knowers), learned=told)


def estimate_knowledge(
    stores: MemoryStores, project_id: str, *, choice: SceneChoice | None = None, prices: TokenPrices | None = None
) -> ExtractionEstimate:
    """Estimate what reading scenes for who knows what will take; no model is asked."""
    chain = SceneKnowledgeChain(UnavailableChatModel(reason=NOTHING_ASKED), **bounds_of(stores))
    return estimate_over_scenes(
        stores.database(project_id),
        partial(_chosen_for_knowledge, choice=choice or SceneChoice()),
        request_of=knowledge_request,
        prompts_of=chain.prompt_tokens,
        answer_tokens=lambda request, prompts: (
            KNOWLEDGE_TOKENS_PER_MEMORY * len(request.memories) + KNOWLEDGE_ANSWER_TOKENS * prompts
        ),
        prices=prices,
    )


SHORTENED: Literal["shorten"] = "shorten"
"""Kind of the changes by which the short forms of a scene are taken back; those of one run are taken back together."""

ANSWER_TOKENS_PER_MEMORY = 28
"""A short form with its number, as JSON: 15 tokens of two hand-written books, and what stands around it."""


class SceneShorts(SceneReport):
    """What became of one scene."""

    memories: int = Field(default=0, description="Of which the short form is another one now.")


class ShortsReport(PassReport[SceneShorts]):
    """What became of the scenes of one run; `waiting` counts those whose short forms no run wrote anew."""

    change_id: int | None = Field(default=None, description="By which all of the run is taken back.")


def rewrite_shorts(
    stores: MemoryStores,
    project_id: str,
    model: BaseChatModel,
    *,
    choice: SceneChoice | None = None,
    workers: int = 1,
    prices: TokenPrices | None = None,
    progress: Callable[[int, int], Any] | None = None,
) -> ShortsReport:
    """Write the short forms of memories that a model read anew, scene by scene.

    Each scene is stored in one transaction, so that a broken run goes on where it stopped. What an author changed or
    brought is left alone. One undo takes a whole run back.
    """
    chain = ShortFormsChain(model, timeout_s=stores.settings.memory.summarization.timeout_s)
    database = stores.database(project_id)
    run_id = stores.clock().isoformat()
    change_ids: list[int] = []
    with database.read() as unit:
        positions = _chosen_for_shorts(unit, choice or SceneChoice())

    def store(unit: UnitOfWork, scene: StoredScene, result: ShortFormsResult) -> SceneShorts:
        done, change = _stored_shorts(stores, unit, scene, result, run_id=run_id)
        change_ids.extend([change.change_id] if change else [])
        return done

    run = run_over_scenes(
        database, positions, request_of=_request, ask=chain.invoke, store=store, workers=workers, progress=progress
    )
    with database.read() as unit:
        waiting = len(_chosen_for_shorts(unit, SceneChoice()))
    return ShortsReport(
        **run.totals(prices),
        waiting=waiting,
        change_id=change_ids[-1] if change_ids else None,
        indexing=drain_outbox(stores, project_id),
    )


def estimate_shorts(
    stores: MemoryStores, project_id: str, *, choice: SceneChoice | None = None, prices: TokenPrices | None = None
) -> ExtractionEstimate:
    """Estimate what writing short forms anew will take; no model is asked."""
    chain = ShortFormsChain(UnavailableChatModel(reason=NOTHING_ASKED))
    return estimate_over_scenes(
        stores.database(project_id),
        partial(_chosen_for_shorts, choice=choice or SceneChoice()),
        request_of=_request,
        prompts_of=lambda request: [chain.prompt_tokens(request)],
        answer_tokens=lambda request, _: ANSWER_TOKENS_PER_MEMORY * len(request.memories),
        prices=prices,
    )


def restore_shorts(unit: UnitOfWork, change: Change, *, stores: MemoryStores) -> None:
    """Take back all short forms of the run that a change was part of, but for those that changed again since."""
    for each in unit.journal.of_run(change):
        if each.undone_at is not None:
            continue
        scene = unit.scenes.by_id(each.entity_id)
        if scene is not None and scene.record is not None:
            back = {memory_id: (now, each.before[memory_id]) for memory_id, now in each.after.items()}
            record = _with_shorts(scene.record, back)
            replace_stored_scene(unit, scene.model_copy(update={"record": record}), stores=stores)
        unit.journal.mark_undone(each.change_id)


def _chosen_for_shorts(unit: UnitOfWork, choice: SceneChoice) -> list[StoryPosition]:
    """Return the scenes whose short forms are to be written anew."""
    changes = [each for each in unit.journal.list_all("scene") if each.kind == SHORTENED and each.undone_at is None]
    done = frozenset() if choice.again else {each.entity_id for each in changes}

    def is_due(scene: StoredScene) -> bool:
        is_read = scene.record is not None and scene.record_origin == "extracted" and bool(scene.record.memories)
        return is_read and scene.scene_id not in done

    return chosen_scenes(unit, choice, require=_require_extracted, is_due=is_due)


def _require_extracted(scene: StoredScene) -> None:
    if scene.record is None or scene.record_origin != "extracted":
        raise UserInputError(
            f"scene {str(scene.position)!r} has no record that a model made, and short forms of yours are left alone;"
            f" `novelgen memory edit` changes single ones"
        )


def _request(unit: UnitOfWork, scene: StoredScene) -> ShortFormsRequest:
    record = scene.record or SceneRecord(chapter_index=scene.chapter_index, scene_index=scene.scene_index)
    place = (scene.chapter_index, scene.scene_index)
    chunks = unit.memories.of_scenes([place], content_types=["memory"])
    of_author = {each.source_id for each in chunks if each.origin == "author"}
    memories = [each for each in record.memories if each.memory_id not in of_author]
    language = stated_language(unit.projects.require().language)
    return ShortFormsRequest(
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
        language=language or story_language("\n".join(each.content for each in memories)),
        memories=memories,
        names=list(dict.fromkeys(name for each in unit.entities.list_all() for name in each.entity.names())),
    )


def _stored_shorts(
    stores: MemoryStores, unit: UnitOfWork, read: StoredScene, result: ShortFormsResult, *, run_id: str
) -> tuple[SceneShorts, Change | None]:
    if result.shorts is None:
        return SceneShorts.of(read, "failed", result), None
    stored = still_as_read(unit, read)
    if stored is None or stored.record is None:
        return SceneShorts.of(read, "overtaken", result), None
    before = {each.memory_id: each.short for each in stored.record.memories}
    new = {memory_id: short for memory_id, short in result.shorts.items() if before.get(memory_id) != short}
    record = _with_shorts(stored.record, {memory_id: (before[memory_id], short) for memory_id, short in new.items()})
    if new:
        replace_stored_scene(unit, stored.model_copy(update={"record": record}), stores=stores)
    # A scene in which all were good is done as well: its change is an empty one.
    rows = [RowChange(table="", key={}, before={each: before[each] for each in new}, after=new)]
    change = unit.journal.keep(SHORTENED, stored.scene_id, run_id, rows, subject="scene")
    return SceneShorts.of(read, "done", result, memories=len(new)), change


def _with_shorts(record: SceneRecord, shorts: Mapping[str, tuple[str, str]]) -> SceneRecord:
    """Return a record with other short forms, each where the one stands that it is to replace."""
    memories = [
        memory.model_copy(update={"short": shorts[memory.memory_id][1]})
        if memory.memory_id in shorts and memory.short == shorts[memory.memory_id][0]
        else memory
        for memory in record.memories
    ]
    return record.model_copy(update={"memories": memories})
