"""Passes of a model over scenes, and those over existing records.

What they share is which scenes, side by side and in story order, and what is told. A pass says what it asks of a scene
and what it stores of the answer. A refusal that every scene would meet (key, model, quota, address) ends a run: those
scenes stay as they are and wait for the next. An interrupt, and what `progress` raises to end the run, store what was
read whole by then and are raised on.

Who knows what at the end of a scene, and short forms anew, are written into the records; what a person said there is
left alone, and the short forms of a whole run go back.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, Literal, Self, TypeVar

from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, Field

from novelgen.chains.question_chains import ShortFormsChain, ShortFormsRequest, ShortFormsResult
from novelgen.chains.scene_record_chain import ReadScene, SceneKnowledgeChain, SceneKnowledgeResult
from novelgen.errors import NovelgenError, UserInputError
from novelgen.language.language import stated_language, story_language
from novelgen.memory.knowledge_rules import KnowledgeRules
from novelgen.model_calls.usage import ModelUsage, ModelWork, TokenPrices, total_usage
from novelgen.models.position import StoryPosition
from novelgen.models.record import SceneRecord
from novelgen.reading.knowledge_reading import with_knowledge, without_learnings
from novelgen.reading.request import SceneResult
from runtime.ingest.indexing import IndexingResult, drain_outbox
from runtime.ingest.scene_writes import same_record, write_into_record
from runtime.ingest.story_before import knowledge_request
from runtime.model_providers.chat_models import UnavailableChatModel
from runtime.storage.change import Change, RowChange
from runtime.storage.database import ProjectDatabase, UnitOfWork
from runtime.storage.records import Scene
from runtime.stores import MemoryStores

RETRY_PAUSE_S = 1.0
"""So long a server that nobody answers at may take to come back, before the run is given up."""

SAMPLED_SCENES = 12
"""So many prompts are made in full for an estimate, to see how long the lists of the story so far are by now."""

MORE_THAN_WORKERS = 1
"""So many more jobs than workers may be begun and not dealt with: each knows little of those that still wait."""

NOTHING_ASKED = "nothing is asked for an estimate"

SceneOutcome = Literal["done", "failed", "overtaken"]


def bounds_of(stores: MemoryStores) -> dict[str, Any]:
    """Return the bounds of a chain that reads scenes, as the settings have them."""
    summarization = stores.settings.memory.summarization
    return {
        "timeout_s": summarization.timeout_s,
        "window_characters": summarization.window_characters,
        "prompt_list_tokens": summarization.prompt_list_tokens,
    }


@dataclass(frozen=True, slots=True)
class SceneChoice:
    """The scenes of a pass, by default the untried ones of all chapters."""

    scenes: tuple[StoryPosition, ...] = ()
    chapter_index: int | None = None
    retry_failed: bool = False
    again: bool = False


class SceneReport(ModelWork):
    """The result of one scene.

    `overtaken` says that somebody changed the scene or its record meanwhile; the answer was dropped. One that
    `failed` and had a record keeps that, whole.
    """

    chapter_index: int
    scene_index: int
    outcome: SceneOutcome
    reason: str | None = None

    @classmethod
    def of(cls, scene: Scene, outcome: SceneOutcome, result: SceneResult, **fields: Any) -> Self:
        """Return a scene's result with the model's usage."""
        place = {"chapter_index": scene.chapter_index, "scene_index": scene.scene_index}
        return cls(**place, outcome=outcome, reason=result.reason, **fields, **result.work())


Report = TypeVar("Report", bound=SceneReport)


class PassReport(BaseModel, Generic[Report]):
    """The results of a run's scenes, and of the vector index."""

    scenes: list[Report] = Field(default_factory=list)
    stopped: str | None = Field(
        default=None, description="Why the run was given up: the model refuses, and would every other scene."
    )
    waiting: int = Field(default=0, description="Scenes of the project that wait to be read, after the run.")
    model_calls: int = Field(default=0, description="Requests to the model in all of the run, repairs included.")
    usage: ModelUsage = Field(default_factory=ModelUsage, description="What the provider counted in all of the run.")
    price: float | None = Field(default=None, description="Of that, where prices are known; no discounts.")
    indexing: IndexingResult = Field(default_factory=IndexingResult)

    def count(self, outcome: SceneOutcome) -> int:
        """Return how many scenes had that outcome."""
        return sum(scene.outcome == outcome for scene in self.scenes)


