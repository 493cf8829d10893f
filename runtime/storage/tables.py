"""Every table of the database."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar, cast

from sqlalchemy import (
    JSON,
    BigInteger,
    CheckConstraint,
    DateTime,
    Dialect,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
    true,
)
from sqlalchemy.orm import registry
from sqlalchemy.sql import FromClause
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field, SQLModel

from novelgen.models.knowledge import KNOWLEDGE_KINDS, KNOWLEDGE_SOURCES
from novelgen.models.memory import CONTENT_TYPES

BIG_KEY = BigInteger().with_variant(Integer, "sqlite")
"""Integer primary keys: SQLite numbers rows by itself only where the type is INTEGER."""

TABLE_REGISTRY = registry(
    metadata=MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
)

METADATA = TABLE_REGISTRY.metadata


class Row(SQLModel, registry=TABLE_REGISTRY):
    """Base of the tables; rows never leave `runtime.storage`."""

    __abstract__ = True


class UtcTimestamp(TypeDecorator[datetime]):
    """An aware moment; SQLite drops the offset of what it stores, so only UTC goes in and comes out."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert to UTC; a naive moment is a bug of the caller and raises ValueError."""
        if value is not None and value.tzinfo is None:
            raise ValueError(f"timestamp {value!r} has no time zone; pass an aware one")
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return the moment in UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def table_of(model: type[Row]) -> Table:
    """Return the Core table of a SQLModel class: reads and writes go through Core, for speed."""
    return cast(Table, cast(Any, model).__table__)


def one_of(column: str, values: tuple[str, ...]) -> CheckConstraint:
    """Return a CHECK that a text column holds one of a closed list of values."""
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


def position_bounds() -> CheckConstraint:
    """Return a CHECK that a position is not negative and that a scene never lacks its chapter."""
    return CheckConstraint(
        "(chapter_index IS NULL AND scene_index IS NULL) OR"
        " (chapter_index >= 0 AND (scene_index IS NULL OR scene_index >= 0))",
        name="position",
    )


ENTITY_TYPES = ("character", "location", "item", "faction", "term")

ENTITY_ORIGINS = ("author", "supplied", "extracted", "rules")

EXTRACTION_STATUSES = ("none", "done", "failed", "pending")

_EMPTY_TEXT = text("''")


class ProjectRow(Row, table=True):
    """One story; `project_number` is its scope in the lexical index."""

    __tablename__: ClassVar[str] = "projects"
    project_number: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)
    project_id: str = Field(sa_type=Text, unique=True)
    name: str = Field(sa_type=Text)
    language: str = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=UtcTimestamp)
    embedding_model: str | None = Field(default=None, sa_type=Text)
    embedding_dimension: int | None = None
    settings: dict[str, Any] = Field(sa_type=JSON)
    story_revision: int
    index_id: str = Field(sa_type=Text, sa_column_kwargs={"server_default": _EMPTY_TEXT})
    index_removals: int = Field(default=0, sa_column_kwargs={"server_default": text("0")})


class CounterRow(Row, table=True):
    """The next number of a kind of id, within a project."""

    __tablename__: ClassVar[str] = "counters"
    project_id: str = Field(primary_key=True, sa_type=Text, foreign_key="projects.project_id", ondelete="CASCADE")
    kind: str = Field(primary_key=True, sa_type=Text)
    next_number: int


