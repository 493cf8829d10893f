"""Whom a name that nobody bears may have meant, in the words of a message."""

from collections.abc import Sequence

from novelgen.models.entity import Entity
from novelgen.nearest import nearest_names

MAX_LISTED = 10
"""So many known entities an error lists."""

MAX_NEAR = 3
_LIKENESS = 0.4


def near_names(name: str, known: Sequence[Entity]) -> str:
    """Return which known names are near one that nobody bears, or else which are known."""
    bearers = {each: entity.entity_id for entity in reversed(known) for each in entity.names()}
    near = nearest_names(name, reversed(bearers), at_most=MAX_NEAR, likeness=_LIKENESS)
    if near:
        return f"near it: {', '.join(f'{bearers[each]} ({each})' for each in near)}"
    return f"known are {listed_entities(known)}" if known else "nobody is known yet"


def listed_entities(entities: Sequence[Entity]) -> str:
    """Return ids and names for a message, and how many more there are."""
    named = [f"{entity.entity_id} ({entity.name})" for entity in entities[:MAX_LISTED]]
    more = len(entities) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")
