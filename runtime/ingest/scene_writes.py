"""Storage of a scene with its derived memories, states and knowledge.

`replace_scene` derives, and `runtime.storage.scene_writer` withdraws what came from the scene before.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from datetime import datetime
from hashlib import sha256
from itertools import count, groupby
from typing import Any, Literal, NamedTuple
from uuid import uuid4

from novelgen.language.extractive import short_form
from novelgen.language.language import StoryLanguage, story_language
from novelgen.language.matching import NameFinder, QuoteFinder
from novelgen.language.normalise import is_description, name_key
from novelgen.language.resolver import Mention
from novelgen.language.sentences import TARGET_CHARACTERS, chunk_text
from novelgen.memory.attributes import ends_another, with_supersessions
from novelgen.memory.knowledge_story import recorded_events
from novelgen.models.entity import ID_PREFIXES, Entity, EntityType
from novelgen.models.memory import ContentType, MemoryOrigin, StoryMemoryChunk
from novelgen.models.position import StoryPosition
from novelgen.models.record import RecordedMemory, SceneRecord
from novelgen.models.state import GUESSED, PLACE_GUESSED, PRESENCE_ATTRIBUTE, StateChange
from runtime.ingest.scene_input import RecordOrigin, SceneInput, SceneReading, SceneSurroundings, name_mentions
from runtime.settings import IngestSettings
from runtime.storage.change import Change, RowChange
from runtime.storage.database import UnitOfWork
from runtime.storage.models import MemoryFilter, SceneWrite, SceneWriteResult
from runtime.storage.records import MEANINGS, Knowledge, Scene, Staging
from runtime.storage.session import batches
from runtime.stores import MemoryStores

SCENES_BEFORE = 3
"""How many scenes back somebody who was on stage may be meant by a shared name."""

SCENES_AT_ONCE = 200
"""So many scenes are derived before they are stored: all that they bring is in memory then."""


def replace_scene(
    unit: UnitOfWork,
    scene: SceneInput,
    surroundings: SceneSurroundings,
    *,
    project_id: str,
    stored_scene: Scene | None,
    stores: MemoryStores,
) -> SceneWriteResult:
    """Derive and store a scene's facts, replacing earlier ones."""
    if stored_scene is not None:
        # A text that is taken in anew keeps what its author corrected, but for what it comes with.
        kept_fields: dict[str, Any] = {"staged": stored_scene.staged | scene.staged}
        if scene.file_version is None:
            kept_fields["file_version"] = stored_scene.file_version
        scene = scene.model_copy(update=kept_fields)
    elif scene.file_version is None:
        scene = scene.model_copy(update={"file_version": {}})
    ended_memories = _ended_memories(unit, scene, surroundings)
    write = scene_write(
        scene,
        surroundings,
        ended_ids=ended_memories,
        project_id=project_id,
        scene_id=stored_scene.scene_id if stored_scene else _new_scene_id(unit, project_id, scene),
        stores=stores,
    )
    write_result = unit.scenes.replace_scene(write)
    return write_result.model_copy(update={"ended": ended_memories})


def new_run() -> str:
    """Return a new run id for joint undo."""
    return uuid4().hex


def keep_of_run(
    unit: UnitOfWork, kind: Literal["ingest", "extract"], run_id: str, scene_id: str, before: Mapping[str, Any] | None
) -> Change:
    """Record a scene's changes by a run, for undo."""
    scene = unit.scenes.require_id(scene_id)
    if before is not None:
        now = unit.scenes.image(scene)
        before = {name: value for name, value in before.items() if now[name] != value or name == "spans"}
    run_fields = {"image": unit.scenes.image_hash(scene), "position": str(scene.position)}
    rows = [RowChange(table="", key={}, before=before and dict(before), after=run_fields)]
    return unit.journal.keep(kind, scene_id, run_id, rows, subject="scene")


def replace_stored_scene(unit: UnitOfWork, stored_scene: Scene, *, stores: MemoryStores) -> SceneWriteResult:
    """Derive a stored scene again after known facts changed."""
    return replace_stored_scenes(unit, [stored_scene], stores=stores)[0]


def write_into_record(unit: UnitOfWork, stored_scene: Scene, record: SceneRecord, *, stores: MemoryStores) -> None:
    """Set a record written by a pass, undone with its reading."""
    was = unit.scenes.image_hash(stored_scene)
    replace_stored_scene(unit, stored_scene.model_copy(update={"record": record}), stores=stores)
    now = unit.scenes.image_hash(unit.scenes.require_id(stored_scene.scene_id))
    unit.journal.include_in_undo(stored_scene.scene_id, was=was, now=now)