class SceneRow(Row, table=True):
    """A stored scene; `scene_id` stays when its position changes.

    `other_fields` is what another program's document of it says beside.
    """

    __tablename__: ClassVar[str] = "scenes"
    __table_args__ = (
        UniqueConstraint("project_id", "chapter_index", "scene_index"),
        UniqueConstraint("project_id", "label"),
        position_bounds(),
        one_of("record_origin", ENTITY_ORIGINS),
        one_of("extraction_status", EXTRACTION_STATUSES),
    )
    scene_id: str = Field(primary_key=True, sa_type=Text)
    project_id: str = Field(sa_type=Text, foreign_key="projects.project_id", ondelete="CASCADE")
    label: str = Field(sa_type=Text)
    chapter_index: int
    scene_index: int
    title: str = Field(sa_type=Text)
    text: str = Field(sa_type=Text)
    text_hash: str = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=UtcTimestamp)
    updated_at: datetime = Field(sa_type=UtcTimestamp)
    content_hash: str = Field(sa_type=Text, sa_column_kwargs={"server_default": _EMPTY_TEXT})
    story_time: str | None = Field(default=None, sa_type=Text)
    location_id: str | None = Field(default=None, sa_type=Text)
    pov: str | None = Field(default=None, sa_type=Text)
    participants: list[str] = Field(sa_type=JSON, sa_column_kwargs={"server_default": "[]"})
    record: dict[str, Any] | None = Field(default=None, sa_type=JSON(none_as_null=True))
    record_origin: str = Field(sa_type=Text, sa_column_kwargs={"server_default": "rules"})
    extraction_status: str = Field(sa_type=Text, sa_column_kwargs={"server_default": "none"})
    failure_reason: str | None = Field(default=None, sa_type=Text)
    other_fields: dict[str, Any] = Field(sa_type=JSON, sa_column_kwargs={"server_default": "{}"})


class EntityRow(Row, table=True):
    """A person, place, thing, group or term."""

    __tablename__: ClassVar[str] = "entities"
    __table_args__ = (
        UniqueConstraint("project_id", "entity_id"),
        one_of("entity_type", ENTITY_TYPES),
        one_of("origin", ENTITY_ORIGINS),
    )
    row_id: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)
    project_id: str = Field(sa_type=Text, foreign_key="projects.project_id", ondelete="CASCADE")
    entity_id: str = Field(sa_type=Text)
    entity_type: str = Field(sa_type=Text)
    name: str = Field(sa_type=Text)
    name_key: str = Field(sa_type=Text)
    role: str = Field(sa_type=Text)
    description: str = Field(sa_type=Text)
    profile: dict[str, Any] = Field(sa_type=JSON)
    first_chapter: int | None = None
    first_scene: int | None = None
    origin: str = Field(sa_type=Text)
    name_first_chapter: int | None = None
    name_first_scene: int | None = None
    created_at: datetime | None = Field(default=None, sa_type=UtcTimestamp)
    updated_at: datetime | None = Field(default=None, sa_type=UtcTimestamp)


class EntityAliasRow(Row, table=True):
    """Another name of an entity."""

    __tablename__: ClassVar[str] = "entity_aliases"
    __table_args__ = (
        ForeignKeyConstraint(
            ["project_id", "entity_id"], ["entities.project_id", "entities.entity_id"], ondelete="CASCADE"
        ),
        UniqueConstraint("project_id", "entity_id", "alias"),
        Index(None, "project_id", "alias_key"),
    )
    row_id: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)
    project_id: str = Field(sa_type=Text)
    entity_id: str = Field(sa_type=Text)
    alias: str = Field(sa_type=Text)
    alias_key: str = Field(sa_type=Text)
    language: str | None = Field(default=None, sa_type=Text)
    speaker: str | None = Field(default=None, sa_type=Text)
    first_chapter: int | None = None
    first_scene: int | None = None
    by_author: bool = Field(sa_column_kwargs={"server_default": false()})


class CharacterFileAliasRow(Row, table=True):
    """An alias that nobody but characters.json has brought, as it was read last."""

    __tablename__: ClassVar[str] = "character_file_aliases"
    __table_args__ = (
        ForeignKeyConstraint(
            ["project_id", "entity_id"], ["entities.project_id", "entities.entity_id"], ondelete="CASCADE"
        ),
    )
    project_id: str = Field(primary_key=True, sa_type=Text)
    entity_id: str = Field(primary_key=True, sa_type=Text)
    alias: str = Field(primary_key=True, sa_type=Text)


