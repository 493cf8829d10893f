"""From names, as people write them, to the entities of a story."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from types import MappingProxyType

from novelgen.language import normalise
from novelgen.language.chinese_names import is_given_name_at
from novelgen.language.chinese_words import is_number, is_within_word
from novelgen.language.language import has_cjk
from novelgen.language.matching import NameFinder, NameMatch, name_finder
from novelgen.models.entity import Entity

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
    """

    def __init__(self, entities: Sequence[Entity]) -> None:
        self._entities = tuple(entities)
        earlier_ids = {earlier.casefold(): entity.entity_id for entity in entities for earlier in entity.earlier_ids}
        self._ids = earlier_ids | {entity.entity_id.casefold(): entity.entity_id for entity in entities}

    # Most names are found by id or as they are written; what is looked up after that is made when it is needed.

    @cached_property
    def _display(self) -> dict[str, dict[str, None]]:
        return _by_key((entity.entity_id, [normalise.name_key(entity.name)]) for entity in self._entities)

    @cached_property
    def _alias(self) -> dict[str, dict[str, None]]:
        return _by_key((entity.entity_id, map(normalise.name_key, entity.names())) for entity in self._entities)

    @cached_property
    def _title_free(self) -> dict[str, dict[str, None]]:
        return _by_key((entity.entity_id, map(normalise.title_free_key, entity.names())) for entity in self._entities)

    @cached_property
    def _words(self) -> dict[str, frozenset[str]]:
        return {entity.entity_id: frozenset().union(*map(_proper_words, entity.names())) for entity in self._entities}

    @cached_property
    def _chinese(self) -> list[tuple[str, list[str]]]:
        return [
            (entity.entity_id, [normalise.name_key(name) for name in entity.names() if has_cjk(name)])
            for entity in self._entities
        ]

    @cached_property
    def _characters(self) -> set[str]:
        return {entity.entity_id for entity in self._entities if entity.entity_type == "character"}

    @cached_property
    def _places(self) -> list[Entity]:
        return [entity for entity in self._entities if entity.entity_type == "location"]

    @cached_property
    def _genders(self) -> dict[str, str | None]:
        return {entity.entity_id: entity_gender(entity) for entity in self._entities}

    def by_id(self, name: str) -> list[str]:
        """Return the entity that has this id, or an earlier card of it had (case does not count)."""
        entity_id = self._ids.get(name.strip().casefold())
        return [entity_id] if entity_id else []

    def by_name(self, name: str) -> list[str]:
        """Return the entities with this display name."""
        return list(self._display.get(normalise.name_key(name), ()))

    def by_alias(self, name: str) -> list[str]:
        """Return the entities that have this display name or alias."""
        return list(self._alias.get(normalise.name_key(name), ()))

    def by_title_free_name(self, name: str) -> list[str]:
        """Return the entities with a name that equals this one when titles do not count."""
        return self.of_fitting_gender(self._title_free.get(normalise.title_free_key(name), ()), name)

    def by_part(self, name: str) -> list[str]:
        """Return the entities of which this is a part of a name: a surname, a given name, 三藏 of 唐三藏."""
        if has_cjk(name):
            key, surname = normalise.name_key(name), normalise.title_free_key(name)
            for stands in (str.endswith, str.startswith) if len(key) >= _SHORTEST_CHINESE_PART else ():
                if matches := [
                    text for text, keys in self._chinese if any(stands(known_name, key) for known_name in keys)
                ]:
                    return matches
            people = [(text, keys) for text, keys in self._chinese if text in self._characters and keys]
            return [entity_id for entity_id, keys in people if len(surname) == 1 and keys[0].startswith(surname)]
        words = _proper_words(name)
        holders = [word for word, known_words in self._words.items() if words and words <= known_words]
        return self.of_fitting_gender(holders, name)

    def by_family(self, name: str) -> list[str]:
        """Return the characters that an English plural names together: "the Smiths", "the two Smiths"."""
        singular = {word[:-1] for word in _proper_words(name) if word.endswith("s")}
        holders = [word for word, known_words in self._words.items() if singular and singular <= known_words]
        return [holder_id for holder_id in holders if holder_id in self._characters]

    def by_place_words(self, text: str) -> list[str]:
        """Return the places that share distinctive words with a text.

        English: all capitalised words of one of the place's names ("the south-west door, Agra" and "the old
        fort at Agra"). Chinese: the longest run of characters, three at the least (云栈洞外, 福陵山云栈洞).
        """
        if not has_cjk(text):
            words = _proper_words(text)
            proper = [(place, map(_proper_words, place.names())) for place in self._places]
            return [place.entity_id for place, names in proper if any(name and name <= words for name in names)]
        shared = {place.entity_id: _longest_shared_run(text, place) for place in self._places}
        longest = max(shared.values(), default=0)
        return [entity_id for entity_id, run in shared.items() if run == longest >= _SHORTEST_SHARED_RUN]

    def of_fitting_gender(self, entity_ids: Iterable[str], name: str) -> list[str]:
        """Drop entities with a title of the other gender: "Miss Holmes"."""
        gender = normalise.title_gender(name)
        return [
            entity_id for entity_id in entity_ids if gender is None or self._genders.get(entity_id) in (None, gender)
        ]


