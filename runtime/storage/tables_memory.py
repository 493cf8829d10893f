"""Tables of the memories: chunks, what they are linked to, their vectors, and the way to the index."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from sqlalchemy import JSON, Index, LargeBinary, Text, UniqueConstraint, text, true
from sqlmodel import Field

from novelgen.models.memory import CONTENT_TYPES
from runtime.storage.table_base import BIG_KEY, Row, UtcTimestamp, one_of, position_bounds, table_of

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
    scene_id: str | None = Field(
        default=None, sa_type=Text, foreign_key="scenes.scene_id", ondelete="SET NULL"
    )
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
    chunk_row_id: int = Field(
        primary_key=True, sa_type=BIG_KEY, foreign_key="memory_chunks.row_id", ondelete="CASCADE"
    )
    entity_id: str = Field(primary_key=True, sa_type=Text)
    project_id: str = Field(sa_type=Text)
    kind: str = Field(sa_type=Text)


class ChunkTagRow(Row, table=True):
    """A memory bears a tag."""

    __tablename__: ClassVar[str] = "chunk_tags"
    __table_args__ = (Index(None, "project_id", "tag", "chunk_row_id"),)
    chunk_row_id: int = Field(
        primary_key=True, sa_type=BIG_KEY, foreign_key="memory_chunks.row_id", ondelete="CASCADE"
    )
    tag: str = Field(primary_key=True, sa_type=Text)
    project_id: str = Field(sa_type=Text)


class EmbeddingRow(Row, table=True):
    """The vector of a memory's text under one model, as little-endian float32."""

    __tablename__: ClassVar[str] = "embeddings"
    chunk_row_id: int = Field(
        primary_key=True, sa_type=BIG_KEY, foreign_key="memory_chunks.row_id", ondelete="CASCADE"
    )
    model: str = Field(primary_key=True, sa_type=Text)
    dimension: int
    content_hash: str = Field(sa_type=Text)
    vector: bytes = Field(sa_type=LargeBinary)


class ConsolidationSourceRow(Row, table=True):
    """A memory that a consolidated memory stands for, from that one's position on; each for at most one."""

    __tablename__: ClassVar[str] = "consolidation_sources"
    __table_args__ = (
        Index(None, "project_id", "consolidated_row_id"),
        Index(None, "consolidated_row_id"),
    )
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
