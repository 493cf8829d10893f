"""What databases of earlier versions hold: the rows that each revision made possible, as its tables have them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, MetaData, Table, insert, select, text

from runtime.storage.lexical import index_tokens, scope_token
from runtime.storage.migrations import runner

MOMENT = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)


@dataclass(frozen=True)
class RowOf:
    """Stands for the number that the database gave to a memory."""

    chunk_id: str


Given = tuple[str, dict[str, Any]]
"""A table and the values of a new row."""


def _memory(chunk_id: str, content: str, scene_id: str | None = "abc", **values: Any) -> Given:
    place = {"abc": (1, 1), "def": (1, 2), None: (None, None)}[scene_id]
    shown: dict[str, Any] = {"chapter_index": place[0], "scene_index": place[1], "content": content}
    defaults: dict[str, Any] = {
        "project_id": "demo",
        "chunk_id": chunk_id,
        "scene_id": scene_id,
        "from_scene": scene_id is not None,
        "content_type": "memory",
        "content_hash": "h",
        "term_count": len(index_tokens(content)),
        "entities_mentioned": [],
        "tags": [],
        "created_at": MOMENT,
        "importance": 5,
        "tier": "regular",
        "source_id": chunk_id,
        "origin": "record",
        "status": "active",
        "pinned": False,
    }
    return "memory_chunks", defaults | shown | values


def _scene(scene_id: str, label: str, number: int, body: str, **values: Any) -> Given:
    defaults: dict[str, Any] = {
        "project_id": "demo",
        "scene_id": scene_id,
        "label": label,
        "chapter_index": 1,
        "scene_index": number,
        "title": "",
        "text": body,
        "text_hash": "x",
        "content_hash": "",
        "created_at": MOMENT,
        "updated_at": MOMENT,
    }
    return "scenes", defaults | values


def _entity(entity_id: str, name: str) -> Given:
    values = {"entity_type": "character", "name": name, "name_key": name, "role": "", "description": ""}
    named = {"project_id": "demo", "entity_id": entity_id, "profile": {}, "origin": "supplied"}
    return "entities", values | named


def _state(scene_id: str, attribute: str, value: Any, **values: Any) -> Given:
    defaults: dict[str, Any] = {
        "project_id": "demo",
        "scene_id": scene_id,
        "chapter_index": 1,
        "scene_index": 1 if scene_id == "abc" else 2,
        "entity_id": "C4",
        "entity_type": "character",
        "attribute": attribute,
        "value": value,
        "kind": "explicit",
        "origin": "record",
        "created_at": MOMENT,
    }
    return "state_changes", defaults | values


_RECORD = {
    "chapter_index": 1,
    "scene_index": 2,
    "state_changes": [{"entity_id": "C4", "changes": {"goals": ["离开"]}, "evidence": "她要离开"}],
}
_LOOP = {
    "category": "mystery",
    "description": "谁拿了剑？",
    "importance": "high",
    "related_characters": ["C4"],
    "related_locations": [],
    "related_items": [],
}

ROWS: dict[str, tuple[Given, ...]] = {
    runner.HEAD: (
        (
            "projects",
            {
                "project_id": "demo",
                "name": "Demo",
                "language": "zh",
                "created_at": MOMENT,
                "embedding_model": "fake:2",
                "embedding_dimension": 2,
                "settings": {},
                "story_revision": 3,
            },
        ),
        _scene("abc", "S007", 1, "旧的场景。"),
        _entity("C4", "黛玉"),
        ("entity_aliases", {"project_id": "demo", "entity_id": "C4", "alias": "颦儿", "alias_key": "颦儿"}),
        _memory("M1", "黛玉藏起了剑。", entities_mentioned=["C4"], tags=["剑"]),
        ("chunk_tags", {"project_id": "demo", "chunk_row_id": RowOf("M1"), "tag": "剑"}),
        ("chunk_entities", {"project_id": "demo", "chunk_row_id": RowOf("M1"), "entity_id": "C4", "kind": "record"}),
        (
            "embeddings",
            {
                "chunk_row_id": RowOf("M1"),
                "model": "fake:2",
                "dimension": 2,
                "content_hash": "h",
                "vector": struct.pack("<2f", 1.0, 0.0),
            },
        ),
        (
            "index_outbox",
            {
                "project_id": "demo",
                "chunk_id": "M1",
                "operation": "upsert",
                "state": "pending",
                "attempts": 0,
                "revision": 1,
            },
        ),
        _memory("N1", "这里没有人会游泳。", None, content_type="note", origin="author", pinned=True),
        _state("abc", "mood", "忧愁"),
        _scene(
            "def",
            "S008",
            2,
            "黛玉说她要离开。",
            participants=["C4", "C5"],
            record=_RECORD,
            record_origin="extracted",
            extraction_status="done",
        ),
        _entity("C5", "袭人"),
        _memory("M2", "剑在袭人那里。", "def", slot_type="I1.holder", supersedes="M1", verified=False),
        _state("def", "goals", ["离开"]),
        (
            "loop_events",
            {
                "project_id": "demo",
                "scene_id": "def",
                "chapter_index": 1,
                "scene_index": 2,
                "loop_id": "OL3",
                "kind": "planted",
                "note": "",
                "detail": _LOOP,
                "origin": "record",
            },
        ),
        ("relationships", {"project_id": "demo", "relationship_id": "R2", "character_a": "C4", "character_b": "C5"}),
        (
            "relationship_changes",
            {
                "project_id": "demo",
                "relationship_id": "R2",
                "scene_id": "def",
                "chapter_index": 1,
                "scene_index": 2,
                "status": "疏远",
                "dimensions": {"trust": -10},
                "event": "",
                "origin": "record",
            },
        ),
        (
            "name_mentions",
            {
                "project_id": "demo",
                "scene_id": "def",
                "entity_id": "C4",
                "name": "黛玉",
                "chapter_index": 1,
                "scene_index": 2,
            },
        ),
        *(
            ("counters", {"project_id": "demo", "kind": kind, "next_number": number})
            for kind, number in {"C": 6, "S": 9, "OL": 4, "R": 3}.items()
        ),
        (
            "changes",
            {
                "project_id": "demo",
                "subject": "entity",
                "kind": "merge",
                "entity_id": "C4",
                "other_id": "C1",
                "created_at": MOMENT,
                "changed_rows": [],
            },
        ),
        _memory("M4", "雨下了一夜。", "abc", attached=["C4"]),
        ("chunk_entities", {"project_id": "demo", "chunk_row_id": RowOf("M4"), "entity_id": "C4", "kind": "manual"}),
        _memory("M5", "灯一直亮着。", "abc", last_accessed_at=MOMENT),
        _state("def", "location", "园中", verified=False),
        _memory("M6", "她在窗下读书。"),
        _memory("M7", "她在灯下读书。"),
        _memory("M8", "她总在读书。", from_scene=False, is_consolidated=True),
        *(
            (
                "consolidation_sources",
                {"project_id": "demo", "source_row_id": RowOf(source), "consolidated_row_id": RowOf("M8")},
            )
            for source in ("M6", "M7")
        ),
        (
            "story_summaries",
            {
                "project_id": "demo",
                "level": "chapter",
                "number": 1,
                "first_chapter": 1,
                "last_chapter": 1,
                "text": "黛玉想要离开。",
                "origin": "author",
                "source_hash": "",
                "written_at": MOMENT,
            },
        ),
        (
            "knowledge_events",
            {
                "project_id": "demo",
                "chapter_index": 1,
                "scene_index": 2,
                "character_id": "C5",
                "source_id": "M1",
                "kind": "knows",
                "how": "told",
                "learned_from": "C4",
                "certainty": 0.5,
                "quote": "",
                "origin": "author",
            },
        ),
        ("entities", {**_entity("T1", "风月")[1], "entity_type": "term", "created_at": MOMENT, "updated_at": MOMENT}),
        _scene("ghi", "S001", 9, "夜。", other_fields={"markdown_file": "scene_009.md"}),
        _state("def", "no_change", None, detail={"summary": "她什么也没说。"}),
        (
            "changes",
            {
                "project_id": "demo",
                "subject": "entity",
                "kind": "delete",
                "entity_id": "OL9",
                "other_id": "旧事",
                "created_at": MOMENT,
                "changed_rows": [],
            },
        ),
        (
            "changes",
            {
                "project_id": "demo",
                "subject": "memory",
                "kind": "pin",
                "entity_id": "M1",
                "other_id": "",
                "created_at": MOMENT,
                "changed_rows": [
                    {
                        "table": "memory_chunks",
                        "key": {"chunk_id": "M1"},
                        "before": {"pinned": False},
                        "after": {"pinned": True},
                    }
                ],
            },
        ),
    )
}
"""By revision; a revision that needs no rows of its own is not named."""


def fill(connection: Connection, revisions: list[str]) -> None:
    """Insert the rows of revisions, the earliest first, into a schema that stands at the last of them."""
    tables = MetaData()
    for name, given in _rows_of(revisions):
        table = Table(name, tables, autoload_with=connection)
        values = {column: _number(connection, tables, value) for column, value in given.items()}
        connection.execute(insert(table).values(values))
        if name == "memory_chunks":
            _index_words(connection, _number(connection, tables, RowOf(given["chunk_id"])), given["content"])


def _rows_of(revisions: list[str]) -> Iterator[Given]:
    for revision in revisions:
        yield from ROWS.get(revision, ())


def _number(connection: Connection, tables: MetaData, value: Any) -> Any:
    if not isinstance(value, RowOf):
        return value
    chunks = Table("memory_chunks", tables, autoload_with=connection)
    return connection.scalar(select(chunks.c.row_id).where(chunks.c.chunk_id == value.chunk_id))


def _index_words(connection: Connection, row_id: int, content: str) -> None:
    statement = (
        "INSERT INTO memory_terms(rowid, scope, terms) VALUES (:row_id, :scope, :terms)"
        if connection.dialect.name == "sqlite"
        else "INSERT INTO memory_terms(chunk_row_id, terms) VALUES"
        " (:row_id, array_to_tsvector(ARRAY[CAST(:scope AS text)]) || to_tsvector('simple', :terms))"
    )
    words = {"scope": scope_token(1), "terms": " ".join(index_tokens(content))}
    connection.execute(text(statement), {"row_id": row_id, **words})
