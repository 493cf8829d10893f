"""Relationships between two characters, over story time."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

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
