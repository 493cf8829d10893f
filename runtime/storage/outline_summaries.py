"""Summaries of chapters and parts before a position, as an outline tells them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import func, select

from novelgen.memory.outline import ChapterSummary, OutlineScene, PartSummary
from novelgen.models.position import END_OF_STORY, StoryPosition
from novelgen.models.user_file import StoryPart
from novelgen.records.summaries import (
    CHAPTERS_PER_PART,
    RECENT_CHAPTERS,
    NumberedPart,
    chapter_summaries,
    finished_parts,
    part_summaries,
    story_parts,
)
from runtime.storage.cuts import before
from runtime.storage.memory_cuts import brought
from runtime.storage.session import StorageSession
from runtime.storage.summaries import SummaryRepository
from runtime.storage.tables import CHUNKS, PROJECTS, SCENES

MAX_CHAPTERS = 12
"""Of a part that is not over at most so many chapters are summed up, the last ones."""

RECENT_PARTS = 3
"""How many of the last parts that are over are summed up."""


class StorySummaries(NamedTuple):
    """Summaries at a position, oldest first."""

    chapters: list[ChapterSummary]
    parts: list[PartSummary]


def read_summaries(
    session: StorageSession,
    project_id: str,
    as_of: StoryPosition,
    *,
    chapters_per_part: int = CHAPTERS_PER_PART,
    is_whole_story: bool = False,
) -> StorySummaries:
    """Sum up what is over at a position.

    Args:
        session: A session.
        project_id: The project.
        as_of: Position of the read.
        chapters_per_part: Length of a part where the author has said none.
        is_whole_story: All chapters and parts, instead of the last ones, which a context has room for.
    """
    known = _chapters_with_scenes(session, project_id, as_of)
    last_chapter = max(known, default=-1)
    parts = read_parts(session, project_id, last_chapter=last_chapter, chapters_per_part=chapters_per_part)
    finished = finished_parts(parts, as_of=as_of, last_chapter=last_chapter)
    told_parts = finished if is_whole_story else finished[-RECENT_PARTS:]
    told_chapters = known if is_whole_story else _chapters_to_tell(known, finished)
    in_parts = {chapter for part in told_parts for chapter in known if part.holds(chapter)}
    scenes = _scenes(session, project_id, in_parts.union(told_chapters))
    written = SummaryRepository(session).used(project_id, parts, as_of=as_of)
    return StorySummaries(
        chapters=chapter_summaries(
            [scene for scene in scenes if scene.chapter_index in told_chapters],
            as_of=as_of,
            written=written["chapter"],
        ),
        parts=part_summaries(
            told_parts,
            scenes,
            as_of=as_of,
            written=written["part"],
            weights=_weights(session, project_id, in_parts),
        ),
    )


def read_parts(
    session: StorageSession, project_id: str, *, last_chapter: int, chapters_per_part: int = CHAPTERS_PER_PART
) -> list[NumberedPart]:
    """Return the parts that begin up to a chapter: those that the author said, else of a fixed length."""
    settings = session.connection.scalar(
        select(PROJECTS.c.settings).where(PROJECTS.c.project_id == project_id)
    )
    stated = [StoryPart.model_validate(part) for part in (settings or {}).get("parts", ())]
    return story_parts(stated, last_chapter=last_chapter, chapters_per_part=chapters_per_part)


def _chapters_with_scenes(session: StorageSession, project_id: str, as_of: StoryPosition) -> list[int]:
    """The chapters that are over and have a scene, in order."""
    over = before(StoryPosition(as_of.chapter_index), SCENES)
    statement = (
        select(SCENES.c.chapter_index)
        .distinct()
        .where(SCENES.c.project_id == project_id, over)
        .order_by(SCENES.c.chapter_index)
    )
    return [row[0] for row in session.rows(statement)]


def _chapters_to_tell(known: list[int], finished: list[NumberedPart]) -> list[int]:
    """The chapters of the part that is not over, and the last ones whatever part they are in."""
    recent = known[-MAX_CHAPTERS:]
    return [
        chapter
        for chapter in recent
        if chapter in known[-RECENT_CHAPTERS:] or not any(part.holds(chapter) for part in finished)
    ]


def _scenes(session: StorageSession, project_id: str, chapters: Iterable[int]) -> list[OutlineScene]:
    # Whole records are long, and this is read for every context.
    told = (SCENES.c.record["key_events"], SCENES.c.record["summary"])
    statement = (
        select(SCENES.c.chapter_index, SCENES.c.scene_index, *told)
        .where(SCENES.c.project_id == project_id, SCENES.c.chapter_index.in_(sorted(chapters)))
        .order_by(SCENES.c.chapter_index, SCENES.c.scene_index)
    )
    return [_outline_scene(row) for row in session.rows(statement)]


def _outline_scene(row: Any) -> OutlineScene:
    return OutlineScene(row[0], row[1], key_events=row[2] or (), summary=row[3] or ())


def _weights(
    session: StorageSession, project_id: str, chapters: Iterable[int]
) -> dict[tuple[int, int], float]:
    """The greatest importance of what each scene brought; a consolidated memory tells of other scenes, too."""
    statement = (
        select(CHUNKS.c.chapter_index, CHUNKS.c.scene_index, func.max(CHUNKS.c.importance))
        .where(
            CHUNKS.c.project_id == project_id,
            CHUNKS.c.content_type == "memory",
            CHUNKS.c.status == "active",
            brought(project_id, END_OF_STORY),
            CHUNKS.c.scene_index.is_not(None),
            CHUNKS.c.chapter_index.in_(sorted(chapters)),
        )
        .group_by(CHUNKS.c.chapter_index, CHUNKS.c.scene_index)
    )
    return {(row[0], row[1]): float(row[2] or 0) for row in session.rows(statement)}
