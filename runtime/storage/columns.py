"""Types of columns: closed lists of words, keys, JSON, and checks."""

from typing import Annotated, Any, Literal, TypeVar, get_args

import sqlmodel
from pydantic import BaseModel, Field
from sqlalchemy import JSON, BigInteger, CheckConstraint, Dialect, ForeignKeyConstraint, Integer
from sqlalchemy.types import TypeDecorator
from sqlmodel import AutoString

from novelgen.models.record import SceneRecord

EntityOrigin = Literal["author", "supplied", "extracted", "rules"]

ExtractionStatus = Literal["none", "done", "failed", "pending"]

EventOrigin = Literal["record", "author"]
"""Where an event came from; at one position the author's counts after, hence over, the record's."""

StateKind = Literal["explicit", "presence"]

LoopEventKind = Literal["planted", "advanced", "resolved", "abandoned"]

MemoryStatus = Literal["active", "banned", "deleted"]

OutboxOperation = Literal["upsert", "delete"]

OutboxState = Literal["pending", "done", "failed"]

LinkKind = Literal["mention", "record", "manual"]

ChangeSubject = Literal["entity", "memory", "scene", "thread", "consolidation", "character"]

SummaryLevel = Literal["chapter", "part"]

SummaryWriter = Literal["author", "model"]

DisclosureKind = Literal["revealed", "shown"]

WITHOUT_RECORD: EntityOrigin = "rules"
"""The `record_origin` of a scene that only its text speaks for."""

ScenePlace = tuple[int, int]
"""Chapter and scene."""

PLACE = ("chapter_index", "scene_index")

BIG_KEY = BigInteger().with_variant(Integer, "sqlite")
"""Integer primary keys: SQLite numbers rows by itself only where the type is INTEGER."""

T = TypeVar("T")

Json = Annotated[T, sqlmodel.Field(sa_type=JSON)]
"""A list or mapping, kept as JSON; None is JSON's null."""

NullableJson = Annotated[T, sqlmodel.Field(sa_type=JSON(none_as_null=True))]
"""The same where None is NULL."""

Word = Annotated[T, sqlmodel.Field(sa_type=AutoString)]
"""A value of a closed list, kept as text; `one_of` has the database refuse others."""

Hidden = Annotated[T, Field(exclude=True)]
"""A column of the storage alone, which no document or answer has."""

RowId = Annotated[int | None, sqlmodel.Field(primary_key=True, sa_type=BIG_KEY), Field(exclude=True)]
"""The number of a row, which the database gives."""

Key = Annotated[str, sqlmodel.Field(primary_key=True)]

ProjectId = Annotated[str, sqlmodel.Field(foreign_key="projects.project_id", ondelete="CASCADE"), Field(exclude=True)]
"""Whose row it is; empty until it is stored."""

SceneId = Annotated[
    str | None, sqlmodel.Field(foreign_key="scenes.scene_id", ondelete="SET NULL", nullable=True), Field(exclude=True)
]
"""The scene that a row came from, or stands at."""

ChunkRowId = Annotated[
    int, sqlmodel.Field(primary_key=True, sa_type=BIG_KEY, foreign_key="memory_chunks.row_id", ondelete="CASCADE")
]


def one_of(column: str, values: Any) -> CheckConstraint:
    """Return a CHECK that a text column holds a value of a closed list, given as a Literal."""
    listing = ", ".join(f"'{value}'" for value in get_args(values))
    return CheckConstraint(f"{column} IN ({listing})", name=column)


def position_bounds() -> CheckConstraint:
    """Return a CHECK that a position is not negative and that a scene never lacks its chapter."""
    return CheckConstraint(
        "(chapter_index IS NULL AND scene_index IS NULL) OR"
        " (chapter_index >= 0 AND (scene_index IS NULL OR scene_index >= 0))",
        name="position",
    )


def of_entity() -> ForeignKeyConstraint:
    """Return a foreign key to an entity of the project."""
    columns = ["project_id", "entity_id"]
    return ForeignKeyConstraint(columns, [f"entities.{name}" for name in columns], ondelete="CASCADE")


class RecordJson(TypeDecorator[Any]):
    """The JSON type of scene records, without their place."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        """Return a record as JSON."""
        return value.model_dump(mode="json") if isinstance(value, BaseModel) else value

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """Return a stored record, empty if damaged."""
        return None if value is None else SceneRecord.model_validate({**dict.fromkeys(PLACE, 0), **value})
