"""From what a model says of states to changes of a record: who, which attribute, and lists folded onto what held."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from novelgen.language.language import has_cjk, significant_words
from novelgen.language.normalise import is_possessive
from novelgen.memory.attributes import (
    INVENTORY_ATTRIBUTE,
    LIST_ATTRIBUTES,
    LOCATION_ATTRIBUTE,
    MAX_ENTRIES,
    PLACE_ATTRIBUTE,
    SINGLE_ATTRIBUTES,
    attribute_named,
    is_nothing,
    vital_value,
)
from novelgen.memory.endings import with_endings
from novelgen.models.folds import HOLDER_ATTRIBUTE
from novelgen.models.record import RecordedStateChange
from novelgen.reading.known_story import looks_like_an_id
from novelgen.reading.model_record import ModelStateChange
from novelgen.reading.placing import Placer

HOLDER_TYPES = ("character", "faction", "item")
"""Who or what has a thing: somebody, or what it is in; a thing at a place has a place and no holder."""

SHARE_OF_A_REMOVED_ENTRY = 0.6
"""Share of the words of the shorter that an entry of a list and what is to be removed have in common."""

_VITAL_WORDS = {False: ("alive", "dead"), True: ("活着", "已死")}


class StateReader:
    """Reads the state changes of one answer, each onto what held before it."""

    def __init__(self, placer: Placer, before: Mapping[str, Mapping[str, Any]], *, text: str) -> None:
        self._placer = placer
        self._before = before
        self._now = {entity_id: dict(state) for entity_id, state in before.items()}
        self._vital_words = _VITAL_WORDS[has_cjk(text)]
        self._changes: list[RecordedStateChange] = []

    def read(self, changes: Iterable[tuple[int, ModelStateChange]]) -> list[RecordedStateChange]:
        """Return the changes as a record states them, with what they put an end to.

        Of goals and knowledge that are added to, the newest `MAX_ENTRIES` stay.
        """
        for number, change in changes:
            if change.when == "now":
                self._read_one(change, field=f"state_changes[{number}]")
        characters = [
            change.entity_id for change in self._changes if self._placer.type_of(change.entity_id) == "character"
        ]
        return with_endings(self._changes, before=self._before, character_ids=characters)

    def _read_one(self, change: ModelStateChange, *, field: str) -> None:
        attribute = attribute_named(change.attribute)
        entity_ids = self._placer.all(change.entities, field=f"{field}.entities")
        alone = self._placer.one(change.entity, field=f"{field}.entity")
        if not change.entity and not change.entities:
            self._placer.refuse(field, change.attribute, "names no entity")
        if attribute is None:
            self._placer.refuse(f"{field}.attribute", change.attribute, "not a short name of an attribute")
            return
        attribute, value = vital_value(attribute, change.value, words=self._vital_words)
        for entity_id in dict.fromkeys([*([alone] if alone else []), *entity_ids]):
            self._apply(entity_id, attribute, value, change, field=f"{field}.value")

    def _apply(self, entity_id: str, attribute: str, value: Any, change: ModelStateChange, *, field: str) -> None:
        if change.op == "clear" or is_nothing(value):
            self._set(entity_id, attribute, None, change)
        elif attribute == INVENTORY_ATTRIBUTE:
            self._carry(entity_id, _listed(value), change, field=field)
        elif attribute in (LOCATION_ATTRIBUTE, PLACE_ATTRIBUTE, HOLDER_ATTRIBUTE):
            self._move(entity_id, attribute, value, change, field=field)
        elif change.op == "set" or (change.op == "add" and attribute in SINGLE_ATTRIBUTES):
            self._set(entity_id, attribute, value, change)
        else:
            self._edit_list(entity_id, attribute, _listed(value), change, field=field)

    def _edit_list(
        self, entity_id: str, attribute: str, said: Sequence[str], change: ModelStateChange, *, field: str
    ) -> None:
        held = _listed(self._now.get(entity_id, {}).get(attribute))
        if change.op == "remove":
            for each in said:
                entry = entry_meant(each, held)
                if entry is None:
                    self._placer.refuse(field, each, f"{entity_id}.{attribute} holds nothing like it")
                else:
                    held.remove(entry)
        else:
            held += [each for each in said if each not in held]
            held = held[-MAX_ENTRIES.get(attribute, len(held)) :]
        is_text = attribute not in LIST_ATTRIBUTES and len(held) == 1
        self._set(entity_id, attribute, (held[0] if is_text else held) if held else None, change)

    def _carry(self, bearer_id: str, said: Sequence[str], change: ModelStateChange, *, field: str) -> None:
        """An inventory is who holds what: known things get a holder, only the others stay words in a list."""
        words: list[str] = []
        for each in said:
            item_id = self._placer.meant(each, ("item",))
            if item_id is None:
                words.append(each)
            elif change.op != "remove":
                self._move(item_id, HOLDER_ATTRIBUTE, bearer_id, change, field=field)
            elif self._now.get(item_id, {}).get(HOLDER_ATTRIBUTE) == bearer_id:
                self._set(item_id, HOLDER_ATTRIBUTE, None, change)
            else:
                self._placer.refuse(field, each, f"{bearer_id} does not hold {item_id}")
        if change.op == "set":
            if words or self._now.get(bearer_id, {}).get(INVENTORY_ATTRIBUTE) is not None:
                self._set(bearer_id, INVENTORY_ATTRIBUTE, words or None, change)
        elif words:
            self._edit_list(bearer_id, INVENTORY_ATTRIBUTE, words, change, field=field)

    def _move(self, entity_id: str, attribute: str, value: Any, change: ModelStateChange, *, field: str) -> None:
        """Put somebody or something where it is: at a place, with a holder, inside a thing, or in words."""
        said = ", ".join(_listed(value))
        if change.op == "remove":
            self._set(entity_id, attribute, None, change)
            return
        place_id = self._placer.meant(said, ("location",))
        is_place_of = attribute != HOLDER_ATTRIBUTE and is_possessive(said)
        other_id = None if is_place_of else self._placer.meant(said, HOLDER_TYPES)
        if place_id is not None:
            self._set(entity_id, LOCATION_ATTRIBUTE, place_id, change)
        elif other_id is not None:
            is_thing = self._placer.type_of(entity_id) == "item" or attribute == HOLDER_ATTRIBUTE
            if is_thing and self._is_inside(other_id, entity_id):
                self._placer.refuse(field, said, f"{entity_id} cannot be within itself")
            else:
                self._set(entity_id, HOLDER_ATTRIBUTE if is_thing else PLACE_ATTRIBUTE, other_id, change)
        elif looks_like_an_id(said):
            self._placer.unknown_in(field, said)
        else:
            in_words = HOLDER_ATTRIBUTE if attribute == HOLDER_ATTRIBUTE else PLACE_ATTRIBUTE
            self._set(entity_id, in_words, said, change)

    def _is_inside(self, entity_id: str | None, container_id: str) -> bool:
        """Tell whether somebody or something is, or is held by, a container."""
        met: set[str] = set()
        while entity_id is not None and entity_id not in met:
            if entity_id == container_id:
                return True
            met.add(entity_id)
            entity_id = self._now.get(entity_id, {}).get(HOLDER_ATTRIBUTE)
        return False

    def _set(self, entity_id: str, attribute: str, value: Any, change: ModelStateChange) -> None:
        self._now.setdefault(entity_id, {})[attribute] = value
        self._changes.append(
            RecordedStateChange(entity_id=entity_id, changes={attribute: value}, evidence=change.evidence or None)
        )


def entry_meant(said: str, entries: Sequence[str]) -> str | None:
    """Return the entry of a list that somebody means in other words, or None when none or several fit as well."""
    folded = _folded(said)
    for fits in (
        [each for each in entries if _folded(each) == folded],
        [each for each in entries if folded in _folded(each) or _folded(each) in folded],
        _nearest([each for each in entries if _shares_words(said, each)], said),
    ):
        if fits:
            return fits[0] if len(fits) == 1 else None
    return None


def _nearest(entries: Sequence[str], said: str) -> list[str]:
    """Those that share most words with what was said."""
    words = significant_words(said)
    shared = {each: len(words & significant_words(each)) for each in entries}
    return [each for each in entries if shared[each] == max(shared.values())]


def _shares_words(one: str, other: str) -> bool:
    words, other_words = significant_words(one), significant_words(other)
    fewer = min(len(words), len(other_words))
    return fewer > 0 and len(words & other_words) >= SHARE_OF_A_REMOVED_ENTRY * fewer


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _listed(value: Any) -> list[str]:
    """A value as a list of texts."""
    if value is None:
        return []
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]
