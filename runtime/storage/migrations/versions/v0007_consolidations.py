"""Which memories a consolidated memory stands for."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the links; nothing is consolidated before."""
    chunk = ["memory_chunks.row_id"]
    op.create_table(
        "consolidation_sources",
        sa.Column("source_row_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "consolidated_row_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_row_id"],
            chunk,
            name=op.f("fk_consolidation_sources_source_row_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["consolidated_row_id"],
            chunk,
            name=op.f("fk_consolidation_sources_consolidated_row_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("source_row_id", name=op.f("pk_consolidation_sources")),
    )
    op.create_index(
        op.f("ix_consolidation_sources_project_id_consolidated_row_id"),
        "consolidation_sources",
        ["project_id", "consolidated_row_id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_consolidation_sources_consolidated_row_id"),
        "consolidation_sources",
        ["consolidated_row_id"],
        unique=False,
    )
