"""The chapter review: identities, ended threads and importances.

Scenes are read one by one, so what spans them is put right when all of a chapter are read. First, without a model,
equal names become one and trifles that nobody touched for long fade; then a model is asked once. All that it says
is stored in one transaction, in the scene where it belongs: an identity as a change that `novelgen undo`
takes back, an end of a thread and an importance in the record of its scene. A chapter is not asked again before its
scenes change, and one that failed not before a run over the whole story. Nothing of it fails an extraction.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from pydantic import Field

from novelgen.chains.question_chains import ChapterPassChain
from novelgen.errors import StoreError, UnknownProjectError, UserInputError
from novelgen.language.candidates import better_display_name
from novelgen.language.language import StoryLanguage, story_language
from novelgen.memory.merge import merged_moves, with_joined_memory
from novelgen.model_calls.usage import ModelWork
from novelgen.models.context import ReportIssue
from novelgen.models.entity import renamed
from novelgen.models.folds import said_pay_off
from novelgen.models.position import Place, StoryPosition
from novelgen.models.record import RecordedLoopAdvance, RecordedLoopResolution, SceneRecord
from novelgen.models.state import LoopImportance, OpenLoop
from novelgen.reading.chapter_reading import CHAPTER_STAGE, ChapterReading
from novelgen.reading.request import NewName, SameEntities
from runtime.ingest.entities import alike_names, part_names_in, store_identities_in
from runtime.ingest.scene_writes import replace_stored_scene, write_into_record
from runtime.ingest.story_before import chapter_request
from runtime.storage.change import Change
from runtime.storage.database import UnitOfWork
from runtime.storage.records import Scene
from runtime.stores import MemoryStores

logger = logging.getLogger(__name__)

RECONCILED_SETTING = "reconciled_chapters"
"""Key of the project's stored settings: chapter to the mark of the scenes that were reconciled."""

FADES_AFTER: Mapping[LoopImportance, tuple[int, int]] = {"low": (3, 20), "medium": (12, 100)}
"""Chapters and scenes of silence after which a thread of that importance waits no longer; the others never fade."""

MIN_MEMORIES = 5
"""So few memories are not weighed against each other."""

_FAILED = "failed"
"""Stands in the place of a mark where the model gave no usable answer; the next run asks again."""

_FADED: Mapping[StoryLanguage, str] = {"en": "faded: nothing touched it since {}", "zh": "淡出：自 {} 起再没有提起"}
_SAME_AS: Mapping[StoryLanguage, str] = {"en": "same as {}", "zh": "同 {}"}

Ending = tuple[Place, RecordedLoopResolution | RecordedLoopAdvance]
"""The end of a thread, or when one is to be paid that another was joined to, with the scene in which it comes."""

PassOutcome = Literal["done", "unchanged", "waiting", "failed", "overtaken"]


class ChapterPass(ModelWork):
    """The result of a chapter's review.

    `unchanged` was reconciled before; `waiting` has scenes that nobody read yet, or none that a model read;
    `failed` got no usable answer, `overtaken` was changed by somebody meanwhile: the next run tries both again.
    """

    chapter_index: int
    outcome: PassOutcome
    names: list[NewName] = Field(default_factory=list, description="Names that known entities got.")
    changes: list[Change] = Field(default_factory=list, description="Entities that became one.")
    parted: list[Change] = Field(
        default_factory=list, description="Merges undone and names split off: they belong to another one."
    )
    ended_threads: list[str] = Field(default_factory=list, description="Ids, joined and faded ones included.")
    display_names: dict[str, str] = Field(
        default_factory=dict, description="Id to the name that the story gave to one listed under a makeshift."
    )
    weighed_memories: int = Field(default=0, description="Memories that got another importance.")
    joined_memories: dict[str, str] = Field(
        default_factory=dict, description="memory_id to that of the one that tells the same and stands for both."
    )


def chapters_to_retry(unit: UnitOfWork) -> list[int]:
    """Return the chapters of which an earlier pass failed, in story order."""
    return sorted(int(chapter) for chapter, mark in _marks(unit).items() if mark == _FAILED)


def chapter_left_behind(unit: UnitOfWork, positions: Sequence[StoryPosition]) -> list[int]:
    """Return the previous chapter, unless its review failed."""
    if not positions:
        return []
    first_chapter = min(positions).chapter_index or 0
    before = [
        scene.chapter_index for scene in unit.scenes.list_as_of(as_of=StoryPosition(first_chapter, 0), with_text=False)
    ]
    return [before[-1]] if before and _marks(unit).get(str(before[-1])) != _FAILED else []


