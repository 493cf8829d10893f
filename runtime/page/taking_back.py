"""Leading to a page that says what was changed, and taking a change back, whatever it was."""

from __future__ import annotations

from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from runtime.doors.http.house import position
from runtime.page.notices import MAX_TOLD, NOTICE_FIELDS, unpacked
from runtime.page.visits import Form, PageRoute, Visited, own_address
from runtime.page.words import ENGLISH
from runtime.story.entities import StoryEntities
from runtime.story.knowledge import StoryKnowledge
from runtime.story.threads import StoryThreads

router = APIRouter(route_class=PageRoute, include_in_schema=False)


def led_back(back: str, done: str, *, told: str = "", lost: int = 0, undo: str = "", at: str = "") -> Response:
    """Lead to a page of the page's own that says what was changed."""
    if f"did_{done}" not in ENGLISH:
        raise KeyError(f"did_{done}")
    parts = urlsplit(own_address(back))
    kept = [each for each in parse_qsl(parts.query, keep_blank_values=True) if each[0] not in NOTICE_FIELDS]
    said = [("done", done), ("told", told[:MAX_TOLD]), ("lost", str(lost or "")), ("undo", undo)]
    query = urlencode([*kept, *(each for each in said if each[1])], errors="replace")
    anchor = f"#{quote(at, safe='-_:.', errors='replace')}" if at else ""
    return RedirectResponse(f"{parts.path}?{query}{anchor}", status_code=303)


@router.post("/page/projects/{project_id}/undo")
def take_back(visit: Visited, form: Form) -> Response:
    """Take a change back, and lead to where it was told."""
    undo = unpacked(form.get("undo", ""))
    stores, project_id = visit.served.stores, visit.served.project_id
    if undo.kind in ("author_change", "entity_change"):
        StoryEntities(stores, project_id).undo(change_id=undo.change_id)
    elif undo.kind == "thread":
        StoryThreads(stores, project_id).reopen_thread(thread_id=undo.entity, start=position(undo.start or None))
    elif undo.kind == "card":
        StoryEntities(stores, project_id).edit_entity(
            name=undo.entity, changes=undo.changes, state=undo.attributes or None, start=position(undo.start or None)
        )
    else:
        StoryKnowledge(stores, project_id).restore_author_words(
            character=undo.entity, memory_id=undo.memory_id, words=undo.words
        )
    return led_back(form.get("back", ""), "undo")
