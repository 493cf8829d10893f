"""Things that a text places, or gives to somebody."""

import re
from collections.abc import Collection, Iterable, Sequence

from novelgen.language.language import has_cjk, patterns, word_pattern
from novelgen.memory.stated import mentions_in, statements_of
from novelgen.models.entity import Entity, EntityType

_CLAUSE_END = re.compile(r"[,;，；。！!：:]|\.(?:\s|$)")
_IT = re.compile(r"\b(?:it|they|them)\b|它", re.IGNORECASE)
_ASKS = re.compile("[?？吗]")
_THING, _OTHER = "\x01", "\x02"
_TOLD = re.compile(
    "|".join(words.replace("\n", "").replace("<I>", _THING) for words in patterns("whereabouts").values()),
    re.IGNORECASE,
)
_UNNAMED = re.compile(
    "|".join(words.replace("\n", "").replace("<C>", _OTHER) for words in patterns("whereabouts_unnamed").values()),
    re.IGNORECASE,
)
_INSIDE = re.compile(r"的?[里中内上下]")
"""Right after what holds a thing."""

_NOT_NOW = word_pattern("whereabouts_not_now")
_DENIED = word_pattern("character_view_denied")
_GUESSED = word_pattern("stated_guess")
_SENTENCE_END = re.compile(r"[;；。！!]|\.(?:\s|$)")
_BESIDE = {
    kind: re.compile(
        "|".join(
            words.replace("\n", "").replace("<V>", _OTHER).replace("<I>", _THING)
            for words in patterns(f"whereabouts_{kind}").values()
        ),
        re.IGNORECASE,
    )
    for kind in ("held_by", "placed_at", "left")
}
LEAST_VALUE_CHARACTERS = {"en": 4, "zh": 2}
"""A shorter value may stand in any text."""


def things_located(text: str, entities: Sequence[Entity]) -> frozenset[str]:
    """Return the things that a text places.

    It tells the holder, the place or the loss, as they are by now. A clause tells it of its first thing, or of the
    thing before where it has only a pronoun or no name at all.
    """
    kinds = {entity.entity_id: entity.entity_type for entity in entities}
    located_ids = {
        statement.entity_id for statement in statements_of(text, entities) if kinds[statement.entity_id] == "item"
    }
    mentions = mentions_in(text, entities)
    thing_id, start = None, 0
    ends = [end for end in _CLAUSE_END.finditer(text) if not any(one.start < end.end() <= one.end for one in mentions)]
    for stop, following in [*(end.span() for end in ends), (len(text), len(text))]:
        own = [one for one in mentions if start <= one.start < stop]
        thing = next((one for one in own if kinds[one.entity_id] == "item" and not _INSIDE.match(text, one.end)), None)
        clause = ""
        for mention in own:
            clause += text[start : mention.start] + (_THING if mention is thing else _OTHER)
            start = mention.end
        clause += text[start:stop]
        start = following
        if thing is not None:
            thing_id = thing.entity_id
        elif thing_id is not None and (pronoun := _IT.search(clause)) is not None:
            clause = clause[: pronoun.start()] + _THING + clause[pronoun.end() :]
        elif own:
            continue
        else:
            clause = _THING + clause
        if thing_id is not None and _TOLD.search(clause) and not _NOT_NOW.search(clause):
            located_ids.add(thing_id)
    return frozenset(located_ids)


def tells_whereabouts(text: str, entities: Sequence[Entity], people: Iterable[str]) -> bool:
    """Tell whether a text places a thing, be it without a card.

    A thing without a card is placed where it is hidden or given away.

    Args:
        text: A note.
        entities: The cards.
        people: The names of all people.
    """
    if things_located(text, entities):
        return True
    signed = text
    for name in sorted((name for name in people if name and name in text), key=len, reverse=True):
        signed = signed.replace(name, _OTHER)
    return any(
        _UNNAMED.search(clause) and not _NOT_NOW.search(clause) and not _ASKS.search(clause)
        for clause in _CLAUSE_END.split(signed)
    )


def tells_value(text: str, names: Collection[str], values: Collection[str], *, kind: EntityType | None = None) -> bool:
    """Tell whether a sentence of a text plainly says a value of somebody or something.

    Args:
        text: A note.
        names: The names of the bearer.
        values: The names of the value, or the value in words.
        kind: The kind of card that the value is, None for words.
    """
    for sentence in _SENTENCE_END.split(text):
        if any(words.search(sentence) for words in (_NOT_NOW, _DENIED, _GUESSED, _ASKS)):
            continue
        signed = _signed(_signed(sentence, names, _THING), values, _OTHER)
        if _THING not in signed or _OTHER not in signed or _BESIDE["left"].search(signed):
            continue
        if kind is None:
            return any(len(value) >= LEAST_VALUE_CHARACTERS["zh" if has_cjk(value) else "en"] for value in values)
        if _BESIDE["held_by" if kind == "character" else "placed_at"].search(signed):
            return True
    return False


def _signed(text: str, names: Iterable[str], sign: str) -> str:
    """Return a text with a sign in place of some names."""
    for name in sorted(filter(None, names), key=len, reverse=True):
        pattern = re.escape(name) if has_cjk(name) else rf"\b{re.escape(name)}\b"
        text = re.sub(pattern, sign, text, flags=re.IGNORECASE)
    return text
