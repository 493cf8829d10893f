"""What holds at a position: states of entities, threads, relationships."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field

from novelgen.models.position import StoryPosition, UtcDatetime

PRESENCE_ATTRIBUTE = "presence"


class StateChange(BaseModel):
    """One attribute of one entity took a value at a position; None clears it.

    `kind` is "explicit" for what somebody stated (a record, an author) and "presence" for what was derived
    from who was on stage where.
    """

    entity_id: str
    entity_type: str = "character"
    attribute: str
    value: Any = None
    chapter_index: int | None = None
    scene_index: int | None = None
    kind: Literal["explicit", "presence"] = "explicit"
    verified: bool = Field(default=True, description="False: its quote was not found in the scene's text.")
    source_span: tuple[int, int] | None = Field(
        default=None, description="Characters [start, end) of its quote in the scene."
    )


class EntityStateSnapshot(BaseModel):
    """The state of an entity at a position: the fold of its changes strictly before it.

    `chapter_index` and `scene_index` are those of the last explicit change folded in (of the last presence
    where there is no explicit change).
    """

    project_id: str
    entity_type: str
    entity_id: str
    chapter_index: int | None = None
    scene_index: int | None = None
    timestamp: UtcDatetime
    state_data: dict[str, Any] = Field(default_factory=dict)
    unverified: list[str] = Field(
        default_factory=list, description="Attributes whose value no quote of its scene proves, in order."
    )
    version: int = Field(default=1, ge=1)


def fold_state_changes(
    changes: Iterable[StateChange], as_of: StoryPosition
) -> tuple[dict[str, Any], int | None, int | None]:
    """Fold one entity's changes into its state at a position.

    The last value of each attribute before the position wins, lists are replaced whole, None clears the
    key. Presence is kept under `presence` and never written over an explicit attribute.

    Args:
        changes: Changes of a single entity; within one position, later ones win.
        as_of: Position of the read; only what lies strictly before it counts.

    Returns:
        The state, and chapter and scene of the last explicit change folded in, or of the last presence
        where there is none. Both None when nothing was folded or the last change has no position.
    """
    visible = [change for change in changes if as_of.admits(change.chapter_index, change.scene_index)]
    ordered = sorted(visible, key=_place)
    state: dict[str, Any] = {}
    for change in ordered:
        if change.kind == "presence":
            state[PRESENCE_ATTRIBUTE] = change.value
        elif change.value is None:
            state.pop(change.attribute, None)
        else:
            state[change.attribute] = change.value
    explicit = [change for change in ordered if change.kind == "explicit"]
    last = (explicit or ordered)[-1] if ordered else None
    return state, last.chapter_index if last else None, last.scene_index if last else None


def snapshot_of(
    project_id: str,
    changes: Iterable[StateChange],
    *,
    as_of: StoryPosition,
    timestamp: datetime,
) -> EntityStateSnapshot | None:
    """Fold one entity's changes into a snapshot, or None when none lies before the position."""
    visible = [change for change in changes if as_of.admits(change.chapter_index, change.scene_index)]
    if not visible:
        return None
    state, chapter_index, scene_index = fold_state_changes(visible, as_of)
    return EntityStateSnapshot(
        project_id=project_id,
        entity_type=visible[0].entity_type,
        entity_id=visible[0].entity_id,
        chapter_index=chapter_index,
        scene_index=scene_index,
        timestamp=timestamp,
        state_data=state,
        unverified=_unverified(visible, state),
    )


def _unverified(changes: Iterable[StateChange], state: Mapping[str, Any]) -> list[str]:
    explicit = (change for change in sorted(changes, key=_place) if change.kind == "explicit")
    last = {change.attribute: change for change in explicit}
    return [name for name, change in last.items() if name in state and not change.verified]


def _place(change: StateChange) -> tuple[int, int]:
    """Order by story position; what has no position holds from the start."""
    chapter = -1 if change.chapter_index is None else change.chapter_index
    return (chapter, -1 if change.scene_index is None else change.scene_index)


LoopStatus = Literal["open", "advanced", "resolved", "abandoned"]

LoopImportance = Literal["low", "medium", "high", "critical"]

