"""Contradictions between statements on a pair: kinship, marriages and enmity.

Only what is certain is told: types that are nothing but words of kinship, of marriage or of enmity. Sworn, foster,
step and in-law kin are none of these, and whatever a scene reveals about one of the two explains the change.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from novelgen.language.chronology import TellingScene
from novelgen.language.language import synonyms, word_pattern
from novelgen.language.reading import is_out_of_time
from novelgen.memory.attributes import is_death
from novelgen.memory.conflict import (
    Conflict,
    ConflictSource,
    conflict_between,
    in_story_order,
    revelations,
    said,
    source_in,
)
from novelgen.memory.outline import PairChange
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import Place, story_place
from novelgen.models.state import Relationship, StateChange

UNSAID_STATUS = Relationship.model_fields["status"].default
"""Records that were stored and read again have it where nobody gave one."""

Degree = Literal["parent", "grandparent", "uncle", "sibling", "cousin", "none"]


class Kinship(NamedTuple):
    """A blood relation.

    `elder` gives the side of the elder, where told.
    """

    degree: Degree
    elder: Literal["a", "b"] | None = None
    is_loose: bool = False
    """Whether the word is also said of those who are not: 兄弟 of comrades."""

    def excludes(self, other: Kinship) -> bool:
        """Tell whether both cannot hold of one pair."""
        if self.degree != other.degree:
            degrees = {self.degree, other.degree}
            return not ((self.is_loose or other.is_loose) and degrees & {"cousin", "none"})
        return self.elder is not None and other.elder is not None and self.elder != other.elder


_ELDER_WORDS: Mapping[str, Any] = synonyms("kin_elder")
_YOUNGER_WORDS: Mapping[str, Any] = synonyms("kin_younger")
_SIBLING_WORDS = frozenset("brother sister sibling twin 哥哥 姐姐 弟弟 妹妹 兄 弟 姐 妹".split())
_PAIRS: Mapping[str, Any] = synonyms("kin_pairs")
_NO_KIN = (
    *("not related", "no relation", "no blood relation", "unrelated by blood", "not related by blood"),
    *("strangers by blood", "stranger by blood", "no kin", "not kin"),
)
_WHOLE_TYPES: dict[str, Kinship] = {
    **{word: Kinship(degree) for word, degree in _PAIRS.items()},
    **dict.fromkeys(("brothers", "兄弟", "姐妹", "姊妹"), Kinship("sibling", is_loose=True)),
    **dict.fromkeys(_NO_KIN, Kinship("none")),
}

_BESIDE_THE_POINT = re.compile(
    r"\b(?:twin|elder|older|eldest|younger|youngest|only|estranged|long-lost|lost|own|biological|full|birth|devoted"
    r"|loving|relationship)\b"
)
_BETWEEN = re.compile(r" and | ?/ ?| ?→ ?|与|[-–]")
_SEVERAL = re.compile(r"[、，,;；]")


def kinship_in(relationship_type: str | None) -> Kinship | None:
    """Return the certain blood relation of a type, or None."""
    return next(filter(None, map(_kinship_of, _SEVERAL.split((relationship_type or "").casefold()))), None)


def _kinship_of(said_type: str) -> Kinship | None:
    words = " ".join(_BESIDE_THE_POINT.sub(" ", said_type).split()).strip("- ")
    if words in _WHOLE_TYPES:
        # Brothers by birth are none in arms or orders.
        is_certain = words == "brothers" and re.search(r"\b(?:twin|biological|full|birth)\b", said_type)
        return Kinship("sibling") if is_certain else _WHOLE_TYPES[words]
    roles = [word.strip() for word in _BETWEEN.split(words)]
    if len(roles) != 2:
        return None
    # Stories of earlier versions have roles around a hyphen that were not turned with the pair: they do not tell.
    is_told = not re.search(r"\w[-–]\w", words)
    one, other = roles
    if one in _ELDER_WORDS and _YOUNGER_WORDS.get(other) == _ELDER_WORDS[one]:
        return Kinship(_ELDER_WORDS[one], "a" if is_told else None)
    if other in _ELDER_WORDS and _YOUNGER_WORDS.get(one) == _ELDER_WORDS[other]:
        return Kinship(_ELDER_WORDS[other], "b" if is_told else None)
    return Kinship("sibling") if {one, other} <= _SIBLING_WORDS else None


_MARRIAGES = frozenset(
    {"husband and wife", "wife and husband", "husband and husband", "wife and wife", "spouses", "married"}
    | {"married couple", "husband-wife"}
)
"""In English alone: in the stories of old China somebody may well have several wives."""

_ANY_MARRIAGES = _MARRIAGES | {"夫妻", "夫妇", "丈夫与妻子", "妻子与丈夫"}
_MARRIAGE_OVER = word_pattern("relationship_conflicts_marriage_over")

_ENMITIES = frozenset(
    {"enemies", "mortal enemies", "sworn enemies", "foes", "enemy", "at war", "hostile"}
    | {"敌对", "对敌", "仇敌", "死敌", "宿敌", "仇人", "敌人", "死对头"}
)


def relationships_at_odds(
    scenes: Sequence[TellingScene],
    relationships: Sequence[PairChange],
    changes: Sequence[StateChange] = (),
    memories: Sequence[StoryMemoryChunk] = (),
) -> list[Conflict]:
    """Find kin that exclude each other, a second marriage within the first, foes wed for nothing, unless revealed."""
    by_place = {
        telling_scene.place: telling_scene for telling_scene in scenes if not is_out_of_time(telling_scene.story_time)
    }
    by_pair = _by_pair(relationships, by_place)
    revealed = revelations(memories)
    conflicts = [
        conflict
        for stated in by_pair.values()
        for conflict in (*_kin(stated, by_place, revealed), *_foes_wed(stated, by_place, revealed, memories))
    ]
    conflicts += _married_twice(by_pair, by_place, revealed, _deaths(changes, memories))
    return in_story_order(conflicts)


def _by_pair(relationships: Sequence[PairChange], places: Collection[Place]) -> Mapping[str, list[PairChange]]:
    """The statements on each pair in story order, the last type per scene."""
    grouped: defaultdict[str, dict[Place, PairChange]] = defaultdict(dict)
    for pair_change in relationships:
        place = story_place(pair_change)
        if place in places:
            before = grouped[pair_change.relationship_id].get(place)
            latest_changes = {
                name: getattr(pair_change, name) or getattr(before, name, "") for name in ("relationship_type", "event")
            }
            grouped[pair_change.relationship_id][place] = replace(
                pair_change, **latest_changes, status=pair_change.status or ""
            )
    return {pair: [stated[place] for place in sorted(stated)] for pair, stated in grouped.items()}


def _kin(
    stated: Sequence[PairChange], scenes: Mapping[Place, TellingScene], revealed: Collection[tuple[Place, str]]
) -> Iterator[Conflict]:
    last: tuple[PairChange, Kinship] | None = None
    for pair_change in stated:
        kinship = kinship_in(pair_change.relationship_type)
        if kinship is None:
            continue
        if pair_change.type_reads_back and kinship.elder is not None:
            kinship = kinship._replace(elder="b" if kinship.elder == "a" else "a")
        if last is not None and kinship.excludes(last[1]) and not _is_revealed(pair_change, revealed):
            yield _conflict(last[0], pair_change, scenes)
        last = pair_change, kinship


def _foes_wed(
    stated: Sequence[PairChange],
    scenes: Mapping[Place, TellingScene],
    revealed: Collection[tuple[Place, str]],
    memories: Sequence[StoryMemoryChunk],
) -> Iterator[Conflict]:
    foes: PairChange | None = None
    for pair_change in stated:
        pair = {pair_change.character_a, pair_change.character_b}
        if foes is not None and _is(pair_change.relationship_type, _ANY_MARRIAGES) and not pair_change.event:
            between = (
                memory
                for memory in memories
                if story_place(foes) < story_place(memory) <= story_place(pair_change)
                and pair <= set(memory.entities_mentioned)
            )
            if next(between, None) is None and not _is_revealed(pair_change, revealed):
                yield _conflict(foes, pair_change, scenes)
        if pair_change.relationship_type or pair_change.status:
            is_enmity = _is(pair_change.relationship_type, _ENMITIES) or _is(pair_change.status, _ENMITIES)
            foes = pair_change if is_enmity else None


def _married_twice(
    by_pair: Mapping[str, Sequence[PairChange]],
    scenes: Mapping[Place, TellingScene],
    revealed: Collection[tuple[Place, str]],
    deaths: Mapping[str, Place],
) -> Iterator[Conflict]:
    in_order = sorted((pair_change for stated in by_pair.values() for pair_change in stated), key=story_place)
    married: dict[str, PairChange] = {}
    for pair_change in in_order:
        pair = (pair_change.character_a, pair_change.character_b)
        is_over = _MARRIAGE_OVER.search(f"{pair_change.relationship_type} {pair_change.status}") is not None
        is_marriage = _is(pair_change.relationship_type, _MARRIAGES) and not is_over
        for one, other in (pair, pair[::-1]):
            first = married.get(one)
            if first is not None and first.relationship_id == pair_change.relationship_id:
                if (pair_change.relationship_type or is_over) and not is_marriage:
                    del married[one]
                continue
            if not is_marriage:
                continue
            if first is not None and _lasts(first, pair_change, deaths) and not _is_revealed(pair_change, revealed):
                spouse = first.character_b if first.character_a == one else first.character_a
                yield conflict_between(
                    "relationship",
                    one,
                    [one, spouse, other],
                    first=_side(first, scenes),
                    second=_side(pair_change, scenes),
                )
            married[one] = pair_change


def _lasts(first: PairChange, later: PairChange, deaths: Mapping[str, Place]) -> bool:
    died = [deaths[entity_id] for entity_id in (first.character_a, first.character_b) if entity_id in deaths]
    return story_place(first) < story_place(later) and all(place > story_place(later) for place in died)


def _deaths(changes: Sequence[StateChange], memories: Sequence[StoryMemoryChunk]) -> dict[str, Place]:
    """The earliest possible place of each death."""
    lines = [(change.entity_id, story_place(change)) for change in changes if is_death(change.attribute, change.value)]
    lines += [
        (entity_id, story_place(memory))
        for memory in memories
        if memory.event_type == "death"
        for entity_id in memory.entities_mentioned
    ]
    return dict(sorted(lines, key=lambda pair: pair[1], reverse=True))


def _is(said_text: str | None, words: Collection[str]) -> bool:
    return any(text.strip() in words for text in _SEVERAL.split((said_text or "").casefold()))


def _is_revealed(pair_change: PairChange, revealed: Collection[tuple[Place, str]]) -> bool:
    return any(
        (story_place(pair_change), one) in revealed for one in (pair_change.character_a, pair_change.character_b)
    )


def _conflict(first: PairChange, pair_change: PairChange, scenes: Mapping[Place, TellingScene]) -> Conflict:
    sides = {"first": _side(first, scenes), "second": _side(pair_change, scenes)}
    return conflict_between(
        "relationship", pair_change.relationship_id, [pair_change.character_a, pair_change.character_b], **sides
    )


def _side(stated: PairChange, scenes: Mapping[Place, TellingScene]) -> ConflictSource:
    ids = (
        (stated.character_b, stated.character_a) if stated.type_reads_back else (stated.character_a, stated.character_b)
    )
    text = ", ".join(text for text in (stated.relationship_type, stated.status) if text and text != UNSAID_STATUS)
    source = source_in(scenes[story_place(stated)], said(" – ".join(ids), text), value=stated.relationship_type or None)
    return source.model_copy(update={"type_reads_back": stated.type_reads_back})
