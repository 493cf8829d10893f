"""Cards that turned out to be one person."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from novelgen.memory.attributes import DESCRIPTION_ATTRIBUTE, DISGUISE_ATTRIBUTE, STATUS_ATTRIBUTES, is_death
from novelgen.memory.outline import PairChange
from novelgen.memory.stated import NAME_ATTRIBUTE
from novelgen.models.entity import RevealedIdentity
from novelgen.models.pair_types import turned_pair_type
from novelgen.models.position import Place, Placed, story_place
from novelgen.models.state import StateChange

TOLD_OF_THE_DEAD = STATUS_ATTRIBUTES | {NAME_ATTRIBUTE, DISGUISE_ATTRIBUTE, DESCRIPTION_ATTRIBUTE}
"""Attributes that a story also states of somebody who is dead: they refute no death."""


class StatedValue(Placed, Protocol):
    """A value of an entity's attribute at a place."""

    @property
    def entity_id(self) -> str: ...

    @property
    def attribute(self) -> str: ...

    @property
    def value(self) -> Any: ...


AnyStatedValue = TypeVar("AnyStatedValue", bound=StatedValue)


@dataclass(frozen=True)
class Identities:
    """Revealed identities."""

    persons: Mapping[str, str] = field(default_factory=dict)
    """Person id by mask."""
    revealed_at: Mapping[str, Place] = field(default_factory=dict)
    """Scene of each reveal."""
    told_to_all: frozenset[str] = frozenset()
    """Masks that all know."""
    last_seen: Mapping[str, Place] = field(default_factory=dict)
    """Last scene in which each card is on stage, or of which something of the living is stated."""
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Names of each card."""

    def in_order(self) -> list[tuple[str, str]]:
        """Return masks with persons, by reveal."""
        return sorted(self.persons.items(), key=lambda pair: (self.revealed_at[pair[0]], pair[0]))

    def person(self, entity_id: str) -> str:
        """Return the person behind a card."""
        return self.persons.get(entity_id, entity_id)

    def is_told_to_all(self, person: str) -> bool:
        """Tell whether all know the cards of a person."""
        return all(mask in self.told_to_all for mask, other in self.persons.items() if other == person)

    def cards(self, entity_ids: Iterable[str]) -> list[str]:
        """Return all cards of persons."""
        ids = list(dict.fromkeys(map(self.person, entity_ids)))
        return [*ids, *(mask for mask, person in self.persons.items() if person in ids)] if self.persons else ids

    def states(self, changes: Sequence[StateChange]) -> list[StateChange]:
        """Return ordered changes as those of persons.

        Lists from before the reveal join. A later sight under another name refutes a death. Nobody is disguised as
        one of the names that all know for theirs.
        """
        if not self.persons:
            return list(changes)
        own_names = self._own_names()
        lists: defaultdict[tuple[str, str], dict[str, list[Any]]] = defaultdict(dict)
        merged_changes = []
        for change in self.standing(changes):
            person, value = self.person(change.entity_id), self._value(change.value)
            if change.attribute == DISGUISE_ATTRIBUTE and value in own_names.get(person, ()):
                continue
            if isinstance(value, list):
                of_cards = lists[person, change.attribute]
                of_cards[change.entity_id] = value
                others = [card for card in of_cards if self._are_apart(card, change)]
                value = self._value([*value, *(item for card in others for item in of_cards[card])])
            merged_changes.append(change.model_copy(update={"entity_id": person, "value": value}))
        return merged_changes

    def standing(self, changes: Iterable[AnyStatedValue]) -> list[AnyStatedValue]:
        """Return changes without refuted deaths."""
        return [change for change in changes if self.refuted_at(change) is None]

    def refuted_at(self, change: StatedValue) -> Place | None:
        """Return the later scene that shows a dead card alive under another name."""
        if not self.persons or not is_death(change.attribute, change.value):
            return None
        others = (card for card in self.cards([change.entity_id]) if card != change.entity_id)
        places = [self.last_seen[card] for card in others if card in self.last_seen]
        return max((place for place in places if place > story_place(change)), default=None)

    def pairs(self, changes: Iterable[PairChange]) -> dict[str, list[PairChange]]:
        """Return pair changes as those of persons."""
        by_pair: dict[tuple[str, str], list[PairChange]] = {}
        ids: dict[tuple[str, str], str] = {}
        for change in changes:
            cards = (change.character_a, change.character_b)
            first, second = map(self.person, cards)
            if first == second:
                continue
            pair = (min(first, second), max(first, second))
            ids[pair] = change.relationship_id if cards == pair else ids.get(pair, change.relationship_id)
            by_pair.setdefault(pair, []).append(change if cards == pair else _turned(change, first, second))
        return {
            ids[pair]: [replace(change, relationship_id=ids[pair]) for change in own] if self.persons else own
            for pair, own in by_pair.items()
        }

    def _own_names(self) -> dict[str, set[str]]:
        """Return ids and names of persons with masks that all know."""
        own_names: dict[str, set[str]] = {}
        for mask in self.told_to_all:
            person = self.persons[mask]
            for card in (mask, person):
                own_names.setdefault(person, set()).update([card, *self.names.get(card, ())])
        return own_names

    def _are_apart(self, card: str, change: StateChange) -> bool:
        """Tell whether two cards were unrevealed yet."""
        places = [self.revealed_at[one] for one in (card, change.entity_id) if one in self.revealed_at]
        return card != change.entity_id and story_place(change) <= max(places)

    def _value(self, value: Any) -> Any:
        """Return a value without masks."""
        if isinstance(value, list):
            items = [self._value(item) for item in value]
            return [item for number, item in enumerate(items) if item not in items[:number]]
        return self.person(value) if isinstance(value, str) else value


def identities_of(
    revealed: Mapping[str, RevealedIdentity],
    last_seen: Mapping[str, Place] | None = None,
    names: Mapping[str, Sequence[str]] | None = None,
) -> Identities:
    """Return identities with chains followed."""
    persons = final_ids({mask: identity.entity_id for mask, identity in revealed.items()})
    links = {mask: _links(mask, revealed) for mask in persons}
    return Identities(
        persons=persons,
        revealed_at={mask: max(map(story_place, chain)) for mask, chain in links.items()},
        told_to_all=frozenset(mask for mask, chain in links.items() if all(link.by_author for link in chain)),
        last_seen=last_seen or {},
        names=names or {},
    )


def _links(mask: str, revealed: Mapping[str, RevealedIdentity]) -> list[RevealedIdentity]:
    """Return the reveals from a mask on."""
    chain: list[RevealedIdentity] = []
    while mask in revealed and revealed[mask] not in chain:
        chain.append(revealed[mask])
        mask = revealed[mask].entity_id
    return chain


def final_ids(stand_ins: Mapping[str, str]) -> dict[str, str]:
    """Follow chains of identities, ending rings at their start."""
    final = {}
    for entity_id in stand_ins:
        met_ids, now = {entity_id}, stand_ins[entity_id]
        while now in stand_ins and now not in met_ids:
            met_ids.add(now)
            now = stand_ins[now]
        if now != entity_id:
            final[entity_id] = now
    return final


def _turned(change: PairChange, first: str, second: str) -> PairChange:
    """Return a change in id order."""
    if first < second:
        return replace(change, character_a=first, character_b=second)
    reading = turned_pair_type(change.relationship_type or "", type_reads_back=change.type_reads_back)
    reading["relationship_type"] = reading["relationship_type"] or None
    return replace(
        change,
        character_a=second,
        character_b=first,
        **reading,
        perspective_a=change.perspective_b,
        perspective_b=change.perspective_a,
        dimensions_a=change.dimensions_b,
        dimensions_b=change.dimensions_a,
    )
