"""Facts at a position: states, threads and relationships."""

from __future__ import annotations

from collections.abc import Iterable
from operator import not_
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field
from pydantic.json_schema import SkipJsonSchema

from novelgen.models.base import Model
from novelgen.models.pair_types import Side, read_sides, turned_pair_type
from novelgen.models.position import StoryPosition, UtcDatetime
from novelgen.models.shown import Shown

PRESENCE_ATTRIBUTE = "presence"

GUESSED = "guessed"
"""Key of a presence that rules read out of a text: no record says who was on stage and where."""

PLACE_GUESSED = "place_guessed"
"""Key of a stated presence at a guessed place."""

GuessedScenes = Annotated[
    list[tuple[int, int]],
    Field(description="Scenes without a stated cast, by which alone the point of view knows it or not."),
]


class StateChange(Model):
    """A new value of one attribute at a position.

    None clears it.

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
    by_author: bool = Field(default=False, exclude_if=not_, description="No scene says it: it holds after that scene.")
    is_of_chapter: bool = Field(
        default=False,
        exclude_if=not_,
        description="Its author says it from a scene of that chapter on, and not from the next chapter on.",
    )


class EntityStateSnapshot(Shown, Model):
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
    guessed: list[str] = Field(
        default_factory=list,
        exclude_if=not_,
        description="Attributes whose value only rules say, or that only rules end.",
    )
    believed: dict[str, str] = Field(
        default_factory=dict,
        exclude_if=not_,
        description="Attribute to the id of whose belief its value is: another holds by now, unknown to them.",
    )
    guessed_in: dict[str, tuple[int, int]] = Field(
        default_factory=dict,
        exclude_if=not_,
        description="Of a point of view: attribute to the scene whose guessed cast, or speech, decides on its value.",
    )
    since: dict[str, tuple[int, int | None]] = Field(
        default_factory=dict, description="Attribute to the place from which on its value holds, where a scene said it."
    )
    holds: list[str] = Field(
        default_factory=list,
        description="Ids of what has this entity as its holder at the position; derived, in order.",
    )
    by_author: bool = Field(
        default=False, exclude_if=not_, description="The last change is the author's: it holds after that scene."
    )
    version: int = Field(default=1, ge=1)


LoopStatus = Literal["open", "advanced", "resolved", "abandoned"]
LoopImportance = Literal["low", "medium", "high", "critical"]

UNRESOLVED_STATUSES: tuple[LoopStatus, ...] = ("open", "advanced")
"""Of threads that still wait for their end."""

LOOP_WEIGHTS: dict[str, int] = {"low": 1, "medium": 2, "high": 3, "critical": 4}


class ThreadStep(Model):
    """A move or ending of a thread, in words."""

    note: str = ""
    chapter_index: int | None = None
    scene_index: int | None = None
    said_from: tuple[int, int] | None = Field(
        default=None, description="The later scene in which it happens, where its author said that."
    )


class OpenLoop(Shown, Model):
    """A thread of the story as it stands at the position that was read."""

    loop_id: str
    category: str = ""
    description: str = Field(description="What is open, in the words of the position.")
    worded_in: tuple[int | None, int | None] | None = Field(
        default=None, exclude_if=not_, description="The scene that gave it these words, where it was planted in others."
    )
    first_worded: str = Field(default="", exclude_if=not_, description="Those others.")
    importance: LoopImportance = "medium"
    related_entities: list[str] = Field(default_factory=list)
    status: LoopStatus = "open"
    chapter_index: int | None = Field(default=None, description="Where it was planted.")
    scene_index: int | None = None
    said_from: tuple[int, int] | None = Field(
        default=None, exclude_if=not_, description="From where on it waits, where its author said that."
    )
    last_chapter_index: int | None = Field(default=None, description="Where it last moved.")
    last_scene_index: int | None = None
    resolution_summary: str | None = None
    age_scenes: int | None = Field(default=None, description="Stored scenes between planting and the position.")
    guessed_in: GuessedScenes = Field(default_factory=list, exclude_if=not_)
    believed_by: str | None = Field(
        default=None, exclude_if=not_, description="Id of the point of view that does not know that it has ended."
    )
    steps: SkipJsonSchema[list[ThreadStep]] = Field(
        default_factory=list, exclude=True, description="How it moved and ended, oldest first."
    )

    @property
    def said_after(self) -> StoryPosition | None:
        """The place after which it waits, where its author said from where on."""
        return None if self.said_from is None else StoryPosition(self.said_from[0], (self.said_from[1] or 1) - 1)

    def scenes(self) -> set[tuple[int, int]]:
        """Return the scenes of its planting and last move, without author's dates."""
        planted_place, moved_place = (
            (self.chapter_index, self.scene_index),
            (self.last_chapter_index, self.last_scene_index),
        )
        told_places = {planted_place, moved_place} if self.said_from is None else {moved_place} - {planted_place}
        return {(chapter, scene) for chapter, scene in told_places if chapter is not None and scene is not None}


