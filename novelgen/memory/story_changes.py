"""The single changes of a story, and of its cards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from novelgen.memory.identities import Identities
from novelgen.memory.outline import PairChange
from novelgen.models.entity import Entity
from novelgen.models.position import Place, story_place
from novelgen.models.state import StateChange


@dataclass(frozen=True)
class CardChanges:
    """What stood on the cards of revealed identities, each for itself."""

    identities: Identities = field(default_factory=Identities)
    cards: Mapping[str, Sequence[Entity]] = field(default_factory=dict)
    """Cards of each person."""
    states: Sequence[StateChange] = ()
    pairs: Sequence[PairChange] = ()


@dataclass(frozen=True)
class StoryChanges:
    """The single changes strictly before a position, to be folded as far as somebody saw them."""

    states: Sequence[StateChange] = ()
    pairs: Mapping[str, Sequence[PairChange]] = field(default_factory=dict)
    stands_for: Mapping[str, Sequence[str]] = field(default_factory=dict)
    of_cards: CardChanges = field(default_factory=CardChanges)

    def as_known(self, cards: Mapping[str, Entity]) -> "StoryChanges":
        """Return the changes for one who takes persons for a card.

        Args:
            cards: The card by person; the person's other cards are left out.
        """
        if not cards:
            return self
        of_cards = self.of_cards
        others = self._others(cards)
        persons = {mask: person for mask, person in of_cards.identities.persons.items() if person not in cards}
        persons |= {card.entity_id: person for person, card in cards.items() if card.entity_id != person}
        identities = replace(
            of_cards.identities, persons=persons, told_to_all=of_cards.identities.told_to_all & persons.keys() - others
        )
        states = [change for change in of_cards.states if not others & {change.entity_id, *_values(change)}]
        pairs = [change for change in of_cards.pairs if not others & {change.character_a, change.character_b}]
        return replace(self, states=identities.states(states), pairs=identities.pairs(pairs))

    def unknown_places(self, cards: Mapping[str, Entity]) -> Mapping[str, set[Place]]:
        """Return the scenes with a person's other cards alone."""
        places: dict[str, set[Place]] = {}
        for person, card in cards.items():
            others = {other.entity_id for other in self.of_cards.cards[person]} - {card.entity_id}
            places[person] = self._presences(others) - self._presences({card.entity_id})
        return places

    def _presences(self, card_ids: set[str]) -> set[Place]:
        presences = (change for change in self.of_cards.states if change.kind == "presence")
        return {story_place(change) for change in presences if change.entity_id in card_ids}

    def _others(self, cards: Mapping[str, Entity]) -> set[str]:
        own = {card.entity_id for card in cards.values()}
        return {card.entity_id for person in cards for card in self.of_cards.cards[person]} - own


def _values(change: StateChange) -> list[str]:
    values = change.value if isinstance(change.value, list) else [change.value]
    return [value for value in values if isinstance(value, str)]
