"""The projects of the folder: making one, bringing a story in, long work as jobs, and how one stands."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any, BinaryIO, NamedTuple
from urllib.parse import quote, urlencode

from fastapi import Depends, Path, Query, Request
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response

from novelgen.errors import InvalidFileError
from novelgen.language.language import story_language
from novelgen.models.position import StoryPosition
from runtime.doors.http.house import House, Project, ServedProject, TheHouse
from runtime.doors.http.jobs import OVER, Job
from runtime.doors.http.problems import Refusal
from runtime.doors.http.routes import ExtractScenes, delete_project
from runtime.doors.http.uploads import Upload
from runtime.files.book_writing import BOOK_WRITERS
from runtime.files.paths import without_paths
from runtime.page.forms import led_back
from runtime.page.frame import Frame
from runtime.page.visits import MAX_SHOWN, Form, Name, Shown, Visited, download, number_in, router
from runtime.story.condition import StoryUpkeep, diagnose, next_steps_in
from runtime.story.extraction import ExtractionEstimate, build_extraction_model
from runtime.story.projects import StoryProjects, list_project_ids, proposed_project_id
from runtime.story.story import Story
from runtime.story.transfer import ProjectImport, StoryTransfer


class Mending(NamedTuple):
    """What mends a finding: a view to go to, or a button that does it."""

    word: str
    view: str = ""
    address: str = ""
    action: str = ""


@router.get("/")
def projects_page(request: Request, house: TheHouse) -> Response:
    """Show the projects of the folder."""
    projects = house.stores.overviews()
    at_work = [each for each in house.jobs.list() if each.state not in OVER]
    return Frame(request).page("projects", projects=projects, at_work=at_work)


@router.post("/page/projects")
def make_project(request: Request, house: TheHouse, form: Form) -> Response:
    """Make an empty project, and ask for its story."""
    title = form.get("title", "").strip()[:500]
    project_id = form.get("project_id", "").strip()
    if not (title or project_id):
        raise Refusal(400, "invalid-request", Frame(request).word("no_title"))
    project_id = project_id or proposed_project_id(house.stores.common, title=title)
    language = form.get("language", "")
    StoryProjects(house.stores.of(project_id), project_id).create_project(
        name=title or None, language=language if language in ("en", "zh") else None
    )
    return RedirectResponse(f"/page/import?project={quote(project_id)}", status_code=303)


@router.get("/page/projects/{project_id}/health")
def health_page(visit: Visited, project: Project) -> Response:
    """Show how a project stands, and what the doctor found."""
    return _health(visit, project)


@router.post("/page/projects/{project_id}/health")
def mend_page(visit: Visited, project: Project, form: Form) -> Response:
    """Put the index right or build it anew, and show how the project stands."""
    if form.get("do") == "reindex":
        StoryUpkeep(project.stores, project.project_id).reindex()
        return _health(visit, project)
    return _health(visit, project, repair=True)


@router.get("/page/projects/{project_id}/export.zip")
def export_archive(project: Project) -> Response:
    """Give everything that a project holds, as an archive that an import reads back without loss."""
    return download(
        StoryTransfer(project.stores, project.project_id).packed_export(), project.project_id, "zip", "application/zip"
    )


@router.get("/page/projects/{project_id}/story.{kind}")
def export_text(project: Project, kind: str) -> Response:
    """Give the story as one file for readers."""
    book = StoryTransfer(project.stores, project.project_id).written_story(kind)
    return download(book, project.project_id, kind, BOOK_WRITERS[kind].media_type)


@router.post("/page/projects/{project_id}/delete")
def delete_page(request: Request, project: Project, form: Form) -> Response:
    """Delete a project whose id was typed."""
    confirm = form.get("confirm", "").strip()
    if confirm != project.project_id:
        raise Refusal(400, "invalid-request", Frame(request).word("delete_not_confirmed", project=project.project_id))
    delete_project(project, confirm)
    return RedirectResponse("/", status_code=303)


def _health(visit: Visited, project: Project, *, repair: bool = False) -> Response:
    frame = visit.frame("health")
    diagnosis = diagnose(project.stores, project.project_id, repair=repair, ask_network=False, language=frame.language)
    condition = visit.story.story_condition()
    house = visit.served.house
    return frame.page(
        "health",
        diagnosis=diagnosis,
        condition=condition,
        steps=[each for each in next_steps_in(condition, frame.language) if each.kind in _STEPS],
        ways=_STEPS,
        mendings=_MENDED_BY,
        jobs=house.jobs.list(visit.served.project_id)[:5],
    )


_MENDED_BY = {
    "reading_failed": Mending("mend_retry", view="reading?retry=1"),
    "nothing_read": Mending("mend_read", view="reading"),
    "half_read": Mending("mend_read", view="reading"),
    "no_scenes": Mending("mend_import", address="/page/import"),
    "database_empty": Mending("mend_import", address="/page/import"),
    "no_people": Mending("mend_people", view="cards"),
    "index_waiting": Mending("mend_index", action="repair"),
    "index_differs": Mending("mend_index", action="repair"),
    "index_fails": Mending("mend_index", action="repair"),
    "breaker_open": Mending("mend_index", action="repair"),
    "index_other_model": Mending("mend_reindex", action="reindex"),
    "embedded_otherwise": Mending("mend_reindex", action="reindex"),
    "context_stale": Mending("mend_context", view="context"),
    "context_unreadable": Mending("mend_context", view="context"),
}
"""Kind of a finding to what mends it; the others are mended elsewhere, as their words say."""

_STEPS = {
    "take_in": Mending("mend_import", address="/page/import"),
    "retry": Mending("mend_retry", view="reading?retry=1"),
    "read": Mending("mend_read", view="reading"),
    "people": Mending("mend_people", view="cards"),
    "index": Mending("mend_index", action="repair"),
    "context": Mending("mend_context", view="context"),
}


MAX_FILES = 2_000
"""So many files may come at once: a web novel has a file for each of its chapters."""

SHOWN_CHAPTERS = 60
UNCUT_WORDS = 8_000
"""A single chapter of more words was probably not cut for want of headings."""

UPLOAD_TYPE = "multipart/form-data"

UploadId = Annotated[str, Path(min_length=1, max_length=64)]
Tick = Annotated[str, Query(max_length=5)]


class Sent(NamedTuple):
    """The files of an upload's form, and the project that it names."""

    files: list[tuple[str, BinaryIO]]
    project_id: str