def most_due(loops: Iterable[OpenLoop], limit: int) -> list[OpenLoop]:
    """Return the loops that wait longest and weigh most, by weight times age in scenes, greatest first."""
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


DELTA_BOUNDS: dict[RelationshipDimension, int] = {
    "trust": 15,
    "affection": 10,
    "fear": 10,
    "respect": 10,
    "familiarity": 10,
}
"""Most that a model may move a dimension within one scene, up or down."""


def _within_ranges(values: dict[RelationshipDimension, int]) -> dict[RelationshipDimension, int]:
    for name, value in values.items():
        lowest, highest = DIMENSION_RANGES[name]
        if not lowest <= value <= highest:
            raise ValueError(f"{name}={value!r} is not from {lowest} to {highest}")
    return values


RelationshipDimensions = Annotated[dict[RelationshipDimension, int], AfterValidator(_within_ranges)]
"""Values of some dimensions, each within `DIMENSION_RANGES`."""


class RelationshipEvent(Model):
    """One change of a relationship, with its event and place."""

    event: str = ""
    status: str = ""
    chapter_index: int | None = None
    scene_index: int | None = None


class Relationship(Shown, Model):
    """Two characters' relationship at a position.

    `character_a` sorts before `character_b`.
    """

    relationship_id: str
    character_a: str
    character_b: str
    relationship_type: str = ""
    type_reads_back: bool = Field(
        default=False,
        exclude_if=not_,
        description="The type reads from character_b to character_a, since no words say it the other way round.",
    )
    status: str = "neutral"
    perspective_a: str = Field(default="", description="How character_a sees character_b.")
    perspective_b: str = Field(default="", description="How character_b sees character_a.")
    intensity: int = Field(default=5, ge=0, le=10)
    dimensions: RelationshipDimensions = Field(
        default_factory=dict, description="What both feel, where no side has its own."
    )
    dimensions_a: RelationshipDimensions = Field(
        default_factory=dict, description="What character_a alone feels for character_b."
    )
    dimensions_b: RelationshipDimensions = Field(
        default_factory=dict, description="What character_b alone feels for character_a."
    )
    history: list[RelationshipEvent] = Field(default_factory=list, description="Oldest first.")
    chapter_index: int | None = Field(default=None, description="Where it last changed.")
    scene_index: int | None = None
    guessed_in: GuessedScenes = Field(default_factory=list, exclude_if=not_)

    def read_from(self, character_id: str = "") -> tuple[tuple[Side, Side], str]:
        """Return both sides in reading order, and the type.

        Args:
            character_id: One of the two to come first, where the type can be told so.
        """
        return read_sides(
            self.relationship_type,
            type_reads_back=self.type_reads_back,
            is_from_second=character_id == self.character_b,
        )

    def in_reading_order(self) -> tuple[str, str]:
        """Return both ids in reading order."""
        return (self.character_b, self.character_a) if self.type_reads_back else (self.character_a, self.character_b)

    def seen_by(self, character_id: str) -> RelationshipView:
        """Return the relationship from one side.

        Args:
            character_id: One of the two.

        Returns:
            The other one, and how this one sees them.
        """
        is_first = character_id == self.character_a
        reading: dict[str, Any] = {name: getattr(self, name) for name in ("relationship_type", "type_reads_back")}
        return RelationshipView(
            relationship_id=self.relationship_id,
            character_id=self.character_b if is_first else self.character_a,
            **(reading if is_first else turned_pair_type(**reading)),
            status=self.status,
            your_view=self.perspective_a if is_first else self.perspective_b,
            their_view=self.perspective_b if is_first else self.perspective_a,
            intensity=self.intensity,
            dimensions={**self.dimensions, **(self.dimensions_a if is_first else self.dimensions_b)},
            their_dimensions={**self.dimensions, **(self.dimensions_b if is_first else self.dimensions_a)},
            history=self.history,
        )


class RelationshipView(Model):
    """A relationship from one side.

    `character_id` is the other character.
    """

    relationship_id: str
    character_id: str
    character_name: str = Field(default="", description="Its name; empty where the story's cards were not at hand.")
    relationship_type: str = ""
    type_reads_back: bool = Field(
        default=False,
        exclude_if=not_,
        description="The type reads from the other to this side, since no words say it the other way round.",
    )
    status: str = "neutral"
    your_view: str = Field(default="", description="How this side sees the other.")
    their_view: str = Field(default="", description="How the other sees this side.")
    intensity: int = Field(default=5, ge=0, le=10)
    dimensions: RelationshipDimensions = Field(default_factory=dict, description="What this side feels for the other.")
    their_dimensions: RelationshipDimensions = Field(
        default_factory=dict, description="What the other feels for this side."
    )
    history: list[RelationshipEvent] = Field(default_factory=list, description="Oldest first.")
