"""What puts an end to an earlier fact: a slot's new value, or a memory that closes what another opened."""

import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from typing import NamedTuple

from novelgen.language.language import significant_words
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import Place
from novelgen.models.record import RecordedMemory, SceneRecord

_SLOT = re.compile(r"(?P<entity>[^\s.]+)\.(?P<attribute>[^\s.][^.]*)")


class SlotHolder(NamedTuple):
    """A memory that holds a slot, and where the story puts it there."""

    place: Place
    source_id: str


def slot_of(entity_id: str, attribute: str) -> str:
    """Return the name of an entity's slot."""
    return f"{entity_id}.{attribute}"


def split_slot(slot: str) -> tuple[str, str] | None:
    """Return entity and attribute of a slot, or None when it is not written `entity.attribute`."""
    match = _SLOT.fullmatch(slot.strip())
    return (match["entity"], match["attribute"].strip()) if match else None


def closed_by(holders: Sequence[SlotHolder], place: Place) -> str | None:
    """Return what took a slot over from a memory, or None while it still holds.

    A new value closes the old one at its position; values at one position stand side by side.
    """
    later = bisect_right(holders, place, key=lambda holder: holder.place)
    return holders[later].source_id if later < len(holders) else None


SUPERSESSION_CHAINS: dict[str, str] = {
    "promise_kept": "promise_made",
    "promise_broken": "promise_made",
    "alliance_broken": "alliance_formed",
    "trust_lost": "trust_gained",
    "secret_revealed": "secret_kept",
}
"""Event type that ends something, to the event type that began it."""

SHARED_ENTITIES = 2
"""Entities that both memories must name; all of them where one names fewer."""


class Opened(NamedTuple):
    """A memory that a later one may put an end to."""

    memory_id: str
    event_type: str | None
    entities: frozenset[str]
    content: str


def likeliest_ended(entities: Collection[str], content: str, opened: Sequence[Opened]) -> list[Opened]:
    """Return which of some a memory puts an end to: what shares most entities with it, of these most words.

    Where several share as much it is all of them, and none is meant for sure: a wrong one would be lost.
    """
    words = significant_words(content)
    shared = [
        (len(each.entities.intersection(entities)), len(words & significant_words(each.content))) for each in opened
    ]
    most = max(shared, default=None)
    return [each for each, likeness in zip(opened, shared, strict=True) if likeness == most]


def with_supersessions(
    record: SceneRecord, earlier: Sequence[StoryMemoryChunk], *, people: Collection[str] | None = None
) -> SceneRecord:
    """Return a record whose memories say what they supersede by the chains.

    A memory that says itself what it supersedes is left alone. Nothing is superseded twice, and where two
    earlier memories fit equally well, neither is.
    """
    open_candidates = [
        Opened(chunk.source_id, chunk.event_type, frozenset(chunk.entities_mentioned), chunk.content)
        for chunk in earlier
        if chunk.source_id and chunk.superseded_by is None
    ]
    memories: list[RecordedMemory] = []
    for memory in record.memories:
        ended = memory.supersedes or _ended_by(memory, open_candidates, people)
        memories.append(memory.model_copy(update={"supersedes": ended}))
        open_candidates = [each for each in open_candidates if each.memory_id != ended]
        open_candidates.append(Opened(memory.memory_id, memory.event_type, frozenset(memory.entities), memory.content))
    return record.model_copy(update={"memories": memories})


def ends_another(record: SceneRecord) -> bool:
    """Tell whether a memory of the record may end an earlier one, and does not say which."""
    return any(each.event_type in SUPERSESSION_CHAINS and not each.supersedes for each in record.memories)


def _ended_by(memory: RecordedMemory, candidates: Sequence[Opened], people: Collection[str] | None) -> str | None:
    began = SUPERSESSION_CHAINS.get(memory.event_type)
    if began is None:
        return None
    entities = frozenset(memory.entities)
    fitting = [
        each
        for each in candidates
        if each.event_type == began
        and _share_enough(entities, each.entities)
        and (people is None or each.entities.intersection(people) <= entities)
    ]
    likeliest = likeliest_ended(entities, memory.content, fitting)
    return likeliest[0].memory_id if len(likeliest) == 1 else None


def _share_enough(one: Collection[str], other: frozenset[str]) -> bool:
    needed = min(SHARED_ENTITIES, len(one), len(other))
    return needed > 0 and len(other.intersection(one)) >= needed
