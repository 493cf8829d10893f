"""Projects: listing, making, looking at them, and taking them out as JSON."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from novelgen.language.language import StoryLanguage
from novelgen.models.position import MAX_PROJECT_ID_LENGTH
from runtime.doors.http.answering import AnsweringRouter
from runtime.doors.http.house import Body, Project, TheHouse
from runtime.services import project_deletion as deletion_services
from runtime.services import projects as project_services
from runtime.services.condition import StoryCondition, story_condition
from runtime.services.diagnosis import Diagnosis, diagnose
from runtime.services.project_deletion import DeletedProject
from runtime.services.projects import ProjectOverview
from runtime.services.transfer import project_documents

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
    project_services.create_project(stores, body.project_id, name=body.name, language=body.language)
    return project_services.describe_project(stores, body.project_id)


@router.get("/{project_id}")
def get_project(project: Project) -> ServedProjectOverview:
    """Tell what a project holds, and what to do next."""
    stores = project.stores
    overview = project_services.describe_project(stores, project.project_id)
    return ServedProjectOverview(**dict(overview), condition=story_condition(stores, project.project_id))


@router.delete("/{project_id}")
def delete_project(
    project: Project,
    confirm: Annotated[str, Query(max_length=400, description="The project's id once more.", examples=["my-novel"])],
) -> DeletedProject:
    """Delete a project for good: what is stored of it, its index, its folder with the files in it, and its jobs."""
    stores = project.stores
    project.house.jobs.require_idle(project.project_id)
    deleted = deletion_services.delete_project(stores, project.project_id, confirm=confirm)
    project.house.forget(project.project_id)
    return deleted


@router.get("/{project_id}/export")
def export_project(project: Project) -> ProjectDocuments:
    """Return everything that a project holds; written as files, `novelgen import` reads it back without loss."""
    return ProjectDocuments(files=project_documents(project.stores, project.project_id))


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
