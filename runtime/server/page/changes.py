"""What a person changes on the page: ending threads, pinning and leaving out memories, waiving findings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from novelgen.errors import UserInputError
from runtime.server.page.frame import project_address
from runtime.server.page.routes import check_page
from runtime.server.page.visits import Form, PageRoute, Visited, own_address
from runtime.services import continuity as continuity_services
from runtime.services import memories as memory_services
from runtime.services import threads as thread_services

router = APIRouter(route_class=PageRoute, include_in_schema=False)

DECISIONS: dict[str, Callable[..., Any]] = {
    "pin": memory_services.pin_memory,
    "unpin": memory_services.unpin_memory,
    "ban": memory_services.ban_memory,
    "unban": memory_services.unban_memory,
}
"""Each is taken back by another of them, which the page then offers."""


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


@router.post("/page/projects/{project_id}/memory")
def decide_on_memory(visit: Visited, form: Form) -> Response:
    """Pin a memory, leave it out, or take that back; then go back to where it stood."""
    decide = DECISIONS.get(form.get("decision", ""))
    memory_id = form.get("memory", "")
    if decide is None or not memory_id:
        raise UserInputError(
            f"which memory, or what is decided, is not said; decide one of {', '.join(DECISIONS)}"
        )
    decide(visit.served.stores, visit.served.project_id, memory_id=memory_id)
    back = own_address(form.get("back", ""))
    told = urlencode({"decided": form["decision"], "memory": memory_id}, errors="replace")
    return RedirectResponse(f"{back}{'&' if '?' in back else '?'}{told}", status_code=303)


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
