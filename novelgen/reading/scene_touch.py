"""Entities touched by a scene's text, by name, part, title or description.

A name of its own ("Isidore Vane") says who is meant. A word that may be said of many ("the porter", 店小二, "cloak")
hardly does, least of all of somebody whom the story has not seen for long.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log2
from typing import Literal

from novelgen.language.language import CJK_RANGES, has_cjk, wording
from novelgen.language.matching import NameFinder, QuoteFinder
from novelgen.language.normalise import ARTICLES, TITLES, fold_width, is_description, name_key
from novelgen.models.entity import Entity
from novelgen.models.position import Place
from novelgen.reading.request import EntitySighting

OWN_NAME = 1.0
DESCRIBING_NAME = 0.6
GENERIC_NAME = 0.3
"""What a mention tells by a name of its own, by several common words ("the brass key"), by a single one."""

PART_OF_A_NAME = 0.6
TITLE_IN_A_NAME = 0.5
WORD_OF_A_DESCRIPTION = 0.25
"""What a word tells that only one entity has: in a name, as a title, in the words that say who it is."""

SCENES_UNTIL_LONG_UNSEEN = 10
"""A common word may mean somebody who was seen within so many scenes; of others it tells a third."""

OF_ONE_LONG_UNSEEN = 1 / 3
REPEATED_MENTION = 0.1
MAX_COUNTED_MENTIONS = 5
_SHORTEST_PART = 2
_SHORTEST_PART_OF_A_PLACE = 3
_SHORTEST_WORD = 3
_WORD = re.compile(r"[^\W\d_]+")
_DEFINITE = re.compile(r"\b(?:the|this|that|his|her|old|young)\s+(?:[^\W\d_]+\s+)?([^\W\d_]{3,})", re.IGNORECASE)
_DEFINITE_NEXT = re.compile(r"\b(?:the|this|that|his|her|old|young)\s+([^\W\d_]{3,})", re.IGNORECASE)
_CHINESE_DEFINITE = re.compile(rf"[那这老][一两]?[个位名条只]?([{CJK_RANGES}]{{2,3}})")
_CHINESE_TRADE = re.compile(wording("scene_touch_chinese_trade"))
_COMMON_KINDS = ("item", "location", "term", "faction")
_LONGEST_COMMON_NOUN = 2


class StoryClock:
    """Counts scenes between places of a story."""

    def __init__(self, scenes: Sequence[Place]) -> None:
        self._scenes = sorted(scenes)

    def scenes_since(self, chapter_index: int | None, scene_index: int | None) -> int | None:
        """Return the distance in scenes, 1 for the last, None if unknown."""
        if chapter_index is None:
            return None
        at = (chapter_index, scene_index or 0)
        return max(1, len(self._scenes) - bisect_left(self._scenes, at))


def recency(scenes_ago: int | None) -> float:
    """Return a recency of 1 for the last scene, 1/2 four earlier, 0 for never."""
    return 0.0 if scenes_ago is None else 4 / (3 + scenes_ago)


def weight_in_story(sighting: EntitySighting | None) -> float:
    """Return from 0 to 1 how much an entity has mattered, by the scenes that it was in."""
    return min(1.0, log2(1 + sighting.scenes) / 6) if sighting else 0.0


def touches(
    text: str, entities: Sequence[Entity], *, sightings: Mapping[str, EntitySighting], clock: StoryClock
) -> dict[str, float]:
    """Return how surely a text speaks of each entity that it may speak of."""
    if not entities:
        return {}
    found_scores = _by_whole_names(text, entities)
    # By words of English names, titles included, and by endings of Chinese ones, shared among their bearers.
    parts = (_by_words_of_names(text, entities), _by_chinese_parts(text, entities))
    for weaker in (*parts, _by_descriptions(text, entities)):
        for entity_id, weight in weaker.items():
            found_scores[entity_id] = max(found_scores.get(entity_id, 0.0), weight)
    for entity_id, weight in found_scores.items():
        sighting = sightings.get(entity_id)
        if weight < TITLE_IN_A_NAME and sighting is not None:
            ago = clock.scenes_since(sighting.chapter_index, sighting.scene_index)
            found_scores[entity_id] *= (
                1.0 if ago is not None and ago <= SCENES_UNTIL_LONG_UNSEEN else OF_ONE_LONG_UNSEEN
            )
    return found_scores


def _by_whole_names(text: str, entities: Sequence[Entity]) -> dict[str, float]:
    bearers: dict[str, list[Entity]] = defaultdict(list)
    for entity in entities:
        for name in entity.names():
            bearers[name].append(entity)
    counts: dict[str, int] = defaultdict(int)
    for match in NameFinder(bearers).find(text):
        counts[match.name] += 1
    found_scores: dict[str, float] = {}
    for name, count in counts.items():
        often = 1 + REPEATED_MENTION * (min(count, MAX_COUNTED_MENTIONS) - 1)
        for entity in bearers[name]:
            weight = often * _specificity(name, entity) / len(bearers[name])
            found_scores[entity.entity_id] = max(found_scores.get(entity.entity_id, 0.0), weight)
    return found_scores


def _specificity(name: str, entity: Entity) -> float:
    if has_cjk(name):
        if is_description(name) or _CHINESE_TRADE.match(name):
            return GENERIC_NAME
        is_noun = entity.entity_type in _COMMON_KINDS and len(name) <= _LONGEST_COMMON_NOUN
        return DESCRIBING_NAME if is_noun else OWN_NAME
    if not is_description(name):
        return OWN_NAME
    words = [word for word in _words(name) if word not in TITLES and word not in ARTICLES]
    return DESCRIBING_NAME if len(words) > 1 else GENERIC_NAME


def _by_words_of_names(text: str, entities: Sequence[Entity]) -> dict[str, float]:
    # "old" and "my" stand in names and are said of anybody; "professor" and "captain" tell a person.
    telling = {entity.entity_id: _telling_words(entity.names()) for entity in entities}
    bearers = _bearers(telling)
    capitalised = {word.casefold() for word in _WORD.findall(fold_width(text)) if word[0].isupper()}
    definite = {word.casefold() for word in _DEFINITE_NEXT.findall(fold_width(text))}
    found_scores: dict[str, float] = {}
    for entity_id, words in telling.items():
        for word, is_proper in words.items():
            is_title = word in TITLES
            if word not in (capitalised | definite if is_title or not is_proper else capitalised):
                continue
            if not is_proper and not is_title and word not in definite:
                continue
            weight = TITLE_IN_A_NAME if is_title else PART_OF_A_NAME if is_proper else GENERIC_NAME
            found_scores[entity_id] = max(found_scores.get(entity_id, 0.0), weight / len(bearers[word]))
    return found_scores


_TITLES_OF_ANYBODY = frozenset(
    "mr mrs miss ms mister sir don old young little poor dear my our his her your their friend".split()
)


def _telling_words(names: Iterable[str]) -> dict[str, bool]:
    """Words that may stand for the whole of a name, each with whether it is written as a name."""
    words: dict[str, bool] = {}
    for name in names:
        for word in _WORD.findall(fold_width(name)):
            folded_word = word.casefold()
            if len(word) >= _SHORTEST_WORD and folded_word not in ARTICLES | _TITLES_OF_ANYBODY and not has_cjk(word):
                words[folded_word] = words.get(folded_word, False) or (word[0].isupper() and folded_word not in TITLES)
    return words


def _by_chinese_parts(text: str, entities: Sequence[Entity]) -> dict[str, float]:
    """By the endings by which people and places are called: 三藏 of 唐三藏, 紫竹林 of 落伽山紫竹林."""
    parts: dict[str, set[str]] = {}
    for entity in entities:
        size = _SHORTEST_PART if entity.entity_type == "character" else _SHORTEST_PART_OF_A_PLACE
        parts[entity.entity_id] = {name[-size:] for name in entity.names() if has_cjk(name) and len(name) > size}
    bearers = _bearers(parts)
    weight = {
        bearer_id: (GENERIC_NAME if is_description(bearer_id) else PART_OF_A_NAME) / len(bearers[bearer_id])
        for bearer_id in bearers
    }
    here = {entity_id: [weight[part] for part in own if part in text] for entity_id, own in parts.items()}
    return {entity_id: max(weights) for entity_id, weights in here.items() if weights}


def _by_descriptions(text: str, entities: Sequence[Entity]) -> dict[str, float]:
    """Find entities by descriptions such as "the professor" or 那道士."""
    statements = {word.casefold() for word in (*_DEFINITE.findall(text), *_DEFINITE_NEXT.findall(text))}
    statements |= {run[:_SHORTEST_PART] for run in _CHINESE_DEFINITE.findall(text)}
    if not statements:
        return {}
    telling: dict[str, set[str]] = {}
    for entity in entities:
        told_text = f"{entity.role} {entity.description}"
        own = set(_words(told_text))
        telling[entity.entity_id] = {word for word in statements if word in (told_text if has_cjk(word) else own)}
    bearers = _bearers(telling)
    return {
        entity_id: max(WORD_OF_A_DESCRIPTION / len(bearers[word]) for word in words)
        for entity_id, words in telling.items()
        if words
    }


def _bearers(words_of: Mapping[str, Iterable[str]]) -> Mapping[str, list[str]]:
    bearers: dict[str, list[str]] = defaultdict(list)
    for entity_id, words in words_of.items():
        for word in words:
            bearers[word].append(entity_id)
    return bearers


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(fold_width(text))]


NameEvidence = Literal["verbatim", "parts", "quote", "garbled", "none"]
"""`garbled`: only some of the name's words or characters stand in the scene."""