def replace_stored_scenes(
    unit: UnitOfWork, scenes: Sequence[Scene], *, stores: MemoryStores, names: Set[tuple[str, str]] | None = None
) -> list[SceneWriteResult]:
    """Derive stored scenes again in order, unrecorded ones in bulk.

    Where all that has changed since is that entities bear or no longer bear `names`, only passages whose names may mean
    somebody else by that are read again.
    """
    entities = [entity.entity for entity in unit.entities.list_all()] if scenes else []
    write_results = []
    for has_record, run in groupby(scenes, key=lambda scene: scene.record is not None):
        for some in batches(run, 1 if has_record else SCENES_AT_ONCE):
            if has_record:
                scene = SceneInput.of_stored(some[0])
                surroundings = read_surroundings(unit, scene, entities)
                project_id = some[0].project_id
                write_results.append(
                    replace_scene(unit, scene, surroundings, project_id=project_id, stored_scene=some[0], stores=stores)
                )
            else:
                write_results += unit.scenes.replace_scenes(
                    _writes_of_texts(unit, some, entities, stores=stores, names=names)
                )
    return write_results


def _writes_of_texts(
    unit: UnitOfWork,
    scenes: Sequence[Scene],
    entities: Sequence[Entity],
    *,
    stores: MemoryStores,
    names: Set[tuple[str, str]] | None,
) -> list[SceneWrite]:
    """Derive unrecorded scenes again in sequence, without storing."""
    staged = {staging.place: staging for staging in unit.scenes.stagings(by_card=True)}
    places = list(staged)
    dead_ids = dict(zip(places, unit.scenes.dead_before(places), strict=True))
    passages = {} if names is None else unit.memories.passages_of([scene.scene_id for scene in scenes])
    doubtful = _doubtful_names(names or set(), entities)
    writes = []
    for stored_scene in scenes:
        place = (stored_scene.chapter_index, stored_scene.scene_index)
        number = bisect_left(places, place)
        surroundings = _surroundings(
            entities, [staged[place] for place in places[max(0, number - SCENES_BEFORE) : number]]
        )
        chunk_ids_by_span, text = passages.get(stored_scene.scene_id, {}), stored_scene.text or ""
        kept_chunk_ids = {
            span: chunk_id for span, chunk_id in chunk_ids_by_span.items() if not doubtful.find(text[slice(*span)])
        }
        write = scene_write(
            SceneInput.of_stored(stored_scene),
            surroundings,
            ended_ids={},
            project_id=stored_scene.project_id,
            scene_id=stored_scene.scene_id,
            stores=stores,
            passages=[span for span in chunk_ids_by_span if span not in kept_chunk_ids] if chunk_ids_by_span else None,
            kept_ids=list(kept_chunk_ids.values()),
        )
        dead = set() if "participants" in write.staged else dead_ids[place]
        present = [entity_id for entity_id in write.participants if entity_id not in dead]
        staged[place] = Staging(place, present, write.location_id, write.pov)
        writes.append(write)
    return writes


def _doubtful_names(names: Set[tuple[str, str]], entities: Sequence[Entity]) -> NameFinder:
    """Find names that changed cards may make ambiguous."""
    changed = {entity_id for entity_id, _ in names}
    bearers: dict[str, set[str]] = {}
    for entity in entities:
        for name in entity.names():
            bearers.setdefault(name_key(name), set()).add(entity.entity_id)
    return NameFinder(
        [
            *(name for _, name in names),
            *(
                name
                for entity in entities
                for name in entity.names()
                if entity.entity_id in changed or len(bearers[name_key(name)]) > 1 or is_description(name)
            ),
        ]
    )


def same_record(other: SceneRecord | None, right: SceneRecord | None) -> bool:
    """Tell whether two records say the same, wherever their scenes stand."""
    if other is None or right is None:
        return other is right
    place = {"chapter_index", "scene_index"}
    return other.model_dump(mode="json", exclude=place) == right.model_dump(mode="json", exclude=place)


def read_surroundings(
    unit: UnitOfWork, scene: SceneInput, entities: Sequence[Entity] | None = None
) -> SceneSurroundings:
    """Read the entities, and the participants and places before a scene."""
    position = StoryPosition(scene.chapter_index, scene.scene_index)
    return _surroundings(
        [stored_entity.entity for stored_entity in unit.entities.list_all()] if entities is None else entities,
        unit.scenes.stagings(as_of=position, last=SCENES_BEFORE, by_card=True),
    )


