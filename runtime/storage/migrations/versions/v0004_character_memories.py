"""A character's own memories, and what was done to them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

BIG_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables; stories of before have no memories of characters."""
    op.create_table(
        "character_memories",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("character_id", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.Text(), nullable=False),
        sa.Column("changed", sa.Integer(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("short", sa.Text(), nullable=True),
        sa.Column("event_type", sa.Text(), nullable=False),
        sa.Column("interaction_type", sa.Text(), nullable=True),
        sa.Column("importance", sa.Integer(), nullable=False),
        sa.Column("tier", sa.Text(), nullable=False),
        sa.Column("is_milestone", sa.Boolean(), nullable=False),
        sa.Column("participants", sa.JSON(), nullable=False),
        sa.Column("emotion", sa.Text(), nullable=False),
        sa.Column("location", sa.Text(), nullable=False),
        sa.Column("slot", sa.Text(), nullable=True),
        sa.Column("how", sa.Text(), nullable=False),
        sa.Column("heard_from", sa.Text(), nullable=True),
        sa.Column("event_id", sa.Text(), nullable=False),
        sa.Column("session", sa.Integer(), nullable=True),
        sa.Column("turn", sa.Integer(), nullable=True),
        sa.Column("happened_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("known_session", sa.Integer(), nullable=True),
        sa.Column("known_turn", sa.Integer(), nullable=True),
        sa.Column("known_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("superseded_by", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("consolidated_into", sa.Text(), nullable=True),
        sa.Column("stands_for", sa.JSON(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("embedding_model", sa.Text(), nullable=True),
        sa.Column("vector", sa.LargeBinary(), nullable=True),
        sa.CheckConstraint(
            "status IN ('active', 'consolidated', 'deleted')", name=op.f("ck_character_memories_status")
        ),
        sa.CheckConstraint(
            "how IN ('own_doing', 'witnessed', 'told', 'overheard', 'read')", name=op.f("ck_character_memories_how")
        ),
        sa.CheckConstraint("tier IN ('pinned', 'important', 'regular')", name=op.f("ck_character_memories_tier")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_character_memories_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_character_memories")),
        sa.UniqueConstraint("project_id", "memory_id", name=op.f("uq_character_memories_project_id_memory_id")),
    )
    op.create_index("ix_character_memories_changed", "character_memories", ["project_id", "character_id", "changed"])
    op.create_index("ix_character_memories_event", "character_memories", ["project_id", "event_id"])
    op.create_table(
        "character_memory_changes",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("character_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("undone_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("changed_rows", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.project_id"],
            name=op.f("fk_character_memory_changes_project_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_character_memory_changes")),
    )
    op.create_index(
        op.f("ix_character_memory_changes_project_id_character_id_row_id"),
        "character_memory_changes",
        ["project_id", "character_id", "row_id"],
    )