def _by_key(names: Iterable[tuple[str, Iterable[str]]]) -> dict[str, dict[str, None]]:
    table: dict[str, dict[str, None]] = {}
    for entity_id, keys in names:
        for key in keys:
            if key:
                table.setdefault(key, {})[entity_id] = None
    return table


def _proper_words(name: str) -> frozenset[str]:
    """The capitalised words of an English name, folded, without titles and articles."""
    words = (word.removesuffix("'s") for word in _WORD.findall(normalise.fold_width(name)) if word[0].isupper())
    folded_words = frozenset(word.casefold() for word in words)
    return folded_words - normalise.TITLES - normalise.ARTICLES


def _longest_shared_run(text: str, entity: Entity) -> int:
    key = normalise.name_key(text)
    matchers = (SequenceMatcher(None, key, normalise.name_key(name), autojunk=False) for name in entity.names())
    return max(matcher.find_longest_match().size for matcher in matchers)


def entity_gender(entity: Entity) -> str | None:
    """Return the gender that a profile states, else the one that the titles in the names tell where they agree."""
    stated = _GENDERS.get(str(entity.profile.get("gender", "")).strip().casefold())
    genders = {normalise.title_gender(name) for name in entity.names()} - {None}
    return stated or (genders.pop() if len(genders) == 1 else None)


NAME_INSIDE = "known name inside"
"""Reason of a resolution by a name that the given one holds beside other words."""

_REMARK = re.compile(r"\s*[(（\[【][^)）\]】]*[)）\]】]\s*")
_LAST_WORD = re.compile(r"([^\W\d_]+)\.?\s+$")


@dataclass(frozen=True, slots=True)
class Resolution:
    """The meaning of a name."""

    name: str
    entity_id: str | None
    candidate_ids: list[str]
    reason: str


@dataclass(frozen=True, slots=True)
class Mention:
    """An entity named in a text, at the characters [start, end)."""

    entity_id: str
    name: str
    start: int
    end: int
    is_meant: bool = True
    """Whether it is this one's name here, as far as the text tells, of several who bear it."""


