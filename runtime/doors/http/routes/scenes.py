"""Scenes: taking one in, its record, correcting, moving and deleting it, summaries, and taking corrections back."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from novelgen.models.position import ChapterIndex, SceneIndex, StoryPosition
from runtime.doors.http.answering import AnsweringRouter
from runtime.doors.http.house import LONGEST_SCENE, Body, ChapterNumber, Project, SceneNumber
from runtime.story.ingest import IngestReport
from runtime.story.scenes import SceneChange, StoryScenes

router = AnsweringRouter(prefix="/v1/projects/{project_id}", tags=["scenes"])


class FinishedScene(Body):
    """A finished scene."""

    text: str | None = Field(
        default=None, max_length=LONGEST_SCENE, description="Without it the stored text, for which `record` is."
    )
    record: dict[str, Any] | None = Field(
        default=None, description="What it established: a scene record, as in docs/records-and-summaries.md."
    )
    title: str = Field(default="", max_length=500)


class ScenePlace(Body):
    """Where a scene shall stand."""

    chapter_index: ChapterIndex
    scene_index: SceneIndex


@router.put("/scenes/{chapter_index}/{scene_index}")
def ingest_scene(
    project: Project, chapter_index: ChapterNumber, scene_index: SceneNumber, body: FinishedScene
) -> IngestReport:
    """Take one finished scene in; a changed one takes the place of what came from it before, and of nothing else."""
    return project.story.ingest(
        text="" if body.text is None and body.record is None else body.text,
        record=body.record,
        chapter_index=chapter_index,
        scene_index=scene_index,
        title=body.title,
    )


@router.post("/scenes/{chapter_index}/{scene_index}/move")
def move_scene(
    project: Project, chapter_index: ChapterNumber, scene_index: SceneNumber, body: ScenePlace
) -> SceneChange:
    """Move a scene; the others close up and make room."""
    return StoryScenes(project.stores, project.project_id).move_scene(
        source=StoryPosition(chapter_index, scene_index), target=StoryPosition(body.chapter_index, body.scene_index)
    )
