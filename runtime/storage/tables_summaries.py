"""Table of the summaries that a person or a model wrote."""

from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from sqlalchemy import Index, Text, false
from sqlmodel import Field

from runtime.storage.table_base import BIG_KEY, Row, UtcTimestamp, one_of, table_of

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
