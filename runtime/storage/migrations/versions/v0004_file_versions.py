"""The text and title that a scene's file had when it was last taken in."""

import sqlalchemy as sa
from alembic import op

revision = "file_versions"
down_revision = "several_superseded"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; of stored scenes nobody knows it."""
    op.add_column("scenes", sa.Column("file_version", sa.JSON(none_as_null=True), nullable=True))
