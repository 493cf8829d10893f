"""All contradictions of a story that no rule resolves."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from novelgen.models.entity import Entity
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.state import StateChange
from novelgen.records.conflict import Conflict, SceneFacts
from novelgen.records.dead_acts import dead_who_act
from novelgen.records.slot_conflicts import slot_conflicts
from novelgen.records.two_holders import things_held_twice


def find_conflicts(
    scenes: Sequence[SceneFacts],
    changes: Sequence[StateChange],
    memories: Sequence[StoryMemoryChunk] = (),
    *,
    entities: Sequence[Entity] = (),
    waived_ids: Collection[str] = (),
) -> list[Conflict]:
    """Find what contradicts itself in a story.

    Args:
        scenes: The stored scenes.
        changes: Explicit state changes in the order in which they apply.
        memories: Memories of the story.
        entities: The entities of the story.
        waived_ids: Conflicts that the author means to be so; they are left out.

    Returns:
        Conflicts in story order of their second side, each once.
    """
    found = [
        *slot_conflicts(scenes, changes, memories),
        *dead_who_act(scenes, changes, memories),
        *things_held_twice(scenes, changes, entities=entities),
    ]
    unwaived = {each.conflict_id: each for each in found if each.conflict_id not in waived_ids}
    return sorted(unwaived.values(), key=lambda each: (each.second.chapter_index, each.second.scene_index))
