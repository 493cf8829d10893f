"""What goes into and comes out of the storage beside the story models themselves."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from pydantic import Field

from novelgen.characters.dispositions import DispositionChange
from novelgen.characters.memory import PositionNumber
from novelgen.models.base import Model
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity
from novelgen.models.knowledge import KnowledgeEvent, Learnt
from novelgen.models.memory import ContentType, StoryMemoryChunk
from novelgen.models.position import END_OF_STORY, ChapterIndex, SceneIndex, StoryPosition, UtcDatetime
from novelgen.models.record import SceneRecord, is_unsaid
from novelgen.models.state import RelationshipDimension, StateChange

EntityOrigin = Literal["author", "supplied", "extracted", "rules"]
ExtractionStatus = Literal["none", "done", "failed", "pending"]
EventOrigin = Literal["record", "author"]
"""Where an event came from; at one position the author's counts after, hence over, the record's."""

LoopEventKind = Literal["planted", "advanced", "resolved", "abandoned"]
MemoryStatus = Literal["active", "banned", "deleted"]
OutboxOperation = Literal["upsert", "delete"]
OutboxState = Literal["pending", "done", "failed"]
WITHOUT_RECORD: EntityOrigin = "rules"
"""The `record_origin` of a scene that only its text speaks for."""

ScenePlace = tuple[int, int]
"""Chapter and scene."""


class Staging(NamedTuple):
    """Who is on stage in a scene, and where."""

    place: ScenePlace
    participants: list[str]
    location_id: str | None
    pov: str | None


class StoredProject(Model):
    """A project as it is stored.

    `story_revision` grows with every write to it. `index_id` names its live index in a vector store that several
    databases share: it is the database's own, and goes with every copy of it. `index_removals` counts the rows that
    were removed from the index or replaced since it was built, whose vectors Chroma keeps.
    """

    project_id: str
    name: str = ""
    language: str = ""
    created_at: UtcDatetime
    embedding_model: str | None = None
    embedding_dimension: int | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    story_revision: int = 0
    index_id: str = ""
    index_removals: int = 0

    @property
    def last_write(self) -> tuple[str, int]:
        """What tells whether something was written; of a project that was deleted and made again it differs."""
        return self.index_id, self.story_revision


class StoredEntity(Model):
    """An entity whole, whatever the story has shown of it: for authors and tools, never for prompts."""

    entity: Entity
    origin: EntityOrigin = "author"
    created_at: UtcDatetime | None = Field(default=None, description="None: stored before moments were kept.")
    updated_at: UtcDatetime | None = None
    author_aliases: list[str] = Field(
        default_factory=list, exclude_if=is_unsaid, description="Those of its aliases that an author wrote."
    )

    def tells_the_same(self, other: StoredEntity) -> bool:
        """Tell whether both say the same of an entity, whenever they did."""
        moments = {"created_at", "updated_at"}
        return self.model_dump(exclude=moments) == other.model_dump(exclude=moments)


class StoredEvent(Model):
    """What all that is told of a place says of it; an author's outlives the scene's next version."""

    chapter_index: int | None = None
    scene_index: int | None = None
    origin: EventOrigin = "author"
    scene_label: str | None = Field(
        default=None, exclude_if=is_unsaid, description="The scene that it goes with, where a project is told whole."
    )


class StoredState(StateChange, StoredEvent):
    """A state change as it is stored."""

    created_at: UtcDatetime
    detail: dict[str, Any] = Field(
        default_factory=dict, description="What a history says of it beside, such as a summary."
    )


class StoredLoopEvent(StoredEvent):
    """An open loop was planted, moved, resolved or dropped; `detail` describes it where it was planted."""

    loop_id: str
    kind: LoopEventKind
    note: str = ""
    detail: dict[str, Any] = Field(default_factory=dict)


class StoredPair(Model):
    """The id of a relationship; `character_a` sorts before `character_b`."""

    relationship_id: str
    character_a: str
    character_b: str
    created_at: UtcDatetime | None = None
    updated_at: UtcDatetime | None = None
    other_fields: dict[str, Any] = Field(
        default_factory=dict, description="What another program's document of it says beside."
    )


class StoredRelationshipChange(StoredEvent):
    """How a pair stood after a scene; None leaves the earlier value."""

    relationship_id: str
    relationship_type: str | None = None
    status: str | None = None
    perspective_a: str | None = None
    perspective_b: str | None = None
    intensity: int | None = Field(default=None, ge=0, le=10)
    dimensions: dict[RelationshipDimension, int] = Field(default_factory=dict)
    dimensions_a: dict[RelationshipDimension, int] | None = None
    dimensions_b: dict[RelationshipDimension, int] | None = None
    event: str = ""


class StoredKnowledge(Learnt, StoredEvent):
    """What a record or an author says of who knows a memory; without a position it has always held."""

    origin: EventOrigin = "record"
    source_span: tuple[int, int] | None = Field(default=None, description="Where the quote stands in the scene's text.")
    verified: bool = True

    def event(self) -> KnowledgeEvent:
        """Return it as the rules take it: a quote that does not stand in the scene proves nothing."""
        told = {name: getattr(self, name) for name in Learnt.model_fields}
        if not self.verified:
            told["quote"] = ""
        place = {"chapter_index": self.chapter_index or 0, "scene_index": self.scene_index or 0}
        return KnowledgeEvent(**told, **place, by_author=self.origin == "author")


class SceneWrite(Model):
    """A finished scene with everything that came from it.

    Loops and relationships are taken from `record`. `chunk_links` overrides a chunk's `entities_mentioned`
    where it has the chunk's id. `scene_id` and `label` are for a scene that has none yet; a stored scene keeps its
    own, and a label that another scene has is not given again.
    """

    project_id: str = Field(min_length=1)
    chapter_index: ChapterIndex
    scene_index: SceneIndex
    scene_id: str | None = None
    label: str = ""
    title: str = ""
    text: str = ""
    location_id: str | None = None
    pov: str | None = None
    story_time: str | None = None
    participants: list[str] = Field(default_factory=list, description="Entity ids on stage.")
    record: SceneRecord | None = None
    record_origin: EntityOrigin = "rules"
    extraction_status: ExtractionStatus = "none"
    failure_reason: str | None = None
    chunks: list[StoryMemoryChunk] = Field(default_factory=list)
    kept: list[str] = Field(default_factory=list, description="Ids of stored memories that stay as they are.")
    chunk_links: dict[str, list[str]] = Field(default_factory=dict, description="Chunk id to entity ids.")
    states: list[StateChange] = Field(default_factory=list)
    knowledge: list[StoredKnowledge] = Field(
        default_factory=list, description="What its record says of who knows what."
    )
    mentions: list[tuple[str, str]] = Field(
        default_factory=list, description="(entity_id, name) for every name that the text contains."
    )


class SceneWriteResult(Model):
    """What a scene write changed; chunk ids in order of id."""

    scene_id: str
    label: str
    is_new: bool
    chunks_added: list[str] = Field(default_factory=list)
    chunks_changed: list[str] = Field(default_factory=list, description="Same id, other text or links.")
    chunks_removed: list[str] = Field(default_factory=list)
    chunks_unchanged: list[str] = Field(default_factory=list, description="They keep their embedding.")
    chunks_kept: list[str] = Field(
        default_factory=list, description="Edited, pinned, banned or deleted by the author; left alone."
    )
    ended: dict[str, str] = Field(
        default_factory=dict, description="Memory id to that of the earlier one that it ends, where rules told it."
    )


class StoredScene(Model):
    """A scene as it is stored; `text` is None where it was not asked for."""

    project_id: str
    scene_id: str
    label: str
    chapter_index: int
    scene_index: int
    title: str = ""
    text: str | None = None
    text_hash: str
    content_hash: str
    story_time: str | None = None
    location_id: str | None = None
    pov: str | None = None
    participants: list[str] = Field(default_factory=list)
    record: SceneRecord | None = None
    record_origin: EntityOrigin = "rules"
    extraction_status: ExtractionStatus = "none"
    failure_reason: str | None = None
    created_at: UtcDatetime
    updated_at: UtcDatetime
    other_fields: dict[str, Any] = Field(
        default_factory=dict, description="What another program's document of it says beside."
    )
    mentions: list[tuple[str, str]] = Field(
        default_factory=list,
        exclude=True,
        description="(entity_id, name) of the names that stand in it, where a project is told whole.",
    )

    @property
    def position(self) -> StoryPosition:
        """The moment of entering the scene."""
        return StoryPosition(self.chapter_index, self.scene_index)


class SceneState(Model):
    """How far a scene was read for facts, without its text and record."""

    chapter_index: int
    scene_index: int
    title: str = ""
    characters: int = Field(description="Of its text; 0 where they were not counted.")
    has_record: bool
    record_origin: EntityOrigin
    extraction_status: ExtractionStatus
    failure_reason: str | None = None
    created_at: UtcDatetime | None = None


class FactCount(Model):
    """How many facts a scene holds, and how many of them no words of it prove."""

    facts: int = 0
    unverified: int = 0


class SceneCensus(Model):
    """How much of a story is stored, and how far its scenes were read."""

    chapters: int
    scenes: int
    characters: int = Field(description="Of all texts together.")
    with_record: int
    failed: int = Field(description="Scenes without a record that a model could not read.")


class StoredMemory(Model):
    """A memory with what the author decided about it."""

    chunk: StoryMemoryChunk
    status: MemoryStatus = "active"
    pinned: bool = False
    scene_id: str | None = None
    from_scene: bool = Field(
        default=True, description="Brought by a scene, edited since or not; False: an author's note."
    )
    last_accessed_at: UtcDatetime | None = Field(
        default=None, description="When it was last read, as far as readers asked for it to be noted."
    )
    attached: list[str] = Field(
        default_factory=list, exclude_if=is_unsaid, description="Targets set by hand, where a project is told whole."
    )
    detached: list[str] = Field(
        default_factory=list, exclude_if=is_unsaid, description="Targets taken off by hand, told likewise."
    )
    scene_label: str | None = Field(default=None, exclude_if=is_unsaid, description="Of its scene, told likewise.")


class MemoryFilter(Model):
    """Which memories of a project to read; what is empty or None does not filter."""

    as_of: StoryPosition = END_OF_STORY
    entities: list[str] = Field(default_factory=list, description="Attached to one of these: ids, chapter:3 or book.")
    content_types: list[ContentType] = Field(default_factory=list)
    tags: list[str] = Field(default_factory=list, description="With one of these tags.")
    statuses: list[MemoryStatus] = Field(default=["active"])
    unverified_only: bool = False
    unconsolidated: bool = Field(
        default=False, description="What scenes and authors brought, as if nothing were consolidated."
    )


class MemoryEdit(Model):
    """What an author changes in a memory; None leaves a field as it is."""

    content: str | None = Field(default=None, min_length=1)
    short: str | None = None
    importance: int | None = Field(default=None, ge=1, le=10)
    entities: list[str] | None = None
    tags: list[str] | None = None
    event_type: str | None = None
    verified: bool | None = None
    source_span: tuple[int, int] | Literal["none"] | None = Field(
        default=None, description="Characters of its scene that prove it; `none` takes what did away."
    )


class LexicalHit(Model):
    """A memory that shares words with a query; a higher score is better."""

    chunk_id: str
    score: float


class OutboxEntry(Model):
    """A change of one chunk that the vector index has to follow."""

    project_id: str
    chunk_id: str
    operation: OutboxOperation
    state: OutboxState = "pending"
    attempts: int = 0
    revision: int = Field(description="Grows when the chunk changes again; a stale mark is ignored.")
    last_error: str | None = None


SummaryLevel = Literal["chapter", "part"]

SummaryWriter = Literal["author", "model"]


class StoredSummary(Model):
    """A written summary as it is stored."""

    level: SummaryLevel
    number: int
    first_chapter: int
    last_chapter: int
    text: str
    origin: SummaryWriter
    source_hash: str = ""
    is_withheld: bool = False
    written_at: UtcDatetime


class Happened(Model):
    """When something happened: the session and turn of a game, where it has any, and the point in time."""

    session: PositionNumber | None = None
    turn: PositionNumber | None = None
    happened_at: UtcDatetime


class StoredDispositionChange(Happened, DispositionChange):
    """What one character feels for another moved; `values` are dimensions that were set."""

    character_id: str
    other_id: str
    memory_id: str | None = None


class Disclosure(Happened):
    """A character revealed a secret to another, or was shown a thing by another."""

    character_id: str
    other_id: str
    kind: Literal["revealed", "shown"]
    subject: str = Field(description="Id of the secret, or name of the thing.")


class FlagChange(Happened):
    """A flag of the story took a value."""

    name: str
    value: Any = None


INDEX_STAGE = "index"


class IndexingResult(Model):
    """What was brought to the index, and what still waits."""

    indexed: int = Field(default=0, description="Memories stored in the index.")
    removed: int = Field(default=0, description="Memories asked to be removed from it.")
    embedded: int = Field(default=0, description="Texts that had to be embedded.")
    waiting: int = Field(default=0, description="Entries that are still to be done.")
    issues: list[ReportIssue] = Field(default_factory=list)

    def with_issue(self, message: str) -> IndexingResult:
        """Return the same result, saying also what is not as it should be although everything was stored."""
        issue = ReportIssue(stage=INDEX_STAGE, kind="degraded", message=message)
        return self.model_copy(update={"issues": [*self.issues, issue]})
