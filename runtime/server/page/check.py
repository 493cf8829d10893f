"""What a draft contradicts, and what is meant so."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from runtime.server.house import READS
from runtime.server.page.visits import (
    Form,
    PageRoute,
    Visited,
    blank_form,
    scene_of,
)
from runtime.services import continuity as continuity_services

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/page/projects/{project_id}/check")
def check_form(visit: Visited) -> Response:
    """Show the form for a draft."""
    here = visit.here()
    return visit.frame("check", here).page("check", form=blank_form(here), check=None)


@router.post("/page/projects/{project_id}/check", openapi_extra=READS)
def check_page(visit: Visited, form: Form) -> Response:
    """Show what a draft contradicts, beside its text."""
    here = visit.here()
    filled = {**blank_form(here), **form}
    chapter_index, scene_index = scene_of(filled, here)
    check = continuity_services.check_draft(
        visit.served.stores,
        visit.served.project_id,
        text=filled["text"],
        chapter_index=chapter_index,
        scene_index=scene_index,
        model=visit.served.house.chat_model,
        uses_model=bool(filled.get("with_model")),
    )
    return visit.frame("check", here).page(
        "check", form=filled, check=check, found=list(enumerate(check.issues, start=1))
    )


@router.post("/page/projects/{project_id}/check/waive")
def waive_page(visit: Visited, form: Form) -> Response:
    """Mark a finding as meant, and check the draft again."""
    continuity_services.waive_finding(
        visit.served.stores,
        visit.served.project_id,
        issue_id=form.get("issue_id", ""),
        note=form.get("note", "").strip(),
    )
    return check_page(visit, form)
