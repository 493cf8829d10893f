"""A stranger who turns out to be Mary, with all that can refer to her, and every row of a project as it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, create_engine, text

from novelgen.models.entity import Entity, EntityAlias
from runtime.storage.database import DatabaseManager
from tests.runtime.storage.stories import change, memory, record, scene, store

_COMPARED = (
    "entities",
    "entity_aliases",
    "name_mentions",
    "scenes",
    "memory_chunks",
    "chunk_entities",
    "chunk_tags",
    "state_changes",
    "loop_events",
    "relationships",
    "relationship_changes",
    "knowledge_events",
)


def rows_of(database: DatabaseManager, project_id: str = "demo") -> dict[str, list[str]]:
    """Every row of the project, in an order of their own; a relationship's number means nothing."""
    engine = create_engine(database.url)
    with engine.connect() as connection:
        rows = {table: sorted(_dumped(connection, table, project_id)) for table in _COMPARED}
    engine.dispose()
    return rows


def _dumped(connection: Connection, table: str, project_id: str) -> Iterator[str]:
    statement = text(f"SELECT * FROM {table} WHERE project_id = :project_id")
    for row in connection.execute(statement, {"project_id": project_id}):
        values = dict(row._mapping)
        yield json.dumps(values | ({"row_id": 0} if table == "relationships" else {}), default=str)


def person(entity_id: str, name: str, *aliases: str, **fields: Any) -> Entity:
    return Entity(
        entity_id=entity_id,
        entity_type="character",
        name=name,
        aliases=[EntityAlias(alias=each) for each in aliases],
        **fields,
    )


def fill(database: DatabaseManager) -> None:
    """A stranger (C1) who turns out to be Mary (C0); Tom (C2) knew both."""
    with database.project("demo").write() as unit:
        unit.entities.upsert(person("C0", "Mary", "Miss Grey", description="A nurse"))
        unit.entities.upsert(person("C1", "the stranger", "the veiled lady"), origin="extracted")
        unit.entities.upsert(person("C2", "Tom", profile={"ally": "C1"}))
        unit.entities.upsert(Entity(entity_id="I0", entity_type="item", name="the key"))
    store(
        database,
        scene(
            1,
            1,
            memory(
                "M1", "The veiled lady hid the key.", entities_mentioned=["C1", "I0"], slot_type="C1.secret"
            ),
            participants=["C1", "C2"],
            pov="C1",
            states=[change("C1", "mood", "afraid"), change("I0", "holder", "C1", entity_type="item")],
            mentions=[("C1", "the veiled lady"), ("C2", "Tom")],
            record=record(
                1,
                1,
                characters_present=["C1", "C2"],
                relationship_changes=[
                    {
                        "character_a": "C1",
                        "character_b": "C2",
                        "perspective_a": "she trusts",
                        "perspective_b": "he doubts",
                    }
                ],
                open_loops_created=[
                    {"id": "OL0", "description": "Who is she?", "related_characters": ["C1"]}
                ],
            ),
        ),
        scene(
            1,
            2,
            memory("M2", "Mary met the stranger.", entities_mentioned=["C0", "C1"]),
            participants=["C0", "C1"],
            states=[change("C0", "mood", "curious")],
            mentions=[("C0", "Mary"), ("C1", "the stranger")],
            record=record(
                1,
                2,
                relationship_changes=[
                    {"character_a": "C0", "character_b": "C1", "status": "wary"},
                    {
                        "character_a": "C2",
                        "character_b": "C0",
                        "status": "close",
                        "perspective_a": "he likes her",
                    },
                ],
            ),
        ),
    )
