"""Routes of operations, the server, projects, jobs and replies."""

import inspect
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal

from fastapi import Body as InBody
from fastapi import Depends, Header, Path, Query, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, Field, create_model

from novelgen.models.context import SceneMemoryContext
from novelgen.models.position import MAX_PROJECT_ID_LENGTH, require_project_id
from runtime.context_chain import context_json
from runtime.doors.arguments import (
    POSITION_PATTERN,
    Arguments,
    Chapter,
    MomentText,
    PositionText,
    arguments_of,
    place_from,
    values_of,
)
from runtime.doors.http.app_state import (
    EVERY_ROUTE,
    READS,
    AppState,
    ChapterNumber,
    EntityName,
    Project,
    SceneNumber,
    ServedProject,
    TheHouse,
)
from runtime.doors.http.jobs import MANUSCRIPT_TYPES, Job, JobOrder, manuscript_file
from runtime.doors.http.problems import AnsweringRouter, Refusal, told
from runtime.doors.operations import OPERATIONS, Operation
from runtime.story.base import Name, Text
from runtime.story.character import Character, Keeping, Reply
from runtime.story.condition import StoryCondition, StoryUpkeep
from runtime.story.extraction import StoryExtraction, build_extraction_model
from runtime.story.ingest import ProjectIngest
from runtime.story.projects import DeletedProject, ProjectOverview, StoryProjects
from runtime.story.transfer import StoryTransfer

PREFIX = "/v1/projects/{project_id}"

PROMPT_TYPE = "text/plain"

_PLACE: dict[str, Any] = {"chapter_index": ChapterNumber, "scene_index": SceneNumber}


@cache
def operation_routes() -> AnsweringRouter:
    """Return the router with a route for each operation, of every application of this program."""
    router = AnsweringRouter(prefix=PREFIX, **EVERY_ROUTE)
    for operation in OPERATIONS:
        verb, _, path = operation.http.partition(" ")
        router.add_api_route(
            path,
            _endpoint(operation, verb, path),
            methods=[verb],
            status_code=operation.status,
            response_model=operation.result,
            responses={200: {"content": {PROMPT_TYPE: {"schema": {"type": "string"}}}}} if operation.has_prompt else {},
            tags=list(operation.tags),
            openapi_extra=READS if operation.is_read else None,
        )
    return router


def _endpoint(operation: Operation, verb: str, path: str) -> Any:
    """Return the function of a route, with the signature that FastAPI reads."""
    model = arguments_of(operation.function, (*operation.without, *operation.fixed))
    in_path = re.findall(r"{(\w+)}", path)
    rest: dict[str, Any] = {
        name: (info.annotation, info)
        for name, info in model.model_fields.items()
        if name not in in_path and name not in (operation.position, VERSION)
    }
    if operation.may_create:
        rest["create"] = (bool, InBody(default=False, description="Make who is not there yet, and the project."))
    name = "".join(name.capitalize() for name in operation.name.split("_"))
    others = create_model(f"{name}Request", __base__=Arguments, **rest) if rest else None

    def endpoint(project: Project, request: Request, response: Response, **arguments: Any) -> Any:
        body = arguments.pop("sent", None)
        if_match = arguments.pop("if_match", None) if VERSION in model.model_fields else request.headers.get("if-match")
        values = {**operation.fixed, **arguments, **({} if body is None else values_of(body))}
        if if_match is not None and operation.changes:
            values |= _expected(if_match, model)
        if request.scope.get("access") == "read":
            values |= _of_reader(operation, values)
        if operation.position:
            values[operation.position] = place_from(values.pop("chapter_index"), values.pop("scene_index"))
        doer: Any
        if operation.is_of_character:
            create = values.pop("create", False)
            if create:
                project.app_state.stores.of(project.project_id).ensure_project(project.project_id)
            who, place = values.pop("character_id"), values.get("story_as_of")
            doer = project.story.character(who, create=create, as_of=place)
        else:
            doer = operation.part(project.stores, project.project_id, chat_model=project.app_state.chat_model)
        result = operation.function(doer, **values)
        if operation.has_prompt:
            return _written(result, project, request)
        version = getattr(result, "version", "")
        if isinstance(version, str) and version:
            response.headers["ETag"] = f'"{version}"'
        return operation.answer(result)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("project", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Project),
        inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Request),
        inspect.Parameter("response", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Response),
    ]
    for item in in_path:
        if operation.is_of_character and item == "character_id":
            annotation: Any = EntityName
        else:
            annotation = _PLACE[item] if operation.position else _path_parameter(model, item)
        parameters.append(inspect.Parameter(item, keyword, annotation=annotation))
    if VERSION in model.model_fields:
        parameters.append(inspect.Parameter("if_match", keyword, annotation=IfMatch, default=None))
    if others is not None:
        source = Query() if verb in ("GET", "DELETE") else InBody()
        is_optional = verb not in ("GET", "DELETE") and all(
            not field.is_required() for field in others.model_fields.values()
        )
        default = others() if is_optional else inspect.Parameter.empty
        parameters.append(inspect.Parameter("sent", keyword, annotation=Annotated[others, source], default=default))
    endpoint.__name__ = operation.name
    endpoint.__doc__ = (inspect.getdoc(operation.function) or "").partition("\n\nArgs:")[0]
    endpoint.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return endpoint


