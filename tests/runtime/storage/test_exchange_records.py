"""Nothing that is stored is forgotten by an export."""

import pytest
from pydantic import BaseModel

from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.memory import StoryMemoryChunk
from runtime.storage import models, records
from runtime.storage.records import Row
from runtime.storage.session import table_name

DERIVED = {"row_id", "project_id", "scene_id", "name_key", "alias_key", "content_hash", "term_count", "text_hash"}
"""Numbers, keys and hashes that are made again, and the scene, whose label a document has."""
TOLD_OTHERWISE = {"by_author": "author_aliases", "span_start": "source_span", "span_end": "source_span"}


@pytest.mark.parametrize(
    ("table", "models"),
    [
        (records.EntityRow, [Entity, models.StoredEntity]),
        (records.AliasRow, [EntityAlias, models.StoredEntity, Entity]),
        (records.Scene, [records.Scene]),
        (records.MemoryRow, [StoryMemoryChunk, models.StoredMemory]),
        (records.State, [records.State]),
        (records.LoopEvent, [records.LoopEvent]),
        (records.Knowledge, [records.Knowledge]),
        (records.Pair, [records.Pair]),
        (records.RelationshipChange, [records.RelationshipChange]),
    ],
    ids=lambda value: table_name(value) if isinstance(value, type) else "",
)
def test_every_column_is_exchanged(table: type[Row], models: list[type[BaseModel]]) -> None:
    """A new column needs a place in what is exchanged, else an export would lose it."""
    told = {field for model in models for field in model.model_json_schema(mode="serialization")["properties"]}
    columns = set(table.model_fields) - DERIVED
    assert {TOLD_OTHERWISE.get(name, name) for name in columns} <= told