NEAR_CHARACTERS = 160
"""Within how many characters of an English text the words of one name stand."""

NEAR_CHINESE_CHARACTERS = 8
"""How many characters may stand between a Chinese surname and the given name: 姓金，名翠莲."""

GARBLED_SHARE = 0.5
"""Share of a name's words or characters that a scene must hold for the name to be a spelling of its own."""

SHORTEST_QUOTE_OF_A_NAME = (3, 2)
"""Characters of an English and of a Chinese quote: "said I" is all that a text has of its narrator."""

_NAME_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")


def name_evidence(name: str, text: str, *, quote: str = "") -> NameEvidence:
    """Tell how a scene gives a name."""
    if NameFinder([name]).find(text):
        return "verbatim"
    if has_cjk(name):
        held_names = [character for character in name_key(name) if character in text]
        share = len(held_names) / max(1, len(name_key(name)))
        stands_in_parts = _chinese_parts_stand(name_key(name), text)
    else:
        words = [word.casefold() for word in _NAME_WORD.findall(fold_width(name))]
        # Those that are its own; of a name of titles alone all.
        words = [word for word in words if word not in TITLES | ARTICLES] or words
        patterns = [rf"(?<!\w){re.escape(word)}(?!\w)" for word in words]
        places = [[match.start() for match in re.finditer(pattern, text, re.IGNORECASE)] for pattern in patterns]
        share = sum(map(bool, places)) / max(1, len(words))
        stands_in_parts = bool(words) and any(
            all(any(abs(place - start) <= NEAR_CHARACTERS for place in others) for others in places[1:])
            for start in places[0]
        )
    if stands_in_parts:
        return "parts"
    if QuoteFinder(text, min_characters=SHORTEST_QUOTE_OF_A_NAME).find(quote) is not None:
        return "quote"
    return "garbled" if share >= GARBLED_SHARE else "none"


def _chinese_parts_stand(key: str, text: str) -> bool:
    """Return whether surname and given name stand close together."""
    for at in range(1, min(3, len(key))):
        surname, value = (re.escape(part) for part in (key[:at], key[at:]))
        between = rf"[^。！？\n]{{0,{NEAR_CHINESE_CHARACTERS}}}?"
        if len(key) - at >= 2:
            pattern = rf"{surname}{between}{value}"
        else:
            pattern = rf"姓{surname}{between}{value}|{surname}{between}[名叫唤]{value}"
        if re.search(pattern, text):
            return True
    return False
