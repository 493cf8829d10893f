"""The schema of the first release.

It is a picture of the tables at that time: later revisions change a database from here on, so that nothing here may
follow `runtime.storage.tables`.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

POSITION = (
    "(chapter_index IS NULL AND scene_index IS NULL)"
    " OR (chapter_index >= 0 AND (scene_index IS NULL OR scene_index >= 0))"
)
TOUCHED_BY_HAND = (
    "origin = 'author' OR pinned OR status <> 'active'"
    " OR CAST(attached AS TEXT) <> '[]' OR CAST(detached AS TEXT) <> '[]'"
)
BIG_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

SQLITE_TERMS = """
CREATE VIRTUAL TABLE memory_terms USING fts5(
    scope, terms, content='', columnsize=0, tokenize='unicode61 remove_diacritics 0'
)
"""
POSTGRES_TERMS = """
CREATE TABLE memory_terms (
    chunk_row_id BIGINT PRIMARY KEY REFERENCES memory_chunks (row_id) ON DELETE CASCADE,
    terms TSVECTOR NOT NULL
)
"""


def upgrade() -> None:
    """Create the first schema."""
    op.create_table(
        "projects",
        sa.Column("project_number", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("embedding_model", sa.Text(), nullable=True),
        sa.Column("embedding_dimension", sa.Integer(), nullable=True),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("story_revision", sa.Integer(), nullable=False),
        sa.Column("index_id", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("index_removals", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("project_number", name=op.f("pk_projects")),
        sa.UniqueConstraint("project_id", name=op.f("uq_projects_project_id")),
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
        "entities",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("entity_type", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("profile", sa.JSON(), nullable=False),
        sa.Column("first_chapter", sa.Integer(), nullable=True),
        sa.Column("first_scene", sa.Integer(), nullable=True),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("name_first_chapter", sa.Integer(), nullable=True),
        sa.Column("name_first_scene", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "entity_type IN ('character', 'location', 'item', 'faction', 'term')", name=op.f("ck_entities_entity_type")
        ),
        sa.CheckConstraint("origin IN ('author', 'supplied', 'extracted', 'rules')", name=op.f("ck_entities_origin")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_entities_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_entities")),
        sa.UniqueConstraint("project_id", "entity_id", name=op.f("uq_entities_project_id_entity_id")),
    )
    op.create_table(
        "entity_changes",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("other_id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("undone_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("changed_rows", sa.JSON(), nullable=False),
        sa.CheckConstraint("kind IN ('merge', 'split')", name=op.f("ck_entity_changes_kind")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_entity_changes_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_entity_changes")),
    )
    op.create_index(
        op.f("ix_entity_changes_project_id_row_id"), "entity_changes", ["project_id", "row_id"], unique=False
    )
    op.create_table(
        "index_outbox",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("chunk_id", sa.Text(), nullable=False),
        sa.Column("operation", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.CheckConstraint("operation IN ('upsert', 'delete')", name=op.f("ck_index_outbox_operation")),
        sa.CheckConstraint("state IN ('pending', 'done', 'failed')", name=op.f("ck_index_outbox_state")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_index_outbox_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_index_outbox")),
        sa.UniqueConstraint("project_id", "chunk_id", name=op.f("uq_index_outbox_project_id_chunk_id")),
    )
    op.create_index(
        op.f("ix_index_outbox_project_id_state_row_id"), "index_outbox", ["project_id", "state", "row_id"], unique=False
    )
    op.create_table(
        "relationships",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("relationship_id", sa.Text(), nullable=False),
        sa.Column("character_a", sa.Text(), nullable=False),
        sa.Column("character_b", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_relationships_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_relationships")),
        sa.UniqueConstraint(
            "project_id", "character_a", "character_b", name=op.f("uq_relationships_project_id_character_a_character_b")
        ),
        sa.UniqueConstraint("project_id", "relationship_id", name=op.f("uq_relationships_project_id_relationship_id")),
    )
    op.create_index(
        op.f("ix_relationships_project_id_character_b"), "relationships", ["project_id", "character_b"], unique=False
    )
    op.create_table(
        "scenes",
        sa.Column("scene_id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("chapter_index", sa.Integer(), nullable=False),
        sa.Column("scene_index", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("text_hash", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("content_hash", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("story_time", sa.Text(), nullable=True),
        sa.Column("location_id", sa.Text(), nullable=True),
        sa.Column("pov", sa.Text(), nullable=True),
        sa.Column("participants", sa.JSON(), server_default="[]", nullable=False),
        sa.Column("record", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("record_origin", sa.Text(), server_default="rules", nullable=False),
        sa.Column("extraction_status", sa.Text(), server_default="none", nullable=False),
        sa.Column("failure_reason", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "extraction_status IN ('none', 'done', 'failed', 'pending')", name=op.f("ck_scenes_extraction_status")
        ),
        sa.CheckConstraint(
            "record_origin IN ('author', 'supplied', 'extracted', 'rules')", name=op.f("ck_scenes_record_origin")
        ),
        sa.CheckConstraint(POSITION, name=op.f("ck_scenes_position")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_scenes_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("scene_id", name=op.f("pk_scenes")),
        sa.UniqueConstraint(
            "project_id", "chapter_index", "scene_index", name=op.f("uq_scenes_project_id_chapter_index_scene_index")
        ),
        sa.UniqueConstraint("project_id", "label", name=op.f("uq_scenes_project_id_label")),
    )
    op.create_table(
        "story_summaries",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("level", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("first_chapter", sa.Integer(), nullable=False),
        sa.Column("last_chapter", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("source_hash", sa.Text(), nullable=False),
        sa.Column("is_withheld", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("written_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("level IN ('chapter', 'part')", name=op.f("ck_story_summaries_level")),
        sa.CheckConstraint("origin IN ('author', 'model')", name=op.f("ck_story_summaries_origin")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_story_summaries_project_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_story_summaries")),
    )
    op.create_index(
        op.f("ix_story_summaries_project_id_level_number"),
        "story_summaries",
        ["project_id", "level", "number"],
        unique=False,
    )
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
    op.create_table(
        "entity_aliases",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("alias", sa.Text(), nullable=False),
        sa.Column("alias_key", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=True),
        sa.Column("speaker", sa.Text(), nullable=True),
        sa.Column("first_chapter", sa.Integer(), nullable=True),
        sa.Column("first_scene", sa.Integer(), nullable=True),
        sa.Column("by_author", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id", "entity_id"],
            ["entities.project_id", "entities.entity_id"],
            name=op.f("fk_entity_aliases_project_id_entity_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_entity_aliases")),
        sa.UniqueConstraint(
            "project_id", "entity_id", "alias", name=op.f("uq_entity_aliases_project_id_entity_id_alias")
        ),
    )
    op.create_index(
        op.f("ix_entity_aliases_project_id_alias_key"), "entity_aliases", ["project_id", "alias_key"], unique=False
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
        sa.CheckConstraint(POSITION, name=op.f("ck_loop_events_position")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_loop_events_project_id"), ondelete="CASCADE"
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
    op.create_table(
        "memory_chunks",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("chunk_id", sa.Text(), nullable=False),
        sa.Column("scene_id", sa.Text(), nullable=True),
        sa.Column("from_scene", sa.Boolean(), nullable=False),
        sa.Column("chapter_index", sa.Integer(), nullable=True),
        sa.Column("scene_index", sa.Integer(), nullable=True),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("content_type", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("term_count", sa.Integer(), nullable=False),
        sa.Column("entities_mentioned", sa.JSON(), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("embedding_id", sa.Text(), nullable=True),
        sa.Column("is_indexed", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("is_consolidated", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("short", sa.Text(), nullable=True),
        sa.Column("importance", sa.Integer(), nullable=False),
        sa.Column("tier", sa.Text(), nullable=False),
        sa.Column("source_id", sa.Text(), nullable=True),
        sa.Column("span_start", sa.Integer(), nullable=True),
        sa.Column("span_end", sa.Integer(), nullable=True),
        sa.Column("event_type", sa.Text(), nullable=True),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("supersedes", sa.Text(), nullable=True),
        sa.Column("slot_type", sa.Text(), nullable=True),
        sa.Column("verified", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("attached", sa.JSON(), server_default="[]", nullable=False),
        sa.Column("detached", sa.JSON(), server_default="[]", nullable=False),
        sa.Column("last_accessed_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "content_type IN ('scene', 'dialogue', 'description', 'summary', 'memory', 'note')",
            name=op.f("ck_memory_chunks_content_type"),
        ),
        sa.CheckConstraint("origin IN ('record', 'extracted', 'text', 'author')", name=op.f("ck_memory_chunks_origin")),
        sa.CheckConstraint("status IN ('active', 'banned', 'deleted')", name=op.f("ck_memory_chunks_status")),
        sa.CheckConstraint("tier IN ('pinned', 'important', 'regular')", name=op.f("ck_memory_chunks_tier")),
        sa.CheckConstraint(POSITION, name=op.f("ck_memory_chunks_position")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_memory_chunks_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["scene_id"], ["scenes.scene_id"], name=op.f("fk_memory_chunks_scene_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_memory_chunks")),
        sa.UniqueConstraint("project_id", "chunk_id", name=op.f("uq_memory_chunks_project_id_chunk_id")),
    )
    op.create_index(
        op.f("ix_memory_chunks_project_id_chapter_index_scene_index"),
        "memory_chunks",
        ["project_id", "chapter_index", "scene_index"],
        unique=False,
    )
    op.create_index(
        op.f("ix_memory_chunks_project_id_slot_type"), "memory_chunks", ["project_id", "slot_type"], unique=False
    )
    op.create_index(
        op.f("ix_memory_chunks_project_id_supersedes"), "memory_chunks", ["project_id", "supersedes"], unique=False
    )
    op.create_index(op.f("ix_memory_chunks_scene_id"), "memory_chunks", ["scene_id"], unique=False)
    op.create_index(
        "ix_memory_chunks_searched",
        "memory_chunks",
        ["project_id", "importance", "chapter_index", "scene_index", "status", "content_type", "term_count"],
        unique=False,
    )
    # Last, for of indexes that look equally good SQLite takes the newest.
    op.create_index(
        "ix_memory_chunks_by_hand",
        "memory_chunks",
        ["project_id", "chunk_id"],
        unique=False,
        sqlite_where=sa.text(TOUCHED_BY_HAND),
        postgresql_where=sa.text(TOUCHED_BY_HAND),
    )
    op.create_table(
        "name_mentions",
        sa.Column("scene_id", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("chapter_index", sa.Integer(), nullable=False),
        sa.Column("scene_index", sa.Integer(), nullable=False),
        sa.CheckConstraint(POSITION, name=op.f("ck_name_mentions_position")),
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
        sa.CheckConstraint(POSITION, name=op.f("ck_relationship_changes_position")),
        sa.ForeignKeyConstraint(
            ["project_id", "relationship_id"],
            ["relationships.project_id", "relationships.relationship_id"],
            name=op.f("fk_relationship_changes_project_id_relationship_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["scene_id"], ["scenes.scene_id"], name=op.f("fk_relationship_changes_scene_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_relationship_changes")),
    )
    op.create_index(
        "ix_relationship_changes_fold",
        "relationship_changes",
        ["project_id", "relationship_id", "chapter_index", "scene_index"],
        unique=False,
    )
    op.create_index(op.f("ix_relationship_changes_scene_id"), "relationship_changes", ["scene_id"], unique=False)
    op.create_table(
        "state_changes",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("scene_id", sa.Text(), nullable=True),
        sa.Column("chapter_index", sa.Integer(), nullable=True),
        sa.Column("scene_index", sa.Integer(), nullable=True),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("entity_type", sa.Text(), nullable=False),
        sa.Column("attribute", sa.Text(), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("verified", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("span_start", sa.Integer(), nullable=True),
        sa.Column("span_end", sa.Integer(), nullable=True),
        sa.CheckConstraint("kind IN ('explicit', 'presence')", name=op.f("ck_state_changes_kind")),
        sa.CheckConstraint("origin IN ('record', 'author')", name=op.f("ck_state_changes_origin")),
        sa.CheckConstraint(POSITION, name=op.f("ck_state_changes_position")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_state_changes_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["scene_id"], ["scenes.scene_id"], name=op.f("fk_state_changes_scene_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_state_changes")),
    )
    op.create_index(
        op.f("ix_state_changes_project_id_chapter_index_scene_index"),
        "state_changes",
        ["project_id", "chapter_index", "scene_index"],
        unique=False,
    )
    op.create_index(
        op.f("ix_state_changes_project_id_entity_id_chapter_index_scene_index"),
        "state_changes",
        ["project_id", "entity_id", "chapter_index", "scene_index"],
        unique=False,
    )
    op.create_index(op.f("ix_state_changes_scene_id"), "state_changes", ["scene_id"], unique=False)
    op.create_table(
        "chunk_entities",
        sa.Column("chunk_row_id", BIG_KEY, nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.CheckConstraint("kind IN ('mention', 'record', 'manual')", name=op.f("ck_chunk_entities_kind")),
        sa.ForeignKeyConstraint(
            ["chunk_row_id"], ["memory_chunks.row_id"], name=op.f("fk_chunk_entities_chunk_row_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("chunk_row_id", "entity_id", name=op.f("pk_chunk_entities")),
    )
    op.create_index(
        op.f("ix_chunk_entities_project_id_entity_id_chunk_row_id"),
        "chunk_entities",
        ["project_id", "entity_id", "chunk_row_id"],
        unique=False,
    )
    op.create_table(
        "chunk_tags",
        sa.Column("chunk_row_id", BIG_KEY, nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["chunk_row_id"], ["memory_chunks.row_id"], name=op.f("fk_chunk_tags_chunk_row_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("chunk_row_id", "tag", name=op.f("pk_chunk_tags")),
    )
    op.create_index(
        op.f("ix_chunk_tags_project_id_tag_chunk_row_id"),
        "chunk_tags",
        ["project_id", "tag", "chunk_row_id"],
        unique=False,
    )
    op.create_table(
        "consolidation_sources",
        sa.Column("source_row_id", BIG_KEY, nullable=False),
        sa.Column("consolidated_row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["consolidated_row_id"],
            ["memory_chunks.row_id"],
            name=op.f("fk_consolidation_sources_consolidated_row_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["source_row_id"],
            ["memory_chunks.row_id"],
            name=op.f("fk_consolidation_sources_source_row_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("source_row_id", name=op.f("pk_consolidation_sources")),
    )
    op.create_index(
        op.f("ix_consolidation_sources_consolidated_row_id"),
        "consolidation_sources",
        ["consolidated_row_id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_consolidation_sources_project_id_consolidated_row_id"),
        "consolidation_sources",
        ["project_id", "consolidated_row_id"],
        unique=False,
    )
    op.create_table(
        "embeddings",
        sa.Column("chunk_row_id", BIG_KEY, nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["chunk_row_id"], ["memory_chunks.row_id"], name=op.f("fk_embeddings_chunk_row_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("chunk_row_id", "model", name=op.f("pk_embeddings")),
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute(SQLITE_TERMS)
    else:
        op.execute(POSTGRES_TERMS)
        op.execute("CREATE INDEX ix_memory_terms_terms ON memory_terms USING gin (terms)")
