"""Which stored scene stands at a position."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import select, tuple_

from runtime.storage.session import StorageSession, batches
from runtime.storage.tables import SCENES

Place = tuple[int | None, int | None]
"""Chapter and scene, as they are stored; None where there is none."""


def scene_ids_at(session: StorageSession, places: Iterable[Place]) -> dict[Place, str]:
    """Return the ids of the scenes at these places; a place without a scene is left out."""
    found: dict[Place, str] = {}
    for batch in batches({place for place in places if None not in place}, 500):
        statement = select(SCENES.c.chapter_index, SCENES.c.scene_index, SCENES.c.scene_id).where(
            session.owns(SCENES),
            tuple_(SCENES.c.chapter_index, SCENES.c.scene_index).in_(batch),
        )
        found.update({(row[0], row[1]): row[2] for row in session.rows(statement)})
    return found
