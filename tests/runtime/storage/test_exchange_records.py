"""Nothing that is stored is forgotten by an export."""

import pytest
from pydantic import BaseModel
from sqlalchemy import Table

from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.memory import StoryMemoryChunk
from runtime.storage.records import (
    StoredEntity,
    StoredKnowledge,
    StoredLoopEvent,
    StoredMemory,
    StoredPair,
    StoredRelationshipChange,
    StoredScene,
    StoredState,
)
from runtime.storage.tables import (
    ALIASES,
    CHUNKS,
    ENTITIES,
    KNOWLEDGE_EVENTS,
    LOOP_EVENTS,
    RELATIONSHIP_CHANGES,
    RELATIONSHIPS,
    SCENES,
    STATES,
)

DERIVED = {"row_id", "project_id", "scene_id", "name_key", "alias_key", "content_hash", "term_count", "text_hash"}
"""Numbers, keys and hashes that are made again, and the scene, which goes by its label."""
TOLD_OTHERWISE = {"by_author": "author_aliases", "span_start": "source_span", "span_end": "source_span"}


@pytest.mark.parametrize(
    ("table", "models"),
    [
        (ENTITIES, [Entity, StoredEntity]),
        (ALIASES, [EntityAlias, StoredEntity, Entity]),
        (SCENES, [StoredScene]),
        (CHUNKS, [StoryMemoryChunk, StoredMemory]),
        (STATES, [StoredState]),
        (LOOP_EVENTS, [StoredLoopEvent]),
        (KNOWLEDGE_EVENTS, [StoredKnowledge]),
        (RELATIONSHIPS, [StoredPair]),
        (RELATIONSHIP_CHANGES, [StoredRelationshipChange]),
    ],
    ids=lambda value: value.name if isinstance(value, Table) else "",
)
def test_every_column_is_exchanged(table: Table, models: list[type[BaseModel]]) -> None:
    """A new column needs a place in the exchanged models, else an export would lose it."""
    told = {field for model in models for field in model.model_fields}
    columns = {column.name for column in table.c} - DERIVED
    assert {TOLD_OTHERWISE.get(name, name) for name in columns} <= told
