"""Every rule of consolidation: what is never consolidated, what weighs little, and what goes together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from novelgen.memory.supersession import SUPERSESSION_CHAINS
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.state import OpenLoop


@dataclass(frozen=True, slots=True)
class LiveMemory:
    """A distilled memory that a read at the end of the story sees."""

    chunk: StoryMemoryChunk
    is_authors: bool = False

    @property
    def is_consolidated(self) -> bool:
        """Whether it stands for others already."""
        return self.chunk.is_consolidated

    @property
    def place(self) -> tuple[int, int] | None:
        """Chapter and scene; None where it lacks one of them."""
        chapter, scene = self.chunk.chapter_index, self.chunk.scene_index
        return None if chapter is None or scene is None else (chapter, scene)


UNRESOLVED_EVENTS = frozenset(SUPERSESSION_CHAINS.values()) | {"obligation", "debt"}
"""Event types that something later may put an end to; until then the story owes it."""


class ConsolidationRules(BaseModel):
    """Bounds and weights; the defaults are what `novelgen consolidate` uses."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_sources: int = Field(default=3, ge=2, description="More cannot be told and found as one memory.")
    span_scenes: int = Field(default=6, ge=1, description="Scenes from the first source to the last.")
    protected_importance: int = Field(default=8, ge=1, le=10, description="Protected from this on.")
    superseded_points: float = Field(default=-3.0, description="Added to the importance of what is over.")
    unverified_points: float = Field(default=-1.0, description="Added to that of what no quote proves.")
    topic_similarity: float = Field(
        default=0.1, description="Cosine of embeddings, less the mean of all, that is one topic; a scene is one anyway."
    )
    scene_loss: float = Field(default=0.5, ge=0, description="What a scene between sources loses.")
    weight_loss: float = Field(default=0.1, ge=0, description="What a point of the weightiest source loses.")
    max_tokens: int = Field(default=240, ge=20, description="Estimated tokens of a consolidated memory.")


DEFAULT_RULES = ConsolidationRules()


def protection(memory: LiveMemory, open_loops: Sequence[OpenLoop], rules: ConsolidationRules) -> str:
    """Tell why a memory must stay as it is."""
    chunk = memory.chunk
    is_over = chunk.superseded_by is not None
    checks = {
        "author": memory.is_authors or chunk.origin == "author",
        "consolidated": memory.is_consolidated,
        "no scene": memory.place is None,
        "tier": chunk.tier != "regular",
        "importance": chunk.importance >= rules.protected_importance,
        "slot": chunk.slot_type is not None and not is_over,
        "unresolved": chunk.event_type in UNRESOLVED_EVENTS and not is_over,
        "open loop": not is_over and any(_belongs_to(chunk, loop) for loop in open_loops),
    }
    return next((name for name, holds in checks.items() if holds), "")


def score(chunk: StoryMemoryChunk, rules: ConsolidationRules) -> float:
    """Return how much a memory weighs: its importance, less for what is over and for what is not proven."""
    over = rules.superseded_points if chunk.superseded_by is not None else 0.0
    return chunk.importance + over + (0.0 if chunk.verified else rules.unverified_points)


def _belongs_to(chunk: StoryMemoryChunk, loop: OpenLoop) -> bool:
    """Whether a scene that planted or moved the loop established the memory, about somebody whom the loop touches."""
    place = (chunk.chapter_index, chunk.scene_index)
    places = ((loop.chapter_index, loop.scene_index), (loop.last_chapter_index, loop.last_scene_index))
    return place in places and not set(chunk.entities_mentioned).isdisjoint(loop.related_entities)
