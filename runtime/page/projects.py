"""The projects of the folder: making one, bringing a story in, long work as jobs, and how one stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path as FilePath
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Annotated, Any, BinaryIO, Literal, NamedTuple
from urllib.parse import urlencode

from fastapi import Depends, Path, Query, Request
from starlette.datastructures import UploadFile
from starlette.responses import PlainTextResponse, RedirectResponse, Response

from novelgen.errors import ConfigurationError, InvalidFileError
from novelgen.language.language import story_language
from novelgen.language.normalise import scrub_text
from novelgen.models.position import StoryPosition
from runtime.doors.http.app_state import READS, AppState, Project, ServedProject, TheHouse
from runtime.doors.http.jobs import OVER, Job
from runtime.doors.http.problems import Refusal
from runtime.doors.http.routes import ExtractScenes, delete_project
from runtime.doors.http.uploads import Upload
from runtime.files.book_formats import BOOK_FORMATS
from runtime.files.book_writing import BOOK_WRITERS
from runtime.files.manuscripts import read_draft
from runtime.files.paths import without_paths
from runtime.page.forms import led_back
from runtime.page.frame import Frame
from runtime.page.visits import MAX_SHOWN, Form, Name, Shown, Visited, download, number_in, router
from runtime.story.base import as_part
from runtime.story.condition import StoryUpkeep, diagnose, next_steps_in
from runtime.story.extraction import ExtractionEstimate, StoryExtractionRuns, build_extraction_model
from runtime.story.projects import StoryProjects, list_project_ids, proposed_project_id
from runtime.story.transfer import ProjectImport, StoryTransfer, is_of_another_story

_MENDS = {
    "mend_retry": ("reading_failed", "retry"),
    "mend_read": ("nothing_read", "half_read", "read"),
    "mend_import": ("no_scenes", "database_empty", "take_in"),
    "mend_people": ("no_people", "people"),
    "mend_index": ("index_waiting", "index_differs", "index_fails", "breaker_open", "index"),
    "mend_reindex": ("index_other_model", "embedded_otherwise"),
    "mend_context": ("context_stale", "context_unreadable", "context"),
}
MENDED_BY = {kind: way for way, kinds in _MENDS.items() for kind in kinds}
"""Kind of a finding, or of a next step, to what does it; other findings are mended elsewhere, as their words say."""


@router.get("/")
def projects_page(request: Request, app_state: TheHouse) -> Response:
    """Show the projects of the folder."""
    at_work = [job for job in app_state.jobs.list() if job.state not in OVER]
    return Frame(request).page("projects", projects=app_state.stores.overviews(), at_work=at_work)


@router.post("/page/projects")
def make_project(request: Request, app_state: TheHouse, form: Form) -> Response:
    """Make an empty project, and ask for its story."""
    title = form.get("title", "").strip()[:500]
    project_id = form.get("project_id", "").strip()
    if not (title or project_id):
        raise Refusal(400, "invalid-request", Frame(request).word("no_title"))
    project_id = project_id or proposed_project_id(app_state.stores.common, title=title)
    _make(app_state, project_id, form)
    return _to("/page/import", project=project_id)


def _make(app_state: AppState, project_id: str, form: Mapping[str, str]) -> None:
    language = form.get("language", "")
    StoryProjects(app_state.stores.of(project_id), project_id).create_project(
        name=form.get("title", "").strip()[:500] or None, language=language if language in ("en", "zh") else None
    )


@router.get("/page/projects/{project_id}/health")
def health_page(visit: Visited) -> Response:
    """Show a project's condition and the doctor's findings."""
    return _health(visit)


@router.post("/page/projects/{project_id}/health")
def mend_page(visit: Visited, form: Form) -> Response:
    """Put the index right or build it anew, and show how the project stands."""
    if form.get("do") != "reindex":
        return _health(visit, repair=True)
    StoryUpkeep(visit.served.stores, visit.project_id).reindex()
    return _health(visit)


def _health(visit: Visited, *, repair: bool = False) -> Response:
    served = visit.served
    condition = visit.story.project.condition()
    return visit.page(
        "health",
        diagnosis=diagnose(served.stores, served.project_id, repair=repair, ask_network=False, language=visit.language),
        condition=condition,
        steps=[next_step for next_step in next_steps_in(condition, visit.language) if next_step.kind in MENDED_BY],
        mended_by=MENDED_BY,
        jobs=served.app_state.jobs.list(served.project_id)[:5],
    )


@router.get("/page/projects/{project_id}/export.zip")
def export_archive(project: Project) -> Response:
    """Give everything that a project holds, as an archive that an import reads back without loss."""
    packed = StoryTransfer(project.stores, project.project_id).export_archive()
    return download(packed, project.project_id, "zip", "application/zip")


@router.get("/page/projects/{project_id}/story.{kind}")
def export_text(project: Project, kind: str) -> Response:
    """Give the story as one file for readers."""
    book = StoryTransfer(project.stores, project.project_id).export_as(kind)
    return download(book, project.project_id, kind, BOOK_WRITERS[kind].media_type)


@router.post("/page/projects/{project_id}/delete")
def delete_page(request: Request, project: Project, form: Form) -> Response:
    """Delete a project after its id was typed."""
    confirm = form.get("confirm", "").strip()
    if confirm != project.project_id:
        raise Refusal(400, "invalid-request", Frame(request).word("delete_not_confirmed", project=project.project_id))
    delete_project(project, confirm)
    return _to("/")


MAX_FILES = 2_000
"""So many files may come at once: a web novel has a file for each of its chapters."""

UNCUT_WORDS = 8_000
"""A single chapter of more words was probably not cut for want of headings."""

UPLOAD_TYPE = "multipart/form-data"

Id = Annotated[str, Path(min_length=1, max_length=64)]
Tick = Annotated[str, Query(max_length=5)]
HeadingLine = Annotated[str, Query(max_length=500)]


class Sent(NamedTuple):
    """The files of an upload's form, and the project that it names."""

    files: list[tuple[str, BinaryIO]]
    project_id: str


