"""A memory in plain Python: the public double of the memory tools, for users' tests and ours.

It keeps everything in lists, searches by shared words and characters, and cuts every read by position as
the real tools do. It needs no store, no model and no file.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from novelgen.language.extractive import gist
from novelgen.language.language import is_cjk
from novelgen.language.resolver import NameResolver
from novelgen.memory.outline import RECALLED_SCENES, OutlineScene, PairChange, StoryChanges, StoryOutline, StoryRecap
from novelgen.memory.search import Candidate, RetrieverHit, SearchQuery, SearchRequest, SearchResult
from novelgen.memory.story import KnowledgeMemory, KnowledgeScene, KnowledgeStory, recorded_events
from novelgen.models.entity import Entity, EntityType
from novelgen.models.folds import (
    HOLDER_ATTRIBUTE,
    chapters_of_change,
    fold_holders,
    folded_loop,
    folded_relationship,
    last_changed_first,
    loop_event_values,
    recorded_loop_events,
    relationship_change_values,
    snapshot_of,
    timeline_order,
)
from novelgen.models.memory import BOOK, DISTILLED_TYPES, PASSAGE_TYPES, ContentType, StoryMemoryChunk, found_under
from novelgen.models.position import (
    END_OF_STORY,
    Placed,
    StoryPosition,
    UtcDatetime,
    require_project_id,
    story_place,
    utc_now,
)
from novelgen.models.record import SceneRecord
from novelgen.models.state import (
    PRESENCE_ATTRIBUTE,
    UNRESOLVED_STATUSES,
    EntityStateSnapshot,
    OpenLoop,
    Relationship,
    StateChange,
)

AnyPlaced = TypeVar("AnyPlaced", bound=Placed)


@dataclass(frozen=True, slots=True)
class _LoopEvent:
    loop_id: str
    kind: str
    note: str
    detail: Mapping[str, Any]
    chapter_index: int
    scene_index: int


class InMemoryStoryMemory:
    """A `StoryMemory` over lists; every list may stay empty.

    Args:
        project_id: The only project that it knows; others are empty.
        chunks: Memories.
        entities: Known entities, cut by their first position.
        changes: State changes of all entities.
        scenes: Stored scenes, in story order.
        loops: Open loops, cut by where they were planted.
        relationships: Relationships, cut by where they last changed.
        language: Language of the story.
        timestamp: Moment stamped on snapshots; the time of construction by default.
    """

    def __init__(
        self,
        project_id: str,
        *,
        chunks: Sequence[StoryMemoryChunk] = (),
        entities: Sequence[Entity] = (),
        changes: Sequence[StateChange] = (),
        scenes: Sequence[OutlineScene] = (),
        loops: Sequence[OpenLoop] = (),
        relationships: Sequence[Relationship] = (),
        language: str = "en",
        timestamp: UtcDatetime | None = None,
    ) -> None:
        self._project_id = require_project_id(project_id)
        self._chunks = list(chunks)
        self._entities = list(entities)
        self._changes = list(changes)
        self._scenes = list(scenes)
        self._loops = list(loops)
        self._relationships = list(relationships)
        self._language = language
        self._timestamp = timestamp or utc_now()
        self._loop_events: dict[str, list[_LoopEvent]] = defaultdict(list)
        self._pairs: dict[tuple[str, str], list[PairChange]] = defaultdict(list)
        self._records: list[SceneRecord] = []

    @classmethod
    def of_records(
        cls,
        project_id: str,
        records: Sequence[SceneRecord],
        *,
        entities: Sequence[Entity] = (),
        notes: Sequence[StoryMemoryChunk] = (),
        language: str = "en",
        timestamp: UtcDatetime | None = None,
    ) -> InMemoryStoryMemory:
        """Build the double from what finished scenes established, so that threads and pairs move with the story.

        Args:
            project_id: The only project that it knows.
            records: One per scene, in any order.
            entities: Known entities.
            notes: Memories that no scene brought.
            language: Language of the story.
            timestamp: Moment stamped on snapshots and memories.
        """
        ordered = sorted(records, key=story_place)
        types = {entity.entity_id: entity.entity_type for entity in entities}
        moment = timestamp or utc_now()
        double = cls(
            project_id,
            chunks=[*notes, *(each for record in ordered for each in _memories(project_id, record, moment))],
            entities=entities,
            changes=[each for record in ordered for each in _state_changes(record, types)],
            scenes=[_outline_scene(record) for record in ordered],
            language=language,
            timestamp=moment,
        )
        double._records = ordered
        for record in ordered:
            place: dict[str, Any] = {"chapter_index": record.chapter_index, "scene_index": record.scene_index}
            for event in recorded_loop_events(record):
                double._loop_events[event.id].append(_LoopEvent(**loop_event_values(event), **place))
            for change in record.relationship_changes:
                first, second = sorted((change.character_a, change.character_b))
                values = relationship_change_values(change)
                double._pairs[first, second].append(PairChange(**values, **place))
        return double

    def search_story_memory(
        self,
        project_id: str,
        query: str,
        *,
        entities: Sequence[str] | None = None,
        content_type: ContentType | None = None,
        tags: Sequence[str] | None = None,
        top_k: int = 10,
        as_of: StoryPosition | None = None,
    ) -> list[StoryMemoryChunk]:
        """Return the memories that share most with the query, best first, ties by id."""
        cut = as_of or END_OF_STORY
        names = NameResolver(self.outline(project_id, as_of=cut).entities)
        asked = SearchQuery(
            text=query,
            entities=[names.resolve(name).entity_id or name for name in entities or ()],
            content_type=content_type,
            tags=list(tags or ()),
        )
        return [chunk for _, chunk in self._ranked(project_id, asked, cut)[:top_k]]

    def search(self, request: SearchRequest) -> SearchResult:
        """Answer all queries by the one retriever that this double has."""
        hits: dict[str, list[RetrieverHit]] = {}
        chunks: dict[str, StoryMemoryChunk] = {}
        for index, query in enumerate(request.queries):
            ranked = self._ranked(request.project_id, query, request.as_of)[: request.candidates_per_query]
            for rank, (score, chunk) in enumerate(ranked, start=1):
                chunks[chunk.chunk_id] = chunk
                hit = RetrieverHit(retriever="lexical", query_index=index, rank=rank, score=score)
                hits.setdefault(chunk.chunk_id, []).append(hit)
        candidates = (Candidate(chunk=chunks[name], hits=tuple(hits[name])) for name in sorted(chunks))
        return SearchResult(candidates=tuple(candidates), linked=self._linked(request))

    def get_entity_state(
        self, project_id: str, entity_id: str, *, chapter_index: int | None = None, scene_index: int | None = None
    ) -> EntityStateSnapshot | None:
        """Return the entity's state at the position; ids, names and aliases work."""
        as_of = StoryPosition(chapter_index, scene_index)
        outline = self.outline(project_id, as_of=as_of)
        resolved = NameResolver(outline.entities).resolve(entity_id).entity_id or entity_id
        found = self.get_entity_states(project_id, [resolved], as_of=as_of)
        return found[0] if found else None

    def get_entity_states(
        self, project_id: str, entity_ids: Sequence[str], *, as_of: StoryPosition
    ) -> list[EntityStateSnapshot]:
        """Return the states of several entities at a position, in the order asked."""
        require_project_id(project_id)
        if project_id != self._project_id:
            return []
        by_entity = self._changes_by_entity(as_of)
        wanted = dict.fromkeys(entity_ids)
        held = self._holders(as_of)
        found = (self._snapshot(by_entity.get(entity_id, ()), as_of) for entity_id in wanted)
        return [
            snapshot.model_copy(update={"holds": held.get(snapshot.entity_id, [])})
            for snapshot in found
            if snapshot is not None
        ]

    def get_recent_timeline(
        self, project_id: str, chapter_index: int, *, context_window: int = 2, as_of: StoryPosition | None = None
    ) -> list[EntityStateSnapshot]:
        """Return one snapshot per entity and chapter in which it changed, in story order."""
        cut = as_of or END_OF_STORY
        if require_project_id(project_id) != self._project_id:
            return []
        first, last = chapter_index - context_window, chapter_index + context_window
        snapshots = [
            snapshot
            for changes in self._changes_by_entity(cut).values()
            for chapter in chapters_of_change(changes, first=first, last=last)
            if (snapshot := self._snapshot(changes, min(StoryPosition(chapter + 1), cut))) is not None
        ]
        return sorted(snapshots, key=timeline_order)

    def outline(self, project_id: str, *, as_of: StoryPosition) -> StoryOutline:
        """Return what the lists hold strictly before the position."""
        if require_project_id(project_id) != self._project_id:
            return StoryOutline(project_id=project_id)
        before = [each for each in self._changes if as_of.admits(each.chapter_index, each.scene_index)]
        stated = [each for each in sorted(before, key=story_place) if each.kind == "explicit"]
        return StoryOutline(
            project_id=project_id,
            language=self._language,
            entities=[
                _with_known_aliases(each, as_of)
                for each in self._entities
                if as_of.admits(each.first_chapter, each.first_scene)
            ],
            scenes=[each for each in self._scenes if as_of.admits(each.chapter_index, each.scene_index)],
            open_loops=self._open_loops(as_of),
            relationships=self._standing_relationships(as_of),
            holders=self._holders(as_of),
            stated_ids=last_changed_first([each.entity_id for each in stated]),
        )

    def _holders(self, as_of: StoryPosition) -> dict[str, list[str]]:
        before = [each for each in self._changes if as_of.admits(each.chapter_index, each.scene_index)]
        return fold_holders(
            (each.entity_id, each.value)
            for each in sorted(before, key=story_place)
            if each.kind == "explicit" and each.attribute == HOLDER_ATTRIBUTE
        )

    def recap(self, project_id: str, *, as_of: StoryPosition, last_scenes: int = RECALLED_SCENES) -> StoryRecap:
        """Return the last scenes before the position, and the kinds and tags of what is stored there."""
        if require_project_id(project_id) != self._project_id:
            return StoryRecap()
        chunks = [each for each in self._chunks if as_of.admits(each.chapter_index, each.scene_index)]
        told = [each for each in self._scenes if as_of.admits(each.chapter_index, each.scene_index)]
        types = Counter(chunk.content_type for chunk in chunks)
        tags = Counter(tag for chunk in chunks if chunk.content_type in DISTILLED_TYPES for tag in set(chunk.tags))
        return StoryRecap(
            scenes=[_with_gist(each, chunks) for each in (told[-last_scenes:] if last_scenes > 0 else [])],
            content_types=sorted(types, key=lambda each: (-types[each], each)),
            tags=sorted(tags, key=lambda each: (-tags[each], each)),
        )

    def knowledge(self, project_id: str, *, as_of: StoryPosition) -> KnowledgeStory:
        """Return the story before the position as it bears on who knows what."""
        outline = self.outline(project_id, as_of=as_of)
        records = {
            StoryPosition(*story_place(record)): record
            for record in self._records
            if as_of.admits(record.chapter_index, record.scene_index)
        }
        chunks = [
            each
            for each in self._chunks
            if each.project_id == project_id and as_of.admits(each.chapter_index, each.scene_index)
        ]
        says_who = {memory.memory_id for record in records.values() for memory in record.memories if memory.known_by}
        return KnowledgeStory(
            as_of=as_of,
            scenes=[
                KnowledgeScene(
                    place := StoryPosition(scene.chapter_index, scene.scene_index),
                    present=frozenset(scene.participants),
                    text=_text(chunks, scene),
                    tells_knowledge=place in records and bool(records[place].learned),
                    learnt=_learnt(records[place]) if place in records else {},
                )
                for scene in outline.scenes
            ],
            memories=[
                KnowledgeMemory(
                    source_id=each.source_id or each.chunk_id,
                    content=each.content,
                    # A note has no scene in which anybody could have witnessed it.
                    position=None
                    if each.content_type == "note"
                    else StoryPosition(each.chapter_index, each.scene_index),
                    entities=each.entities_mentioned,
                    event_type=each.event_type,
                    tells_knowers=each.source_id in says_who,
                    is_for_all=any(target.id == BOOK and not target.is_default for target in each.attached_to),
                )
                for each in chunks
                if each.content_type in DISTILLED_TYPES
            ],
            names={entity.entity_id: entity.names() for entity in outline.entities},
            character_ids=frozenset(
                entity.entity_id for entity in outline.entities if entity.entity_type == "character"
            ),
            events=[event for record in records.values() for event in recorded_events(record)],
        )

    def changes(self, project_id: str, entity_ids: Sequence[str], *, as_of: StoryPosition) -> StoryChanges:
        """Return what changed about the entities before the position, and all stated holders."""
        if require_project_id(project_id) != self._project_id:
            return StoryChanges()
        asked = set(entity_ids)
        return StoryChanges(
            states=[
                each
                for each in _before(self._changes, as_of)
                if each.entity_id in asked or each.attribute == HOLDER_ATTRIBUTE
            ],
            pairs={
                f"R{number}": before
                for number, (pair, changes) in enumerate(self._pairs.items())
                if set(pair) <= asked and (before := _before(changes, as_of))
            },
        )

    def _changes_by_entity(self, as_of: StoryPosition) -> dict[str, list[StateChange]]:
        found: dict[str, list[StateChange]] = defaultdict(list)
        for change in self._changes:
            if as_of.admits(change.chapter_index, change.scene_index):
                found[change.entity_id].append(change)
        return found

    def _snapshot(self, changes: Sequence[StateChange], as_of: StoryPosition) -> EntityStateSnapshot | None:
        return snapshot_of(self._project_id, changes, as_of=as_of, timestamp=self._timestamp)

    def _open_loops(self, as_of: StoryPosition) -> list[OpenLoop]:
        places = [story_place(scene) for scene in self._scenes if as_of.admits(*story_place(scene))]

        def age_scenes(planted: _LoopEvent) -> int:
            return sum(place > story_place(planted) for place in places)

        given = [each for each in self._loops if as_of.admits(each.chapter_index, each.scene_index)]
        told = [_before(events, as_of) for events in self._loop_events.values()]
        folded = [folded_loop(events, age_scenes=age_scenes) for events in told if events]
        return [loop for loop in [*given, *folded] if loop is not None and loop.status in UNRESOLVED_STATUSES]

    def _standing_relationships(self, as_of: StoryPosition) -> list[Relationship]:
        given = [each for each in self._relationships if as_of.admits(each.chapter_index, each.scene_index)]
        told = [
            folded_relationship(changes, relationship_id=f"R{number}", character_a=pair[0], character_b=pair[1])
            for number, (pair, events) in enumerate(self._pairs.items())
            if (changes := _before(events, as_of))
        ]
        return [*given, *told]

    def _linked(self, request: SearchRequest) -> int | None:
        if not request.counts_linked:
            return None
        return sum(
            chunk.project_id == request.project_id
            and chunk.content_type in DISTILLED_TYPES
            and request.as_of.admits(chunk.chapter_index, chunk.scene_index)
            and bool(set(request.entity_ids) & set(chunk.entities_mentioned))
            for chunk in self._chunks
        )

    def _ranked(
        self, project_id: str, query: SearchQuery, as_of: StoryPosition
    ) -> list[tuple[float, StoryMemoryChunk]]:
        require_project_id(project_id)
        wanted = _terms(query.text)
        scored = [
            (len(wanted & _terms(chunk.content)) / len(wanted), chunk)
            for chunk in self._chunks
            if chunk.project_id == project_id
            and as_of.admits(chunk.chapter_index, chunk.scene_index)
            and _passes(chunk, query)
        ]
        hits = [(score, chunk) for score, chunk in scored if score > 0]
        return sorted(hits, key=lambda pair: (-pair[0], pair[1].chunk_id))


