"""The further memories that one ends, beside the first."""

import sqlalchemy as sa
from alembic import op

revision = "several_superseded"
down_revision = "staged_scenes"
branch_labels = None
depends_on = None

ENDS_SEVERAL = sa.text("CAST(also_supersedes AS TEXT) <> '[]'")


def upgrade() -> None:
    """Add the column, and the index of the few memories that have a value in it."""
    op.add_column("memory_chunks", sa.Column("also_supersedes", sa.JSON(), nullable=False, server_default="[]"))
    op.create_index(
        op.f("ix_memory_chunks_ends_several"),
        "memory_chunks",
        ["project_id", "chunk_id"],
        sqlite_where=ENDS_SEVERAL,
        postgresql_where=ENDS_SEVERAL,
    )
