"""From what people write to what a memory can be attached to."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from sqlalchemy import select

from novelgen.errors import UnknownEntityError, UnknownSceneError
from novelgen.models.entity import Entity
from novelgen.models.memory import BOOK, chapter_of_target, chapter_target
from novelgen.names.resolver import NameIndex
from runtime.storage.entities import EntityRepository
from runtime.storage.session import StorageSession
from runtime.storage.tables import SCENES

SHOWN_NAMES = 3
_MIN_LIKENESS = 0.3


def resolved_targets(session: StorageSession, project_id: str, targets: Sequence[str]) -> list[str]:
    """Return the targets that are meant, without repeats, in the order given.

    Args:
        session: A session.
        project_id: The project.
        targets: Each `book`, `chapter:3`, or an entity's id, name or alias; titles do not
            count.

    Returns:
        `book`, `chapter:3` and entity ids.

    Raises:
        UnknownEntityError: When nobody or several bear a name; says whose names are nearest.
        UnknownSceneError: When no scene of a chapter is stored.
    """
    entities = [stored.entity for stored in EntityRepository(session).list_all(project_id)]
    index = NameIndex(entities)
    return list(
        dict.fromkeys(_resolved(session, project_id, each.strip(), entities, index) for each in targets)
    )


def nearest_names(name: str, entities: Sequence[Entity]) -> list[str]:
    """Return the known names that are most like one, as `name (id)`, the likeliest first.

    Args:
        name: What somebody wrote.
        entities: Who is known.

    Returns:
        At most `SHOWN_NAMES`; where none is alike, the first ones known.
    """
    bearers = {known: entity.entity_id for entity in reversed(entities) for known in entity.names()}
    folded = {known.casefold(): known for known in bearers}
    close = get_close_matches(name.casefold(), folded, n=SHOWN_NAMES, cutoff=_MIN_LIKENESS)
    names = [folded[each] for each in close] or [entity.name for entity in entities[:SHOWN_NAMES]]
    return [f"{known} ({bearers[known]})" for known in names]


def _resolved(
    session: StorageSession, project_id: str, target: str, entities: Sequence[Entity], index: NameIndex
) -> str:
    chapter = chapter_of_target(target)
    if target == BOOK:
        return BOOK
    if chapter is not None:
        return _stored_chapter(session, project_id, chapter)
    steps = (index.by_id, index.by_name, index.by_alias, index.by_title_free_name)
    found = next((ids for step in steps if (ids := step(target))), [])
    if len(found) == 1:
        return found[0]
    names = {entity.entity_id: entity.name for entity in entities}
    if found:
        several = ", ".join(f"{names[each]} ({each})" for each in found)
        raise UnknownEntityError(f"{target!r} may be {several}; say which by its id")
    near = ", ".join(nearest_names(target, entities)) or "nobody is known"
    raise UnknownEntityError(
        f"no entity {target!r} is stored; nearest: {near}; chapters are written chapter:3, the whole book"
    )


def _stored_chapter(session: StorageSession, project_id: str, chapter_index: int) -> str:
    statement = select(SCENES.c.chapter_index).where(SCENES.c.project_id == project_id).distinct()
    stored = sorted(session.connection.scalars(statement))
    if chapter_index not in stored:
        near = sorted(stored, key=lambda each: (abs(each - chapter_index), each))[:SHOWN_NAMES]
        listed = ", ".join(map(chapter_target, near)) or "none"
        raise UnknownSceneError(f"no scene of chapter {chapter_index} is stored; nearest: {listed}")
    return chapter_target(chapter_index)
