"""Whether a relationship's type reads from the second of the pair."""

import sqlalchemy as sa
from alembic import op

revision = "types_reading_back"
down_revision = "added_knowers"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, false for stored types."""
    op.add_column(
        "relationship_changes", sa.Column("type_reads_back", sa.Boolean(), nullable=False, server_default=sa.false())
    )
