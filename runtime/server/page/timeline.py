"""When scenes play, where, and who is on stage."""

from __future__ import annotations

from collections import Counter

from fastapi import APIRouter
from starlette.responses import Response

from runtime.server.page.visits import (
    PageRoute,
    Shown,
    Visited,
)
from runtime.services.story_time import story_timeline

router = APIRouter(route_class=PageRoute, include_in_schema=False)

SCENES_AT_ONCE = 100
MAX_LANES = 10


@router.get("/page/projects/{project_id}/timeline")
def timeline_page(visit: Visited, shown: Shown = SCENES_AT_ONCE) -> Response:
    """Show when scenes play, where, and who is on stage, with a lane for each of the cast."""
    told = story_timeline(visit.served.stores, visit.served.project_id, as_of=visit.as_of)
    seen = Counter(each for scene in told.scenes for each in scene.participants)
    return visit.frame("timeline").page(
        "timeline",
        scenes=told.scenes[-shown:],
        count=len(told.scenes),
        names=told.names,
        lanes=[each for each, _ in seen.most_common(MAX_LANES) if each in told.names],
        at_once=SCENES_AT_ONCE,
    )
