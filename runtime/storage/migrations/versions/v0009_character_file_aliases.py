"""Aliases that characters.json alone has brought, so that they can go when it has them no more.

Who brought the aliases of before is not known: they stay.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table; it is filled by the next ingest."""
    op.create_table(
        "character_file_aliases",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("alias", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id", "entity_id"],
            ["entities.project_id", "entities.entity_id"],
            name=op.f("fk_character_file_aliases_project_id_entity_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("project_id", "entity_id", "alias", name=op.f("pk_character_file_aliases")),
    )
