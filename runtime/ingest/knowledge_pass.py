"""Letting a model read scenes that have a record for who knows what, and writing that into their records."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, Field

from novelgen.chains.scene_knowledge_chain import SceneKnowledgeChain, SceneKnowledgeResult
from novelgen.errors import UserInputError
from novelgen.language.language import story_language
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.model_calls.usage import ModelUsage, TokenPrices, total_usage
from novelgen.models.context import ReportIssue
from novelgen.models.position import StoryPosition
from novelgen.models.record import RecordedLearning, SceneRecord
from novelgen.reading.knowledge_lists import SceneKnowledgeRequest, earlier_memories, judged_memories, scene_cast
from novelgen.reading.knowledge_reading import with_knowledge, without_learnings
from runtime.ingest.extraction import RETRY_PAUSE_S, known_language
from runtime.ingest.indexing import IndexingResult, drain_outbox
from runtime.ingest.reading_ahead import ReadingAhead
from runtime.ingest.scene_writes import replace_stored_scene, same_record
from runtime.storage.records import StoredScene
from runtime.storage.unit import UnitOfWork
from runtime.stores import MemoryStores

KnowledgeOutcome = Literal["done", "failed", "overtaken"]

SURELY_KNOWN = 0.8
"""What somebody knows with this certainty without the scene, they do not learn in it."""


@dataclass(frozen=True, slots=True)
class KnowledgeChoice:
    """What is asked for; by itself, the scenes of all chapters that have a record and were not read for this yet."""

    scenes: tuple[StoryPosition, ...] = ()
    chapter_index: int | None = None
    again: bool = False


class SceneKnowledgeReading(BaseModel):
    """What became of one scene; one that `failed` or was `overtaken` by a change meanwhile is as it was."""

    chapter_index: int
    scene_index: int
    outcome: KnowledgeOutcome
    reason: str | None = None
    memories: int = Field(default=0, description="Of which it is told now who knows them.")
    learned: int = Field(default=0, description="Earlier memories that somebody learnt, each with each who did.")
    issues: list[ReportIssue] = Field(default_factory=list)
    model_calls: int = 0
    usage: ModelUsage = Field(default_factory=ModelUsage, description="What the provider counted.")
    elapsed_s: float = 0.0


class KnowledgeReport(BaseModel):
    """What became of the scenes of one run."""

    scenes: list[SceneKnowledgeReading] = Field(default_factory=list)
    stopped: str | None = Field(
        default=None, description="Why the run was given up: the model refuses, and would every other scene."
    )
    waiting: int = Field(default=0, description="Scenes with a record that were not read for it, after the run.")
    without_record: int = Field(default=0, description="Scenes that have no record: this pass reads none of them.")
    usage: ModelUsage = Field(default_factory=ModelUsage, description="What the provider counted.")
    price: float | None = Field(default=None, description="Of that, where prices are known; no discounts.")
    indexing: IndexingResult = Field(default_factory=IndexingResult)

    def count(self, outcome: KnowledgeOutcome) -> int:
        """Return how many scenes had that outcome."""
        return sum(scene.outcome == outcome for scene in self.scenes)


def read_knowledge(
    stores: MemoryStores,
    project_id: str,
    chain: SceneKnowledgeChain,
    *,
    choice: KnowledgeChoice | None = None,
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
    with stores.database(project_id).read() as unit:
        positions = chosen_for_knowledge(unit, choice or KnowledgeChoice())
    run = _KnowledgeRun(stores, project_id, chain)
    ahead = ReadingAhead(positions, begin=run.begin, workers=workers)
    try:
        for _, read in ahead:
            run.finish(read)
            if run.refusal is not None:
                ahead.stop()
            if progress is not None:
                progress(len(run.scenes), len(positions))
    except KeyboardInterrupt:
        ahead.stop()
        for _, read in ahead.take_finished():
            run.finish(read)
        raise
    with stores.database(project_id).read() as unit:
        stored = unit.scenes.list_as_of(with_text=False)
    usage = total_usage([*(scene.usage for scene in run.scenes), run.refused_usage])
    return KnowledgeReport(
        scenes=run.scenes,
        stopped=run.refusal,
        waiting=sum(each.record is not None and not each.record.knowledge_read for each in stored),
        without_record=sum(each.record is None for each in stored),
        usage=usage,
        price=(prices or TokenPrices()).price_of(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens),
        indexing=drain_outbox(stores, project_id),
    )


def chosen_for_knowledge(unit: UnitOfWork, choice: KnowledgeChoice) -> list[StoryPosition]:
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


def knowledge_request(unit: UnitOfWork, scene: StoredScene) -> SceneKnowledgeRequest:
    """Return what a model is given of a scene that has a record, by what is stored now."""
    record = scene.record or SceneRecord(chapter_index=scene.chapter_index, scene_index=scene.scene_index)
    text = scene.text or ""
    after = StoryPosition(scene.chapter_index, scene.scene_index + 1)
    cast = scene_cast(text, unit.entities.list_as_of(as_of=after), record)
    return SceneKnowledgeRequest(
        project_id=scene.project_id,
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
        text=text,
        language=known_language(unit.projects.require().language) or story_language(text),
        cast=cast,
        memories=judged_memories(record, cast),
        earlier=earlier_memories(text, unit.knowledge_story(as_of=scene.position), cast),
        stand_ins=unit.merges.survivors(),
    )


@dataclass(frozen=True, slots=True)
class _Reading:
    """A scene as it stood when the model was asked, and what it answered."""

    scene: StoredScene
    result: SceneKnowledgeResult


class _KnowledgeRun:
    """One run over the scenes of a project; everything but the model's calls happens in one thread."""

    def __init__(self, stores: MemoryStores, project_id: str, chain: SceneKnowledgeChain) -> None:
        self._stores = stores
        self._database = stores.database(project_id)
        self._chain = chain
        self.scenes: list[SceneKnowledgeReading] = []
        self.refusal: str | None = None
        self.refused_usage = ModelUsage()

    def begin(self, position: StoryPosition) -> Callable[[], _Reading]:
        """Return the work that lets the model read a scene, by what is stored now."""
        with self._database.read() as unit:
            scene = unit.scenes.require(position)
            request = knowledge_request(unit, scene)
        return lambda: _Reading(scene, _answer(self._chain, request))

    def finish(self, reading: _Reading) -> None:
        """Store what the model said, unless the scene changed meanwhile; a refusal is only noted."""
        result = reading.result
        if result.is_refused:
            self.refusal = self.refusal or result.reason
            self.refused_usage = self.refused_usage.plus(result.usage)
            return
        with self._database.write() as unit:
            self.scenes.append(self._stored(unit, reading.scene, result))

    def _stored(self, unit: UnitOfWork, read: StoredScene, result: SceneKnowledgeResult) -> SceneKnowledgeReading:
        knowledge = result.knowledge
        if knowledge is None:
            return _outcome(read, result, "failed")
        stored = unit.scenes.get(read.position)
        if stored is None or stored.record is None or stored.text != read.text:
            return _outcome(read, result, "overtaken")
        if not same_record(stored.record, read.record):
            return _outcome(read, result, "overtaken")
        rules = KnowledgeRules(unit.knowledge_story(as_of=read.position))
        learned = without_learnings(knowledge.learned, _knows_already(rules))
        knowledge = knowledge.model_copy(update={"learned": learned})
        record = with_knowledge(stored.record, knowledge, keep=_is_of_a_person(stored))
        replace_stored_scene(
            unit,
            stored.model_copy(update={"record": record}),
            settings=self._stores.settings.memory.ingest,
            created_at=self._stores.clock(),
        )
        return _outcome(read, result, "done", memories=len(knowledge.knowers), learned=record.learned)


def _answer(chain: SceneKnowledgeChain, request: SceneKnowledgeRequest) -> SceneKnowledgeResult:
    """Let the model read a scene, once more when nobody was there: a local server may be starting again."""
    result = chain.invoke(request)
    if result.is_nobody_there:
        time.sleep(RETRY_PAUSE_S)
        result = chain.invoke(request)
    return result


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
    outcome: KnowledgeOutcome,
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
        issues=result.issues,
        model_calls=result.model_calls,
        usage=result.usage,
        elapsed_s=result.elapsed_s,
    )
