"""What characters feel for each other, keep secret and told whom; flags of the story."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

BIG_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the tables, empty."""
    _create(
        "disposition_changes",
        [
            _text("character_id"),
            _text("other_id"),
            _text("event_type"),
            sa.Column("deltas", sa.JSON(), nullable=False),
            sa.Column("set_to", sa.JSON(), nullable=False),
            sa.Column("memory_id", sa.Text(), nullable=True),
            *_moment(),
        ],
        index=["project_id", "character_id", "other_id"],
    )
    unique = ["project_id", "character_id", "secret_id"]
    _create(
        "character_secrets",
        [
            _text("character_id"),
            _text("secret_id"),
            sa.Column("secret", sa.JSON(), nullable=False),
            sa.UniqueConstraint(*unique, name=op.f("uq_character_secrets_project_id_character_id_secret_id")),
        ],
    )
    _create(
        "character_disclosures",
        [
            _text("character_id"),
            _text("other_id"),
            _text("kind"),
            _text("subject"),
            *_moment(),
            sa.CheckConstraint("kind IN ('revealed', 'shown')", name=op.f("ck_character_disclosures_kind")),
        ],
        index=["project_id", "character_id", "other_id"],
    )
    _create(
        "story_flags",
        [_text("name"), sa.Column("value", sa.JSON(), nullable=False), *_moment()],
        index=["project_id", "name"],
    )


def _create(table: str, columns: Sequence[Any], *, index: Sequence[str] = ()) -> None:
    op.create_table(
        table,
        sa.Column("row_id", BIG_KEY, nullable=False),
        _text("project_id"),
        *columns,
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f(f"fk_{table}_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("row_id", name=op.f(f"pk_{table}")),
    )
    if index:
        op.create_index(op.f(f"ix_{table}_{'_'.join(index)}"), table, list(index))


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False)


def _moment() -> list[sa.Column[Any]]:
    return [
        sa.Column("session", sa.Integer(), nullable=True),
        sa.Column("turn", sa.Integer(), nullable=True),
        sa.Column("happened_at", sa.DateTime(timezone=True), nullable=False),
    ]
