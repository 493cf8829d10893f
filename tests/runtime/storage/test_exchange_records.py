"""Nothing that is stored is forgotten by an export."""

import pytest
from pydantic import BaseModel
from sqlalchemy import Table

from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.memory import StoryMemoryChunk
from runtime.storage import records, tables

DERIVED = {"row_id", "project_id", "scene_id", "name_key", "alias_key", "content_hash", "term_count", "text_hash"}
"""Numbers, keys and hashes that are made again, and the scene, which goes by its label."""
TOLD_OTHERWISE = {"by_author": "author_aliases", "span_start": "source_span", "span_end": "source_span"}


@pytest.mark.parametrize(
    ("table", "models"),
    [
        (tables.ENTITIES, [Entity, records.StoredEntity]),
        (tables.ALIASES, [EntityAlias, records.StoredEntity, Entity]),
        (tables.SCENES, [records.StoredScene]),
        (tables.CHUNKS, [StoryMemoryChunk, records.StoredMemory]),
        (tables.STATES, [records.StoredState]),
        (tables.LOOP_EVENTS, [records.StoredLoopEvent]),
        (tables.KNOWLEDGE_EVENTS, [records.StoredKnowledge]),
        (tables.RELATIONSHIPS, [records.StoredPair]),
        (tables.RELATIONSHIP_CHANGES, [records.StoredRelationshipChange]),
    ],
    ids=lambda value: value.name if isinstance(value, Table) else "",
)
def test_every_column_is_exchanged(table: Table, models: list[type[BaseModel]]) -> None:
    """A new column needs a place in the exchanged models, else an export would lose it."""
    told = {field for model in models for field in model.model_fields}
    columns = {column.name for column in table.c} - DERIVED
    assert {TOLD_OTHERWISE.get(name, name) for name in columns} <= told
