"""The place after which a memory no longer holds, as its author says."""

import sqlalchemy as sa
from alembic import op

revision = "memories_over"
down_revision = "file_versions"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; no stored memory was ended so."""
    op.add_column("memory_chunks", sa.Column("over_at", sa.JSON(none_as_null=True), nullable=True))
