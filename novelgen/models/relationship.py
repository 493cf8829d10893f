"""Relationships between two characters, over story time."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

RelationshipDimension = Literal["trust", "respect", "affection", "fear", "familiarity"]


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
    dimensions: dict[RelationshipDimension, int] = Field(default_factory=dict)
    history: list[RelationshipEvent] = Field(default_factory=list, description="Oldest first.")
    chapter_index: int | None = Field(default=None, description="Where it last changed.")
    scene_index: int | None = None
