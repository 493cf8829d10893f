"""What changed between two contexts of one planned scene."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from novelgen.models.context import Form, PlannerReport, ReportIssue

Change = Literal["in", "out", "changed"]
MemoryChange = Literal["in", "out", "form", "text"]


class AttributeChange(BaseModel):
    """One attribute of an entity's state; None stands for an attribute that is not there."""

    attribute: str
    was: Any = None
    now: Any = None


class StateDifference(BaseModel):
    """An entity whose state came in, went, or has other values."""

    entity_id: str
    entity_type: str
    change: Change
    attributes: list[AttributeChange] = Field(default_factory=list, description="Only those that differ.")


class MemoryWording(BaseModel):
    """A memory as it enters the prompt."""

    form: Form
    text: str


class MemoryDifference(BaseModel):
    """A memory that came in, fell out, or stands there in another form or with another text."""

    memory_id: str = Field(description="Its source_id, else its chunk_id.")
    change: MemoryChange
    chapter_index: int | None = None
    scene_index: int | None = None
    was: MemoryWording | None = None
    now: MemoryWording | None = None


class TimelineDifference(BaseModel):
    """An entry of the timeline that came in, went, or tells something else of the same thing."""

    section: str
    change: Change
    was: dict[str, Any] | None = None
    now: dict[str, Any] | None = None


class ContextDifference(BaseModel):
    """What changed from one context of a planned scene to another one."""

    project_id: str
    chapter_index: int
    scene_index: int
    story_version_was: str | None = None
    story_version_now: str | None = None
    planner_was: PlannerReport = Field(default_factory=PlannerReport)
    planner_now: PlannerReport = Field(default_factory=PlannerReport)
    states: list[StateDifference] = Field(default_factory=list)
    memories: list[MemoryDifference] = Field(default_factory=list)
    timeline: list[TimelineDifference] = Field(default_factory=list)
    names: dict[str, str] = Field(
        default_factory=dict, description="Entity id to name, of both; the later name counts."
    )
    issues: list[ReportIssue] = Field(
        default_factory=list, description="Of the later context: what failed there may be why something went."
    )

    @property
    def is_empty(self) -> bool:
        """Whether a scene writer is told the same by both."""
        return not (self.states or self.memories or self.timeline)
