"""Suggestions of likely intended names for messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from novelgen.models.entity import Entity

SAME_LETTERS = 0.75
"""Share of letters in common from which one name counts as another one misspelt."""

ALIKE = 0.6
"""A name that is refused anyway may be told one that is less like it."""


def nearest_names(given: str, known_names: Iterable[str], *, at_most: int, likeness: float = ALIKE) -> list[str]:
    """Return the known names that are most like a given one, the likeliest first."""
    by_letters = {name.casefold(): name for name in reversed(list(known_names))}
    matches = get_close_matches(given.casefold(), by_letters, n=at_most, cutoff=likeness)
    return [by_letters[entity_id] for entity_id in matches]


def nearest_name(name: str, known_names: Iterable[str], *, likeness: float = SAME_LETTERS) -> str | None:
    """Return the known name that is most like a given one, or None when none is like it."""
    return next(iter(nearest_names(name, known_names, at_most=1, likeness=likeness)), None)


def did_you_mean(name: str, known_names: Iterable[str], *, likeness: float = SAME_LETTERS) -> str:
    """Return the end of an error message that names the nearest name, or an empty text."""
    nearest = nearest_name(name, known_names, likeness=likeness)
    return f"; did you mean {nearest!r}?" if nearest is not None else ""


MAX_LISTED = 10
"""So many known entities an error lists."""

MAX_NEAR = 3
_LIKENESS = 0.4


def near_names(name: str, entities: Sequence[Entity]) -> str:
    """Return which known names are near one that nobody bears, or else which are known."""
    bearers = [name for entity in entities for name in entity.names()]
    near = nearest_names(name, list(dict.fromkeys(bearers)), at_most=MAX_NEAR, likeness=_LIKENESS)
    if near:
        return f"near it: {', '.join(near)}"
    names = list(dict.fromkeys(entity.name for entity in entities))
    return f"known are {_some_of(names)}" if names else "none is known yet"


def listed_entities(entities: Sequence[Entity]) -> str:
    """Return ids and names for a message, and how many more there are."""
    return _some_of([f"{entity.entity_id} ({entity.name})" for entity in entities])


def _some_of(texts: Sequence[str]) -> str:
    more = len(texts) - MAX_LISTED
    return ", ".join(texts[:MAX_LISTED]) + (f" and {more} more" if more > 0 else "")
