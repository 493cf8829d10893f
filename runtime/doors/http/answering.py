"""How routes answer: each use case traced by itself, and its messages without where things lie on this machine."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter

from runtime.doors.answers import told


class AnsweringRouter(APIRouter):
    """Routes of use cases, whose answers go through `told`.

    What a route makes an HTTP response or a stream of, it puts through `told` itself.
    """

    def add_api_route(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        """Add a route."""
        super().add_api_route(path, _answering(endpoint), **options)


def _answering(endpoint: Callable[..., Any]) -> Callable[..., Any]:
    if any(
        kind(endpoint)
        for kind in (inspect.iscoroutinefunction, inspect.isasyncgenfunction, inspect.isgeneratorfunction)
    ):
        return endpoint

    @functools.wraps(endpoint)
    def answer(**given: Any) -> Any:
        house = _house(given)
        if house is None:
            return told(endpoint(**given))
        with house.telemetry.use_case(endpoint.__name__):
            return told(endpoint(**given), folders=house.secret_folders)

    return answer


def _house(given: dict[str, Any]) -> Any:
    """Return the house of a request, or of what it names."""
    houses = (getattr(value, "house", value) for value in given.values())
    return next((each for each in houses if hasattr(each, "secret_folders")), None)
