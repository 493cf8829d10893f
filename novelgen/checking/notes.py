"""What the author's own notes say for certain: who has a thing, and who never leaves a place."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from novelgen.checking.findings import of_memory, place_of
from novelgen.checking.story import Draft, StoryBefore
from novelgen.language.language import phrases, word_pattern, wording
from novelgen.language.normalise import simplified
from novelgen.language.resolver import Mention
from novelgen.language.sentences import Span, split_sentences
from novelgen.models.continuity import ContinuityEvidence
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import StoryPosition
from novelgen.models.state import PRESENCE_ATTRIBUTE


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where the story or a note left a thing; a note may know it by a word alone, without an id."""

    holder_id: str
    since: StoryPosition
    evidence: tuple[ContinuityEvidence, ...]
    thing: str = ""
    thing_id: str | None = None


@dataclass(frozen=True, slots=True)
class Stay:
    """A place that somebody never leaves."""

    place_id: str
    evidence: ContinuityEvidence


_UNCERTAIN = word_pattern("notes_uncertain")
"""A note that says so tells of another time, or of what may be."""

_ALWAYS = r"(?:一直|始终|总是|总|如今|现在|目前|已经?|仍然?|还|依然|就|都|永远|随身|贴身)?"
_ADVERB = r"(?:(?!never\b)\w+ )?"
_THING = "\ue000"
_HOLDER = "\ue001"
_PLACE = "\ue002"
"""Stand for a thing, a person and a place in what follows; a thing without a card is read as a word."""

_WORD_FOR_A_THING = r"(?P<thing>[\u4e00-\u9fff]{2,6}?|(?:[\w’'-]+ ){1,3}?[\w’'-]+)"

_MARKS = {"ALWAYS": _ALWAYS, "ADVERB": _ADVERB, "THING": _THING, "HOLDER": _HOLDER, "PLACE": _PLACE}


def _sentences_of(name: str) -> list[str]:
    return [re.sub("|".join(_MARKS), lambda mark: _MARKS[mark[0]], each) for each in phrases(name)]


_HOLDS, _STAYS = _sentences_of("notes_holds"), _sentences_of("notes_stays")
_MOVING = frozenset({"transfer", "theft", "gift"})
"""Kinds of memories after which a thing may be with another."""


def held_in_notes(story: StoryBefore) -> list[Keeping]:
    """Return the things that notes put into somebody's hands, where no later note or memory moves them."""
    found = [held for note in _notes(story) for held in _held_in(note, story)]
    last = {each.thing: each for each in sorted(found, key=lambda each: each.since)}
    return [each for each in last.values() if not _is_moved(each, story)]


def stays_in_notes(story: StoryBefore) -> dict[str, Stay]:
    """Return by their ids who never leaves which place by a note."""
    found: dict[str, Stay] = {}
    for note in _notes(story):
        people = _named(note.content, story, "character")
        places = _named(note.content, story, "location", "faction")
        for person in people:
            for place in places:
                if any(_says(pattern, note.content, (person, _HOLDER), (place, _PLACE)) for pattern in _STAYS):
                    found[person.entity_id] = Stay(place.entity_id, of_memory(note, story))
    return {who: stay for who, stay in found.items() if not _was_elsewhere(who, stay, story)}


def _was_elsewhere(entity_id: str, stay: Stay, story: StoryBefore) -> bool:
    """Whether the story has put somebody at another place since, or at any where the note stands at none."""
    since = StoryPosition(stay.evidence.chapter_index or 0, stay.evidence.scene_index or 0)
    places = [
        change.value.get("location_id") if isinstance(change.value, Mapping) else change.value
        for change in story.changes
        if change.entity_id == entity_id and change.attribute in ("location_id", PRESENCE_ATTRIBUTE)
        if place_of(change) >= since
    ]
    return any(each is not None and each != stay.place_id for each in places)


def _notes(story: StoryBefore) -> list[StoryMemoryChunk]:
    return [each for each in story.memories if each.content_type == "note" and each.superseded_by is None]


