"""Indexes for what every context reads of all memories: the columns of a search, and what an author touched."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_TOUCHED_BY_HAND = (
    "origin = 'author' OR pinned OR status <> 'active'"
    " OR CAST(attached AS TEXT) <> '[]' OR CAST(detached AS TEXT) <> '[]'"
)


def upgrade() -> None:
    """Add the indexes; no row changes."""
    op.create_index(
        "ix_memory_chunks_searched",
        "memory_chunks",
        [
            "project_id",
            "importance",
            "chapter_index",
            "scene_index",
            "status",
            "content_type",
            "term_count",
        ],
        unique=False,
    )
    op.create_index(
        "ix_memory_chunks_by_hand",
        "memory_chunks",
        ["project_id", "chunk_id"],
        unique=False,
        sqlite_where=sa.text(_TOUCHED_BY_HAND),
        postgresql_where=sa.text(_TOUCHED_BY_HAND),
    )
