CREATE TABLE projects (
    project_number INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    name TEXT NOT NULL,
    language TEXT NOT NULL,
    created_at DATETIME NOT NULL,
    embedding_model TEXT,
    embedding_dimension INTEGER,
    settings JSON NOT NULL,
    story_revision INTEGER NOT NULL,
    index_id TEXT DEFAULT '' NOT NULL,
    index_removals INTEGER DEFAULT 0 NOT NULL,
    CONSTRAINT pk_projects PRIMARY KEY (project_number),
    CONSTRAINT uq_projects_project_id UNIQUE (project_id)
);

CREATE TABLE changes (
    row_id INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    kind TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    other_id TEXT NOT NULL,
    created_at DATETIME NOT NULL,
    undone_at DATETIME,
    changed_rows JSON NOT NULL,
    CONSTRAINT pk_changes PRIMARY KEY (row_id),
    CONSTRAINT ck_changes_subject CHECK (subject IN ('entity', 'memory', 'scene', 'thread', 'consolidation', 'character')),
    CONSTRAINT fk_changes_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE
);

CREATE INDEX ix_changes_project_id_subject_row_id ON changes (project_id, subject, row_id);

CREATE TABLE character_disclosures (
    row_id INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    character_id TEXT NOT NULL,
    other_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    session INTEGER,
    turn INTEGER,
    happened_at DATETIME NOT NULL,
    CONSTRAINT pk_character_disclosures PRIMARY KEY (row_id),
    CONSTRAINT ck_character_disclosures_kind CHECK (kind IN ('revealed', 'shown')),
    CONSTRAINT fk_character_disclosures_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE
);

CREATE INDEX ix_character_disclosures_project_id_character_id_other_id ON character_disclosures (project_id, character_id, other_id);

CREATE TABLE character_memories (
    row_id INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    character_id TEXT NOT NULL,
    memory_id TEXT NOT NULL,
    changed INTEGER NOT NULL,
    content TEXT NOT NULL,
    short TEXT,
    event_type TEXT NOT NULL,
    interaction_type TEXT,
    importance INTEGER NOT NULL,
    tier TEXT NOT NULL,
    is_milestone BOOLEAN NOT NULL,
    participants JSON NOT NULL,
    emotion TEXT NOT NULL,
    location TEXT NOT NULL,
    slot TEXT,
    how TEXT NOT NULL,
    heard_from TEXT,
    event_id TEXT NOT NULL,
    session INTEGER,
    turn INTEGER,
    happened_at DATETIME NOT NULL,
    known_session INTEGER,
    known_turn INTEGER,
    known_at DATETIME NOT NULL,
    superseded_by TEXT,
    status TEXT NOT NULL,
    consolidated_into TEXT,
    stands_for JSON NOT NULL,
    details JSON NOT NULL,
    created_at DATETIME NOT NULL,
    content_hash TEXT NOT NULL,
    embedding_model TEXT,
    vector BLOB,
    CONSTRAINT pk_character_memories PRIMARY KEY (row_id),
    CONSTRAINT uq_character_memories_project_id_memory_id UNIQUE (project_id, memory_id),
    CONSTRAINT ck_character_memories_status CHECK (status IN ('active', 'consolidated', 'deleted')),
    CONSTRAINT ck_character_memories_how CHECK (how IN ('own_doing', 'witnessed', 'told', 'overheard', 'read')),
    CONSTRAINT ck_character_memories_tier CHECK (tier IN ('pinned', 'important', 'regular')),
    CONSTRAINT fk_character_memories_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE
);

CREATE INDEX ix_character_memories_changed ON character_memories (project_id, character_id, changed);

CREATE INDEX ix_character_memories_event ON character_memories (project_id, event_id);

CREATE TABLE character_secrets (
    row_id INTEGER NOT NULL,
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
    row_id INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    character_id TEXT NOT NULL,
    other_id TEXT NOT NULL,
    event_type TEXT NOT NULL,
    deltas JSON NOT NULL,
    set_to JSON NOT NULL,
    memory_id TEXT,
    session INTEGER,
    turn INTEGER,
    happened_at DATETIME NOT NULL,
    CONSTRAINT pk_disposition_changes PRIMARY KEY (row_id),
    CONSTRAINT fk_disposition_changes_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE
);

CREATE INDEX ix_disposition_changes_project_id_character_id_other_id ON disposition_changes (project_id, character_id, other_id);

