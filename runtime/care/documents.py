"""Shapes of the JSON documents of a memory folder, as this program or a person wrote them."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from novelgen.models.entity import METADATA, EntityType
from novelgen.models.knowledge import Learnt
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import UtcDatetime
from novelgen.models.record import SceneRecord
from novelgen.models.state import LoopImportance, RelationshipDimensions
from novelgen.models.user_file import StoryParts
from runtime.storage import columns, records

_WORDS_ONLY = "words-only"
"""The `embedding_id` in a document of a memory that the vector index does not hold."""
_EVENT_TYPE_OF_CONSOLIDATED = "consolidated"
"""The `event_type` in a document of a memory that stands for others."""
_NOT_TOLD = {"project_id", "superseded_by", "is_indexed", "is_consolidated", "attached_to"}


Moment = Annotated[UtcDatetime | None, BeforeValidator(lambda value: None if value == "" else value)]
"""When something was made or changed; other programs write an empty text where they do not know."""


class Document(BaseModel):
    """A document that keeps unknown fields in `model_extra`."""

    model_config = ConfigDict(extra="allow")


class _Card(Document):
    """Author's notes and first position of an entity or pair."""

    id: str = Field(min_length=1)
    created_at: Moment = None
    updated_at: Moment = None
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    author_metadata: dict[str, JsonValue] | None = Field(
        default=None, description="The author's own values where `metadata` tells computed ones."
    )

    def noted(self, computed: Sequence[str]) -> dict[str, Any]:
        """Return the author's notes as profile data, empty without any."""
        fields: dict[str, Any] = dict(self.metadata)
        if self.author_metadata is not None:
            fields = {name: value for name, value in fields.items() if name not in computed} | self.author_metadata
        return {METADATA: fields} if fields else {}


class _Entry(Document):
    """An entry of a history: its number among all of its kind, and where it stands."""

    order: int | None = None
    scene_id: str | None = None
    chapter_index: int | None = Field(default=None, ge=0)
    scene_index: int | None = Field(default=None, ge=0)


class HistoryEntry(_Entry):
    """State changes of an entity at one place, foreign without `origin`.

    What it holds beside its fields, a summary or a tick, is kept with the changes.
    """

    entity_type: EntityType | None = None
    kind: Literal["explicit", "presence"] = "explicit"
    origin: columns.EventOrigin | None = None
    created_at: UtcDatetime | None = None
    verified: bool = True
    source_span: tuple[int, int] | None = None
    changes: dict[str, JsonValue] = Field(default_factory=dict)


class EntityDocument(_Card):
    """An entity file such as characters/C0.json, with the profile as other fields."""

    type: EntityType
    name: str = Field(min_length=1)
    aliases: list[str | dict[str, JsonValue]] = Field(default_factory=list)
    role: str = ""
    description: str = ""
    profile: dict[str, JsonValue] = Field(default_factory=dict)
    relationships: list[JsonValue] = Field(default_factory=list, description="For reading only.")
    current_state: dict[str, JsonValue] = Field(default_factory=dict)
    history: list[HistoryEntry] = Field(default_factory=list)
    origin: columns.EntityOrigin = "author"
    first_chapter: int | None = Field(default=None, ge=0)
    first_scene: int | None = Field(default=None, ge=0)
    name_first_chapter: int | None = Field(default=None, ge=0)
    name_first_scene: int | None = Field(default=None, ge=0)
    said_from: tuple[int, int] | None = None


SCENE_NAMES = {"label": "id", "scene_id": "key", "pov": "pov_character_id", "participants": "characters_present"}
"""Fields of a stored scene whose document calls them otherwise."""

MemoryDocument = dict[str, Any]
"""A memory of a scene, or a note: the fields of its chunk and of `StoredMemory` side by side."""


