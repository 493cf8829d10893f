"""The HTTP application: routes over the stories, behind a gate, with errors as problems, and the document of it all.

Agents come by a door of their own, MCP over streamable HTTP, behind the same gate as every route.
"""

import importlib
import importlib.util
import json
import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from langchain_core.language_models import BaseChatModel
from opentelemetry.trace import TracerProvider
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from novelgen import __version__
from novelgen.errors import NovelgenError
from novelgen.words.messages import message_in
from runtime.doors.http import problems
from runtime.doors.http.app_state import AppState
from runtime.doors.http.gate import AGENTS_PATH, Gate, IdempotencyCache
from runtime.doors.http.jobs import Jobs
from runtime.doors.http.routes import OWN_ROUTERS, offer_work, operation_routes
from runtime.doors.http.settings import ServerSettings
from runtime.doors.http.telemetry import NOT_FASTAPIS, Telemetry
from runtime.doors.http.turns import RequestQueue
from runtime.page import routes as page
from runtime.page.check import offer_draft_work
from runtime.page.frame import language_wished
from runtime.page.visits import problem_page
from runtime.story.projects import ProjectStores


class AgentDoor:
    """Answers MCP requests over the stories of a app_state: those with a reading token are offered nothing that writes.

    A request stands by itself, without a session, so that a restart of the server breaks no client. The SDK is loaded
    when the first agent comes.
    """

    def __init__(self, app_state: AppState) -> None:
        self._app_state = app_state
        self._servers: dict[str, Any] = {}
        self._building = threading.Lock()
        self.route = Route(AGENTS_PATH, endpoint=self, methods=["POST"], name="mcp")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        scope["route"] = self.route
        if importlib.util.find_spec("mcp") is None:
            raise problems.Refusal(
                404, "unknown-route", "this server has no MCP; run pip install 'novelgen[mcp]' and start it again"
            )
        server = await anyio.to_thread.run_sync(self._server, scope.get("access", "read"))
        manager = self._code.build_session_manager(server, body_bytes=self._app_state.settings.limits.body_bytes)
        ended_error: Exception | None = None
        async with manager.run():
            try:
                await manager.handle_request(scope, receive, send)
            except (ClientDisconnect, problems.Refusal) as error:
                # Agents go away in the middle of a request; nobody is left to be answered.
                ended_error = error
        if isinstance(ended_error, problems.Refusal):
            raise ended_error

    @cached_property
    def _code(self) -> Any:
        # Late, as `novelgen[server]` does not bring the SDK.
        return importlib.import_module("runtime.doors.mcp.server")

    def _server(self, access: str) -> Any:
        with self._building:
            if access not in self._servers:
                shelf = self._code.Shelf(self._app_state.stores, chat_model=self._app_state.chat_model)
                self._servers[access] = self._code.build_mcp_server(shelf, is_read_only=access == "read")
            return self._servers[access]


EXAMPLES_FILE = Path(__file__).with_name("examples.json")


@cache
def examples() -> dict[str, dict[str, Any]]:
    """Return request and response examples by operation id."""
    fields: dict[str, dict[str, Any]] = json.loads(EXAMPLES_FILE.read_text(encoding="utf-8"))
    return fields


def with_examples(document: dict[str, Any]) -> dict[str, Any]:
    """Return an OpenAPI document with an example of each operation's request and answer."""
    examples_by_name = examples() if EXAMPLES_FILE.exists() else {}
    for operations in document["paths"].values():
        for operation in operations.values():
            example = examples_by_name.get(operation["operationId"])
            if example is None:
                continue
            for parameter in operation.get("parameters", ()):
                if parameter["name"] in example.get("parameters", {}):
                    parameter["example"] = example["parameters"][parameter["name"]]
            for kind, content in operation.get("requestBody", {}).get("content", {}).items():
                if "request" in example and kind in ("application/json", "text/plain"):
                    content["example"] = example["request"]
            for status, answer in operation["responses"].items():
                for kind, content in answer.get("content", {}).items():
                    if status.startswith("2") and kind in example.get("response", {}):
                        content["example"] = example["response"][kind]
    return document


JOBS_FOLDER = ".server/jobs"
"""Below the folder of the projects; no project can have such a name."""

CLOSING_S = 1.0
"""Longest wait for jobs and stores at the end: an index that is at work ends by itself when this process is gone."""

logger = logging.getLogger(__name__)


