"""The context of a planned scene, and why what is in it."""

from __future__ import annotations

import re

from fastapi import APIRouter
from starlette.responses import Response

from novelgen.models.plan import ScenePlan
from runtime.server.house import READS
from runtime.server.page.visits import (
    Form,
    PageRoute,
    Visited,
    blank_form,
    scene_of,
)

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/page/projects/{project_id}/context")
def context_form(visit: Visited) -> Response:
    """Show the form of a scene's plan."""
    here = visit.here()
    return visit.frame("context", here).page("context", form=blank_form(here), context=None, prompt="")


@router.post("/page/projects/{project_id}/context", openapi_extra=READS)
def context_page(visit: Visited, form: Form) -> Response:
    """Show the context of a planned scene: the block for the prompt, and why what is in it."""
    here = visit.here()
    filled = {**blank_form(here), **form}
    chapter_index, scene_index = scene_of(filled, here)
    plan = ScenePlan(
        location=filled["location"].strip(),
        characters=[each.strip() for each in re.split(r"[,，、;；\n]", filled["characters"]) if each.strip()],
        purpose=filled["purpose"].strip(),
        key_actions=[each.strip() for each in filled["key_actions"].splitlines() if each.strip()],
    )
    context = visit.served.story.context(chapter_index, scene_index, plan, pov=filled["pov"].strip())
    return visit.frame("context", here).page(
        "context", form=filled, context=context, prompt=context.as_prompt()
    )
