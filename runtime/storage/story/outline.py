"""The outline of a story before a position, and the fingerprint of all that is stored before it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from sqlalchemy import Text, cast, func, literal, select, text

from novelgen.language.extractive import gist, salient_sentences
from novelgen.memory.outline import OutlineScene, StoryOutline, StoryRecap
from novelgen.memory.summaries import CHAPTERS_PER_PART
from novelgen.models.entity import Entity
from novelgen.models.folds import last_changed_first
from novelgen.models.memory import DISTILLED_TYPES
from novelgen.models.position import StoryPosition
from runtime.storage.cuts import before, filter_conditions, order_in_force, story_order
from runtime.storage.entity.entities import EntityRepository
from runtime.storage.memory.consolidations import ConsolidationRepository
from runtime.storage.records import MemoryFilter
from runtime.storage.session import StorageSession
from runtime.storage.story.relationships import RelationshipRepository
from runtime.storage.story.states import holders_as_of
from runtime.storage.story.summaries import read_summaries, stored_summaries
from runtime.storage.story.threads import ThreadRepository
from runtime.storage.tables import (
    CHUNK_TAGS,
    CHUNKS,
    KNOWLEDGE_EVENTS,
    LOOP_EVENTS,
    PROJECTS,
    RELATIONSHIP_CHANGES,
    SCENES,
    STATES,
    TOUCHED_BY_HAND,
)


def story_version(session: StorageSession, as_of: StoryPosition, *, entities: Sequence[Entity]) -> str:
    """Return a mark that changes exactly when what is stored before the position changes.

    It covers the scenes by their content hashes, what authors noted, edited, attached, pinned, banned and
    deleted, which memories are consolidated, and the entities as of the position. Row ids and moments of writing
    do not count: the same story stored twice has the same mark.
    """
    digest = sha256(_scenes_as_json(session, as_of).encode())
    digest.update(b"\x00")
    for section in (
        _author_memories(session, as_of),
        *(_author_events(session, as_of)),
        [entity.model_dump(mode="json") for entity in entities],
        *_summaries(session, as_of),
        # Nothing where nothing is consolidated, so that marks of before stay true.
        *_consolidated(session, as_of),
    ):
        digest.update(json.dumps(section, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        digest.update(b"\x00")
    return digest.hexdigest()[:32]


def _scenes_as_json(session: StorageSession, as_of: StoryPosition) -> str:
    """Return [chapter, scene, content hash] of all scenes, as `json.dumps` writes them in story order.

    A long story has ten thousand of them: the database writes the text, hashes need no escaping.
    """
    wanted = (
        select(SCENES.c.chapter_index, SCENES.c.scene_index, SCENES.c.content_hash)
        .where(session.owns(SCENES), before(as_of, SCENES))
        .order_by(*story_order(SCENES))
        .subquery()
    )
    chapter, scene, content_hash = (cast(column, Text) for column in wanted.c)
    one = literal("[") + chapter + ", " + scene + ', "' + content_hash + '"]'
    joined = session.connection.scalar(select(func.aggregate_strings(one, ", ")).select_from(wanted))
    return f"[{joined or ''}]"


def _summaries(session: StorageSession, as_of: StoryPosition) -> list[list[Any]]:
    """What was written of chapters and parts that are over; no section where there is nothing."""
    stored = stored_summaries(session, as_of)
    said = [each.model_dump(mode="json", exclude={"written_at"}) for each in stored]
    settings = session.connection.scalar(select(PROJECTS.c.settings).where(session.owns(PROJECTS)))
    told = (settings or {}).get("parts", ())
    parts = [part for part in told if as_of.admits(part["last_chapter"], None)]
    return [section for section in (said, parts) if section]


def _author_memories(session: StorageSession, as_of: StoryPosition) -> list[list[Any]]:
    columns = (
        CHUNKS.c.chunk_id,
        CHUNKS.c.chapter_index,
        CHUNKS.c.scene_index,
        CHUNKS.c.content_hash,
        CHUNKS.c.importance,
        CHUNKS.c.entities_mentioned,
        CHUNKS.c.attached,
        CHUNKS.c.detached,
        CHUNKS.c.tags,
        CHUNKS.c.status,
        CHUNKS.c.pinned,
    )
    statement = (
        select(*columns)
        .where(session.owns(CHUNKS), text(f"({TOUCHED_BY_HAND})"), before(as_of, CHUNKS))
        .order_by(CHUNKS.c.chunk_id)
    )
    return [list(row) for row in session.rows(statement)]


def _consolidated(session: StorageSession, as_of: StoryPosition) -> list[list[Any]]:
    found = ConsolidationRepository(session).list_all()
    listed = [
        [each.chunk.chunk_id, each.chunk.chapter_index, each.chunk.scene_index, each.chunk.content]
        for each in found
        if as_of.admits(each.chunk.chapter_index, each.chunk.scene_index)
    ]
    return [listed] if listed else []


def _author_events(session: StorageSession, as_of: StoryPosition) -> list[list[dict[str, Any]]]:
    # An author's event has no quote: where quotes stand says nothing about it.
    left_out = ("row_id", "scene_id", "created_at", "verified", "span_start", "span_end")
    sections = []
    for table in (STATES, LOOP_EVENTS, RELATIONSHIP_CHANGES, KNOWLEDGE_EVENTS):
        statement = (
            select(*(column for column in table.c if column.name not in left_out))
            .where(session.owns(table), table.c.origin == "author", before(as_of, table))
            .order_by(*story_order(table), table.c.row_id)
        )
        sections.append([dict(row._mapping) for row in session.rows(statement)])
    # Nothing where the author says nothing of who knows what, so that marks of before stay true.
    return sections if sections[-1] else sections[:-1]


RECENT_RECORDS = 6
"""Of so many last scenes it is read what they tell; of the others only place and participants."""

TOLD_SENTENCES = 2
"""A scene without a summary tells of itself in so many sentences of its text."""


def read_outline(
    session: StorageSession, as_of: StoryPosition, *, chapters_per_part: int = CHAPTERS_PER_PART
) -> StoryOutline:
    """Return entities, scenes, threads, relationships, summaries and holders strictly before a position."""
    summaries = read_summaries(session, as_of, chapters_per_part=chapters_per_part)
    language = session.connection.scalar(select(PROJECTS.c.language).where(session.owns(PROJECTS)))
    entities = EntityRepository(session).list_as_of(as_of=as_of)
    return StoryOutline(
        project_id=session.project_id,
        language=language or "",
        entities=entities,
        scenes=_scenes(session, as_of),
        open_loops=ThreadRepository(session).list_as_of(as_of=as_of),
        relationships=RelationshipRepository(session).list_as_of(as_of=as_of),
        part_summaries=summaries.parts,
        chapter_summaries=summaries.chapters,
        holders=holders_as_of(session, as_of),
        stated_ids=_stated_ids(session, as_of),
        story_version=story_version(session, as_of, entities=entities),
    )


def _scenes(session: StorageSession, as_of: StoryPosition) -> list[OutlineScene]:
    here = (session.owns(SCENES), before(as_of, SCENES))
    columns = (SCENES.c.chapter_index, SCENES.c.scene_index)
    latest = (columns[0].desc(), columns[1].desc())
    lately = select(*columns, SCENES.c.record, SCENES.c.text).where(*here).order_by(*latest).limit(RECENT_RECORDS)
    told = {(row[0], row[1]): _told(row[2] or {}, row[3]) for row in session.rows(lately)}
    # Thousands of scenes are read for every context: their participants are decoded all at once.
    rows = session.rows(
        select(
            *columns,
            SCENES.c.title,
            SCENES.c.location_id,
            cast(SCENES.c.participants, Text),
            SCENES.c.record_origin == "rules",
        )
        .where(*here)
        .order_by(*story_order(SCENES))
    )
    participants = json.loads(f"[{','.join(row[4] for row in rows)}]")
    return [
        _outline_scene(row, tuple(present), told.get((row[0], row[1])), is_guessed=bool(row[5]))
        for row, present in zip(rows, participants, strict=True)
    ]


def _told(record: dict[str, Any], text: str) -> dict[str, Any]:
    """Return a record that tells its scene, else the weightiest sentences of the text, whole, in place of a summary."""
    if record.get("summary") or record.get("key_events"):
        return record
    found = sorted(salient_sentences(text, (), limit=TOLD_SENTENCES), key=lambda each: each.start)
    return {"summary": [text[each.start : each.end].strip() for each in found]}


def _outline_scene(
    row: Any, participants: Sequence[str], record: dict[str, Any] | None, *, is_guessed: bool = False
) -> OutlineScene:
    told = record or {}
    events, bullets = tuple(told.get("key_events", ())), tuple(told.get("summary", ()))
    return OutlineScene(row[0], row[1], row[2], row[3], participants, events, bullets, is_guessed)


def _stated_ids(session: StorageSession, as_of: StoryPosition) -> list[str]:
    rows = session.rows(
        select(STATES.c.entity_id)
        .where(session.owns(STATES), STATES.c.kind == "explicit", before(as_of, STATES))
        .order_by(*order_in_force(STATES))
    )
    return last_changed_first([row[0] for row in rows])


MAX_RECALLED_TAGS = 30


def read_recap(session: StorageSession, as_of: StoryPosition, *, last_scenes: int) -> StoryRecap:
    """Return the last scenes before a position in a few words, and the kinds and tags of what is stored there."""
    latest = (SCENES.c.chapter_index.desc(), SCENES.c.scene_index.desc())
    rows = session.rows(
        select(SCENES).where(session.owns(SCENES), before(as_of, SCENES)).order_by(*latest).limit(max(0, last_scenes))
    )
    kinds = session.rows(
        select(CHUNKS.c.content_type)
        .where(*filter_conditions(session.project_id, MemoryFilter(as_of=as_of)))
        .group_by(CHUNKS.c.content_type)
        .order_by(func.count().desc(), CHUNKS.c.content_type)
    )
    distilled = MemoryFilter(as_of=as_of, content_types=list(DISTILLED_TYPES))
    tags = session.rows(
        select(CHUNK_TAGS.c.tag)
        .join(CHUNKS, CHUNKS.c.row_id == CHUNK_TAGS.c.chunk_row_id)
        .where(*filter_conditions(session.project_id, distilled))
        .group_by(CHUNK_TAGS.c.tag)
        .order_by(func.count().desc(), CHUNK_TAGS.c.tag)
        .limit(MAX_RECALLED_TAGS)
    )
    return StoryRecap(
        scenes=[_recalled_scene(row) for row in reversed(rows)],
        content_types=[row[0] for row in kinds],
        tags=[row[0] for row in tags],
    )


def _recalled_scene(row: Any) -> OutlineScene:
    place = (row.chapter_index, row.scene_index, row.title, row.location_id)
    scene = _outline_scene(place, tuple(row.participants), row.record)
    if scene.summary or scene.key_events:
        return scene
    told = gist(row.text)
    return replace(scene, summary=(told,)) if told else scene
