"""The record of a finished scene."""

import logging
from hashlib import sha256
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from novelgen.models.entity import EntityType
from novelgen.models.knowledge import KnowledgeKind, KnowledgeSource
from novelgen.models.memory import EVENT_TYPES, OTHER_EVENT, superseded
from novelgen.models.pair_types import turned_pair_type
from novelgen.models.state import LoopImportance, RelationshipDimensions
from novelgen.models.user_file import UserFileModel

logger = logging.getLogger(__name__)
SHORT_FORM_LIMIT = 80


def is_unsaid(value: Any) -> bool:
    """Return whether a field is empty, so that stored records omit newer fields."""
    return not value


class RecordedEntity(UserFileModel):
    """A person, place, thing, group or term that the scene shows for the first time."""

    name: str = Field(min_length=1, description="As the record names it elsewhere.")
    entity_type: EntityType = "character"
    aliases: list[str] = Field(default_factory=list)
    description: str = ""


class RecordedStateChange(UserFileModel):
    """New attribute values of one entity.

    None clears, and lists are replaced whole.
    """

    entity_id: str = Field(min_length=1)
    changes: dict[str, Any] = Field(default_factory=dict)
    evidence: str | None = Field(default=None, description="Verbatim quote from the scene.")
    only_ends: bool = Field(
        default=False, exclude_if=is_unsaid, description="A list that only got shorter: that needs no quote."
    )


class RecordedRelationshipChange(UserFileModel):
    """How two characters stand after the scene.

    `dimensions` are what both feel alike; what only one feels for the other is on that side.
    """

    character_a: str = Field(min_length=1)
    character_b: str = Field(min_length=1)
    relationship_type: str = ""
    type_reads_back: bool = Field(
        default=False, exclude_if=is_unsaid, description="The type reads from character_b to character_a."
    )
    status: str = "neutral"
    perspective_a: str = ""
    perspective_b: str = ""
    intensity: int = Field(default=5, ge=0, le=10)
    event: str = ""
    dimensions: RelationshipDimensions = Field(default_factory=dict)
    dimensions_a: RelationshipDimensions = Field(
        default_factory=dict, exclude_if=is_unsaid, description="What character_a feels for character_b."
    )
    dimensions_b: RelationshipDimensions = Field(
        default_factory=dict, exclude_if=is_unsaid, description="What character_b feels for character_a."
    )

    def in_reading_order(self) -> tuple[str, str]:
        """Return both ids in reading order."""
        return (self.character_b, self.character_a) if self.type_reads_back else (self.character_a, self.character_b)

    def turned(self) -> Self:
        """Return the same change with the pair the other way round."""
        return self.model_copy(
            update={
                "character_a": self.character_b,
                "character_b": self.character_a,
                **turned_pair_type(self.relationship_type, type_reads_back=self.type_reads_back),
                "perspective_a": self.perspective_b,
                "perspective_b": self.perspective_a,
                "dimensions_a": self.dimensions_b,
                "dimensions_b": self.dimensions_a,
            }
        )

    def in_order(self) -> Self:
        """Return the same change so that `character_a` sorts first, as pairs are stored."""
        return self.turned() if self.character_a > self.character_b else self


class RecordedLoop(UserFileModel):
    """A thread that the scene planted."""

    id: str = Field(min_length=1)
    category: str = ""
    description: str = ""
    importance: LoopImportance = "medium"
    related_characters: list[str] = Field(default_factory=list)
    related_locations: list[str] = Field(default_factory=list)
    related_items: list[str] = Field(default_factory=list)
    pay_off: str = Field(
        default="",
        exclude_if=is_unsaid,
        description="When or under what condition the text expects it to be paid, in words.",
    )
    due_from: tuple[int, int] | None = Field(
        default=None, exclude_if=is_unsaid, description="It is due on entering this chapter and scene."
    )
    due_by: tuple[int, int] | None = Field(
        default=None, exclude_if=is_unsaid, description="Open on entering this chapter and scene, it is overdue."
    )
    parts: int | None = Field(
        default=None, ge=2, exclude_if=is_unsaid, description="In how many parts it is to be paid."
    )

    @field_validator("due_from", "due_by", mode="before")
    @classmethod
    def _whole_chapter(cls, value: Any) -> Any:
        """Take a chapter alone as its first scene."""
        return (value, 0) if isinstance(value, int) and not isinstance(value, bool) else value


class RecordedLoopAdvance(UserFileModel):
    """A thread that the scene moved without ending it."""

    id: str = Field(min_length=1)
    note: str = ""
    pays_part: bool = Field(default=False, exclude_if=is_unsaid, description="Whether a part of it was paid by this.")
    description: str = Field(
        default="", exclude_if=is_unsaid, description="What is open from here on, where that has grown or changed."
    )
    pay_off: str = Field(
        default="", exclude_if=is_unsaid, description="When or on what condition it is to be paid, where this says so."
    )


ThreadEnding = Literal["paid", "broken", "dropped", "moot"]
"""Kept or answered; broken; dropped on purpose; without object, since those that it was about are dead."""


class RecordedLoopResolution(UserFileModel):
    """An ended thread.

    `abandoned` means dropped, not paid.
    """

    id: str = Field(min_length=1)
    resolution_summary: str = ""
    abandoned: bool = False
    ending: ThreadEnding | None = Field(
        default=None, exclude_if=is_unsaid, description="How it ended; None: as `abandoned` says."
    )