CREATE TABLE entities (
    row_id INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    entity_type TEXT NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    role TEXT NOT NULL,
    description TEXT NOT NULL,
    profile JSON NOT NULL,
    first_chapter INTEGER,
    first_scene INTEGER,
    origin TEXT NOT NULL,
    name_first_chapter INTEGER,
    name_first_scene INTEGER,
    created_at DATETIME,
    updated_at DATETIME,
    CONSTRAINT pk_entities PRIMARY KEY (row_id),
    CONSTRAINT uq_entities_project_id_entity_id UNIQUE (project_id, entity_id),
    CONSTRAINT ck_entities_entity_type CHECK (entity_type IN ('character', 'location', 'item', 'faction', 'term')),
    CONSTRAINT ck_entities_origin CHECK (origin IN ('author', 'supplied', 'extracted', 'rules')),
    CONSTRAINT fk_entities_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE
);

CREATE TABLE index_outbox (
    row_id INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    chunk_id TEXT NOT NULL,
    operation TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    last_error TEXT,
    CONSTRAINT pk_index_outbox PRIMARY KEY (row_id),
    CONSTRAINT uq_index_outbox_project_id_chunk_id UNIQUE (project_id, chunk_id),
    CONSTRAINT ck_index_outbox_operation CHECK (operation IN ('upsert', 'delete')),
    CONSTRAINT ck_index_outbox_state CHECK (state IN ('pending', 'done', 'failed')),
    CONSTRAINT fk_index_outbox_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE
);

CREATE INDEX ix_index_outbox_project_id_state_row_id ON index_outbox (project_id, state, row_id);

CREATE TABLE relationships (
    row_id INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    relationship_id TEXT NOT NULL,
    character_a TEXT NOT NULL,
    character_b TEXT NOT NULL,
    created_at DATETIME,
    updated_at DATETIME,
    other_fields JSON DEFAULT '{}' NOT NULL,
    CONSTRAINT pk_relationships PRIMARY KEY (row_id),
    CONSTRAINT uq_relationships_project_id_relationship_id UNIQUE (project_id, relationship_id),
    CONSTRAINT uq_relationships_project_id_character_a_character_b UNIQUE (project_id, character_a, character_b),
    CONSTRAINT fk_relationships_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE
);

CREATE INDEX ix_relationships_project_id_character_b ON relationships (project_id, character_b);

CREATE TABLE scenes (
    scene_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    label TEXT NOT NULL,
    chapter_index INTEGER NOT NULL,
    scene_index INTEGER NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    text_hash TEXT NOT NULL,
    created_at DATETIME NOT NULL,
    updated_at DATETIME NOT NULL,
    content_hash TEXT DEFAULT '' NOT NULL,
    story_time TEXT,
    location_id TEXT,
    pov TEXT,
    participants JSON DEFAULT '[]' NOT NULL,
    record JSON,
    record_origin TEXT DEFAULT 'rules' NOT NULL,
    extraction_status TEXT DEFAULT 'none' NOT NULL,
    failure_reason TEXT,
    other_fields JSON DEFAULT '{}' NOT NULL,
    CONSTRAINT pk_scenes PRIMARY KEY (scene_id),
    CONSTRAINT uq_scenes_project_id_chapter_index_scene_index UNIQUE (project_id, chapter_index, scene_index),
    CONSTRAINT uq_scenes_project_id_label UNIQUE (project_id, label),
    CONSTRAINT ck_scenes_position CHECK ((chapter_index IS NULL AND scene_index IS NULL) OR (chapter_index >= 0 AND (scene_index IS NULL OR scene_index >= 0))),
    CONSTRAINT ck_scenes_record_origin CHECK (record_origin IN ('author', 'supplied', 'extracted', 'rules')),
    CONSTRAINT ck_scenes_extraction_status CHECK (extraction_status IN ('none', 'done', 'failed', 'pending')),
    CONSTRAINT fk_scenes_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE
);

CREATE TABLE story_flags (
    row_id INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    name TEXT NOT NULL,
    value JSON NOT NULL,
    session INTEGER,
    turn INTEGER,
    happened_at DATETIME NOT NULL,
    CONSTRAINT pk_story_flags PRIMARY KEY (row_id),
    CONSTRAINT fk_story_flags_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE
);

CREATE INDEX ix_story_flags_project_id_name ON story_flags (project_id, name);

