"""SQLModel tables, with one class per table."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import sqlmodel
from pydantic import BeforeValidator, Field, computed_field, model_validator
from sqlalchemy import JSON, ForeignKeyConstraint, Index, MetaData, UniqueConstraint, text, type_coerce
from sqlmodel import SQLModel
from sqlmodel.main import SQLModelConfig

from novelgen.characters.dispositions import DispositionChange
from novelgen.characters.memory import CharacterMemory, CharacterMemoryStatus, CharacterTier, PositionNumber
from novelgen.models.entity import EntityType
from novelgen.models.knowledge import Certainty, KnowledgeEvent, KnowledgeKind, KnowledgeSource, Learnt
from novelgen.models.memory import ContentType, MemoryOrigin, MemoryTier
from novelgen.models.position import StoryPosition, UtcDatetime, utc_now
from novelgen.models.record import SceneRecord
from novelgen.models.state import RelationshipDimension, StateChange
from runtime.storage.columns import (
    BIG_KEY,
    PLACE,
    WITHOUT_RECORD,
    ChangeSubject,
    ChunkRowId,
    DisclosureKind,
    EntityOrigin,
    EventOrigin,
    ExtractionStatus,
    Hidden,
    Json,
    Key,
    LinkKind,
    LoopEventKind,
    MemoryStatus,
    NullableJson,
    OutboxOperation,
    OutboxState,
    ProjectId,
    RecordJson,
    RowId,
    SceneId,
    ScenePlace,
    StateKind,
    SummaryLevel,
    SummaryWriter,
    Word,
    of_entity,
    one_of,
    position_bounds,
)

_BY_COLUMNS = {kind: f"{kind}_%(table_name)s_%(column_0_N_name)s" for kind in ("ix", "uq", "fk")}

METADATA = MetaData(
    naming_convention={**_BY_COLUMNS, "ck": "ck_%(table_name)s_%(constraint_name)s", "pk": "pk_%(table_name)s"}
)


class Row(SQLModel):
    """Base of table rows, read whole and written by insert or update."""

    model_config = SQLModelConfig(defer_build=True)
    metadata: ClassVar[MetaData] = METADATA

    def columns(self) -> dict[str, Any]:
        """Return all columns by name."""
        return {name: getattr(self, name) for name in type(self).model_fields}

    def as_new(self) -> dict[str, Any]:
        """Return the columns of a new row that says the same."""
        return {name: value for name, value in self.columns().items() if name != "row_id"}

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a row of its own that says the same but for the update."""
        return type(self)(**{**self.columns(), **(update or {})})

    def __eq__(self, other: object) -> bool:
        """Return whether both say the same, wherever they are stored."""
        return type(self) is type(other) and isinstance(other, Row) and self.model_dump() == other.model_dump()


def read_as(table: type[Row]) -> BeforeValidator:
    """Return a validated row from a document."""
    return BeforeValidator(lambda value: table.model_validate(value) if isinstance(value, dict) else value)


class Owned(Row):
    """A row of a project with a number of its own."""

    row_id: RowId = None
    project_id: ProjectId = ""


class Placed(Row):
    """The place of an event.

    An author's outlives new scene versions.
    """

    chapter_index: int | None = None
    scene_index: int | None = None
    origin: Word[EventOrigin] = "author"


class Quoted(Row):
    """A fact with an optional quote and its span."""

    span_start: Hidden[int | None] = None
    span_end: Hidden[int | None] = None

    def __init__(self, **values: Any) -> None:
        super().__init__(**_with_span_columns(values))

    @model_validator(mode="before")
    @classmethod
    def _with_columns(cls, values: Any) -> Any:
        return _with_span_columns(values) if isinstance(values, dict) else values

    @computed_field(description="Where the quote stands in the scene's text: characters [start, end).")  # type: ignore[prop-decorator]
    @property
    def source_span(self) -> tuple[int, int] | None:
        """The quote's characters [start, end) in the scene, or None."""
        return None if self.span_start is None or self.span_end is None else (self.span_start, self.span_end)


def _with_span_columns(values: dict[str, Any]) -> dict[str, Any]:
    if "source_span" not in values:
        return values
    start, end = values["source_span"] or (None, None)
    rest = {name: value for name, value in values.items() if name != "source_span"}
    return {**rest, "span_start": start, "span_end": end}


