"""Injuries that a note tells, and their healing."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from novelgen.checking.body_parts import body_parts
from novelgen.language.language import patterns, word_pattern
from novelgen.language.resolver import NameResolver
from novelgen.memory.stated import harms_told
from novelgen.models.entity import Entity

_CLAUSE_END = re.compile(r"[,;，；。！!]|\.(?:\s|$)|\s+and (?=[a-z])")
_HEALED = word_pattern("healing_healed")
_NOT_HEALED = word_pattern("healing_not_yet")
_IMPAIRED = word_pattern("healing_impaired")
_NO_LIMBS = word_pattern("healing_no_limbs")
_LIMBS_BY_WORDS = {limb: re.compile(words, re.IGNORECASE) for limb, words in patterns("healing_limbs").items()}
_OWNER_END = re.compile("['’]s? |的")
_SIDES = {
    "left": re.compile(r"\bleft (?!the\b|for\b|in\b)|左(?!右)", re.IGNORECASE),
    "right": re.compile(r"\bright (?!away\b|in\b|on\b)|(?<!左)右", re.IGNORECASE),
}


class Hurt(NamedTuple):
    """Somebody with an injury or without one any more, and where it is."""

    entity_id: str
    limbs: frozenset[str]
    sides: frozenset[str]

    def fits(self, other: "Hurt") -> bool:
        """Tell whether two may be one injury: the same person, limb and side, as far as they are named."""
        return (
            self.entity_id == other.entity_id
            and not (self.limbs and other.limbs and self.limbs.isdisjoint(other.limbs))
            and not (self.sides and other.sides and self.sides.isdisjoint(other.sides))
        )


def is_healing(text: str) -> bool:
    """Tell whether a text tells that an injury healed."""
    return any(_is_healed(clause) for clause in _CLAUSE_END.split(text) if clause)


def without_healing(text: str) -> str:
    """Return a text without the clauses that tell of a healing."""
    return "，".join(clause for clause in _CLAUSE_END.split(text) if clause and not _is_healed(clause))


def injuries_in(text: str, entities: Sequence[Entity]) -> list[Hurt]:
    """Return the injuries that a text tells."""
    injuries = [
        _hurt(harm.entity_id, harm.clause)
        for harm in harms_told(text, entities)
        if harm.entity_id is not None and harm.attribute != "status"
    ]
    return injuries + _persons_by(text, entities, lambda clause: bool(_IMPAIRED.search(clause)))


def healings_in(text: str, entities: Sequence[Entity]) -> list[Hurt]:
    """Return the injuries that a text says are healed."""
    return _persons_by(text, entities, _is_healed)


def _persons_by(text: str, entities: Sequence[Entity], is_wanted: Callable[[str], bool]) -> list[Hurt]:
    """Return the person of each wanted clause."""
    people_ids = {entity.entity_id for entity in entities if entity.entity_type == "character"}
    mentions = [one for one in NameResolver(entities).find_mentions(text) if one.entity_id in people_ids]
    hurts: list[Hurt] = []
    last_id, start = None, 0
    for stop, following in [*(end.span() for end in _CLAUSE_END.finditer(text)), (len(text), len(text))]:
        own = [one for one in mentions if start <= one.start < stop]
        clause = text[start:stop]
        person_id = own[0].entity_id if own else last_id
        if is_wanted(clause) and person_id is not None:
            word = _HEALED.search(text, start, stop)
            owners = [one for one in own if _OWNER_END.match(text, one.end)]
            before = owners or [one for one in own if word is None or one.start <= word.start()] or own
            hurt = _hurt(before[-1].entity_id if before else person_id, clause)
            if not hurt.limbs and hurts and hurts[-1].entity_id == hurt.entity_id:
                # "Her left arm is mended, and the splint came off": it was the arm's.
                hurt = hurts[-1]
            hurts.append(hurt)
        last_id, start = person_id, following
    return hurts


def _is_healed(clause: str) -> bool:
    return _HEALED.search(clause) is not None and not _NOT_HEALED.search(clause)


def _hurt(entity_id: str, clause: str) -> Hurt:
    words = _NO_LIMBS.sub(" ", clause)
    limbs = body_parts(words) | {limb for limb, pattern in _LIMBS_BY_WORDS.items() if pattern.search(words)}
    sides = frozenset(side for side, pattern in _SIDES.items() if pattern.search(words)) if limbs else frozenset()
    return Hurt(entity_id, frozenset(limbs), sides)
