"""Casts of scenes, without guesses that somebody was there after their death.

A scene keeps its cast as its text was read. Deaths count when it is shown, so that one noted later, or taken back,
needs no second reading.
"""

from collections.abc import Sequence, Set
from typing import Any

from novelgen.memory.attributes import STATUS_ATTRIBUTES, Lifetimes
from novelgen.models.position import Place, StoryPosition
from runtime.storage.entities import EntityRepository
from runtime.storage.records import State, guessed_staging
from runtime.storage.session import StorageSession, before, order_in_force

CAST_FIELDS = ("participants", "record_origin", "staged")
"""Columns of a scene that its cast is read from."""


def living_casts(
    session: StorageSession,
    scenes: Sequence[Any],
    participants: Sequence[Sequence[str]],
    *,
    as_of: StoryPosition | None = None,
) -> list[Sequence[str]]:
    """Return the participants of scenes, or of rows with `CAST_FIELDS`, of guessed casts only the living.

    With `as_of`, cards known before it to be one person count as that person.
    """
    casts = list(participants)
    numbers = [
        number
        for number, scene in enumerate(scenes)
        if casts[number] and "participants" in guessed_staging(scene.record_origin, scene.staged)
    ]
    places = [(scenes[number].chapter_index, scenes[number].scene_index) for number in numbers]
    for number, dead in zip(numbers, dead_before(session, places), strict=True):
        if not dead.isdisjoint(casts[number]):
            casts[number] = [entity_id for entity_id in casts[number] if entity_id not in dead]
    persons = {} if as_of is None else EntityRepository(session).identities_as_of(as_of).persons
    if persons:
        casts = [list(dict.fromkeys(persons.get(entity_id, entity_id) for entity_id in cast)) for cast in casts]
    return casts


def dead_before(session: StorageSession, places: Sequence[Place]) -> list[Set[str]]:
    """Return the dead at each place by statements before it, as persons are known there."""
    if not places:
        return []
    conditions = (State.kind == "explicit", session.among(State.attribute, STATUS_ATTRIBUTES))
    rows = session.read(State, *conditions, before(StoryPosition(*max(places)), State), order=order_in_force(State))
    statements = [row.change() for row in rows]
    if not statements:
        return [frozenset() for _ in places]
    lifetimes: dict[Any, Lifetimes] = {}
    dead = []
    for place in places:
        identities = EntityRepository(session).identities_as_of(StoryPosition(*place))
        known = (frozenset(identities.persons.items()), frozenset(identities.last_seen.items()))
        if known not in lifetimes:
            lifetimes[known] = Lifetimes(identities.states(statements))
        dead.append(lifetimes[known].dead_at(place))
    return dead
