CREATE TABLE projects (
    project_id TEXT NOT NULL,
    name TEXT DEFAULT '' NOT NULL,
    language TEXT DEFAULT '' NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    embedding_model TEXT,
    embedding_dimension INTEGER,
    settings JSON DEFAULT '{}' NOT NULL,
    story_revision INTEGER DEFAULT 0 NOT NULL,
    index_id TEXT DEFAULT '' NOT NULL,
    index_removals INTEGER DEFAULT 0 NOT NULL,
    project_number BIGSERIAL NOT NULL,
    CONSTRAINT pk_projects PRIMARY KEY (project_number),
    CONSTRAINT uq_projects_project_id UNIQUE (project_id)
);

CREATE TABLE changes (
    row_id BIGSERIAL NOT NULL,
    project_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    kind TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    other_id TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    undone_at TIMESTAMP WITH TIME ZONE,
    changed_rows JSON NOT NULL,
    CONSTRAINT pk_changes PRIMARY KEY (row_id),
    CONSTRAINT ck_changes_subject CHECK (subject IN ('entity', 'memory', 'scene', 'thread', 'consolidation', 'character')),
    CONSTRAINT fk_changes_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE
);

CREATE INDEX ix_changes_project_id_subject_row_id ON changes (project_id, subject, row_id);

CREATE TABLE character_disclosures (
    session INTEGER,
    turn INTEGER,
    happened_at TIMESTAMP WITH TIME ZONE NOT NULL,
    character_id TEXT NOT NULL,
    other_id TEXT NOT NULL,
    kind TEXT NOT NULL CONSTRAINT ck_character_disclosures_kind CHECK (kind IN ('revealed', 'shown')),
    subject TEXT NOT NULL,
    row_id BIGSERIAL NOT NULL,
    project_id TEXT NOT NULL,
    CONSTRAINT pk_character_disclosures PRIMARY KEY (row_id),
    CONSTRAINT fk_character_disclosures_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE
);

CREATE INDEX ix_character_disclosures_project_id_character_id_other_id ON character_disclosures (project_id, character_id, other_id);

CREATE TABLE character_memories (
    memory_id TEXT NOT NULL,
    character_id TEXT NOT NULL,
    content TEXT NOT NULL,
    short TEXT,
    event_type TEXT DEFAULT '' NOT NULL,
    interaction_type TEXT,
    importance INTEGER DEFAULT 5 NOT NULL,
    tier TEXT DEFAULT 'regular' NOT NULL CONSTRAINT ck_character_memories_tier CHECK (tier IN ('pinned', 'important', 'regular')),
    is_milestone BOOLEAN DEFAULT false NOT NULL,
    participants JSON DEFAULT '[]' NOT NULL,
    emotion TEXT DEFAULT '' NOT NULL,
    location TEXT DEFAULT '' NOT NULL,
    slot TEXT,
    how TEXT DEFAULT 'own_doing' NOT NULL CONSTRAINT ck_character_memories_how CHECK (how IN ('own_doing', 'witnessed', 'told', 'overheard', 'read', 'deduced', 'author')),
    heard_from TEXT,
    event_id TEXT DEFAULT '' NOT NULL,
    session INTEGER,
    turn INTEGER,
    happened_at TIMESTAMP WITH TIME ZONE NOT NULL,
    known_session INTEGER,
    known_turn INTEGER,
    known_at TIMESTAMP WITH TIME ZONE NOT NULL,
    superseded_by TEXT,
    status TEXT DEFAULT 'active' NOT NULL CONSTRAINT ck_character_memories_status CHECK (status IN ('active', 'consolidated', 'deleted')),
    consolidated_into TEXT,
    stands_for JSON DEFAULT '[]' NOT NULL,
    details JSON DEFAULT '{}' NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    row_id BIGSERIAL NOT NULL,
    project_id TEXT NOT NULL,
    changed INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    embedding_model TEXT,
    vector BYTEA,
    CONSTRAINT pk_character_memories PRIMARY KEY (row_id),
    CONSTRAINT uq_character_memories_project_id_memory_id UNIQUE (project_id, memory_id),
    CONSTRAINT fk_character_memories_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE
);

CREATE INDEX ix_character_memories_changed ON character_memories (project_id, character_id, changed);

CREATE INDEX ix_character_memories_event ON character_memories (project_id, event_id);

