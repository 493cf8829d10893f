"""Scenes: taking one in, its record, correcting, moving and deleting it, summaries, and taking corrections back."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BaseModel, Field

from novelgen.models.position import ChapterIndex, SceneIndex, StoryPosition
from runtime.doors.http.answering import AnsweringRouter
from runtime.doors.http.house import (
    LONGEST_SCENE,
    READS,
    AsOf,
    Body,
    ChapterNumber,
    PositionText,
    Project,
    SceneNumber,
    position,
)
from runtime.story import author_changes as change_services
from runtime.story.author_changes import ListedChange, StoryAuthorChanges, TakenBack
from runtime.story.ingest import IngestReport
from runtime.story.scene_editing import KeptRecord, RecordedFactKind, SceneEdit, StorySceneEditing, TextConsequences
from runtime.story.scenes import ListedScene, SceneChange, SceneRecordView, StoryScenes
from runtime.story.summaries import ListedSummary, StorySummarizing, SummaryLevel

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


class InsertedScene(Body):
    """A new scene at a place that others leave."""

    text: str = Field(min_length=1, max_length=LONGEST_SCENE)
    title: str = Field(default="", max_length=500)


class SceneCorrection(Body):
    """A new text or title of a stored scene; what is left out stays."""

    text: str | None = Field(default=None, min_length=1, max_length=LONGEST_SCENE)
    title: str | None = Field(default=None, max_length=500)
    record: KeptRecord = Field(default="keep", description="What becomes of the record when the text changes.")


class SceneText(Body):
    """A text that a scene might get."""

    text: str = Field(min_length=1, max_length=LONGEST_SCENE)


class FactCorrection(Body):
    """A fact of a record in other words, or out of it."""

    kind: RecordedFactKind
    source_id: str = Field(
        min_length=1, max_length=400, description="`C3.status`, `C0-C3`, `OL2`, or the number of what was learnt."
    )
    text: str | None = Field(
        default=None, min_length=1, max_length=20_000, description="Its new words; null takes it out."
    )
    as_of: PositionText | None = Field(
        default=None, description="Names in a value are meant as they are known by then."
    )


class WrittenSummary(Body):
    """What somebody wrote of a chapter or part."""

    text: str = Field(max_length=20_000, description="Empty: the made summary holds again.")


class AuthorChangeList(BaseModel):
    """What the author changed in memories and scenes, the latest first."""

    changes: list[ListedChange]


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
    return SceneList(scenes=StoryScenes(project.stores, project.project_id).list_scenes())


@router.get("/scenes/{chapter_index}/{scene_index}")
def get_scene(project: Project, chapter_index: ChapterNumber, scene_index: SceneNumber) -> ListedScene:
    """Return a stored scene with its text."""
    place = StoryPosition(chapter_index, scene_index)
    return StoryScenes(project.stores, project.project_id).get_scene(position=place)


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
    return StoryScenes(project.stores, project.project_id).delete_scene(position=place)


@router.patch("/scenes/{chapter_index}/{scene_index}")
def edit_scene(
    project: Project, chapter_index: ChapterNumber, scene_index: SceneNumber, body: SceneCorrection
) -> SceneEdit:
    """Change the text or title of a stored scene; its `change_id` takes it back."""
    place = StoryPosition(chapter_index, scene_index)
    return StorySceneEditing(project.stores, project.project_id).edit_scene(place=place, **dict(body))


@router.post("/scenes/{chapter_index}/{scene_index}/preview", openapi_extra=READS)
def preview_scene_text(
    project: Project, chapter_index: ChapterNumber, scene_index: SceneNumber, body: SceneText
) -> TextConsequences:
    """Tell which facts would lose their words by a new text; nothing is stored."""
    place = StoryPosition(chapter_index, scene_index)
    return StorySceneEditing(project.stores, project.project_id).preview_scene_text(position=place, text=body.text)


@router.post("/scenes/{chapter_index}/{scene_index}/record/amend")
def amend_recorded_fact(
    project: Project, chapter_index: ChapterNumber, scene_index: SceneNumber, body: FactCorrection
) -> SceneEdit:
    """Take a fact out of a scene's record, or say it in other words; the record is the author's then."""
    return StorySceneEditing(project.stores, project.project_id).amend_recorded_fact(
        position=StoryPosition(chapter_index, scene_index), **(dict(body) | {"as_of": position(body.as_of)})
    )


@router.get("/scenes/{chapter_index}/{scene_index}/record")
def get_scene_record(project: Project, chapter_index: ChapterNumber, scene_index: SceneNumber) -> SceneRecordView:
    """Return what a scene established, with the facts that no quote of it proves."""
    place = StoryPosition(chapter_index, scene_index)
    return StoryScenes(project.stores, project.project_id).get_record(position=place)


@router.post("/scenes/{chapter_index}/{scene_index}/insert", status_code=201)
def insert_scene(
    project: Project, chapter_index: ChapterNumber, scene_index: SceneNumber, body: InsertedScene
) -> SceneChange:
    """Make room at a place and store a new scene there; those from there on move by one."""
    place = StoryPosition(chapter_index, scene_index)
    return StoryScenes(project.stores, project.project_id).insert_scene(
        position=place, text=body.text, title=body.title
    )


@router.post("/scenes/{chapter_index}/{scene_index}/move")
def move_scene(
    project: Project, chapter_index: ChapterNumber, scene_index: SceneNumber, body: ScenePlace
) -> SceneChange:
    """Move a scene; the others close up and make room."""
    return StoryScenes(project.stores, project.project_id).move_scene(
        source=StoryPosition(chapter_index, scene_index), target=StoryPosition(body.chapter_index, body.scene_index)
    )


@router.get("/summaries")
def list_summaries(project: Project, as_of: AsOf = None) -> SummaryList:
    """List what is told of every chapter and every part that has begun."""
    found = StorySummarizing(project.stores, project.project_id).list_summaries(as_of=position(as_of))
    return SummaryList(summaries=found)


@router.put("/summaries/{level}/{number}")
def write_summary(
    project: Project,
    level: SummaryLevel,
    number: Annotated[int, Path(ge=0, le=1_000_000, description="Of the chapter or part.", examples=[1])],
    body: WrittenSummary,
) -> ListedSummary:
    """Store a person's summary of a chapter or part; it outranks every made one."""
    return StorySummarizing(project.stores, project.project_id).write_author_summary(
        level=level, number=number, text=body.text
    )


@router.get("/author-changes")
def list_author_changes(
    project: Project, limit: Annotated[int, Query(ge=1, le=500)] = change_services.DEFAULT_CHANGES, as_of: AsOf = None
) -> AuthorChangeList:
    """List what the author changed in memories and scenes; changes of entities and threads have their own numbers."""
    found = StoryAuthorChanges(project.stores, project.project_id).author_changes(limit=limit, as_of=position(as_of))
    return AuthorChangeList(changes=found)


@router.post("/author-changes/{change_id}/undo")
def undo_author_change(project: Project, change_id: Annotated[int, Path(ge=0, le=2_000_000_000)]) -> TakenBack:
    """Take a change of a memory or scene back: what it altered is as it was before."""
    return StoryAuthorChanges(project.stores, project.project_id).undo_author_change(change_id=change_id)