class Staging(NamedTuple):
    """The cast and place of a scene."""

    place: ScenePlace
    participants: list[str]
    location_id: str | None
    pov: str | None


class Project(Row, table=True):
    """A story.

    `project_number` is its scope in the lexical index.

    `story_revision` grows with every write to it. `index_id` names its live index in a vector store that several
    databases share: it is the database's own, and goes with every copy of it. `index_removals` counts the rows that
    were removed from the index or replaced since it was built, whose vectors Chroma keeps.
    """

    __tablename__ = "projects"
    __table_args__ = (UniqueConstraint("project_id"),)

    project_number: RowId = None
    project_id: str
    name: str = ""
    language: str = ""
    created_at: UtcDatetime
    embedding_model: str | None = None
    embedding_dimension: int | None = None
    settings: Json[dict[str, Any]] = Field(default_factory=dict)
    story_revision: int = 0
    index_id: str = ""
    index_removals: int = 0

    @property
    def last_write(self) -> tuple[str, int]:
        """A version mark of writes, distinct for recreated projects."""
        return self.index_id, self.story_revision


class IdCounter(Row, table=True):
    """The next number of a kind of id, within a project."""

    __tablename__ = "counters"

    project_id: str = sqlmodel.Field(
        default="", primary_key=True, foreign_key="projects.project_id", ondelete="CASCADE"
    )
    kind: Key
    next_number: int


class Scene(Row, table=True):
    """A stored scene with a stable id.

    `text` is None if not requested.
    """

    __tablename__ = "scenes"
    __table_args__ = (
        UniqueConstraint("project_id", *PLACE),
        UniqueConstraint("project_id", "label"),
        position_bounds(),
        one_of("record_origin", EntityOrigin),
        one_of("extraction_status", ExtractionStatus),
    )

    project_id: str = sqlmodel.Field(default="", foreign_key="projects.project_id", ondelete="CASCADE")
    scene_id: Key
    label: str
    chapter_index: int
    scene_index: int
    title: str = ""
    text: str | None = sqlmodel.Field(default=None, nullable=False)
    text_hash: str
    content_hash: str
    story_time: str | None = None
    location_id: str | None = None
    pov: str | None = None
    participants: Json[list[str]] = Field(default_factory=list)
    record: Annotated[SceneRecord | None, sqlmodel.Field(sa_type=RecordJson)] = None
    record_origin: Word[EntityOrigin] = "rules"
    extraction_status: Word[ExtractionStatus] = "none"
    failure_reason: str | None = None
    staged: Json[dict[str, Any]] = Field(
        default_factory=dict,
        description="What the author says of who is there and where, and whom names mean: participants, location_id, "
        "names.",
    )
    file_version: NullableJson[dict[str, str] | None] = Field(
        default=None,
        description="Title and hash of the text that its file had when it was last taken in. Empty of a scene that "
        "came from no file, None where nobody knows.",
    )
    created_at: UtcDatetime
    updated_at: UtcDatetime
    other_fields: Json[dict[str, Any]] = Field(
        default_factory=dict, description="What another program's document of it says beside."
    )

    @property
    def position(self) -> StoryPosition:
        """The moment of entering the scene."""
        return StoryPosition(self.chapter_index, self.scene_index)

    @property
    def guessed(self) -> list[str]:
        """What of who is there and where only rules say."""
        return guessed_staging(self.record_origin, self.staged)


MEANINGS = "names"
"""Key of a scene's `staged`: names to the ids of the cards that they mean in it."""

STAGING = ("participants", "location_id")
"""Fields of a scene that rules guess where no record and no author says them."""


def guessed_staging(origin: str, staged: Mapping[str, Any]) -> list[str]:
    """Return the fields of a scene that only rules say."""
    return [name for name in STAGING if name not in staged] if origin == WITHOUT_RECORD else []


SCENE_RECORD: Any = type_coerce(Scene.record, JSON)
"""The record of a scene as JSON, for statements that read or rewrite parts of it."""


