"""Merging of window records, and of two memories."""

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Any, TypeVar

from novelgen.language.language import folded, significant_words
from novelgen.models.folds import feelings_after
from novelgen.models.record import (
    RecordedLoop,
    RecordedLoopAdvance,
    RecordedMemory,
    RecordedRelationshipChange,
    RecordedRepetition,
    SceneRecord,
)
from novelgen.models.state import OpenLoop

MAX_KEY_EVENTS = 8
MAX_EMOTIONAL_BEATS = 6
SHARED_WORDS_OF_A_DUPLICATE = 0.7

MIN_SHARED_WORDS = 3
"""Share of the significant words, of the memory that has fewer, that two tellings of one fact have in common."""

Item = TypeVar("Item")


def merge_records(records: Sequence[SceneRecord], *, max_bullets: int) -> SceneRecord:
    """Merge window records: the first scene facts, the later states and pairs."""

    def bullets(field: str, most: int) -> list[str]:
        return spread(_first_by_key(filter(str.strip, _all(records, field)), folded), most)

    first = records[0]
    now = [record for record in records if not record.is_flashback] or records
    resolutions_by_id = {loop.id: loop for loop in _all(records, "open_loops_resolved")}
    advanced = merged_moves(_all(records, "open_loops_advanced"))
    # One change per entity and attribute, the last, with its own evidence.
    states = {
        (change.entity_id, attribute): change.model_copy(update={"changes": {attribute: value}})
        for change in _all(records, "state_changes")
        for attribute, value in change.changes.items()
    }
    return SceneRecord(
        chapter_index=first.chapter_index,
        scene_index=first.scene_index,
        title=next((record.title for record in records if record.title), ""),
        pov_character_id=next((record.pov_character_id for record in records if record.pov_character_id), None),
        location_id=next((record.location_id for record in now if record.location_id), None),
        story_time=next((record.story_time for record in now if record.story_time), None),
        is_flashback=all(record.is_flashback for record in records),
        characters_present=list(dict.fromkeys(_all(now, "characters_present"))),
        summary=bullets("summary", max_bullets),
        key_events=bullets("key_events", MAX_KEY_EVENTS),
        emotional_beats=bullets("emotional_beats", MAX_EMOTIONAL_BEATS),
        state_changes=list(states.values()),
        relationship_changes=_merged_relationships(_all(records, "relationship_changes")),
        open_loops_created=_first_by_key(_all(records, "open_loops_created"), lambda loop: folded(loop.description)),
        open_loops_advanced=[loop for loop in advanced if loop.id not in resolutions_by_id],
        open_loops_resolved=list(resolutions_by_id.values()),
        memories=_distinct_memories(records),
        learned=_all(records, "learned"),
        memories_repeated=_first_by_key(_all(records, "memories_repeated"), lambda item: item.memory_id),
    )


def spread(items: Sequence[Item], limit: int) -> list[Item]:
    """Return at most `limit` items, evenly spread over the sequence, the first and the last among them."""
    if len(items) <= limit:
        return list(items)
    if limit < 2:
        return list(items[: max(0, limit)])
    step = (len(items) - 1) / (limit - 1)
    return [items[round(index * step)] for index in range(limit)]


def is_same_fact(one: RecordedMemory, other: RecordedMemory) -> bool:
    """Return whether two memories of a scene tell the same fact."""
    if folded(one.content) == folded(other.content):
        return True
    if one.event_type != other.event_type:
        return False
    fewer_entities, more_entities = sorted((set(one.entities), set(other.entities)), key=len)
    if not fewer_entities <= more_entities:
        return False
    words, other_words = significant_words(one.content), significant_words(other.content)
    needed_score = SHARED_WORDS_OF_A_DUPLICATE * min(len(words), len(other_words))
    return len(words & other_words) >= max(MIN_SHARED_WORDS, needed_score)


def _all(records: Sequence[SceneRecord], field: str) -> list:
    return [item for record in records for item in getattr(record, field)]


