"""Whom and what an answer means, and a list of what could not be placed."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from novelgen.reading.known_story import References
from novelgen.reading.request import UnplacedItem

NOBODY = "neither a listed id nor a name that somebody known bears"


class Placer:
    """Resolves what an answer says, and notes what it cannot place."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._unplaced: dict[UnplacedItem, None] = {}
        self._unknown: dict[str, None] = {}
        self._types = {entity.entity_id: entity.entity_type for entity in references.entities}

    @property
    def references(self) -> References:
        """Who may be meant."""
        return self._references

    @property
    def unplaced(self) -> list[UnplacedItem]:
        """What could not be placed, in the order in which it was met."""
        return list(self._unplaced)

    @property
    def unknown(self) -> list[str]:
        """Ids and names that nobody bears, each once."""
        return list(self._unknown)

    @property
    def refused(self) -> list[str]:
        """What else could not be placed, with the reason."""
        return [f"{item.text[:60]!r} ({item.reason})" for item in self._unplaced if item.text not in self._unknown]

    def type_of(self, entity_id: str) -> str:
        """Return the type of a known entity."""
        return self._types[entity_id]

    def one(self, said: str, *entity_types: str, field: str) -> str | None:
        """Return whom something that was said means; what nobody can tell is noted as unplaced."""
        if not said:
            return None
        entity_id = self.meant(said, entity_types)
        if entity_id is None:
            self.unknown_in(field, said, entity_types)
        return entity_id

    def all(self, said: Iterable[str], *entity_types: str, field: str) -> list[str]:
        """Return whom a list means, each once; see `one`."""
        found = (self.one(each, *entity_types, field=f"{field}[{number}]") for number, each in enumerate(said))
        return list(dict.fromkeys(each for each in found if each is not None))

    def meant(self, said: str, entity_types: Collection[str] = ()) -> str | None:
        """Return whom something means, or None, without noting it."""
        return self._references.entity_id(said, entity_types=entity_types)

    def unknown_in(self, field: str, said: str, entity_types: Collection[str] = ()) -> None:
        """Note an id or name as one that nobody, or nobody of a fitting type, bears."""
        self._unknown[said] = None
        other = self.meant(said) if entity_types else None
        wanted = " or ".join(entity_types)
        reason = NOBODY if other is None else f"{other} is a {self.type_of(other)}, not a {wanted}"
        self.refuse(field, said, reason)

    def refuse(self, field: str, text: str, reason: str) -> None:
        """Note something as unplaced."""
        self._unplaced[UnplacedItem(field=field, text=text, reason=reason)] = None
