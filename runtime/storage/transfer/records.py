"""A project's contents whole, as they are exported and imported."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from novelgen.characters.memory import CharacterMemory
from novelgen.models.entity import Entity
from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.position import UtcDatetime
from novelgen.models.state import RelationshipDimension, StateChange
from novelgen.models.user_file import StoryPart
from runtime.storage.character.dispositions import PlayContents
from runtime.storage.memory.consolidations import StoredConsolidation
from runtime.storage.records import EntityOrigin, EventOrigin, MemoryStatus, StoredKnowledge, StoredScene
from runtime.storage.story.summaries import StoredSummary

LoopEventKind = Literal["planted", "advanced", "resolved", "abandoned"]


class ExchangedEntity(BaseModel):
    """An entity, and which of its aliases an author wrote."""

    entity: Entity
    origin: EntityOrigin = "author"
    author_aliases: list[str] = Field(default_factory=list)
    created_at: UtcDatetime | None = None
    updated_at: UtcDatetime | None = None

    def tells_the_same(self, other: ExchangedEntity) -> bool:
        """Tell whether both say the same of an entity, whenever they did."""
        moments = {"created_at", "updated_at"}
        return self.model_dump(exclude=moments) == other.model_dump(exclude=moments)


class ExchangedState(StateChange):
    """A state change; `scene_label` is the scene that it goes with."""

    origin: EventOrigin = "author"
    scene_label: str | None = None
    created_at: UtcDatetime
    detail: dict[str, Any] = Field(
        default_factory=dict, description="What a history says of it beside, such as a summary."
    )


class ExchangedLoopEvent(BaseModel):
    """An event of an open loop; `detail` describes it where it was planted."""

    loop_id: str
    kind: LoopEventKind
    note: str = ""
    detail: dict[str, Any] = Field(default_factory=dict)
    chapter_index: int | None = None
    scene_index: int | None = None
    origin: EventOrigin = "author"
    scene_label: str | None = None


class ExchangedPair(BaseModel):
    """The id of a relationship; `character_a` sorts before `character_b`."""

    relationship_id: str
    character_a: str
    character_b: str
    created_at: UtcDatetime | None = None
    updated_at: UtcDatetime | None = None
    other_fields: dict[str, Any] = Field(
        default_factory=dict, description="What another program's document of it says beside."
    )


class ExchangedRelationshipChange(BaseModel):
    """How a pair stood after a scene; None leaves the earlier value."""

    relationship_id: str
    relationship_type: str | None = None
    status: str | None = None
    perspective_a: str | None = None
    perspective_b: str | None = None
    intensity: int | None = Field(default=None, ge=0, le=10)
    dimensions: dict[RelationshipDimension, int] = Field(default_factory=dict)
    dimensions_a: dict[RelationshipDimension, int] | None = None
    dimensions_b: dict[RelationshipDimension, int] | None = None
    event: str = ""
    chapter_index: int | None = None
    scene_index: int | None = None
    origin: EventOrigin = "author"
    scene_label: str | None = None


class ExchangedKnowledge(StoredKnowledge):
    """What is said of who knows a memory; `scene_label` is the scene that it goes with."""

    origin: EventOrigin = "author"
    scene_label: str | None = None


class ExchangedMemory(BaseModel):
    """A memory with what the author decided about it."""

    chunk: StoryMemoryChunk
    status: MemoryStatus = "active"
    pinned: bool = False
    from_scene: bool = True
    attached: list[str] = Field(default_factory=list, description="Targets that were set by hand.")
    detached: list[str] = Field(default_factory=list, description="Targets that were taken off by hand.")
    last_accessed_at: UtcDatetime | None = None
    scene_label: str | None = None


class ExchangedScene(BaseModel):
    """A scene with its text and the names that stand in it."""

    scene: StoredScene
    mentions: list[tuple[str, str]] = Field(default_factory=list, description="(entity_id, name)")


class Waivers(BaseModel):
    """What the author means to be so, as id and note: contradictions of the story, and findings in drafts."""

    conflicts: dict[str, str] = Field(default_factory=dict)
    findings: dict[str, str] = Field(default_factory=dict)

    def is_empty(self) -> bool:
        """Whether nothing is waived."""
        return not (self.conflicts or self.findings)


class ProjectContents(BaseModel):
    """All that a project holds; lists in an order that can be stored again."""

    name: str = ""
    language: str = ""
    entities: list[ExchangedEntity] = Field(default_factory=list)
    scenes: list[ExchangedScene] = Field(default_factory=list)
    memories: list[ExchangedMemory] = Field(default_factory=list)
    states: list[ExchangedState] = Field(default_factory=list)
    loop_events: list[ExchangedLoopEvent] = Field(default_factory=list)
    pairs: list[ExchangedPair] = Field(default_factory=list)
    relationship_changes: list[ExchangedRelationshipChange] = Field(default_factory=list)
    knowledge: list[ExchangedKnowledge] = Field(default_factory=list)
    parts: list[StoryPart] = Field(default_factory=list, description="As the author said them.")
    summaries: list[StoredSummary] = Field(default_factory=list, description="Written ones only.")
    consolidations: list[StoredConsolidation] = Field(
        default_factory=list, description="Memories that stand for others; not among `memories`."
    )
    character_memories: list[CharacterMemory] = Field(
        default_factory=list, description="What characters remember by themselves, deleted memories too."
    )
    play: PlayContents = Field(
        default_factory=PlayContents, description="What characters feel, keep secret and told; flags."
    )
    waivers: Waivers = Field(default_factory=Waivers)
    counters: dict[str, int] = Field(default_factory=dict, description="Kind of id to its next number.")


class SceneBundle(BaseModel):
    """A scene with all that goes with it."""

    scene: ExchangedScene
    memories: list[ExchangedMemory] = Field(default_factory=list)
    states: list[ExchangedState] = Field(default_factory=list)
    loop_events: list[ExchangedLoopEvent] = Field(default_factory=list)
    relationship_changes: list[ExchangedRelationshipChange] = Field(default_factory=list)
    knowledge: list[ExchangedKnowledge] = Field(default_factory=list)


class ToldScene(BaseModel):
    """What another program's document says of a scene beside its text and record."""

    created_at: UtcDatetime | None = None
    other_fields: dict[str, Any] = Field(default_factory=dict)