class EntityRow(Owned, table=True):
    """A person, place, thing, group or term."""

    __tablename__ = "entities"
    __table_args__ = (
        UniqueConstraint("project_id", "entity_id"),
        one_of("origin", EntityOrigin),
        one_of("entity_type", EntityType),
    )

    entity_id: str
    entity_type: Word[EntityType]
    name: str
    name_key: str
    role: str = ""
    description: str = ""
    profile: Json[dict[str, Any]] = Field(default_factory=dict)
    first_chapter: int | None = None
    first_scene: int | None = None
    name_first_chapter: int | None = None
    name_first_scene: int | None = None
    origin: Word[EntityOrigin]
    created_at: UtcDatetime | None = None
    updated_at: UtcDatetime | None = None


class AliasRow(Row, table=True):
    """Another name of an entity."""

    __tablename__ = "entity_aliases"
    __table_args__ = (
        of_entity(),
        UniqueConstraint("project_id", "entity_id", "alias"),
        Index(None, "project_id", "alias_key"),
    )

    row_id: RowId = None
    project_id: str = ""
    entity_id: str
    alias: str
    alias_key: str
    language: str | None = None
    speaker: str | None = None
    first_chapter: int | None = None
    first_scene: int | None = None
    by_author: bool = False


class CharacterFileAlias(Row, table=True):
    """An alias that nobody but characters.json has brought, as it was read last."""

    __tablename__ = "character_file_aliases"
    __table_args__ = (of_entity(),)

    project_id: Key = ""
    entity_id: Key
    alias: Key


class NameMention(Row, table=True):
    """A scene whose text contains a name."""

    __tablename__ = "name_mentions"
    __table_args__ = (Index("ix_name_mentions_first", "project_id", "entity_id", "name", *PLACE), position_bounds())

    scene_id: str = sqlmodel.Field(primary_key=True, foreign_key="scenes.scene_id", ondelete="CASCADE")
    entity_id: Key
    name: Key
    project_id: str = ""
    chapter_index: int
    scene_index: int


TOUCHED_BY_HAND = (
    "origin = 'author' OR pinned OR status <> 'active'"
    " OR CAST(attached AS TEXT) <> '[]' OR CAST(detached AS TEXT) <> '[]'"
)
"""Condition on `memory_chunks` that an author wrote or changed one; a query must have it word for word to be
answered by the index of those few."""

ENDS_SEVERAL = "CAST(also_supersedes AS TEXT) <> '[]'"
"""Condition on `memory_chunks` that a memory ends several; word for word, as for `TOUCHED_BY_HAND`."""

_SEARCHED = ("importance", "chapter_index", "scene_index", "status", "content_type", "term_count")
"""What a search reads of every memory before a position, most important first; nothing else of the row."""


class MemoryRow(Quoted, Owned, table=True):
    """A stored memory at its place in the story.

    `entities_mentioned` is what its origin links it to; `attached` and `detached` is what an author set and
    took off by hand. A memory without any link is attached to the book.
    """

    __tablename__ = "memory_chunks"
    __table_args__ = (
        UniqueConstraint("project_id", "chunk_id"),
        Index(None, "project_id", *PLACE),
        Index(None, "project_id", "slot_type"),
        Index(None, "project_id", "supersedes"),
        Index(None, "project_id", "source_id"),
        Index(None, "scene_id"),
        Index("ix_memory_chunks_searched", "project_id", *_SEARCHED),
        # The baseline says the same for PostgreSQL: here it would load that dialect for whoever opens a file.
        Index("ix_memory_chunks_by_hand", "project_id", "chunk_id", sqlite_where=text(TOUCHED_BY_HAND)),
        Index("ix_memory_chunks_ends_several", "project_id", "chunk_id", sqlite_where=text(ENDS_SEVERAL)),
        position_bounds(),
        one_of("status", MemoryStatus),
        one_of("content_type", ContentType),
        one_of("tier", MemoryTier),
        one_of("origin", MemoryOrigin),
    )

    chunk_id: str
    chapter_index: int | None = None
    scene_index: int | None = None
    content: str
    content_type: Word[ContentType] = "scene"
    entities_mentioned: Json[list[str]] = Field(default_factory=list)
    tags: Json[list[str]] = Field(default_factory=list)
    embedding_id: str | None = None
    is_indexed: bool = True
    is_consolidated: bool = False
    created_at: UtcDatetime = Field(default_factory=utc_now)
    short: str | None = None
    importance: int = 5
    tier: Word[MemoryTier] = "regular"
    source_id: str | None = None
    event_type: str | None = None
    supersedes: str | None = None
    also_supersedes: Json[list[str]] = Field(default_factory=list)
    over_at: NullableJson[list[int | None] | None] = Field(
        default=None, description="Place after which its author says that it no longer holds."
    )
    slot_type: str | None = None
    verified: bool = True
    origin: Word[MemoryOrigin] = "text"
    scene_id: SceneId = None
    from_scene: bool
    content_hash: str
    term_count: int
    status: Word[MemoryStatus]
    pinned: bool
    attached: Json[list[str]] = Field(default_factory=list)
    detached: Json[list[str]] = Field(default_factory=list)
    last_accessed_at: UtcDatetime | None = None


