"""Long work: every job with its progress, and letting a model read scenes with what that would cost first."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import RedirectResponse, Response

from novelgen.errors import ConfigurationError
from runtime.doors.http.house import TheHouse
from runtime.doors.http.job_routes import ExtractScenes
from runtime.doors.http.jobs import OVER, Job
from runtime.page.frame import Frame
from runtime.page.visits import Form, Name, PageRoute, Visited, number_in
from runtime.story.condition import StoryConditions
from runtime.story.extraction import StoryExtraction, build_extraction_model

router = APIRouter(route_class=PageRoute, include_in_schema=False)

JobId = Annotated[str, Path(min_length=1, max_length=64)]
Tick = Annotated[str, Query(max_length=5)]
Chapter = Annotated[str, Query(max_length=7, pattern=r"^[0-9]*$")]

LISTED_FAULTS = 50

MODEL_EXAMPLE = "NOVELGEN_MODEL=openai:gpt-4.1-mini\nNOVELGEN_MODEL_API_KEY=…\nnovelgen serve"


@router.get("/page/jobs")
def jobs_page(request: Request, house: TheHouse, project: Name = "") -> Response:
    """Show the jobs of the folder, or of one project, the latest first."""
    jobs = house.jobs.list(project or None)
    return Frame(request).page("jobs", jobs=jobs, project=project, over=OVER)


@router.get("/page/jobs/{job_id}")
def job_page(request: Request, house: TheHouse, job_id: JobId) -> Response:
    """Show how far a job is, and what it came to."""
    job = house.jobs.get(job_id)
    return Frame(request).page("job", job=job, over=OVER, outcome=_outcome(job))


@router.post("/page/jobs/{job_id}/cancel")
def cancel_job(house: TheHouse, job_id: JobId) -> Response:
    """Let a job end after the step at which it is; one that ended meanwhile stays."""
    if house.jobs.get(job_id).state not in OVER:
        house.jobs.cancel(job_id)
    return _to(job_id)


@router.post("/page/jobs/{job_id}/resume")
def resume_job(house: TheHouse, job_id: JobId) -> Response:
    """Run a job again that is over; what it stored is left alone."""
    house.jobs.resume(job_id)
    return _to(job_id)


@router.post("/page/jobs/{job_id}/forget")
def forget_job(house: TheHouse, job_id: JobId) -> Response:
    """Strike a job that is over off the list."""
    if house.jobs.get(job_id).state in OVER:
        house.jobs.cancel(job_id)
    return RedirectResponse("/page/jobs", status_code=303)


@router.get("/page/projects/{project_id}/reading")
def reading_page(visit: Visited, chapter: Chapter = "", retry: Tick = "", again: Tick = "") -> Response:
    """Show what a model would read and what that would take; nothing is asked of it."""
    stores, project_id = visit.served.stores, visit.served.project_id
    house = visit.served.house
    try:
        build_extraction_model(stores.settings, house.chat_model)
        trouble = ""
    except ConfigurationError as error:
        trouble = str(error)
    settings = stores.settings
    estimate = StoryExtraction(stores, project_id).estimate_project(
        chapter_index=int(chapter) if chapter else None, retry_failed=bool(retry), again=bool(again)
    )
    return visit.frame("health").page(
        "reading",
        condition=StoryConditions(stores, project_id).story_condition(),
        estimate=estimate,
        model=settings.memory.summarization.model or settings.model or "",
        trouble=trouble,
        model_example=MODEL_EXAMPLE,
        form={"chapter": chapter, "retry": retry, "again": again},
        jobs=[each for each in house.jobs.list(project_id) if each.state not in OVER],
    )


@router.post("/page/projects/{project_id}/reading")
def read_scenes(visit: Visited, form: Form) -> Response:
    """Let a model read scenes, as a job."""
    served = visit.served
    build_extraction_model(served.stores.settings, served.house.chat_model)
    asked = ExtractScenes(
        chapter_index=number_in(form, "chapter"), retry_failed=bool(form.get("retry")), again=bool(form.get("again"))
    )
    return _to(served.house.jobs.start("extract", served.project_id, asked.model_dump(mode="json")).job_id)


def _outcome(job: Job) -> dict[str, Any]:
    """Return of a job's result what its page tells; jobs of earlier versions may lack some of it."""
    result = job.result if isinstance(job.result, dict) else {}
    scenes = [each for each in result.get("scenes") or () if isinstance(each, dict)]
    issues = [*(result.get("issues") or ()), *((result.get("indexing") or {}).get("issues") or ())]
    return {
        "stored": result.get("stored"),
        "condition": result.get("condition"),
        "preview": result.get("preview"),
        "passed_over": result.get("passed_over") or [],
        "warnings": [*(result.get("failures") or ()), *(result.get("warnings") or ())],
        "issues": list(dict.fromkeys(each.get("message", "") for each in issues)),
        "counts": {
            outcome: sum(each.get("outcome") == outcome for each in scenes)
            for outcome in dict.fromkeys(each.get("outcome") for each in scenes)
            if outcome
        },
        "faults": [each for each in scenes if each.get("outcome") == "failed"][:LISTED_FAULTS],
        "stopped": result.get("stopped"),
        "usage": result.get("usage"),
        "price": result.get("price"),
    }


def _to(job_id: str) -> Response:
    return RedirectResponse(f"/page/jobs/{job_id}", status_code=303)
