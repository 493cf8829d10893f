"""Whether drafts and stored scenes hold, what is meant to be so, what changed, and when scenes play."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import Field

from novelgen.models.continuity import DraftCheck
from runtime.doors.http.answering import AnsweringRouter
from runtime.doors.http.house import LONGEST_SCENE, READS, Body, Project
from runtime.story.continuity import StoredCheck

router = AnsweringRouter(prefix="/v1/projects/{project_id}", tags=["drafts"])


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


@router.post("/check", openapi_extra=READS)
def check_draft(project: Project, body: DraftRequest) -> DraftCheck:
    """Tell what a draft contradicts in the story before its scene; nothing is stored."""
    return project.story.check(
        body.text,
        chapter_index=body.chapter_index,
        scene_index=body.scene_index,
        scene_plan=body.scene_plan,
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
