"""Projects: listing, making, looking at them, and taking them out as JSON."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from novelgen.language.language import StoryLanguage
from novelgen.models.position import MAX_PROJECT_ID_LENGTH
from runtime.doors.http.answering import AnsweringRouter
from runtime.doors.http.house import Body, Project, TheHouse
from runtime.story.condition import StoryCondition, StoryConditions
from runtime.story.diagnosis import Diagnosis, diagnose
from runtime.story.project_deletion import DeletedProject, StoryProjectDeletion
from runtime.story.projects import ProjectOverview, StoryProjects
from runtime.story.transfer import StoryTransfer

router = AnsweringRouter(prefix="/v1/projects", tags=["projects"])


class NewProject(Body):
    """A project to make."""

    project_id: Annotated[
        str, Field(min_length=1, max_length=MAX_PROJECT_ID_LENGTH, description="A plain, path-free id.")
    ]
    name: str | None = Field(default=None, max_length=500, description="Title; without it the id.")
    language: Literal["zh", "en"] | None = Field(default=None, description="Without it told from the name.")


class ProjectList(BaseModel):
    """The projects of the server's folder."""

    projects: list[ProjectOverview]


class ServedProjectOverview(ProjectOverview):
    """What a project holds, and what to do next."""

    condition: StoryCondition | None = None


class ProjectDocuments(BaseModel):
    """Everything that a project holds: what `novelgen export` writes, file by file."""

    files: dict[str, Any] = Field(description="File below `memory/` to what it holds.")


@router.get("")
def list_projects(house: TheHouse) -> ProjectList:
    """List the projects with what each holds; one that cannot be read says why in `problem`."""
    return ProjectList(projects=house.stores.overviews())


@router.post("", status_code=201)
def create_project(house: TheHouse, body: NewProject) -> ProjectOverview:
    """Make a project with an empty memory, and the folder for its files."""
    stores = house.stores.of(body.project_id)
    StoryProjects(stores, body.project_id).create_project(name=body.name, language=body.language)
    return StoryProjects(stores, body.project_id).describe_project()


@router.get("/{project_id}")
def get_project(project: Project) -> ServedProjectOverview:
    """Tell what a project holds, and what to do next."""
    stores = project.stores
    overview = StoryProjects(stores, project.project_id).describe_project()
    return ServedProjectOverview(
        **dict(overview), condition=StoryConditions(stores, project.project_id).story_condition()
    )


@router.delete("/{project_id}")
def delete_project(
    project: Project,
    confirm: Annotated[str, Query(max_length=400, description="The project's id once more.", examples=["my-novel"])],
) -> DeletedProject:
    """Delete a project for good: what is stored of it, its index, its folder with the files in it, and its jobs."""
    stores = project.stores
    project.house.jobs.require_idle(project.project_id)
    deleted = StoryProjectDeletion(stores, project.project_id).delete_project(confirm=confirm)
    project.house.forget(project.project_id)
    return deleted


@router.get("/{project_id}/export")
def export_project(project: Project) -> ProjectDocuments:
    """Return everything that a project holds; written as files, `novelgen import` reads it back without loss."""
    return ProjectDocuments(files=StoryTransfer(project.stores, project.project_id).project_documents())


@router.get("/{project_id}/doctor")
def check_health(project: Project) -> Diagnosis:
    """Look at everything that can keep the memory from working; nothing is changed, no model is asked."""
    return diagnosis_of(project)


@router.post("/{project_id}/doctor")
def repair_project(project: Project) -> Diagnosis:
    """Bring the vector index to what the database says, then look at everything."""
    return diagnosis_of(project, repair=True)


def diagnosis_of(project: Project, *, repair: bool = False, language: StoryLanguage = "en") -> Diagnosis:
    """Return what the doctor finds; no network is asked."""
    return diagnose(project.stores, project.project_id, repair=repair, ask_network=False, language=language)