CREATE TABLE character_secrets (
    row_id BIGSERIAL NOT NULL,
    project_id TEXT NOT NULL,
    character_id TEXT NOT NULL,
    secret_id TEXT NOT NULL,
    secret JSON NOT NULL,
    CONSTRAINT pk_character_secrets PRIMARY KEY (row_id),
    CONSTRAINT uq_character_secrets_project_id_character_id_secret_id UNIQUE (project_id, character_id, secret_id),
    CONSTRAINT fk_character_secrets_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE
);

CREATE TABLE counters (
    project_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    next_number INTEGER NOT NULL,
    CONSTRAINT pk_counters PRIMARY KEY (project_id, kind),
    CONSTRAINT fk_counters_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE
);

CREATE TABLE disposition_changes (
    event_type TEXT DEFAULT '' NOT NULL,
    deltas JSON DEFAULT '{}' NOT NULL,
    values JSON DEFAULT '{}' NOT NULL,
    session INTEGER,
    turn INTEGER,
    happened_at TIMESTAMP WITH TIME ZONE NOT NULL,
    character_id TEXT NOT NULL,
    other_id TEXT NOT NULL,
    memory_id TEXT,
    row_id BIGSERIAL NOT NULL,
    project_id TEXT NOT NULL,
    CONSTRAINT pk_disposition_changes PRIMARY KEY (row_id),
    CONSTRAINT fk_disposition_changes_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE
);

CREATE INDEX ix_disposition_changes_project_id_character_id_other_id ON disposition_changes (project_id, character_id, other_id);

CREATE TABLE entities (
    entity_id TEXT NOT NULL,
    entity_type TEXT NOT NULL CONSTRAINT ck_entities_entity_type CHECK (entity_type IN ('character', 'location', 'item', 'faction', 'term')),
    name TEXT NOT NULL,
    role TEXT DEFAULT '' NOT NULL,
    description TEXT DEFAULT '' NOT NULL,
    profile JSON DEFAULT '{}' NOT NULL,
    first_chapter INTEGER,
    first_scene INTEGER,
    name_first_chapter INTEGER,
    name_first_scene INTEGER,
    row_id BIGSERIAL NOT NULL,
    project_id TEXT NOT NULL,
    name_key TEXT NOT NULL,
    origin TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE,
    updated_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_entities PRIMARY KEY (row_id),
    CONSTRAINT uq_entities_project_id_entity_id UNIQUE (project_id, entity_id),
    CONSTRAINT ck_entities_origin CHECK (origin IN ('author', 'supplied', 'extracted', 'rules')),
    CONSTRAINT fk_entities_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE
);

CREATE TABLE index_outbox (
    chunk_id TEXT NOT NULL,
    operation TEXT NOT NULL CONSTRAINT ck_index_outbox_operation CHECK (operation IN ('upsert', 'delete')),
    state TEXT DEFAULT 'pending' NOT NULL CONSTRAINT ck_index_outbox_state CHECK (state IN ('pending', 'done', 'failed')),
    attempts INTEGER DEFAULT 0 NOT NULL,
    revision INTEGER NOT NULL,
    last_error TEXT,
    row_id BIGSERIAL NOT NULL,
    project_id TEXT NOT NULL,
    CONSTRAINT pk_index_outbox PRIMARY KEY (row_id),
    CONSTRAINT uq_index_outbox_project_id_chunk_id UNIQUE (project_id, chunk_id),
    CONSTRAINT fk_index_outbox_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE
);

CREATE INDEX ix_index_outbox_project_id_state_row_id ON index_outbox (project_id, state, row_id);

CREATE TABLE relationships (
    relationship_id TEXT NOT NULL,
    character_a TEXT NOT NULL,
    character_b TEXT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE,
    updated_at TIMESTAMP WITH TIME ZONE,
    other_fields JSON DEFAULT '{}' NOT NULL,
    row_id BIGSERIAL NOT NULL,
    project_id TEXT NOT NULL,
    CONSTRAINT pk_relationships PRIMARY KEY (row_id),
    CONSTRAINT uq_relationships_project_id_relationship_id UNIQUE (project_id, relationship_id),
    CONSTRAINT uq_relationships_project_id_character_a_character_b UNIQUE (project_id, character_a, character_b),
    CONSTRAINT fk_relationships_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE
);

CREATE INDEX ix_relationships_project_id_character_b ON relationships (project_id, character_b);

