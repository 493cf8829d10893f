"""When a memory was last read for a piece of text, where the reader asked for it to be noted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the moment; it is unknown for all memories of before."""
    op.add_column("memory_chunks", sa.Column("last_accessed_at", sa.DateTime(timezone=True), nullable=True))
