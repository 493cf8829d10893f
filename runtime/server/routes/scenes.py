"""Scenes: taking one in, looking at it, its record, moving and deleting it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from novelgen.models.position import ChapterIndex, SceneIndex, StoryPosition
from runtime.server.answering import AnsweringRouter
from runtime.server.house import LONGEST_SCENE, Body, ChapterNumber, Project, SceneNumber
from runtime.services import scenes as scene_services
from runtime.services import summaries as summary_services
from runtime.services.ingest import IngestReport
from runtime.services.scenes import ListedScene, SceneChange, SceneRecordView
from runtime.services.summaries import ListedSummary

router = AnsweringRouter(prefix="/v1/projects/{project_id}", tags=["scenes"])


class FinishedScene(Body):
    """A finished scene."""

    text: str | None = Field(
        default=None,
        max_length=LONGEST_SCENE,
        description="Without it the stored text, for which `record` is.",
    )
    record: dict[str, Any] | None = Field(
        default=None, description="What it established: a scene record, as in docs/records-and-summaries.md."
    )
    title: str = Field(default="", max_length=500)


class InsertedScene(Body):
    """A new scene at a place that others leave."""

    text: str = Field(min_length=1, max_length=LONGEST_SCENE)
    title: str = Field(default="", max_length=500)


class ScenePlace(Body):
    """Where a scene shall stand."""

    chapter_index: ChapterIndex
    scene_index: SceneIndex


class SceneList(BaseModel):
    """The stored scenes in story order, without their texts."""

    scenes: list[ListedScene]


class SummaryList(BaseModel):
    """What is told of chapters and parts that are over."""

    summaries: list[ListedSummary]


@router.get("/scenes")
def list_scenes(project: Project) -> SceneList:
    """List the stored scenes in story order, without their texts."""
    return SceneList(scenes=scene_services.list_scenes(project.stores, project.project_id))


@router.get("/scenes/{chapter_index}/{scene_index}")
def get_scene(project: Project, chapter_index: ChapterNumber, scene_index: SceneNumber) -> ListedScene:
    """Return a stored scene with its text."""
    place = StoryPosition(chapter_index, scene_index)
    return scene_services.get_scene(project.stores, project.project_id, position=place)


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


@router.delete("/scenes/{chapter_index}/{scene_index}")
def delete_scene(project: Project, chapter_index: ChapterNumber, scene_index: SceneNumber) -> SceneChange:
    """Delete a scene with everything that came from it; the author's notes stay."""
    place = StoryPosition(chapter_index, scene_index)
    return scene_services.delete_scene(project.stores, project.project_id, position=place)


@router.get("/scenes/{chapter_index}/{scene_index}/record")
def get_scene_record(
    project: Project, chapter_index: ChapterNumber, scene_index: SceneNumber
) -> SceneRecordView:
    """Return what a scene established, with the facts that no quote of it proves."""
    place = StoryPosition(chapter_index, scene_index)
    return scene_services.get_record(project.stores, project.project_id, position=place)


@router.post("/scenes/{chapter_index}/{scene_index}/insert", status_code=201)
def insert_scene(
    project: Project, chapter_index: ChapterNumber, scene_index: SceneNumber, body: InsertedScene
) -> SceneChange:
    """Make room at a place and store a new scene there; those from there on move by one."""
    place = StoryPosition(chapter_index, scene_index)
    return scene_services.insert_scene(
        project.stores, project.project_id, position=place, text=body.text, title=body.title
    )


@router.post("/scenes/{chapter_index}/{scene_index}/move")
def move_scene(
    project: Project, chapter_index: ChapterNumber, scene_index: SceneNumber, body: ScenePlace
) -> SceneChange:
    """Move a scene; the others close up and make room."""
    return scene_services.move_scene(
        project.stores,
        project.project_id,
        source=StoryPosition(chapter_index, scene_index),
        target=StoryPosition(body.chapter_index, body.scene_index),
    )


@router.get("/summaries")
def list_summaries(project: Project) -> SummaryList:
    """List what is told of every chapter and every part that has begun."""
    return SummaryList(summaries=summary_services.list_summaries(project.stores, project.project_id))