class Preview(NamedTuple):
    """A preview of an upload, or its error."""

    found: ProjectImport | None = None
    language: str = "en"
    is_other_story: bool = False
    title: str = ""
    problem: str = ""
    words: int = 0


async def _sent(request: Request) -> AsyncIterator[Sent]:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != UPLOAD_TYPE:
        raise Refusal(415, "invalid-request", f"files come as {UPLOAD_TYPE}")
    async with request.form(max_files=MAX_FILES, max_fields=20) as form:
        files = [item for item in form.getlist("files") if isinstance(item, UploadFile)]
        project_id = form.get("project")
        yield Sent(
            [(upload_file.filename, upload_file.file) for upload_file in files if upload_file.filename],
            project_id if isinstance(project_id, str) else "",
        )


@router.get("/page/import")
def import_form(request: Request, project: Name = "") -> Response:
    """Ask for files."""
    return Frame(request).page("import", project=project)


@router.post("/page/imports")
def receive_files(request: Request, app_state: TheHouse, sent: Annotated[Sent, Depends(_sent)]) -> Response:
    """Store chosen files, and redirect to their preview."""
    if not sent.files:
        raise Refusal(400, "invalid-request", Frame(request).word("no_files"))
    upload = app_state.uploads.add(sent.files)
    return _to(f"/page/imports/{upload.upload_id}", project=sent.project_id)


@router.post("/page/text", openapi_extra=READS)
def text_of_file(sent: Annotated[Sent, Depends(_sent)]) -> Response:
    """Return the text of an uploaded file, read as an import."""
    if len(sent.files) != 1:
        raise Refusal(400, "invalid-request", "send one file")
    name, content = sent.files[0]
    suffix = FilePath(name).suffix.lower()
    with TemporaryDirectory(prefix="novelgen-text-") as folder:
        file = FilePath(folder) / f"text{suffix if suffix in BOOK_FORMATS else '.txt'}"
        with file.open("wb") as stream:
            copyfileobj(content, stream)
        try:
            text = read_draft(file)
        except InvalidFileError as error:
            statement = str(error).replace(str(file), name)
            raise Refusal(422, "invalid-file", without_paths(statement, folders=[FilePath(folder)])) from error
    return PlainTextResponse(scrub_text(text))


