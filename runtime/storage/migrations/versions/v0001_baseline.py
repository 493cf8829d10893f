"""The first schema: every table, and the index of words beside them.

This text is frozen: a later change of the tables is a revision of its own.
"""

import sqlalchemy as sa
from alembic import op

revision = "baseline_3"
down_revision = None
branch_labels = None
depends_on = None

BIG_KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

MOMENT = sa.DateTime(timezone=True)

POSITION = (
    "(chapter_index IS NULL AND scene_index IS NULL) OR"
    " (chapter_index >= 0 AND (scene_index IS NULL OR scene_index >= 0))"
)

TOUCHED_BY_HAND = sa.text(
    "origin = 'author' OR pinned OR status <> 'active'"
    " OR CAST(attached AS TEXT) <> '[]' OR CAST(detached AS TEXT) <> '[]'"
)

LEXICAL_INDEX = {
    "sqlite": [
        """CREATE VIRTUAL TABLE memory_terms USING fts5(
            scope, terms, content='', columnsize=0, tokenize='unicode61 remove_diacritics 0'
        )"""
    ],
    "postgresql": [
        """CREATE TABLE memory_terms (
            chunk_row_id BIGINT PRIMARY KEY REFERENCES memory_chunks (row_id) ON DELETE CASCADE,
            terms TSVECTOR NOT NULL
        )""",
        "CREATE INDEX ix_memory_terms_terms ON memory_terms USING gin (terms)",
    ],
}
"""What SQLAlchemy cannot say, by dialect."""


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "projects",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False, server_default=sa.text("''")),
        sa.Column("language", sa.Text(), nullable=False, server_default=sa.text("''")),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("embedding_model", sa.Text(), nullable=True),
        sa.Column("embedding_dimension", sa.Integer(), nullable=True),
        sa.Column("settings", sa.JSON(), nullable=False, server_default="{}"),
        sa.Column("story_revision", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("index_id", sa.Text(), nullable=False, server_default=sa.text("''")),
        sa.Column("index_removals", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("project_number", BIG_KEY, nullable=False),
        sa.PrimaryKeyConstraint("project_number", name=op.f("pk_projects")),
        sa.UniqueConstraint("project_id", name=op.f("uq_projects_project_id")),
    )
    op.create_table(
        "changes",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("other_id", sa.Text(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("undone_at", MOMENT, nullable=True),
        sa.Column("changed_rows", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_changes")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_changes_project_id"), ondelete="CASCADE"
        ),
        sa.CheckConstraint(
            "subject IN ('entity', 'memory', 'scene', 'thread', 'consolidation', 'character')",
            name=op.f("ck_changes_subject"),
        ),
    )
    op.create_index(op.f("ix_changes_project_id_subject_row_id"), "changes", ["project_id", "subject", "row_id"])
    op.create_table(
        "character_disclosures",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("session", sa.Integer(), nullable=True),
        sa.Column("turn", sa.Integer(), nullable=True),
        sa.Column("happened_at", MOMENT, nullable=False),
        sa.Column("character_id", sa.Text(), nullable=False),
        sa.Column("other_id", sa.Text(), nullable=False),
        sa.Column(
            "kind",
            sa.Text(),
            sa.CheckConstraint("kind IN ('revealed', 'shown')", name=op.f("ck_character_disclosures_kind")),
            nullable=False,
        ),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_character_disclosures")),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.project_id"],
            name=op.f("fk_character_disclosures_project_id"),
            ondelete="CASCADE",
        ),
    )
    op.create_index(
        op.f("ix_character_disclosures_project_id_character_id_other_id"),
        "character_disclosures",
        ["project_id", "character_id", "other_id"],
    )
    op.create_table(
        "character_memories",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.Text(), nullable=False),
        sa.Column("character_id", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("short", sa.Text(), nullable=True),
        sa.Column("event_type", sa.Text(), nullable=False, server_default=sa.text("''")),
        sa.Column("interaction_type", sa.Text(), nullable=True),
        sa.Column("importance", sa.Integer(), nullable=False, server_default=sa.text("5")),
        sa.Column(
            "tier",
            sa.Text(),
            sa.CheckConstraint("tier IN ('pinned', 'important', 'regular')", name=op.f("ck_character_memories_tier")),
            nullable=False,
            server_default=sa.text("'regular'"),
        ),
        sa.Column("is_milestone", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("participants", sa.JSON(), nullable=False, server_default="[]"),
        sa.Column("emotion", sa.Text(), nullable=False, server_default=sa.text("''")),
        sa.Column("location", sa.Text(), nullable=False, server_default=sa.text("''")),
        sa.Column("slot", sa.Text(), nullable=True),
        sa.Column(
            "how",
            sa.Text(),
            sa.CheckConstraint(
                "how IN ('own_doing', 'witnessed', 'told', 'overheard', 'read', 'deduced', 'author')",
                name=op.f("ck_character_memories_how"),
            ),
            nullable=False,
            server_default=sa.text("'own_doing'"),
        ),
        sa.Column("heard_from", sa.Text(), nullable=True),
        sa.Column("event_id", sa.Text(), nullable=False, server_default=sa.text("''")),
        sa.Column("session", sa.Integer(), nullable=True),
        sa.Column("turn", sa.Integer(), nullable=True),
        sa.Column("happened_at", MOMENT, nullable=False),
        sa.Column("known_session", sa.Integer(), nullable=True),
        sa.Column("known_turn", sa.Integer(), nullable=True),
        sa.Column("known_at", MOMENT, nullable=False),
        sa.Column("superseded_by", sa.Text(), nullable=True),
        sa.Column(
            "status",
            sa.Text(),
            sa.CheckConstraint(
                "status IN ('active', 'consolidated', 'deleted')", name=op.f("ck_character_memories_status")
            ),
            nullable=False,
            server_default=sa.text("'active'"),
        ),
        sa.Column("consolidated_into", sa.Text(), nullable=True),
        sa.Column("stands_for", sa.JSON(), nullable=False, server_default="[]"),
        sa.Column("details", sa.JSON(), nullable=False, server_default="{}"),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("changed", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("embedding_model", sa.Text(), nullable=True),
        sa.Column("vector", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_character_memories")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_character_memories_project_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("project_id", "memory_id", name=op.f("uq_character_memories_project_id_memory_id")),
    )
    op.create_index(
        op.f("ix_character_memories_changed"), "character_memories", ["project_id", "character_id", "changed"]
    )
    op.create_index(op.f("ix_character_memories_event"), "character_memories", ["project_id", "event_id"])
    op.create_table(
        "character_secrets",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("character_id", sa.Text(), nullable=False),
        sa.Column("secret_id", sa.Text(), nullable=False),
        sa.Column("secret", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_character_secrets")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_character_secrets_project_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint(
            "project_id",
            "character_id",
            "secret_id",
            name=op.f("uq_character_secrets_project_id_character_id_secret_id"),
        ),
    )
    op.create_table(
        "counters",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("next_number", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "kind", name=op.f("pk_counters")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_counters_project_id"), ondelete="CASCADE"
        ),
    )
    op.create_table(
        "disposition_changes",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("event_type", sa.Text(), nullable=False, server_default=sa.text("''")),
        sa.Column("deltas", sa.JSON(), nullable=False, server_default="{}"),
        sa.Column("values", sa.JSON(), nullable=False, server_default="{}"),
        sa.Column("session", sa.Integer(), nullable=True),
        sa.Column("turn", sa.Integer(), nullable=True),
        sa.Column("happened_at", MOMENT, nullable=False),
        sa.Column("character_id", sa.Text(), nullable=False),
        sa.Column("other_id", sa.Text(), nullable=False),
        sa.Column("memory_id", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_disposition_changes")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_disposition_changes_project_id"), ondelete="CASCADE"
        ),
    )
    op.create_index(
        op.f("ix_disposition_changes_project_id_character_id_other_id"),
        "disposition_changes",
        ["project_id", "character_id", "other_id"],
    )
    op.create_table(
        "entities",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column(
            "entity_type",
            sa.Text(),
            sa.CheckConstraint(
                "entity_type IN ('character', 'location', 'item', 'faction', 'term')",
                name=op.f("ck_entities_entity_type"),
            ),
            nullable=False,
        ),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False, server_default=sa.text("''")),
        sa.Column("description", sa.Text(), nullable=False, server_default=sa.text("''")),
        sa.Column("profile", sa.JSON(), nullable=False, server_default="{}"),
        sa.Column("first_chapter", sa.Integer(), nullable=True),
        sa.Column("first_scene", sa.Integer(), nullable=True),
        sa.Column("name_first_chapter", sa.Integer(), nullable=True),
        sa.Column("name_first_scene", sa.Integer(), nullable=True),
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=True),
        sa.Column("updated_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_entities")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_entities_project_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("project_id", "entity_id", name=op.f("uq_entities_project_id_entity_id")),
        sa.CheckConstraint("origin IN ('author', 'supplied', 'extracted', 'rules')", name=op.f("ck_entities_origin")),
    )
    op.create_table(
        "index_outbox",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("chunk_id", sa.Text(), nullable=False),
        sa.Column(
            "operation",
            sa.Text(),
            sa.CheckConstraint("operation IN ('upsert', 'delete')", name=op.f("ck_index_outbox_operation")),
            nullable=False,
        ),
        sa.Column(
            "state",
            sa.Text(),
            sa.CheckConstraint("state IN ('pending', 'done', 'failed')", name=op.f("ck_index_outbox_state")),
            nullable=False,
            server_default=sa.text("'pending'"),
        ),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_index_outbox")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_index_outbox_project_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint("project_id", "chunk_id", name=op.f("uq_index_outbox_project_id_chunk_id")),
    )
    op.create_index(op.f("ix_index_outbox_project_id_state_row_id"), "index_outbox", ["project_id", "state", "row_id"])
    op.create_table(
        "relationships",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("relationship_id", sa.Text(), nullable=False),
        sa.Column("character_a", sa.Text(), nullable=False),
        sa.Column("character_b", sa.Text(), nullable=False),
        sa.Column("created_at", MOMENT, nullable=True),
        sa.Column("updated_at", MOMENT, nullable=True),
        sa.Column("other_fields", sa.JSON(), nullable=False, server_default="{}"),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_relationships")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_relationships_project_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint(
            "project_id", "character_a", "character_b", name=op.f("uq_relationships_project_id_character_a_character_b")
        ),
        sa.UniqueConstraint("project_id", "relationship_id", name=op.f("uq_relationships_project_id_relationship_id")),
    )
    op.create_index(op.f("ix_relationships_project_id_character_b"), "relationships", ["project_id", "character_b"])
    op.create_table(
        "scenes",
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("chapter_index", sa.Integer(), nullable=False),
        sa.Column("scene_index", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False, server_default=sa.text("''")),
        sa.Column("text_hash", sa.Text(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("story_time", sa.Text(), nullable=True),
        sa.Column("location_id", sa.Text(), nullable=True),
        sa.Column("pov", sa.Text(), nullable=True),
        sa.Column("participants", sa.JSON(), nullable=False, server_default="[]"),
        sa.Column(
            "record_origin",
            sa.Text(),
            sa.CheckConstraint(
                "record_origin IN ('author', 'supplied', 'extracted', 'rules')", name=op.f("ck_scenes_record_origin")
            ),
            nullable=False,
            server_default=sa.text("'rules'"),
        ),
        sa.Column(
            "extraction_status",
            sa.Text(),
            sa.CheckConstraint(
                "extraction_status IN ('none', 'done', 'failed', 'pending')", name=op.f("ck_scenes_extraction_status")
            ),
            nullable=False,
            server_default=sa.text("'none'"),
        ),
        sa.Column("failure_reason", sa.Text(), nullable=True),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.Column("other_fields", sa.JSON(), nullable=False, server_default="{}"),
        sa.Column("scene_id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("record", sa.JSON(), nullable=True),
        sa.PrimaryKeyConstraint("scene_id", name=op.f("pk_scenes")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_scenes_project_id"), ondelete="CASCADE"
        ),
        sa.UniqueConstraint(
            "project_id", "chapter_index", "scene_index", name=op.f("uq_scenes_project_id_chapter_index_scene_index")
        ),
        sa.UniqueConstraint("project_id", "label", name=op.f("uq_scenes_project_id_label")),
        sa.CheckConstraint(POSITION, name=op.f("ck_scenes_position")),
    )
    op.create_table(
        "story_flags",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("session", sa.Integer(), nullable=True),
        sa.Column("turn", sa.Integer(), nullable=True),
        sa.Column("happened_at", MOMENT, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_story_flags")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_story_flags_project_id"), ondelete="CASCADE"
        ),
    )
    op.create_index(op.f("ix_story_flags_project_id_name"), "story_flags", ["project_id", "name"])
    op.create_table(
        "story_summaries",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column(
            "level",
            sa.Text(),
            sa.CheckConstraint("level IN ('chapter', 'part')", name=op.f("ck_story_summaries_level")),
            nullable=False,
        ),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("first_chapter", sa.Integer(), nullable=False),
        sa.Column("last_chapter", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column(
            "origin",
            sa.Text(),
            sa.CheckConstraint("origin IN ('author', 'model')", name=op.f("ck_story_summaries_origin")),
            nullable=False,
        ),
        sa.Column("source_hash", sa.Text(), nullable=False, server_default=sa.text("''")),
        sa.Column("is_withheld", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("written_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_story_summaries")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_story_summaries_project_id"), ondelete="CASCADE"
        ),
    )
    op.create_index(
        op.f("ix_story_summaries_project_id_level_number"), "story_summaries", ["project_id", "level", "number"]
    )
    op.create_table(
        "character_file_aliases",
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("alias", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "entity_id", "alias", name=op.f("pk_character_file_aliases")),
        sa.ForeignKeyConstraint(
            ["project_id", "entity_id"],
            ["entities.project_id", "entities.entity_id"],
            name=op.f("fk_character_file_aliases_project_id_entity_id"),
            ondelete="CASCADE",
        ),
    )
    op.create_table(
        "entity_aliases",
        sa.Column("alias", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=True),
        sa.Column("speaker", sa.Text(), nullable=True),
        sa.Column("first_chapter", sa.Integer(), nullable=True),
        sa.Column("first_scene", sa.Integer(), nullable=True),
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("alias_key", sa.Text(), nullable=False),
        sa.Column("by_author", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_entity_aliases")),
        sa.ForeignKeyConstraint(
            ["project_id", "entity_id"],
            ["entities.project_id", "entities.entity_id"],
            name=op.f("fk_entity_aliases_project_id_entity_id"),
            ondelete="CASCADE",
        ),
        sa.UniqueConstraint(
            "project_id", "entity_id", "alias", name=op.f("uq_entity_aliases_project_id_entity_id_alias")
        ),
    )
    op.create_index(op.f("ix_entity_aliases_project_id_alias_key"), "entity_aliases", ["project_id", "alias_key"])
    op.create_table(
        "knowledge_events",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("scene_id", sa.Text(), nullable=True),
        sa.Column("chapter_index", sa.Integer(), nullable=True),
        sa.Column("scene_index", sa.Integer(), nullable=True),
        sa.Column(
            "origin",
            sa.Text(),
            sa.CheckConstraint("origin IN ('record', 'author')", name=op.f("ck_knowledge_events_origin")),
            nullable=False,
            server_default=sa.text("'record'"),
        ),
        sa.Column("character_id", sa.Text(), nullable=False),
        sa.Column("source_id", sa.Text(), nullable=False),
        sa.Column(
            "kind",
            sa.Text(),
            sa.CheckConstraint(
                "kind IN ('knows', 'hidden', 'deceived', 'doubts')", name=op.f("ck_knowledge_events_kind")
            ),
            nullable=False,
            server_default=sa.text("'knows'"),
        ),
        sa.Column(
            "how",
            sa.Text(),
            sa.CheckConstraint(
                "how IN ('own_doing', 'witnessed', 'told', 'overheard', 'read', 'deduced', 'author')",
                name=op.f("ck_knowledge_events_how"),
            ),
            nullable=False,
            server_default=sa.text("'author'"),
        ),
        sa.Column("learned_from", sa.Text(), nullable=True),
        sa.Column("certainty", sa.Float(), nullable=False),
        sa.Column("quote", sa.Text(), nullable=False, server_default=sa.text("''")),
        sa.Column("verified", sa.Boolean(), nullable=False, server_default=sa.true()),
        sa.Column("span_start", sa.Integer(), nullable=True),
        sa.Column("span_end", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_knowledge_events")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_knowledge_events_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["scene_id"], ["scenes.scene_id"], name=op.f("fk_knowledge_events_scene_id"), ondelete="SET NULL"
        ),
        sa.CheckConstraint(POSITION, name=op.f("ck_knowledge_events_position")),
    )
    op.create_index(
        op.f("ix_knowledge_events_project_id_chapter_index_scene_index"),
        "knowledge_events",
        ["project_id", "chapter_index", "scene_index"],
    )
    op.create_index(op.f("ix_knowledge_events_scene_id"), "knowledge_events", ["scene_id"])
    op.create_table(
        "loop_events",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("scene_id", sa.Text(), nullable=True),
        sa.Column("chapter_index", sa.Integer(), nullable=True),
        sa.Column("scene_index", sa.Integer(), nullable=True),
        sa.Column(
            "origin",
            sa.Text(),
            sa.CheckConstraint("origin IN ('record', 'author')", name=op.f("ck_loop_events_origin")),
            nullable=False,
            server_default=sa.text("'author'"),
        ),
        sa.Column("loop_id", sa.Text(), nullable=False),
        sa.Column(
            "kind",
            sa.Text(),
            sa.CheckConstraint(
                "kind IN ('planted', 'advanced', 'resolved', 'abandoned')", name=op.f("ck_loop_events_kind")
            ),
            nullable=False,
        ),
        sa.Column("note", sa.Text(), nullable=False, server_default=sa.text("''")),
        sa.Column("detail", sa.JSON(), nullable=False, server_default="{}"),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_loop_events")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_loop_events_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["scene_id"], ["scenes.scene_id"], name=op.f("fk_loop_events_scene_id"), ondelete="SET NULL"
        ),
        sa.CheckConstraint(POSITION, name=op.f("ck_loop_events_position")),
    )
    op.create_index(
        op.f("ix_loop_events_project_id_loop_id_chapter_index_scene_index"),
        "loop_events",
        ["project_id", "loop_id", "chapter_index", "scene_index"],
    )
    op.create_index(op.f("ix_loop_events_scene_id"), "loop_events", ["scene_id"])
    op.create_table(
        "memory_chunks",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("chunk_id", sa.Text(), nullable=False),
        sa.Column("chapter_index", sa.Integer(), nullable=True),
        sa.Column("scene_index", sa.Integer(), nullable=True),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column(
            "content_type",
            sa.Text(),
            sa.CheckConstraint(
                "content_type IN ('scene', 'dialogue', 'description', 'summary', 'memory', 'note')",
                name=op.f("ck_memory_chunks_content_type"),
            ),
            nullable=False,
            server_default=sa.text("'scene'"),
        ),
        sa.Column("entities_mentioned", sa.JSON(), nullable=False, server_default="[]"),
        sa.Column("tags", sa.JSON(), nullable=False, server_default="[]"),
        sa.Column("embedding_id", sa.Text(), nullable=True),
        sa.Column("is_indexed", sa.Boolean(), nullable=False, server_default=sa.true()),
        sa.Column("is_consolidated", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("short", sa.Text(), nullable=True),
        sa.Column("importance", sa.Integer(), nullable=False, server_default=sa.text("5")),
        sa.Column(
            "tier",
            sa.Text(),
            sa.CheckConstraint("tier IN ('pinned', 'important', 'regular')", name=op.f("ck_memory_chunks_tier")),
            nullable=False,
            server_default=sa.text("'regular'"),
        ),
        sa.Column("source_id", sa.Text(), nullable=True),
        sa.Column("event_type", sa.Text(), nullable=True),
        sa.Column("supersedes", sa.Text(), nullable=True),
        sa.Column("slot_type", sa.Text(), nullable=True),
        sa.Column("verified", sa.Boolean(), nullable=False, server_default=sa.true()),
        sa.Column(
            "origin",
            sa.Text(),
            sa.CheckConstraint(
                "origin IN ('record', 'extracted', 'text', 'author')", name=op.f("ck_memory_chunks_origin")
            ),
            nullable=False,
            server_default=sa.text("'text'"),
        ),
        sa.Column("scene_id", sa.Text(), nullable=True),
        sa.Column("from_scene", sa.Boolean(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("term_count", sa.Integer(), nullable=False),
        sa.Column("span_start", sa.Integer(), nullable=True),
        sa.Column("span_end", sa.Integer(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("attached", sa.JSON(), nullable=False, server_default="[]"),
        sa.Column("detached", sa.JSON(), nullable=False, server_default="[]"),
        sa.Column("last_accessed_at", MOMENT, nullable=True),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_memory_chunks")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_memory_chunks_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["scene_id"], ["scenes.scene_id"], name=op.f("fk_memory_chunks_scene_id"), ondelete="SET NULL"
        ),
        sa.UniqueConstraint("project_id", "chunk_id", name=op.f("uq_memory_chunks_project_id_chunk_id")),
        sa.CheckConstraint(POSITION, name=op.f("ck_memory_chunks_position")),
        sa.CheckConstraint("status IN ('active', 'banned', 'deleted')", name=op.f("ck_memory_chunks_status")),
    )
    op.create_index(
        op.f("ix_memory_chunks_project_id_chapter_index_scene_index"),
        "memory_chunks",
        ["project_id", "chapter_index", "scene_index"],
    )
    op.create_index(op.f("ix_memory_chunks_project_id_slot_type"), "memory_chunks", ["project_id", "slot_type"])
    op.create_index(op.f("ix_memory_chunks_project_id_source_id"), "memory_chunks", ["project_id", "source_id"])
    op.create_index(op.f("ix_memory_chunks_project_id_supersedes"), "memory_chunks", ["project_id", "supersedes"])
    op.create_index(op.f("ix_memory_chunks_scene_id"), "memory_chunks", ["scene_id"])
    op.create_index(
        op.f("ix_memory_chunks_searched"),
        "memory_chunks",
        ["project_id", "importance", "chapter_index", "scene_index", "status", "content_type", "term_count"],
    )
    op.create_index(
        op.f("ix_memory_chunks_by_hand"),
        "memory_chunks",
        ["project_id", "chunk_id"],
        sqlite_where=TOUCHED_BY_HAND,
        postgresql_where=TOUCHED_BY_HAND,
    )
    op.create_table(
        "name_mentions",
        sa.Column("scene_id", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("chapter_index", sa.Integer(), nullable=False),
        sa.Column("scene_index", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("scene_id", "entity_id", "name", name=op.f("pk_name_mentions")),
        sa.ForeignKeyConstraint(
            ["scene_id"], ["scenes.scene_id"], name=op.f("fk_name_mentions_scene_id"), ondelete="CASCADE"
        ),
        sa.CheckConstraint(POSITION, name=op.f("ck_name_mentions_position")),
    )
    op.create_index(
        op.f("ix_name_mentions_first"),
        "name_mentions",
        ["project_id", "entity_id", "name", "chapter_index", "scene_index"],
    )
    op.create_table(
        "relationship_changes",
        sa.Column("chapter_index", sa.Integer(), nullable=True),
        sa.Column("scene_index", sa.Integer(), nullable=True),
        sa.Column(
            "origin",
            sa.Text(),
            sa.CheckConstraint("origin IN ('record', 'author')", name=op.f("ck_relationship_changes_origin")),
            nullable=False,
            server_default=sa.text("'author'"),
        ),
        sa.Column("relationship_id", sa.Text(), nullable=False),
        sa.Column("relationship_type", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), nullable=True),
        sa.Column("perspective_a", sa.Text(), nullable=True),
        sa.Column("perspective_b", sa.Text(), nullable=True),
        sa.Column("intensity", sa.Integer(), nullable=True),
        sa.Column("dimensions", sa.JSON(), nullable=False, server_default="{}"),
        sa.Column("dimensions_a", sa.JSON(), nullable=True),
        sa.Column("dimensions_b", sa.JSON(), nullable=True),
        sa.Column("event", sa.Text(), nullable=False, server_default=sa.text("''")),
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("scene_id", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_relationship_changes")),
        sa.ForeignKeyConstraint(
            ["project_id", "relationship_id"],
            ["relationships.project_id", "relationships.relationship_id"],
            name=op.f("fk_relationship_changes_project_id_relationship_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["scene_id"], ["scenes.scene_id"], name=op.f("fk_relationship_changes_scene_id"), ondelete="SET NULL"
        ),
        sa.CheckConstraint(POSITION, name=op.f("ck_relationship_changes_position")),
    )
    op.create_index(
        op.f("ix_relationship_changes_fold"),
        "relationship_changes",
        ["project_id", "relationship_id", "chapter_index", "scene_index"],
    )
    op.create_index(op.f("ix_relationship_changes_scene_id"), "relationship_changes", ["scene_id"])
    op.create_table(
        "state_changes",
        sa.Column("row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("scene_id", sa.Text(), nullable=True),
        sa.Column("chapter_index", sa.Integer(), nullable=True),
        sa.Column("scene_index", sa.Integer(), nullable=True),
        sa.Column(
            "origin",
            sa.Text(),
            sa.CheckConstraint("origin IN ('record', 'author')", name=op.f("ck_state_changes_origin")),
            nullable=False,
            server_default=sa.text("'author'"),
        ),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("entity_type", sa.Text(), nullable=False, server_default=sa.text("'character'")),
        sa.Column("attribute", sa.Text(), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.Column(
            "kind",
            sa.Text(),
            sa.CheckConstraint("kind IN ('explicit', 'presence')", name=op.f("ck_state_changes_kind")),
            nullable=False,
            server_default=sa.text("'explicit'"),
        ),
        sa.Column("verified", sa.Boolean(), nullable=False, server_default=sa.true()),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False, server_default="{}"),
        sa.Column("span_start", sa.Integer(), nullable=True),
        sa.Column("span_end", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("row_id", name=op.f("pk_state_changes")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.project_id"], name=op.f("fk_state_changes_project_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["scene_id"], ["scenes.scene_id"], name=op.f("fk_state_changes_scene_id"), ondelete="SET NULL"
        ),
        sa.CheckConstraint(POSITION, name=op.f("ck_state_changes_position")),
    )
    op.create_index(
        op.f("ix_state_changes_project_id_chapter_index_scene_index"),
        "state_changes",
        ["project_id", "chapter_index", "scene_index"],
    )
    op.create_index(
        op.f("ix_state_changes_project_id_entity_id_chapter_index_scene_index"),
        "state_changes",
        ["project_id", "entity_id", "chapter_index", "scene_index"],
    )
    op.create_index(op.f("ix_state_changes_scene_id"), "state_changes", ["scene_id"])
    op.create_table(
        "chunk_entities",
        sa.Column("chunk_row_id", BIG_KEY, nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("chunk_row_id", "entity_id", name=op.f("pk_chunk_entities")),
        sa.ForeignKeyConstraint(
            ["chunk_row_id"], ["memory_chunks.row_id"], name=op.f("fk_chunk_entities_chunk_row_id"), ondelete="CASCADE"
        ),
        sa.CheckConstraint("kind IN ('mention', 'record', 'manual')", name=op.f("ck_chunk_entities_kind")),
    )
    op.create_index(
        op.f("ix_chunk_entities_project_id_entity_id_chunk_row_id"),
        "chunk_entities",
        ["project_id", "entity_id", "chunk_row_id"],
    )
    op.create_table(
        "chunk_tags",
        sa.Column("chunk_row_id", BIG_KEY, nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("chunk_row_id", "tag", name=op.f("pk_chunk_tags")),
        sa.ForeignKeyConstraint(
            ["chunk_row_id"], ["memory_chunks.row_id"], name=op.f("fk_chunk_tags_chunk_row_id"), ondelete="CASCADE"
        ),
    )
    op.create_index(
        op.f("ix_chunk_tags_project_id_tag_chunk_row_id"), "chunk_tags", ["project_id", "tag", "chunk_row_id"]
    )
    op.create_table(
        "consolidation_sources",
        sa.Column("source_row_id", BIG_KEY, nullable=False),
        sa.Column("consolidated_row_id", BIG_KEY, nullable=False),
        sa.Column("project_id", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("source_row_id", name=op.f("pk_consolidation_sources")),
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
    )
    op.create_index(
        op.f("ix_consolidation_sources_consolidated_row_id"), "consolidation_sources", ["consolidated_row_id"]
    )
    op.create_index(
        op.f("ix_consolidation_sources_project_id_consolidated_row_id"),
        "consolidation_sources",
        ["project_id", "consolidated_row_id"],
    )
    op.create_table(
        "embeddings",
        sa.Column("chunk_row_id", BIG_KEY, nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("dimension", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.Text(), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("chunk_row_id", "model", name=op.f("pk_embeddings")),
        sa.ForeignKeyConstraint(
            ["chunk_row_id"], ["memory_chunks.row_id"], name=op.f("fk_embeddings_chunk_row_id"), ondelete="CASCADE"
        ),
    )
    for statement in LEXICAL_INDEX[op.get_bind().dialect.name]:
        op.execute(statement)
