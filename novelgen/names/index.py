"""Which entities a name, an alias or a part of a name may mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from novelgen.models.entity import Entity
from novelgen.names.normalise import ARTICLES, TITLES, fold_width, name_key, title_free_key, title_gender
from novelgen.text.cjk import has_cjk

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_SHORTEST_CHINESE_PART = 2


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
        """Return the entities that an English plural names together: "the Smiths", "the two Smiths"."""
        singular = {word[:-1] for word in _proper_words(name) if word.endswith("s")}
        return [each for each, known in self._words.items() if singular and singular <= known]

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


def _entity_gender(entity: Entity) -> str | None:
    genders = {title_gender(name) for name in entity.names()} - {None}
    return genders.pop() if len(genders) == 1 else None
