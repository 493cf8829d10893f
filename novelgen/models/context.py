"""The output of the main job: what the next scene must not contradict and should pick up."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from novelgen.models.memory import StoryMemoryChunk
from novelgen.models.plan import ScenePlan
from novelgen.models.state import EntityStateSnapshot
from novelgen.models.timestamps import UtcDatetime

Form = Literal["full", "short"]
IssueKind = Literal[
    "unavailable", "timeout", "degraded", "malformed", "over_limit", "not_written", "unresolved", "stale"
]


class ReportIssue(BaseModel):
    """Something that went wrong or is missing, said aloud."""

    stage: str = Field(description="plan, outline, search, states, timeline, select, write, …")
    kind: IssueKind
    message: str


class PlannerReport(BaseModel):
    """Which planner was used, and why."""

    used: Literal["llm", "rules"] = "rules"
    reason: str = ""


class ReportedQuery(BaseModel):
    """One retrieval query as it was asked."""

    text: str
    origin: Literal["rules", "llm"] = "rules"
    purpose: str = Field(default="", description="What part of the plan it serves: action, place, pair, …")
    entities: list[str] = Field(default_factory=list)
    content_type: str | None = None
    tags: list[str] = Field(default_factory=list)


class ContextItem(BaseModel):
    """Receipt of one selected memory: why it is in, in which form, at what cost."""

    chunk_id: str
    source_id: str | None = None
    chapter_index: int | None = None
    scene_index: int | None = None
    form: Form = "full"
    text: str = Field(description="The text as it enters the prompt.")
    tokens: int = Field(ge=0)
    prompt_index: int = Field(ge=0, description="Place among the memories in the rendered prompt, from 0.")
    reasons: list[str] = Field(default_factory=list)
    arm_ranks: dict[str, int] = Field(default_factory=dict, description="Best rank per retriever, from 1.")
    score: float = 0.0
    score_parts: dict[str, float] = Field(default_factory=dict)


class LeftOutItem(BaseModel):
    """Something that was found near the border and not taken, and why."""

    section: Literal["memories", "states", "timeline"] = "memories"
    id: str
    source_id: str | None = None
    text: str = ""
    tokens: int = 0
    score: float | None = None
    reason: str


class ContextReport(BaseModel):
    """How the context came about."""

    planner: PlannerReport = Field(default_factory=PlannerReport)
    queries: list[ReportedQuery] = Field(default_factory=list)
    entities: list[str] = Field(default_factory=list, description="Entity ids that the plan resolved to.")
    unresolved_names: list[str] = Field(default_factory=list)
    names: dict[str, str] = Field(
        default_factory=dict, description="Entity id to the name under which it is known at the position."
    )
    items: list[ContextItem] = Field(default_factory=list, description="One per relevant memory, best first.")
    tokens: dict[str, int] = Field(default_factory=dict, description="Per section.")
    tokens_per_need: dict[str, int] = Field(
        default_factory=dict,
        description="Per need: states, obligations, relations, timeline (its rest), memories, passages.",
    )
    left_out: list[LeftOutItem] = Field(default_factory=list)
    issues: list[ReportIssue] = Field(default_factory=list)
    timings_s: dict[str, float] = Field(default_factory=dict, description="Seconds per stage.")
    story_version: str | None = Field(
        default=None, description="Mark of what was stored before the position; changes when that changes."
    )
    scene_plan: ScenePlan | None = Field(
        default=None, description="The plan that the context was built for, so that it can be built again."
    )


class SceneMemoryContext(BaseModel):
    """What a planned scene must remember. Every field but `report` is in every output."""

    project_id: str
    chapter_index: int
    scene_index: int
    entity_states: list[EntityStateSnapshot] = Field(default_factory=list)
    relevant_memories: list[StoryMemoryChunk] = Field(default_factory=list)
    timeline_context: dict[str, Any] | None = None
    retrieval_timestamp: UtcDatetime
    report: ContextReport | None = None