@router.get("/page/imports/{upload_id}")
def preview_page(
    request: Request,
    app_state: TheHouse,
    upload_id: Id,
    project: Name = "",
    project_id: Name = "",
    keep_remarks: Tick = "",
    update: Tick = "",
    replace: Tick = "",
    overwrite: Tick = "",
    heading: HeadingLine = "",
    shown: Shown = 60,
) -> Response:
    """Show the chapters of files and new parts, without storing."""
    upload = app_state.uploads.get(upload_id)
    if project:
        # One that is not there is refused, not made.
        _ = ServedProject(app_state, project).stores
    new_id = project_id.strip() or proposed_project_id(app_state.stores.common, title=upload.title)
    project_ids = list_project_ids(app_state.stores.common)
    preview = _preview(
        app_state,
        upload,
        project or new_id,
        keep_remarks=bool(keep_remarks),
        update=bool(project and update),
        replace=bool(project and update and replace),
        overwrite=bool(project and update and overwrite),
        headings=_headings(heading),
    )
    query_params = request.query_params
    return Frame(request).page(
        "preview",
        status=200 if preview.found is not None else 422,
        upload=upload,
        preview=preview,
        found=preview.found,
        form={
            "project": project,
            "project_id": new_id,
            "title": query_params.get("title", preview.title)[:500],
            "language": query_params.get("language", "") or preview.language,
            "keep_remarks": keep_remarks,
            "update": update,
            "replace": replace,
            "overwrite": overwrite,
            "heading": heading,
        },
        shown=min(shown, MAX_SHOWN),
        project_ids=project_ids,
        is_taken=not project and new_id in project_ids,
        is_uncut=preview.found is not None and len(preview.found.chapters) == 1 and preview.words > UNCUT_WORDS,
    )


@router.post("/page/imports/{upload_id}")
def take_in(app_state: TheHouse, upload_id: Id, form: Form) -> Response:
    """Take the files in, as a job."""
    upload = app_state.uploads.get(upload_id)
    app_state.jobs.require_room()
    project_id = form.get("project", "")
    if project_id:
        _ = ServedProject(app_state, project_id).stores
    else:
        project_id = form.get("project_id", "").strip()
        if "title" in form:
            _make(app_state, project_id, form)
        else:
            # What was exported says its title and language by itself.
            StoryProjects(app_state.stores.of(project_id), project_id).require_new_project()
    job = app_state.jobs.start(
        "manuscript",
        project_id,
        {
            "file": upload.file,
            "update": bool(form.get("update")),
            "replace": bool(form.get("replace")),
            "overwrite": bool(form.get("overwrite")),
            "keep_remarks": bool(form.get("keep_remarks")),
            "headings": _headings(form.get("heading", "")),
        },
        source=(upload.file, app_state.uploads.path(upload)),
    )
    app_state.uploads.forget(upload_id)
    return _to(f"/page/jobs/{job.job_id}")


@router.post("/page/imports/{upload_id}/forget")
def forget_files(app_state: TheHouse, upload_id: Id) -> Response:
    """Throw the files away."""
    app_state.uploads.forget(upload_id)
    return _to("/")


def _headings(heading: str) -> list[str]:
    return [heading.strip()] if heading.strip() else []


def _preview(
    app_state: AppState,
    upload: Upload,
    project_id: str,
    *,
    keep_remarks: bool,
    update: bool,
    replace: bool,
    overwrite: bool,
    headings: Sequence[str],
) -> Preview:
    """Preview an import, with errors beside the form."""
    try:
        transfer = StoryTransfer(app_state.stores.of(project_id), project_id)
        project_import = transfer.import_source(
            source=app_state.uploads.path(upload),
            dry_run=True,
            update=update,
            replace=replace,
            overwrite=overwrite,
            keep_remarks=keep_remarks,
            headings=headings,
        )
        is_other_story = is_of_another_story(
            app_state.stores.of(project_id), project_id, found=project_import, update=update
        )
    except InvalidFileError as error:
        return Preview(problem=without_paths(str(error), folders=app_state.secret_folders))
    text = " ".join(chapter.opening for chapter in project_import.chapters[:50])
    language, words = story_language(text or upload.title), sum(chapter.words for chapter in project_import.chapters)
    return Preview(project_import, language, is_other_story, upload.title_of(project_import.title), words=words)


def _to(address: str, **query: str) -> Response:
    texts = {name: value for name, value in query.items() if value}
    return RedirectResponse(f"{address}?{urlencode(texts)}" if texts else address, status_code=303)


Chapter = Annotated[str, Query(max_length=7, pattern=r"^[0-9]*$")]

LISTED_FAULTS = 50

MODEL_EXAMPLE = "NOVELGEN_MODEL=openai:gpt-4.1-mini\nNOVELGEN_MODEL_API_KEY=…\nnovelgen serve"


@router.get("/page/jobs")
def jobs_page(request: Request, app_state: TheHouse, project: Name = "") -> Response:
    """Show the jobs of the folder, or of one project, the latest first."""
    return Frame(request).page("jobs", jobs=app_state.jobs.list(project or None), project=project, over=OVER)


