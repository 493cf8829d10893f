"""Every table of the database."""

import json
import types
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
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
from sqlalchemy.sql import FromClause
from sqlalchemy.types import TypeDecorator

from novelgen.characters.memory import CharacterMemory
from novelgen.models.entity import SAID_FROM, Entity, EntityAlias
from novelgen.models.memory import StoryMemoryChunk
from runtime.storage import records

BIG_KEY = BigInteger().with_variant(Integer, "sqlite")
"""Integer primary keys: SQLite numbers rows by itself only where the type is INTEGER."""

_BY_COLUMNS = {kind: f"{kind}_%(table_name)s_%(column_0_N_name)s" for kind in ("ix", "uq", "fk")}

METADATA = MetaData(
    naming_convention={**_BY_COLUMNS, "ck": "ck_%(table_name)s_%(constraint_name)s", "pk": "pk_%(table_name)s"}
)


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


def one_of(column: str, values: tuple[str, ...]) -> CheckConstraint:
    """Return a CHECK that a text column holds one of a closed list of values."""
    listed = ", ".join(f"'{value}'" for value in values)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


def _position_bounds() -> CheckConstraint:
    """Return a CHECK that a position is not negative and that a scene never lacks its chapter."""
    return CheckConstraint(
        "(chapter_index IS NULL AND scene_index IS NULL) OR"
        " (chapter_index >= 0 AND (scene_index IS NULL OR scene_index >= 0))",
        name="position",
    )


_COLUMN_TYPES: dict[Any, Any] = {str: Text, int: Integer, bool: Boolean, float: Float, datetime: UtcTimestamp}


PLACE = ("chapter_index", "scene_index")

_BY_PLACE = ("project_id", *PLACE)

_NO_COLUMNS = ("scene_label", "source_span")
"""Fields of events that their rows tell by the scene's id and in two columns."""


def _column(name: str, info: FieldInfo) -> Column[Any]:
    kind, is_nullable = _without_none(info.annotation)
    values = get_args(kind) if get_origin(kind) is Literal else ()
    column_type = Text if values else _COLUMN_TYPES.get(kind, JSON(none_as_null=is_nullable))
    default = _server_default(info.get_default(call_default_factory=True, validated_data={}))
    checks = [one_of(name, values)] if values else []
    return Column(name, column_type, *checks, nullable=is_nullable, server_default=default)


def _server_default(default: Any) -> Any:
    """Return a default as SQL says it; None for what has none, or none that the database could tell."""
    if isinstance(default, bool):
        return true() if default else false()
    if isinstance(default, list | dict):
        return None if default else json.dumps(default)
    return text(repr(default)) if isinstance(default, str | int) else None


