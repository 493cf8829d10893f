"""Models that repositories take and return, beside rows."""

from typing import Any, Literal

from pydantic import Field

from novelgen.models.base import Model
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity
from novelgen.models.memory import ContentType, StoryMemoryChunk, read_from
from novelgen.models.position import END_OF_STORY, ChapterIndex, SceneIndex, StoryPosition, UtcDatetime
from novelgen.models.record import SceneRecord, is_unsaid
from novelgen.models.state import StateChange
from runtime.storage.columns import EntityOrigin, ExtractionStatus, MemoryStatus
from runtime.storage.records import Knowledge


class StoredEntity(Model):
    """An entity whole, whatever the story has shown of it: for authors and tools, never for prompts."""

    entity: Entity
    origin: EntityOrigin = "author"
    created_at: UtcDatetime | None = Field(default=None, description="None: stored before moments were kept.")
    updated_at: UtcDatetime | None = None
    author_aliases: list[str] = Field(
        default_factory=list, exclude_if=is_unsaid, description="Those of its aliases that an author wrote."
    )

    def tells_the_same(self, other: "StoredEntity") -> bool:
        """Tell whether both say the same of an entity, whenever they did."""
        moments = {"created_at", "updated_at"}
        return self.model_dump(exclude=moments) == other.model_dump(exclude=moments)


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
    staged: dict[str, Any] = Field(default_factory=dict, description="As `Scene.staged`.")
    file_version: dict[str, str] | None = Field(default=None, description="As `Scene.file_version`.")
    chunks: list[StoryMemoryChunk] = Field(default_factory=list)
    kept: list[str] = Field(default_factory=list, description="Ids of stored memories that stay as they are.")
    chunk_links: dict[str, list[str]] = Field(default_factory=dict, description="Chunk id to entity ids.")
    states: list[StateChange] = Field(default_factory=list)
    knowledge: list[Knowledge] = Field(default_factory=list, description="What its record says of who knows what.")
    mentions: list[tuple[str, str]] = Field(
        default_factory=list, description="(entity_id, name) for every name that the text contains."
    )


class SceneWriteResult(Model):
    """The result of a scene write, with sorted chunk ids."""

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


class SceneState(Model):
    """How far a scene was read for facts, without its text and record."""

    chapter_index: int
    scene_index: int
    title: str = ""
    characters: int = Field(description="Of its text; 0 where they were not counted.")
    words: int = Field(default=0, description="Of its text, its 字数; 0 where they were not counted.")
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
    """A memory with the author's decisions."""

    chunk: StoryMemoryChunk
    status: MemoryStatus = "active"
    pinned: bool = False
    over_at: list[int | None] | None = Field(
        default=None, exclude_if=is_unsaid, description="Chapter and scene after which its author ended it."
    )
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

    @property
    def over_from(self) -> StoryPosition | None:
        """First position at which it is over, by its author."""
        if self.over_at is None:
            return None
        chapter, scene = self.over_at
        return read_from(chapter or 0, scene)


class DeletedScene(Model):
    """A scene that its author deleted."""

    change_id: int
    text: str
    file_version: dict[str, str] | None = Field(description="As `Scene.file_version`.")


class MemoryFilter(Model):
    """A filter of memories, ignoring empty and None fields."""

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
    """An author's edit of a memory, None keeping a field."""

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
    """A lexical match.

    Higher scores are better.
    """

    chunk_id: str
    score: float


INDEX_STAGE = "index"


class IndexingResult(Model):
    """Indexed and pending counts."""

    indexed: int = Field(default=0, description="Memories stored in the index.")
    removed: int = Field(default=0, description="Memories asked to be removed from it.")
    embedded: int = Field(default=0, description="Texts that had to be embedded.")
    waiting: int = Field(default=0, description="Entries that are still to be done.")
    issues: list[ReportIssue] = Field(default_factory=list)

    def with_issue(self, message: str) -> "IndexingResult":
        """Return the result with an additional issue."""
        issue = ReportIssue(stage=INDEX_STAGE, kind="degraded", message=message)
        return self.model_copy(update={"issues": [*self.issues, issue]})