class Preview(NamedTuple):
    """What would come of an upload, or why nothing can."""

    found: ProjectImport | None = None
    language: str = "en"
    is_other_story: bool = False
    title: str = ""
    problem: str = ""

    @property
    def words(self) -> int:
        """How many words would come in."""
        return sum(each.words for each in self.found.chapters) if self.found is not None else 0

    @property
    def is_uncut(self) -> bool:
        """Whether all became one long chapter, as it does where no heading is recognised."""
        return self.found is not None and len(self.found.chapters) == 1 and self.words > UNCUT_WORDS


async def _sent(request: Request) -> AsyncIterator[Sent]:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != UPLOAD_TYPE:
        raise Refusal(415, "invalid-request", f"files come as {UPLOAD_TYPE}")
    async with request.form(max_files=MAX_FILES, max_fields=20) as form:
        files = [
            (each.filename, each.file)
            for each in form.getlist("files")
            if isinstance(each, UploadFile) and each.filename
        ]
        project_id = form.get("project")
        yield Sent(files, project_id if isinstance(project_id, str) else "")


@router.get("/page/import")
def import_form(request: Request, project: Name = "") -> Response:
    """Ask for files."""
    return Frame(request).page("import", project=project)


@router.post("/page/imports")
def receive_files(request: Request, house: TheHouse, sent: Annotated[Sent, Depends(_sent)]) -> Response:
    """Keep the files that were chosen, and lead to what would come of them."""
    if not sent.files:
        raise Refusal(400, "invalid-request", Frame(request).word("no_files"))
    upload = house.uploads.add(sent.files)
    return _to(f"/page/imports/{upload.upload_id}", project=sent.project_id)


@router.get("/page/imports/{upload_id}")
def preview_page(
    request: Request,
    house: TheHouse,
    upload_id: UploadId,
    project: Name = "",
    project_id: Name = "",
    keep_remarks: Tick = "",
    update: Tick = "",
    shown: Shown = SHOWN_CHAPTERS,
) -> Response:
    """Show how the files would be cut and what of it is new; nothing is stored."""
    upload = house.uploads.get(upload_id)
    if project:
        # One that is not there is refused, not made.
        _ = ServedProject(house, project).stores
    new_id = project_id.strip() or proposed_project_id(house.stores.common, title=upload.title)
    project_ids = list_project_ids(house.stores.common)
    preview = _preview(
        house, upload, project or new_id, keep_remarks=bool(keep_remarks), update=bool(project and update)
    )
    form = {
        "project": project,
        "project_id": new_id,
        "title": request.query_params.get("title", preview.title)[:500],
        "language": request.query_params.get("language", "") or preview.language,
        "keep_remarks": keep_remarks,
        "update": update,
    }
    return Frame(request).page(
        "preview",
        status=200 if preview.found is not None else 422,
        upload=upload,
        preview=preview,
        found=preview.found,
        form=form,
        shown=min(shown, MAX_SHOWN),
        project_ids=project_ids,
        is_taken=not project and new_id in project_ids,
    )


