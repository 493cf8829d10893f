"""Relationships of one entity, made those of another one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import and_, func, or_, select

from runtime.storage.counters import CounterRepository
from runtime.storage.session import AnyRow, StorageSession
from runtime.storage.tables import RELATIONSHIP_CHANGES, RELATIONSHIPS


def relink_relationships(
    session: StorageSession, old_id: str, new_id: str, scene_ids: Collection[str] | None
) -> None:
    """Move the changes of all of one's relationships to the other's, and drop those between the two.

    Perspectives turn where the pair's order does. A pair that has no change left is dropped.

    Args:
        session: A writing session.
        old_id: Whose relationships they were.
        new_id: Whose they become.
        scene_ids: Only changes in these scenes; None means all.
    """
    involved = or_(RELATIONSHIPS.c.character_a == old_id, RELATIONSHIPS.c.character_b == old_id)
    pairs = session.rows(select(RELATIONSHIPS).where(session.owns(RELATIONSHIPS), involved))
    for pair in pairs:
        changes = _changes_within(session, pair.relationship_id, scene_ids)
        if changes or scene_ids is None:
            _move_pair(session, pair, changes, old_id, new_id)


def _move_pair(
    session: StorageSession, pair: AnyRow, changes: list[AnyRow], old_id: str, new_id: str
) -> None:
    other = pair.character_b if pair.character_a == old_id else pair.character_a
    rows = [row.row_id for row in changes]
    if other == new_id:
        session.run(RELATIONSHIP_CHANGES.delete().where(RELATIONSHIP_CHANGES.c.row_id.in_(rows)))
    else:
        first, second = sorted((new_id, other))
        target = _pair_id(session, first, second)
        turned = (pair.character_a == old_id) != (first == new_id)
        for row in changes:
            values: dict[str, Any] = {"relationship_id": target}
            if turned:
                values |= {"perspective_a": row.perspective_b, "perspective_b": row.perspective_a}
            statement = RELATIONSHIP_CHANGES.update().where(RELATIONSHIP_CHANGES.c.row_id == row.row_id)
            session.run(statement.values(**values))
    _drop_when_empty(session, pair)


def _changes_within(
    session: StorageSession, relationship_id: str, scene_ids: Collection[str] | None
) -> list[AnyRow]:
    statement = select(RELATIONSHIP_CHANGES).where(
        session.owns(RELATIONSHIP_CHANGES),
        RELATIONSHIP_CHANGES.c.relationship_id == relationship_id,
    )
    if scene_ids is not None:
        statement = statement.where(RELATIONSHIP_CHANGES.c.scene_id.in_(list(scene_ids)))
    return list(session.rows(statement))


def _pair_id(session: StorageSession, first: str, second: str) -> str:
    known = session.connection.scalar(
        select(RELATIONSHIPS.c.relationship_id).where(
            session.owns(RELATIONSHIPS),
            RELATIONSHIPS.c.character_a == first,
            RELATIONSHIPS.c.character_b == second,
        )
    )
    if known is not None:
        return str(known)
    relationship_id = CounterRepository(session).take("R")
    row = {"project_id": session.project_id, "relationship_id": relationship_id}
    session.insert(RELATIONSHIPS, [row | {"character_a": first, "character_b": second}])
    return relationship_id


def _drop_when_empty(session: StorageSession, pair: AnyRow) -> None:
    same = and_(
        RELATIONSHIP_CHANGES.c.project_id == pair.project_id,
        RELATIONSHIP_CHANGES.c.relationship_id == pair.relationship_id,
    )
    left = session.connection.scalar(select(func.count()).select_from(RELATIONSHIP_CHANGES).where(same))
    if not left:
        session.run(RELATIONSHIPS.delete().where(RELATIONSHIPS.c.row_id == pair.row_id))
