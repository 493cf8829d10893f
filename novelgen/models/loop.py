"""Open loops: what the story has promised and not yet paid."""

from __future__ import annotations

from collections.abc import Iterable
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
