"""What an extraction is given, and what comes of it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from novelgen.language.language import StoryLanguage
from novelgen.model_calls.usage import ModelUsage
from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity, EntityType
from novelgen.models.position import ChapterIndex, SceneIndex
from novelgen.models.record import SceneRecord
from novelgen.models.state import EntityStateSnapshot, OpenLoop, Relationship

ExtractionFault = Literal["timeout", "unavailable", "cut", "not_json", "schema", "echo", "ungrounded", "empty"]


class EntitySighting(BaseModel):
    """Where the story last showed an entity or spoke of it, and in how many scenes it did."""

    chapter_index: int
    scene_index: int
    scenes: int = Field(default=1, ge=1)


class SceneBefore(BaseModel):
    """What happened in a scene shortly before the one that is read."""

    chapter_index: int
    scene_index: int
    story_time: str = ""
    location_id: str | None = None
    characters_present: list[str] = Field(default_factory=list)
    summary: list[str] = Field(default_factory=list)


class KnownMemory(BaseModel):
    """A fact that the story has stored and that nothing ended since."""

    memory_id: str
    says: str
    chapter_index: int | None = None
    scene_index: int | None = None
    importance: int = 5
    entities: list[str] = Field(default_factory=list)


class SceneRecordRequest(BaseModel):
    """A finished scene, and what the story knows on entering it (entities: by the end of it).

    It holds all that is known; what of it the prompt lists is chosen by what the scene touches.
    """

    project_id: str = Field(min_length=1)
    chapter_index: ChapterIndex
    scene_index: SceneIndex
    title: str = ""
    text: str
    language: StoryLanguage | None = Field(default=None, description="None is told from the text.")
    entities: list[Entity] = Field(default_factory=list, description="With the names known in the scene.")
    present_ids: list[str] = Field(default_factory=list, description="Who was on stage lately, the most recent first.")
    open_loops: list[OpenLoop] = Field(default_factory=list)
    states: list[EntityStateSnapshot] = Field(default_factory=list)
    relationships: list[Relationship] = Field(default_factory=list)
    stand_ins: dict[str, str] = Field(
        default_factory=dict, description="Entities that became part of others, and of whom."
    )
    memories: list[KnownMemory] = Field(default_factory=list, description="Those that still hold.")
    scenes_before: list[SceneBefore] = Field(default_factory=list, description="The last few, in story order.")
    story_places: list[tuple[int, int]] = Field(
        default_factory=list, description="Chapter and scene of every scene before, in story order."
    )
    sightings: dict[str, EntitySighting] = Field(default_factory=dict, description="By entity id.")
    max_bullets: int = Field(default=5, ge=1, le=20, description="Most bullets of the summary.")


class ProposedEntity(BaseModel):
    """A person, place or thing that the scene shows for the first time; its id is given by the caller."""

    temporary_id: str
    entity_type: EntityType
    name: str = Field(min_length=1)
    aliases: list[str] = Field(default_factory=list)
    description: str = ""
    generic: bool = Field(default=False, description="One of a kind, known by no name of its own.")


class NewName(BaseModel):
    """A name that an entity gets in a scene; it counts from there on."""

    entity_id: str
    name: str = Field(min_length=1)
    quote: str = ""


class SameEntities(BaseModel):
    """Two entities that a scene shows to be one.

    With `how` "same" they were one for the readers all along, so that one becomes part of the other;
    "unmasked" says that readers learn it in the scene: they are one from there on, and two before.
    """

    entity_id: str
    other_id: str
    how: Literal["same", "unmasked"] = "same"
    quote: str = ""


class UnverifiedFact(BaseModel):
    """A fact whose quote was not found in the scene; it is kept and ranked lower."""

    kind: Literal["memory", "state_change"]
    id: str = Field(description="memory_id, or entity and attribute: C2.status.")
    says: str
    quote: str | None = None


class UnplacedItem(BaseModel):
    """Something a model said that could not be put into the record; it may be asked once more about it."""

    model_config = ConfigDict(frozen=True)

    field: str = Field(description="Where the answer said it: state_changes[2].value.")
    text: str = Field(description="What it said there.")
    reason: str = Field(description="Why it could not be placed.")


class EvidenceSpan(BaseModel):
    """Where in the scene the quote of a fact stands: the characters [start, end)."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)


class SceneRecordResult(BaseModel):
    """What an extraction found; a record exactly when it is done.

    A record speaks of new entities and loops by temporary ids; `proposals.with_given_ids` replaces them.
    """

    status: Literal["done", "failed"]
    record: SceneRecord | None = None
    proposed_entities: list[ProposedEntity] = Field(default_factory=list)
    new_names: list[NewName] = Field(default_factory=list, description="Names that known entities get in the scene.")
    same_entities: list[SameEntities] = Field(
        default_factory=list, description="Entities that are one; a quote proves each."
    )
    evidence: dict[str, EvidenceSpan] = Field(
        default_factory=dict, description="By memory_id, or by entity and attribute: C2.status."
    )
    text_hash: str = Field(default="", description="SHA-256 of the text that the spans count in.")
    unverified: list[UnverifiedFact] = Field(default_factory=list)
    unplaced: list[UnplacedItem] = Field(
        default_factory=list, description="What the answers said and the record does not hold."
    )
    issues: list[ReportIssue] = Field(default_factory=list)
    fault: ExtractionFault | None = None
    reason: str | None = Field(default=None, description="Why it failed.")
    is_refused: bool = Field(
        default=False, description="The model would refuse every other scene, too: key, model, quota, address."
    )
    windows: int = 0
    model_calls: int = 0
    usage: ModelUsage = Field(default_factory=ModelUsage, description="What the provider counted.")
    elapsed_s: float = 0.0
