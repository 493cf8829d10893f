"""How routes answer: each use case traced by itself, and its messages without where things lie on this machine."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from fastapi import APIRouter
from pydantic import BaseModel

from novelgen.models.context import ReportIssue
from runtime.care.checks import Diagnosis, Finding
from runtime.files.machine_paths import without_paths

Answer = TypeVar("Answer")

_MESSAGES = frozenset({"failures", "failure_reason", "problem", "reason", "stopped", "thread_warnings", "warnings"})
"""Fields of answers in which the program says what went wrong: no field of a story's text is called so."""

_MESSAGES_OF: dict[type[BaseModel], frozenset[str]] = {
    ReportIssue: frozenset({"message"}),
    Finding: frozenset({"message", "fix", "values"}),
    Diagnosis: frozenset({"settings"}),
}

_PLAIN = frozenset({str, int, float, bool, type(None)})


def told(answer: Answer, *, folders: Sequence[Path] = ()) -> Answer:
    """Return an answer whose messages have no paths of this machine; texts of the story stay as they are."""
    said: Any = answer
    if isinstance(answer, BaseModel):
        said = _told_model(answer, folders)
    elif isinstance(answer, list) and answer and type(answer[0]) not in _PLAIN:
        listed: list[Any] = [told(each, folders=folders) for each in answer]
        # What nothing had to be taken out of is not copied: a long story has thousands of such parts.
        said = listed if any(each is not was for each, was in zip(listed, answer, strict=True)) else answer
    elif isinstance(answer, dict):
        said = {name: told(each, folders=folders) for name, each in answer.items()}
    return said


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


def _told_model(model: BaseModel, folders: Sequence[Path]) -> BaseModel:
    messages = _MESSAGES | _MESSAGES_OF.get(type(model), frozenset())
    changes: dict[str, Any] = {}
    for name, value in model.__dict__.items():
        if name in messages:
            said = _message(value, folders)
        elif type(value) in _PLAIN:
            continue
        else:
            said = told(value, folders=folders)
        if said is not value:
            changes[name] = said
    return model.model_copy(update=changes) if changes else model


def _message(value: Any, folders: Sequence[Path]) -> Any:
    if isinstance(value, str):
        return without_paths(value, folders=folders)
    if isinstance(value, list):
        return [_message(each, folders) for each in value]
    if isinstance(value, dict):
        return {name: _message(each, folders) for name, each in value.items()}
    return told(value, folders=folders)
