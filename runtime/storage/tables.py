"""All tables of the schema, in one import, and which of them move with a scene."""

from __future__ import annotations

from sqlalchemy import Table

from runtime.storage.table_base import METADATA
from runtime.storage.tables_events import LOOP_EVENTS, RELATIONSHIP_CHANGES, RELATIONSHIPS, STATES
from runtime.storage.tables_journal import ENTITY_CHANGES
from runtime.storage.tables_memory import (
    CHUNK_ENTITIES,
    CHUNK_TAGS,
    CHUNKS,
    CONSOLIDATION_SOURCES,
    EMBEDDINGS,
    OUTBOX,
)
from runtime.storage.tables_story import (
    ALIASES,
    CHARACTER_FILE_ALIASES,
    COUNTERS,
    ENTITIES,
    MENTIONS,
    PROJECTS,
    SCENES,
)
from runtime.storage.tables_summaries import SUMMARIES

__all__ = [
    "ALIASES",
    "CHARACTER_FILE_ALIASES",
    "CHUNKS",
    "CHUNK_ENTITIES",
    "CHUNK_TAGS",
    "CONSOLIDATION_SOURCES",
    "COUNTERS",
    "EMBEDDINGS",
    "ENTITIES",
    "ENTITY_CHANGES",
    "LOOP_EVENTS",
    "MENTIONS",
    "METADATA",
    "OUTBOX",
    "POSITIONED_TABLES",
    "PROJECTS",
    "RELATIONSHIPS",
    "RELATIONSHIP_CHANGES",
    "SCENES",
    "STATES",
    "SUMMARIES",
]

POSITIONED_TABLES: tuple[Table, ...] = (CHUNKS, STATES, LOOP_EVENTS, RELATIONSHIP_CHANGES, MENTIONS)
"""Tables whose rows carry a scene's id and a copy of its position."""