class ExtractionEstimate(BaseModel):
    """An estimate of a pass, without repairs and follow-up questions."""

    scenes: int = 0
    calls: int = Field(
        default=0, description="Of the model: one for each window of a scene, and one at the end of a chapter."
    )
    input_tokens: int = 0
    output_tokens: int = 0
    price: float | None = Field(default=None, description="Where prices are known; without any discount.")

    def priced(self, prices: TokenPrices | None) -> ExtractionEstimate:
        """Return the estimate with its price."""
        price = (prices or TokenPrices()).price_of(input_tokens=self.input_tokens, output_tokens=self.output_tokens)
        return self.model_copy(update={"price": price})


def chosen_scenes(
    unit: UnitOfWork, choice: SceneChoice, *, require: Callable[[Scene], None], is_due: Callable[[Scene], bool]
) -> list[StoryPosition]:
    """Return a pass's distinct scenes in story order, by name or due."""
    if not choice.scenes:
        stored_scenes = unit.scenes.list_as_of(with_text=False)
        return [
            scene.position
            for scene in stored_scenes
            if choice.chapter_index in (None, scene.chapter_index) and is_due(scene)
        ]
    named_scenes = [unit.scenes.require(place) for place in sorted(set(choice.scenes))]
    for scene in named_scenes:
        require(scene)
    return [scene.position for scene in named_scenes]


Position = TypeVar("Position")


