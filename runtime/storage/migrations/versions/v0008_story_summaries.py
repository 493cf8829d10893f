"""Summaries of chapters and parts that a person or a model wrote."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

BIG_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table; nothing was written before."""
    op.create_table(
        "story_summaries",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("level", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("first_chapter", sa.Integer(), nullable=False),
        sa.Column("last_chapter", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("source_hash", sa.Text(), nullable=False),
        sa.Column("is_withheld", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("written_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("level IN ('chapter', 'part')", name=op.f("ck_story_summaries_level")),
        sa.CheckConstraint("origin IN ('author', 'model')", name=op.f("ck_story_summaries_origin")),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.project_id"],
            name=op.f("fk_story_summaries_project_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_story_summaries")),
    )
    op.create_index(
        op.f("ix_story_summaries_project_id_level_number"),
        "story_summaries",
        ["project_id", "level", "number"],
        unique=False,
    )
