"""Two values for what can have one only."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations, pairwise

from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.state import StateChange
from novelgen.records.conflict import Conflict, ConflictSource, SceneFacts, conflict_between, said, source_in
from novelgen.records.slots import Place, slot_of

FIXED_ATTRIBUTES = frozenset(
    """
    identity true_name species race birthplace birthday birth_date mother father parents parentage eye_colour
    eye_color blood_type nationality gender sex maker origin
    """.split()
)
"""What does not change in the story's world: a second value needs a scene that reveals it."""

EXCLUSIVE_ATTRIBUTES = frozenset({"location_id", "holder"})
"""What changes freely, but has one value at one time."""

REVEALING_EVENTS = frozenset(
    """
    identity_revealed secret_revealed secret_learned discovery confession deception disguise betrayal
    """.split()
)

_DATED = re.compile(r"\d|[〇零一二三四五六七八九十廿初]+[日号时]|[年月].*[日夜晨午晚]")


def slot_conflicts(
    scenes: Sequence[SceneFacts], changes: Sequence[StateChange], memories: Sequence[StoryMemoryChunk] = ()
) -> list[Conflict]:
    """Find slots to which two scenes give different values at overlapping times.

    A fixed attribute (`FIXED_ATTRIBUTES`) conflicts with its earlier value unless the scene of the new one has
    a memory of the same entity that reveals or supersedes something. An exclusive one (`EXCLUSIVE_ATTRIBUTES`)
    conflicts when two scenes of the same dated story time differ. Everything else simply changes.

    Args:
        scenes: The stored scenes.
        changes: Explicit state changes in the order in which they apply.
        memories: Memories of the story.

    Returns:
        Conflicts in story order of their second side.
    """
    by_place = {scene.place: scene for scene in scenes}
    revealed = _revealed(memories)
    found: list[Conflict] = []
    for (entity_id, attribute), stated in _by_slot(changes, by_place).items():
        if attribute in FIXED_ATTRIBUTES:
            found += _unexplained(entity_id, stated, by_place, revealed)
        elif attribute in EXCLUSIVE_ATTRIBUTES:
            found += _simultaneous(entity_id, stated, by_place)
    return sorted(found, key=lambda each: (each.second.chapter_index, each.second.scene_index, each.subject))


def _by_slot(
    changes: Sequence[StateChange], places: Collection[Place]
) -> Mapping[tuple[str, str], list[StateChange]]:
    """The values of each slot in story order; within one scene the last one stands."""
    grouped: defaultdict[tuple[str, str], dict[Place, StateChange]] = defaultdict(dict)
    for change in changes:
        if change.kind == "explicit" and change.value is not None and _place(change) in places:
            grouped[change.entity_id, change.attribute][_place(change)] = change
    return {slot: [stated[place] for place in sorted(stated)] for slot, stated in grouped.items()}


def _unexplained(
    entity_id: str,
    stated: Sequence[StateChange],
    scenes: Mapping[Place, SceneFacts],
    revealed: Collection[tuple[Place, str]],
) -> Iterator[Conflict]:
    for earlier, later in pairwise(stated):
        if earlier.value != later.value and (_place(later), entity_id) not in revealed:
            yield _between(entity_id, earlier, later, scenes)


def _simultaneous(
    entity_id: str, stated: Sequence[StateChange], scenes: Mapping[Place, SceneFacts]
) -> Iterator[Conflict]:
    for earlier, later in combinations(stated, 2):
        one, other = scenes[_place(earlier)], scenes[_place(later)]
        if one is not other and earlier.value != later.value and _are_at_one_time(one, other):
            yield _between(entity_id, earlier, later, scenes)


def _are_at_one_time(one: SceneFacts, other: SceneFacts) -> bool:
    times = {" ".join((scene.story_time or "").casefold().split()) for scene in (one, other)}
    return len(times) == 1 and _DATED.search(times.pop()) is not None


def _between(
    entity_id: str, earlier: StateChange, later: StateChange, scenes: Mapping[Place, SceneFacts]
) -> Conflict:
    return conflict_between(
        "slot_value",
        slot_of(entity_id, later.attribute),
        [entity_id],
        first=_side(earlier, scenes),
        second=_side(later, scenes),
    )


def _side(change: StateChange, scenes: Mapping[Place, SceneFacts]) -> ConflictSource:
    return source_in(scenes[_place(change)], said(change.attribute, change.value), value=change.value)


def _revealed(memories: Sequence[StoryMemoryChunk]) -> set[tuple[Place, str]]:
    return {
        ((memory.chapter_index, memory.scene_index), entity_id)
        for memory in memories
        if memory.chapter_index is not None
        and memory.scene_index is not None
        and (memory.event_type in REVEALING_EVENTS or memory.supersedes)
        for entity_id in memory.entities_mentioned
    }


def _place(change: StateChange) -> Place:
    chapter = -1 if change.chapter_index is None else change.chapter_index
    return chapter, -1 if change.scene_index is None else change.scene_index