class NameMentionRow(Row, table=True):
    """A stored scene whose text contains a name or alias."""

    __tablename__: ClassVar[str] = "name_mentions"
    __table_args__ = (
        Index("ix_name_mentions_first", "project_id", "entity_id", "name", "chapter_index", "scene_index"),
        position_bounds(),
    )
    scene_id: str = Field(primary_key=True, sa_type=Text, foreign_key="scenes.scene_id", ondelete="CASCADE")
    entity_id: str = Field(primary_key=True, sa_type=Text)
    name: str = Field(primary_key=True, sa_type=Text)
    project_id: str = Field(sa_type=Text)
    chapter_index: int
    scene_index: int


PROJECTS = table_of(ProjectRow)

COUNTERS = table_of(CounterRow)

SCENES = table_of(SceneRow)

ENTITIES = table_of(EntityRow)

ALIASES = table_of(EntityAliasRow)

CHARACTER_FILE_ALIASES = table_of(CharacterFileAliasRow)

MENTIONS = table_of(NameMentionRow)

MEMORY_STATUSES = ("active", "banned", "deleted")

MEMORY_ORIGINS = ("record", "extracted", "text", "author")

MEMORY_TIERS = ("pinned", "important", "regular")

LINK_KINDS = ("mention", "record", "manual")

OUTBOX_OPERATIONS = ("upsert", "delete")

OUTBOX_STATES = ("pending", "done", "failed")

TOUCHED_BY_HAND = (
    "origin = 'author' OR pinned OR status <> 'active'"
    " OR CAST(attached AS TEXT) <> '[]' OR CAST(detached AS TEXT) <> '[]'"
)
"""Condition on `memory_chunks` that an author wrote or changed one; a query must have it word for word to be
answered by the index of those few."""


class MemoryChunkRow(Row, table=True):
    """A retrievable memory; its position is that of its scene and moves with it.

    `entities_mentioned` is what its origin links it to; `attached` and `detached` is what an author set and
    took off by hand. A memory without any link is attached to the book.
    """

    __tablename__: ClassVar[str] = "memory_chunks"
    __table_args__ = (
        UniqueConstraint("project_id", "chunk_id"),
        Index(None, "project_id", "chapter_index", "scene_index"),
        Index(None, "project_id", "slot_type"),
        Index(None, "project_id", "supersedes"),
        Index(None, "scene_id"),
        # What a search reads of every memory before a position, most important first; nothing else of the row.
        Index(
            "ix_memory_chunks_searched",
            "project_id",
            "importance",
            "chapter_index",
            "scene_index",
            "status",
            "content_type",
            "term_count",
        ),
        Index(
            "ix_memory_chunks_by_hand",
            "project_id",
            "chunk_id",
            sqlite_where=text(TOUCHED_BY_HAND),
            postgresql_where=text(TOUCHED_BY_HAND),
        ),
        position_bounds(),
        one_of("content_type", CONTENT_TYPES),
        one_of("status", MEMORY_STATUSES),
        one_of("origin", MEMORY_ORIGINS),
        one_of("tier", MEMORY_TIERS),
    )
    row_id: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)
    project_id: str = Field(sa_type=Text, foreign_key="projects.project_id", ondelete="CASCADE")
    chunk_id: str = Field(sa_type=Text)
    scene_id: str | None = Field(default=None, sa_type=Text, foreign_key="scenes.scene_id", ondelete="SET NULL")
    from_scene: bool
    chapter_index: int | None = None
    scene_index: int | None = None
    content: str = Field(sa_type=Text)
    content_type: str = Field(sa_type=Text)
    content_hash: str = Field(sa_type=Text)
    term_count: int
    entities_mentioned: list[str] = Field(sa_type=JSON)
    tags: list[str] = Field(sa_type=JSON)
    embedding_id: str | None = Field(default=None, sa_type=Text)
    is_indexed: bool = Field(sa_column_kwargs={"server_default": true()})
    is_consolidated: bool = Field(sa_column_kwargs={"server_default": false()})
    created_at: datetime = Field(sa_type=UtcTimestamp)
    short: str | None = Field(default=None, sa_type=Text)
    importance: int
    tier: str = Field(sa_type=Text)
    source_id: str | None = Field(default=None, sa_type=Text)
    span_start: int | None = None
    span_end: int | None = None
    event_type: str | None = Field(default=None, sa_type=Text)
    origin: str = Field(sa_type=Text)
    status: str = Field(sa_type=Text)
    pinned: bool
    supersedes: str | None = Field(default=None, sa_type=Text)
    slot_type: str | None = Field(default=None, sa_type=Text)
    verified: bool = Field(sa_column_kwargs={"server_default": true()})
    attached: list[str] = Field(sa_type=JSON, sa_column_kwargs={"server_default": "[]"})
    detached: list[str] = Field(sa_type=JSON, sa_column_kwargs={"server_default": "[]"})
    last_accessed_at: datetime | None = Field(default=None, sa_type=UtcTimestamp)


