"""Whether the server lives and can work, for whoever watches over it."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from runtime.server.house import TheHouse
from runtime.server.problems import Refusal
from runtime.server.telling import TellingRouter

router = TellingRouter(tags=["condition"])


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
