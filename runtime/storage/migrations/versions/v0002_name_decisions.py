"""Decisions about names that the text alone offers are kept beside merges and splits."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Let `entity_changes` hold what an author decided about candidates."""
    name = op.f("ck_entity_changes_kind")
    with op.batch_alter_table("entity_changes") as table:
        table.drop_constraint(name, type_="check")
        table.create_check_constraint(name, "kind IN ('merge', 'split', 'confirm', 'name', 'join', 'drop')")
