"""Contradictions as two scene sides with a lasting id, and their explanations."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from operator import not_
from typing import Any, Literal

from pydantic import BaseModel, Field

from novelgen.language.chronology import TellingScene
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import Place, story_place
from novelgen.models.story_time import SceneTime

ConflictKind = Literal["slot_value", "dead_acts", "two_holders", "memories_disagree", "relationship", "story_time"]


class ConflictSource(BaseModel):
    """One side of a conflict: a scene's statement."""

    scene_id: str
    chapter_index: int
    scene_index: int
    says: str
    value: Any = Field(default=None, description="The value that it gives to the slot, where it is about one.")
    type_reads_back: bool = Field(
        default=False, exclude_if=not_, description="Of a relationship: its type reads from the second to the first."
    )


class Conflict(BaseModel):
    """Two statements of the story that no rule reconciles, the earlier first."""

    conflict_id: str
    kind: ConflictKind
    subject: str = Field(description="The slot or the entity that it is about.")
    entity_ids: list[str] = Field(default_factory=list)
    first: ConflictSource
    second: ConflictSource


def source_in(scene: TellingScene | SceneTime, says: str, *, value: Any = None) -> ConflictSource:
    """Return a scene's statement as one side of a conflict."""
    place = {"chapter_index": scene.chapter_index, "scene_index": scene.scene_index}
    return ConflictSource(scene_id=scene.scene_id, **place, says=says, value=value)


def conflict_between(
    kind: ConflictKind, subject: str, entity_ids: list[str], *, first: ConflictSource, second: ConflictSource
) -> Conflict:
    """Return a conflict with an id independent of moved scenes."""
    parts = (kind, subject, first.scene_id, first.says, second.scene_id, second.says)
    digest = sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    return Conflict(
        conflict_id=f"X{digest[:12]}", kind=kind, subject=subject, entity_ids=entity_ids, first=first, second=second
    )


def in_story_order(conflicts: Iterable[Conflict]) -> list[Conflict]:
    """Return conflicts by where they come up."""
    return sorted(conflicts, key=lambda conflict: (*story_place(conflict.second), conflict.subject))


def said(attribute: str, value: Any) -> str:
    """Return a stated value as a line of text."""
    shown_text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"{attribute}: {shown_text}"


REVEALING_EVENTS = frozenset(
    """
    identity_revealed secret_revealed secret_learned discovery confession deception disguise betrayal
    """.split()
)


def revelations(memories: Sequence[StoryMemoryChunk]) -> set[tuple[Place, str]]:
    """Return the scenes of revelations and endings by entity."""
    return {
        (story_place(memory), entity_id)
        for memory in memories
        if memory.place is not None and (memory.event_type in REVEALING_EVENTS or memory.superseded_ids)
        for entity_id in memory.entities_mentioned
    }