def _with_gist(scene: OutlineScene, chunks: Sequence[StoryMemoryChunk]) -> OutlineScene:
    if scene.summary or scene.key_events:
        return scene
    passages = [
        chunk.content
        for chunk in chunks
        if chunk.content_type in PASSAGE_TYPES and story_place(chunk) == story_place(scene)
    ]
    told = gist("\n".join(passages))
    return replace(scene, summary=(told,)) if told else scene


def _learnt(record: SceneRecord) -> dict[str, str]:
    """Return, by character, what the record says that they know after the scene."""
    return {
        change.entity_id: str(change.changes["knowledge"])
        for change in record.state_changes
        if change.changes.get("knowledge")
    }


def _text(chunks: Sequence[StoryMemoryChunk], scene: OutlineScene) -> str:
    passages = (
        chunk.content
        for chunk in chunks
        if chunk.content_type in PASSAGE_TYPES and story_place(chunk) == story_place(scene)
    )
    return "\n".join(passages)


def _before(events: Sequence[AnyPlaced], as_of: StoryPosition) -> list[AnyPlaced]:
    return [event for event in events if as_of.admits(event.chapter_index, event.scene_index)]


def _with_known_aliases(entity: Entity, as_of: StoryPosition) -> Entity:
    known = [alias for alias in entity.aliases if as_of.admits(alias.first_chapter, alias.first_scene)]
    return entity.model_copy(update={"aliases": known})


