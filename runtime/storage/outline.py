"""What the story has shown before a position, read in few queries."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Text, cast, select

from novelgen.memory.outline import OutlineScene, StoryOutline
from novelgen.models.folds import HOLDER_ATTRIBUTE, fold_holders, last_changed_first
from novelgen.models.position import StoryPosition
from novelgen.records.summaries import CHAPTERS_PER_PART
from runtime.storage.cuts import before, order_in_force, story_order
from runtime.storage.entities import EntityRepository
from runtime.storage.loops import LoopRepository
from runtime.storage.outline_summaries import read_summaries
from runtime.storage.relationships import RelationshipRepository
from runtime.storage.session import StorageSession
from runtime.storage.story_version import story_version
from runtime.storage.tables import PROJECTS, SCENES, STATES

RECENT_RECORDS = 3
"""Of so many last scenes the key events and summaries are read; of the others only place and participants."""


def read_outline(
    session: StorageSession,
    project_id: str,
    as_of: StoryPosition,
    *,
    chapters_per_part: int = CHAPTERS_PER_PART,
) -> StoryOutline:
    """Return entities, scenes, threads, relationships, summaries and holders strictly before a position."""
    summaries = read_summaries(session, project_id, as_of, chapters_per_part=chapters_per_part)
    language = session.connection.scalar(
        select(PROJECTS.c.language).where(PROJECTS.c.project_id == project_id)
    )
    entities = EntityRepository(session).list_as_of(project_id, as_of=as_of)
    return StoryOutline(
        project_id=project_id,
        language=language or "",
        entities=entities,
        scenes=_scenes(session, project_id, as_of),
        open_loops=LoopRepository(session).list_as_of(project_id, as_of=as_of),
        relationships=RelationshipRepository(session).list_as_of(project_id, as_of=as_of),
        part_summaries=summaries.parts,
        chapter_summaries=summaries.chapters,
        holders=_holders(session, project_id, as_of),
        stated_ids=_stated_ids(session, project_id, as_of),
        story_version=story_version(session, project_id, as_of, entities=entities),
    )


def _scenes(session: StorageSession, project_id: str, as_of: StoryPosition) -> list[OutlineScene]:
    here = (SCENES.c.project_id == project_id, before(as_of, SCENES))
    columns = (SCENES.c.chapter_index, SCENES.c.scene_index)
    latest = (columns[0].desc(), columns[1].desc())
    told = {
        (row[0], row[1]): row[2]
        for row in session.rows(
            select(*columns, SCENES.c.record).where(*here).order_by(*latest).limit(RECENT_RECORDS)
        )
    }
    # Thousands of scenes are read for every context: their participants are decoded all at once.
    rows = session.rows(
        select(*columns, SCENES.c.title, SCENES.c.location_id, cast(SCENES.c.participants, Text))
        .where(*here)
        .order_by(*story_order(SCENES))
    )
    participants = json.loads(f"[{','.join(row[4] for row in rows)}]")
    return [
        _outline_scene(row, tuple(present), told.get((row[0], row[1])))
        for row, present in zip(rows, participants, strict=True)
    ]


def _outline_scene(row: Any, participants: Sequence[str], record: dict[str, Any] | None) -> OutlineScene:
    if not record:
        return OutlineScene(row[0], row[1], row[2], row[3], participants)
    events, bullets = record.get("key_events", ()), record.get("summary", ())
    return OutlineScene(row[0], row[1], row[2], row[3], participants, tuple(events), tuple(bullets))


def _holders(session: StorageSession, project_id: str, as_of: StoryPosition) -> dict[str, list[str]]:
    """Who holds what: the last stated `holder` of each item."""
    rows = session.rows(
        select(STATES.c.entity_id, STATES.c.value)
        .where(
            STATES.c.project_id == project_id,
            STATES.c.attribute == HOLDER_ATTRIBUTE,
            STATES.c.kind == "explicit",
            before(as_of, STATES),
        )
        .order_by(*order_in_force(STATES))
    )
    return fold_holders((row[0], row[1]) for row in rows)


def _stated_ids(session: StorageSession, project_id: str, as_of: StoryPosition) -> list[str]:
    rows = session.rows(
        select(STATES.c.entity_id)
        .where(STATES.c.project_id == project_id, STATES.c.kind == "explicit", before(as_of, STATES))
        .order_by(*order_in_force(STATES))
    )
    return last_changed_first([row[0] for row in rows])