CREATE TABLE scenes (
    label TEXT NOT NULL,
    chapter_index INTEGER NOT NULL,
    scene_index INTEGER NOT NULL,
    title TEXT DEFAULT '' NOT NULL,
    text_hash TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    story_time TEXT,
    location_id TEXT,
    pov TEXT,
    participants JSON DEFAULT '[]' NOT NULL,
    record_origin TEXT DEFAULT 'rules' NOT NULL CONSTRAINT ck_scenes_record_origin CHECK (record_origin IN ('author', 'supplied', 'extracted', 'rules')),
    extraction_status TEXT DEFAULT 'none' NOT NULL CONSTRAINT ck_scenes_extraction_status CHECK (extraction_status IN ('none', 'done', 'failed', 'pending')),
    failure_reason TEXT,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
    other_fields JSON DEFAULT '{}' NOT NULL,
    scene_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    text TEXT NOT NULL,
    record JSON,
    CONSTRAINT pk_scenes PRIMARY KEY (scene_id),
    CONSTRAINT uq_scenes_project_id_chapter_index_scene_index UNIQUE (project_id, chapter_index, scene_index),
    CONSTRAINT uq_scenes_project_id_label UNIQUE (project_id, label),
    CONSTRAINT ck_scenes_position CHECK ((chapter_index IS NULL AND scene_index IS NULL) OR (chapter_index >= 0 AND (scene_index IS NULL OR scene_index >= 0))),
    CONSTRAINT fk_scenes_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE
);

CREATE TABLE story_flags (
    session INTEGER,
    turn INTEGER,
    happened_at TIMESTAMP WITH TIME ZONE NOT NULL,
    name TEXT NOT NULL,
    value JSON NOT NULL,
    row_id BIGSERIAL NOT NULL,
    project_id TEXT NOT NULL,
    CONSTRAINT pk_story_flags PRIMARY KEY (row_id),
    CONSTRAINT fk_story_flags_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE
);

CREATE INDEX ix_story_flags_project_id_name ON story_flags (project_id, name);

CREATE TABLE story_summaries (
    level TEXT NOT NULL CONSTRAINT ck_story_summaries_level CHECK (level IN ('chapter', 'part')),
    number INTEGER NOT NULL,
    first_chapter INTEGER NOT NULL,
    last_chapter INTEGER NOT NULL,
    text TEXT NOT NULL,
    origin TEXT NOT NULL CONSTRAINT ck_story_summaries_origin CHECK (origin IN ('author', 'model')),
    source_hash TEXT DEFAULT '' NOT NULL,
    is_withheld BOOLEAN DEFAULT false NOT NULL,
    written_at TIMESTAMP WITH TIME ZONE NOT NULL,
    row_id BIGSERIAL NOT NULL,
    project_id TEXT NOT NULL,
    CONSTRAINT pk_story_summaries PRIMARY KEY (row_id),
    CONSTRAINT fk_story_summaries_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE
);

CREATE INDEX ix_story_summaries_project_id_level_number ON story_summaries (project_id, level, number);

CREATE TABLE character_file_aliases (
    project_id TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    alias TEXT NOT NULL,
    CONSTRAINT pk_character_file_aliases PRIMARY KEY (project_id, entity_id, alias),
    CONSTRAINT fk_character_file_aliases_project_id_entity_id FOREIGN KEY(project_id, entity_id) REFERENCES entities (project_id, entity_id) ON DELETE CASCADE
);

CREATE TABLE entity_aliases (
    alias TEXT NOT NULL,
    language TEXT,
    speaker TEXT,
    first_chapter INTEGER,
    first_scene INTEGER,
    row_id BIGSERIAL NOT NULL,
    project_id TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    alias_key TEXT NOT NULL,
    by_author BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT pk_entity_aliases PRIMARY KEY (row_id),
    CONSTRAINT fk_entity_aliases_project_id_entity_id FOREIGN KEY(project_id, entity_id) REFERENCES entities (project_id, entity_id) ON DELETE CASCADE,
    CONSTRAINT uq_entity_aliases_project_id_entity_id_alias UNIQUE (project_id, entity_id, alias)
);

CREATE INDEX ix_entity_aliases_project_id_alias_key ON entity_aliases (project_id, alias_key);