def _surroundings(entities: Sequence[Entity], before: Sequence[Staging]) -> SceneSurroundings:
    return SceneSurroundings(
        entities=entities,
        recent_ids=_participants(before),
        previous_location_id=before[-1].location_id if before else None,
    )


def lately_on_stage(unit: UnitOfWork, position: StoryPosition) -> list[str]:
    """Return the participants of the last scenes, the latest first."""
    return _participants(unit.scenes.stagings(as_of=position, last=SCENES_BEFORE))


def _participants(scenes: Sequence[Staging]) -> list[str]:
    return list(dict.fromkeys(entity_id for scene in reversed(scenes) for entity_id in scene.participants))


def memories_still_true(unit: UnitOfWork, position: StoryPosition) -> list[StoryMemoryChunk]:
    """Return the memories before a scene that none before it supersedes."""
    memories = unit.memories.list_matching(MemoryFilter(as_of=position, content_types=["memory"], unconsolidated=True))
    over = {memory_id for stored_memory in memories for memory_id in stored_memory.chunk.superseded_ids}
    return [stored_memory.chunk for stored_memory in memories if stored_memory.chunk.source_id not in over]


def _new_scene_id(unit: UnitOfWork, project_id: str, scene: SceneInput) -> str:
    """Return a deterministic free scene id."""
    keys = (f"{project_id}\x1f{scene.chapter_index}:{scene.scene_index}\x1f{attempt}" for attempt in count())
    ids = (sha256(key.encode("utf-8")).hexdigest()[:32] for key in keys)
    return next(scene_id for scene_id in ids if not unit.scenes.holds_id(scene_id))


def _ended_memories(unit: UnitOfWork, scene: SceneInput, surroundings: SceneSurroundings) -> dict[str, str]:
    """Return which memories of a record end which earlier ones, as far as rules tell.

    The record itself stays as it was given; an extracted one says what its memories end.
    """
    record = scene.record
    if record is None or scene.record_origin == "extracted" or not ends_another(record):
        return {}
    people = [entity.entity_id for entity in surroundings.entities if entity.entity_type == "character"]
    at = StoryPosition(scene.chapter_index, scene.scene_index)
    rendered_record = with_supersessions(record, memories_still_true(unit, at), people=people)
    return {
        after.memory_id: after.supersedes
        for before, after in zip(record.memories, rendered_record.memories, strict=True)
        if after.supersedes and not before.supersedes
    }


def scene_write(
    scene: SceneInput,
    surroundings: SceneSurroundings,
    *,
    ended_ids: Mapping[str, str],
    project_id: str,
    scene_id: str,
    stores: MemoryStores,
    passages: Sequence[tuple[int, int]] | None = None,
    kept_ids: Sequence[str] = (),
) -> SceneWrite:
    """Derive a scene's facts.

    With `kept_ids` memories, only some `passages` of its text.
    """
    reading = SceneReading(scene, surroundings)
    chunks = SceneChunks(
        scene,
        project_id=project_id,
        scene_id=scene_id,
        created_at=stores.clock(),
        settings=stores.settings.memory.ingest,
        mentions_in=reading.mentions_in,
    )
    record = scene.record
    brought_memories = chunks.of_text(passages)
    if record is not None:
        brought_memories = chunks.of_record(record, ended_ids) + brought_memories
    return SceneWrite(
        project_id=project_id,
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
        scene_id=scene_id,
        label=scene.label,
        title=scene.title or (record.title if record else ""),
        text=scene.text,
        location_id=reading.location_id,
        pov=record.pov_character_id if record else None,
        story_time=record.story_time if record else scene.story_time,
        participants=reading.participants,
        record=record,
        record_origin=scene.record_origin if record else "rules",
        extraction_status="done" if record else scene.extraction_status,
        failure_reason=None if record else scene.failure_reason,
        staged=scene.staged,
        file_version=scene.file_version,
        chunks=brought_memories,
        kept=list(kept_ids),
        states=scene_states(scene, reading, surroundings.entities),
        knowledge=recorded_knowledge(record, text=scene.text, made_by=scene.record_origin) if record else [],
        mentions=name_mentions(scene.text, surroundings.entities, scene.staged.get(MEANINGS) or {}),
    )


_TYPES_BY_PREFIX: dict[str, EntityType] = {prefix: kind for kind, prefix in ID_PREFIXES.items()}


