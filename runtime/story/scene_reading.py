"""Reading a scene with its facts and their quotes."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field

from novelgen.context.labels import Labels, labels_for
from novelgen.context.rendering import render_value
from novelgen.errors import UnknownSceneError
from novelgen.language.matching import QuoteFinder
from novelgen.models.entity import Entity
from novelgen.models.knowledge import ALL_LIVED, READER, KnowledgeKind, KnowledgeSource
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import END_OF_STORY, StoryPosition, scene_from
from novelgen.models.record import RecordedMemory, SceneRecord
from novelgen.models.state import StateChange
from runtime.storage.columns import EntityOrigin, ExtractionStatus, MemoryStatus
from runtime.storage.database import UnitOfWork
from runtime.storage.models import FactCount, SceneState
from runtime.storage.records import MEANINGS, Scene
from runtime.story.base import At, Place, StoryBase, async_twin, known_entities, position_of, story_position
from runtime.story.versions import scene_version

FactKind = Literal[
    "memory",
    "state",
    "newcomer",
    "thread_planted",
    "thread_moved",
    "thread_ended",
    "relationship",
    "learnt",
    "repeated",
]

FactMaker = Literal["author", "model", "record"]
"""Whose word a fact is: the author's, a model's, or that of a record that was supplied."""


class NamedEntity(BaseModel):
    """Somebody or something that a fact is about, by the name of the position."""

    entity_id: str
    name: str


class EstablishedFact(BaseModel):
    """Something that a scene established, as it is read at a position."""

    kind: FactKind
    source_id: str = Field(
        description="Of a memory or thread its id; of a state C3.status; of a pair C0-C3; of a learning its number."
    )
    about: str = Field(default="", description="Whom a state or relationship is of, by name.")
    text: str
    value: str = Field(default="", description="Of a state its value alone, of several one a line, to be changed.")
    was: str = Field(default="", description="Of a state its value before, where it had one.")
    span: tuple[int, int] | None = Field(
        default=None, description="Characters [start, end) of the scene that prove it; None: no quote is known."
    )
    is_verified: bool = True
    importance: int | None = Field(default=None, description="Of a memory, from 1 to 10.")
    event_type: str = Field(default="", description="Of a memory, the kind of event.")
    entities: list[NamedEntity] = Field(
        default_factory=list, description="Whom a memory is about, as far as they are known at the position."
    )
    known_by: list[str] = Field(default_factory=list, description="Names of all who know it, where that is said.")
    hidden_from: list[str] = Field(default_factory=list, description="Names of those from whom it is kept.")
    made_by: FactMaker = "record"
    is_note: bool = Field(default=False, description="The author noted it; no record brought it.")
    may_be_proved: bool = Field(
        default=True, description="Words of the scene may prove it; not a note that holds from the scene's beginning."
    )
    is_pinned: bool = False
    status: MemoryStatus = "active"
    replaced_by: str = Field(default="", description="Memory that has taken its place by the position.")
    learnt_as: KnowledgeKind | None = Field(default=None, description="Of what was learnt: known, doubted, …")
    learnt_how: KnowledgeSource | None = None
    learnt_from: str = Field(default="", description="Name of whom it was learnt from.")


class ReadScene(BaseModel):
    """A scene with its text and facts."""

    scene: Scene
    version: str = Field(default="", description="Of its title, text and record; a change may name it.")
    names: dict[str, str] = Field(
        default_factory=dict, description="Names in its text to whom they mean there, as its author said."
    )
    on_stage: list[str] = Field(default_factory=list, description="Names as of the position.")
    pov: str = Field(default="", description="From whose point of view it is told, by name.")
    location: str = ""
    guessed: list[str] = Field(
        default_factory=list, description="What of it only rules say: participants, location_id."
    )
    summary: list[str] = Field(default_factory=list)
    key_events: list[str] = Field(default_factory=list)
    emotional_beats: list[str] = Field(default_factory=list)
    facts: list[EstablishedFact] = Field(
        default_factory=list, description="In the order of their quotes; those without one come last."
    )
    rejected: list[EstablishedFact] = Field(
        default_factory=list, description="Memories that the author left out or rejected."
    )


class ListedState(SceneState, FactCount):
    """A scene's reading state, with its counts."""


class StorySceneReading(StoryBase):
    """Reading a scene with its facts and their quotes."""

    def read(self, position: At, *, as_of: Place = None) -> ReadScene:
        """Return a scene's text and facts."""
        as_of = position_of(as_of)
        position = story_position(position)
        visible_position = as_of or END_OF_STORY
        if not visible_position.admits(position.chapter_index, position.scene_index):
            raise UnknownSceneError(
                f"scene {str(position)!r} does not lie before {str(visible_position)!r}; read at a later position"
            )
        with self._stores.database(self.project_id).read() as unit:
            scene = unit.scenes.require(position)
            entities = known_entities(unit, as_of)
            teller = _Teller(unit, scene, visible_position, {entity.entity_id: entity.name for entity in entities})
            facts = [*teller.memories(), *teller.states(), *teller.newcomers(entities)]
            facts += [*teller.threads(), *teller.relationships(), *teller.learnt(), *teller.repeated()]
            rejected = teller.memories(statuses=("banned", "deleted"))
        return ReadScene(
            scene=scene,
            version=scene_version(scene),
            names={name: teller.name(meant) for name, meant in (scene.staged.get(MEANINGS) or {}).items() if meant},
            on_stage=[teller.name(participant_id) for participant_id in scene.participants],
            pov=teller.name(scene.pov or ""),
            location=teller.name(scene.location_id or ""),
            guessed=scene.guessed,
            **{name: getattr(teller.record, name) for name in ("summary", "key_events", "emotional_beats")},
            facts=sorted(facts, key=lambda fact: (fact.span is None, fact.span or (0, 0))),
            rejected=rejected,
        )

    aread = async_twin(read)


