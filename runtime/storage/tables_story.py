"""Tables of what a project is made of: projects, scenes, entities, names and counters."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import JSON, ForeignKeyConstraint, Index, Text, UniqueConstraint, false, text
from sqlmodel import Field

from runtime.storage.table_base import (
    BIG_KEY,
    Row,
    UtcTimestamp,
    one_of,
    position_bounds,
    table_of,
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
    project_id: str = Field(
        primary_key=True, sa_type=Text, foreign_key="projects.project_id", ondelete="CASCADE"
    )
    kind: str = Field(primary_key=True, sa_type=Text)
    next_number: int


class SceneRow(Row, table=True):
    """A stored scene; `scene_id` stays when its position changes."""

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