CREATE TABLE story_summaries (
    row_id INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    level TEXT NOT NULL,
    number INTEGER NOT NULL,
    first_chapter INTEGER NOT NULL,
    last_chapter INTEGER NOT NULL,
    text TEXT NOT NULL,
    origin TEXT NOT NULL,
    source_hash TEXT NOT NULL,
    is_withheld BOOLEAN DEFAULT 0 NOT NULL,
    written_at DATETIME NOT NULL,
    CONSTRAINT pk_story_summaries PRIMARY KEY (row_id),
    CONSTRAINT ck_story_summaries_level CHECK (level IN ('chapter', 'part')),
    CONSTRAINT ck_story_summaries_origin CHECK (origin IN ('author', 'model')),
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
    row_id INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    entity_id TEXT NOT NULL,
    alias TEXT NOT NULL,
    alias_key TEXT NOT NULL,
    language TEXT,
    speaker TEXT,
    first_chapter INTEGER,
    first_scene INTEGER,
    by_author BOOLEAN DEFAULT 0 NOT NULL,
    CONSTRAINT pk_entity_aliases PRIMARY KEY (row_id),
    CONSTRAINT fk_entity_aliases_project_id_entity_id FOREIGN KEY(project_id, entity_id) REFERENCES entities (project_id, entity_id) ON DELETE CASCADE,
    CONSTRAINT uq_entity_aliases_project_id_entity_id_alias UNIQUE (project_id, entity_id, alias)
);

CREATE INDEX ix_entity_aliases_project_id_alias_key ON entity_aliases (project_id, alias_key);

CREATE TABLE knowledge_events (
    row_id INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    scene_id TEXT,
    chapter_index INTEGER,
    scene_index INTEGER,
    character_id TEXT NOT NULL,
    source_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    how TEXT NOT NULL,
    learned_from TEXT,
    certainty FLOAT NOT NULL,
    quote TEXT NOT NULL,
    verified BOOLEAN DEFAULT 1 NOT NULL,
    span_start INTEGER,
    span_end INTEGER,
    origin TEXT NOT NULL,
    CONSTRAINT pk_knowledge_events PRIMARY KEY (row_id),
    CONSTRAINT ck_knowledge_events_position CHECK ((chapter_index IS NULL AND scene_index IS NULL) OR (chapter_index >= 0 AND (scene_index IS NULL OR scene_index >= 0))),
    CONSTRAINT ck_knowledge_events_kind CHECK (kind IN ('knows', 'hidden', 'deceived', 'doubts')),
    CONSTRAINT ck_knowledge_events_how CHECK (how IN ('own_doing', 'witnessed', 'told', 'overheard', 'read', 'deduced', 'author')),
    CONSTRAINT ck_knowledge_events_origin CHECK (origin IN ('record', 'author')),
    CONSTRAINT fk_knowledge_events_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE,
    CONSTRAINT fk_knowledge_events_scene_id FOREIGN KEY(scene_id) REFERENCES scenes (scene_id) ON DELETE SET NULL
);

CREATE INDEX ix_knowledge_events_project_id_chapter_index_scene_index ON knowledge_events (project_id, chapter_index, scene_index);

CREATE INDEX ix_knowledge_events_scene_id ON knowledge_events (scene_id);

CREATE TABLE loop_events (
    row_id INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    scene_id TEXT,
    chapter_index INTEGER,
    scene_index INTEGER,
    loop_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    note TEXT NOT NULL,
    detail JSON NOT NULL,
    origin TEXT NOT NULL,
    CONSTRAINT pk_loop_events PRIMARY KEY (row_id),
    CONSTRAINT ck_loop_events_position CHECK ((chapter_index IS NULL AND scene_index IS NULL) OR (chapter_index >= 0 AND (scene_index IS NULL OR scene_index >= 0))),
    CONSTRAINT ck_loop_events_kind CHECK (kind IN ('planted', 'advanced', 'resolved', 'abandoned')),
    CONSTRAINT ck_loop_events_origin CHECK (origin IN ('record', 'author')),
    CONSTRAINT fk_loop_events_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE,
    CONSTRAINT fk_loop_events_scene_id FOREIGN KEY(scene_id) REFERENCES scenes (scene_id) ON DELETE SET NULL
);

CREATE INDEX ix_loop_events_project_id_loop_id_chapter_index_scene_index ON loop_events (project_id, loop_id, chapter_index, scene_index);

CREATE INDEX ix_loop_events_scene_id ON loop_events (scene_id);

