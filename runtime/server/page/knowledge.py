"""Who of the cast knows what, and the reader."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from runtime.server.page.visits import (
    Name,
    PageRoute,
    Shown,
    Visited,
)
from runtime.services import entities as entity_services
from runtime.services import knowledge as knowledge_services

router = APIRouter(route_class=PageRoute, include_in_schema=False)

FACTS_AT_ONCE = 40


@router.get("/page/projects/{project_id}/knowledge")
def knowledge_page(visit: Visited, about: Name = "", shown: Shown = FACTS_AT_ONCE) -> Response:
    """Show who of the cast knows what, since when and how; the reader, too."""
    stores, project_id = visit.served.stores, visit.served.project_id
    table = knowledge_services.knowledge_table(
        stores, project_id, as_of=visit.as_of, about=about.strip() or None, limit=shown
    )
    names = entity_services.entity_names(stores, project_id, as_of=visit.as_of)
    return visit.frame("knowledge").page(
        "knowledge", table=table, names=names, about=about, at_once=FACTS_AT_ONCE
    )