class MemoryLink(Row, table=True):
    """A memory is linked to an entity, or by hand to a chapter (`chapter:3`) or the `book`."""

    __tablename__ = "chunk_entities"
    __table_args__ = (Index(None, "project_id", "entity_id", "chunk_row_id"), one_of("kind", LinkKind))

    chunk_row_id: ChunkRowId
    entity_id: Key
    project_id: str = ""
    kind: Word[LinkKind]


class MemoryTag(Row, table=True):
    """A memory bears a tag."""

    __tablename__ = "chunk_tags"
    __table_args__ = (Index(None, "project_id", "tag", "chunk_row_id"),)

    chunk_row_id: ChunkRowId
    tag: Key
    project_id: str = ""


class Embedding(Row, table=True):
    """The vector of a memory's text under a model, as little-endian float32."""

    __tablename__ = "embeddings"

    chunk_row_id: ChunkRowId
    model: Key
    dimension: int
    content_hash: str
    vector: bytes


class ConsolidationSource(Row, table=True):
    """A source of a consolidated memory, at most one each."""

    __tablename__ = "consolidation_sources"
    __table_args__ = (Index(None, "project_id", "consolidated_row_id"), Index(None, "consolidated_row_id"))

    source_row_id: ChunkRowId
    consolidated_row_id: int = sqlmodel.Field(sa_type=BIG_KEY, foreign_key="memory_chunks.row_id", ondelete="CASCADE")
    project_id: str = ""


class OutboxEntry(Owned, table=True):
    """An index change of one chunk, outliving the chunk."""

    __tablename__ = "index_outbox"
    __table_args__ = (
        UniqueConstraint("project_id", "chunk_id"),
        Index(None, "project_id", "state", "row_id"),
        one_of("operation", OutboxOperation),
        one_of("state", OutboxState),
    )

    chunk_id: str
    operation: Word[OutboxOperation]
    state: Word[OutboxState] = "pending"
    attempts: int = 0
    revision: int = Field(description="Grows when the chunk changes again; a stale mark is ignored.")
    last_error: str | None = None


OF_CHAPTER = "is_of_chapter"
"""Key of the detail of a state that begins in the chapter of its place."""

NOTE = "note"
"""Key of a state's detail: the id of the note that states it."""


class State(Quoted, Placed, Owned, table=True):
    """One attribute of one entity took a value."""

    __tablename__ = "state_changes"
    __table_args__ = (
        Index(None, "project_id", "entity_id", *PLACE),
        Index(None, "project_id", *PLACE),
        Index(None, "scene_id"),
        position_bounds(),
        one_of("kind", StateKind),
        one_of("origin", EventOrigin),
    )

    scene_id: SceneId = None
    entity_id: str
    entity_type: str = "character"
    attribute: str
    value: Json[Any] = None
    kind: Word[StateKind] = "explicit"
    verified: bool = True
    created_at: UtcDatetime
    detail: Json[dict[str, Any]] = Field(
        default_factory=dict, description="What a history says of it beside, such as a summary."
    )

    @classmethod
    def of(cls, change: StateChange, **columns: Any) -> Self:
        """Return a change as a row."""
        return cls(**{**change.model_dump(exclude={"by_author", "is_of_chapter"}), **columns})

    def change(self) -> StateChange:
        """Return the row as the change that it holds."""
        value = self.value
        if self.kind == "presence" and isinstance(value, Mapping):
            # It was written where its scene stood then.
            value = {**value, "chapter_index": self.chapter_index, "scene_index": self.scene_index}
        fields = {name: getattr(self, name) for name in StateChange.model_fields if name != "value"}
        return StateChange.model_construct(**fields, value=value)

    @property
    def by_author(self) -> bool:
        """Whether no scene says it."""
        return self.origin == "author"

    @property
    def is_of_chapter(self) -> bool:
        """Whether its author says it from a scene of its chapter on."""
        return OF_CHAPTER in self.detail


