"""Which entities a name, an alias or a part of a name may mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from novelgen.models.entity import Entity
from novelgen.names.normalise import ARTICLES, TITLES, fold_width, name_key, title_free_key, title_gender
from novelgen.text.cjk import has_cjk

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_SHORTEST_CHINESE_PART = 2
_SHORTEST_SHARED_RUN = 3
_GENDERS = {"male": "male", "m": "male", "man": "male", "男": "male"} | {
    "female": "female",
    "f": "female",
    "woman": "female",
    "女": "female",
}


class NameIndex:
    """Looks entities up by the forms of their names.

    Every look-up returns entity ids in the order of the entities given, without repeats; an empty list means
    that nobody bears such a name.

    Args:
        entities: The entities that are known at the position of the read.
    """

    def __init__(self, entities: Sequence[Entity]) -> None:
        self._ids = {entity.entity_id.casefold(): entity.entity_id for entity in entities}
        self._display = _by_key((entity.entity_id, [name_key(entity.name)]) for entity in entities)
        self._alias = _by_key((each.entity_id, map(name_key, each.names())) for each in entities)
        self._title_free = _by_key((each.entity_id, map(title_free_key, each.names())) for each in entities)
        self._words = {each.entity_id: _name_words(each) for each in entities}
        self._chinese = [
            (each.entity_id, [name_key(name) for name in each.names() if has_cjk(name)]) for each in entities
        ]
        self._characters = {each.entity_id for each in entities if each.entity_type == "character"}
        self._places = [each for each in entities if each.entity_type == "location"]
        self._genders = {each.entity_id: _entity_gender(each) for each in entities}

    def by_id(self, name: str) -> list[str]:
        """Return the entity that has this id (case does not count)."""
        entity_id = self._ids.get(name.strip().casefold())
        return [entity_id] if entity_id else []

    def by_name(self, name: str) -> list[str]:
        """Return the entities whose display name this is."""
        return list(self._display.get(name_key(name), ()))

    def by_alias(self, name: str) -> list[str]:
        """Return the entities that have this display name or alias."""
        return list(self._alias.get(name_key(name), ()))

    def by_title_free_name(self, name: str) -> list[str]:
        """Return the entities with a name that equals this one when titles do not count."""
        return self.of_fitting_gender(self._title_free.get(title_free_key(name), ()), name)

    def by_part(self, name: str) -> list[str]:
        """Return the entities of which this is a part of a name: a surname, a given name, 三藏 of 唐三藏."""
        if has_cjk(name):
            return self._by_chinese_part(name_key(name)) or self._by_chinese_surname(title_free_key(name))
        words = _proper_words(name)
        holders = [each for each, known in self._words.items() if words and words <= known]
        return self.of_fitting_gender(holders, name)

    def by_family(self, name: str) -> list[str]:
        """Return the characters that an English plural names together: "the Smiths", "the two Smiths"."""
        singular = {word[:-1] for word in _proper_words(name) if word.endswith("s")}
        holders = [each for each, known in self._words.items() if singular and singular <= known]
        return [each for each in holders if each in self._characters]

    def by_place_words(self, text: str) -> list[str]:
        """Return the places that share what is proper to their name with a text.

        English: all capitalised words of one of the place's names ("the south-west door, Agra" and "the old
        fort at Agra"). Chinese: the longest run of characters, three at the least (云栈洞外, 福陵山云栈洞).
        """
        if not has_cjk(text):
            words = _proper_words(text)
            proper = [(place, map(_proper_words, place.names())) for place in self._places]
            return [
                place.entity_id for place, names in proper if any(each and each <= words for each in names)
            ]
        shared = {place.entity_id: _longest_shared_run(text, place) for place in self._places}
        longest = max(shared.values(), default=0)
        return [each for each, run in shared.items() if run == longest >= _SHORTEST_SHARED_RUN]

    def of_fitting_gender(self, entity_ids: Iterable[str], name: str) -> list[str]:
        """Leave out who is known by a title of the other gender than the name's: "Miss Holmes"."""
        gender = title_gender(name)
        return [each for each in entity_ids if gender is None or self._genders.get(each) in (None, gender)]

    def _by_chinese_part(self, key: str) -> list[str]:
        if len(key) < _SHORTEST_CHINESE_PART:
            return []
        ending = [each for each, keys in self._chinese if any(known.endswith(key) for known in keys)]
        return ending or [
            each for each, keys in self._chinese if any(known.startswith(key) for known in keys)
        ]

    def _by_chinese_surname(self, surname: str) -> list[str]:
        if len(surname) != 1:
            return []
        return [
            each for each, keys in self._chinese if each in self._characters and keys[0].startswith(surname)
        ]


def _by_key(names: Iterable[tuple[str, Iterable[str]]]) -> dict[str, dict[str, None]]:
    table: dict[str, dict[str, None]] = {}
    for entity_id, keys in names:
        for key in keys:
            if key:
                table.setdefault(key, {})[entity_id] = None
    return table


def _name_words(entity: Entity) -> frozenset[str]:
    return frozenset().union(*(_proper_words(name) for name in entity.names()))


def _proper_words(name: str) -> frozenset[str]:
    """The capitalised words of an English name, folded, without titles and articles."""
    words = (word.removesuffix("'s") for word in _WORD.findall(fold_width(name)) if word[0].isupper())
    folded = frozenset(word.casefold() for word in words)
    return folded - TITLES - ARTICLES


def _longest_shared_run(text: str, entity: Entity) -> int:
    key = name_key(text)
    matchers = (SequenceMatcher(None, key, name_key(name), autojunk=False) for name in entity.names())
    return max(matcher.find_longest_match().size for matcher in matchers)


def _entity_gender(entity: Entity) -> str | None:
    """What the profile says, else what the titles in the names say where they agree."""
    stated = _GENDERS.get(str(entity.profile.get("gender", "")).strip().casefold())
    genders = {title_gender(name) for name in entity.names()} - {None}
    return stated or (genders.pop() if len(genders) == 1 else None)