class ChunkEntityRow(Row, table=True):
    """A memory is linked to an entity, or by hand to a chapter (`chapter:3`) or the `book`."""

    __tablename__: ClassVar[str] = "chunk_entities"
    __table_args__ = (Index(None, "project_id", "entity_id", "chunk_row_id"), one_of("kind", LINK_KINDS))
    chunk_row_id: int = Field(primary_key=True, sa_type=BIG_KEY, foreign_key="memory_chunks.row_id", ondelete="CASCADE")
    entity_id: str = Field(primary_key=True, sa_type=Text)
    project_id: str = Field(sa_type=Text)
    kind: str = Field(sa_type=Text)


class ChunkTagRow(Row, table=True):
    """A memory bears a tag."""

    __tablename__: ClassVar[str] = "chunk_tags"
    __table_args__ = (Index(None, "project_id", "tag", "chunk_row_id"),)
    chunk_row_id: int = Field(primary_key=True, sa_type=BIG_KEY, foreign_key="memory_chunks.row_id", ondelete="CASCADE")
    tag: str = Field(primary_key=True, sa_type=Text)
    project_id: str = Field(sa_type=Text)


class EmbeddingRow(Row, table=True):
    """The vector of a memory's text under one model, as little-endian float32."""

    __tablename__: ClassVar[str] = "embeddings"
    chunk_row_id: int = Field(primary_key=True, sa_type=BIG_KEY, foreign_key="memory_chunks.row_id", ondelete="CASCADE")
    model: str = Field(primary_key=True, sa_type=Text)
    dimension: int
    content_hash: str = Field(sa_type=Text)
    vector: bytes = Field(sa_type=LargeBinary)


class ConsolidationSourceRow(Row, table=True):
    """A memory that a consolidated memory stands for, from that one's position on; each for at most one."""

    __tablename__: ClassVar[str] = "consolidation_sources"
    __table_args__ = (Index(None, "project_id", "consolidated_row_id"), Index(None, "consolidated_row_id"))
    source_row_id: int = Field(
        primary_key=True, sa_type=BIG_KEY, foreign_key="memory_chunks.row_id", ondelete="CASCADE"
    )
    consolidated_row_id: int = Field(sa_type=BIG_KEY, foreign_key="memory_chunks.row_id", ondelete="CASCADE")
    project_id: str = Field(sa_type=Text)


class OutboxRow(Row, table=True):
    """What the vector index still has to do, or has done, for one chunk; it outlives the chunk."""

    __tablename__: ClassVar[str] = "index_outbox"
    __table_args__ = (
        UniqueConstraint("project_id", "chunk_id"),
        Index(None, "project_id", "state", "row_id"),
        one_of("operation", OUTBOX_OPERATIONS),
        one_of("state", OUTBOX_STATES),
    )
    row_id: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)
    project_id: str = Field(sa_type=Text, foreign_key="projects.project_id", ondelete="CASCADE")
    chunk_id: str = Field(sa_type=Text)
    operation: str = Field(sa_type=Text)
    state: str = Field(sa_type=Text)
    attempts: int
    revision: int
    last_error: str | None = Field(default=None, sa_type=Text)


