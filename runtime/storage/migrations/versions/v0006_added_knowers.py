"""Whether the author's word adds a knower to a note, and is none of its list of all that know it."""

import sqlalchemy as sa
from alembic import op

revision = "added_knowers"
down_revision = "memories_over"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; stored words on a note at its own place stay its list, as they were read."""
    op.add_column("knowledge_events", sa.Column("adds_knower", sa.Boolean(), nullable=False, server_default=sa.false()))
