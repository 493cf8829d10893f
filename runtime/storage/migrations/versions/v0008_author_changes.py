"""What an author changes in memories and scenes is kept with what was there before, to be taken back."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

TABLE = "author_changes"


def upgrade() -> None:
    """Create `author_changes`; of what was changed before nothing is known."""
    op.create_table(
        TABLE,
        sa.Column("row_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("chunk_id", sa.Text(), nullable=True),
        sa.Column("scene_id", sa.Text(), nullable=True),
        sa.Column("before", sa.JSON(), nullable=False),
        sa.Column("after", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("undone_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_author_changes_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_author_changes")),
    )
    op.create_index(op.f("ix_author_changes_project_id_row_id"), TABLE, ["project_id", "row_id"])
