"""Whether this adds a knower to a note."""

import sqlalchemy as sa
from alembic import op

revision = "added_knowers"
down_revision = "memories_over"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, false for stored words."""
    op.add_column("knowledge_events", sa.Column("adds_knower", sa.Boolean(), nullable=False, server_default=sa.false()))