CHUNKS = table_of(MemoryChunkRow)

CHUNK_ENTITIES = table_of(ChunkEntityRow)

CHUNK_TAGS = table_of(ChunkTagRow)

EMBEDDINGS = table_of(EmbeddingRow)

CONSOLIDATION_SOURCES = table_of(ConsolidationSourceRow)

OUTBOX = table_of(OutboxRow)

STATE_KINDS = ("explicit", "presence")

LOOP_EVENT_KINDS = ("planted", "advanced", "resolved", "abandoned")

EVENT_ORIGINS = ("record", "author")
"""Where an event came from; at one position the author's counts after, hence over, the record's."""


class StateChangeRow(Row, table=True):
    """One attribute of one entity took a value; the span is that of its quote in the scene's text.

    `detail` is what another program's history says of it beside: a summary, a tick.
    """

    __tablename__: ClassVar[str] = "state_changes"
    __table_args__ = (
        Index(None, "project_id", "entity_id", "chapter_index", "scene_index"),
        Index(None, "project_id", "chapter_index", "scene_index"),
        Index(None, "scene_id"),
        position_bounds(),
        one_of("kind", STATE_KINDS),
        one_of("origin", EVENT_ORIGINS),
    )
    row_id: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)
    project_id: str = Field(sa_type=Text, foreign_key="projects.project_id", ondelete="CASCADE")
    scene_id: str | None = Field(default=None, sa_type=Text, foreign_key="scenes.scene_id", ondelete="SET NULL")
    chapter_index: int | None = None
    scene_index: int | None = None
    entity_id: str = Field(sa_type=Text)
    entity_type: str = Field(sa_type=Text)
    attribute: str = Field(sa_type=Text)
    value: Any = Field(default=None, sa_type=JSON, nullable=False)
    kind: str = Field(sa_type=Text)
    origin: str = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=UtcTimestamp)
    verified: bool = Field(default=True, sa_column_kwargs={"server_default": true()})
    span_start: int | None = None
    span_end: int | None = None
    detail: dict[str, Any] = Field(sa_type=JSON, sa_column_kwargs={"server_default": "{}"})


class LoopEventRow(Row, table=True):
    """An open loop was planted, moved, resolved or dropped; `detail` describes it where it was planted."""

    __tablename__: ClassVar[str] = "loop_events"
    __table_args__ = (
        Index(None, "project_id", "loop_id", "chapter_index", "scene_index"),
        Index(None, "scene_id"),
        position_bounds(),
        one_of("kind", LOOP_EVENT_KINDS),
        one_of("origin", EVENT_ORIGINS),
    )
    row_id: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)
    project_id: str = Field(sa_type=Text, foreign_key="projects.project_id", ondelete="CASCADE")
    scene_id: str | None = Field(default=None, sa_type=Text, foreign_key="scenes.scene_id", ondelete="SET NULL")
    chapter_index: int | None = None
    scene_index: int | None = None
    loop_id: str = Field(sa_type=Text)
    kind: str = Field(sa_type=Text)
    note: str = Field(sa_type=Text)
    detail: dict[str, Any] = Field(sa_type=JSON)
    origin: str = Field(sa_type=Text)


class RelationshipRow(Row, table=True):
    """The id of a pair of characters, `character_a` sorting before `character_b`.

    `other_fields` is what another program's document of it says beside.
    """

    __tablename__: ClassVar[str] = "relationships"
    __table_args__ = (
        UniqueConstraint("project_id", "relationship_id"),
        UniqueConstraint("project_id", "character_a", "character_b"),
        Index(None, "project_id", "character_b"),
    )
    row_id: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)
    project_id: str = Field(sa_type=Text, foreign_key="projects.project_id", ondelete="CASCADE")
    relationship_id: str = Field(sa_type=Text)
    character_a: str = Field(sa_type=Text)
    character_b: str = Field(sa_type=Text)
    created_at: datetime | None = Field(default=None, sa_type=UtcTimestamp)
    updated_at: datetime | None = Field(default=None, sa_type=UtcTimestamp)
    other_fields: dict[str, Any] = Field(sa_type=JSON, sa_column_kwargs={"server_default": "{}"})


