"""Letting a model read scenes that have a record for who knows what, and writing that into their records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic import Field

from novelgen.chains.scene_knowledge_chain import SceneKnowledgeChain, SceneKnowledgeResult
from novelgen.errors import UserInputError
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.model_calls.usage import TokenPrices
from novelgen.models.position import StoryPosition
from novelgen.models.record import RecordedLearning
from novelgen.reading.knowledge_reading import with_knowledge, without_learnings
from runtime.index.chat_models import UnavailableChatModel
from runtime.ingest.indexing import drain_outbox
from runtime.ingest.scene_passes import (
    NOTHING_ASKED,
    ExtractionEstimate,
    PassReport,
    SceneChoice,
    SceneOutcome,
    SceneReport,
    bounds_of,
    extrapolated,
    run_over_scenes,
    spread,
    still_as_read,
)
from runtime.ingest.scene_writes import replace_stored_scene
from runtime.ingest.story_before import knowledge_request
from runtime.storage.database import UnitOfWork
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
        positions = chosen_for_knowledge(unit, choice or SceneChoice())
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


def chosen_for_knowledge(unit: UnitOfWork, choice: SceneChoice) -> list[StoryPosition]:
    """Return the scenes to read for who knows what, in story order, each once."""
    if choice.scenes:
        return [_require_record(unit.scenes.require(place)) for place in sorted(set(choice.scenes))]
    return [
        scene.position
        for scene in unit.scenes.list_as_of(with_text=False)
        if choice.chapter_index in (None, scene.chapter_index)
        and scene.record is not None
        and (choice.again or not scene.record.knowledge_read)
    ]


def _require_record(scene: StoredScene) -> StoryPosition:
    if scene.record is None:
        raise UserInputError(
            f"scene {str(scene.position)!r} has no record, and who knows what is told of the memories of a record;"
            f" `novelgen extract {scene.project_id} --scene {scene.position}` makes one"
        )
    return scene.position


def _stored(
    stores: MemoryStores, unit: UnitOfWork, read: StoredScene, result: SceneKnowledgeResult
) -> SceneKnowledgeReading:
    knowledge = result.knowledge
    if knowledge is None:
        return _outcome(read, result, "failed")
    stored = still_as_read(unit, read)
    if stored is None or stored.record is None:
        return _outcome(read, result, "overtaken")
    rules = KnowledgeRules(unit.knowledge_story(as_of=read.position))
    learned = without_learnings(knowledge.learned, _knows_already(rules))
    knowledge = knowledge.model_copy(update={"learned": learned})
    record = with_knowledge(stored.record, knowledge, keep=_is_of_a_person(stored))
    replace_stored_scene(unit, stored.model_copy(update={"record": record}), stores=stores)
    return _outcome(read, result, "done", memories=len(knowledge.knowers), learned=record.learned)


def _knows_already(rules: KnowledgeRules) -> Callable[[str, str], bool]:
    memories = {memory.source_id: memory for memory in rules.story.memories}

    def is_known(character_id: str, memory_id: str) -> bool:
        if memory_id not in memories:
            return False
        knowing = rules.knows(character_id, memories[memory_id])
        return knowing.knows and knowing.certainty >= SURELY_KNOWN

    return is_known


def _is_of_a_person(scene: StoredScene) -> bool:
    """Tell whether what a record says of who knows what may be a person's word: then no model replaces it.

    What an author wrote may be theirs; of a supplied record it is somebody's until this pass has read the scene.
    """
    was_read = scene.record is not None and scene.record.knowledge_read
    return scene.record_origin == "author" or (scene.record_origin != "extracted" and not was_read)


def _outcome(
    scene: StoredScene,
    result: SceneKnowledgeResult,
    outcome: SceneOutcome,
    *,
    memories: int = 0,
    learned: Sequence[RecordedLearning] = (),
) -> SceneKnowledgeReading:
    return SceneKnowledgeReading(
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
        outcome=outcome,
        reason=result.reason,
        memories=memories,
        learned=sum(len(each.memory_ids) or 1 for each in learned),
        **result.work(),
    )


def estimate_knowledge(
    stores: MemoryStores, project_id: str, *, choice: SceneChoice | None = None, prices: TokenPrices | None = None
) -> ExtractionEstimate:
    """Estimate what reading scenes for who knows what will take; no model is asked.

    The prompts of scenes spread over those that are to be read are really made; the others count as long as those.
    """
    chain = SceneKnowledgeChain(UnavailableChatModel(reason=NOTHING_ASKED), **bounds_of(stores))
    with stores.database(project_id).read() as unit:
        positions = chosen_for_knowledge(unit, choice or SceneChoice())
        sampled = [knowledge_request(unit, unit.scenes.require(each)) for each in spread(positions)]
    prompts = [chain.prompt_tokens(request) for request in sampled]
    memories = sum(len(request.memories) for request in sampled)
    answers = KNOWLEDGE_TOKENS_PER_MEMORY * memories + KNOWLEDGE_ANSWER_TOKENS * sum(map(len, prompts))
    return extrapolated(prompts, scenes=len(positions), output_tokens=answers, prices=prices)
