"""The projects of the folder, and how one stands."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from runtime.server.house import Project, TheHouse
from runtime.server.page.frame import Frame
from runtime.server.page.visits import (
    PageRoute,
    Visited,
)
from runtime.server.routes.projects import check_health, list_projects, repair_project
from runtime.services.condition import story_condition

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/")
def projects_page(request: Request, house: TheHouse) -> Response:
    """Show the projects of the folder."""
    return Frame(request).page("projects", projects=list_projects(house).projects)


@router.get("/page/projects/{project_id}/health")
def health_page(visit: Visited, project: Project) -> Response:
    """Show how a project stands, and what the doctor found."""
    return _health(visit, check_health(project))


@router.post("/page/projects/{project_id}/health")
def repair_page(visit: Visited, project: Project) -> Response:
    """Put the index right, and show how the project stands."""
    return _health(visit, repair_project(project))


def _health(visit: Visited, diagnosis: Any) -> Response:
    condition = story_condition(visit.served.stores, visit.served.project_id)
    return visit.frame("health").page("health", diagnosis=diagnosis, condition=condition)