def _memories(project_id: str, record: SceneRecord, moment: UtcDatetime) -> list[StoryMemoryChunk]:
    return [
        StoryMemoryChunk(
            chunk_id=memory.memory_id,
            project_id=project_id,
            chapter_index=record.chapter_index,
            scene_index=record.scene_index,
            content=memory.content,
            content_type="memory",
            entities_mentioned=memory.entities,
            tags=memory.tags,
            created_at=moment,
            short=memory.short or None,
            importance=memory.importance,
            source_id=memory.memory_id,
            event_type=memory.event_type,
            supersedes=memory.supersedes,
            slot_type=memory.slot_type,
        )
        for memory in record.memories
    ]


def _state_changes(record: SceneRecord, types: Mapping[str, EntityType]) -> list[StateChange]:
    if record.is_flashback:
        return []
    place = {"chapter_index": record.chapter_index, "scene_index": record.scene_index}
    presence = {"location_id": record.location_id, **place}
    seen = [
        StateChange(entity_id=entity_id, attribute=PRESENCE_ATTRIBUTE, value=presence, kind="presence", **place)
        for entity_id in dict.fromkeys(record.characters_present)
    ]
    return seen + [
        StateChange(
            entity_id=change.entity_id,
            entity_type=types.get(change.entity_id, "character"),
            attribute=attribute,
            value=value,
            **place,
        )
        for change in record.state_changes
        for attribute, value in change.changes.items()
    ]


def _outline_scene(record: SceneRecord) -> OutlineScene:
    return OutlineScene(
        record.chapter_index,
        record.scene_index,
        record.title,
        record.location_id,
        tuple(record.characters_present),
        tuple(record.key_events),
        tuple(record.summary),
    )


def _passes(chunk: StoryMemoryChunk, query: SearchQuery) -> bool:
    return (
        (not query.entities or not found_under(chunk).isdisjoint(query.entities))
        and (query.content_type is None or chunk.content_type == query.content_type)
        and (not query.tags or bool(set(query.tags) & set(chunk.tags)))
    )


def _terms(text: str) -> frozenset[str]:
    """Lower-cased words, and every CJK character on its own."""
    spaced = "".join(f" {character} " if is_cjk(character) else character for character in text.casefold())
    return frozenset(word.strip(".,;:!?\"'()，。；：！？“”") for word in spaced.split()) - {""} or frozenset({""})
