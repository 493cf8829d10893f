"""Plain statements of notes: a holder, a place, a death, a name."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from novelgen.language.language import has_cjk, phrases
from novelgen.language.resolver import Mention, NameResolver
from novelgen.memory.attributes import is_death
from novelgen.models.entity import Entity, EntityType
from novelgen.models.folds import HOLDER_ATTRIBUTE

LONGEST_STATEMENT = 80
"""Characters of a note that states one thing; a longer one tells a story."""

_SIGNS = {"item": "\x01", "character": "\x02", "location": "\x03", "faction": "\x04", "term": "\x05"}
_NAME = (
    "(?:[\u3400-\u9fff·•]{1,12}"
    "|[A-Z\u00c0-\u00de][\\w.'’-]*(?: (?:of|the|de|la|van|von|[A-Z\u00c0-\u00de][\\w.'’-]*)){0,5})"
)
_KINDS = {
    "A": "[\x01-\x05]",
    "N": _NAME,
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

_NAMED = [re.compile(pattern.pattern) for pattern in _patterns("stated_name")]
"""With case: an English name begins with a capital."""

NAME_ATTRIBUTE = "real_name"
"""Attribute of a state: a name of somebody or something that a note states."""

STATED_ATTRIBUTES = (HOLDER_ATTRIBUTE, "location_id", "status", NAME_ATTRIBUTE)
"""Attributes that a note may state."""


def statement_of(content: str, entities: Sequence[Entity]) -> Statement | None:
    """Return what a note states; None where it tells anything else or names something without a card."""
    text = content.strip().rstrip(".。!！")
    if len(text) > LONGEST_STATEMENT:
        return None
    kinds = {entity.entity_id: entity.entity_type for entity in entities}
    mentions = NameResolver(entities).find_mentions(text)
    name = _stated_name(text, mentions, kinds)
    if name is not None:
        return name
    bare, ids, end = "", [], 0
    for mention in mentions:
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
            called_ids = [one.entity_id for one in entities if one.entity_type == "item" and _is_called(one, thing)]
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


def _stated_name(text: str, mentions: Sequence[Mention], kinds: Mapping[str, EntityType]) -> Statement | None:
    """Return the name that a text states of whom it mentions first, be the name another card's or not."""
    if not mentions:
        return None
    first = mentions[0]
    bare = text[: first.start] + _SIGNS[kinds[first.entity_id]] + re.sub('[“”"「」《》]', "", text[first.end :])
    match = next((form for pattern in _NAMED if (form := pattern.fullmatch(bare.strip()))), None)
    return None if match is None else Statement(first.entity_id, NAME_ATTRIBUTE, match["N"])


OF_TWO = 2
"""What holds or is somewhere, and who or where."""


def _is_called(thing: Entity, statement: str) -> bool:
    statement = re.sub("^[那这](?:把|个|枚|张|块)?|^the ", "", statement.strip(), flags=re.IGNORECASE)
    if not statement:
        return False
    if has_cjk(statement):
        return any(name.endswith(statement) for name in thing.names())
    return any(name.casefold().split()[-1] == statement.casefold() for name in thing.names())
