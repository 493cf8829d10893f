"""What the story has shown before a position, apart from its memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, Field

from novelgen.models.entity import Entity
from novelgen.models.memory import ContentType
from novelgen.models.state import OpenLoop, Relationship, RelationshipDimension, StateChange


@dataclass(frozen=True, slots=True)
class OutlineScene:
    """Where a stored scene played and who was in it.

    A long story has ten thousand of them, and all are read for every context: so no model.
    """

    chapter_index: int
    scene_index: int
    title: str = ""
    location_id: str | None = None
    participants: Sequence[str] = ()
    key_events: Sequence[str] = ()
    summary: Sequence[str] = ()
    is_guessed: bool = False
    """Whether no record, only rules over the text, say where it played and who was in it."""


SummaryOrigin = Literal["made", "model", "author"]
"""Made of the bullets below it, written by a model, or by a person."""


class ChapterSummary(BaseModel):
    """What a finished chapter amounted to; visible only after its last stored scene."""

    chapter_index: int
    scene_index: int | None = Field(default=None, description="Last scene that it covers.")
    summary: str
    origin: SummaryOrigin = "made"


class PartSummary(BaseModel):
    """What a finished part amounted to; visible only in a later chapter than its last."""

    part_number: int = Field(description="From 1.")
    title: str = ""
    first_chapter: int = Field(description="First stored chapter that it covers.")
    last_chapter: int = Field(description="Last chapter of the part, stored or not.")
    chapter_index: int = Field(description="Last stored chapter that it covers.")
    scene_index: int | None = Field(default=None, description="Last scene that it covers.")
    summary: str
    origin: SummaryOrigin = "made"


class StoryOutline(BaseModel):
    """Entities, scenes, threads and relationships strictly before a position.

    Names and aliases in `entities` are only those that the story had introduced by then.
    """

    project_id: str
    language: str = ""
    entities: list[Entity] = Field(default_factory=list, description="In order of entity id.")
    scenes: list[OutlineScene] = Field(default_factory=list, description="In story order, oldest first.")
    open_loops: list[OpenLoop] = Field(default_factory=list, description="Unresolved at the position.")
    relationships: list[Relationship] = Field(default_factory=list)
    part_summaries: list[PartSummary] = Field(default_factory=list, description="Oldest first.")
    chapter_summaries: list[ChapterSummary] = Field(default_factory=list, description="Oldest first.")
    holders: dict[str, list[str]] = Field(
        default_factory=dict, description="Character id to the ids of the items that it holds at the position."
    )
    stated_ids: list[str] = Field(
        default_factory=list,
        description="Ids of the entities with an explicit state change before the position, last changed first.",
    )
    story_version: str | None = Field(
        default=None, description="Mark of everything stored before the position; changes when that changes."
    )


RECALLED_SCENES = 12
"""Last scenes that a recap tells."""


class StoryRecap(BaseModel):
    """What a planning model is told beside the outline, strictly before a position."""

    scenes: list[OutlineScene] = Field(
        default_factory=list,
        description=(
            "The last scenes in story order. Without a summary or key events in its record, a scene has one "
            "bullet: sentences of its text."
        ),
    )
    content_types: list[ContentType] = Field(
        default_factory=list, description="Kinds of what is stored, most frequent first."
    )
    tags: list[str] = Field(default_factory=list, description="Tags of memories and notes, most used first.")


@dataclass(frozen=True, slots=True)
class PairChange:
    """How a pair stood after a scene; None leaves the earlier value."""

    relationship_type: str | None
    status: str | None
    perspective_a: str | None
    perspective_b: str | None
    intensity: int | None
    dimensions: Mapping[RelationshipDimension, int]
    dimensions_a: Mapping[RelationshipDimension, int] | None
    dimensions_b: Mapping[RelationshipDimension, int] | None
    event: str
    chapter_index: int | None
    scene_index: int | None


@dataclass(frozen=True)
class StoryChanges:
    """The single changes strictly before a position, to be folded as far as somebody saw them."""

    states: Sequence[StateChange] = ()
    pairs: Mapping[str, Sequence[PairChange]] = field(default_factory=dict)
    stands_for: Mapping[str, Sequence[str]] = field(default_factory=dict)