def reconcile_chapter(
    stores: MemoryStores,
    project_id: str,
    chapter_index: int,
    *,
    model: BaseChatModel | None = None,
    again: bool = False,
) -> ChapterPass:
    """Review a read chapter once, across its scenes."""
    try:
        return _reconciled(stores, project_id, chapter_index, model, again=again)
    except UnknownProjectError:
        raise
    except (StoreError, UserInputError) as error:
        message = f"chapter {chapter_index} was not reconciled: {error}"
        logger.warning("project %r: %s", project_id, message)
        issue = ReportIssue(stage=CHAPTER_STAGE, kind="unavailable", message=message)
        return ChapterPass(chapter_index=chapter_index, outcome="failed", issues=[issue])


def reconcile_chapters(
    stores: MemoryStores,
    project_id: str,
    *,
    model: BaseChatModel | None = None,
    chapters: Iterable[int] | None = None,
    again: bool = False,
    progress: Callable[[int, int], Any] | None = None,
) -> list[ChapterPass]:
    """Review chapters in story order.

    See `reconcile_chapter`.
    """
    if chapters is None:
        with stores.database(project_id).read() as unit:
            unit.projects.require()
            chapters = [scene.chapter_index for scene in unit.scenes.list_as_of()]
    wanted_numbers = sorted(set(chapters))
    chapter_passes: list[ChapterPass] = []
    for chapter_index in wanted_numbers:
        chapter_passes.append(reconcile_chapter(stores, project_id, chapter_index, model=model, again=again))
        if progress is not None:
            progress(len(chapter_passes), len(wanted_numbers))
    return chapter_passes


def _reconciled(
    stores: MemoryStores, project_id: str, chapter_index: int, model: BaseChatModel | None, *, again: bool
) -> ChapterPass:
    database = stores.database(project_id)
    with database.read() as unit:
        unit.projects.require()
        scenes = _scenes_of(unit, chapter_index)
        mark = _mark(scenes)
        known_mark = _marks(unit).get(str(chapter_index))
    # A model must have read scenes of the chapter, and none wait to be read.
    is_waiting = any(scene.record is None and scene.extraction_status in ("none", "pending") for scene in scenes)
    if is_waiting or not any(scene.record_origin == "extracted" for scene in scenes):
        return ChapterPass(chapter_index=chapter_index, outcome="waiting")
    if mark == known_mark and not again:
        return ChapterPass(chapter_index=chapter_index, outcome="unchanged")
    chapter_pass = ChapterPass(chapter_index=chapter_index, outcome="done")
    with database.write() as unit:
        _Pass(stores, unit, chapter_pass).without_model()
        mark = _mark(_scenes_of(unit, chapter_index))
    if model is None:
        return chapter_pass
    with database.read() as unit:
        request = chapter_request(unit, chapter_index)
    # There must be something to compare: somebody new beside others, a thread, a handful of memories.
    has_new = any(entity.is_new for entity in request.entities) and len(request.entities) > 1
    if not (has_new or request.threads or len(request.memories) >= MIN_MEMORIES):
        with database.write() as unit:
            _note(unit, chapter_index, mark)
        return chapter_pass
    # The model takes its time; no transaction is open meanwhile.
    bounds = stores.settings.memory.summarization
    chain = ChapterPassChain(model, timeout_s=bounds.timeout_s, prompt_list_tokens=bounds.prompt_list_tokens)
    result = chain.invoke(request)
    chapter_pass = chapter_pass.model_copy(update={**result.work(), "issues": [*chapter_pass.issues, *result.issues]})
    with database.write() as unit:
        if result.reading is None:
            _note(unit, chapter_index, _FAILED)
            chapter_pass.outcome = "failed"
        elif _mark(_scenes_of(unit, chapter_index)) != mark:
            chapter_pass.outcome = "overtaken"
        else:
            _Pass(stores, unit, chapter_pass).with_reading(result.reading)
            _note(unit, chapter_index, _mark(_scenes_of(unit, chapter_index)))
    return chapter_pass


def _scenes_of(unit: UnitOfWork, chapter_index: int) -> list[Scene]:
    scenes = unit.scenes.list_as_of(as_of=StoryPosition(chapter_index + 1, 0), with_text=False)
    return [scene for scene in scenes if scene.chapter_index == chapter_index]