CREATE TABLE knowledge_events (
    chapter_index INTEGER,
    scene_index INTEGER,
    origin TEXT DEFAULT 'record' NOT NULL CONSTRAINT ck_knowledge_events_origin CHECK (origin IN ('record', 'author')),
    character_id TEXT NOT NULL,
    source_id TEXT NOT NULL,
    kind TEXT DEFAULT 'knows' NOT NULL CONSTRAINT ck_knowledge_events_kind CHECK (kind IN ('knows', 'hidden', 'deceived', 'doubts')),
    how TEXT DEFAULT 'author' NOT NULL CONSTRAINT ck_knowledge_events_how CHECK (how IN ('own_doing', 'witnessed', 'told', 'overheard', 'read', 'deduced', 'author')),
    learned_from TEXT,
    certainty FLOAT NOT NULL,
    quote TEXT DEFAULT '' NOT NULL,
    verified BOOLEAN DEFAULT true NOT NULL,
    row_id BIGSERIAL NOT NULL,
    project_id TEXT NOT NULL,
    scene_id TEXT,
    span_start INTEGER,
    span_end INTEGER,
    CONSTRAINT pk_knowledge_events PRIMARY KEY (row_id),
    CONSTRAINT ck_knowledge_events_position CHECK ((chapter_index IS NULL AND scene_index IS NULL) OR (chapter_index >= 0 AND (scene_index IS NULL OR scene_index >= 0))),
    CONSTRAINT fk_knowledge_events_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE,
    CONSTRAINT fk_knowledge_events_scene_id FOREIGN KEY(scene_id) REFERENCES scenes (scene_id) ON DELETE SET NULL
);

CREATE INDEX ix_knowledge_events_project_id_chapter_index_scene_index ON knowledge_events (project_id, chapter_index, scene_index);

CREATE INDEX ix_knowledge_events_scene_id ON knowledge_events (scene_id);

CREATE TABLE loop_events (
    chapter_index INTEGER,
    scene_index INTEGER,
    origin TEXT DEFAULT 'author' NOT NULL CONSTRAINT ck_loop_events_origin CHECK (origin IN ('record', 'author')),
    loop_id TEXT NOT NULL,
    kind TEXT NOT NULL CONSTRAINT ck_loop_events_kind CHECK (kind IN ('planted', 'advanced', 'resolved', 'abandoned')),
    note TEXT DEFAULT '' NOT NULL,
    detail JSON DEFAULT '{}' NOT NULL,
    row_id BIGSERIAL NOT NULL,
    project_id TEXT NOT NULL,
    scene_id TEXT,
    CONSTRAINT pk_loop_events PRIMARY KEY (row_id),
    CONSTRAINT ck_loop_events_position CHECK ((chapter_index IS NULL AND scene_index IS NULL) OR (chapter_index >= 0 AND (scene_index IS NULL OR scene_index >= 0))),
    CONSTRAINT fk_loop_events_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE,
    CONSTRAINT fk_loop_events_scene_id FOREIGN KEY(scene_id) REFERENCES scenes (scene_id) ON DELETE SET NULL
);

CREATE INDEX ix_loop_events_project_id_loop_id_chapter_index_scene_index ON loop_events (project_id, loop_id, chapter_index, scene_index);

CREATE INDEX ix_loop_events_scene_id ON loop_events (scene_id);

CREATE TABLE memory_chunks (
    chunk_id TEXT NOT NULL,
    chapter_index INTEGER,
    scene_index INTEGER,
    content TEXT NOT NULL,
    content_type TEXT DEFAULT 'scene' NOT NULL CONSTRAINT ck_memory_chunks_content_type CHECK (content_type IN ('scene', 'dialogue', 'description', 'summary', 'memory', 'note')),
    entities_mentioned JSON DEFAULT '[]' NOT NULL,
    tags JSON DEFAULT '[]' NOT NULL,
    embedding_id TEXT,
    is_indexed BOOLEAN DEFAULT true NOT NULL,
    is_consolidated BOOLEAN DEFAULT false NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    short TEXT,
    importance INTEGER DEFAULT 5 NOT NULL,
    tier TEXT DEFAULT 'regular' NOT NULL CONSTRAINT ck_memory_chunks_tier CHECK (tier IN ('pinned', 'important', 'regular')),
    source_id TEXT,
    event_type TEXT,
    supersedes TEXT,
    slot_type TEXT,
    verified BOOLEAN DEFAULT true NOT NULL,
    origin TEXT DEFAULT 'text' NOT NULL CONSTRAINT ck_memory_chunks_origin CHECK (origin IN ('record', 'extracted', 'text', 'author')),
    row_id BIGSERIAL NOT NULL,
    project_id TEXT NOT NULL,
    scene_id TEXT,
    from_scene BOOLEAN NOT NULL,
    content_hash TEXT NOT NULL,
    term_count INTEGER NOT NULL,
    span_start INTEGER,
    span_end INTEGER,
    status TEXT NOT NULL,
    pinned BOOLEAN NOT NULL,
    attached JSON DEFAULT '[]' NOT NULL,
    detached JSON DEFAULT '[]' NOT NULL,
    last_accessed_at TIMESTAMP WITH TIME ZONE,
    CONSTRAINT pk_memory_chunks PRIMARY KEY (row_id),
    CONSTRAINT uq_memory_chunks_project_id_chunk_id UNIQUE (project_id, chunk_id),
    CONSTRAINT ck_memory_chunks_position CHECK ((chapter_index IS NULL AND scene_index IS NULL) OR (chapter_index >= 0 AND (scene_index IS NULL OR scene_index >= 0))),
    CONSTRAINT ck_memory_chunks_status CHECK (status IN ('active', 'banned', 'deleted')),
    CONSTRAINT fk_memory_chunks_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE,
    CONSTRAINT fk_memory_chunks_scene_id FOREIGN KEY(scene_id) REFERENCES scenes (scene_id) ON DELETE SET NULL
);