def _without_none(annotation: Any) -> tuple[Any, bool]:
    """Return what a value is where it is not None, without what validates it, and whether it may be None."""
    if get_origin(annotation) is Annotated:
        return _without_none(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        (kind,) = [each for each in get_args(annotation) if each is not type(None)]
        return _without_none(kind)[0], True
    return annotation, False


def _own(name: str, kind: Any = Text, *parts: Any, nullable: bool = False, **options: Any) -> Column[Any]:
    return Column(name, kind, *parts, nullable=nullable, **options)


def _key(name: str, kind: Any = Text, *parts: Any) -> Column[Any]:
    return Column(name, kind, *parts, primary_key=True)


def _of(column: str, *, on_delete: str = "CASCADE") -> ForeignKey:
    return ForeignKey(column, ondelete=on_delete)


def _of_entity() -> ForeignKeyConstraint:
    own = ["project_id", "entity_id"]
    return ForeignKeyConstraint(own, [f"entities.{each}" for each in own], ondelete="CASCADE")


def _project() -> Column[Any]:
    return _own("project_id", Text, _of("projects.project_id"))


def _scene() -> Column[Any]:
    return _own("scene_id", Text, _of("scenes.scene_id", on_delete="SET NULL"), nullable=True)


def _owned() -> tuple[Column[Any], ...]:
    """Return what a row of a project begins with, which has a number of its own."""
    return _key("row_id", BIG_KEY), _project()


def _table(
    name: str,
    *parts: Column[Any] | CheckConstraint | Index | UniqueConstraint | ForeignKeyConstraint,
    of: type[BaseModel] | None = None,
    without: Collection[str] = (),
    first: Collection[Column[Any]] = (),
) -> Table:
    """Return a table with a column for each field of a model, so that it restates none.

    What may be None may be NULL, a closed list of values is checked, and what is no text, number or moment is JSON.
    Columns that the table declares itself come in the place of those.
    """
    declared = {each.name for each in (*first, *parts) if isinstance(each, Column)}
    fields = {} if of is None else of.model_fields
    columns = [_column(each, info) for each, info in fields.items() if each not in declared.union(without)]
    return Table(name, METADATA, *first, *columns, *parts)


def _event_table(name: str, model: type[records.StoredEvent], *indexes: Index) -> Table:
    """Return a table of events that scenes bring or an author says; the span is that of the quote in the text."""
    spans = ("span_start", "span_end") if "source_span" in model.model_fields else ()
    return _table(
        name,
        *(_own(each, Integer, nullable=True) for each in spans),
        *indexes,
        Index(None, "scene_id"),
        _position_bounds(),
        of=model,
        without=(*_NO_COLUMNS, "by_author"),
        first=(*_owned(), _scene()),
    )


PROJECTS = _table("projects", _key("project_number", BIG_KEY), UniqueConstraint("project_id"), of=records.StoredProject)
"""One story; `project_number` is its scope in the lexical index."""

COUNTERS = _table(
    "counters", _key("project_id", Text, _of("projects.project_id")), _key("kind"), _own("next_number", Integer)
)
"""The next number of a kind of id, within a project."""

SCENES = _table(
    "scenes",
    _key("scene_id"),
    _project(),
    _own("text"),
    _own("record", JSON(none_as_null=True), nullable=True),
    UniqueConstraint(*_BY_PLACE),
    UniqueConstraint("project_id", "label"),
    _position_bounds(),
    of=records.StoredScene,
    without=("mentions",),
)
"""Stored scenes; `scene_id` stays when the position changes."""

ENTITIES = _table(
    "entities",
    _own("name_key"),
    _own("origin"),
    _own("created_at", UtcTimestamp, nullable=True),
    _own("updated_at", UtcTimestamp, nullable=True),
    UniqueConstraint("project_id", "entity_id"),
    one_of("origin", get_args(records.EntityOrigin)),
    of=Entity,
    without=("aliases", SAID_FROM),
    first=_owned(),
)
"""Persons, places, things, groups and terms."""

ALIASES = _table(
    "entity_aliases",
    _key("row_id", BIG_KEY),
    *map(_own, ("project_id", "entity_id", "alias_key")),
    _own("by_author", Boolean, server_default=false()),
    _of_entity(),
    UniqueConstraint("project_id", "entity_id", "alias"),
    Index(None, "project_id", "alias_key"),
    of=EntityAlias,
)
"""Other names of entities."""

CHARACTER_FILE_ALIASES = _table(
    "character_file_aliases", _key("project_id"), _key("entity_id"), _key("alias"), _of_entity()
)
"""Aliases that nobody but characters.json has brought, as it was read last."""

MENTIONS = _table(
    "name_mentions",
    _key("scene_id", Text, _of("scenes.scene_id")),
    *map(_key, ("entity_id", "name")),
    _own("project_id"),
    *(_own(name, Integer) for name in PLACE),
    Index("ix_name_mentions_first", "project_id", "entity_id", "name", *PLACE),
    _position_bounds(),
)
"""Stored scenes whose text contains a name or alias."""

TOUCHED_BY_HAND = (
    "origin = 'author' OR pinned OR status <> 'active'"
    " OR CAST(attached AS TEXT) <> '[]' OR CAST(detached AS TEXT) <> '[]'"
)
"""Condition on `memory_chunks` that an author wrote or changed one; a query must have it word for word to be
answered by the index of those few."""

_SEARCHED = ("importance", "chapter_index", "scene_index", "status", "content_type", "term_count")
"""What a search reads of every memory before a position, most important first; nothing else of the row."""

CHUNKS = _table(
    "memory_chunks",
    _scene(),
    _own("from_scene", Boolean),
    _own("content_hash"),
    _own("term_count", Integer),
    _own("span_start", Integer, nullable=True),
    _own("span_end", Integer, nullable=True),
    _own("status"),
    _own("pinned", Boolean),
    _own("attached", JSON, server_default="[]"),
    _own("detached", JSON, server_default="[]"),
    _own("last_accessed_at", UtcTimestamp, nullable=True),
    UniqueConstraint("project_id", "chunk_id"),
    Index(None, *_BY_PLACE),
    Index(None, "project_id", "slot_type"),
    Index(None, "project_id", "supersedes"),
    Index(None, "project_id", "source_id"),
    Index(None, "scene_id"),
    Index("ix_memory_chunks_searched", "project_id", *_SEARCHED),
    # For PostgreSQL the baseline says the same: told here, it loads that dialect for whoever opens a file.
    Index("ix_memory_chunks_by_hand", "project_id", "chunk_id", sqlite_where=text(TOUCHED_BY_HAND)),
    _position_bounds(),
    one_of("status", get_args(records.MemoryStatus)),
    of=StoryMemoryChunk,
    # The first two are told by other rows.
    without=("superseded_by", "attached_to", "source_span"),
    first=_owned(),
)
"""Retrievable memories; the position of one is that of its scene and moves with it.

`entities_mentioned` is what its origin links it to; `attached` and `detached` is what an author set and
took off by hand. A memory without any link is attached to the book.
"""

CHUNK_ENTITIES = _table(
    "chunk_entities",
    _key("chunk_row_id", BIG_KEY, _of("memory_chunks.row_id")),
    _key("entity_id"),
    _own("project_id"),
    _own("kind"),
    Index(None, "project_id", "entity_id", "chunk_row_id"),
    one_of("kind", ("mention", "record", "manual")),
)
"""A memory is linked to an entity, or by hand to a chapter (`chapter:3`) or the `book`."""

CHUNK_TAGS = _table(
    "chunk_tags",
    _key("chunk_row_id", BIG_KEY, _of("memory_chunks.row_id")),
    _key("tag"),
    _own("project_id"),
    Index(None, "project_id", "tag", "chunk_row_id"),
)
"""A memory bears a tag."""

EMBEDDINGS = _table(
    "embeddings",
    _key("chunk_row_id", BIG_KEY, _of("memory_chunks.row_id")),
    _key("model"),
    _own("dimension", Integer),
    _own("content_hash"),
    _own("vector", LargeBinary),
)
"""Vectors of memories' texts, each under one model, as little-endian float32."""

CONSOLIDATION_SOURCES = _table(
    "consolidation_sources",
    _key("source_row_id", BIG_KEY, _of("memory_chunks.row_id")),
    _own("consolidated_row_id", BIG_KEY, _of("memory_chunks.row_id")),
    _own("project_id"),
    Index(None, "project_id", "consolidated_row_id"),
    Index(None, "consolidated_row_id"),
)
"""A memory that a consolidated memory stands for, from that one's position on; each for at most one."""

OUTBOX = _table(
    "index_outbox",
    UniqueConstraint("project_id", "chunk_id"),
    Index(None, "project_id", "state", "row_id"),
    of=records.OutboxEntry,
    first=_owned(),
)
"""What the vector index still has to do, or has done, for one chunk; it outlives the chunk."""

STATES = _event_table(
    "state_changes", records.StoredState, Index(None, "project_id", "entity_id", *PLACE), Index(None, *_BY_PLACE)
)
"""One attribute of one entity took a value; the span is that of its quote in the scene's text."""

LOOP_EVENTS = _event_table("loop_events", records.StoredLoopEvent, Index(None, "project_id", "loop_id", *PLACE))
"""An open loop was planted, moved, resolved or dropped."""

RELATIONSHIPS = _table(
    "relationships",
    UniqueConstraint("project_id", "relationship_id"),
    UniqueConstraint("project_id", "character_a", "character_b"),
    Index(None, "project_id", "character_b"),
    of=records.StoredPair,
    first=_owned(),
)
"""The ids of pairs of characters, `character_a` sorting before `character_b`."""

RELATIONSHIP_CHANGES = _table(
    "relationship_changes",
    _key("row_id", BIG_KEY),
    _own("project_id"),
    _scene(),
    ForeignKeyConstraint(
        ["project_id", "relationship_id"],
        ["relationships.project_id", "relationships.relationship_id"],
        ondelete="CASCADE",
    ),
    Index("ix_relationship_changes_fold", "project_id", "relationship_id", *PLACE),
    Index(None, "scene_id"),
    _position_bounds(),
    of=records.StoredRelationshipChange,
    without=_NO_COLUMNS,
)
"""How a pair stood after a scene; NULL leaves the earlier value."""

KNOWLEDGE_EVENTS = _event_table("knowledge_events", records.StoredKnowledge, Index(None, *_BY_PLACE))
"""At a scene somebody came to know a memory or was kept from it; the span is that of the quote in its text.

`source_id` is that of the memory, or `*` for all that `learned_from` has lived through.
"""

CHANGE_SUBJECTS = ("entity", "memory", "scene", "thread", "consolidation", "character")

EVENT_TABLES: tuple[Table, ...] = (STATES, LOOP_EVENTS, RELATIONSHIP_CHANGES, KNOWLEDGE_EVENTS)
"""What a scene changes."""

CHANGES = _table(
    "changes",
    *map(_own, ("subject", "kind", "entity_id", "other_id")),
    _own("created_at", UtcTimestamp),
    _own("undone_at", UtcTimestamp, nullable=True),
    _own("changed_rows", JSON),
    Index(None, "project_id", "subject", "row_id"),
    one_of("subject", CHANGE_SUBJECTS),
    first=_owned(),
)
"""What was changed and can be undone; `changed_rows` holds every row before and after."""

SUMMARIES = _table(
    "story_summaries", Index(None, "project_id", "level", "number"), of=records.StoredSummary, first=_owned()
)
"""Written summaries of the chapters from first to last; one that is withheld tells of scenes that went elsewhere.

Of a chapter or part at most one row is not withheld.
"""

CHARACTER_MEMORIES = _table(
    "character_memories",
    _own("changed", Integer),
    _own("content_hash"),
    _own("embedding_model", nullable=True),
    _own("vector", LargeBinary, nullable=True),
    UniqueConstraint("project_id", "memory_id"),
    Index("ix_character_memories_changed", "project_id", "character_id", "changed"),
    Index("ix_character_memories_event", "project_id", "event_id"),
    of=CharacterMemory,
    first=_owned(),
)
"""What one character remembers; no search of the story ever reads it.

`changed` is the project's `story_revision` at which the row was written last, by which readers tell what is new.
The vector is that of the content under the model, as little-endian float32.
"""

POSITIONED_TABLES: tuple[Table, ...] = (CHUNKS, STATES, LOOP_EVENTS, RELATIONSHIP_CHANGES, KNOWLEDGE_EVENTS, MENTIONS)
"""Tables whose rows carry a scene's id and a copy of its position."""

DISPOSITION_CHANGES = _table(
    "disposition_changes",
    Index(None, "project_id", "character_id", "other_id"),
    of=records.StoredDispositionChange,
    first=_owned(),
)
"""What one character feels for another moved by an event; each side has rows of its own."""

CHARACTER_SECRETS = _table(
    "character_secrets",
    *map(_own, ("character_id", "secret_id")),
    _own("secret", JSON),
    UniqueConstraint("project_id", "character_id", "secret_id"),
    first=_owned(),
)
"""Secrets of characters; `secret` holds the text, conditions and hints."""

DISCLOSURES = _table(
    "character_disclosures",
    Index(None, "project_id", "character_id", "other_id"),
    of=records.Disclosure,
    first=_owned(),
)
"""A character revealed a secret to another, or was shown a thing by another; `subject` is the one or the other."""

STORY_FLAGS = _table("story_flags", Index(None, "project_id", "name"), of=records.FlagChange, first=_owned())
"""A flag of the story took a value."""


def alias_with_columns(table: Table, name: str) -> FromClause:
    """Return a table under another name for statements of several threads, its columns made at once.

    SQLAlchemy makes the columns of an alias when they are first asked for, and threads that come together there may
    each get their own, which no statement can join.
    """
    alias = table.alias(name)
    alias.c.keys()
    return alias
