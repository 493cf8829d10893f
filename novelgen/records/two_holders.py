"""Things that two characters hold at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from novelgen.models.entity import Entity
from novelgen.models.state import StateChange
from novelgen.names.normalise import title_free_key
from novelgen.records.conflict import Conflict, SceneFacts, conflict_between, source_in
from novelgen.records.slots import Place

INVENTORY = "inventory"
HOLDER = "holder"


@dataclass(frozen=True, slots=True)
class _Holding:
    """Somebody is said to hold a thing, from a place in the story on."""

    holder_id: str
    place: Place
    says: str


def things_held_twice(
    scenes: Sequence[SceneFacts], changes: Sequence[StateChange], *, entities: Sequence[Entity]
) -> list[Conflict]:
    """Find items that two characters hold at one position.

    An item that enters a second inventory while it stands in a first is in conflict, unless its `holder` is
    stated in the same scene or later than the first and agrees with the second. A `holder` stated in the
    very scene in which another's inventory lists the item is in conflict too. A later `holder` alone moves
    the item: an inventory that was not written anew since is out of date, not wrong.

    Args:
        scenes: The stored scenes.
        changes: Explicit state changes in the order in which they apply.
        entities: The entities; an inventory names items by id, name or alias.

    Returns:
        Conflicts in the order in which they arise, each pair of holders of an item once.
    """
    by_place = {scene.place: scene for scene in scenes}
    ledger = _Ledger(entities)
    found: dict[str, Conflict] = {}
    for place in sorted(by_place):
        here = [change for change in changes if _place(change) == place and change.kind == "explicit"]
        for item_id, first, second in ledger.advance(here, place):
            conflict = conflict_between(
                "two_holders",
                item_id,
                [item_id, first.holder_id, second.holder_id],
                first=source_in(by_place[first.place], first.says),
                second=source_in(by_place[second.place], second.says),
            )
            found.setdefault(conflict.conflict_id, conflict)
    return list(found.values())


class _Ledger:
    """Who holds what, as the story moves on."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        items = [entity for entity in entities if entity.entity_type == "item"]
        self._item_ids = {item.entity_id: item.entity_id for item in items}
        self._item_ids |= {title_free_key(name): item.entity_id for item in items for name in item.names()}
        self._names = {entity.entity_id: entity.name for entity in entities}
        self._by_inventory: dict[str, dict[str, _Holding]] = {}

    def advance(self, changes: Sequence[StateChange], place: Place) -> list[tuple[str, _Holding, _Holding]]:
        """Take in one scene's changes and return the items then held twice, with both holders."""
        stated = {change.entity_id: change.value for change in changes if change.attribute == HOLDER}
        listed = {change.entity_id: change.value for change in changes if change.attribute == INVENTORY}
        newly_listed = {
            item_id for character, value in listed.items() for item_id in self._list(character, value, place)
        }
        found = []
        for item_id in sorted(newly_listed | stated.keys()):
            holdings = self._holdings(item_id, stated, place)
            if len(holdings) > 1:
                found.append((item_id, holdings[0], holdings[-1]))
        return found

    def _list(self, character: str, value: Any, place: Place) -> set[str]:
        """Replace a character's inventory; returns the items that are new in it."""
        before = self._by_inventory.get(character, {})
        items = value if isinstance(value, list) else [value] if value else []
        says = f"{INVENTORY} of {self._names.get(character, character)}"
        now = {
            item_id: before.get(item_id) or _Holding(character, place, f"{says}: {item}")
            for item in items
            if (item_id := self._item_id(str(item))) is not None
        }
        self._by_inventory[character] = now
        return now.keys() - before.keys()

    def _holdings(self, item_id: str, stated: Mapping[str, Any], place: Place) -> list[_Holding]:
        """Who holds an item after the scene, the longest holder first; a stated holder clears the others."""
        listed = [items[item_id] for items in self._by_inventory.values() if item_id in items]
        holder = stated.get(item_id)
        if holder is None:
            return sorted(listed, key=lambda each: each.place)
        for character, items in self._by_inventory.items():
            if character != holder and item_id in items and items[item_id].place < place:
                del items[item_id]
        disagreeing = [each for each in listed if each.holder_id != holder and each.place == place]
        said_holder = _Holding(str(holder), place, f"{HOLDER}: {self._names.get(str(holder), holder)}")
        return [*disagreeing, said_holder]

    def _item_id(self, item: str) -> str | None:
        return self._item_ids.get(item) or self._item_ids.get(title_free_key(item))


def _place(change: StateChange) -> Place:
    chapter = -1 if change.chapter_index is None else change.chapter_index
    return chapter, -1 if change.scene_index is None else change.scene_index