class LoopEventFields(Placed):
    """A thread event.

    `detail` describes it at its planting.
    """

    loop_id: str
    kind: Word[LoopEventKind]
    note: str = ""
    detail: Json[dict[str, Any]] = Field(default_factory=dict)


class LoopEvent(LoopEventFields, Owned, table=True):
    """An event of an open loop."""

    __tablename__ = "loop_events"
    __table_args__ = (
        Index(None, "project_id", "loop_id", *PLACE),
        Index(None, "scene_id"),
        position_bounds(),
        one_of("kind", LoopEventKind),
        one_of("origin", EventOrigin),
    )

    scene_id: SceneId = None


class Pair(Owned, table=True):
    """A relationship's id.

    `character_a` sorts before `character_b`.
    """

    __tablename__ = "relationships"
    __table_args__ = (
        UniqueConstraint("project_id", "relationship_id"),
        UniqueConstraint("project_id", "character_a", "character_b"),
        Index(None, "project_id", "character_b"),
    )

    relationship_id: str
    character_a: str
    character_b: str
    created_at: UtcDatetime | None = None
    updated_at: UtcDatetime | None = None
    other_fields: Json[dict[str, Any]] = Field(
        default_factory=dict, description="What another program's document of it says beside."
    )


class RelationshipChangeFields(Placed):
    """A pair's status after a scene.

    None leaves the earlier value.
    """

    relationship_id: str
    relationship_type: str | None = None
    type_reads_back: bool = False
    status: str | None = None
    perspective_a: str | None = None
    perspective_b: str | None = None
    intensity: int | None = Field(default=None, ge=0, le=10)
    dimensions: Json[dict[RelationshipDimension, int]] = Field(default_factory=dict)
    dimensions_a: NullableJson[dict[RelationshipDimension, int] | None] = None
    dimensions_b: NullableJson[dict[RelationshipDimension, int] | None] = None
    event: str = ""


class RelationshipChange(RelationshipChangeFields, Row, table=True):
    """A change of a relationship."""

    __tablename__ = "relationship_changes"
    __table_args__ = (
        ForeignKeyConstraint(
            ["project_id", "relationship_id"],
            ["relationships.project_id", "relationships.relationship_id"],
            ondelete="CASCADE",
        ),
        Index("ix_relationship_changes_fold", "project_id", "relationship_id", *PLACE),
        Index(None, "scene_id"),
        position_bounds(),
        one_of("origin", EventOrigin),
    )

    row_id: RowId = None
    project_id: Hidden[str] = ""
    scene_id: SceneId = None


class Knowledge(Quoted, Placed, Owned, table=True):
    """A knowledge statement of a record or author, timeless without a position.

    `source_id` is that of the memory or thread, or `*` for all that `learned_from` has lived through.
    """

    __tablename__ = "knowledge_events"
    __table_args__ = (
        Index(None, "project_id", *PLACE),
        Index(None, "scene_id"),
        position_bounds(),
        one_of("kind", KnowledgeKind),
        one_of("how", KnowledgeSource),
        one_of("origin", EventOrigin),
    )

    scene_id: SceneId = None
    character_id: str
    source_id: str
    kind: Word[KnowledgeKind] = "knows"
    how: Word[KnowledgeSource] = "author"
    learned_from: str | None = None
    certainty: Certainty = 1.0
    quote: str = ""
    origin: Word[EventOrigin] = "record"
    verified: bool = True
    adds_knower: bool = False

    def event(self) -> KnowledgeEvent:
        """Return it as the rules take it: a quote that does not stand in the scene proves nothing."""
        fields = {name: getattr(self, name) for name in Learnt.model_fields}
        if not self.verified:
            fields["quote"] = ""
        place = {"chapter_index": self.chapter_index or 0, "scene_index": self.scene_index or 0}
        return KnowledgeEvent(**fields, **place, by_author=self.origin == "author", adds_knower=self.adds_knower)


