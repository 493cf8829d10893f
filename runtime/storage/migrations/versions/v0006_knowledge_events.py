"""What records and authors say of who knows what is kept, one row for each saying."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

TABLE = "knowledge_events"


def upgrade() -> None:
    """Create `knowledge_events`; what scenes stored before say of it stands in no record of theirs."""
    op.create_table(
        TABLE,
        sa.Column("row_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("scene_id", sa.Text(), nullable=True),
        sa.Column("chapter_index", sa.Integer(), nullable=True),
        sa.Column("scene_index", sa.Integer(), nullable=True),
        sa.Column("character_id", sa.Text(), nullable=False),
        sa.Column("source_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("how", sa.Text(), nullable=False),
        sa.Column("learned_from", sa.Text(), nullable=True),
        sa.Column("certainty", sa.Float(), nullable=False),
        sa.Column("quote", sa.Text(), nullable=False),
        sa.Column("verified", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("span_start", sa.Integer(), nullable=True),
        sa.Column("span_end", sa.Integer(), nullable=True),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "(chapter_index IS NULL AND scene_index IS NULL) OR"
            " (chapter_index >= 0 AND (scene_index IS NULL OR scene_index >= 0))",
            name=op.f("ck_knowledge_events_position"),
        ),
        sa.CheckConstraint("kind IN ('knows', 'hidden', 'deceived', 'doubts')", name=op.f("ck_knowledge_events_kind")),
        sa.CheckConstraint(
            "how IN ('own_doing', 'witnessed', 'told', 'overheard', 'read', 'deduced', 'author')",
            name=op.f("ck_knowledge_events_how"),
        ),
        sa.CheckConstraint("origin IN ('record', 'author')", name=op.f("ck_knowledge_events_origin")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_knowledge_events_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["scene_id"], ["scenes.scene_id"], name=op.f("fk_knowledge_events_scene_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_knowledge_events")),
    )
    for columns in (("project_id", "chapter_index", "scene_index"), ("scene_id",)):
        op.create_index(op.f(f"ix_knowledge_events_{'_'.join(columns)}"), TABLE, list(columns))