@router.post("/page/imports/{upload_id}")
def take_in(house: TheHouse, upload_id: UploadId, form: Form) -> Response:
    """Take the files in, as a job."""
    upload = house.uploads.get(upload_id)
    house.jobs.require_room()
    project_id = form.get("project", "")
    if project_id:
        _ = ServedProject(house, project_id).stores
    else:
        project_id = form.get("project_id", "").strip()
        stores = house.stores.of(project_id)
        if "title" in form:
            language = form.get("language", "")
            StoryProjects(stores, project_id).create_project(
                name=form["title"].strip()[:500] or None, language=language if language in ("en", "zh") else None
            )
        else:
            # What was exported says its title and language by itself.
            StoryProjects(stores, project_id).require_new_project()
    job = house.jobs.start(
        "manuscript",
        project_id,
        {"file": upload.file, "update": bool(form.get("update")), "keep_remarks": bool(form.get("keep_remarks"))},
        source=(upload.file, house.uploads.path(upload)),
    )
    house.uploads.forget(upload_id)
    return _to(f"/page/jobs/{job.job_id}")


@router.post("/page/imports/{upload_id}/forget")
def forget_files(house: TheHouse, upload_id: UploadId) -> Response:
    """Throw the files away."""
    house.uploads.forget(upload_id)
    return _to("/")


def _preview(house: House, upload: Upload, project_id: str, *, keep_remarks: bool, update: bool) -> Preview:
    """Look at what an import would do; what is wrong with a file, or with the project's id, is told beside the form."""
    folders = [house.stores.settings.projects_dir]
    try:
        stores = house.stores.of(project_id)
        found = StoryTransfer(stores, project_id).import_project(
            source=house.uploads.path(upload), dry_run=True, update=update, keep_remarks=keep_remarks
        )
        is_other_story = StoryTransfer(stores, project_id).is_of_another_story(found=found, update=update)
    except InvalidFileError as error:
        return Preview(problem=without_paths(str(error), folders=folders))
    told = " ".join(each.opening for each in found.chapters[:50])
    return Preview(found, story_language(told or upload.title), is_other_story, upload.title_of(found.title))


def _to(address: str, **query: str) -> Response:
    told = {name: value for name, value in query.items() if value}
    return RedirectResponse(f"{address}?{urlencode(told)}" if told else address, status_code=303)


JobId = Annotated[str, Path(min_length=1, max_length=64)]
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
    return _to(f"/page/jobs/{job_id}")


@router.post("/page/jobs/{job_id}/resume")
def resume_job(house: TheHouse, job_id: JobId) -> Response:
    """Run a job again that is over; what it stored is left alone."""
    house.jobs.resume(job_id)
    return _to(f"/page/jobs/{job_id}")


@router.post("/page/jobs/{job_id}/forget")
def forget_job(house: TheHouse, job_id: JobId) -> Response:
    """Strike a job that is over off the list."""
    if house.jobs.get(job_id).state in OVER:
        house.jobs.cancel(job_id)
    return RedirectResponse("/page/jobs", status_code=303)


@router.get("/page/projects/{project_id}/reading")
def reading_page(
    visit: Visited, chapter: Chapter = "", scene: Chapter = "", retry: Tick = "", again: Tick = ""
) -> Response:
    """Show what a model would read and what that would take; nothing is asked of it."""
    jobs = visit.served.house.jobs.list(visit.served.project_id)
    estimate = visit.kept(
        _estimate,
        scenes=(StoryPosition(int(chapter), int(scene)),) if chapter and scene else (),
        chapter_index=int(chapter) if chapter and not scene else None,
        retry_failed=bool(retry),
        again=bool(again),
    )
    return visit.frame("health").page(
        "reading",
        condition=visit.story.story_condition(),
        estimate=estimate,
        **visit.reading_model(),
        model_example=MODEL_EXAMPLE,
        form={"chapter": chapter, "scene": scene if chapter else "", "retry": retry, "again": again},
        jobs=[each for each in jobs if each.state not in OVER],
    )


def _estimate(story: Story, *, as_of: StoryPosition | None, **asked: Any) -> ExtractionEstimate:
    """Return what a reading would take, wherever the page stands: it is the whole story that is read."""
    return story.estimate_project(**asked)


@router.post("/page/projects/{project_id}/reading")
def read_scenes(visit: Visited, form: Form) -> Response:
    """Let a model read scenes, as a job; who asked for one scene is led back to it."""
    served = visit.served
    chapter, scene = number_in(form, "chapter"), number_in(form, "scene")
    build_extraction_model(served.stores.settings, served.house.chat_model)
    one = None if chapter is None or scene is None else StoryPosition(chapter, scene)
    asked = ExtractScenes(
        scenes=[] if one is None else [str(one)],
        chapter_index=chapter if one is None else None,
        retry_failed=bool(form.get("retry")),
        again=bool(form.get("again")),
    )
    job = served.house.jobs.start("extract", served.project_id, asked.model_dump(mode="json"))
    if one is None:
        return _to(f"/page/jobs/{job.job_id}")
    return led_back(visit.address("story", chapter=chapter, scene=scene), "read")


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
