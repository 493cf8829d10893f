"""Who is in a scene and where it plays, as its author says."""

import sqlalchemy as sa
from alembic import op

revision = "staged_scenes"
down_revision = "baseline_3"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column."""
    op.add_column("scenes", sa.Column("staged", sa.JSON(), nullable=False, server_default="{}"))