def _merged_relationships(changes: Iterable[RecordedRelationshipChange]) -> list[RecordedRelationshipChange]:
    changes_by_pair: dict[frozenset[str], RecordedRelationshipChange] = {}
    for change in changes:
        pair = frozenset({change.character_a, change.character_b})
        earlier = changes_by_pair.get(pair)
        changes_by_pair[pair] = change if earlier is None else _both_said(earlier, change)
    return list(changes_by_pair.values())


def _both_said(earlier: RecordedRelationshipChange, later: RecordedRelationshipChange) -> RecordedRelationshipChange:
    """Merge two changes of a pair, preferring the later values."""
    if later.character_a != earlier.character_a:
        later = later.turned()
    views: dict[str, Any] = {
        name: getattr(later, name) or getattr(earlier, name)
        for name in ("relationship_type", "perspective_a", "perspective_b")
    }
    views["type_reads_back"] = (later if later.relationship_type else earlier).type_reads_back
    events = dict.fromkeys(event for event in (earlier.event, later.event) if event)
    return later.model_copy(update={**views, **feelings_after(later, vars(earlier)), "event": " ".join(events)})


def _distinct_memories(records: Sequence[SceneRecord]) -> list[RecordedMemory]:
    """Drop memories repeated across windows, and equal contents within one."""
    kept_memories: list[RecordedMemory] = []
    for record in records:
        before = len(kept_memories)
        for memory in _first_by_key(record.memories, lambda memory: folded(memory.content)):
            earlier = (index for index in range(before) if is_same_fact(kept_memories[index], memory))
            at = next(earlier, None)
            if at is None:
                kept_memories.append(memory)
            elif memory.importance > kept_memories[at].importance:
                kept_memories[at] = memory
    return kept_memories


def _first_by_key(items: Iterable[Item], key: Callable[[Item], Hashable]) -> list[Item]:
    items_by_key: dict[Hashable, Item] = {}
    for item in items:
        items_by_key.setdefault(key(item), item)
    return list(items_by_key.values())


def merged_moves(moves: Iterable[RecordedLoopAdvance]) -> list[RecordedLoopAdvance]:
    """Return the last move of each thread, with earlier details."""
    merged_recorded_loop_advances_by_id: dict[str, RecordedLoopAdvance] = {}
    for move in moves:
        stated_fields = move.model_dump(exclude_defaults=True)
        before = merged_recorded_loop_advances_by_id.pop(move.id, None)
        merged_recorded_loop_advances_by_id[move.id] = before.model_copy(update=stated_fields) if before else move
    return list(merged_recorded_loop_advances_by_id.values())


SHARED_WORDS_OF_ONE_LOOP = 0.5
"""Share of the significant words, of the description that has fewer, that two tellings of one loop have in common."""

MIN_WORDS_SHARED_WITH_A_LOOP = 2
"""One common word never makes two loops one."""


def known_loop_ids(before: Sequence[RecordedLoop], now: Sequence[RecordedLoop]) -> dict[str, str]:
    """Match the loops of two readings of one scene, so that later scenes that move a loop still find it."""
    likely = sorted(
        ((likeness, old.id, new.id) for old in before for new in now if (likeness := _likeness(old, new))), reverse=True
    )
    matched: dict[str, str] = {}
    for _, old_id, new_id in likely:
        if new_id not in matched and old_id not in matched.values():
            matched[new_id] = old_id
    return matched


def _likeness(one: RecordedLoop, other: RecordedLoop) -> float:
    """The share of common words, 0 below the threshold for one thread."""
    if one.description.casefold().split() == other.description.casefold().split():
        return 1.0
    words, other_words = significant_words(one.description), significant_words(other.description)
    shared, fewer = len(words & other_words), min(len(words), len(other_words))
    return shared / fewer if shared >= max(MIN_WORDS_SHARED_WITH_A_LOOP, SHARED_WORDS_OF_ONE_LOOP * fewer) else 0.0


