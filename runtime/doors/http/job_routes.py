"""Long work: taking in the files of a project, a manuscript, and reading scenes with a model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import Depends, Path, Query, Request, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, Field

from novelgen.models.position import ChapterIndex, StoryPosition, require_project_id
from runtime.doors.arguments import POSITION_PATTERN, Arguments
from runtime.doors.http.house import House, Project, ServedProject, TheHouse
from runtime.doors.http.jobs import MANUSCRIPT_TYPES, Job, JobOrder, manuscript_file
from runtime.doors.http.problems import AnsweringRouter
from runtime.story.extraction import StoryExtraction, build_extraction_model
from runtime.story.ingest import StoryIngest
from runtime.story.transfer import StoryTransfer

router = AnsweringRouter(prefix="/v1", tags=["jobs"])

JobId = Annotated[str, Path(min_length=1, max_length=64, description="The job.")]


class IngestFiles(Arguments):
    """Which files of the project's own folder to take in."""

    chapter_index: ChapterIndex | None = Field(default=None, description="Only this chapter.")
    records: bool | None = Field(default=None, description="true wants the records, false leaves them.")


class ExtractScenes(Arguments):
    """Which scenes a model shall read."""

    chapter_index: ChapterIndex | None = Field(default=None, description="Only this chapter.")
    scenes: list[Annotated[str, Field(pattern=POSITION_PATTERN)]] = Field(
        default_factory=list, max_length=10_000, description="Only these."
    )
    retry_failed: bool = False
    again: bool = False


class JobList(BaseModel):
    """Jobs, the latest first."""

    jobs: list[Job]


def offer_work(house: House) -> None:
    """Tell the jobs of a house how each kind is done."""

    def ingest(order: JobOrder) -> BaseModel:
        project = ServedProject(house, order.job.project_id)
        asked = IngestFiles.model_validate(order.job.arguments)
        return StoryIngest(project.stores, project.project_id).ingest_project(
            records=asked.records,
            chapter_index=asked.chapter_index,
            progress=order.progress,
            index_progress=order.progress_of("meaning"),
        )

    def manuscript(order: JobOrder) -> BaseModel:
        project_id = order.job.project_id
        return StoryTransfer(house.stores.of(project_id), project_id).import_project(
            source=order.folder / order.job.arguments["file"],
            update=order.job.arguments["update"],
            keep_remarks=order.job.arguments.get("keep_remarks", False),
            progress=order.progress_of("text"),
            index_progress=order.progress_of("meaning"),
        )

    def extract(order: JobOrder) -> BaseModel:
        project = ServedProject(house, order.job.project_id)
        asked = ExtractScenes.model_validate(order.job.arguments)
        return StoryExtraction(project.stores, project.project_id).extract(
            scenes=[StoryPosition(*map(int, each.split(":"))) for each in asked.scenes],
            chapter_index=asked.chapter_index,
            retry_failed=asked.retry_failed,
            again=asked.again,
            model=house.chat_model,
            progress=order.progress,
            index_progress=order.progress_of("meaning"),
        )

    house.jobs.offer("ingest", ingest)
    house.jobs.offer("manuscript", manuscript)
    house.jobs.offer("extract", extract)


@router.post("/projects/{project_id}/ingest", status_code=202)
def ingest_files(project: Project, response: Response, body: IngestFiles) -> Job:
    """Take in what the project's own folder holds: chapters with their records, characters, settings."""
    _ = project.stores
    job = project.house.jobs.start("ingest", project.project_id, body.model_dump(mode="json"))
    return _accepted(job, response)


async def _manuscript(request: Request) -> bytes:
    return await request.body()


@router.post(
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
) -> Job:
    """Take a whole manuscript in; the project is made where there is none. Its name plays no part."""
    require_project_id(project.project_id)
    file = manuscript_file(request.headers.get("content-type", ""))
    job = project.house.jobs.start(
        "manuscript", project.project_id, {"file": file, "update": update}, source=(file, content)
    )
    return _accepted(job, response)


@router.post("/projects/{project_id}/extract", status_code=202)
def extract_scenes(project: Project, response: Response, body: ExtractScenes) -> Job:
    """Let a chat model read the scenes that have no record, and store what they establish."""
    build_extraction_model(project.stores.settings, project.house.chat_model)
    job = project.house.jobs.start("extract", project.project_id, body.model_dump(mode="json"))
    return _accepted(job, response)


@router.get("/jobs")
def list_jobs(
    house: TheHouse,
    project_id: Annotated[str | None, Query(max_length=400, description="Only of this project.")] = None,
) -> JobList:
    """List the jobs, the latest first."""
    return JobList(jobs=house.jobs.list(project_id))


@router.get("/jobs/{job_id}")
def get_job(house: TheHouse, job_id: JobId) -> Job:
    """Tell how far a job is, and what it came to."""
    return house.jobs.get(job_id)


@router.delete("/jobs/{job_id}")
def cancel_job(house: TheHouse, job_id: JobId) -> Job:
    """Let a job end after the step at which it is; one that is over is forgotten."""
    return house.jobs.cancel(job_id)


@router.post("/jobs/{job_id}/resume", status_code=202)
def resume_job(house: TheHouse, job_id: JobId) -> Job:
    """Run a job again that was cancelled, failed or was interrupted; what it stored is left alone."""
    return house.jobs.resume(job_id)


async def _known_job(house: TheHouse, job_id: JobId) -> Job:
    return house.jobs.get(job_id)


@router.get("/jobs/{job_id}/events", response_class=EventSourceResponse)
async def follow_job(house: TheHouse, job: Annotated[Job, Depends(_known_job)]) -> AsyncIterator[ServerSentEvent]:
    """Follow a job: a `job` event whenever it has changed, until it is over."""
    async for each in house.jobs.follow(job.job_id):
        yield ServerSentEvent(event="job", raw_data=each.model_dump_json())


def _accepted(job: Job, response: Response) -> Job:
    response.headers["Location"] = f"/v1/jobs/{job.job_id}"
    return job
