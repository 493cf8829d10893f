"""Table of what authors did to entities as a whole, with what it takes to undo it."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import JSON, Index, Text
from sqlmodel import Field

from runtime.storage.table_base import BIG_KEY, Row, UtcTimestamp, one_of, table_of

ENTITY_CHANGE_KINDS = ("merge", "split")


class EntityChangeRow(Row, table=True):
    """Two entities became one, or one became two; `changed_rows` holds every row before and after."""

    __tablename__: ClassVar[str] = "entity_changes"
    __table_args__ = (Index(None, "project_id", "row_id"), one_of("kind", ENTITY_CHANGE_KINDS))
    row_id: int | None = Field(default=None, primary_key=True, sa_type=BIG_KEY)
    project_id: str = Field(sa_type=Text, foreign_key="projects.project_id", ondelete="CASCADE")
    kind: str = Field(sa_type=Text)
    entity_id: str = Field(sa_type=Text)
    other_id: str = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=UtcTimestamp)
    undone_at: datetime | None = Field(default=None, sa_type=UtcTimestamp)
    changed_rows: list[dict[str, Any]] = Field(sa_type=JSON)


ENTITY_CHANGES = table_of(EntityChangeRow)
