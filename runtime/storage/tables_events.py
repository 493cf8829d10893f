"""Append-only tables that are folded over story time: states, open loops, relationships."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import JSON, ForeignKeyConstraint, Index, Text, UniqueConstraint, true
from sqlmodel import Field

from runtime.storage.table_base import BIG_KEY, Row, UtcTimestamp, one_of, position_bounds, table_of

STATE_KINDS = ("explicit", "presence")
LOOP_EVENT_KINDS = ("planted", "advanced", "resolved", "abandoned")
EVENT_ORIGINS = ("record", "author")
"""Where an event came from; at one position the author's counts after, hence over, the record's."""


class StateChangeRow(Row, table=True):
    """One attribute of one entity took a value; the span is that of its quote in the scene's text."""

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
    scene_id: str | None = Field(
        default=None, sa_type=Text, foreign_key="scenes.scene_id", ondelete="SET NULL"
    )
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
    scene_id: str | None = Field(
        default=None, sa_type=Text, foreign_key="scenes.scene_id", ondelete="SET NULL"
    )
    chapter_index: int | None = None
    scene_index: int | None = None
    loop_id: str = Field(sa_type=Text)
    kind: str = Field(sa_type=Text)
    note: str = Field(sa_type=Text)
    detail: dict[str, Any] = Field(sa_type=JSON)
    origin: str = Field(sa_type=Text)


class RelationshipRow(Row, table=True):
    """The id of a pair of characters, `character_a` sorting before `character_b`."""

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


class RelationshipChangeRow(Row, table=True):
    """How a pair stood after a scene; NULL leaves the earlier value."""

    __tablename__: ClassVar[str] = "relationship_changes"
    __table_args__ = (
        ForeignKeyConstraint(
            ["project_id", "relationship_id"],
            ["relationships.project_id", "relationships.relationship_id"],
            ondelete="CASCADE",
        ),
        Index(
            "ix_relationship_changes_fold", "project_id", "relationship_id", "chapter_index", "scene_index"
        ),
        Index(None, "scene_id"),
        position_bounds(),
        one_of("origin", EVENT_ORIGINS),
    )
    row_id: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)
    project_id: str = Field(sa_type=Text)
    relationship_id: str = Field(sa_type=Text)
    scene_id: str | None = Field(
        default=None, sa_type=Text, foreign_key="scenes.scene_id", ondelete="SET NULL"
    )
    chapter_index: int | None = None
    scene_index: int | None = None
    relationship_type: str | None = Field(default=None, sa_type=Text)
    status: str | None = Field(default=None, sa_type=Text)
    perspective_a: str | None = Field(default=None, sa_type=Text)
    perspective_b: str | None = Field(default=None, sa_type=Text)
    intensity: int | None = None
    dimensions: dict[str, int] = Field(sa_type=JSON)
    event: str = Field(sa_type=Text)
    origin: str = Field(sa_type=Text)


STATES = table_of(StateChangeRow)
LOOP_EVENTS = table_of(LoopEventRow)
RELATIONSHIPS = table_of(RelationshipRow)
RELATIONSHIP_CHANGES = table_of(RelationshipChangeRow)
