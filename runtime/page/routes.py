"""The ways of the page: its files, its look, its slider, and all of its views."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import Query
from starlette.responses import RedirectResponse, Response

from runtime.doors.http.problems import Refusal
from runtime.page import cards, check, context, forms, projects, relationships, scene_lanes, story, threads, write  # noqa: F401 - each adds its routes to the one router
from runtime.page.frame import LANGUAGE_COOKIE, THEME_COOKIE, THEMES, VIEWS, own_address
from runtime.page.visits import Offset, Visited, router

STATIC = Path(__file__).parent / "static"
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
STATIC_TYPES = {path.name: _TYPES[path.suffix] for path in STATIC.iterdir() if path.suffix in _TYPES}

YEAR_S = 365 * 24 * 3600


@router.get("/page/static/{name}")
def static_file(name: str) -> Response:
    """Give the page's own style or script."""
    if name not in STATIC_TYPES:
        raise Refusal(404, "unknown-route", f"the page has no file {name[:100]!r}")
    return Response((STATIC / name).read_bytes(), media_type=f"{STATIC_TYPES[name]}; charset=utf-8")


@router.get("/page/look")
def change_look(back: Annotated[str, Query(max_length=8000)] = "/", language: str = "", theme: str = "") -> Response:
    """Keep the language or the colours that somebody chose, and go back to where they were."""
    # A link of another site must not lead through here to anywhere else.
    answer = RedirectResponse(own_address(back), status_code=303)
    for cookie, value, allowed in ((LANGUAGE_COOKIE, language, ("en", "zh")), (THEME_COOKIE, theme, THEMES)):
        if value in allowed:
            answer.set_cookie(cookie, value, max_age=YEAR_S, httponly=True, samesite="strict", path="/")
    return answer


@router.get("/page/projects/{project_id}/at/{view}")
def move_to(visit: Visited, view: str, known: Offset | None = None) -> Response:
    """Redirect to a view at the slider's place, keeping filters and cards."""
    visit.view = view if view in VIEWS else VIEWS[0]
    return RedirectResponse(visit.at(len(visit.here.places) if known is None else known), status_code=303)


@router.get("/page/projects/{project_id}/places")
def list_places(visit: Visited) -> dict[str, Any]:
    """Return chapter and scene of every stored scene, which the slider names while it moves."""
    return {"places": visit.here.places}