SAME_WORDS = 0.8
"""Share of the words of both threads that must be common for one to say the other again."""


def loops_said_again(created: Sequence[RecordedLoop], open_loops: Sequence[OpenLoop]) -> dict[str, str]:
    """Match new threads with open ones in nearly the same words."""
    matched: dict[str, str] = {}
    for new in created:
        words = set(significant_words(new.description))
        for known_thread in open_loops:
            known_words = set(significant_words(known_thread.description))
            shared = len(words & known_words)
            if (
                known_thread.loop_id not in matched.values()
                and shared >= MIN_WORDS_SHARED_WITH_A_LOOP
                and shared >= SAME_WORDS * len(words | known_words)
            ):
                matched[new.id] = known_thread.loop_id
                break
    return matched


def with_loops_said_again(record: SceneRecord, known_ids: Collection[str]) -> SceneRecord:
    """Return a record in which threads that were open before are not opened again but moved."""
    again = [loop for loop in record.open_loops_created if loop.id in known_ids]
    if not again:
        return record
    touched_names = {move.id for move in record.open_loops_advanced} | {end.id for end in record.open_loops_resolved}
    return record.model_copy(
        update={
            "open_loops_created": [loop for loop in record.open_loops_created if loop.id not in known_ids],
            "open_loops_advanced": [
                *record.open_loops_advanced,
                *(
                    RecordedLoopAdvance(id=loop.id, note=loop.description, pay_off=loop.pay_off)
                    for loop in again
                    if loop.id not in touched_names
                ),
            ],
        }
    )


def with_joined_memory(records: Sequence[SceneRecord], gone_id: str, stays_id: str) -> list[SceneRecord] | None:
    """Return records in which one memory supersedes or repeats another, or None."""
    order = {memory.memory_id: (at, memory) for at, record in enumerate(records) for memory in record.memories}
    if gone_id not in order or stays_id not in order:
        return None
    (gone_at, removed_memory), (stays_at, stays) = order[gone_id], order[stays_id]
    if stays_at > gone_at:
        first, *others = dict.fromkeys([*stays.superseded_ids, gone_id])
        ended_memory = stays.model_copy(update={"supersedes": first, "also_supersedes": others})
        memories = [ended_memory if memory.memory_id == stays_id else memory for memory in records[stays_at].memories]
        changed = records[stays_at].model_copy(update={"memories": memories})
        return [*records[:stays_at], changed, *records[stays_at + 1 :]]
    if removed_memory.supersedes is not None:
        # What it ended would hold again.
        return None
    return [_without(record, removed_memory, stays_id) for record in records]


def _without(record: SceneRecord, memory: RecordedMemory, stays_id: str) -> SceneRecord:
    memories = []
    for other_memory in record.memories:
        if other_memory.memory_id != memory.memory_id:
            lists_by_name: dict[str, Any] = {
                name: stays_id
                for name in ("supersedes", "contradicts")
                if getattr(other_memory, name) == memory.memory_id
            }
            if memory.memory_id in other_memory.also_supersedes:
                lists_by_name["also_supersedes"] = [
                    stays_id if one == memory.memory_id else one for one in other_memory.also_supersedes
                ]
            memories.append(other_memory.model_copy(update=lists_by_name))
    repeated = list(record.memories_repeated)
    if len(memories) < len(record.memories):
        repeated.append(RecordedRepetition(memory_id=memory.memory_id, evidence=memory.evidence))
    now = {memory.memory_id: stays_id}
    return record.model_copy(
        update={
            "memories": memories,
            "memories_repeated": [
                recorded_repetition.model_copy(
                    update={"memory_id": now.get(recorded_repetition.memory_id, recorded_repetition.memory_id)}
                )
                for recorded_repetition in repeated
            ],
            "learned": [
                learning.model_copy(
                    update={"memory_ids": list(dict.fromkeys(now.get(one, one) for one in learning.memory_ids))}
                )
                for learning in record.learned
            ],
        }
    )