CREATE TABLE memory_chunks (
    row_id INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    chunk_id TEXT NOT NULL,
    scene_id TEXT,
    from_scene BOOLEAN NOT NULL,
    chapter_index INTEGER,
    scene_index INTEGER,
    content TEXT NOT NULL,
    content_type TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    term_count INTEGER NOT NULL,
    entities_mentioned JSON NOT NULL,
    tags JSON NOT NULL,
    embedding_id TEXT,
    is_indexed BOOLEAN DEFAULT 1 NOT NULL,
    is_consolidated BOOLEAN DEFAULT 0 NOT NULL,
    created_at DATETIME NOT NULL,
    short TEXT,
    importance INTEGER NOT NULL,
    tier TEXT NOT NULL,
    source_id TEXT,
    span_start INTEGER,
    span_end INTEGER,
    event_type TEXT,
    origin TEXT NOT NULL,
    status TEXT NOT NULL,
    pinned BOOLEAN NOT NULL,
    supersedes TEXT,
    slot_type TEXT,
    verified BOOLEAN DEFAULT 1 NOT NULL,
    attached JSON DEFAULT '[]' NOT NULL,
    detached JSON DEFAULT '[]' NOT NULL,
    last_accessed_at DATETIME,
    CONSTRAINT pk_memory_chunks PRIMARY KEY (row_id),
    CONSTRAINT uq_memory_chunks_project_id_chunk_id UNIQUE (project_id, chunk_id),
    CONSTRAINT ck_memory_chunks_position CHECK ((chapter_index IS NULL AND scene_index IS NULL) OR (chapter_index >= 0 AND (scene_index IS NULL OR scene_index >= 0))),
    CONSTRAINT ck_memory_chunks_content_type CHECK (content_type IN ('scene', 'dialogue', 'description', 'summary', 'memory', 'note')),
    CONSTRAINT ck_memory_chunks_status CHECK (status IN ('active', 'banned', 'deleted')),
    CONSTRAINT ck_memory_chunks_origin CHECK (origin IN ('record', 'extracted', 'text', 'author')),
    CONSTRAINT ck_memory_chunks_tier CHECK (tier IN ('pinned', 'important', 'regular')),
    CONSTRAINT fk_memory_chunks_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE,
    CONSTRAINT fk_memory_chunks_scene_id FOREIGN KEY(scene_id) REFERENCES scenes (scene_id) ON DELETE SET NULL
);

CREATE INDEX ix_memory_chunks_project_id_chapter_index_scene_index ON memory_chunks (project_id, chapter_index, scene_index);

CREATE INDEX ix_memory_chunks_project_id_slot_type ON memory_chunks (project_id, slot_type);

CREATE INDEX ix_memory_chunks_project_id_supersedes ON memory_chunks (project_id, supersedes);

CREATE INDEX ix_memory_chunks_scene_id ON memory_chunks (scene_id);

CREATE INDEX ix_memory_chunks_searched ON memory_chunks (project_id, importance, chapter_index, scene_index, status, content_type, term_count);

-- After the others: of indexes that look equally good SQLite takes the newest.
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
    row_id INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    relationship_id TEXT NOT NULL,
    scene_id TEXT,
    chapter_index INTEGER,
    scene_index INTEGER,
    relationship_type TEXT,
    status TEXT,
    perspective_a TEXT,
    perspective_b TEXT,
    intensity INTEGER,
    dimensions JSON NOT NULL,
    dimensions_a JSON,
    dimensions_b JSON,
    event TEXT NOT NULL,
    origin TEXT NOT NULL,
    CONSTRAINT pk_relationship_changes PRIMARY KEY (row_id),
    CONSTRAINT fk_relationship_changes_project_id_relationship_id FOREIGN KEY(project_id, relationship_id) REFERENCES relationships (project_id, relationship_id) ON DELETE CASCADE,
    CONSTRAINT ck_relationship_changes_position CHECK ((chapter_index IS NULL AND scene_index IS NULL) OR (chapter_index >= 0 AND (scene_index IS NULL OR scene_index >= 0))),
    CONSTRAINT ck_relationship_changes_origin CHECK (origin IN ('record', 'author')),
    CONSTRAINT fk_relationship_changes_scene_id FOREIGN KEY(scene_id) REFERENCES scenes (scene_id) ON DELETE SET NULL
);

CREATE INDEX ix_relationship_changes_fold ON relationship_changes (project_id, relationship_id, chapter_index, scene_index);

CREATE INDEX ix_relationship_changes_scene_id ON relationship_changes (scene_id);

