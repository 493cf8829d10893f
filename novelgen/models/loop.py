"""Open loops: what the story has promised and not yet paid."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

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
