"""Moving scenes with everything that came from them, in one transaction."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Column, Table, bindparam, or_, select

from runtime.storage.chunk_writer import ChunkWriter
from runtime.storage.scene_order import Relocation, ScenePlace
from runtime.storage.session import StorageSession
from runtime.storage.summaries import move_summaries
from runtime.storage.tables import (
    ALIASES,
    CHUNKS,
    ENTITIES,
    LOOP_EVENTS,
    POSITIONED_TABLES,
    RELATIONSHIP_CHANGES,
    SCENES,
    STATES,
)

_ASIDE = 10_000_000
"""Added to chapters on the way, so that no two scenes ever stand at one place; above every chapter index."""

_FREE_PLACES: tuple[tuple[Table, str, str], ...] = (
    (CHUNKS, "chapter_index", "scene_index"),
    (STATES, "chapter_index", "scene_index"),
    (LOOP_EVENTS, "chapter_index", "scene_index"),
    (RELATIONSHIP_CHANGES, "chapter_index", "scene_index"),
    (ENTITIES, "first_chapter", "first_scene"),
    (ENTITIES, "name_first_chapter", "name_first_scene"),
    (ALIASES, "first_chapter", "first_scene"),
)
"""Positions that somebody wrote down, apart from any scene's row: they follow the scene that stands there."""

_BULLET = re.compile(r"(\d+):(\d+):(summary|key_events):(\d+)")


def scene_places(session: StorageSession) -> dict[ScenePlace, str]:
    """Return the places of all scenes with their ids."""
    statement = select(SCENES.c.chapter_index, SCENES.c.scene_index, SCENES.c.scene_id).where(
        session.owns(SCENES)
    )
    return {(row[0], row[1]): row[2] for row in session.rows(statement)}


def relocate(session: StorageSession, relocation: Relocation) -> int:
    """Move scenes and whatever has their positions; the index is told of the chunks that moved.

    The source_ids of summary bullets name their scene's position, so they are renamed with it, and so are
    `supersedes` that refer to them; all other source_ids stay.

    Args:
        session: A writing session.
        relocation: Old places to new ones; the new ones are distinct and free once all have moved.

    Returns:
        How many scenes moved.
    """
    scene_ids = scene_places(session)
    _move_free_places(session, relocation)
    if not relocation.places:
        return 0
    move_summaries(session, relocation.places)
    moves = [(scene_ids[old], new) for old, new in relocation.places.items()]
    _move_rows(session, SCENES, moves, aside=_ASIDE)
    for table in (SCENES, *POSITIONED_TABLES):
        _move_rows(session, table, moves, aside=0)
    _rename_bullets(session, relocation.places)
    ChunkWriter(session).reposition([scene_id for scene_id, _ in moves])
    return len(moves)


def _move_rows(
    session: StorageSession, table: Table, moves: Sequence[tuple[str, ScenePlace]], *, aside: int
) -> None:
    statement = (
        table.update()
        .where(table.c.scene_id == bindparam("moved_scene"))
        .values(chapter_index=bindparam("new_chapter"), scene_index=bindparam("new_scene"))
    )
    rows = [
        {"moved_scene": scene_id, "new_chapter": new[0] + aside, "new_scene": new[1]}
        for scene_id, new in moves
    ]
    session.run(statement, rows)


def _move_free_places(session: StorageSession, relocation: Relocation) -> None:
    for table, chapter_name, scene_name in _FREE_PLACES:
        chapter, scene = table.c[chapter_name], table.c[scene_name]
        placed = select(table.c.row_id, chapter, scene).where(session.owns(table), chapter.is_not(None))
        if "scene_id" in table.c:
            placed = placed.where(table.c.scene_id.is_(None))
        moved = [
            {"moved_row": row_id, "new_chapter": new[0], "new_scene": new[1]}
            for row_id, old_chapter, old_scene in session.rows(placed)
            if (new := relocation.of(old_chapter, old_scene)) != (old_chapter, old_scene)
        ]
        if moved:
            session.run(_place_update(table, chapter, scene), moved)


def _place_update(table: Table, chapter: Column[Any], scene: Column[Any]) -> Any:
    return (
        table.update()
        .where(table.c.row_id == bindparam("moved_row"))
        .values({chapter: bindparam("new_chapter"), scene: bindparam("new_scene")})
    )


def _rename_bullets(session: StorageSession, places: Mapping[ScenePlace, ScenePlace]) -> None:
    named = select(CHUNKS.c.row_id, CHUNKS.c.source_id, CHUNKS.c.supersedes).where(
        session.owns(CHUNKS),
        or_(CHUNKS.c.source_id.contains(":"), CHUNKS.c.supersedes.contains(":")),
    )
    renamed = [
        {"moved_row": row_id, "new_source": new[0], "new_supersedes": new[1]}
        for row_id, source_id, supersedes in session.rows(named)
        if (new := (_renamed(source_id, places), _renamed(supersedes, places))) != (source_id, supersedes)
    ]
    if renamed:
        statement = (
            CHUNKS.update()
            .where(CHUNKS.c.row_id == bindparam("moved_row"))
            .values(source_id=bindparam("new_source"), supersedes=bindparam("new_supersedes"))
        )
        session.run(statement, renamed)


def _renamed(source_id: str | None, places: Mapping[ScenePlace, ScenePlace]) -> str | None:
    match = _BULLET.fullmatch(source_id or "")
    if match is None or (int(match[1]), int(match[2])) not in places:
        return source_id
    chapter, scene = places[int(match[1]), int(match[2])]
    return f"{chapter}:{scene}:{match[3]}:{match[4]}"