class RecordedMemory(UserFileModel):
    """One fact worth remembering, with a short form."""

    memory_id: str = Field(
        min_length=1, description="Unique in the story; where a record leaves it out it is made of place and text."
    )
    event_type: str = OTHER_EVENT
    content: str = Field(min_length=1)
    short: str = ""
    importance: int = Field(default=5, ge=1, le=10)
    entities: list[str] = Field(default_factory=list)
    tags: list[str] = Field(default_factory=list)
    supersedes: str | None = Field(
        default=None, description="memory_id of an earlier memory that this one ends or corrects; a list is read too."
    )
    also_supersedes: list[str] = Field(
        default_factory=list, exclude_if=is_unsaid, description="The others that it ends, where they are several."
    )
    slot_type: str | None = None
    evidence: str | None = Field(default=None, description="Verbatim quote from the scene.")
    contradicts: str | None = Field(
        default=None,
        exclude_if=is_unsaid,
        description="memory_id of an earlier memory that cannot be true beside this one.",
    )
    known_by: list[str] = Field(
        default_factory=list,
        exclude_if=is_unsaid,
        description="Ids of all who know it when the scene ends, on stage or not; empty: told by who was there.",
    )
    hidden_from: list[str] = Field(
        default_factory=list,
        exclude_if=is_unsaid,
        description="Ids of who does not know it although they were there or it is about them.",
    )

    @model_validator(mode="before")
    @classmethod
    def _first_superseded(cls, value: Any) -> Any:
        """Split a list of superseded memories into the first and the others."""
        if not isinstance(value, dict) or not isinstance(value.get("supersedes"), list):
            return value
        first, *others = [*value["supersedes"], *(value.get("also_supersedes") or ())] or [None]
        return {**value, "supersedes": first, "also_supersedes": others}

    @property
    def superseded_ids(self) -> list[str]:
        """The memory_ids of all memories that this one ends."""
        return superseded(self.supersedes, self.also_supersedes)

    @field_validator("event_type")
    @classmethod
    def _other_when_unknown(cls, value: str) -> str:
        if value in EVENT_TYPES:
            return value
        logger.warning("event_type %r is not in the closed list; stored as %r", value, OTHER_EVENT)
        return OTHER_EVENT


class RecordedRepetition(UserFileModel):
    """An earlier memory told again, without a new one."""

    memory_id: str = Field(min_length=1)
    evidence: str | None = Field(default=None, description="Verbatim quote from the scene.")


class RecordedLearning(UserFileModel):
    """New knowledge or belief of a character about earlier memories.

    Without `memory_ids` it is the whole tale: everything that `from_id` has lived through.
    """

    character_id: str = Field(min_length=1, description="Who learnt it; `reader` for whoever reads the book.")
    memory_ids: list[str] = Field(default_factory=list)
    kind: KnowledgeKind = "knows"
    how: KnowledgeSource = "told"
    from_id: str | None = Field(default=None, description="Id of whom it was learnt from.")
    certainty: float = Field(default=1.0, ge=0.0, le=1.0, description="1: sure; less: rumour, doubt.")
    evidence: str | None = Field(default=None, description="Verbatim quote from the scene.")


class SceneRecord(UserFileModel):
    """Everything that one finished scene established."""

    chapter_index: int = Field(ge=0)
    scene_index: int = Field(ge=0)
    title: str = ""
    pov_character_id: str | None = None
    location_id: str | None = None
    story_time: str | None = None
    characters_present: list[str] = Field(default_factory=list)
    new_entities: list[RecordedEntity] = Field(
        default_factory=list,
        exclude_if=is_unsaid,
        description="Cards to make at this scene; a name that a card bears already makes none.",
    )
    is_flashback: bool = Field(
        default=False,
        exclude_if=is_unsaid,
        description="All of it plays at an earlier time: who is on stage is not there now, no state changes.",
    )
    summary: list[str] = Field(default_factory=list)
    key_events: list[str] = Field(default_factory=list)
    emotional_beats: list[str] = Field(default_factory=list)
    state_changes: list[RecordedStateChange] = Field(default_factory=list)
    relationship_changes: list[RecordedRelationshipChange] = Field(default_factory=list)
    open_loops_created: list[RecordedLoop] = Field(default_factory=list)
    open_loops_advanced: list[RecordedLoopAdvance] = Field(default_factory=list)
    open_loops_resolved: list[RecordedLoopResolution] = Field(default_factory=list)
    memories: list[RecordedMemory] = Field(default_factory=list)
    memories_repeated: list[RecordedRepetition] = Field(default_factory=list, exclude_if=is_unsaid)
    learned: list[RecordedLearning] = Field(default_factory=list, exclude_if=is_unsaid)
    knowledge_read: bool = Field(
        default=False,
        exclude_if=is_unsaid,
        description="The scene was read for who knows what: `learned` is then all that was learnt in it.",
    )

    @model_validator(mode="before")
    @classmethod
    def _name_memories(cls, value: Any) -> Any:
        """Give each memory without an id one that the same record gets again."""
        memories = value.get("memories") if isinstance(value, dict) else None
        if not isinstance(memories, list):
            return value
        where = f"{value.get('chapter_index')}:{value.get('scene_index')}"
        return {**value, "memories": [_with_id(memory, where) for memory in memories]}


def _with_id(memory: Any, where: str) -> Any:
    if not isinstance(memory, dict) or memory.get("memory_id") or not isinstance(memory.get("content"), str):
        return memory
    digest = sha256(f"{where} {memory['content']}".encode("utf-8", "replace")).hexdigest()
    return {**memory, "memory_id": f"r-{digest[:16]}"}
