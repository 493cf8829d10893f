"""The story: a scene beside what it established, and what a person decides on that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter
from starlette.responses import RedirectResponse, Response

from novelgen.errors import UserInputError
from novelgen.models.position import StoryPosition
from runtime.server.page.visits import (
    Form,
    PageRoute,
    Visited,
    own_address,
)
from runtime.services import memories as memory_services
from runtime.services.scene_reading import read_scene

router = APIRouter(route_class=PageRoute, include_in_schema=False)

DECISIONS: dict[str, Callable[..., Any]] = {
    "pin": memory_services.pin_memory,
    "unpin": memory_services.unpin_memory,
    "ban": memory_services.ban_memory,
    "unban": memory_services.unban_memory,
}
"""Each is taken back by another of them, which the page then offers."""


@router.get("/page/projects/{project_id}/story")
def story_page(visit: Visited, chapter: int | None = None, scene: int | None = None) -> Response:
    """Show a scene beside what it established."""
    here = visit.here()
    frame = visit.frame("story", here)
    known = here.places[: here.known]
    if not known:
        return frame.page("story", read=None, chapters={}, before=None, after=None)
    place = known[-1] if chapter is None or scene is None else (chapter, scene)
    read = read_scene(
        visit.served.stores, visit.served.project_id, position=StoryPosition(*place), as_of=visit.as_of
    )
    index = known.index(place)
    chapters: dict[int, list[int]] = {}
    for chapter_index, scene_index in known:
        chapters.setdefault(chapter_index, []).append(scene_index)
    return frame.page(
        "story",
        read=read,
        facts=list(enumerate(read.facts, start=1)),
        chapters=chapters,
        before=known[index - 1] if index else None,
        after=known[index + 1] if index + 1 < len(known) else None,
    )


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
