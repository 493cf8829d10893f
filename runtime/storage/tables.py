"""Every table of the database."""

from __future__ import annotations

import json
import types
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    DateTime,
    Dialect,
    Float,
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
from sqlmodel._compat import SQLModelConfig
from sqlmodel.main import SQLModelMetaclass

from novelgen.characters.memory import CharacterMemory
from novelgen.models.entity import SAID_FROM, Entity, EntityAlias
from novelgen.models.memory import StoryMemoryChunk
from runtime.storage.records import (
    Disclosure,
    EntityOrigin,
    FlagChange,
    MemoryStatus,
    OutboxEntry,
    StoredDispositionChange,
    StoredKnowledge,
    StoredLoopEvent,
    StoredPair,
    StoredProject,
    StoredRelationshipChange,
    StoredScene,
    StoredState,
    StoredSummary,
)

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


_COLUMN_TYPES: dict[Any, Any] = {str: Text, int: Integer, bool: Boolean, float: Float, datetime: UtcTimestamp}


_NO_COLUMNS = ("scene_label", "source_span")
"""Fields of events that their rows tell by the scene's id and in two columns."""


def _column(name: str, info: FieldInfo) -> Any:
    kind, is_nullable = _without_none(info.annotation)
    values = get_args(kind) if get_origin(kind) is Literal else ()
    column_type = Text if values else _COLUMN_TYPES.get(kind, JSON(none_as_null=is_nullable))
    default = _server_default(info.get_default(call_default_factory=True, validated_data={}))
    return Field(
        default=None,
        sa_type=column_type,
        nullable=is_nullable,
        sa_column_args=[one_of(name, values)] if values else [],
        sa_column_kwargs={} if default is None else {"server_default": default},
    )


def _server_default(default: Any) -> Any:
    """Return a default as SQL says it; None for what has none, or none that the database could tell."""
    if isinstance(default, bool):
        return true() if default else false()
    if isinstance(default, list | dict):
        return None if default else json.dumps(default)
    if isinstance(default, str):
        return text(f"'{default}'")
    return text(str(default)) if isinstance(default, int) else None


def _without_none(annotation: Any) -> tuple[Any, bool]:
    """Return what a value is where it is not None, without what validates it, and whether it may be None."""
    if get_origin(annotation) is Annotated:
        return _without_none(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        (kind,) = [each for each in get_args(annotation) if each is not type(None)]
        return _without_none(kind)[0], True
    return annotation, False


class _RowMeta(SQLModelMetaclass):
    """Gives a table a column for each field of a model, so that the table restates none.

    What may be None may be NULL, a closed list of values is checked, and what is no text, number or moment is JSON.
    Columns that the table declares itself come in the place of those.
    """

    def __new__(
        cls,
        name: str,
        bases: tuple[type[Any], ...],
        namespace: dict[str, Any],
        *,
        of: type[BaseModel] | None = None,
        without: Collection[str] = (),
        **kwargs: Any,
    ) -> Any:
        fields, declared = {} if of is None else of.model_fields, namespace.get("__annotations__", {})
        inherited = (each for base in bases for each in getattr(base, "model_fields", ()))
        passed_over = {*without, *declared, *inherited}
        columns = {each: _column(each, info) for each, info in fields.items() if each not in passed_over}
        kinds = {**dict.fromkeys(columns, Any), **declared}
        return super().__new__(cls, name, bases, {**columns, **namespace, "__annotations__": kinds}, **kwargs)


class Row(SQLModel, registry=TABLE_REGISTRY, metaclass=_RowMeta):
    """Base of the tables; rows never leave `runtime.storage`, and nothing is validated by them."""

    model_config = SQLModelConfig(defer_build=True)
    __abstract__ = True


class OwnedRow(Row):
    """A row of a project, with a number of its own."""

    row_id: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)
    project_id: str = Field(sa_type=Text, foreign_key="projects.project_id", ondelete="CASCADE")


class EventRow(OwnedRow):
    """Something that happened at a scene, which may be gone."""

    scene_id: str | None = Field(default=None, sa_type=Text, foreign_key="scenes.scene_id", ondelete="SET NULL")


class ProjectRow(Row, of=StoredProject, table=True):
    """One story; `project_number` is its scope in the lexical index."""

    __tablename__: ClassVar[str] = "projects"
    __table_args__ = (UniqueConstraint("project_id"),)
    project_number: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)


class CounterRow(Row, table=True):
    """The next number of a kind of id, within a project."""

    __tablename__: ClassVar[str] = "counters"
    project_id: str = Field(primary_key=True, sa_type=Text, foreign_key="projects.project_id", ondelete="CASCADE")
    kind: str = Field(primary_key=True, sa_type=Text)
    next_number: int


