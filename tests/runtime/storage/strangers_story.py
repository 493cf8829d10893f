"""A stranger who turns out to be Mary, with all that can refer to her, and every row of a project as it stands."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sqlalchemy import Connection, create_engine, text

from novelgen.characters.memory import CharacterMemory
from novelgen.characters.secrets import Secret
from novelgen.models.entity import Entity, EntityAlias
from novelgen.models.knowledge import ALL_LIVED
from novelgen.models.position import StoryPosition
from runtime.storage.characters import MemoryVector
from runtime.storage.database import DatabaseManager
from runtime.storage.records import Disclosure, FeltChange, FlagChange, Knowledge
from tests.runtime.storage.stories import change, memory, record, scene, store

MINDS = ("knowledge_events", "character_memories", "disposition_changes", "character_secrets", "character_disclosures")
"""Tables of what characters know, remember, feel, hide and told."""

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
    *MINDS,
)
_BOOKKEEPING = {"relationships": ("row_id",), "character_memories": ("changed",)}
"""Columns that may differ though nothing else does: a number, and the mark of when a row was written."""


def rows_of(database: DatabaseManager, project_id: str = "demo") -> dict[str, list[str]]:
    """Every row of the project, in an order of their own, without what is bookkeeping."""
    engine = create_engine(database.url)
    with engine.connect() as connection:
        rows = {table: sorted(_dumped(connection, table, project_id)) for table in _COMPARED}
    engine.dispose()
    return rows


def _dumped(connection: Connection, table: str, project_id: str) -> Iterator[str]:
    statement = text(f"SELECT * FROM {table} WHERE project_id = :project_id")
    for row in connection.execute(statement, {"project_id": project_id}):
        values = dict(row._mapping) | dict.fromkeys(_BOOKKEEPING.get(table, ()), 0)
        yield json.dumps(values, default=str)


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
            memory("M1", "The veiled lady hid the key.", entities_mentioned=["C1", "I0"], slot_type="C1.secret"),
            knowledge=[Knowledge(character_id="C1", source_id="M1", how="own_doing")],
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
                open_loops_created=[{"id": "OL0", "description": "Who is she?", "related_characters": ["C1"]}],
            ),
        ),
        scene(
            1,
            2,
            memory("M2", "Mary met the stranger.", entities_mentioned=["C0", "C1"]),
            participants=["C0", "C1"],
            knowledge=[
                Knowledge(
                    character_id="C0",
                    source_id="M1",
                    how="told",
                    learned_from="C1",
                    certainty=0.5,
                    quote="Text of",
                    source_span=(0, 7),
                ),
                Knowledge(character_id="C2", source_id=ALL_LIVED, how="told", learned_from="C1"),
            ],
            states=[change("C0", "mood", "curious")],
            mentions=[("C0", "Mary"), ("C1", "the stranger")],
            record=record(
                1,
                2,
                relationship_changes=[
                    {"character_a": "C0", "character_b": "C1", "status": "wary"},
                    {"character_a": "C2", "character_b": "C0", "status": "close", "perspective_a": "he likes her"},
                ],
            ),
        ),
    )
    _fill_minds(database)


def fill_every_table(database: DatabaseManager) -> None:
    """Store the story with what every other table of the database holds."""
    fill(database)
    store(database, scene(2, 1, *(memory(name, f"{name}: 黛玉藏起了剑。", tags=["剑"]) for name in ("M3", "M4"))))
    with database.project("demo").write() as unit:
        sources = [unit.memories.require(name).chunk for name in ("M3", "M4")]
        assert unit.consolidations.add(memory("M5", "黛玉藏剑。"), sources)
        unit.memories.add_note("Tom never lies.", at=StoryPosition(1, 2), entities=["C2"], tags=["key:Tom"])
        unit.embeddings.put("m", {"M1": [0.5, -1.0]})
        unit.counters.jump_over(["CM3"])
        unit.summaries.write("chapter", 1, "Mary meets a stranger.", chapters=(1, 1), origin="author")
        unit.play.set_flag(FlagChange(name="bridge", value={"burnt": [1, None]}, happened_at=WHEN))
        unit.character_file.note([("C0", "Miss Grey")])
        unit.projects.update(settings={"parts": [{"title": "卷一", "first_chapter": 1, "last_chapter": 1}]})


WHEN = datetime(2031, 3, 1, tzinfo=UTC)


def remembered(memory_id: str, character_id: str = "C0", **fields: Any) -> CharacterMemory:
    """A memory that a character has had for long."""
    given: dict[str, Any] = {
        "memory_id": memory_id,
        "character_id": character_id,
        "content": f"Memory {memory_id}.",
        "event_id": memory_id,
        "happened_at": WHEN,
        "known_at": WHEN,
        "created_at": WHEN,
    }
    return CharacterMemory(**{**given, **fields})


def _fill_minds(database: DatabaseManager) -> None:
    """What the stranger and Tom remember, feel, hide and told of each other and of Mary."""
    vector = MemoryVector("m", np.array([0.5, -1.0], np.float32))
    hers = remembered("CM0", "C1", participants=["C2"], session=1, turn=2, slot="place_of_key")
    told = remembered("CM2", "C2", participants=["C1"], how="told", heard_from="C1", slot="mood:C1")
    with database.project("demo").write() as unit:
        unit.characters.change("remember", "C1", new_memories=[hers], vectors={"CM0": vector})
        unit.characters.change("remember", "C2", new_memories=[told, remembered("CM3", "C2")])
        corrected = told.model_copy(update={"participants": ["C0", "C1"], "content": "He was told."})
        unit.characters.change("edit", "C2", changed=[(told, corrected)])
        for character_id, other_id in (("C1", "C2"), ("C2", "C1"), ("C2", "C0")):
            felt = FeltChange(
                character_id=character_id,
                other_id=other_id,
                event_type="gift_given",
                deltas={"trust": 5},
                memory_id="CM0",
                happened_at=WHEN,
            )
            unit.play.add_disposition(felt)
            shown = Disclosure(
                character_id=character_id, other_id=other_id, kind="shown", subject="key", happened_at=WHEN
            )
            unit.play.disclose(shown)
        for character_id in ("C1", "C2"):
            unit.play.keep_secret(character_id, Secret(secret_id="name", text=f"Born as {character_id}."))
