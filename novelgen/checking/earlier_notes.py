"""Earlier notes that a later note ends, surely or perhaps."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from novelgen.checking.healing import Hurt, healings_in, injuries_in, without_healing
from novelgen.checking.story import stem, telling_words
from novelgen.language.language import has_cjk, patterns, phrases, word_list, word_pattern, wording
from novelgen.language.resolver import Mention, NameResolver
from novelgen.memory.attributes import LOCATION_ATTRIBUTE
from novelgen.memory.stated import Statement, mentions_in, statement_of
from novelgen.memory.whereabouts import things_located
from novelgen.models.entity import Entity
from novelgen.models.folds import HOLDER_ATTRIBUTE
from novelgen.models.memory import StoryMemoryChunk

MAX_PERHAPS_OVER = 3
"""So many earlier notes are shown."""

LONGEST_ENDED = 120
"""Characters of a note that tells one thing."""

_SPLIT = re.compile(r"[,;，；。！!]|\.(?:\s|$)")
_SKIPPED = frozenset(word_list("ended_skipped_en"))
_NEGATIONS = frozenset(word_list("ended_negations_en"))
_FREED = re.compile(wording("ended_freed_en"), re.IGNORECASE)
_HELD = re.compile(wording("ended_held_en"), re.IGNORECASE)
_NO_LONGER_CHINESE = re.compile(wording("ended_no_longer_zh"))
_SKIPPED_CHINESE = re.compile(wording("ended_skipped_zh"))
_NEGATED_CHINESE = re.compile(wording("ended_negated_zh"))
_FREED_CHINESE = re.compile(wording("ended_freed_zh"))
_HELD_CHINESE = re.compile(wording("ended_held_zh"))
_KINDS = {kind: re.compile(words, re.IGNORECASE) for kind, words in patterns("statement_kinds").items()}
_KIND_OF_SLOT = {HOLDER_ATTRIBUTE: "holder", LOCATION_ATTRIBUTE: "place", "status": "life"}
_LASTING = re.compile(wording("ended_lasting"), re.IGNORECASE)
_CHANGING = re.compile(wording("ended_changing"), re.IGNORECASE)
_DESTROYED = re.compile(wording("ended_destroyed"), re.IGNORECASE)
_OF_ONE_THING = frozenset({"holder", "count"})
"""Kinds of which two statements of somebody tell one thing only where both name it."""

_TOLD_THAT = re.compile(wording("ended_told_that"), re.IGNORECASE)
"""What somebody is told, which changes nothing of whom it is about."""

_GIVEN_TO = re.compile(f"(?:{wording('ended_given_to')})$", re.IGNORECASE)

_UNMOVED = word_pattern("whereabouts_unchanged")
_FOR_EVER = re.compile(wording("ended_for_ever"), re.IGNORECASE)


class EarlierNotes(NamedTuple):
    """Earlier notes that a note ends, and those that it perhaps ends."""

    over: list[StoryMemoryChunk]
    perhaps_over: list[StoryMemoryChunk]


def earlier_notes_ended(content: str, notes: Sequence[StoryMemoryChunk], entities: Sequence[Entity]) -> EarlierNotes:
    """Return those of some earlier notes that a note ends.

    Surely over is a note of one statement on the same person or thing that the new one denies in its words, or from
    which it frees. Perhaps over is one that tells where a thing is, who has it or that it is gone, where the new one
    tells that of the same thing. So is one that tells something lasting of the person or thing of which the new one
    tells a change of the same kind: a place, life, a promise, a count, bonds or health, or a holder and a count of one
    thing without a card. So is one that tells an injury of whom the new one says that it healed, that of the same limb
    first. So is one of what is in a thing or place that the new one destroys. What somebody is told
    changes nothing, nor does a holder to whom the earlier note gives or lends the thing.
    """
    resolver = NameResolver(entities)
    mentions = mentions_in(content, entities, resolver=resolver)
    happened = _TOLD_THAT.sub("", content)
    moved_ids = frozenset() if _UNMOVED.search(happened) else things_located(happened, entities)
    if not mentions and not moved_ids:
        return EarlierNotes([], [])
    subject_id = mentions[0].entity_id if mentions else None
    kinds = {entity.entity_id: entity.entity_type for entity in entities}
    named_ids = {mention.entity_id for mention in mentions if kinds[mention.entity_id] in ("character", "item")}
    thing_ids = {one for one in named_ids if kinds[one] == "item"}
    own_words = _words_beside_names(content, mentions)
    healings = healings_in(happened, entities)
    own_kinds = kinds_told(without_healing(happened) if healings else happened)
    stated = statement_of(content, entities)
    over: list[StoryMemoryChunk] = []
    scored_notes: list[tuple[int, int, int, StoryMemoryChunk]] = []
    for number, note in enumerate(notes):
        of_note = mentions_in(note.content, entities, resolver=resolver)
        first_id = of_note[0].entity_id if of_note else None
        is_moved = bool(moved_ids) and not moved_ids.isdisjoint(_things_of(note, entities))
        was_inside = bool(mentions) and _was_inside(content, mentions[0], note.content, of_note)
        of_limb = _healed_limb(healings, note, entities)
        if not (is_moved or was_inside or first_id in named_ids or of_limb is not None):
            continue
        if mentions and of_note and not note.slot_type and _is_denied(content, mentions, note.content, of_note):
            over.append(note)
            continue
        if is_moved and stated is not None and _gives_to_the_same(stated, note.content, of_note, entities):
            is_moved = False
        shared = len(own_words & _words_beside_names(note.content, of_note))
        same_kinds = own_kinds & _kinds_of(note)
        things_of_note = {mention.entity_id for mention in of_note if kinds[mention.entity_id] == "item"}
        if things_of_note:
            # Where a thing with a card is, and who has it, its whereabouts alone tell.
            same_kinds -= {"holder", "place"} if first_id in things_of_note else {"holder"}
        is_changed = (
            first_id is not None
            and first_id == subject_id
            and bool(same_kinds)
            and (shared > 0 or not thing_ids.isdisjoint(things_of_note) or not same_kinds <= _OF_ONE_THING)
            and _may_end(note)
            and _CHANGING.search(happened) is not None
        )
        if was_inside or is_moved or is_changed or of_limb is not None:
            scored_notes.append((not of_limb, -shared, -number, note))
    scored_notes.sort(key=lambda scored: scored[:3])
    return EarlierNotes(over, [note for *_, note in scored_notes[:MAX_PERHAPS_OVER]])


def _healed_limb(healings: Sequence[Hurt], note: StoryMemoryChunk, entities: Sequence[Entity]) -> bool | None:
    """Tell whether a note tells the injury of a limb that healed, None where it tells none that did."""
    injuries = injuries_in(note.content, entities) if healings else []
    pairs = [(healing, injury) for healing in healings for injury in injuries if healing.fits(injury)]
    return any(healing.limbs & injury.limbs for healing, injury in pairs) if pairs else None


def _things_of(note: StoryMemoryChunk, entities: Sequence[Entity]) -> frozenset[str]:
    """Return the things that a note places, by state or words."""
    entity_id, _, attribute = (note.slot_type or "").rpartition(".")
    by_state = {entity_id} if attribute in (HOLDER_ATTRIBUTE, LOCATION_ATTRIBUTE) else set()
    return things_located(note.content, entities) | by_state


def _gives_to_the_same(
    stated: Statement, earlier: str, mentions: Sequence[Mention], entities: Sequence[Entity]
) -> bool:
    """Tell whether an earlier text gives a thing to the holder that a later one states."""
    if stated.attribute != HOLDER_ATTRIBUTE or statement_of(earlier, entities) == stated:
        return stated.attribute == HOLDER_ATTRIBUTE
    return any(
        mention.entity_id == stated.value and _GIVEN_TO.search(earlier, 0, mention.start) is not None
        for mention in mentions
    )


def _was_inside(later: str, subject: Mention, earlier: str, earlier_mentions: Sequence[Mention]) -> bool:
    """Tell whether a later text destroys where something was."""
    rest = _SPLIT.split(later[subject.end :])[0]
    if not _DESTROYED.search(rest):
        return False
    names = {
        re.escape(re.sub("^the ", "", mention.name, flags=re.IGNORECASE))
        for mention in earlier_mentions
        if mention.entity_id == subject.entity_id
    }
    return any(
        re.search(pattern.replace("<N>", name), earlier, re.IGNORECASE)
        for name in names
        for pattern in phrases("ended_inside")
    )


def kinds_told(text: str) -> frozenset[str]:
    """Return the kinds of statements in a text."""
    return frozenset(kind for kind, pattern in _KINDS.items() if pattern.search(text))


def _kinds_of(note: StoryMemoryChunk) -> frozenset[str]:
    """Return the kinds of a note by state or words."""
    kind = _KIND_OF_SLOT.get((note.slot_type or "").rpartition(".")[2])
    return kinds_told(note.content) if kind is None else frozenset({kind})


def _may_end(note: StoryMemoryChunk) -> bool:
    if (note.slot_type or "").endswith(".real_name"):
        return False
    return bool(note.slot_type or _LASTING.search(note.content)) and not _FOR_EVER.search(note.content)


def _words_beside_names(text: str, mentions: Sequence[Mention]) -> frozenset[str]:
    for mention in mentions:
        text = text[: mention.start] + " " * (mention.end - mention.start) + text[mention.end :]
    return telling_words(text)


def _is_denied(
    later: str, later_mentions: Sequence[Mention], earlier: str, earlier_mentions: Sequence[Mention]
) -> bool:
    """Tell whether a text denies or undoes another."""
    new = _predicate(later, later_mentions, is_whole=False)
    old = _predicate(earlier, earlier_mentions, is_whole=True)
    if new is None or old is None or new.subject_id != old.subject_id:
        return False
    return (_is_denied_in_chinese if has_cjk(earlier) else _is_denied_in_english)(new.text, old.text)


class _Predicate(NamedTuple):
    subject_id: str
    text: str


def _predicate(text: str, mentions: Sequence[Mention], *, is_whole: bool) -> _Predicate | None:
    """Return the first statement of a text on its first name."""
    first = mentions[0]
    if text[: first.start].strip().casefold() not in ("", "the") or len(text) > LONGEST_ENDED:
        return None
    said, *others = _SPLIT.split(text[first.end :])
    if is_whole and any(other.strip() for other in others):
        return None
    return _Predicate(first.entity_id, " ".join(said.split()))


def _is_denied_in_english(new: str, old: str) -> bool:
    new_words, old_words = (re.findall(r"[^\W_]+(?:['’][a-z]+)?", text.casefold()) for text in (new, old))
    stems = [[stem(word) for word in words if word not in _SKIPPED | _NEGATIONS] for words in (new_words, old_words)]
    is_negated = [bool(_NEGATIONS.intersection(words)) for words in (new_words, old_words)]
    if is_negated == [True, False]:
        return bool(stems[0]) and stems[0] == stems[1]
    new_match, old_match = _FREED.fullmatch(new), _HELD.fullmatch(old)
    return (
        new_match is not None and old_match is not None and new_match["what"].casefold() == old_match["what"].casefold()
    )


def _is_denied_in_chinese(new: str, old: str) -> bool:
    denied = _NO_LONGER_CHINESE.fullmatch(new)
    if denied is not None and not _NEGATED_CHINESE.search(old):
        said = denied["what"] or denied["what_else"]
        return _SKIPPED_CHINESE.sub("", said) == _SKIPPED_CHINESE.sub("", old) != ""
    new_match, old_match = _FREED_CHINESE.fullmatch(new), _HELD_CHINESE.fullmatch(old)
    return (
        new_match is not None
        and old_match is not None
        and (new_match["what"] or new_match["what_else"]) == old_match["what"]
    )
