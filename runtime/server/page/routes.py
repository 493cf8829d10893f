"""The ways of the page: its files, its look, its slider, and all of its views."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import RedirectResponse, Response

from runtime.server.page import (
    cards,
    check,
    context,
    knowledge,
    projects,
    relationships,
    story,
    threads,
    timeline,
)
from runtime.server.page.frame import LANGUAGE_COOKIE, THEME_COOKIE, VIEWS, project_address
from runtime.server.page.visits import Known, Name, PageRoute, Visited, own_address
from runtime.server.problems import Refusal

router = APIRouter(route_class=PageRoute, include_in_schema=False)

router.include_router(projects.router)
router.include_router(story.router)
router.include_router(threads.router)
router.include_router(cards.router)
router.include_router(relationships.router)
router.include_router(timeline.router)
router.include_router(knowledge.router)
router.include_router(context.router)
router.include_router(check.router)

STATIC = Path(__file__).parent / "static"
STATIC_TYPES = {
    "page.css": "text/css",
    "page.js": "text/javascript",
    "planning.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}

YEAR_S = 365 * 24 * 3600


@router.get("/page/static/{name}")
def static_file(name: str) -> Response:
    """Give the page's own style or script."""
    if name not in STATIC_TYPES:
        raise Refusal(404, "unknown-route", f"the page has no file {name[:100]!r}")
    return Response((STATIC / name).read_bytes(), media_type=f"{STATIC_TYPES[name]}; charset=utf-8")


@router.get("/page/look")
def change_look(
    back: Annotated[str, Query(max_length=8000)] = "/", language: str = "", theme: str = ""
) -> Response:
    """Keep the language or the colours that somebody chose, and go back to where they were."""
    # A link of another site must not lead through here to anywhere else.
    answer = RedirectResponse(own_address(back), status_code=303)
    for cookie, value, allowed in (
        (LANGUAGE_COOKIE, language, ("en", "zh")),
        (THEME_COOKIE, theme, ("system", "light", "dark")),
    ):
        if value in allowed:
            answer.set_cookie(cookie, value, max_age=YEAR_S, httponly=True, samesite="strict", path="/")
    return answer


@router.get("/page/projects/{project_id}/at/{view}")
def move_to(visit: Visited, view: str, known: Known = None, entity: Name = "", kept: Name = "") -> Response:
    """Lead to a view at the place where the slider was put; a card stays that of the same, a plan the plan."""
    places = visit.here().places
    as_of = "" if known is None or known >= len(places) else "{}:{}".format(*places[known])
    shown = "card" if entity else view if view in VIEWS else VIEWS[0]
    kept_form = {"kept": kept} if shown in ("context", "check") else {}
    if kept and shown == "context":
        kept_form["built"] = "yes"
    address = project_address(visit.served.project_id, shown, entity=entity, as_of=as_of, **kept_form)
    return RedirectResponse(address, status_code=303)


@router.get("/page/projects/{project_id}/places")
def list_places(visit: Visited) -> dict[str, Any]:
    """Return chapter and scene of every stored scene, which the slider names while it moves."""
    return {"places": visit.here().places}
