"""Characters who act after their death."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.state import StateChange
from novelgen.records.conflict import Conflict, ConflictSource, SceneFacts, conflict_between, said, source_in
from novelgen.records.slots import Place, split_slot
from novelgen.records.vital_status import STATUS_ATTRIBUTES, is_death, is_return_to_life

ACTING_ATTRIBUTES = frozenset({"goals", "knowledge", "emotional_state", "disguise"})
"""What only the living take on; a body can be moved, robbed and buried."""

_TOLD_OF_THE_PAST = re.compile(
    r"\b(?:flash ?back|told|tells|recall|remember|memor(?:y|ies)|past|years? (?:ago|earlier|before)|earlier|before"
    r"|dream|vision|ghost|s[ée]ance|prologue|events)\b"
    r"|回忆|往事|当年|昔年|从前|以前|年前|之前|追述|倒叙|梦|幻|亡魂|鬼魂|地府|前世|旧事|自述",
    re.IGNORECASE,
)


def dead_who_act(
    scenes: Sequence[SceneFacts], changes: Sequence[StateChange], memories: Sequence[StoryMemoryChunk] = ()
) -> list[Conflict]:
    """Find characters who are on stage, or want, learn or feel something, in a scene after their death.

    A death is a status that says so, or a memory of a death in the character's own slot or that names one
    character alone. A scene whose story time tells of the past, a dream or a ghost is no conflict, nor is
    anything after a status that says that the character lives.

    Args:
        scenes: The stored scenes.
        changes: Explicit state changes of the story, in any order; those without a position are ignored.
        memories: Memories of the story.

    Returns:
        One conflict per character and scene, in story order.
    """
    by_place = {scene.place: scene for scene in scenes}
    present = {character for scene in scenes for character in scene.participants}
    characters = present | {change.entity_id for change in changes if change.entity_type == "character"}
    found = [
        conflict
        for character in sorted(characters)
        for conflict in _acts_of(character, by_place, changes, _told_deaths(character, memories))
    ]
    return sorted(found, key=lambda each: (each.second.chapter_index, each.second.scene_index, each.subject))


def _acts_of(
    character: str,
    scenes: dict[Place, SceneFacts],
    changes: Sequence[StateChange],
    told_deaths: dict[Place, str],
) -> Iterator[Conflict]:
    own = [change for change in changes if change.entity_id == character and change.kind == "explicit"]
    death: ConflictSource | None = None
    for place in sorted(scenes):
        scene = scenes[place]
        stated = [change for change in own if (change.chapter_index, change.scene_index) == place]
        if any(is_return_to_life(change.attribute, change.value) for change in stated):
            death = None
            continue
        act = _act_in(scene, character, stated)
        if death is not None and act and not _TOLD_OF_THE_PAST.search(scene.story_time or ""):
            yield conflict_between(
                "dead_acts", character, [character], first=death, second=source_in(scene, act)
            )
        death_here = _death_in(stated) or told_deaths.get(place)
        if death is None and death_here:
            death = source_in(scene, death_here)


def _act_in(scene: SceneFacts, character: str, stated: Sequence[StateChange]) -> str | None:
    for change in stated:
        if change.attribute in ACTING_ATTRIBUTES and change.value:
            return said(change.attribute, change.value)
    return "is present" if character in scene.participants else None


def _death_in(stated: Sequence[StateChange]) -> str | None:
    dead = (change for change in stated if is_death(change.attribute, change.value))
    return next((said(change.attribute, change.value) for change in dead), None)


def _told_deaths(character: str, memories: Sequence[StoryMemoryChunk]) -> dict[Place, str]:
    return {
        (memory.chapter_index, memory.scene_index): memory.content
        for memory in memories
        if memory.event_type == "death"
        and memory.chapter_index is not None
        and memory.scene_index is not None
        and _is_own_death(character, memory)
    }


def _is_own_death(character: str, memory: StoryMemoryChunk) -> bool:
    slot = split_slot(memory.slot_type or "")
    if slot is not None:
        return slot[0] == character and slot[1] in STATUS_ATTRIBUTES
    return memory.entities_mentioned == [character]