CREATE INDEX ix_memory_chunks_project_id_chapter_index_scene_index ON memory_chunks (project_id, chapter_index, scene_index);

CREATE INDEX ix_memory_chunks_project_id_slot_type ON memory_chunks (project_id, slot_type);

CREATE INDEX ix_memory_chunks_project_id_supersedes ON memory_chunks (project_id, supersedes);

CREATE INDEX ix_memory_chunks_scene_id ON memory_chunks (scene_id);

CREATE INDEX ix_memory_chunks_searched ON memory_chunks (project_id, importance, chapter_index, scene_index, status, content_type, term_count);

CREATE INDEX ix_memory_chunks_by_hand ON memory_chunks (project_id, chunk_id) WHERE origin = 'author' OR pinned OR status <> 'active' OR CAST(attached AS TEXT) <> '[]' OR CAST(detached AS TEXT) <> '[]';

CREATE TABLE name_mentions (
    scene_id TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    name TEXT NOT NULL,
    project_id TEXT NOT NULL,
    chapter_index INTEGER NOT NULL,
    scene_index INTEGER NOT NULL,
    CONSTRAINT pk_name_mentions PRIMARY KEY (scene_id, entity_id, name),
    CONSTRAINT ck_name_mentions_position CHECK ((chapter_index IS NULL AND scene_index IS NULL) OR (chapter_index >= 0 AND (scene_index IS NULL OR scene_index >= 0))),
    CONSTRAINT fk_name_mentions_scene_id FOREIGN KEY(scene_id) REFERENCES scenes (scene_id) ON DELETE CASCADE
);

CREATE INDEX ix_name_mentions_first ON name_mentions (project_id, entity_id, name, chapter_index, scene_index);

CREATE TABLE relationship_changes (
    chapter_index INTEGER,
    scene_index INTEGER,
    origin TEXT DEFAULT 'author' NOT NULL CONSTRAINT ck_relationship_changes_origin CHECK (origin IN ('record', 'author')),
    relationship_id TEXT NOT NULL,
    relationship_type TEXT,
    status TEXT,
    perspective_a TEXT,
    perspective_b TEXT,
    intensity INTEGER,
    dimensions JSON DEFAULT '{}' NOT NULL,
    dimensions_a JSON,
    dimensions_b JSON,
    event TEXT DEFAULT '' NOT NULL,
    row_id BIGSERIAL NOT NULL,
    project_id TEXT NOT NULL,
    scene_id TEXT,
    CONSTRAINT pk_relationship_changes PRIMARY KEY (row_id),
    CONSTRAINT fk_relationship_changes_project_id_relationship_id FOREIGN KEY(project_id, relationship_id) REFERENCES relationships (project_id, relationship_id) ON DELETE CASCADE,
    CONSTRAINT ck_relationship_changes_position CHECK ((chapter_index IS NULL AND scene_index IS NULL) OR (chapter_index >= 0 AND (scene_index IS NULL OR scene_index >= 0))),
    CONSTRAINT fk_relationship_changes_scene_id FOREIGN KEY(scene_id) REFERENCES scenes (scene_id) ON DELETE SET NULL
);

CREATE INDEX ix_relationship_changes_fold ON relationship_changes (project_id, relationship_id, chapter_index, scene_index);

CREATE INDEX ix_relationship_changes_scene_id ON relationship_changes (scene_id);