def spread(positions: Sequence[Position], *, about: int = SAMPLED_SCENES) -> Sequence[Position]:
    """Return about so many of the scenes that are to be read, spread over them."""
    return positions[:: max(1, len(positions) // about)]


Request = TypeVar("Request")


def estimate_over_scenes(
    database: ProjectDatabase,
    choose: Callable[[UnitOfWork], Sequence[StoryPosition]],
    *,
    request_of: Callable[[UnitOfWork, Scene], Request],
    prompts_of: Callable[[Request], Sequence[int]],
    answer_tokens: Callable[[Request, int], float],
    prices: TokenPrices | None,
) -> ExtractionEstimate:
    """Estimate a pass from sampled prompts and typical answers.

    The other scenes count as long as those; `answer_tokens` is told a request and how many prompts it takes.
    """
    with database.read() as unit:
        positions = choose(unit)
        requests = [request_of(unit, unit.scenes.require(position)) for position in spread(positions)]
    prompts = [prompts_of(request) for request in requests]
    share = len(positions) / len(requests) if requests else 0.0
    answers = sum(
        answer_tokens(request, len(asked_numbers)) for request, asked_numbers in zip(requests, prompts, strict=True)
    )
    return ExtractionEstimate(
        scenes=len(positions),
        calls=round(share * sum(map(len, prompts))),
        input_tokens=round(share * sum(map(sum, prompts))),
        output_tokens=round(share * answers),
    ).priced(prices)


Answer = TypeVar("Answer", bound=ReadScene | SceneResult)
"""What a model made of a scene."""


@dataclass
class PassRun(Generic[Answer, Report]):
    """One run of a pass.

    Everything but model calls happens in one thread.

    `begin` returns the work that lets the model read a scene, by what is stored now; `finish` stores what it said.
    """

    begin: Callable[[StoryPosition], Callable[[], Answer]]
    finish: Callable[[StoryPosition, Answer], Report]
    scenes: list[Report] = field(default_factory=list)
    refusal: str | None = None
    refused: list[ModelWork] = field(default_factory=list)
    """What went into scenes that the model refused."""

    def read(
        self,
        positions: Sequence[StoryPosition],
        *,
        workers: int,
        progress: Callable[[int, int], Any] | None,
        then: Callable[[StoryPosition], Any] = lambda _: None,
    ) -> None:
        """Read scenes in turn, optionally several at a time, calling `then` after each.

        A scene is begun in this thread, and not before there is a free worker, so that it can look at what was made of
        those before it by then. With one worker each is begun after the one before was dealt with.
        """
        waiting_positions = deque(positions)
        running_reads: deque[tuple[StoryPosition, Future[Answer]]] = deque()
        most_begun = 1 if workers == 1 else workers + MORE_THAN_WORKERS
        try:
            while True:
                running = [future for _, future in running_reads if not future.done()]
                while waiting_positions and len(running) < workers and len(running_reads) < most_begun:
                    running_reads.append(
                        (waiting_positions[0], _started(self._begin_reading(waiting_positions.popleft())))
                    )
                    running.append(running_reads[-1][1])
                if not running_reads:
                    return
                if not running_reads[0][1].done():
                    wait(running, return_when=FIRST_COMPLETED)
                    continue
                position, future = running_reads.popleft()
                self._take(position, future.result())
                if self.refusal is not None:
                    waiting_positions.clear()
                else:
                    then(position)
                if progress is not None:
                    progress(len(self.scenes), len(positions))
        except NovelgenError:
            # Nothing more can be stored.
            raise
        except BaseException:
            # Somebody wants it to end: what is finished by now is stored, and nothing is waited for.
            for position, future in running_reads:
                if future.done() and future.exception() is None:
                    self._take(position, future.result())
            raise

    def totals(self, prices: TokenPrices | None, *, beside: Iterable[ModelWork] = ()) -> dict[str, Any]:
        """Return a report's totals, including additional questions."""
        works: list[ModelWork] = [*self.scenes, *beside, *self.refused]
        usage = total_usage(work.usage for work in works)
        return {
            "scenes": self.scenes,
            "stopped": self.refusal,
            "model_calls": sum(work.model_calls for work in works),
            "usage": usage,
            "price": (prices or TokenPrices()).price_of(
                input_tokens=usage.input_tokens, output_tokens=usage.output_tokens
            ),
        }

    def _begin_reading(self, position: StoryPosition) -> Callable[[], Answer]:
        work = self.begin(position)

        def asked() -> Answer:
            """Ask once more when nobody was there: a local server may be starting again."""
            answer = work()
            if answer.is_nobody_there:
                time.sleep(RETRY_PAUSE_S)
                answer = work()
            return answer

        return asked

    def _take(self, position: StoryPosition, answer: Answer) -> None:
        """Store an answer, noting a refusal."""
        if answer.is_refused:
            self.refusal = self.refusal or answer.reason
            self.refused.append(ModelWork(model_calls=answer.model_calls, usage=answer.usage))
        else:
            self.scenes.append(self.finish(position, answer))


def run_over_scenes(
    database: ProjectDatabase,
    positions: Sequence[StoryPosition],
    *,
    request_of: Callable[[UnitOfWork, Scene], Request],
    ask: Callable[[Request], Answer],
    store: Callable[[UnitOfWork, Scene, Answer], Report],
    workers: int,
    progress: Callable[[int, int], Any] | None,
) -> PassRun[Answer, Report]:
    """Run a pass of independent requests, with a transaction per answer.

    `store` is given the scene as it was when the model was asked.
    """
    scenes_by_position: dict[StoryPosition, Scene] = {}

    def begin(position: StoryPosition) -> Callable[[], Answer]:
        with database.read() as unit:
            scenes_by_position[position] = unit.scenes.require(position)
            request = request_of(unit, scenes_by_position[position])
        return lambda: ask(request)

    def finish(position: StoryPosition, answer: Answer) -> Report:
        with database.write() as unit:
            return store(unit, scenes_by_position.pop(position), answer)

    run = PassRun(begin, finish)
    run.read(positions, workers=workers, progress=progress)
    return run


def still_as_read(unit: UnitOfWork, scene: Scene) -> Scene | None:
    """Return the stored scene, or None after a change since its prompt."""
    stored_scene = unit.scenes.get(scene.position)
    is_same = (
        stored_scene is not None and stored_scene.text == scene.text and same_record(stored_scene.record, scene.record)
    )
    return stored_scene if is_same else None


def _started(work: Callable[[], Answer]) -> Future[Answer]:
    """Run in a daemon thread, which never keeps the interpreter from exiting, in a copy of the context variables."""
    future: Future[Answer] = Future()

    def run() -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - raised again where the result is taken
            future.set_exception(error)
        else:
            future.set_result(result)

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(run,), name="novelgen-reading", daemon=True).start()
    return future


SURELY_KNOWN = 0.8
"""What somebody knows with this certainty without the scene, they do not learn in it."""

KNOWLEDGE_TOKENS_PER_MEMORY = 60
KNOWLEDGE_ANSWER_TOKENS = 150
"""How long an answer about who knows what is: for each memory of the scene, and for what is learnt in it."""


class SceneKnowledgeReading(SceneReport):
    """The result of one scene.

    A `failed` or `overtaken` one is unchanged.
    """

    memories: int = Field(default=0, description="Of which it is told now who knows them.")
    learned: int = Field(default=0, description="Earlier memories that somebody learnt, each with each who did.")


class KnowledgeReport(PassReport[SceneKnowledgeReading]):
    """The results of a run's scenes.

    `waiting` counts those with a record.
    """

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
    """Read character knowledge of recorded scenes, in story order.

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
        stored_scenes = unit.scenes.list_as_of(with_text=False)
    return KnowledgeReport(
        **run.totals(prices),
        waiting=sum(scene.record is not None and not scene.record.knowledge_read for scene in stored_scenes),
        without_record=sum(scene.record is None for scene in stored_scenes),
        indexing=drain_outbox(stores, project_id),
    )


def _chosen_for_knowledge(unit: UnitOfWork, choice: SceneChoice) -> list[StoryPosition]:
    """Return the distinct scenes for the knowledge pass, in story order."""

    def is_due(scene: Scene) -> bool:
        return scene.record is not None and (choice.again or not scene.record.knowledge_read)

    return chosen_scenes(unit, choice, require=_require_record, is_due=is_due)


def _require_record(scene: Scene) -> None:
    if scene.record is None:
        raise UserInputError(
            f"scene {str(scene.position)!r} has no record, and who knows what is told of the memories of a record;"
            f" `novelgen extract {scene.project_id} --scene {scene.position}` makes one"
        )


def _stored(
    stores: MemoryStores, unit: UnitOfWork, scene: Scene, result: SceneKnowledgeResult
) -> SceneKnowledgeReading:
    knowledge = result.knowledge
    if knowledge is None:
        return SceneKnowledgeReading.of(scene, "failed", result)
    stored_scene = still_as_read(unit, scene)
    if stored_scene is None or stored_scene.record is None:
        return SceneKnowledgeReading.of(scene, "overtaken", result)
    rules = KnowledgeRules(unit.knowledge_story(as_of=scene.position))
    memories = {memory.source_id: memory for memory in rules.story.memories}

    def is_known(character_id: str, memory_id: str) -> bool:
        if memory_id not in memories:
            return False
        knowing = rules.knows(character_id, memories[memory_id])
        return knowing.knows and knowing.certainty >= SURELY_KNOWN

    learned_learnings = without_learnings(knowledge.learned, is_known)
    knowledge = knowledge.model_copy(update={"learned": learned_learnings})
    # What a record says of who knows what may be a person's word, which no model replaces: what an author wrote may be
    # theirs; of a supplied record it is somebody's until this pass has read the scene.
    was_read = stored_scene.record is not None and stored_scene.record.knowledge_read
    record = with_knowledge(
        stored_scene.record,
        knowledge,
        keep=stored_scene.record_origin == "author" or (stored_scene.record_origin != "extracted" and not was_read),
    )
    write_into_record(unit, stored_scene, record, stores=stores)
    told_count = sum(len(learning.memory_ids) or 1 for learning in record.learned)
    return SceneKnowledgeReading.of(scene, "done", result, memories=len(knowledge.knowers), learned=told_count)


def estimate_knowledge(
    stores: MemoryStores, project_id: str, *, choice: SceneChoice | None = None, prices: TokenPrices | None = None
) -> ExtractionEstimate:
    """Estimate the knowledge pass without asking a model."""
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
    """The result of one scene."""

    memories: int = Field(default=0, description="Of which the short form is another one now.")


class ShortsReport(PassReport[SceneShorts]):
    """The results of a run's scenes.

    `waiting` counts those without new short forms.
    """

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

    def store(unit: UnitOfWork, scene: Scene, result: ShortFormsResult) -> SceneShorts:
        scene_shorts, change = _stored_shorts(stores, unit, scene, result, run_id=run_id)
        change_ids.extend([change.change_id] if change else [])
        return scene_shorts

    run = run_over_scenes(
        database, positions, request_of=_request, ask=chain.invoke, store=store, workers=workers, progress=progress
    )
    with database.read() as unit:
        waiting_count = len(_chosen_for_shorts(unit, SceneChoice()))
    return ShortsReport(
        **run.totals(prices),
        waiting=waiting_count,
        change_id=change_ids[-1] if change_ids else None,
        indexing=drain_outbox(stores, project_id),
    )


def estimate_shorts(
    stores: MemoryStores, project_id: str, *, choice: SceneChoice | None = None, prices: TokenPrices | None = None
) -> ExtractionEstimate:
    """Estimate the short forms pass without asking a model."""
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
    """Undo a run's short forms, except for later changes."""
    for other_change in unit.journal.of_run(change):
        if other_change.undone_at is not None:
            continue
        scene = unit.scenes.by_id(other_change.entity_id)
        if scene is not None and scene.record is not None:
            back = {memory_id: (now, other_change.before[memory_id]) for memory_id, now in other_change.after.items()}
            write_into_record(unit, scene, _with_shorts(scene.record, back), stores=stores)
        unit.journal.mark_undone(other_change.change_id)


def _chosen_for_shorts(unit: UnitOfWork, choice: SceneChoice) -> list[StoryPosition]:
    """Return the scenes for the short forms pass."""
    changes = [
        change for change in unit.journal.list_all("scene") if change.kind == SHORTENED and change.undone_at is None
    ]
    done_ids = frozenset() if choice.again else {change.entity_id for change in changes}

    def is_due(scene: Scene) -> bool:
        is_read = scene.record is not None and scene.record_origin == "extracted" and bool(scene.record.memories)
        return is_read and scene.scene_id not in done_ids

    return chosen_scenes(unit, choice, require=_require_extracted, is_due=is_due)


def _require_extracted(scene: Scene) -> None:
    if scene.record is None or scene.record_origin != "extracted":
        raise UserInputError(
            f"scene {str(scene.position)!r} has no record that a model made, and short forms of yours are left alone;"
            f" `novelgen memory edit` changes single ones"
        )


def _request(unit: UnitOfWork, scene: Scene) -> ShortFormsRequest:
    record = scene.record or SceneRecord(chapter_index=scene.chapter_index, scene_index=scene.scene_index)
    place = (scene.chapter_index, scene.scene_index)
    chunks = unit.memories.of_scenes([place], content_types=["memory"])
    of_author = {memory.source_id for memory in chunks if memory.origin == "author"}
    memories = [memory for memory in record.memories if memory.memory_id not in of_author]
    language = stated_language(unit.projects.require().language)
    return ShortFormsRequest(
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
        language=language or story_language("\n".join(memory.content for memory in memories)),
        memories=memories,
        names=list(dict.fromkeys(name for entity in unit.entities.list_all() for name in entity.entity.names())),
    )


def _stored_shorts(
    stores: MemoryStores, unit: UnitOfWork, scene: Scene, result: ShortFormsResult, *, run_id: str
) -> tuple[SceneShorts, Change | None]:
    if result.shorts is None:
        return SceneShorts.of(scene, "failed", result), None
    stored_scene = still_as_read(unit, scene)
    if stored_scene is None or stored_scene.record is None:
        return SceneShorts.of(scene, "overtaken", result), None
    before = {memory.memory_id: memory.short for memory in stored_scene.record.memories}
    new = {memory_id: short for memory_id, short in result.shorts.items() if before.get(memory_id) != short}
    record = _with_shorts(
        stored_scene.record, {memory_id: (before[memory_id], short) for memory_id, short in new.items()}
    )
    if new:
        write_into_record(unit, stored_scene, record, stores=stores)
    # A scene in which all were good is done as well: its change is an empty one.
    rows = [RowChange(table="", key={}, before={entity_id: before[entity_id] for entity_id in new}, after=new)]
    change = unit.journal.keep(SHORTENED, stored_scene.scene_id, run_id, rows, subject="scene")
    return SceneShorts.of(scene, "done", result, memories=len(new)), change


def _with_shorts(record: SceneRecord, shorts: Mapping[str, tuple[str, str]]) -> SceneRecord:
    """Return a record with other short forms, each where the one stands that it is to replace."""
    memories = [
        memory.model_copy(update={"short": shorts[memory.memory_id][1]})
        if memory.memory_id in shorts and memory.short == shorts[memory.memory_id][0]
        else memory
        for memory in record.memories
    ]
    return record.model_copy(update={"memories": memories})
