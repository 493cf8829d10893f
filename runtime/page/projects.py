"""The projects of the folder: making one, taking it out, deleting it, and how one stands."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from runtime.doors.http.house import Project, TheHouse
from runtime.doors.http.jobs import OVER
from runtime.doors.http.problems import Refusal
from runtime.doors.http.routes import delete_project
from runtime.page.frame import Frame
from runtime.page.visits import Form, PageRoute, Visited
from runtime.story.condition import StoryConditions, next_steps_in
from runtime.story.diagnosis import diagnose
from runtime.story.indexing import StoryIndexing
from runtime.story.projects import StoryProjects, proposed_project_id
from runtime.story.transfer import StoryTransfer

router = APIRouter(route_class=PageRoute, include_in_schema=False)


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
        StoryIndexing(project.stores, project.project_id).reindex()
        return _health(visit, project)
    return _health(visit, project, repair=True)


@router.get("/page/projects/{project_id}/export.zip")
def export_archive(project: Project) -> Response:
    """Give everything that a project holds, as an archive that an import reads back without loss."""
    return _download(
        StoryTransfer(project.stores, project.project_id).packed_export(), project.project_id, "zip", "application/zip"
    )


@router.get("/page/projects/{project_id}/story.md")
def export_text(project: Project) -> Response:
    """Give the story as one text."""
    text = StoryTransfer(project.stores, project.project_id).story_text()
    return _download(text.encode("utf-8", "replace"), project.project_id, "md", "text/markdown; charset=utf-8")


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
    condition = StoryConditions(visit.served.stores, visit.served.project_id).story_condition()
    house = visit.served.house
    return frame.page(
        "health",
        diagnosis=diagnosis,
        condition=condition,
        steps=next_steps_in(condition, frame.language),
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
    "index_late": Mending("mend_index", action="repair"),
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


def _download(content: bytes, project_id: str, suffix: str, kind: str) -> Response:
    name = quote(f"{project_id}.{suffix}", safe="", errors="replace")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(content, media_type=kind, headers=headers)
