"""Whether the server lives and can work, for whoever watches over it."""

from __future__ import annotations

from typing import Literal

from fastapi import Response
from pydantic import BaseModel

from runtime.doors.http.answering import AnsweringRouter
from runtime.doors.http.house import TheHouse
from runtime.doors.http.problems import Refusal

router = AnsweringRouter(tags=["condition"])


class Alive(BaseModel):
    """The server answers."""

    status: Literal["ok"] = "ok"


@router.get("/health")
async def check_alive() -> Alive:
    """Say that the server lives; no store is asked."""
    return Alive()


@router.get("/ready")
def check_ready(house: TheHouse) -> Alive:
    """Say whether the server can work: the folder of the projects can be read, or the database answers."""
    try:
        house.stores.common.project_ids()
    except OSError as error:
        raise Refusal(503, "not-ready", "the folder of the projects cannot be read") from error
    return Alive()


@router.get(
    "/metrics", response_class=Response, responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}
)
async def read_metrics(house: TheHouse) -> Response:
    """Tell Prometheus how much is asked of which route, how long it takes, and how many jobs there are."""
    metrics = house.telemetry.metrics
    if metrics is None:
        raise Refusal(
            404, "unknown-route", "this server has no metrics; run pip install 'novelgen[telemetry]' and start it again"
        )
    return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