class SceneDocument(Document):
    """scenes/S001.json.

    With `content_hash` it is restored unchanged.

    What it holds beside its fields is kept with the scene.
    """

    id: str = Field(min_length=1)
    type: str = "scene"
    created_at: Moment = None
    updated_at: Moment = None
    tick: int = Field(default=0, ge=0)
    chapter_index: int | None = Field(default=None, ge=0)
    scene_index: int | None = Field(default=None, ge=0)
    title: str = ""
    pov_character_id: str | None = None
    location_id: str | None = None
    story_time: str | None = None
    markdown_file: str = ""
    word_count: int | None = Field(default=None, ge=0, description="Counts where there is no text to count.")
    summary: list[str] = Field(default_factory=list)
    characters_present: list[str] = Field(default_factory=list)
    key_events: list[str] = Field(default_factory=list)
    emotional_beats: list[str] = Field(default_factory=list)
    open_loops_created: list[JsonValue] = Field(default_factory=list, description="For reading only.")
    open_loops_resolved: list[JsonValue] = Field(default_factory=list, description="For reading only.")
    text: str = ""
    record: SceneRecord | None = None
    record_origin: columns.EntityOrigin = "rules"
    extraction_status: columns.ExtractionStatus = "none"
    failure_reason: str | None = None
    staged: dict[str, Any] = Field(default_factory=dict)
    file_version: dict[str, str] | None = None
    key: str = ""
    content_hash: str = ""
    mentions: list[tuple[str, str]] = Field(default_factory=list)
    memories: list[MemoryDocument] = Field(default_factory=list)

    @property
    def place(self) -> tuple[int, int]:
        """Chapter and scene.

        Defaults are chapter 1, and the tick or the id's digits.
        """
        chapter = 1 if self.chapter_index is None else self.chapter_index
        digits = "".join(filter(str.isdigit, self.id))
        return chapter, (self.tick or int(digits or 0)) if self.scene_index is None else self.scene_index

    def other_fields(self) -> dict[str, Any]:
        """Return the fields that a stored scene lacks."""
        document_fields = {"markdown_file": self.markdown_file, "word_count": None if self.text else self.word_count}
        return {**{name: value for name, value in document_fields.items() if value}, **(self.model_extra or {})}


class LoopHistoryEntry(_Entry, records.LoopEventFields):  # type: ignore[misc]
    """An event of a thread, which its document names."""

    loop_id: str = ""


class LoopDocument(Document):
    """An entry of open_loops.json.

    Without `history` its events come from other fields.
    """

    id: str = Field(min_length=1)
    type: str = "open_loop"
    created_at: Moment = None
    status: Literal["open", "advanced", "resolved", "abandoned", "expired"] = "open"
    created_in_scene: str | None = None
    category: str = ""
    description: str = ""
    importance: LoopImportance = "medium"
    related_characters: list[str] = Field(default_factory=list)
    related_locations: list[str] = Field(default_factory=list)
    related_items: list[str] = Field(default_factory=list)
    notes: str = ""
    resolved_in_scene: str | None = None
    resolution_summary: str | None = None
    history: list[LoopHistoryEntry] = Field(default_factory=list)


class RelationshipHistoryEntry(_Entry, records.RelationshipChangeFields):  # type: ignore[misc]
    """A change of a relationship, foreign without `origin`."""

    relationship_id: str = ""
    status_change: str | None = None
    dimensions: RelationshipDimensions = Field(default_factory=dict)
    dimensions_a: RelationshipDimensions | None = None
    dimensions_b: RelationshipDimensions | None = None


class RelationshipDocument(_Card):
    """An entry of relationships.json, with extra fields kept."""

    type: str = "relationship"
    character_a: str = Field(min_length=1)
    character_b: str = Field(min_length=1)
    relationship_type: str = ""
    type_reads_back: bool = False
    status: str = "neutral"
    perspective_a: str = ""
    perspective_b: str = ""
    intensity: int = Field(default=5, ge=0, le=10)
    dimensions: RelationshipDimensions = Field(default_factory=dict)
    dimensions_a: RelationshipDimensions = Field(default_factory=dict)
    dimensions_b: RelationshipDimensions = Field(default_factory=dict)
    history: list[RelationshipHistoryEntry] = Field(default_factory=list)


class SummariesFile(Document):
    """summaries.json."""

    parts: StoryParts = Field(default_factory=list)
    summaries: list[Annotated[records.Summary, records.read_as(records.Summary)]] = Field(default_factory=list)


class KnowledgeEntry(_Entry, Learnt):
    """A knowledge statement, a person's without `origin`."""

    origin: columns.EventOrigin = "record"
    source_span: tuple[int, int] | None = None
    verified: bool = True
    adds_knower: bool = False


class ProjectFile(Document):
    """project.json."""

    name: str = ""
    language: str = ""


def chunk_document(chunk: StoryMemoryChunk) -> dict[str, Any]:
    """Return a memory as a document in the exchange format."""
    fields = chunk.model_dump(mode="json", exclude=_NOT_TOLD)
    if not chunk.is_indexed:
        fields["embedding_id"] = _WORDS_ONLY
    if chunk.is_consolidated:
        fields["event_type"] = _EVENT_TYPE_OF_CONSOLIDATED
    return fields


def chunk_fields(document: MemoryDocument) -> dict[str, Any]:
    """Return the fields of a memory that a document tells, the reverse of `chunk_document`."""
    fields = dict(document)
    if fields.get("embedding_id") == _WORDS_ONLY:
        fields |= {"embedding_id": None, "is_indexed": False}
    if fields.get("event_type") == _EVENT_TYPE_OF_CONSOLIDATED:
        fields |= {"event_type": None, "is_consolidated": True}
    return fields
