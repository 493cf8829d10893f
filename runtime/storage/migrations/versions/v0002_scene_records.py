"""What scene records bring: loops, relationships, mentions, slots, supersession, counters."""

from __future__ import annotations

import re

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

BIG_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
POSITION = (
    "(chapter_index IS NULL AND scene_index IS NULL) OR"
    " (chapter_index >= 0 AND (scene_index IS NULL OR scene_index >= 0))"
)
_NUMBERED = re.compile(r"([CLIFTS])(\d{1,9})")


def upgrade() -> None:
    """Add what scene records bring, and count on from the ids that are in use."""
    op.add_column("entities", sa.Column("name_first_chapter", sa.Integer(), nullable=True))
    op.add_column("entities", sa.Column("name_first_scene", sa.Integer(), nullable=True))
    op.add_column(
        "scenes", sa.Column("content_hash", sa.Text(), server_default=sa.text("''"), nullable=False)
    )
    op.add_column("scenes", sa.Column("story_time", sa.Text(), nullable=True))
    op.add_column("scenes", sa.Column("location_id", sa.Text(), nullable=True))
    op.add_column("scenes", sa.Column("pov", sa.Text(), nullable=True))
    op.add_column("scenes", sa.Column("participants", sa.JSON(), server_default="[]", nullable=False))
    op.add_column("scenes", sa.Column("record", sa.JSON(none_as_null=True), nullable=True))
    op.add_column(
        "scenes",
        sa.Column(
            "record_origin",
            sa.Text(),
            sa.CheckConstraint(
                "record_origin IN ('author', 'supplied', 'extracted', 'rules')",
                name=op.f("ck_scenes_record_origin"),
            ),
            server_default="rules",
            nullable=False,
        ),
    )
    op.add_column(
        "scenes",
        sa.Column(
            "extraction_status",
            sa.Text(),
            sa.CheckConstraint(
                "extraction_status IN ('none', 'done', 'failed', 'pending')",
                name=op.f("ck_scenes_extraction_status"),
            ),
            server_default="none",
            nullable=False,
        ),
    )
    op.add_column("scenes", sa.Column("failure_reason", sa.Text(), nullable=True))
    op.add_column("memory_chunks", sa.Column("supersedes", sa.Text(), nullable=True))
    op.add_column("memory_chunks", sa.Column("slot_type", sa.Text(), nullable=True))
    op.add_column(
        "memory_chunks", sa.Column("verified", sa.Boolean(), server_default=sa.true(), nullable=False)
    )
    op.create_table(
        "counters",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("next_number", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_counters_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("project_id", "kind", name=op.f("pk_counters")),
    )
    op.create_table(
        "relationships",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("relationship_id", sa.Text(), nullable=False),
        sa.Column("character_a", sa.Text(), nullable=False),
        sa.Column("character_b", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.project_id"],
            name=op.f("fk_relationships_project_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_relationships")),
        sa.UniqueConstraint(
            "project_id",
            "character_a",
            "character_b",
            name=op.f("uq_relationships_project_id_character_a_character_b"),
        ),
        sa.UniqueConstraint(
            "project_id", "relationship_id", name=op.f("uq_relationships_project_id_relationship_id")
        ),
    )
    op.create_index(
        op.f("ix_relationships_project_id_character_b"),
        "relationships",
        ["project_id", "character_b"],
        unique=False,
    )
    op.create_table(
        "loop_events",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("scene_id", sa.Text(), nullable=True),
        sa.Column("chapter_index", sa.Integer(), nullable=True),
        sa.Column("scene_index", sa.Integer(), nullable=True),
        sa.Column("loop_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "kind IN ('planted', 'advanced', 'resolved', 'abandoned')", name=op.f("ck_loop_events_kind")
        ),
        sa.CheckConstraint("origin IN ('record', 'author')", name=op.f("ck_loop_events_origin")),
        sa.CheckConstraint(
            POSITION,
            name=op.f("ck_loop_events_position"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.project_id"],
            name=op.f("fk_loop_events_project_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["scene_id"], ["scenes.scene_id"], name=op.f("fk_loop_events_scene_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_loop_events")),
    )
    op.create_index(
        op.f("ix_loop_events_project_id_loop_id_chapter_index_scene_index"),
        "loop_events",
        ["project_id", "loop_id", "chapter_index", "scene_index"],
        unique=False,
    )
    op.create_index(op.f("ix_loop_events_scene_id"), "loop_events", ["scene_id"], unique=False)
    op.create_index(
        op.f("ix_memory_chunks_project_id_slot_type"),
        "memory_chunks",
        ["project_id", "slot_type"],
        unique=False,
    )
    op.create_index(
        op.f("ix_memory_chunks_project_id_supersedes"),
        "memory_chunks",
        ["project_id", "supersedes"],
        unique=False,
    )
    op.create_table(
        "name_mentions",
        sa.Column("scene_id", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("chapter_index", sa.Integer(), nullable=False),
        sa.Column("scene_index", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            POSITION,
            name=op.f("ck_name_mentions_position"),
        ),
        sa.ForeignKeyConstraint(
            ["scene_id"], ["scenes.scene_id"], name=op.f("fk_name_mentions_scene_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("scene_id", "entity_id", "name", name=op.f("pk_name_mentions")),
    )
    op.create_index(
        "ix_name_mentions_first",
        "name_mentions",
        ["project_id", "entity_id", "name", "chapter_index", "scene_index"],
        unique=False,
    )
    op.create_table(
        "relationship_changes",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("relationship_id", sa.Text(), nullable=False),
        sa.Column("scene_id", sa.Text(), nullable=True),
        sa.Column("chapter_index", sa.Integer(), nullable=True),
        sa.Column("scene_index", sa.Integer(), nullable=True),
        sa.Column("relationship_type", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), nullable=True),
        sa.Column("perspective_a", sa.Text(), nullable=True),
        sa.Column("perspective_b", sa.Text(), nullable=True),
        sa.Column("intensity", sa.Integer(), nullable=True),
        sa.Column("dimensions", sa.JSON(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.CheckConstraint("origin IN ('record', 'author')", name=op.f("ck_relationship_changes_origin")),
        sa.CheckConstraint(
            POSITION,
            name=op.f("ck_relationship_changes_position"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "relationship_id"],
            ["relationships.project_id", "relationships.relationship_id"],
            name=op.f("fk_relationship_changes_project_id_relationship_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["scene_id"],
            ["scenes.scene_id"],
            name=op.f("fk_relationship_changes_scene_id"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_relationship_changes")),
    )
    op.create_index(
        "ix_relationship_changes_fold",
        "relationship_changes",
        ["project_id", "relationship_id", "chapter_index", "scene_index"],
        unique=False,
    )
    op.create_index(
        op.f("ix_relationship_changes_scene_id"), "relationship_changes", ["scene_id"], unique=False
    )
    _count_from_stored_ids()


def _count_from_stored_ids() -> None:
    connection = op.get_bind()
    used = connection.execute(
        sa.text("SELECT project_id, entity_id FROM entities UNION ALL SELECT project_id, label FROM scenes")
    )
    highest: dict[tuple[str, str], int] = {}
    for project_id, used_id in used:
        match = _NUMBERED.fullmatch(used_id)
        if match:
            key = (project_id, match[1])
            highest[key] = max(highest.get(key, -1), int(match[2]))
    insert = sa.text("INSERT INTO counters(project_id, kind, next_number) VALUES (:project, :kind, :number)")
    for (project_id, kind), number in highest.items():
        connection.execute(insert, {"project": project_id, "kind": kind, "number": number + 1})
