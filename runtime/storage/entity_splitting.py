"""Which scenes a split moves whole, and what moves in the scenes that name both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import and_, select

from novelgen.names.matching import NameFinder
from runtime.storage.entity_relinking import relink_memory
from runtime.storage.lexical_index import searchable_text
from runtime.storage.outbox import OutboxRepository
from runtime.storage.session import StorageSession
from runtime.storage.tables import CHUNK_ENTITIES, CHUNKS, MENTIONS, SCENES


@dataclass(frozen=True, slots=True)
class SplitScenes:
    """Scene ids: `whole` move with everything, `mixed` name both and are judged memory by memory."""

    whole: frozenset[str]
    mixed: frozenset[str]


def split_scenes(
    session: StorageSession, entity_id: str, moved: Collection[str], listed: Collection[str]
) -> SplitScenes:
    """Judge the scenes that name an entity by which of its names they hold.

    Args:
        session: A session.
        entity_id: Who is split.
        moved: Names that go.
        listed: Ids of scenes that move whole in any case.
    """
    statement = select(MENTIONS.c.scene_id, MENTIONS.c.name).where(
        session.owns(MENTIONS), MENTIONS.c.entity_id == entity_id
    )
    names: dict[str, set[str]] = defaultdict(set)
    for row in session.rows(statement):
        names[row.scene_id].add(row.name)
    whole = {scene_id for scene_id, held in names.items() if held <= set(moved)} | set(listed)
    mixed = {scene_id for scene_id, held in names.items() if held & set(moved)} - whole
    return SplitScenes(frozenset(whole), frozenset(mixed))


def relink_mixed_scenes(
    session: StorageSession,
    old_id: str,
    new_id: str,
    scene_ids: Collection[str],
    *,
    moved: Sequence[str],
    staying: Sequence[str],
) -> None:
    """Link scenes that name both to both, and their memories to whom their text names.

    Args:
        session: A writing session.
        old_id: Who was split.
        new_id: Who came out of it.
        scene_ids: Scenes that name both.
        moved: Names of the new one.
        staying: Names that the old one keeps.
    """
    _add_participant(session, scene_ids, old_id, new_id)
    named = and_(
        session.owns(MENTIONS),
        MENTIONS.c.entity_id == old_id,
        MENTIONS.c.name.in_(list(moved)),
    )
    session.run(MENTIONS.update().where(named).values(entity_id=new_id))
    linked = select(CHUNK_ENTITIES.c.chunk_row_id).where(
        session.owns(CHUNK_ENTITIES), CHUNK_ENTITIES.c.entity_id == old_id
    )
    statement = select(CHUNKS).where(CHUNKS.c.row_id.in_(linked), CHUNKS.c.scene_id.in_(list(scene_ids)))
    touched = []
    for row in session.rows(statement):
        new_ids = _named_in(
            searchable_text(row.content, row.short), old_id, new_id, moved=moved, staying=staying
        )
        if new_ids != [old_id]:
            relink_memory(session, row.row_id, old_id, new_ids)
            values = {
                name: _with_replaced(getattr(row, name), old_id, new_ids)
                for name in ("entities_mentioned", "attached", "detached")
            }
            session.run(CHUNKS.update().where(CHUNKS.c.row_id == row.row_id).values(**values))
            touched += [row.chunk_id] if row.status == "active" else []
    OutboxRepository(session).queue(touched, "upsert")


def _with_replaced(ids: Sequence[str], old_id: str, new_ids: Sequence[str]) -> list[str]:
    replaced = (each for known in ids for each in (new_ids if known == old_id else [known]))
    return list(dict.fromkeys(replaced))


def _named_in(
    text: str, old_id: str, new_id: str, *, moved: Sequence[str], staying: Sequence[str]
) -> list[str]:
    """Whom a text names; where it names neither, it stays with the old one."""
    found = {match.name for match in NameFinder([*moved, *staying]).find(text)}
    names_new, names_old = bool(found & set(moved)), bool(found & set(staying))
    if not names_new:
        return [old_id]
    return [old_id, new_id] if names_old else [new_id]


def _add_participant(session: StorageSession, scene_ids: Collection[str], old_id: str, new_id: str) -> None:
    statement = select(SCENES.c.scene_id, SCENES.c.participants).where(SCENES.c.scene_id.in_(list(scene_ids)))
    for row in session.rows(statement):
        if old_id in row.participants and new_id not in row.participants:
            session.run(
                SCENES.update()
                .where(SCENES.c.scene_id == row.scene_id)
                .values(participants=[*row.participants, new_id])
            )
