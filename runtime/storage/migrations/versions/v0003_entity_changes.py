"""The journal of merged and split entities."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

BIG_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the journal."""
    op.create_table(
        "entity_changes",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("other_id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("undone_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("changed_rows", sa.JSON(), nullable=False),
        sa.CheckConstraint("kind IN ('merge', 'split')", name=op.f("ck_entity_changes_kind")),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.project_id"],
            name=op.f("fk_entity_changes_project_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_entity_changes")),
    )
    op.create_index(
        op.f("ix_entity_changes_project_id_row_id"), "entity_changes", ["project_id", "row_id"], unique=False
    )
