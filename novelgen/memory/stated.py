"""What a note states plainly of somebody or something: who holds it, where it is, that somebody is dead."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from novelgen.language.language import has_cjk, phrases
from novelgen.language.resolver import NameResolver
from novelgen.memory.attributes import is_death
from novelgen.models.entity import Entity
from novelgen.models.folds import HOLDER_ATTRIBUTE

LONGEST_STATEMENT = 80
"""Characters of a note that states one thing; a longer one tells a story."""

_SIGNS = {"item": "\x01", "character": "\x02", "location": "\x03"}
_KINDS = {
    "I": _SIGNS["item"],
    "C": _SIGNS["character"],
    "L": _SIGNS["location"],
    "X": f"[{_SIGNS['item']}{_SIGNS['character']}]",
}


class Statement(NamedTuple):
    """A value of an entity's state, as a note states it."""

    entity_id: str
    attribute: str
    value: str


def _patterns(name: str) -> list[re.Pattern[str]]:
    return [
        re.compile(re.sub(r"<(\w)>", lambda match: f"(?P<{match[1]}>{_KINDS[match[1]]})", other_name), re.IGNORECASE)
        for other_name in phrases(name)
    ]


_HELD = _patterns("stated_holder")
_HELD_THING = [
    re.compile(pattern.pattern.replace(_SIGNS["item"], r"(?:那|这|那把|这把)?[^\x01-\x03\s]{1,12}?"), re.IGNORECASE)
    for pattern in _HELD
]
"""The same of a thing that a note calls by the last word of its name: 刀 of 鹿角柄折刀."""

_PLACED = _patterns("stated_place")


def statement_of(content: str, known: Sequence[Entity]) -> Statement | None:
    """Return what a note states; None where it tells anything else or names something without a card."""
    text = content.strip().rstrip(".。!！")
    if len(text) > LONGEST_STATEMENT:
        return None
    kinds = {entity.entity_id: entity.entity_type for entity in known}
    bare, ids, end = "", [], 0
    for mention in NameResolver(known).find_mentions(text):
        sign = _SIGNS.get(kinds[mention.entity_id])
        if sign is None or mention.start < end:
            return None
        bare += text[end : mention.start] + sign
        ids.append(mention.entity_id)
        end = mention.end
    bare = " ".join((bare + text[end:]).split())
    if len(ids) == 1 and kinds[ids[0]] == "character":
        told_text = re.sub(r"^(?:is|was|has|已经) ?", "", bare[1:].strip(" ，,"))
        if bare[:1] == _SIGNS["character"] and is_death("status", told_text):
            return Statement(ids[0], "status", "已死" if has_cjk(content) else "dead")
        for pattern in _HELD_THING:
            thing = matching_match["I"] if (matching_match := pattern.fullmatch(bare)) else ""
            called_ids = [one.entity_id for one in known if one.entity_type == "item" and _is_called(one, thing)]
            if len(called_ids) == 1:
                return Statement(called_ids[0], HOLDER_ATTRIBUTE, ids[0])
    for patterns, attribute, subject, value in (
        (_HELD, HOLDER_ATTRIBUTE, "I", "C"),
        (_PLACED, "location_id", "X", "L"),
    ):
        match = next((form for pattern in patterns if (form := pattern.fullmatch(bare))), None)
        if match is not None and len(ids) == OF_TWO:
            is_first = match.start(subject) < match.start(value)
            return Statement(ids[0 if is_first else 1], attribute, ids[1 if is_first else 0])
    return None


OF_TWO = 2
"""What holds or is somewhere, and who or where."""


def _is_called(thing: Entity, statement: str) -> bool:
    statement = re.sub("^[那这](?:把|个|枚|张|块)?|^the ", "", statement.strip(), flags=re.IGNORECASE)
    if not statement:
        return False
    if has_cjk(statement):
        return any(name.endswith(statement) for name in thing.names())
    return any(name.casefold().split()[-1] == statement.casefold() for name in thing.names())
