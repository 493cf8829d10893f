"""What a conflict is, and from which facts conflicts are told."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Literal

from pydantic import BaseModel, Field

ConflictKind = Literal["slot_value", "dead_acts", "two_holders"]


class SceneFacts(BaseModel):
    """Where and when a stored scene plays, and who is in it."""

    scene_id: str = Field(min_length=1, description="Stays with the scene when its position changes.")
    chapter_index: int
    scene_index: int
    story_time: str | None = None
    participants: list[str] = Field(default_factory=list, description="Ids of the characters on stage.")

    @property
    def place(self) -> tuple[int, int]:
        """Chapter and scene."""
        return (self.chapter_index, self.scene_index)


class ConflictSource(BaseModel):
    """One side of a conflict: what a scene says."""

    scene_id: str
    chapter_index: int
    scene_index: int
    says: str
    value: Any = Field(
        default=None, description="The value that it gives to the slot, where it is about one."
    )


class Conflict(BaseModel):
    """Two statements of the story that no rule reconciles, the earlier first."""

    conflict_id: str
    kind: ConflictKind
    subject: str = Field(description="The slot or the entity that it is about.")
    entity_ids: list[str] = Field(default_factory=list)
    first: ConflictSource
    second: ConflictSource


def source_in(scene: SceneFacts, says: str, *, value: Any = None) -> ConflictSource:
    """Return what a scene says as one side of a conflict."""
    return ConflictSource(
        scene_id=scene.scene_id,
        chapter_index=scene.chapter_index,
        scene_index=scene.scene_index,
        says=says,
        value=value,
    )


def conflict_between(
    kind: ConflictKind, subject: str, entity_ids: list[str], *, first: ConflictSource, second: ConflictSource
) -> Conflict:
    """Return a conflict whose id depends on nothing but what is in conflict.

    The same two statements in the same scenes give the same id whenever they are found, also after a scene
    was moved; an author's waiver therefore survives.
    """
    parts = (kind, subject, first.scene_id, first.says, second.scene_id, second.says)
    digest = sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    return Conflict(
        conflict_id=f"X{digest[:12]}",
        kind=kind,
        subject=subject,
        entity_ids=entity_ids,
        first=first,
        second=second,
    )


def said(attribute: str, value: Any) -> str:
    """Return a stated value as a line of text."""
    shown = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"{attribute}: {shown}"
