"""Answers to requests: RFC 9457 problems, traces, no local paths."""

import functools
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from novelgen import errors
from runtime.doors.answers import error_kind, told, with_own_ways
from runtime.doors.operations import OPERATIONS
from runtime.files.paths import without_paths

PROBLEM_TYPE = "application/problem+json"

STATUS_OF: dict[type[errors.NovelgenError], int] = {
    errors.UserInputError: 400,
    errors.UnknownProjectError: 404,
    errors.UnknownEntityError: 404,
    errors.UnknownIdError: 404,
    errors.UnknownMemoryError: 404,
    errors.UnknownSceneError: 404,
    errors.ProjectExistsError: 409,
    errors.StaleVersionError: 412,
    errors.ConfigurationError: 409,
    errors.InvalidFileError: 422,
    errors.StoreError: 503,
    errors.SchemaVersionError: 500,
    errors.DatabaseFullError: 507,
    errors.ContextWriteError: 507,
    errors.ModelError: 502,
    errors.DeadlineExceededError: 504,
    errors.NovelgenError: 500,
}
"""An error has the status of the nearest class above it."""

RETRY_AFTER_S = 2

LONGEST_VALUE = 200

MAX_FIELDS = 20

STALE_FIELDS = ("version", "stored", "sent")
"""What a problem tells of a change that came too late."""


class FieldProblem(BaseModel):
    """One part of a request that is wrong."""

    where: str = Field(description="Such as `body.scene_index`.")
    message: str
    value: str = Field(default="", description="What was given, shortened.")


class Problem(BaseModel):
    """A problem of a request."""

    type: str = Field(description="Stable name of the kind of problem.", examples=["urn:novelgen:unknown-project"])
    title: str
    status: int
    detail: str = Field(description="What was wrong with which value, and what to do.")
    is_retryable: bool = Field(default=False, description="Whether the same request may succeed later.")
    request_id: str = Field(default="", description="As in the header X-Request-Id and the server's log.")
    errors: list[FieldProblem] = Field(default_factory=list, description="Parts of the request that are wrong.")
    version: str | None = Field(default=None, description="Of a stale version the one that stands now.")
    stored: dict[str, Any] | None = Field(default=None, description="What stands now, by the names of what was sent.")
    sent: dict[str, Any] | None = Field(default=None, description="What was sent and not stored.")


class Refusal(HTTPException):
    """A request that the server itself refuses, before any use case hears of it.

    It is an HTTPException, which FastAPI lets through where it reads a body.
    """

    def __init__(self, status: int, kind: str, detail: str, *, headers: Mapping[str, str] | None = None) -> None:
        texts = dict(headers or {})
        if status in (429, 503):
            texts.setdefault("Retry-After", str(RETRY_AFTER_S))
        super().__init__(status, detail, headers=texts)
        self.problem = problem_like(kind, status, detail, is_retryable=status in (429, 503))


def problem_type(kind: str) -> str:
    """Return the type of a kind of problem."""
    return f"urn:novelgen:{kind}"


def problem_like(kind: str, status: int, detail: str, **more: Any) -> Problem:
    """Return a problem of a kind."""
    title = kind.replace("-", " ").capitalize()
    return Problem(type=problem_type(kind), title=title, status=status, detail=detail, **more)


def problem_of(error: errors.NovelgenError, *, folders: Sequence[Path] = ()) -> Problem:
    """Return the problem of an error."""
    status = next(STATUS_OF[kind] for kind in type(error).__mro__ if kind in STATUS_OF)
    detail = with_own_ways(without_paths(str(error), folders=folders), _ways())
    both = {name: getattr(error, name) for name in STALE_FIELDS} if isinstance(error, errors.StaleVersionError) else {}
    return problem_like(error_kind(error), status, detail, is_retryable=error.is_retryable, **both)


@cache
def _ways() -> dict[str, str]:
    """Return operations with method and path, or those of the nearest route."""
    calls = {operation.name: operation.http for operation in OPERATIONS if operation.http}
    calls |= {name: calls[nearly] for name, nearly in _NEARLY.items()} | {"extract_scenes": "POST /extract"}
    return {name: call.replace(" ", " /v1/projects/{project_id}", 1) for name, call in calls.items()}


_NEARLY = {"list_consolidations": "list_memories", "list_entity_changes": "list_author_changes"}


def invalid_request(wrong: Sequence[Mapping[str, Any]]) -> Problem:
    """Return the problem of a malformed request."""
    fields = [
        FieldProblem(
            where=".".join(str(part) for part in fields.get("loc", ()))[:LONGEST_VALUE],
            message=str(fields.get("msg", ""))[:LONGEST_VALUE],
            value=repr(fields.get("input"))[:LONGEST_VALUE],
        )
        for fields in wrong[:MAX_FIELDS]
    ]
    first = fields[0] if fields else FieldProblem(where="body", message="cannot be read")
    is_missing = bool(fields) and wrong[0].get("type") == "missing"
    text = f"{first.where} cannot be {first.value}: {first.message}; see /openapi.json"
    missing = f"{first.where} is missing; see /openapi.json"
    return problem_like("invalid-request", 422, missing if is_missing else text, errors=fields)


def problem_answer(problem: Problem, *, request_id: str = "", headers: Mapping[str, str] | None = None) -> Response:
    """Return the answer to a request that went wrong."""
    fields = problem.model_copy(update={"request_id": request_id}).model_dump()
    fields = {name: value for name, value in fields.items() if value is not None and (value or name != "errors")}
    response_headers = dict(headers or {})
    if problem.status in (429, 503):
        response_headers.setdefault("Retry-After", str(RETRY_AFTER_S))
    # Escaped, so that no text of a request can break the encoding.
    return Response(json.dumps(fields), status_code=problem.status, headers=response_headers, media_type=PROBLEM_TYPE)


class AnsweringRouter(APIRouter):
    """Router of use cases, with answers passed through `told`.

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
    def answer(**arguments: Any) -> Any:
        # The state of the server of a request, or of what it names.
        states = (getattr(value, "app_state", value) for value in arguments.values())
        app_state = next((app_state for app_state in states if hasattr(app_state, "secret_folders")), None)
        if app_state is None:
            return told(endpoint(**arguments))
        with app_state.telemetry.use_case(endpoint.__name__):
            return told(endpoint(**arguments), folders=app_state.secret_folders)

    return answer