@router.get("/page/jobs/{job_id}")
def job_page(request: Request, app_state: TheHouse, job_id: Id) -> Response:
    """Show a job's progress and result."""
    job = app_state.jobs.get(job_id)
    return Frame(request).page("job", job=job, over=OVER, outcome=_outcome(job))


@router.post("/page/jobs/{job_id}/{step}")
def change_job(app_state: TheHouse, job_id: Id, step: Literal["cancel", "resume", "forget"]) -> Response:
    """Stop, repeat or remove a job."""
    if step == "resume":
        app_state.jobs.resume(job_id)
    elif (app_state.jobs.get(job_id).state in OVER) == (step == "forget"):
        # One that ended meanwhile stays.
        app_state.jobs.cancel(job_id)
    return _to("/page/jobs" if step == "forget" else f"/page/jobs/{job_id}")


@router.get("/page/projects/{project_id}/reading")
def reading_page(
    visit: Visited, chapter: Chapter = "", scene: Chapter = "", retry: Tick = "", again: Tick = ""
) -> Response:
    """Show the scenes to read and the cost, without asking a model."""
    served = visit.served
    settings = served.stores.settings

    def estimated(*, as_of: StoryPosition | None, **options: Any) -> ExtractionEstimate:
        return as_part(visit.story, StoryExtractionRuns).estimate_project(**options)

    estimate = visit.kept(
        estimated,
        scenes=(StoryPosition(int(chapter), int(scene)),) if chapter and scene else (),
        chapter_index=int(chapter) if chapter and not scene else None,
        retry_failed=bool(retry),
        again=bool(again) or bool(chapter and scene),
    )
    trouble = ""
    try:
        build_extraction_model(settings, served.app_state.chat_model)
    except ConfigurationError as error:
        trouble = str(error)
    return visit.page(
        "reading",
        condition=visit.story.project.condition(),
        estimate=estimate,
        model=settings.memory.summarization.model or settings.model or "",
        trouble=trouble,
        model_example=MODEL_EXAMPLE,
        form={"chapter": chapter, "scene": scene if chapter else "", "retry": retry, "again": again},
        jobs=[job for job in served.app_state.jobs.list(served.project_id) if job.state not in OVER],
    )


@router.post("/page/projects/{project_id}/reading")
def read_scenes(visit: Visited, form: Form) -> Response:
    """Start a reading job.

    A single scene leads back to its page.
    """
    served = visit.served
    chapter, scene = number_in(form, "chapter"), number_in(form, "scene")
    build_extraction_model(served.stores.settings, served.app_state.chat_model)
    one = None if chapter is None or scene is None else StoryPosition(chapter, scene)
    extract_scenes = ExtractScenes(
        scenes=[] if one is None else [str(one)],
        chapter_index=chapter if one is None else None,
        retry_failed=bool(form.get("retry")),
        # Who asks for one scene wants it read, read before or not.
        again=bool(form.get("again")) or one is not None,
    )
    job = served.app_state.jobs.start("extract", served.project_id, extract_scenes.model_dump(mode="json"))
    if one is None:
        return _to(f"/page/jobs/{job.job_id}")
    return led_back(visit.link("story", chapter=chapter, scene=scene), "read")


def _outcome(job: Job) -> dict[str, Any]:
    """Return a job's outcome, tolerating older versions."""
    result = job.result if isinstance(job.result, dict) else {}
    changes = result.get("changes") or {}
    scenes = [item for item in result.get("scenes") or () if isinstance(item, dict)]
    issues = [*(result.get("issues") or ()), *((result.get("indexing") or {}).get("issues") or ())]
    return {
        **{name: result.get(name) for name in ("stored", "condition", "stopped", "usage", "price")},
        **{name: list(changes.get(name) or ()) for name in ("edited_scenes", "conflicting_scenes", "deleted_scenes")},
        "overwritten": bool(result.get("overwritten")),
        "passed_over": result.get("passed_over") or [],
        "left_out": result.get("left_out") or "",
        "left_out_parts": [part for part in result.get("left_out_parts") or () if isinstance(part, dict)],
        "warnings": [*(result.get("failures") or ()), *(result.get("warnings") or ())],
        "issues": list(dict.fromkeys(issue.get("message", "") for issue in issues)),
        "counts": Counter(scene["outcome"] for scene in scenes if scene.get("outcome")),
        "faults": [scene for scene in scenes if scene.get("outcome") == "failed"][:LISTED_FAULTS],
    }
