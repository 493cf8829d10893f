"""Routes made of the table of operations: what stands in the path, the query and the body, and what is answered."""

from __future__ import annotations

import inspect
import re
from typing import Annotated, Any

from fastapi import Body as InBody
from fastapi import Path, Query
from pydantic import create_model

from novelgen.models.position import StoryPosition
from runtime.doors.arguments import Arguments, arguments_of, values_of
from runtime.doors.http.answering import AnsweringRouter
from runtime.doors.http.house import READS, ChapterNumber, Project, SceneNumber
from runtime.doors.operations import OPERATIONS, Operation

PREFIX = "/v1/projects/{project_id}"

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
            tags=list(operation.tags),
            openapi_extra=READS if operation.is_read else None,
        )
    return router


def _endpoint(operation: Operation, verb: str, path: str) -> Any:
    """Return the function of a route, with the signature that FastAPI reads."""
    model = arguments_of(operation.function, operation.without)
    in_path = re.findall(r"{(\w+)}", path)
    rest = {
        name: (info.annotation, info)
        for name, info in model.model_fields.items()
        if name not in in_path and name != operation.position
    }
    fields: dict[str, Any] = dict(rest)
    others = (
        create_model(model.__name__.replace("_arguments", "Request"), __base__=Arguments, **fields) if rest else None
    )

    def endpoint(project: Project, **given: Any) -> Any:
        sent = given.pop("sent", None)
        values = {**given, **({} if sent is None else values_of(sent))}
        if operation.position:
            values[operation.position] = StoryPosition(values.pop("chapter_index"), values.pop("scene_index"))
        part = operation.part(project.stores, project.project_id, chat_model=project.house.chat_model)
        return operation.answer(operation.function(part, **values))

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("project", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Project)]
    for each in in_path:
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