class SceneRow(Row, of=StoredScene, without=("mentions",), table=True):
    """A stored scene; `scene_id` stays when its position changes."""

    __tablename__: ClassVar[str] = "scenes"
    __table_args__ = (
        UniqueConstraint("project_id", "chapter_index", "scene_index"),
        UniqueConstraint("project_id", "label"),
        position_bounds(),
    )
    scene_id: str = Field(primary_key=True, sa_type=Text)
    project_id: str = Field(sa_type=Text, foreign_key="projects.project_id", ondelete="CASCADE")
    text: str = Field(sa_type=Text)
    record: dict[str, Any] | None = Field(default=None, sa_type=JSON(none_as_null=True))


class EntityRow(OwnedRow, of=Entity, without=("aliases", SAID_FROM), table=True):
    """A person, place, thing, group or term."""

    __tablename__: ClassVar[str] = "entities"
    __table_args__ = (UniqueConstraint("project_id", "entity_id"), one_of("origin", get_args(EntityOrigin)))
    name_key: str = Field(sa_type=Text)
    origin: str = Field(sa_type=Text)
    created_at: datetime | None = Field(default=None, sa_type=UtcTimestamp)
    updated_at: datetime | None = Field(default=None, sa_type=UtcTimestamp)


class EntityAliasRow(Row, of=EntityAlias, table=True):
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
    alias_key: str = Field(sa_type=Text)
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

TOUCHED_BY_HAND = (
    "origin = 'author' OR pinned OR status <> 'active'"
    " OR CAST(attached AS TEXT) <> '[]' OR CAST(detached AS TEXT) <> '[]'"
)
"""Condition on `memory_chunks` that an author wrote or changed one; a query must have it word for word to be
answered by the index of those few."""


_DERIVED = ("superseded_by", "attached_to")
"""Fields of memories that other rows tell."""


class MemoryChunkRow(OwnedRow, of=StoryMemoryChunk, without=(*_DERIVED, "source_span"), table=True):
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
        Index(None, "project_id", "source_id"),
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
        one_of("status", get_args(MemoryStatus)),
    )
    scene_id: str | None = Field(default=None, sa_type=Text, foreign_key="scenes.scene_id", ondelete="SET NULL")
    from_scene: bool
    content_hash: str = Field(sa_type=Text)
    term_count: int
    span_start: int | None = None
    span_end: int | None = None
    status: str = Field(sa_type=Text)
    pinned: bool
    attached: list[str] = Field(sa_type=JSON, sa_column_kwargs={"server_default": "[]"})
    detached: list[str] = Field(sa_type=JSON, sa_column_kwargs={"server_default": "[]"})
    last_accessed_at: datetime | None = Field(default=None, sa_type=UtcTimestamp)


class ChunkEntityRow(Row, table=True):
    """A memory is linked to an entity, or by hand to a chapter (`chapter:3`) or the `book`."""

    __tablename__: ClassVar[str] = "chunk_entities"
    __table_args__ = (
        Index(None, "project_id", "entity_id", "chunk_row_id"),
        one_of("kind", ("mention", "record", "manual")),
    )
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


class OutboxRow(OwnedRow, of=OutboxEntry, table=True):
    """What the vector index still has to do, or has done, for one chunk; it outlives the chunk."""

    __tablename__: ClassVar[str] = "index_outbox"
    __table_args__ = (UniqueConstraint("project_id", "chunk_id"), Index(None, "project_id", "state", "row_id"))


CHUNKS = table_of(MemoryChunkRow)
CHUNK_ENTITIES = table_of(ChunkEntityRow)
CHUNK_TAGS = table_of(ChunkTagRow)
EMBEDDINGS = table_of(EmbeddingRow)
CONSOLIDATION_SOURCES = table_of(ConsolidationSourceRow)
OUTBOX = table_of(OutboxRow)


class StateChangeRow(EventRow, of=StoredState, without=_NO_COLUMNS, table=True):
    """One attribute of one entity took a value; the span is that of its quote in the scene's text."""

    __tablename__: ClassVar[str] = "state_changes"
    __table_args__ = (
        Index(None, "project_id", "entity_id", "chapter_index", "scene_index"),
        Index(None, "project_id", "chapter_index", "scene_index"),
        Index(None, "scene_id"),
        position_bounds(),
    )
    span_start: int | None = None
    span_end: int | None = None


class LoopEventRow(EventRow, of=StoredLoopEvent, without=_NO_COLUMNS, table=True):
    """An open loop was planted, moved, resolved or dropped."""

    __tablename__: ClassVar[str] = "loop_events"
    __table_args__ = (
        Index(None, "project_id", "loop_id", "chapter_index", "scene_index"),
        Index(None, "scene_id"),
        position_bounds(),
    )


class RelationshipRow(OwnedRow, of=StoredPair, table=True):
    """The id of a pair of characters, `character_a` sorting before `character_b`."""

    __tablename__: ClassVar[str] = "relationships"
    __table_args__ = (
        UniqueConstraint("project_id", "relationship_id"),
        UniqueConstraint("project_id", "character_a", "character_b"),
        Index(None, "project_id", "character_b"),
    )