class ChangeRow(Owned, table=True):
    """An undoable change.

    `changed_rows` holds the rows before and after.
    """

    __tablename__ = "changes"
    __table_args__ = (Index(None, "project_id", "subject", "row_id"), one_of("subject", ChangeSubject))

    subject: Word[ChangeSubject]
    kind: str
    entity_id: str
    other_id: str
    created_at: UtcDatetime
    undone_at: UtcDatetime | None = None
    changed_rows: Json[list[dict[str, Any]]]


class Summary(Owned, table=True):
    """A written summary of chapters.

    A withheld one tells of moved scenes.

    Of a chapter or part at most one row is not withheld.
    """

    __tablename__ = "story_summaries"
    __table_args__ = (
        Index(None, "project_id", "level", "number"),
        one_of("level", SummaryLevel),
        one_of("origin", SummaryWriter),
    )

    level: Word[SummaryLevel]
    number: int
    first_chapter: int
    last_chapter: int
    text: str
    origin: Word[SummaryWriter]
    source_hash: str = ""
    is_withheld: bool = False
    written_at: UtcDatetime


class CharacterMemoryRow(CharacterMemory, Owned, table=True):
    """One character's memory, outside story search.

    `changed` is the project's `story_revision` at which the row was written last, by which readers tell what is new.
    The vector is that of the content under the model, as little-endian float32.
    """

    model_config = SQLModelConfig(frozen=False)

    __tablename__ = "character_memories"
    __table_args__ = (
        UniqueConstraint("project_id", "memory_id"),
        Index("ix_character_memories_changed", "project_id", "character_id", "changed"),
        Index("ix_character_memories_event", "project_id", "event_id"),
        one_of("tier", CharacterTier),
        one_of("how", KnowledgeSource),
        one_of("status", CharacterMemoryStatus),
    )

    tier: Word[CharacterTier] = "regular"
    how: Word[KnowledgeSource] = "own_doing"
    status: Word[CharacterMemoryStatus] = "active"
    participants: Json[list[str]] = Field(default_factory=list)
    stands_for: Json[list[str]] = Field(default_factory=list)
    details: Json[dict[str, Any]] = Field(default_factory=dict)
    changed: int
    content_hash: str
    embedding_model: str | None = None
    vector: bytes | None = None


class Happened(Row):
    """When something happened: the session and turn of a game, where it has any, and the point in time."""

    session: PositionNumber | None = None
    turn: PositionNumber | None = None
    happened_at: UtcDatetime


class FeltChange(Happened, DispositionChange, Owned, table=True):
    """A change of one character's feelings for another."""

    model_config = SQLModelConfig(frozen=False)

    __tablename__ = "disposition_changes"
    __table_args__ = (Index(None, "project_id", "character_id", "other_id"),)

    character_id: str
    other_id: str
    memory_id: str | None = None
    event_type: str = ""
    deltas: Json[dict[str, int]] = Field(default_factory=dict, description="By how much each dimension moved.")
    values: Json[dict[str, int]] = Field(default_factory=dict, description="Dimensions that were set to a value.")


class CharacterSecret(Owned, table=True):
    """A secret of a character: `secret` holds the text, conditions and hints."""

    __tablename__ = "character_secrets"
    __table_args__ = (UniqueConstraint("project_id", "character_id", "secret_id"),)

    character_id: str
    secret_id: str
    secret: Json[dict[str, Any]]


class DisclosureFields(Happened):
    """A character revealed a secret to another, or was shown a thing by another."""

    character_id: str
    other_id: str
    kind: Word[DisclosureKind]
    subject: str = Field(description="Id of the secret, or name of the thing.")


class Disclosure(DisclosureFields, Owned, table=True):
    """A disclosed secret or a shown thing."""

    __tablename__ = "character_disclosures"
    __table_args__ = (Index(None, "project_id", "character_id", "other_id"), one_of("kind", DisclosureKind))


class FlagChange(Happened, Owned, table=True):
    """A flag of the story took a value."""

    __tablename__ = "story_flags"
    __table_args__ = (Index(None, "project_id", "name"),)

    name: str
    value: Json[Any] = None


EVENT_TABLES: tuple[type[Any], ...] = (State, LoopEvent, RelationshipChange, Knowledge)
"""What a scene changes."""

POSITIONED_TABLES: tuple[type[Any], ...] = (MemoryRow, *EVENT_TABLES, NameMention)
"""Tables whose rows carry a scene's id and a copy of its position."""