class RelationshipChangeRow(Row, table=True):
    """How a pair stood after a scene; NULL leaves the earlier value."""

    __tablename__: ClassVar[str] = "relationship_changes"
    __table_args__ = (
        ForeignKeyConstraint(
            ["project_id", "relationship_id"],
            ["relationships.project_id", "relationships.relationship_id"],
            ondelete="CASCADE",
        ),
        Index("ix_relationship_changes_fold", "project_id", "relationship_id", "chapter_index", "scene_index"),
        Index(None, "scene_id"),
        position_bounds(),
        one_of("origin", EVENT_ORIGINS),
    )
    row_id: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)
    project_id: str = Field(sa_type=Text)
    relationship_id: str = Field(sa_type=Text)
    scene_id: str | None = Field(default=None, sa_type=Text, foreign_key="scenes.scene_id", ondelete="SET NULL")
    chapter_index: int | None = None
    scene_index: int | None = None
    relationship_type: str | None = Field(default=None, sa_type=Text)
    status: str | None = Field(default=None, sa_type=Text)
    perspective_a: str | None = Field(default=None, sa_type=Text)
    perspective_b: str | None = Field(default=None, sa_type=Text)
    intensity: int | None = None
    dimensions: dict[str, int] = Field(sa_type=JSON)
    dimensions_a: dict[str, int] | None = Field(default=None, sa_type=JSON)
    dimensions_b: dict[str, int] | None = Field(default=None, sa_type=JSON)
    event: str = Field(sa_type=Text)
    origin: str = Field(sa_type=Text)


class KnowledgeEventRow(Row, table=True):
    """At a scene somebody came to know a memory or was kept from it; the span is that of the quote in its text.

    `source_id` is that of the memory, or `*` for all that `learned_from` has lived through.
    """

    __tablename__: ClassVar[str] = "knowledge_events"
    __table_args__ = (
        Index(None, "project_id", "chapter_index", "scene_index"),
        Index(None, "scene_id"),
        position_bounds(),
        one_of("kind", KNOWLEDGE_KINDS),
        one_of("how", KNOWLEDGE_SOURCES),
        one_of("origin", EVENT_ORIGINS),
    )
    row_id: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)
    project_id: str = Field(sa_type=Text, foreign_key="projects.project_id", ondelete="CASCADE")
    scene_id: str | None = Field(default=None, sa_type=Text, foreign_key="scenes.scene_id", ondelete="SET NULL")
    chapter_index: int | None = None
    scene_index: int | None = None
    character_id: str = Field(sa_type=Text)
    source_id: str = Field(sa_type=Text)
    kind: str = Field(sa_type=Text)
    how: str = Field(sa_type=Text)
    learned_from: str | None = Field(default=None, sa_type=Text)
    certainty: float
    quote: str = Field(sa_type=Text)
    verified: bool = Field(default=True, sa_column_kwargs={"server_default": true()})
    span_start: int | None = None
    span_end: int | None = None
    origin: str = Field(sa_type=Text)


STATES = table_of(StateChangeRow)

LOOP_EVENTS = table_of(LoopEventRow)

RELATIONSHIPS = table_of(RelationshipRow)

RELATIONSHIP_CHANGES = table_of(RelationshipChangeRow)

KNOWLEDGE_EVENTS = table_of(KnowledgeEventRow)

CHANGE_SUBJECTS = ("entity", "memory", "scene", "thread", "consolidation", "character")


