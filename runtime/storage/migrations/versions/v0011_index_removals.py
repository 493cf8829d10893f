"""How many rows were removed from a project's vector index since it was built."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the count; what was removed before is not known."""
    op.add_column(
        "projects", sa.Column("index_removals", sa.Integer(), server_default=sa.text("0"), nullable=False)
    )