def build_app(
    stores: ProjectStores,
    settings: ServerSettings | None = None,
    *,
    chat_model: BaseChatModel | None = None,
    tracer_provider: TracerProvider | None = None,
) -> FastAPI:
    """Build the application over stores, closed at its end.

    Without settings it serves this machine alone.
    """
    settings = settings or ServerSettings()
    projects_dir = stores.settings.projects_dir
    all_jobs = Jobs(projects_dir / JOBS_FOLDER, limits=settings.limits, secret_folders=(projects_dir,))
    telemetry = Telemetry(lambda: [job.state for job in all_jobs.list()], tracer_provider=tracer_provider)
    app_state = AppState(stores, settings, all_jobs, telemetry=telemetry, chat_model=chat_model)
    offer_work(app_state)
    offer_draft_work(app_state)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        app_state.jobs.load()
        yield
        with anyio.move_on_after(CLOSING_S) as closing:
            await anyio.to_thread.run_sync(app_state.close, abandon_on_cancel=True)
        if closing.cancelled_caught:
            logger.warning("not everything closed within %g s; the next start puts the indexes right", CLOSING_S)

    app = FastAPI(
        title="novelgen",
        version=__version__,
        summary="A story memory for long fiction.",
        description="Positions are `3:2` (on entering scene 2 of chapter 3) or `3`; what is read at one lies strictly "
        "before it. Errors are `application/problem+json` with a stable `type`.",
        # Their pages load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
        **NOT_FASTAPIS,
    )
    app.state.novelgen = app_state
    for router in (*OWN_ROUTERS, page.router, operation_routes()):
        app.router.routes.extend(router.routes)
    app.router.routes.append(AgentDoor(app_state).route)
    _answer_problems(app, app_state)
    _describe(app)
    # The last one added is the outermost.
    app.add_middleware(IdempotencyCache)
    app.add_middleware(RequestQueue, limits=settings.limits)
    app.add_middleware(Gate, settings=settings, telemetry=telemetry, answer=refused)
    return app


def _answer_problems(app: FastAPI, app_state: AppState) -> None:
    folders = [app_state.stores.settings.projects_dir]

    async def of_the_tree(request: Request, error: Exception) -> Response:
        assert isinstance(error, NovelgenError)
        return _answer(request, problems.problem_of(error, folders=folders))

    async def of_the_request(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return _answer(request, problems.invalid_request(error.errors()))

    async def of_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if isinstance(error, problems.Refusal):
            return refused(request, error)
        kind = {404: "unknown-route", 405: "wrong-method"}.get(error.status_code, "invalid-request")
        text = f"{error.detail}; /openapi.json lists every route and what it takes"
        problem = problems.problem_like(kind, error.status_code, text)
        headers = dict(error.headers or {})
        if error.status_code == 405:
            # The first route of a path names its own method alone.
            headers["Allow"] = ", ".join(
                method
                for method in ("DELETE", "GET", "PATCH", "POST", "PUT")
                if any(
                    base_route.matches({**request.scope, "method": method})[0] is Match.FULL
                    for base_route in app.routes
                )
            )
        return _answer(request, problem, headers)

    async def of_a_bug(request: Request, error: Exception) -> Response:
        bug = problems.Refusal(500, "bug", "a bug in novelgen; the server's log has more under the request's id")
        return refused(request, bug)

    app.add_exception_handler(NovelgenError, of_the_tree)
    app.add_exception_handler(RequestValidationError, of_the_request)
    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(Exception, of_a_bug)


def refused(request: Request, refusal: problems.Refusal) -> Response:
    """Answer a request that the server itself refuses."""
    return _answer(request, refusal.problem, dict(refusal.headers or {}))


def _answer(request: Request, problem: problems.Problem, headers: dict[str, str] | None = None) -> Response:
    """Answer with a problem, as a page for browsers and JSON for programs."""
    is_person = "text/html" in request.headers.get("accept", "") and not request.scope["path"].startswith("/v1/")
    # A host that is none of ours may be no host at all, and a page has an address.
    if is_person and problem.status != 421:
        if problem.type == problems.problem_type("unknown-route"):
            problem = problem.model_copy(update={"detail": "there is no page at this address"})
        return problem_page(request, problem, headers)
    language = language_wished(request.headers.get("accept-language", ""))
    rendered_problem = problem.model_copy(update={"detail": message_in(problem.detail, language)})
    return problems.problem_answer(rendered_problem, request_id=request.scope.get("request_id", ""), headers=headers)


def _describe(app: FastAPI) -> None:
    """Let the OpenAPI document tell of problems, tokens and examples."""
    plain = app.openapi

    def describe() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = plain()
            schemas = document.setdefault("components", {}).setdefault("schemas", {})
            problem = problems.Problem.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas.update(problem.pop("$defs", {}))
            schemas["Problem"] = problem
            document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            document["security"] = [{}, {"token": []}]
            _tell_pairs_plainly(schemas)
            app.openapi_schema = with_examples(document)
        return app.openapi_schema

    app.openapi = describe  # type: ignore[method-assign]


def _tell_pairs_plainly(schema: Any) -> None:
    """Describe uniform tuples as arrays, since few client generators know `prefixItems`."""
    if isinstance(schema, dict):
        parts = schema.get("prefixItems")
        if isinstance(parts, list) and parts and all(part == parts[0] for part in parts):
            schema["items"] = schema.pop("prefixItems")[0]
        for item in schema.values():
            _tell_pairs_plainly(item)
    elif isinstance(schema, list):
        for item in schema:
            _tell_pairs_plainly(item)