class ChangeRow(Row, table=True):
    """Something that was changed and can be undone; `changed_rows` holds every row before and after."""

    __tablename__: ClassVar[str] = "changes"
    __table_args__ = (Index(None, "project_id", "subject", "row_id"), one_of("subject", CHANGE_SUBJECTS))
    row_id: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)
    project_id: str = Field(sa_type=Text, foreign_key="projects.project_id", ondelete="CASCADE")
    subject: str = Field(sa_type=Text)
    kind: str = Field(sa_type=Text)
    entity_id: str = Field(sa_type=Text)
    other_id: str = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=UtcTimestamp)
    undone_at: datetime | None = Field(default=None, sa_type=UtcTimestamp)
    changed_rows: list[dict[str, Any]] = Field(sa_type=JSON)


CHANGES = table_of(ChangeRow)

SUMMARY_LEVELS = ("chapter", "part")

SUMMARY_WRITERS = ("author", "model")


class SummaryRow(Row, table=True):
    """A written summary of the chapters from first to last; one that is withheld tells of scenes that went elsewhere.

    Of a chapter or part at most one row is not withheld.
    """

    __tablename__: ClassVar[str] = "story_summaries"
    __table_args__ = (
        Index(None, "project_id", "level", "number"),
        one_of("level", SUMMARY_LEVELS),
        one_of("origin", SUMMARY_WRITERS),
    )
    row_id: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)
    project_id: str = Field(sa_type=Text, foreign_key="projects.project_id", ondelete="CASCADE")
    level: str = Field(sa_type=Text)
    number: int
    first_chapter: int
    last_chapter: int
    text: str = Field(sa_type=Text)
    origin: str = Field(sa_type=Text)
    source_hash: str = Field(sa_type=Text)
    is_withheld: bool = Field(sa_column_kwargs={"server_default": false()})
    written_at: datetime = Field(sa_type=UtcTimestamp)


SUMMARIES = table_of(SummaryRow)

CHARACTER_MEMORY_STATUSES = ("active", "consolidated", "deleted")

HOW_LEARNT = ("own_doing", "witnessed", "told", "overheard", "read")


class CharacterMemoryRow(Row, table=True):
    """What one character remembers; no search of the story ever reads it.

    `changed` is the project's `story_revision` at which the row was written last, by which readers tell what is new.
    The vector is that of the content under the model, as little-endian float32.
    """

    __tablename__: ClassVar[str] = "character_memories"
    __table_args__ = (
        UniqueConstraint("project_id", "memory_id"),
        Index("ix_character_memories_changed", "project_id", "character_id", "changed"),
        Index("ix_character_memories_event", "project_id", "event_id"),
        one_of("status", CHARACTER_MEMORY_STATUSES),
        one_of("how", HOW_LEARNT),
        one_of("tier", MEMORY_TIERS),
    )
    row_id: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)
    project_id: str = Field(sa_type=Text, foreign_key="projects.project_id", ondelete="CASCADE")
    character_id: str = Field(sa_type=Text)
    memory_id: str = Field(sa_type=Text)
    changed: int
    content: str = Field(sa_type=Text)
    short: str | None = Field(default=None, sa_type=Text)
    event_type: str = Field(sa_type=Text)
    interaction_type: str | None = Field(default=None, sa_type=Text)
    importance: int
    tier: str = Field(sa_type=Text)
    is_milestone: bool
    participants: list[str] = Field(sa_type=JSON)
    emotion: str = Field(sa_type=Text)
    location: str = Field(sa_type=Text)
    slot: str | None = Field(default=None, sa_type=Text)
    how: str = Field(sa_type=Text)
    heard_from: str | None = Field(default=None, sa_type=Text)
    event_id: str = Field(sa_type=Text)
    session: int | None = None
    turn: int | None = None
    happened_at: datetime = Field(sa_type=UtcTimestamp)
    known_session: int | None = None
    known_turn: int | None = None
    known_at: datetime = Field(sa_type=UtcTimestamp)
    superseded_by: str | None = Field(default=None, sa_type=Text)
    status: str = Field(sa_type=Text)
    consolidated_into: str | None = Field(default=None, sa_type=Text)
    stands_for: list[str] = Field(sa_type=JSON)
    details: dict[str, Any] = Field(sa_type=JSON)
    created_at: datetime = Field(sa_type=UtcTimestamp)
    content_hash: str = Field(sa_type=Text)
    embedding_model: str | None = Field(default=None, sa_type=Text)
    vector: bytes | None = Field(default=None, sa_type=LargeBinary)