CREATE TABLE state_changes (
    chapter_index INTEGER,
    scene_index INTEGER,
    origin TEXT DEFAULT 'author' NOT NULL CONSTRAINT ck_state_changes_origin CHECK (origin IN ('record', 'author')),
    entity_id TEXT NOT NULL,
    entity_type TEXT DEFAULT 'character' NOT NULL,
    attribute TEXT NOT NULL,
    value JSON NOT NULL,
    kind TEXT DEFAULT 'explicit' NOT NULL CONSTRAINT ck_state_changes_kind CHECK (kind IN ('explicit', 'presence')),
    verified BOOLEAN DEFAULT true NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE NOT NULL,
    detail JSON DEFAULT '{}' NOT NULL,
    row_id BIGSERIAL NOT NULL,
    project_id TEXT NOT NULL,
    scene_id TEXT,
    span_start INTEGER,
    span_end INTEGER,
    CONSTRAINT pk_state_changes PRIMARY KEY (row_id),
    CONSTRAINT ck_state_changes_position CHECK ((chapter_index IS NULL AND scene_index IS NULL) OR (chapter_index >= 0 AND (scene_index IS NULL OR scene_index >= 0))),
    CONSTRAINT fk_state_changes_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE,
    CONSTRAINT fk_state_changes_scene_id FOREIGN KEY(scene_id) REFERENCES scenes (scene_id) ON DELETE SET NULL
);

CREATE INDEX ix_state_changes_project_id_chapter_index_scene_index ON state_changes (project_id, chapter_index, scene_index);

CREATE INDEX ix_state_changes_project_id_entity_id_chapter_index_scene_index ON state_changes (project_id, entity_id, chapter_index, scene_index);

CREATE INDEX ix_state_changes_scene_id ON state_changes (scene_id);

CREATE TABLE chunk_entities (
    chunk_row_id BIGINT NOT NULL,
    entity_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    CONSTRAINT pk_chunk_entities PRIMARY KEY (chunk_row_id, entity_id),
    CONSTRAINT ck_chunk_entities_kind CHECK (kind IN ('mention', 'record', 'manual')),
    CONSTRAINT fk_chunk_entities_chunk_row_id FOREIGN KEY(chunk_row_id) REFERENCES memory_chunks (row_id) ON DELETE CASCADE
);

CREATE INDEX ix_chunk_entities_project_id_entity_id_chunk_row_id ON chunk_entities (project_id, entity_id, chunk_row_id);

CREATE TABLE chunk_tags (
    chunk_row_id BIGINT NOT NULL,
    tag TEXT NOT NULL,
    project_id TEXT NOT NULL,
    CONSTRAINT pk_chunk_tags PRIMARY KEY (chunk_row_id, tag),
    CONSTRAINT fk_chunk_tags_chunk_row_id FOREIGN KEY(chunk_row_id) REFERENCES memory_chunks (row_id) ON DELETE CASCADE
);

CREATE INDEX ix_chunk_tags_project_id_tag_chunk_row_id ON chunk_tags (project_id, tag, chunk_row_id);

CREATE TABLE consolidation_sources (
    source_row_id BIGINT NOT NULL,
    consolidated_row_id BIGINT NOT NULL,
    project_id TEXT NOT NULL,
    CONSTRAINT pk_consolidation_sources PRIMARY KEY (source_row_id),
    CONSTRAINT fk_consolidation_sources_source_row_id FOREIGN KEY(source_row_id) REFERENCES memory_chunks (row_id) ON DELETE CASCADE,
    CONSTRAINT fk_consolidation_sources_consolidated_row_id FOREIGN KEY(consolidated_row_id) REFERENCES memory_chunks (row_id) ON DELETE CASCADE
);

CREATE INDEX ix_consolidation_sources_consolidated_row_id ON consolidation_sources (consolidated_row_id);

CREATE INDEX ix_consolidation_sources_project_id_consolidated_row_id ON consolidation_sources (project_id, consolidated_row_id);

CREATE TABLE embeddings (
    chunk_row_id BIGINT NOT NULL,
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    vector BYTEA NOT NULL,
    CONSTRAINT pk_embeddings PRIMARY KEY (chunk_row_id, model),
    CONSTRAINT fk_embeddings_chunk_row_id FOREIGN KEY(chunk_row_id) REFERENCES memory_chunks (row_id) ON DELETE CASCADE
);

CREATE TABLE memory_terms (
    chunk_row_id BIGINT PRIMARY KEY REFERENCES memory_chunks (row_id) ON DELETE CASCADE,
    terms TSVECTOR NOT NULL
);

CREATE INDEX ix_memory_terms_terms ON memory_terms USING gin (terms);