class NameResolver:
    """Resolves names to entities, as of the position at which the entities were read.

    A name that several bear means the one who is present; who is present is said by the caller and by the
    unambiguous names in the same text. Without that it stays ambiguous, with all candidates listed.

    Args:
        entities: Whom names may mean.
        present_ids: Who is present, the last on stage first.
        literal_names: Names that mention all who bear them wherever they stand, descriptions and single characters
            as well.
        meanings: Names to the ids of whom they mean, whoever else bears them.
    """

    def __init__(
        self,
        entities: Sequence[Entity],
        *,
        present_ids: Sequence[str] = (),
        literal_names: Collection[str] = (),
        meanings: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._index = NameIndex(entities)
        self._present_ids = tuple(present_ids)
        self._literal_names = frozenset(literal_names)
        self._types = {entity.entity_id: entity.entity_type for entity in entities}
        self._entities = tuple(entities)
        self._meanings = {
            normalise.name_key(name): entity_id for name, entity_id in meanings.items() if entity_id in self._types
        }
        self._meant_names = frozenset(meanings)

    @cached_property
    def _finder(self) -> NameFinder:
        names = frozenset(name for entity in self._entities for name in entity.names()) | self._meant_names
        return name_finder(names, within_words=self._literal_names)

    def resolve(self, name: str, *, entity_types: Collection[str] = ()) -> Resolution:
        """Resolve one name."""
        bare_name = _REMARK.sub(" ", name).strip()
        steps = (
            ("id", self._index.by_id, name),
            ("name", self._index.by_name, name),
            ("alias", self._index.by_alias, name),
            ("name without the remark", self._index.by_name, bare_name),
            ("alias without the remark", self._index.by_alias, bare_name),
            ("name without titles", self._index.by_title_free_name, bare_name),
            ("part of a name", self._index.by_part, bare_name),
        )
        for step, look_up, form in steps:
            candidate_ids = look_up(form)
            if candidate_ids:
                return self._choose_entity(name, self._of_types(candidate_ids, entity_types), step)
        family = self._index.by_family(bare_name)
        if len(family) > 1:
            return Resolution(name, None, family, "names several together")
        contained = self.entity_ids_in(name)
        wants_place = "location" in entity_types
        if wants_place and not any(self._types[entity_id] == "location" for entity_id in contained):
            places = self._index.by_place_words(name)
            if places:
                return self._only(name, places, "part of a place's name")
        if contained:
            return self._only(name, self._of_types(contained, entity_types), NAME_INSIDE)
        if possible := list(dict.fromkeys(self._read(name, ())[1])):
            return self._choose_entity(name, self._of_types(possible, entity_types), NAME_INSIDE)
        return Resolution(name, None, [], "unknown")

    def find_mentions(self, text: str, *, also_present: Sequence[str] = ()) -> list[Mention]:
        """Find the entities named in a text."""
        return self._read(text, also_present)[0]

    def entity_ids_in(self, text: str, *, also_present: Sequence[str] = ()) -> list[str]:
        """Return the ids of the entities that a text names, each once, in the order of first mention."""
        mentions = self.find_mentions(text, also_present=also_present)
        return list(dict.fromkeys(mention.entity_id for mention in mentions))

    def _read(self, text: str, also_present: Sequence[str]) -> tuple[list[Mention], list[str]]:
        """Return the entities a text names, plus candidates for ambiguous names."""
        candidates = [(match, self._candidates(match, text)) for match in self._finder.find(text)]
        matches = [
            (match, ids)
            for match, ids in candidates
            if ids and not self._is_given_name(match, ids, text) and not _is_part_of_number(match, text)
        ]
        certain = {ids[0] for match, ids in matches if len(ids) == 1 and not self._needs_presence(match, ids)}
        nearby = certain.union(also_present)
        mentions: list[Mention] = []
        ambiguous: list[str] = []
        for match, ids in matches:
            entity_id = self._choose_meaning(match, ids, nearby)
            if match.name in self._literal_names:
                mentions += [
                    Mention(name, match.name, match.start, match.end, entity_id in (None, name))
                    for name in self._index.by_alias(match.name)
                ]
            elif entity_id is not None:
                mentions.append(Mention(entity_id, match.name, match.start, match.end))
            else:
                ambiguous += ids
        return mentions, ambiguous

    def _candidates(self, match: NameMatch, text: str) -> list[str]:
        meant_id = self._meanings.get(normalise.name_key(match.name)) if self._meanings else None
        if meant_id is not None:
            return [meant_id]
        ids = self._index.by_name(match.name) or self._index.by_alias(match.name)
        title = _LAST_WORD.search(text, max(0, match.start - 20), match.start)
        return self._index.of_fitting_gender(ids, f"{title.group(1)} {match.name}") if title else ids

    def _is_given_name(self, match: NameMatch, ids: list[str], text: str) -> bool:
        """Tell whether a place's or thing's name is there somebody's given name."""
        is_nobody = all(self._types[entity_id] != "character" for entity_id in ids)
        return is_nobody and has_cjk(match.name) and is_given_name_at(text, match.start, match.end)

    def _needs_presence(self, match: NameMatch, ids: list[str]) -> bool:
        """A description of a person ("the porter", 老儿) counts only where that person is about."""
        is_guess = match.name not in self._literal_names and match.name not in self._meant_names
        return is_guess and self._types[ids[0]] == "character" and normalise.is_description(match.name)

    def _choose_meaning(self, match: NameMatch, ids: list[str], nearby: Collection[str]) -> str | None:
        if len(ids) == 1 and not self._needs_presence(match, ids):
            return ids[0]
        for present in (nearby, self._present_ids):
            here = [other_id for other_id in ids if other_id in present]
            if here:
                return here[0] if len(here) == 1 else None
        return None

    def _of_types(self, ids: list[str], entity_types: Collection[str]) -> list[str]:
        return [other_id for other_id in ids if self._types[other_id] in entity_types] or ids

    def _only(self, name: str, ids: list[str], step: str) -> Resolution:
        if len(ids) == 1:
            return Resolution(name, ids[0], ids, step)
        return Resolution(name, None, ids, f"{step}: names several")

    def _choose_entity(self, name: str, ids: list[str], step: str) -> Resolution:
        if len(ids) == 1:
            return Resolution(name, ids[0], ids, step)
        recent_first = [entity_id for entity_id in dict.fromkeys(self._present_ids) if entity_id in ids]
        recent_first += [other_id for other_id in ids if other_id not in self._present_ids]
        if recent_first[0] in self._present_ids:
            return Resolution(name, recent_first[0], recent_first, f"{step} of several; last on stage")
        return Resolution(name, None, ids, f"{step} of several; none of them is present")


def _is_part_of_number(match: NameMatch, text: str) -> bool:
    """Tell whether a name such as 十三 belongs to a number, 二十三岁."""
    return is_number(match.name) and is_within_word(text, match.start, match.end)
