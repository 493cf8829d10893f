"""What authors attach memories to by hand.

A memory that is attached to nothing is attached to the book, which needs no row: all memories of before
are, unless their scene linked them to entities.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what was set and what was taken off by hand."""
    for name in ("attached", "detached"):
        op.add_column("memory_chunks", sa.Column(name, sa.JSON(), server_default="[]", nullable=False))
