"""Routes of the server itself, of its projects, and what a character says as a stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, Field

from novelgen.models.position import MAX_PROJECT_ID_LENGTH
from runtime.doors.arguments import MomentText, PositionText
from runtime.doors.http.answering import AnsweringRouter, told
from runtime.doors.http.house import Body, EntityName, Project, TheHouse
from runtime.doors.http.problems import Refusal
from runtime.story.base import Name, Text
from runtime.story.character import Character
from runtime.story.condition import StoryCondition, StoryConditions
from runtime.story.project_deletion import DeletedProject, StoryProjectDeletion
from runtime.story.projects import ProjectOverview, StoryProjects
from runtime.story.replies import Keeping, Reply

router = APIRouter()
_condition = AnsweringRouter(tags=["condition"])
_projects = AnsweringRouter(prefix="/v1/projects", tags=["projects"])
_characters = AnsweringRouter(prefix="/v1/projects/{project_id}/characters/{character}", tags=["characters"])


class Alive(BaseModel):
    """The server answers."""

    status: Literal["ok"] = "ok"


@_condition.get("/health")
async def check_alive() -> Alive:
    """Say that the server lives; no store is asked."""
    return Alive()


@_condition.get("/ready")
def check_ready(house: TheHouse) -> Alive:
    """Say whether the server can work: the folder of the projects can be read, or the database answers."""
    try:
        house.stores.common.project_ids()
    except OSError as error:
        raise Refusal(503, "not-ready", "the folder of the projects cannot be read") from error
    return Alive()


@_condition.get(
    "/metrics", response_class=Response, responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}
)
async def read_metrics(house: TheHouse) -> Response:
    """Tell Prometheus how much is asked of which route, how long it takes, and how many jobs there are."""
    metrics = house.telemetry.metrics
    if metrics is None:
        raise Refusal(
            404, "unknown-route", "this server has no metrics; run pip install 'novelgen[telemetry]' and start it again"
        )
    return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


class NewProject(Body):
    """A project to make."""

    project_id: Annotated[
        str, Field(min_length=1, max_length=MAX_PROJECT_ID_LENGTH, description="A plain, path-free id.")
    ]
    name: str | None = Field(default=None, max_length=500, description="Title; without it the id.")
    language: Literal["zh", "en"] | None = Field(default=None, description="Without it told from the name.")


class ProjectList(BaseModel):
    """The projects of the server's folder."""

    projects: Sequence[ProjectOverview]


class ServedProjectOverview(ProjectOverview):
    """What a project holds, and what to do next."""

    condition: StoryCondition | None = None


@_projects.get("")
def list_projects(house: TheHouse) -> ProjectList:
    """List the projects with what each holds; one that cannot be read says why in `problem`."""
    return ProjectList(projects=house.stores.overviews())


@_projects.post("", status_code=201)
def create_project(house: TheHouse, body: NewProject) -> ProjectOverview:
    """Make a project with an empty memory, and the folder for its files."""
    project = StoryProjects(house.stores.of(body.project_id), body.project_id)
    project.create_project(name=body.name, language=body.language)
    return project.describe_project()


@_projects.get("/{project_id}")
def get_project(project: Project) -> ServedProjectOverview:
    """Tell what a project holds, and what to do next."""
    stores = project.stores
    overview = StoryProjects(stores, project.project_id).describe_project()
    condition = StoryConditions(stores, project.project_id).story_condition()
    return ServedProjectOverview(**dict(overview), condition=condition)


@_projects.delete("/{project_id}")
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


class ReplyRequest(Body):
    """What was said to a character who shall answer."""

    said: Text
    to: Name = "player"
    talk: list[tuple[str, str]] = Field(default_factory=list, max_length=200, description="Who and what, before.")
    at: MomentText | None = None
    budget_tokens: int | None = Field(default=None, ge=0, le=1_000_000)
    keep: Keeping = "clean"
    story_as_of: PositionText | None = None


class SpokenPiece(BaseModel):
    """A piece of what a character says."""

    text: str


def _speaker(project: Project, character: EntityName) -> Character:
    """Look up who shall speak before the stream begins, so that nobody's name is still a plain refusal."""
    return project.story.character(character)


def _speaking_model(project: Project) -> BaseChatModel:
    return project.speaking_model()


@_characters.post("/reply", response_class=EventSourceResponse)
def stream_reply(
    project: Project,
    speaker: Annotated[Character, Depends(_speaker)],
    model: Annotated[BaseChatModel, Depends(_speaking_model)],
    body: ReplyRequest,
) -> Iterator[ServerSentEvent]:
    """Let the model speak as a character: `text` events as it speaks, then one `reply` with what came of it."""
    for part in speaker.stream_reply(model, **dict(body)):
        if isinstance(part, Reply):
            reply = told(part, folders=project.house.secret_folders)
            yield ServerSentEvent(event="reply", raw_data=reply.model_dump_json())
        else:
            yield ServerSentEvent(event="text", raw_data=SpokenPiece(text=part).model_dump_json())


for _part in (_condition, _projects, _characters):
    router.include_router(_part)