CHARACTER_MEMORIES = table_of(CharacterMemoryRow)

POSITIONED_TABLES: tuple[Table, ...] = (CHUNKS, STATES, LOOP_EVENTS, RELATIONSHIP_CHANGES, KNOWLEDGE_EVENTS, MENTIONS)
"""Tables whose rows carry a scene's id and a copy of its position."""


class DispositionChangeRow(Row, table=True):
    """What one character feels for another moved by an event; each side has rows of its own."""

    __tablename__: ClassVar[str] = "disposition_changes"
    __table_args__ = (Index(None, "project_id", "character_id", "other_id"),)
    row_id: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)
    project_id: str = Field(sa_type=Text, foreign_key="projects.project_id", ondelete="CASCADE")
    character_id: str = Field(sa_type=Text)
    other_id: str = Field(sa_type=Text)
    event_type: str = Field(sa_type=Text)
    deltas: dict[str, int] = Field(sa_type=JSON)
    set_to: dict[str, int] = Field(sa_type=JSON)
    memory_id: str | None = Field(default=None, sa_type=Text)
    session: int | None = None
    turn: int | None = None
    happened_at: datetime = Field(sa_type=UtcTimestamp)


class CharacterSecretRow(Row, table=True):
    """A secret of a character; `secret` holds its text, conditions and hints."""

    __tablename__: ClassVar[str] = "character_secrets"
    __table_args__ = (UniqueConstraint("project_id", "character_id", "secret_id"),)
    row_id: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)
    project_id: str = Field(sa_type=Text, foreign_key="projects.project_id", ondelete="CASCADE")
    character_id: str = Field(sa_type=Text)
    secret_id: str = Field(sa_type=Text)
    secret: dict[str, Any] = Field(sa_type=JSON)


DISCLOSURE_KINDS = ("revealed", "shown")


class DisclosureRow(Row, table=True):
    """A character revealed a secret to another, or was shown a thing by another; `subject` is the one or the other."""

    __tablename__: ClassVar[str] = "character_disclosures"
    __table_args__ = (Index(None, "project_id", "character_id", "other_id"), one_of("kind", DISCLOSURE_KINDS))
    row_id: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)
    project_id: str = Field(sa_type=Text, foreign_key="projects.project_id", ondelete="CASCADE")
    character_id: str = Field(sa_type=Text)
    other_id: str = Field(sa_type=Text)
    kind: str = Field(sa_type=Text)
    subject: str = Field(sa_type=Text)
    session: int | None = None
    turn: int | None = None
    happened_at: datetime = Field(sa_type=UtcTimestamp)


class StoryFlagRow(Row, table=True):
    """A flag of the story took a value."""

    __tablename__: ClassVar[str] = "story_flags"
    __table_args__ = (Index(None, "project_id", "name"),)
    row_id: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)
    project_id: str = Field(sa_type=Text, foreign_key="projects.project_id", ondelete="CASCADE")
    name: str = Field(sa_type=Text)
    value: Any = Field(default=None, sa_type=JSON, nullable=False)
    session: int | None = None
    turn: int | None = None
    happened_at: datetime = Field(sa_type=UtcTimestamp)


DISPOSITION_CHANGES = table_of(DispositionChangeRow)

CHARACTER_SECRETS = table_of(CharacterSecretRow)

DISCLOSURES = table_of(DisclosureRow)

STORY_FLAGS = table_of(StoryFlagRow)


def alias_with_columns(table: Table, name: str) -> FromClause:
    """Return a table under another name for statements of several threads, its columns made at once.

    SQLAlchemy makes the columns of an alias when they are first asked for, and threads that come together there may
    each get their own, which no statement can join.
    """
    alias = table.alias(name)
    alias.c.keys()
    return alias
