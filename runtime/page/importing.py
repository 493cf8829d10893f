"""Bringing a story in: files that are chosen, a look at what would come of them, and the job that takes them in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, BinaryIO, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response

from novelgen.errors import InvalidFileError
from novelgen.language.language import story_language
from runtime.doors.http.house import House, ServedProject, TheHouse
from runtime.doors.http.problems import Refusal
from runtime.doors.http.uploads import Upload
from runtime.files.machine_paths import without_paths
from runtime.page.frame import Frame
from runtime.page.visits import MAX_SHOWN, Form, Name, PageRoute, Shown
from runtime.story.projects import StoryProjects, list_project_ids, proposed_project_id
from runtime.story.transfer import ProjectImport, StoryTransfer

router = APIRouter(route_class=PageRoute, include_in_schema=False)

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
