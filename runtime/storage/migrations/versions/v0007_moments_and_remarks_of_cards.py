"""Cards keep when they were made and changed, and what another program's documents say beside; deletions are kept."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

MOMENTS = ("created_at", "updated_at")


def upgrade() -> None:
    """Give cards and relationships their moments, which are not known of those that were stored before."""
    for table in ("entities", "relationships"):
        for name in MOMENTS:
            op.add_column(table, sa.Column(name, sa.DateTime(timezone=True), nullable=True))
    for table, name in (("scenes", "other_fields"), ("relationships", "other_fields"), ("state_changes", "detail")):
        op.add_column(table, sa.Column(name, sa.JSON(), nullable=False, server_default="{}"))
    name = op.f("ck_entity_changes_kind")
    with op.batch_alter_table("entity_changes") as changes:
        changes.drop_constraint(name, type_="check")
        changes.create_check_constraint(name, "kind IN ('merge', 'split', 'confirm', 'name', 'join', 'drop', 'delete')")
