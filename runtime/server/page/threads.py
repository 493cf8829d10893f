"""The board of threads, and ending one."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from novelgen.errors import UserInputError
from runtime.server.page.frame import project_address
from runtime.server.page.visits import (
    Form,
    PageRoute,
    Shown,
    Visited,
)
from runtime.services import entities as entity_services
from runtime.services import threads as thread_services
from runtime.services.thread_ledger import thread_ledger

router = APIRouter(route_class=PageRoute, include_in_schema=False)

ENDED_AT_ONCE = 12
BOARD = ("overdue", "due", "moved", "planted")


@router.get("/page/projects/{project_id}/threads")
def threads_page(visit: Visited, ended: Shown = ENDED_AT_ONCE) -> Response:
    """Show where every thread stands."""
    stores, project_id = visit.served.stores, visit.served.project_id
    ledger = thread_ledger(stores, project_id, as_of=visit.as_of)
    here = visit.here()
    over = sorted(
        ledger.at("over"),
        key=lambda each: (each.last_chapter_index or 0, each.last_scene_index or 0),
        reverse=True,
    )
    return visit.frame(
        "threads", here
    ).page(
        "threads",
        board=[(stage, ledger.at(stage)) for stage in BOARD],  # type: ignore[arg-type]
        over=over[:ended],
        over_count=len(over),
        names=entity_services.entity_names(stores, project_id, as_of=visit.as_of),
        greatest=max((each.pressure for each in ledger.entries), default=0.0),
        last=here.places[here.known - 1] if here.known else None,
    )


@router.post("/page/projects/{project_id}/threads/end")
def end_thread(visit: Visited, form: Form) -> Response:
    """End a thread where the story stands on the page."""
    stores, project_id = visit.served.stores, visit.served.project_id
    end = thread_services.abandon_thread if form.get("how") == "dropped" else thread_services.resolve_thread
    thread_id, summary = form.get("thread", ""), form.get("summary", "").strip()
    if not thread_id or not summary:
        raise UserInputError("which thread ends, or how, is not said; write a sentence")
    end(stores, project_id, thread_id=thread_id, summary=summary, start=visit.as_of)
    as_of = "" if visit.as_of is None else str(visit.as_of)
    return RedirectResponse(project_address(project_id, "threads", as_of=as_of), status_code=303)