class StorySceneStates(StoryBase):
    """The list of scenes with the state of their reading."""

    def list_states(self, *, as_of: Place = None, with_counts: bool = True) -> list[ListedState]:
        """List scenes' reading states and counts, in story order."""
        position = position_of(as_of) or END_OF_STORY
        with self._stores.database(self.project_id).read() as unit:
            unit.projects.require()
            states = unit.scenes.states(as_of=position, with_lengths=with_counts)
            counts = unit.scenes.fact_counts(as_of=position) if with_counts else {}
        none = FactCount()
        return [
            ListedState(
                **dict(scene_state), **dict(counts.get((scene_state.chapter_index, scene_state.scene_index), none))
            )
            for scene_state in states
        ]


class _Teller:
    """Describes a scene's facts within a transaction."""

    def __init__(self, unit: UnitOfWork, scene: Scene, as_of: StoryPosition, names: Mapping[str, str]) -> None:
        self.unit = unit
        self.scene = scene
        self.cut = as_of
        self.names = names
        self.place = (scene.chapter_index, scene.scene_index)
        self.made_by = _MAKERS.get(scene.record_origin, "record")
        self.record = scene.record or SceneRecord(chapter_index=scene.chapter_index, scene_index=scene.scene_index)
        self.finder = QuoteFinder(scene.text or "")

    def name(self, entity_id: str) -> str:
        return self.names.get(entity_id, entity_id)

    def fact(self, kind: FactKind, source_id: str, text: str, **fields: Any) -> EstablishedFact:
        return EstablishedFact(kind=kind, source_id=source_id, text=text, **{"made_by": self.made_by, **fields})

    def memories(self, statuses: Sequence[MemoryStatus] = ("active",)) -> list[EstablishedFact]:
        recorded = {memory.memory_id: memory for memory in self.record.memories}
        kinds: dict[str, Any] = {"as_of": self.cut, "content_types": ["memory"], "as_brought": True}
        return [
            self._memory(memory, status, recorded.get(memory.memory_id))
            for status in statuses
            for memory in (
                *self.unit.memories.of_scenes([self.place], statuses=[status], **kinds),
                *self.unit.memories.notes_of_scene(self.place, as_of=self.cut, statuses=[status]),
            )
        ]

    def _memory(
        self, chunk: StoryMemoryChunk, status: MemoryStatus, recorded: RecordedMemory | None
    ) -> EstablishedFact:
        return self.fact(
            "memory",
            chunk.memory_id,
            chunk.content,
            span=chunk.source_span,
            is_verified=chunk.verified,
            importance=chunk.importance,
            event_type=chunk.event_type or "",
            entities=[
                NamedEntity(entity_id=entity_id, name=self.names[entity_id])
                for entity_id in chunk.entities_mentioned
                if entity_id in self.names
            ],
            known_by=self._name_entities([] if recorded is None else recorded.known_by),
            hidden_from=self._name_entities([] if recorded is None else recorded.hidden_from),
            made_by="author" if chunk.origin == "author" else self.made_by,
            is_note=chunk.content_type == "note",
            may_be_proved=chunk.place == self.place,
            is_pinned=chunk.tier == "pinned",
            status=status,
            replaced_by=chunk.superseded_by or "",
        )

    def _name_entities(self, ids: Sequence[str]) -> list[str]:
        return [self.names[other_id] for other_id in ids if other_id in self.names]

    def states(self) -> list[EstablishedFact]:
        changed = list(
            dict.fromkeys(recorded_state_change.entity_id for recorded_state_change in self.record.state_changes)
        )
        if not changed:
            return []
        labels = labels_for(self.unit.projects.require().language)
        changes = self.unit.states.stated_in(self.scene.position, entity_ids=changed)
        earlier = self.unit.states.standing_before(
            self.scene.position,
            attributes={change.attribute for change in changes},
            entity_ids={change.entity_id for change in changes},
        )
        before = {(change.entity_id, change.attribute): change for change in earlier}
        return [self._state(change, before.get((change.entity_id, change.attribute)), labels) for change in changes]

    def _state(self, change: StateChange, earlier: StateChange | None, labels: Labels) -> EstablishedFact:
        value = _value(change, self.names, labels)
        was = "" if earlier is None else _value(earlier, self.names, labels)
        values = change.value if isinstance(change.value, list) else [change.value]
        return self.fact(
            "state",
            f"{change.entity_id}.{change.attribute}",
            f"{labels.attribute(change.attribute, change.entity_type)}{labels.colon}{value}",
            about=self.name(change.entity_id),
            value="\n".join(render_value(value, self.names, labels) for value in values if value not in (None, "")),
            was=was if was not in (value, _NO_VALUE) else "",
            span=change.source_span,
            is_verified=change.verified,
        )

    def newcomers(self, entities: Sequence[Entity]) -> list[EstablishedFact]:
        places = self.unit.scenes.places(as_of=self.cut)

        def first_seen(entity: Entity) -> tuple[int | None, int | None] | None:
            if entity.said_from is None:
                return entity.first_chapter, entity.first_scene
            # The card of one that its author makes known from a scene on stands after the scene before.
            return scene_from(StoryPosition(*entity.said_from), places)

        return [
            self.fact("newcomer", entity.entity_id, entity.role or entity.description, about=entity.name)
            for entity in entities
            if first_seen(entity) == self.place
        ]

    def threads(self) -> list[EstablishedFact]:
        record = self.record
        # Descriptions as they stood then: an author may have said more of a thread since.
        moved_threads: list[Any] = [*record.open_loops_advanced, *record.open_loops_resolved]
        going_on = [item.id for item in moved_threads]
        threads = self.unit.threads.list_as_of(as_of=self.cut, loop_ids=going_on) if going_on else []
        descriptions_by_id = {thread.loop_id: thread.description for thread in threads}
        lines: list[tuple[FactKind, str, str]] = [
            *(
                ("thread_planted", recorded_loop.id, recorded_loop.description)
                for recorded_loop in record.open_loops_created
            ),
            *(
                ("thread_moved", recorded_loop_advance.id, recorded_loop_advance.note)
                for recorded_loop_advance in record.open_loops_advanced
            ),
            *(
                ("thread_ended", recorded_loop_resolution.id, recorded_loop_resolution.resolution_summary)
                for recorded_loop_resolution in record.open_loops_resolved
            ),
        ]
        return [
            self.fact(
                kind, loop_id, text, about="" if kind == "thread_planted" else descriptions_by_id.get(loop_id, "")
            )
            for kind, loop_id, text in lines
        ]

    def relationships(self) -> list[EstablishedFact]:
        return [
            self.fact(
                "relationship",
                f"{relationship_change.character_a}-{relationship_change.character_b}",
                relationship_change.event or relationship_change.relationship_type or relationship_change.status,
                about=" – ".join(map(self.name, relationship_change.in_reading_order())),
            )
            for relationship_change in self.record.relationship_changes
        ]

    def learnt(self) -> list[EstablishedFact]:
        ids = {name for learning in self.record.learned for name in learning.memory_ids}
        contents = self._contents(ids - {ALL_LIVED})
        facts = []
        for number, learning in enumerate(self.record.learned):
            span = self.finder.find(learning.evidence)
            fact = self.fact(
                "learnt",
                str(number),
                " · ".join(contents[memory_id] for memory_id in learning.memory_ids if memory_id in contents),
                about="" if learning.character_id == READER else self.name(learning.character_id),
                span=span and (span.start, span.end),
                is_verified=span is not None or not learning.evidence,
                learnt_as=learning.kind,
                learnt_how=learning.how,
                learnt_from=self.name(learning.from_id or ""),
            )
            facts.append(fact)
        return facts

    def repeated(self) -> list[EstablishedFact]:
        contents = self._contents(
            {recorded_repetition.memory_id for recorded_repetition in self.record.memories_repeated}
        )
        facts = []
        for number, recorded_repetition in enumerate(self.record.memories_repeated):
            if recorded_repetition.memory_id in contents:
                matching_span = self.finder.find(recorded_repetition.evidence)
                span = matching_span and (matching_span.start, matching_span.end)
                facts.append(self.fact("repeated", str(number), contents[recorded_repetition.memory_id], span=span))
        return facts

    def _contents(self, source_ids: set[str]) -> dict[str, str]:
        memories_by_id = self.unit.memories.by_source_ids(sorted(source_ids), as_of=self.cut)
        return {source_id: memory.content for source_id, memory in memories_by_id.items()}


_NO_VALUE = "—"

_MAKERS: Mapping[EntityOrigin, FactMaker] = {"author": "author", "extracted": "model"}


def _value(change: StateChange, names: Mapping[str, str], labels: Labels) -> str:
    return _NO_VALUE if change.value in (None, [], "") else render_value(change.value, names, labels)


ReadingState = Literal["model", "record", "author", "text", "failed", "waiting"]


def reading_state(
    *, has_record: bool, record_origin: EntityOrigin, extraction_status: ExtractionStatus
) -> ReadingState:
    """Return a scene's reading state as a word, with its reader."""
    if has_record:
        return _MAKERS.get(record_origin, "record")
    if extraction_status == "failed":
        return "failed"
    return "waiting" if extraction_status == "pending" else "text"