def _mark(scenes: Sequence[Scene]) -> str:
    """Return a mark that every new reading of a scene changes."""
    lines = [
        "\x1f".join(
            [
                str(scene.scene_index),
                scene.text_hash,
                *sorted(f"{memory.memory_id} {memory.importance}" for memory in (record.memories if record else ())),
                *sorted(recorded_loop.id for recorded_loop in (record.open_loops_created if record else ())),
                *sorted(
                    recorded_loop_resolution.id
                    for recorded_loop_resolution in (record.open_loops_resolved if record else ())
                ),
            ]
        )
        for scene in scenes
        for record in [scene.record]
    ]
    return sha256("\x1e".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _note(unit: UnitOfWork, chapter_index: int, mark: str) -> None:
    settings = unit.projects.require().settings
    marks = {**_marks(unit), str(chapter_index): mark}
    unit.projects.update(settings={**settings, RECONCILED_SETTING: marks})


def _marks(unit: UnitOfWork) -> dict[str, str]:
    return dict(unit.projects.require().settings.get(RECONCILED_SETTING, {}))


class _Pass:
    """The writes of a chapter review, in one transaction."""

    def __init__(self, stores: MemoryStores, unit: UnitOfWork, chapter_pass: ChapterPass) -> None:
        self._unit = unit
        self._chapter_index = chapter_pass.chapter_index
        self._stores = stores
        self._done = chapter_pass
        self._scenes = unit.scenes.list_as_of(as_of=self._after())
        self._last_place = max((scene.chapter_index, scene.scene_index) for scene in self._scenes)
        self._threads = {thread.loop_id: thread for thread in unit.threads.list_as_of(as_of=self._after())}
        texts = [memory.content for scene in self._scenes if scene.record for memory in scene.record.memories]
        self._language = story_language("\n".join(texts[:50]))

    def without_model(self) -> None:
        """Let equal names become one, and trifles fade."""
        entities = [one.entity for one in self._unit.entities.list_all()]
        known_ids = {entity.entity_id for entity in self._unit.entities.list_as_of(as_of=self._after())}
        alike = alike_names(entity for entity in entities if entity.entity_id in known_ids)
        self._identities(self._last_place, pairs=[SameEntities(entity_id=one, other_id=other) for one, other in alike])
        faded = [thread for thread in self._threads.values() if self._has_faded(thread)]
        endings = [
            self._ending(thread, _FADED, f"{thread.last_chapter_index}:{thread.last_scene_index}") for thread in faded
        ]
        self._write(endings, {})
        self._done.ended_threads += [ending.id for _, ending in endings]
        self._take_better_names()

    def with_reading(self, reading: ChapterReading) -> None:
        """Store a model's corrections."""
        self._done.issues += reading.issues
        for other_name, names in reading.wrong_names:
            parting = part_names_in(self._unit, other_name, names)
            self._done.parted += parting.changes
            self._done.issues += parting.issues
        for place, name in reading.names:
            self._identities(place, names=[name])
        for place, pair in reading.identities:
            self._identities(place, pairs=[pair])
        joined_threads = [
            self._ending(self._threads[loop_id], _SAME_AS, older)
            for loop_id, older in reading.joined.items()
            if loop_id in self._threads
        ]
        endings = [ending for ending in reading.endings if ending[1].id in self._threads]
        # Older threads are paid when those are that say the same of them, where they have no term of their own.
        events = self._unit.threads.events(as_of=self._after()) if reading.joined else {}
        pay_offs: list[Ending] = []
        for loop_id, older in reading.joined.items():
            thread, pay_off = self._threads.get(loop_id), said_pay_off(events.get(loop_id, ()))
            if thread is not None and older in events and pay_off and not said_pay_off(events[older]):
                move = RecordedLoopAdvance(id=older, note=thread.description, pay_off=pay_off)
                pay_offs.append((self._touched_here(thread), move))
        self._done.weighed_memories = self._write([*endings, *joined_threads, *pay_offs], reading.importances)
        self._done.joined_memories = self._join_memories(reading.joined_memories)
        self._done.ended_threads += [ending.id for _, ending in (*endings, *joined_threads)]
        self._take_better_names()

    def _identities(self, place: Place, *, names: Sequence[NewName] = (), pairs: Sequence[SameEntities] = ()) -> None:
        at = StoryPosition(*place)
        outcome = store_identities_in(self._unit, names=names, pairs=pairs, at=at, stores=self._stores)
        self._done.names += outcome.names
        self._done.changes += outcome.changes
        self._done.issues += outcome.issues

    def _take_better_names(self) -> None:
        """List unnamed entities under their later names, from the naming scene on."""
        stored_entities = [one for one in self._unit.entities.list_all() if one.origin == "extracted"]
        names = Counter(name for one in stored_entities for name in set(one.entity.names()))
        taken_names = {name for name, bearers in names.items() if bearers > 1}
        known_entities_by_id = {
            entity.entity_id: entity for entity in self._unit.entities.list_as_of(as_of=self._after())
        }
        texts = [text for _, _, text in self._unit.scenes.texts_as_of(as_of=self._after())]
        for entity in (one.entity for one in stored_entities if one.entity.entity_id in known_entities_by_id):
            others = [alias.alias for alias in known_entities_by_id[entity.entity_id].aliases]
            name = better_display_name(entity.name, others, texts, taken_names=taken_names)
            if name is not None:
                self._unit.entities.upsert(renamed(entity, name), origin="extracted")
                self._done.display_names[entity.entity_id] = name

    def _join_memories(self, joined_ids: Mapping[str, str]) -> dict[str, str]:
        """Merge two memories.

        Every changed scene can be undone by itself.
        """
        replaced_ids: dict[str, str] = {}
        for removed_id, stays in joined_ids.items():
            scenes = [scene for scene in self._unit.scenes.list_as_of() if scene.record is not None]
            records = [scene.record for scene in scenes if scene.record is not None]
            became = with_joined_memory(records, removed_id, stays)
            changed = [
                (scene, record) for scene, record in zip(scenes, became or (), strict=False) if record != scene.record
            ]
            # What an author or a file says of a scene is left as it is.
            if not changed or any(scene.record_origin != "extracted" for scene, _ in changed):
                continue
            for scene, record in changed:
                stored_scene = self._unit.scenes.require(scene.position)
                before, after = (
                    {"record": other_record and other_record.model_dump(mode="json")}
                    for other_record in (stored_scene.record, record)
                )
                replace_stored_scene(
                    self._unit, stored_scene.model_copy(update={"record": record}), stores=self._stores
                )
                self._unit.journal.keep_fields("scene", "record", scene.scene_id, before, after)
            replaced_ids[removed_id] = stays
        return replaced_ids

    def _after(self) -> StoryPosition:
        return StoryPosition(self._chapter_index + 1, 0)

    def _has_faded(self, thread: OpenLoop) -> bool:
        silence = FADES_AFTER.get(thread.importance)
        if silence is None or thread.last_chapter_index is None or thread.last_scene_index is None:
            return False
        touched_place = (thread.last_chapter_index, thread.last_scene_index)
        chapters = self._chapter_index - touched_place[0]
        scenes = sum((scene.chapter_index, scene.scene_index) > touched_place for scene in self._scenes)
        return chapters >= silence[0] and scenes >= silence[1]

    def _ending(self, thread: OpenLoop, note: Mapping[StoryLanguage, str], text: str) -> Ending:
        """End a thread without an answer: in this chapter, where it began or last moved, else at its end."""
        summary = note[self._language].format(text)
        ending = RecordedLoopResolution(id=thread.loop_id, resolution_summary=summary, abandoned=True)
        return self._touched_here(thread) if note is _SAME_AS else self._last_place, ending

    def _touched_here(self, thread: OpenLoop) -> Place:
        """Return where a thread began or last moved, if that is in this chapter, else its end."""
        touched_place = (thread.last_chapter_index or 0, thread.last_scene_index or 0)
        return touched_place if touched_place[0] == self._chapter_index else self._last_place

    def _write(self, endings: Sequence[Ending], importances: Mapping[str, int]) -> int:
        """Write endings and importances into records, and count changed memories."""
        by_place: dict[Place, list[RecordedLoopResolution | RecordedLoopAdvance]] = defaultdict(list)
        for place, ending in endings:
            by_place[place].append(ending)
        weighed = 0
        for scene in self._scenes:
            place = (scene.chapter_index, scene.scene_index)
            lines = scene.record.memories if scene.record else ()
            if not by_place[place] and not any(memory.memory_id in importances for memory in lines):
                continue
            stored_scene = self._unit.scenes.require(scene.position)
            if stored_scene.record is None or stored_scene.record_origin != "extracted":
                # What an author or a file says of a scene is left as it is: the end stands beside it.
                for ending in by_place[place]:
                    self._unit.threads.append(ending, at=scene.position)
                continue
            record, changed = _changed(stored_scene.record, by_place[place], importances)
            if record != stored_scene.record:
                write_into_record(self._unit, stored_scene, record, stores=self._stores)
            weighed += changed
        return weighed


def _changed(
    record: SceneRecord, endings: Sequence[RecordedLoopResolution | RecordedLoopAdvance], importances: Mapping[str, int]
) -> tuple[SceneRecord, int]:
    """Return a record with more ends of threads and other importances, and how many memories changed."""
    over = {recorded_loop_resolution.id for recorded_loop_resolution in record.open_loops_resolved}
    added_recorded_loop_resolutions = [
        ending for ending in endings if isinstance(ending, RecordedLoopResolution) and ending.id not in over
    ]
    moves = [ending for ending in endings if isinstance(ending, RecordedLoopAdvance)]
    memories = [
        memory.model_copy(update={"importance": importances.get(memory.memory_id, memory.importance)})
        for memory in record.memories
    ]
    changed = sum(new.importance != old.importance for new, old in zip(memories, record.memories, strict=True))
    update = {
        "open_loops_advanced": merged_moves([*moves, *record.open_loops_advanced]),
        "open_loops_resolved": [*record.open_loops_resolved, *added_recorded_loop_resolutions],
        "memories": memories,
    }
    return record.model_copy(update=update), changed
