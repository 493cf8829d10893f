"""What one of a pair feels for the other is kept beside what both feel."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

SIDES = ("dimensions_a", "dimensions_b")


def upgrade() -> None:
    """Give a change of a relationship the dimensions of each side; those stored before say nothing of them."""
    for name in SIDES:
        op.add_column("relationship_changes", sa.Column(name, sa.JSON(), nullable=True))