class RelationshipChangeRow(Row, of=StoredRelationshipChange, without=_NO_COLUMNS, table=True):
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
    )
    row_id: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)
    project_id: str = Field(sa_type=Text)
    scene_id: str | None = Field(default=None, sa_type=Text, foreign_key="scenes.scene_id", ondelete="SET NULL")


class KnowledgeEventRow(EventRow, of=StoredKnowledge, without=_NO_COLUMNS, table=True):
    """At a scene somebody came to know a memory or was kept from it; the span is that of the quote in its text.

    `source_id` is that of the memory, or `*` for all that `learned_from` has lived through.
    """

    __tablename__: ClassVar[str] = "knowledge_events"
    __table_args__ = (
        Index(None, "project_id", "chapter_index", "scene_index"),
        Index(None, "scene_id"),
        position_bounds(),
    )
    span_start: int | None = None
    span_end: int | None = None


STATES = table_of(StateChangeRow)
LOOP_EVENTS = table_of(LoopEventRow)
RELATIONSHIPS = table_of(RelationshipRow)
RELATIONSHIP_CHANGES = table_of(RelationshipChangeRow)
KNOWLEDGE_EVENTS = table_of(KnowledgeEventRow)

CHANGE_SUBJECTS = ("entity", "memory", "scene", "thread", "consolidation", "character")


class ChangeRow(OwnedRow, table=True):
    """Something that was changed and can be undone; `changed_rows` holds every row before and after."""

    __tablename__: ClassVar[str] = "changes"
    __table_args__ = (Index(None, "project_id", "subject", "row_id"), one_of("subject", CHANGE_SUBJECTS))
    subject: str = Field(sa_type=Text)
    kind: str = Field(sa_type=Text)
    entity_id: str = Field(sa_type=Text)
    other_id: str = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=UtcTimestamp)
    undone_at: datetime | None = Field(default=None, sa_type=UtcTimestamp)
    changed_rows: list[dict[str, Any]] = Field(sa_type=JSON)


CHANGES = table_of(ChangeRow)


class SummaryRow(OwnedRow, of=StoredSummary, table=True):
    """A written summary of the chapters from first to last; one that is withheld tells of scenes that went elsewhere.

    Of a chapter or part at most one row is not withheld.
    """

    __tablename__: ClassVar[str] = "story_summaries"
    __table_args__ = (Index(None, "project_id", "level", "number"),)


SUMMARIES = table_of(SummaryRow)


class CharacterMemoryRow(OwnedRow, of=CharacterMemory, table=True):
    """What one character remembers; no search of the story ever reads it.

    `changed` is the project's `story_revision` at which the row was written last, by which readers tell what is new.
    The vector is that of the content under the model, as little-endian float32.
    """

    __tablename__: ClassVar[str] = "character_memories"
    __table_args__ = (
        UniqueConstraint("project_id", "memory_id"),
        Index("ix_character_memories_changed", "project_id", "character_id", "changed"),
        Index("ix_character_memories_event", "project_id", "event_id"),
    )
    changed: int
    content_hash: str = Field(sa_type=Text)
    embedding_model: str | None = Field(default=None, sa_type=Text)
    vector: bytes | None = Field(default=None, sa_type=LargeBinary)


CHARACTER_MEMORIES = table_of(CharacterMemoryRow)

POSITIONED_TABLES: tuple[Table, ...] = (CHUNKS, STATES, LOOP_EVENTS, RELATIONSHIP_CHANGES, KNOWLEDGE_EVENTS, MENTIONS)
"""Tables whose rows carry a scene's id and a copy of its position."""


class DispositionChangeRow(OwnedRow, of=StoredDispositionChange, table=True):
    """What one character feels for another moved by an event; each side has rows of its own."""

    __tablename__: ClassVar[str] = "disposition_changes"
    __table_args__ = (Index(None, "project_id", "character_id", "other_id"),)


class CharacterSecretRow(OwnedRow, table=True):
    """A secret of a character; `secret` holds its text, conditions and hints."""

    __tablename__: ClassVar[str] = "character_secrets"
    __table_args__ = (UniqueConstraint("project_id", "character_id", "secret_id"),)
    character_id: str = Field(sa_type=Text)
    secret_id: str = Field(sa_type=Text)
    secret: dict[str, Any] = Field(sa_type=JSON)


class DisclosureRow(OwnedRow, of=Disclosure, table=True):
    """A character revealed a secret to another, or was shown a thing by another; `subject` is the one or the other."""

    __tablename__: ClassVar[str] = "character_disclosures"
    __table_args__ = (Index(None, "project_id", "character_id", "other_id"),)


class StoryFlagRow(OwnedRow, of=FlagChange, table=True):
    """A flag of the story took a value."""

    __tablename__: ClassVar[str] = "story_flags"
    __table_args__ = (Index(None, "project_id", "name"),)


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