def scene_states(scene: SceneInput, reading: SceneReading, entities: Sequence[Entity]) -> list[StateChange]:
    """Return one presence per participant, and the changes that a record states, one per attribute, in their order.

    What plays at an earlier time changes nothing that holds now. What rules read out of a text says that it is a guess.
    """
    record = scene.record
    if record is not None and record.is_flashback:
        return []
    types = {entity.entity_id: entity.entity_type for entity in entities}
    place = {"chapter_index": scene.chapter_index, "scene_index": scene.scene_index}
    is_guess = record is None and not scene.cast and {"participants", "location_id"} - scene.staged.keys()
    guessed = {GUESSED: True} if is_guess else {}
    is_cast_stated = bool(scene.cast) or "participants" in scene.staged
    is_place_stated = scene.planned_location_id == reading.location_id or "location_id" in scene.staged
    if record is None and is_cast_stated and not is_place_stated:
        guessed[PLACE_GUESSED] = True

    def change(entity_id: str, **fields: Any) -> StateChange:
        kind = types.get(entity_id) or _TYPES_BY_PREFIX.get(entity_id[:1], "character")
        return StateChange(entity_id=entity_id, entity_type=kind, **place, **fields)

    presence = [
        change(
            entity_id,
            attribute=PRESENCE_ATTRIBUTE,
            value={"location_id": reading.location_id, **place, **guessed},
            kind="presence",
        )
        for entity_id in dict.fromkeys(reading.participants)
    ]
    finder = QuoteFinder(scene.text)
    return presence + [
        change(
            recorded_state_change.entity_id,
            attribute=attribute,
            value=value,
            source_span=evidence.source_span,
            # What ends by itself, as a mood does, has no quote, and says nothing that could be untrue.
            verified=evidence.verified
            or recorded_state_change.only_ends
            or (value is None and not recorded_state_change.evidence),
        )
        for recorded_state_change in (record.state_changes if record is not None else ())
        for evidence in [located_evidence(recorded_state_change.evidence, finder, scene.record_origin)]
        for attribute, value in recorded_state_change.changes.items()
    ]


class LocatedEvidence(NamedTuple):
    """The characters [start, end) of a quote, None where it was not found, and whether its fact counts as verified."""

    source_span: tuple[int, int] | None
    verified: bool


def located_evidence(quote: str | None, finder: QuoteFinder, made_by: RecordOrigin) -> LocatedEvidence:
    """Look for the quote of a fact.

    A fact whose quote does not stand in the scene is unverified, and so is one that a model gave no quote for.
    What was supplied without a quote is given, and what an author says needs none.
    """
    span = finder.find(quote)
    owes_quote = made_by == "extracted" or (made_by == "supplied" and bool(quote))
    return LocatedEvidence(span and (span.start, span.end), span is not None or not owes_quote)


_FIELDS_OF_RECORDS = RecordedMemory.model_fields.keys() & StoryMemoryChunk.model_fields.keys() - {"content"}
"""Fields that a memory has from a record, name for name."""

_MEMORY_ORIGINS: dict[RecordOrigin, MemoryOrigin] = {
    # Not "author": that is for single memories that an author changed, which no later ingest may touch.
    "author": "record",
    "supplied": "record",
    "extracted": "extracted",
}
KEY_EVENT_TAG = "key_event"
PASSAGE_CHARACTERS: dict[StoryLanguage, int] = {"en": TARGET_CHARACTERS, "zh": 90}
"""Length of passages that speak for themselves: measured, Chinese windows of few sentences bring 1.3 times the
far-back facts of windows twice as long in 2,000 tokens; in English longer ones bring a little more."""

MentionsIn = Callable[[str], Sequence[Mention]]
"""Finds the entities that a text names."""


