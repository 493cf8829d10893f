"""What a change puts an end to: a death, a journey, a new holder, the next time that somebody is seen."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from novelgen.memory.attributes import LOCATION_ATTRIBUTE, PASSING_ATTRIBUTE, PLACE_ATTRIBUTE
from novelgen.memory.vital_status import is_death
from novelgen.models.folds import HOLDER_ATTRIBUTE
from novelgen.models.record import RecordedStateChange, SceneRecord

States = Mapping[str, Mapping[str, Any]]

ENDED_BY_DEATH = ("goals", "emotional_state", PASSING_ATTRIBUTE, "disguise", PLACE_ATTRIBUTE)
"""What the dead no longer have; what they hold stays with the body."""

ENDED_WHEN_SEEN_AGAIN = ("emotional_state", PASSING_ATTRIBUTE)
"""What does not outlast a scene: it holds until its bearer is next seen."""

WHERE_A_PERSON_IS = (LOCATION_ATTRIBUTE, PLACE_ATTRIBUTE)

WHERE_A_THING_IS = (*WHERE_A_PERSON_IS, HOLDER_ATTRIBUTE)


def with_endings(
    changes: Sequence[RecordedStateChange], *, before: States, character_ids: Collection[str]
) -> list[RecordedStateChange]:
    """Return changes with what they put an end to, as further changes to None.

    Of the ways to say where something is (`holder`, `location_id`, `place`), the last that is given holds and
    clears the others; a character that is held keeps its place. A death clears `ENDED_BY_DEATH`. An ending
    bears the quote of what brought it, and only what held before is ended.
    """
    latest: dict[tuple[str, str], RecordedStateChange] = {}
    for change in changes:
        for attribute, value in change.changes.items():
            latest.pop((change.entity_id, attribute), None)
            latest[change.entity_id, attribute] = change.model_copy(update={"changes": {attribute: value}})
    for (entity_id, attribute), change in reversed(list(latest.items())):
        value = latest[entity_id, attribute].changes[attribute]
        where = WHERE_A_PERSON_IS if entity_id in character_ids else WHERE_A_THING_IS
        ended: Sequence[str] = ()
        if is_death(attribute, value):
            ended = ENDED_BY_DEATH
        elif attribute in where and value is not None:
            ended = [each for each in where if each != attribute]
        for name in ended:
            if (entity_id, name) in latest or before.get(entity_id, {}).get(name) is not None:
                latest[entity_id, name] = change.model_copy(update={"changes": {name: None}})
    return list(latest.values())


def with_endings_of_the_scene(record: SceneRecord, *, before: States) -> SceneRecord:
    """Return a scene's record in which ends what holds only until its bearer is next seen.

    Whoever is on stage or changes has been seen: `ENDED_WHEN_SEEN_AGAIN` ends unless it is stated anew. Whoever
    is on stage at a place is no longer on the way, nor where the state before has them elsewhere.
    """
    stated = {(change.entity_id, name) for change in record.state_changes for name in change.changes}
    seen = dict.fromkeys([*record.characters_present, *(change.entity_id for change in record.state_changes)])
    ended = [
        (entity_id, name)
        for entity_id in seen
        for name in ENDED_WHEN_SEEN_AGAIN
        if before.get(entity_id, {}).get(name) is not None
    ]
    for entity_id in record.characters_present if record.location_id else ():
        if any((entity_id, name) in stated for name in WHERE_A_PERSON_IS):
            continue
        was = before.get(entity_id, {})
        ended += [
            (entity_id, name)
            for name in WHERE_A_PERSON_IS
            if was.get(name) is not None and was[name] != record.location_id
        ]
    clearings = [
        RecordedStateChange(entity_id=entity_id, changes={name: None})
        for entity_id, name in ended
        if (entity_id, name) not in stated
    ]
    return record.model_copy(update={"state_changes": [*record.state_changes, *clearings]})