CREATE TABLE state_changes (
    row_id INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    scene_id TEXT,
    chapter_index INTEGER,
    scene_index INTEGER,
    entity_id TEXT NOT NULL,
    entity_type TEXT NOT NULL,
    attribute TEXT NOT NULL,
    value JSON NOT NULL,
    kind TEXT NOT NULL,
    origin TEXT NOT NULL,
    created_at DATETIME NOT NULL,
    verified BOOLEAN DEFAULT 1 NOT NULL,
    span_start INTEGER,
    span_end INTEGER,
    detail JSON DEFAULT '{}' NOT NULL,
    CONSTRAINT pk_state_changes PRIMARY KEY (row_id),
    CONSTRAINT ck_state_changes_position CHECK ((chapter_index IS NULL AND scene_index IS NULL) OR (chapter_index >= 0 AND (scene_index IS NULL OR scene_index >= 0))),
    CONSTRAINT ck_state_changes_kind CHECK (kind IN ('explicit', 'presence')),
    CONSTRAINT ck_state_changes_origin CHECK (origin IN ('record', 'author')),
    CONSTRAINT fk_state_changes_project_id FOREIGN KEY(project_id) REFERENCES projects (project_id) ON DELETE CASCADE,
    CONSTRAINT fk_state_changes_scene_id FOREIGN KEY(scene_id) REFERENCES scenes (scene_id) ON DELETE SET NULL
);

CREATE INDEX ix_state_changes_project_id_chapter_index_scene_index ON state_changes (project_id, chapter_index, scene_index);

CREATE INDEX ix_state_changes_project_id_entity_id_chapter_index_scene_index ON state_changes (project_id, entity_id, chapter_index, scene_index);

CREATE INDEX ix_state_changes_scene_id ON state_changes (scene_id);

CREATE TABLE chunk_entities (
    chunk_row_id INTEGER NOT NULL,
    entity_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    CONSTRAINT pk_chunk_entities PRIMARY KEY (chunk_row_id, entity_id),
    CONSTRAINT ck_chunk_entities_kind CHECK (kind IN ('mention', 'record', 'manual')),
    CONSTRAINT fk_chunk_entities_chunk_row_id FOREIGN KEY(chunk_row_id) REFERENCES memory_chunks (row_id) ON DELETE CASCADE
);

CREATE INDEX ix_chunk_entities_project_id_entity_id_chunk_row_id ON chunk_entities (project_id, entity_id, chunk_row_id);

CREATE TABLE chunk_tags (
    chunk_row_id INTEGER NOT NULL,
    tag TEXT NOT NULL,
    project_id TEXT NOT NULL,
    CONSTRAINT pk_chunk_tags PRIMARY KEY (chunk_row_id, tag),
    CONSTRAINT fk_chunk_tags_chunk_row_id FOREIGN KEY(chunk_row_id) REFERENCES memory_chunks (row_id) ON DELETE CASCADE
);

CREATE INDEX ix_chunk_tags_project_id_tag_chunk_row_id ON chunk_tags (project_id, tag, chunk_row_id);

CREATE TABLE consolidation_sources (
    source_row_id INTEGER NOT NULL,
    consolidated_row_id INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    CONSTRAINT pk_consolidation_sources PRIMARY KEY (source_row_id),
    CONSTRAINT fk_consolidation_sources_source_row_id FOREIGN KEY(source_row_id) REFERENCES memory_chunks (row_id) ON DELETE CASCADE,
    CONSTRAINT fk_consolidation_sources_consolidated_row_id FOREIGN KEY(consolidated_row_id) REFERENCES memory_chunks (row_id) ON DELETE CASCADE
);

CREATE INDEX ix_consolidation_sources_consolidated_row_id ON consolidation_sources (consolidated_row_id);

CREATE INDEX ix_consolidation_sources_project_id_consolidated_row_id ON consolidation_sources (project_id, consolidated_row_id);

CREATE TABLE embeddings (
    chunk_row_id INTEGER NOT NULL,
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    vector BLOB NOT NULL,
    CONSTRAINT pk_embeddings PRIMARY KEY (chunk_row_id, model),
    CONSTRAINT fk_embeddings_chunk_row_id FOREIGN KEY(chunk_row_id) REFERENCES memory_chunks (row_id) ON DELETE CASCADE
);

CREATE VIRTUAL TABLE memory_terms USING fts5(
    scope, terms, content='', columnsize=0, tokenize='unicode61 remove_diacritics 0'
);
