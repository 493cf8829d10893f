"""Whether drafts and stored scenes hold, what is meant to be so, what changed, and when scenes play."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field

from novelgen.models.continuity import DraftCheck
from novelgen.models.story_difference import StoryDifference
from novelgen.models.story_time import StoryTimeline
from runtime.doors.http.answering import AnsweringRouter
from runtime.doors.http.house import LONGEST_SCENE, READS, AsOf, Body, PositionText, Project, position
from runtime.story.continuity import StoredCheck, StoryContinuity, Waiver
from runtime.story.story_difference import StoryDifferences
from runtime.story.story_time import StoryTimes

router = AnsweringRouter(prefix="/v1/projects/{project_id}", tags=["drafts"])

FindingId = Annotated[str, Field(pattern=r"^K[0-9a-f]{12}$", description="As a check tells it.")]


class DraftRequest(Body):
    """A draft and the scene that it is to become."""

    text: str = Field(min_length=1, max_length=LONGEST_SCENE)
    chapter_index: int = Field(ge=0, le=1_000_000)
    scene_index: int = Field(ge=0, le=1_000_000)
    scene_plan: dict[str, Any] | None = Field(
        default=None, description="What the scene is meant to do; without it the project's own plan, if any."
    )
    pov: str = Field(default="", max_length=400, description="From whose point of view; over the plan's own.")
    use_model: bool = Field(default=True, description="False lets rules alone check.")


class WaiverRequest(Body):
    """A finding that is meant to be so."""

    issue_id: FindingId
    note: str = Field(default="", max_length=2000, description="Why.")


class WaiverList(BaseModel):
    """What the author means to be so."""

    waivers: list[Waiver]


@router.post("/check", openapi_extra=READS)
def check_draft(project: Project, body: DraftRequest) -> DraftCheck:
    """Tell what a draft contradicts in the story before its scene; nothing is stored."""
    return project.story.check(
        body.text,
        chapter_index=body.chapter_index,
        scene_index=body.scene_index,
        plan=body.scene_plan,
        pov=body.pov or None,
        use_model=body.use_model,
    )


@router.get("/check/stored")
def check_stored_scenes(
    project: Project,
    chapter_index: Annotated[int, Query(ge=0, le=1_000_000)],
    scene_index: Annotated[int | None, Query(ge=0, le=1_000_000)] = None,
) -> StoredCheck:
    """Check the stored scenes of a chapter by rules, each against what came before it."""
    return project.story.check_stored(chapter_index=chapter_index, scene_index=scene_index, use_model=False)


@router.get("/check/waivers")
def list_waived_findings(project: Project) -> WaiverList:
    """List the findings that the author means to be so."""
    return WaiverList(waivers=StoryContinuity(project.stores, project.project_id).waived_findings())


@router.post("/check/waivers", status_code=201)
def add_waiver(project: Project, body: WaiverRequest) -> Waiver:
    """Mark a finding as meant: it is told no more while the draft's words and the evidence stand."""
    return StoryContinuity(project.stores, project.project_id).waive_finding(issue_id=body.issue_id, note=body.note)


@router.delete("/check/waivers/{issue_id}")
def remove_waiver(project: Project, issue_id: FindingId) -> Waiver:
    """Take a waiver back."""
    return StoryContinuity(project.stores, project.project_id).unwaive_finding(issue_id=issue_id)


@router.get("/changes")
def list_changes(
    project: Project,
    since: Annotated[
        PositionText | None, Query(description="What the scenes from here on changed; without it the last one.")
    ] = None,
    as_of: AsOf = None,
) -> StoryDifference:
    """Tell what the last scene, or a stretch of the story, changed."""
    return StoryDifferences(project.stores, project.project_id).what_changed(
        since=position(since), until=position(as_of)
    )


@router.get("/story-times")
def list_story_times(
    project: Project,
    character: Annotated[str | None, Query(max_length=400, description="Only scenes with this one.")] = None,
    as_of: AsOf = None,
) -> StoryTimeline:
    """Tell when the scenes play: running days, the order told and the order lived."""
    return StoryTimes(project.stores, project.project_id).story_times(as_of=position(as_of), character=character)
