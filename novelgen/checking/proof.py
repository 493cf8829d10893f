"""States and memories of the story as the evidence of a finding, and what the plan means to change."""

from __future__ import annotations

from typing import Any

from novelgen.checking.story import StoryBefore
from novelgen.context.labels import CHINESE, ENGLISH
from novelgen.memory.supersession import slot_of
from novelgen.models.continuity import ContinuityEvidence
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import StoryPosition
from novelgen.models.state import StateChange


def is_planned(entity_id: str, story: StoryBefore) -> bool:
    """Tell whether the plan of the scene names somebody, as cast or in what is to happen."""
    plan = story.plan
    if plan is None:
        return False
    if any(story.resolver.resolve(name).entity_id == entity_id for name in plan.characters):
        return True
    words = "\n".join((plan.purpose, *plan.key_actions))
    return entity_id in story.resolver.entity_ids_in(words)


def of_memory(memory: StoryMemoryChunk, story: StoryBefore) -> ContinuityEvidence:
    """Return a memory as evidence, with what of its scene's text proves it where that is known."""
    quotes = {each.source_id: each.quote for each in story.knowledge.story.memories}
    return ContinuityEvidence(
        source="note" if memory.content_type == "note" else "memory",
        source_id=memory.source_id or memory.chunk_id,
        chapter_index=memory.chapter_index,
        scene_index=memory.scene_index,
        text=memory.content,
        quote=quotes.get(memory.source_id or "", ""),
        entity_ids=list(memory.entities_mentioned),
    )


def of_change(change: StateChange, story: StoryBefore) -> ContinuityEvidence:
    """Return a state as evidence."""
    labels = CHINESE if story.language == "zh" else ENGLISH
    told = (story.name(change.entity_id), labels.attribute(change.attribute), _said(change.value, story))
    return ContinuityEvidence(
        source="state",
        source_id=slot_of(change.entity_id, change.attribute),
        chapter_index=change.chapter_index,
        scene_index=change.scene_index,
        text=labels.colon.join(told),
        entity_ids=[change.entity_id],
    )


def _said(value: Any, story: StoryBefore) -> str:
    """A state's value in words: an entity by its name, none at all as nowhere."""
    if value is None:
        return "（已离开）" if story.language == "zh" else "nowhere (left)"
    if isinstance(value, list):
        return ("、" if story.language == "zh" else ", ").join(map(str, value))
    return story.name(str(value))


def place_of(told: StateChange | StoryMemoryChunk) -> StoryPosition:
    """Return where a state or a memory was told; what stands everywhere comes first."""
    return StoryPosition(told.chapter_index or 0, told.scene_index or 0)


def where_told(evidence: ContinuityEvidence, language: str) -> str:
    """Return where evidence stands in the story's words: "chapter 3, scene 2", 第3章第2场, "a note", 设定."""
    if evidence.chapter_index is None:
        return "设定" if language == "zh" else "a note"
    if language == "zh":
        return f"第{evidence.chapter_index}章第{evidence.scene_index}场"
    return f"chapter {evidence.chapter_index}, scene {evidence.scene_index}"
