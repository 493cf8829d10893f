"""Nothing that is stored is forgotten by an export."""

from __future__ import annotations

import pytest
from pydantic import BaseModel
from sqlalchemy import Table

from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.memory import StoryMemoryChunk
from runtime.storage.records import StoredScene
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
from runtime.storage.transfer import (
    ExchangedEntity,
    ExchangedKnowledge,
    ExchangedLoopEvent,
    ExchangedMemory,
    ExchangedPair,
    ExchangedRelationshipChange,
    ExchangedState,
)

DERIVED = {"row_id", "project_id", "scene_id", "name_key", "alias_key", "content_hash", "term_count", "text_hash"}
"""Numbers, keys and hashes that are made again, and the scene, which goes by its label."""
TOLD_OTHERWISE = {"by_author": "author_aliases", "span_start": "source_span", "span_end": "source_span"}


@pytest.mark.parametrize(
    ("table", "models"),
    [
        (ENTITIES, [Entity, ExchangedEntity]),
        (ALIASES, [EntityAlias, ExchangedEntity, Entity]),
        (SCENES, [StoredScene]),
        (CHUNKS, [StoryMemoryChunk, ExchangedMemory]),
        (STATES, [ExchangedState]),
        (LOOP_EVENTS, [ExchangedLoopEvent]),
        (KNOWLEDGE_EVENTS, [ExchangedKnowledge]),
        (RELATIONSHIPS, [ExchangedPair]),
        (RELATIONSHIP_CHANGES, [ExchangedRelationshipChange]),
    ],
    ids=lambda value: value.name if isinstance(value, Table) else "",
)
def test_every_column_is_exchanged(table: Table, models: list[type[BaseModel]]) -> None:
    """A new column needs a place in the exchanged models, else an export would lose it."""
    told = {field for model in models for field in model.model_fields}
    columns = {column.name for column in table.c} - DERIVED
    assert {TOLD_OTHERWISE.get(name, name) for name in columns} <= told
