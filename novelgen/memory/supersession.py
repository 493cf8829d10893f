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


class _Candidate(NamedTuple):
    source_id: str
    event_type: str | None
    entities: frozenset[str]
    words: frozenset[str]


def with_supersessions(
    record: SceneRecord, earlier: Sequence[StoryMemoryChunk], *, people: Collection[str] | None = None
) -> SceneRecord:
    """Return a record whose memories say what they supersede by the chains.

    A memory that says itself what it supersedes is left alone. Nothing is superseded twice, and where two
    earlier memories fit equally well, neither is.
    """
    open_candidates = [_of_chunk(chunk) for chunk in earlier if chunk.source_id and chunk.superseded_by is None]
    memories: list[RecordedMemory] = []
    for memory in record.memories:
        ended = memory.supersedes or _ended_by(memory, open_candidates, people)
        memories.append(memory.model_copy(update={"supersedes": ended}))
        open_candidates = [each for each in open_candidates if each.source_id != ended]
        open_candidates.append(_of_memory(memory))
    return record.model_copy(update={"memories": memories})


def ends_another(record: SceneRecord) -> bool:
    """Tell whether a memory of the record may end an earlier one, and does not say which."""
    return any(each.event_type in SUPERSESSION_CHAINS and not each.supersedes for each in record.memories)


def _ended_by(memory: RecordedMemory, candidates: Sequence[_Candidate], people: Collection[str] | None) -> str | None:
    began = SUPERSESSION_CHAINS.get(memory.event_type)
    entities = frozenset(memory.entities)
    fitting = [
        each
        for each in candidates
        if each.event_type == began
        and _share_enough(entities, each.entities)
        and (people is None or each.entities.intersection(people) <= entities)
    ]
    if began is None or not fitting:
        return None
    words = significant_words(memory.content)
    ranked = sorted(fitting, key=lambda each: _likeness(each, entities, words), reverse=True)
    is_tied = len(ranked) > 1 and _likeness(ranked[0], entities, words) == _likeness(ranked[1], entities, words)
    return None if is_tied else ranked[0].source_id


def _share_enough(one: Collection[str], other: frozenset[str]) -> bool:
    needed = min(SHARED_ENTITIES, len(one), len(other))
    return needed > 0 and len(other.intersection(one)) >= needed


def _likeness(candidate: _Candidate, entities: frozenset[str], words: frozenset[str]) -> tuple[int, int]:
    return len(candidate.entities & entities), len(candidate.words & words)


def _of_chunk(chunk: StoryMemoryChunk) -> _Candidate:
    return _Candidate(
        source_id=chunk.source_id or chunk.chunk_id,
        event_type=chunk.event_type,
        entities=frozenset(chunk.entities_mentioned),
        words=significant_words(chunk.content),
    )


def _of_memory(memory: RecordedMemory) -> _Candidate:
    words = significant_words(memory.content)
    return _Candidate(memory.memory_id, memory.event_type, frozenset(memory.entities), words)