class SceneChunks:
    """Builder of a scene's memories, with places and stable ids.

    One that the vector index gets bears its own id as `embedding_id`, every other one none, for it is not indexed.
    """

    def __init__(
        self,
        scene: SceneInput,
        *,
        project_id: str,
        scene_id: str,
        created_at: datetime,
        settings: IngestSettings,
        mentions_in: MentionsIn,
    ) -> None:
        self._scene = scene
        self._project_id = project_id
        self._scene_id = scene_id
        self._created_at = created_at
        self._settings = settings
        self._mentions_in = mentions_in
        self._seen: Counter[tuple[str, ...]] = Counter()

    def of_text(self, passages: Sequence[tuple[int, int]] | None = None) -> list[StoryMemoryChunk]:
        """Cut the text into passages, unless it is said which there are to be."""
        text, has_record = self._scene.text, self._scene.record is not None
        target = TARGET_CHARACTERS if has_record else PASSAGE_CHARACTERS[story_language(text)]
        chunks = []
        for start, end in chunk_text(text, target_characters=target) if passages is None else passages:
            mentions = self._mentions_in(text[start:end])
            chunks.append(
                self._make(
                    "scene",
                    text[start:end],
                    is_semantic=self._settings.embed_passages or not has_record,
                    entities_mentioned=_entity_ids(mentions),
                    short=None if has_record else short_form(text[start:end], mentions),
                    source_span=(start, end),
                    origin="text",
                )
            )
        return chunks

    def of_record(self, record: SceneRecord, ended_ids: Mapping[str, str]) -> list[StoryMemoryChunk]:
        """Add a record's memories with supersessions, summary and key events."""
        made_by = self._scene.record_origin
        finder = QuoteFinder(self._scene.text)
        memories = [
            self._make(
                "memory",
                memory.content,
                slot=memory.memory_id,
                source_id=memory.memory_id,
                origin=_MEMORY_ORIGINS[made_by],
                **located_evidence(memory.evidence, finder, made_by)._asdict(),
                **memory.model_dump(include=_FIELDS_OF_RECORDS)
                | {
                    "entities_mentioned": list(dict.fromkeys(memory.entities)),
                    "tags": list(dict.fromkeys(memory.tags)),
                    "short": memory.short or None,
                    "supersedes": memory.supersedes or ended_ids.get(memory.memory_id),
                },
            )
            for memory in record.memories
        ]
        bullets = self._list_memories(record.summary, "summary")
        events = self._list_memories(
            record.key_events, "key_events", tags=[KEY_EVENT_TAG], is_semantic=self._settings.embed_key_events
        )
        return memories + bullets + events

    def _list_memories(self, texts: Sequence[str], part: str, **fields: Any) -> list[StoryMemoryChunk]:
        return [
            self._make(
                "summary",
                text,
                entities_mentioned=_entity_ids(self._mentions_in(text)),
                slot=part,
                source_id=f"{self._scene.chapter_index}:{self._scene.scene_index}:{part}:{index}",
                origin=_MEMORY_ORIGINS[self._scene.record_origin],
                **fields,
            )
            for index, text in enumerate(texts)
            if text.strip()
        ]

    def _make(
        self, content_type: ContentType, content: str, *, slot: str = "", is_semantic: bool = True, **fields: object
    ) -> StoryMemoryChunk:
        """Make a memory.

        `slot` distinguishes equal texts of a scene.
        """
        # Not the position, which may change, and no running number but for equal texts, so that a passage
        # keeps its id, and so its vector, when others are inserted before it.
        key = (self._project_id, self._scene_id, content_type, slot, content)
        self._seen[key] += 1
        digest = sha256("\x1f".join((*key, str(self._seen[key]))).encode("utf-8")).hexdigest()
        chunk_id = f"{content_type}-{digest[:24]}"
        return StoryMemoryChunk.model_validate(
            {
                **fields,
                "chunk_id": chunk_id,
                "project_id": self._project_id,
                "chapter_index": self._scene.chapter_index,
                "scene_index": self._scene.scene_index,
                "content": content,
                "content_type": content_type,
                "embedding_id": chunk_id if is_semantic else None,
                "is_indexed": is_semantic,
                "created_at": self._created_at,
            }
        )


def _entity_ids(mentions: Sequence[Mention]) -> list[str]:
    return list(dict.fromkeys(mention.entity_id for mention in mentions))


def recorded_knowledge(record: SceneRecord, *, text: str, made_by: RecordOrigin) -> list[Knowledge]:
    """Return a record's knowledge statements in order, with located quotes.

    Who knows a memory of the scene's own is proved by that memory's quote.
    """
    finder = QuoteFinder(text)
    proofs = {memory.memory_id: memory.evidence for memory in record.memories}
    statements = []
    for event in recorded_events(record):
        is_verified = located_evidence(event.quote or proofs.get(event.source_id), finder, made_by).verified
        span = finder.find(event.quote) if event.quote else None
        statements.append(
            Knowledge(
                **event.model_dump(exclude={"by_author"}),
                span_start=span and span.start,
                span_end=span and span.end,
                verified=is_verified,
            )
        )
    return statements
