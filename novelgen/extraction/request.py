"""What an extraction is given, and what comes of it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from novelgen.models.context import ReportIssue
from novelgen.models.entity import Entity, EntityType
from novelgen.models.position import ChapterIndex, SceneIndex
from novelgen.models.record import SceneRecord
from novelgen.models.state import EntityStateSnapshot, OpenLoop, Relationship
from novelgen.text.language import StoryLanguage

ExtractionFault = Literal[
    "timeout", "unavailable", "cut", "not_json", "schema", "echo", "ungrounded", "empty"
]


class SceneRecordRequest(BaseModel):
    """A finished scene, and what the story knows on entering it (entities: by the end of it)."""

    project_id: str = Field(min_length=1)
    chapter_index: ChapterIndex
    scene_index: SceneIndex
    title: str = ""
    text: str
    language: StoryLanguage | None = Field(default=None, description="None is told from the text.")
    entities: list[Entity] = Field(default_factory=list, description="With the names known in the scene.")
    present_ids: list[str] = Field(
        default_factory=list, description="Who was on stage lately, the most recent first."
    )
    open_loops: list[OpenLoop] = Field(default_factory=list)
    states: list[EntityStateSnapshot] = Field(default_factory=list)
    relationships: list[Relationship] = Field(default_factory=list)
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
    new_names: list[NewName] = Field(
        default_factory=list, description="Names that known entities get in the scene."
    )
    same_entities: list[SameEntities] = Field(
        default_factory=list, description="Entities that are one; a quote proves each."
    )
    evidence: dict[str, EvidenceSpan] = Field(
        default_factory=dict, description="By memory_id, or by entity and attribute: C2.status."
    )
    text_hash: str = Field(default="", description="SHA-256 of the text that the spans count in.")
    unverified: list[UnverifiedFact] = Field(default_factory=list)
    issues: list[ReportIssue] = Field(default_factory=list)
    fault: ExtractionFault | None = None
    reason: str | None = Field(default=None, description="Why it failed.")
    windows: int = 0
    model_calls: int = 0
    elapsed_s: float = 0.0