VERSION = "expected_version"
"""The argument that over HTTP stands in the header If-Match."""

IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        max_length=400,
        description="The ETag of what is changed, as it was read; if that is not what stands any more, nothing is"
        " stored and the answer, 412, has both.",
    ),
]

_TAG = re.compile(r'(?:W/)?"([0-9a-f]+)[^"]*"')


def _expected(if_match: str, model: type[Arguments]) -> dict[str, str]:
    """Return the version in a header, rejecting operations that compare none."""
    if if_match.strip() == "*":
        return {}
    if VERSION not in model.model_fields:
        raise Refusal(400, "invalid-request", "If-Match is not compared here; send the request without it")
    tag = _TAG.fullmatch(if_match.strip())
    if tag is None:
        raise Refusal(400, "invalid-request", f"If-Match {if_match[:100]!r} is no one ETag; send it as it was read")
    return {VERSION: tag[1]}


def _of_reader(operation: Operation, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what counts for who may only read; what would be written is refused where it was asked for."""
    refused = next((name for name, value in operation.for_readers.items() if values.get(name, value) != value), None)
    if refused is not None:
        raise Refusal(403, "read-only", f"this token may only read: leave {refused} out, or send the other token")
    return operation.for_readers


def _path_parameter(model: type[Arguments], name: str) -> Any:
    info = model.model_fields[name]
    return Annotated[info.annotation, *info.metadata, Path(description=info.description)]


def _written(result: Any, project: Project, request: Request) -> Response:
    """Return a prompt block on request, else JSON."""
    accepted = [text.partition(";")[0].strip() for text in request.headers.get("accept", "").split(",")]
    if PROMPT_TYPE in accepted and "application/json" not in accepted:
        return Response(result.as_prompt(), media_type=f"{PROMPT_TYPE}; charset=utf-8")
    headers = {}
    if isinstance(result, SceneMemoryContext) and result.report.story_version is not None:
        headers["ETag"] = f'"{result.report.story_version}"'
    result = told(result, folders=project.app_state.secret_folders)
    text = context_json(result) if isinstance(result, SceneMemoryContext) else result.model_dump_json()
    return Response(text, media_type="application/json", headers=headers)


_condition = AnsweringRouter(tags=["condition"], **EVERY_ROUTE)
_jobs = AnsweringRouter(prefix="/v1", tags=["jobs"], **EVERY_ROUTE)
_projects = AnsweringRouter(prefix="/v1/projects", tags=["projects"], **EVERY_ROUTE)
_characters = AnsweringRouter(
    prefix="/v1/projects/{project_id}/characters/{character_id}", tags=["characters"], **EVERY_ROUTE
)


class Alive(BaseModel):
    """The server answers."""

    status: Literal["ok"] = "ok"


@_condition.get("/health")
async def check_alive() -> Alive:
    """Report that the server is alive, without touching a store."""
    return Alive()


@_condition.get("/ready")
def check_ready(app_state: TheHouse) -> Alive:
    """Say whether the server can work: the folder of the projects can be read, or the database answers."""
    try:
        app_state.stores.common.project_ids()
    except OSError as error:
        raise Refusal(503, "not-ready", "the folder of the projects cannot be read") from error
    return Alive()


@_condition.get(
    "/metrics", response_class=Response, responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}
)
async def read_metrics(app_state: TheHouse) -> Response:
    """Tell Prometheus how much is asked of which route, how long it takes, and how many jobs there are."""
    metrics = app_state.telemetry.metrics
    if metrics is None:
        raise Refusal(
            404, "unknown-route", "this server has no metrics; run pip install 'novelgen[telemetry]' and start it again"
        )
    return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


class NewProject(Arguments):
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
    """A project's contents and next step."""

    condition: StoryCondition | None = None


@_projects.get("")
def list_projects(app_state: TheHouse) -> ProjectList:
    """List projects with their contents, or the `problem` of unreadable ones."""
    return ProjectList(projects=app_state.stores.overviews())


@_projects.post("", status_code=201)
def create_project(app_state: TheHouse, body: NewProject) -> ProjectOverview:
    """Make a project with an empty memory, and the folder for its files."""
    project = StoryProjects(app_state.stores.of(body.project_id), body.project_id)
    project.create_project(name=body.name, language=body.language)
    return project.describe_project()


@_projects.get("/{project_id}")
def get_project(project: Project) -> ServedProjectOverview:
    """Return a project's contents and the next step."""
    stores = project.stores
    overview = StoryProjects(stores, project.project_id).describe_project()
    condition = StoryUpkeep(stores, project.project_id).condition()
    return ServedProjectOverview(**dict(overview), condition=condition)


@_projects.delete("/{project_id}")
def delete_project(
    project: Project,
    confirm: Annotated[str, Query(max_length=400, description="The project's id once more.", examples=["my-novel"])],
) -> DeletedProject:
    """Delete a project for good, with its data, index, folder and jobs."""
    stores = project.stores
    project.app_state.jobs.require_idle(project.project_id)
    deleted = StoryProjects(stores, project.project_id).delete_project(confirm=confirm)
    project.app_state.forget(project.project_id)
    return deleted


class ReplyRequest(Arguments):
    """The words spoken to a character."""

    said: Text
    to: Name = "player"
    talk: list[tuple[str, str]] = Field(default_factory=list, max_length=200, description="Who and what, before.")
    at: MomentText | None = None
    budget_tokens: int | None = Field(default=None, ge=0, le=1_000_000)
    keep: Keeping = "clean"
    story_as_of: PositionText | None = None
    world: list[Text] = Field(default_factory=list, max_length=200, description="How the world stands, a line each.")
    flags: list[Name] = Field(default_factory=list, max_length=200, description="Flags that it knows of.")


class SpokenPiece(BaseModel):
    """A piece of a character's speech."""

    text: str


def _speaker(project: Project, character_id: EntityName) -> Character:
    """Look up the speaker before the stream begins, so that errors stay plain."""
    return project.story.character(character_id)


def _speaking_model(project: Project) -> BaseChatModel:
    return project.speaking_model()


@_characters.post("/reply", response_class=EventSourceResponse)
def stream_reply(
    project: Project,
    speaker: Annotated[Character, Depends(_speaker)],
    model: Annotated[BaseChatModel, Depends(_speaking_model)],
    body: ReplyRequest,
) -> Iterator[ServerSentEvent]:
    """Stream a character's reply: `text` events, then one `reply`."""
    for part in speaker.stream_reply(model, **dict(body)):
        if isinstance(part, Reply):
            reply = told(part, folders=project.app_state.secret_folders)
            yield ServerSentEvent(event="reply", raw_data=reply.model_dump_json())
        else:
            yield ServerSentEvent(event="text", raw_data=SpokenPiece(text=part).model_dump_json())


JobId = Annotated[str, Path(min_length=1, max_length=64, description="The job.")]


class IngestFiles(Arguments):
    """Which files of the project's own folder to take in."""

    chapter_index: Chapter | None = Field(default=None, description="Only this chapter.")
    records: bool | None = Field(default=None, description="true wants the records, false leaves them.")


class ExtractScenes(Arguments):
    """Which scenes a model shall read."""

    chapter_index: Chapter | None = Field(default=None, description="Only this chapter.")
    scenes: list[Annotated[str, Field(pattern=POSITION_PATTERN)]] = Field(
        default_factory=list,
        max_length=10_000,
        description="Only these; one that was read is left while its text is the same, unless `again` is set.",
    )
    retry_failed: bool = False
    again: bool = False


class JobList(BaseModel):
    """Jobs, the latest first."""

    jobs: list[Job]


def offer_work(app_state: AppState) -> None:
    """Tell the jobs of a server how each kind is done."""

    def ingest(order: JobOrder) -> BaseModel:
        project = ServedProject(app_state, order.job.project_id)
        requested_ingest_files = IngestFiles.model_validate(order.job.arguments)
        return ProjectIngest(project.stores, project.project_id).ingest_project(
            records=requested_ingest_files.records,
            chapter_index=requested_ingest_files.chapter_index,
            progress=order.progress,
            index_progress=order.progress_of("meaning"),
        )

    def manuscript(order: JobOrder) -> BaseModel:
        project_id = order.job.project_id
        return StoryTransfer(app_state.stores.of(project_id), project_id).import_source(
            source=order.folder / order.job.arguments["file"],
            update=order.job.arguments["update"],
            replace=order.job.arguments.get("replace", False),
            overwrite=order.job.arguments.get("overwrite", False),
            keep_remarks=order.job.arguments.get("keep_remarks", False),
            headings=order.job.arguments.get("headings", ()),
            progress=order.progress_of("text"),
            index_progress=order.progress_of("meaning"),
        )

    def extract(order: JobOrder) -> BaseModel:
        project = ServedProject(app_state, order.job.project_id)
        requested_extract_scenes = ExtractScenes.model_validate(order.job.arguments)
        return StoryExtraction(project.stores, project.project_id).extract(
            scenes=requested_extract_scenes.scenes,
            chapter_index=requested_extract_scenes.chapter_index,
            retry_failed=requested_extract_scenes.retry_failed,
            again=requested_extract_scenes.again,
            model=app_state.chat_model,
            progress=order.progress,
            index_progress=order.progress_of("meaning"),
        )

    app_state.jobs.offer("ingest", ingest)
    app_state.jobs.offer("manuscript", manuscript)
    app_state.jobs.offer("extract", extract)


@_jobs.post("/projects/{project_id}/ingest", status_code=202)
def ingest_files(project: Project, response: Response, body: IngestFiles) -> Job:
    """Ingest the project folder: chapters, records, characters and settings."""
    _ = project.stores
    job = project.app_state.jobs.start("ingest", project.project_id, body.model_dump(mode="json"))
    return _accepted(job, response)


async def _manuscript(request: Request) -> bytes:
    return await request.body()


@_jobs.post(
    "/projects/{project_id}/manuscript",
    status_code=202,
    openapi_extra={
        "requestBody": {
            "required": True,
            "description": "The manuscript itself: text, Markdown, EPUB, DOCX, or a zip of chapters or of an export.",
            "content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in MANUSCRIPT_TYPES},
        }
    },
)
def import_manuscript(
    project: Project,
    request: Request,
    response: Response,
    content: Annotated[bytes, Depends(_manuscript)],
    update: Annotated[
        bool, Query(description="Take chapters in again whose text changed; else nothing stored is changed.")
    ] = False,
    replace: Annotated[
        bool, Query(description="With update: let a chapter take the place of one with another heading, too.")
    ] = False,
    overwrite: Annotated[
        bool, Query(description="With update: let the file's text take the place of what was edited here and in it.")
    ] = False,
    heading: Annotated[
        list[str],
        Query(max_length=20, description="Headings as they stand in the text, where they are not recognised without."),
    ] = [],  # noqa: B006 - read only
) -> Job:
    """Import a manuscript into a new or existing project, ignoring its name."""
    require_project_id(project.project_id)
    file = manuscript_file(request.headers.get("content-type", ""))
    job = project.app_state.jobs.start(
        "manuscript",
        project.project_id,
        {"file": file, "update": update, "replace": replace, "overwrite": overwrite, "headings": heading},
        source=(file, content),
    )
    return _accepted(job, response)


@_jobs.post("/projects/{project_id}/extract", status_code=202)
def extract_scenes(project: Project, response: Response, body: ExtractScenes) -> Job:
    """Let a chat model read scenes without records, and store the results."""
    build_extraction_model(project.stores.settings, project.app_state.chat_model)
    job = project.app_state.jobs.start("extract", project.project_id, body.model_dump(mode="json"))
    return _accepted(job, response)


@_jobs.get("/jobs")
def list_jobs(
    app_state: TheHouse,
    project_id: Annotated[str | None, Query(max_length=400, description="Only of this project.")] = None,
) -> JobList:
    """List the jobs, the latest first."""
    return JobList(jobs=app_state.jobs.list(project_id))


@_jobs.get("/jobs/{job_id}")
def get_job(app_state: TheHouse, job_id: JobId) -> Job:
    """Return a job's progress and result."""
    return app_state.jobs.get(job_id)


@_jobs.delete("/jobs/{job_id}")
def cancel_job(app_state: TheHouse, job_id: JobId) -> Job:
    """Stop a job after its present step, or forget a finished one."""
    return app_state.jobs.cancel(job_id)


@_jobs.post("/jobs/{job_id}/resume", status_code=202)
def resume_job(app_state: TheHouse, job_id: JobId) -> Job:
    """Run a stopped or failed job again, keeping its stored results."""
    return app_state.jobs.resume(job_id)


async def _known_job(app_state: TheHouse, job_id: JobId) -> Job:
    return app_state.jobs.get(job_id)


@_jobs.get("/jobs/{job_id}/events", response_class=EventSourceResponse)
async def follow_job(app_state: TheHouse, job: Annotated[Job, Depends(_known_job)]) -> AsyncIterator[ServerSentEvent]:
    """Follow a job: a `job` event whenever it has changed, until it is over."""
    async for other_job in app_state.jobs.follow(job.job_id):
        yield ServerSentEvent(event="job", raw_data=other_job.model_dump_json())


def _accepted(job: Job, response: Response) -> Job:
    response.headers["Location"] = f"/v1/jobs/{job.job_id}"
    return job


OWN_ROUTERS = (_condition, _projects, _characters, _jobs)
