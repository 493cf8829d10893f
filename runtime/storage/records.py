"""What goes into and comes out of the storage beside the story models themselves."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, Field

from novelgen.models.entity import Entity
from novelgen.models.knowledge import Certainty, KnowledgeEvent, KnowledgeKind, KnowledgeSource
from novelgen.models.memory import ContentType, StoryMemoryChunk
from novelgen.models.position import END_OF_STORY, ChapterIndex, SceneIndex, StoryPosition
from novelgen.models.record import SceneRecord
from novelgen.models.state import StateChange

EntityOrigin = Literal["author", "supplied", "extracted", "rules"]
ExtractionStatus = Literal["none", "done", "failed", "pending"]
EventOrigin = Literal["record", "author"]
MemoryStatus = Literal["active", "banned", "deleted"]
OutboxOperation = Literal["upsert", "delete"]
OutboxState = Literal["pending", "done", "failed"]
ScenePlace = tuple[int, int]
"""Chapter and scene."""


class StoredProject(BaseModel):
    """A project as it is stored.

    `story_revision` grows with every write to it. `index_id` names its index on a Chroma server that several
    databases share: it is the database's own, and goes with every copy of it. `index_removals` counts the rows that
    were removed from the index since it was built, whose vectors it keeps.
    """

    project_id: str
    name: str = ""
    language: str = ""
    created_at: datetime
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


class StoredEntity(BaseModel):
    """An entity whole, whatever the story has shown of it: for authors and tools, never for prompts."""

    entity: Entity
    origin: EntityOrigin
    created_at: datetime | None = Field(default=None, description="None: stored before moments were kept.")
    updated_at: datetime | None = None


class StoredKnowledge(BaseModel):
    """What a record or an author says of who knows a memory; without a position it has always held."""

    character_id: str
    source_id: str
    chapter_index: int | None = None
    scene_index: int | None = None
    kind: KnowledgeKind = "knows"
    how: KnowledgeSource = "author"
    learned_from: str | None = None
    certainty: Certainty = 1.0
    quote: str = ""
    source_span: tuple[int, int] | None = Field(default=None, description="Where the quote stands in the scene's text.")
    verified: bool = True
    origin: EventOrigin = "record"

    def event(self) -> KnowledgeEvent:
        """Return it as the rules take it: a quote that does not stand in the scene proves nothing."""
        return KnowledgeEvent(
            character_id=self.character_id,
            source_id=self.source_id,
            chapter_index=self.chapter_index or 0,
            scene_index=self.scene_index or 0,
            kind=self.kind,
            how=self.how,
            learned_from=self.learned_from,
            certainty=self.certainty,
            quote=self.quote if self.verified else "",
            by_author=self.origin == "author",
        )


class SceneWrite(BaseModel):
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
    chunk_links: dict[str, list[str]] = Field(default_factory=dict, description="Chunk id to entity ids.")
    states: list[StateChange] = Field(default_factory=list)
    knowledge: list[StoredKnowledge] = Field(
        default_factory=list, description="What its record says of who knows what."
    )
    mentions: list[tuple[str, str]] = Field(
        default_factory=list, description="(entity_id, name) for every name that the text contains."
    )


class SceneWriteResult(BaseModel):
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


class StoredScene(BaseModel):
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
    created_at: datetime
    updated_at: datetime
    other_fields: dict[str, Any] = Field(
        default_factory=dict, description="What another program's document of it says beside."
    )

    @property
    def position(self) -> StoryPosition:
        """The moment of entering the scene."""
        return StoryPosition(self.chapter_index, self.scene_index)


class SceneState(BaseModel):
    """How far a scene was read for facts, without its text and record."""

    chapter_index: int
    scene_index: int
    title: str = ""
    characters: int = Field(description="Of its text; 0 where they were not counted.")
    has_record: bool
    record_origin: EntityOrigin
    extraction_status: ExtractionStatus
    failure_reason: str | None = None


class FactCount(BaseModel):
    """How many facts a scene holds, and how many of them no words of it prove."""

    facts: int = 0
    unverified: int = 0


class SceneCensus(BaseModel):
    """How much of a story is stored, and how far its scenes were read."""

    chapters: int
    scenes: int
    characters: int = Field(description="Of all texts together.")
    with_record: int
    failed: int = Field(description="Scenes without a record that a model could not read.")


class StoredMemory(BaseModel):
    """A memory with what the author decided about it."""

    chunk: StoryMemoryChunk
    status: MemoryStatus
    pinned: bool
    scene_id: str | None = None
    from_scene: bool = Field(description="Brought by a scene, edited since or not; False: an author's note.")
    last_accessed_at: datetime | None = Field(
        default=None, description="When it was last read, as far as readers asked for it to be noted."
    )


class MemoryFilter(BaseModel):
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


class MemoryEdit(BaseModel):
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


class LexicalHit(BaseModel):
    """A memory that shares words with a query; a higher score is better."""

    chunk_id: str
    score: float


class OutboxEntry(BaseModel):
    """A change of one chunk that the vector index has to follow."""

    project_id: str
    chunk_id: str
    operation: OutboxOperation
    state: OutboxState = "pending"
    attempts: int = 0
    revision: int = Field(description="Grows when the chunk changes again; a stale mark is ignored.")
    last_error: str | None = None