LOOP_WEIGHTS: dict[str, int] = {"low": 1, "medium": 2, "high": 3, "critical": 4}


class OpenLoop(BaseModel):
    """A thread of the story as it stands at the position that was read."""

    loop_id: str
    category: str = ""
    description: str
    importance: LoopImportance = "medium"
    related_entities: list[str] = Field(default_factory=list)
    status: LoopStatus = "open"
    chapter_index: int | None = Field(default=None, description="Where it was planted.")
    scene_index: int | None = None
    last_chapter_index: int | None = Field(default=None, description="Where it last moved.")
    last_scene_index: int | None = None
    resolution_summary: str | None = None
    age_scenes: int | None = Field(
        default=None, description="Stored scenes between planting and the position."
    )


def most_due(loops: Iterable[OpenLoop], limit: int) -> list[OpenLoop]:
    """Return the loops that wait longest and weigh most, by weight times age in scenes, greatest first.

    Args:
        loops: Unresolved loops.
        limit: Most to return; equals go by loop id.
    """
    by_age = sorted(
        loops, key=lambda loop: (-LOOP_WEIGHTS[loop.importance] * (1 + (loop.age_scenes or 0)), loop.loop_id)
    )
    return by_age[:limit]


RelationshipDimension = Literal["trust", "respect", "affection", "fear", "familiarity"]

DIMENSION_RANGES: dict[RelationshipDimension, tuple[int, int]] = {
    "trust": (-100, 100),
    "respect": (-100, 100),
    "affection": (-100, 100),
    "fear": (-100, 100),
    "familiarity": (0, 100),
}


def _within_ranges(values: dict[RelationshipDimension, int]) -> dict[RelationshipDimension, int]:
    for name, value in values.items():
        lowest, highest = DIMENSION_RANGES[name]
        if not lowest <= value <= highest:
            raise ValueError(f"{name}={value!r} is not from {lowest} to {highest}")
    return values


RelationshipDimensions = Annotated[dict[RelationshipDimension, int], AfterValidator(_within_ranges)]
"""Values of some dimensions, each within `DIMENSION_RANGES`."""


class RelationshipEvent(BaseModel):
    """One change of a relationship: what happened, and where."""

    event: str = ""
    status: str = ""
    chapter_index: int | None = None
    scene_index: int | None = None


class Relationship(BaseModel):
    """How two characters stand at the position that was read; `character_a` sorts before `character_b`."""

    relationship_id: str
    character_a: str
    character_b: str
    relationship_type: str = ""
    status: str = "neutral"
    perspective_a: str = Field(default="", description="How character_a sees character_b.")
    perspective_b: str = Field(default="", description="How character_b sees character_a.")
    intensity: int = Field(default=5, ge=0, le=10)
    dimensions: RelationshipDimensions = Field(default_factory=dict)
    history: list[RelationshipEvent] = Field(default_factory=list, description="Oldest first.")
    chapter_index: int | None = Field(default=None, description="Where it last changed.")
    scene_index: int | None = None

    def seen_by(self, character_id: str) -> RelationshipView:
        """Return the relationship from one side.

        Args:
            character_id: One of the two.

        Returns:
            The other one, and how this one sees them.
        """
        is_first = character_id == self.character_a
        return RelationshipView(
            relationship_id=self.relationship_id,
            character_id=self.character_b if is_first else self.character_a,
            relationship_type=self.relationship_type,
            status=self.status,
            your_view=self.perspective_a if is_first else self.perspective_b,
            their_view=self.perspective_b if is_first else self.perspective_a,
            intensity=self.intensity,
            dimensions=self.dimensions,
            history=self.history,
        )


class RelationshipView(BaseModel):
    """A relationship as one of the two has it; `character_id` is the other one."""

    relationship_id: str
    character_id: str
    relationship_type: str = ""
    status: str = "neutral"
    your_view: str = Field(default="", description="How this side sees the other.")
    their_view: str = Field(default="", description="How the other sees this side.")
    intensity: int = Field(default=5, ge=0, le=10)
    dimensions: RelationshipDimensions = Field(default_factory=dict)
    history: list[RelationshipEvent] = Field(default_factory=list, description="Oldest first.")
