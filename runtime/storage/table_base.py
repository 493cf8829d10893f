"""Column types and the base class that all tables share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

from sqlalchemy import BigInteger, CheckConstraint, DateTime, Dialect, Integer, MetaData, Table
from sqlalchemy.orm import registry
from sqlalchemy.types import TypeDecorator
from sqlmodel import SQLModel

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
