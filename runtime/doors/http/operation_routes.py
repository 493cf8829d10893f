"""Routes made of the table of operations: what stands in the path, the query and the body, and what is answered."""

from __future__ import annotations

import inspect
import re
from typing import Annotated, Any

from fastapi import Body as InBody
from fastapi import Path, Query, Request, Response
from pydantic import create_model

from novelgen.models.context import SceneMemoryContext
from novelgen.models.position import StoryPosition
from runtime.doors.arguments import Arguments, arguments_of, values_of
from runtime.doors.http.answering import AnsweringRouter, told
from runtime.doors.http.house import READS, ChapterNumber, EntityName, Project, SceneNumber
from runtime.doors.operations import OPERATIONS, Operation
from runtime.writer import context_json

PREFIX = "/v1/projects/{project_id}"

PROMPT_TYPE = "text/plain"

_PLACE: dict[str, Any] = {"chapter_index": ChapterNumber, "scene_index": SceneNumber}


def operation_routes() -> AnsweringRouter:
    """Return a router with a route for each operation."""
    router = AnsweringRouter(prefix=PREFIX)
    for operation in OPERATIONS:
        verb, _, path = operation.http.partition(" ")
        router.add_api_route(
            path,
            _endpoint(operation, verb, path),
            methods=[verb],
            status_code=operation.status,
            response_model=operation.result,
            responses={200: {"content": {PROMPT_TYPE: {"schema": {"type": "string"}}}}} if operation.has_prompt else {},
            tags=list(operation.tags),
            openapi_extra=READS if operation.is_read else None,
        )
    return router


def _endpoint(operation: Operation, verb: str, path: str) -> Any:
    """Return the function of a route, with the signature that FastAPI reads."""
    model = arguments_of(operation.function, (*operation.without, *operation.fixed))
    in_path = re.findall(r"{(\w+)}", path)
    rest: dict[str, Any] = {
        name: (info.annotation, info)
        for name, info in model.model_fields.items()
        if name not in in_path and name != operation.position
    }
    if operation.may_create:
        rest["create"] = (bool, InBody(default=False, description="Make who is not there yet, and the project."))
    name = "".join(each.capitalize() for each in operation.name.split("_"))
    others = create_model(f"{name}Request", __base__=Arguments, **rest) if rest else None

    def endpoint(project: Project, request: Request, **given: Any) -> Any:
        sent = given.pop("sent", None)
        values = {**operation.fixed, **given, **({} if sent is None else values_of(sent))}
        if operation.position:
            values[operation.position] = StoryPosition(values.pop("chapter_index"), values.pop("scene_index"))
        doer: Any
        if operation.is_of_character:
            create = values.pop("create", False)
            if create:
                project.house.stores.of(project.project_id).ensure_project(project.project_id)
            doer = project.story.character(values.pop("character"), create=create)
        else:
            doer = operation.part(project.stores, project.project_id, chat_model=project.house.chat_model)
        result = operation.function(doer, **values)
        return _written(result, project, request) if operation.has_prompt else operation.answer(result)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("project", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Project),
        inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Request),
    ]
    for each in in_path:
        if operation.is_of_character and each == "character":
            annotation: Any = EntityName
        else:
            annotation = _PLACE[each] if operation.position else _path_parameter(model, each)
        parameters.append(inspect.Parameter(each, keyword, annotation=annotation))
    if others is not None:
        source = Query() if verb in ("GET", "DELETE") else InBody()
        is_optional = verb not in ("GET", "DELETE") and all(
            not each.is_required() for each in others.model_fields.values()
        )
        default = others() if is_optional else inspect.Parameter.empty
        parameters.append(inspect.Parameter("sent", keyword, annotation=Annotated[others, source], default=default))
    endpoint.__name__ = operation.name
    endpoint.__doc__ = (inspect.getdoc(operation.function) or "").partition("\n\nArgs:")[0]
    endpoint.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return endpoint


def _path_parameter(model: type[Arguments], name: str) -> Any:
    info = model.model_fields[name]
    return Annotated[info.annotation, *info.metadata, Path(description=info.description)]


def _written(result: Any, project: Project, request: Request) -> Response:
    """Return what can be a block for a prompt: as one where that is asked for, and not JSON, else as its file is."""
    accepted = [each.partition(";")[0].strip() for each in request.headers.get("accept", "").split(",")]
    if PROMPT_TYPE in accepted and "application/json" not in accepted:
        return Response(result.as_prompt(), media_type=f"{PROMPT_TYPE}; charset=utf-8")
    headers = {}
    if isinstance(result, SceneMemoryContext) and result.report is not None and result.report.story_version is not None:
        headers["ETag"] = f'"{result.report.story_version}"'
    result = told(result, folders=project.house.secret_folders)
    text = context_json(result) if isinstance(result, SceneMemoryContext) else result.model_dump_json()
    return Response(text, media_type="application/json", headers=headers)