def _named(text: str, story: StoryBefore, *entity_types: str) -> list[Mention]:
    mentions = story.resolver.find_mentions(text)
    return [each for each in mentions if story.entity[each.entity_id].entity_type in entity_types]


def _says(pattern: str, text: str, *placed: tuple[Mention, str]) -> re.Match[str] | None:
    """Match a pattern where mentions stand for its places; a sentence that is not certain matches nothing."""
    for mention, mark in sorted(placed, key=lambda each: -each[0].start):
        text = f"{text[: mention.start]}{mark}{text[mention.end :]}"
    text = simplified(text)
    found = re.search(pattern, text)
    if found is None:
        return None
    start = max(text.rfind(each, 0, found.start()) for each in "。；！？.;!?\n") + 1
    ends = [at for each in "。；！？.;!?\n" if (at := text.find(each, found.end())) >= 0]
    return None if _UNCERTAIN.search(text[start : min(ends, default=len(text))]) else found


def _held_in(note: StoryMemoryChunk, story: StoryBefore) -> Iterator[Keeping]:
    people = _named(note.content, story, "character")
    things = _named(note.content, story, "item")
    evidence, since = (of_memory(note, story),), place_of(note)
    for person in people:
        for thing in things:
            if any(_says(pattern, note.content, (person, _HOLDER), (thing, _THING)) for pattern in _HOLDS):
                yield Keeping(person.entity_id, since, evidence, thing.name, thing.entity_id)
        if things:
            continue
        for pattern in _HOLDS:
            found = _says(pattern.replace(_THING, _WORD_FOR_A_THING), note.content, (person, _HOLDER))
            if found is not None and _HOLDER not in found["thing"]:
                yield Keeping(person.entity_id, since, evidence, found["thing"])
                break


def _is_moved(held: Keeping, story: StoryBefore) -> bool:
    """Whether a memory tells that the thing changed hands since; of a note without a place, whether one does at all."""
    is_placed = held.evidence[0].chapter_index is not None
    return any(
        memory.event_type in _MOVING and simplified(held.thing) in simplified(memory.content)
        for memory in story.memories
        if memory.content_type != "note" and (not is_placed or place_of(memory) > held.since)
    )


# --- Elsewhere ---

_AT = re.compile(wording("notes_at"))
"""What has somebody stand, sit or come at a place that follows, and not only think of it."""

_JOURNEY = re.compile(wording("notes_journey"), re.IGNORECASE)
"""What a sentence says that names two places as apart."""


def elsewhere_of(stay: Stay, act: Span, draft: Draft, story: StoryBefore) -> str | None:
    """Return the place of an act where it is certainly not the one that somebody never leaves."""
    for mention in draft.mentions:
        if not act.start <= mention.start < act.end or mention.entity_id == stay.place_id:
            continue
        if re.search(r"[，。！？；]", draft.plain[act.start : mention.start]):
            # What a later clause has in it may be what somebody thinks of.
            continue
        if story.entity[mention.entity_id].entity_type not in ("location", "faction"):
            continue
        is_at = draft.speech_at(mention.start) is None and _AT.search(draft.plain, act.start, mention.start)
        if is_at and _are_apart(stay.place_id, mention.entity_id, story):
            return mention.entity_id
    return None


def _are_apart(one: str, other: str, story: StoryBefore) -> bool:
    return any(
        {one, other} <= set(story.resolver.entity_ids_in(sentence))
        for text in (*(each.text for each in story.scenes), *(each.content for each in story.memories))
        for sentence in _sentences(text, story.entity[one].names(), story.entity[other].names())
    )


def _sentences(text: str, one: Sequence[str], other: Sequence[str]) -> Iterator[str]:
    """Yield the sentences of a way that name both places."""
    if any(each in text for each in one) and any(each in text for each in other):
        for start, end in split_sentences(text):
            sentence = text[start:end]
            if _JOURNEY.search(sentence):
                yield sentence
