"""Shared state of the routes: stories, jobs and the speaking model."""

import contextlib
import threading
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request
from langchain_core.language_models import BaseChatModel
from pydantic import WithJsonSchema

from novelgen.errors import ConfigurationError, NovelgenError
from novelgen.models.position import GREATEST_INDEX
from runtime.context_chain import configured_chat_model
from runtime.doors.arguments import Chapter, PositionText
from runtime.doors.http.jobs import Jobs
from runtime.doors.http.problems import PROBLEM_TYPE, Refusal
from runtime.doors.http.settings import ServerSettings
from runtime.doors.http.telemetry import Telemetry
from runtime.doors.http.uploads import KeptForms, Uploads
from runtime.stores import MemoryStores
from runtime.story.base import await_index
from runtime.story.projects import ProjectStores, StoryProjects
from runtime.story.story import Story

UPLOADS_FOLDER = ".server/uploads"
"""Below the folder of the projects, beside the jobs."""

READS = {"x-novelgen-reads": True}
"""Marks a route that changes nothing although it is no GET: a read-only token opens it."""


class AppState:
    """Everything that a server holds open."""

    def __init__(
        self,
        stores: ProjectStores,
        settings: ServerSettings,
        jobs: Jobs,
        *,
        telemetry: Telemetry,
        chat_model: BaseChatModel | None = None,
    ) -> None:
        self.stores = stores
        self.settings = settings
        self.jobs = jobs
        self.telemetry = telemetry
        self.chat_model = chat_model
        self.kept_forms = KeptForms()
        self.uploads = Uploads(stores.settings.projects_dir / UPLOADS_FOLDER)
        self.secret_folders = (stores.settings.projects_dir,)
        """Folders of this machine of which nobody is told even the name."""
        self._awake: set[str] = set()
        self.is_early = False
        """Whether a visit to a project makes ready beside it what the next pages need; set where many are to come."""
        self._prepared: set[str] = set()

    def awaken(self, project_id: str, stores: MemoryStores) -> None:
        """Start a project's vector index before its first search."""
        if project_id not in self._awake:
            await_index(stores, project_id)
            self._awake.add(project_id)

    def prepare(self, project_id: str) -> None:
        """Prepare a project's index and text names beside its first page."""
        if self.is_early and project_id not in self._prepared:
            self._prepared.add(project_id)
            for step in (self._prepare_names, self._prepare_index):
                threading.Thread(target=step, args=(project_id,), name="prepare-project", daemon=True).start()

    # Whatever is wrong is told by the page that needs it.

    def _prepare_names(self, project_id: str) -> None:
        with contextlib.suppress(NovelgenError):
            Story(self.stores.of(project_id), project_id).candidates.list()

    def _prepare_index(self, project_id: str) -> None:
        with contextlib.suppress(NovelgenError):
            self.awaken(project_id, self.stores.of(project_id))

    def forget(self, project_id: str) -> None:
        """Drop the cached state of a deleted project."""
        self.jobs.forget_project(project_id)
        self._awake.discard(project_id)
        self._prepared.discard(project_id)

    def close(self) -> None:
        """End the jobs and close the stores."""
        self.jobs.close()
        self.stores.close()


class ServedProject:
    """A requested project, opened in the thread that uses it."""

    def __init__(self, app_state: AppState, project_id: str) -> None:
        self.app_state = app_state
        self.project_id = project_id

    @property
    def stores(self) -> MemoryStores:
        """The stores of the project."""
        stores = self.app_state.stores.of(self.project_id)
        StoryProjects(stores, self.project_id).require_project_files()
        return stores

    @property
    def story(self) -> Story:
        """The project's story, with the errors of `stores`."""
        stores = self.stores
        self.app_state.awaken(self.project_id, stores)
        return Story(stores, self.project_id, chat_model=self.app_state.chat_model)

    def speaking_model(self) -> BaseChatModel:
        """Return the chat model that speaks for characters."""
        model = self.app_state.chat_model or configured_chat_model(self.stores.settings)
        if model is None:
            raise ConfigurationError(
                "no model that could speak; set NOVELGEN_MODEL to provider:model such as openai:gpt-4.1-mini"
            )
        return model


def app_state_of(request: Request) -> AppState:
    """Return the server's open state."""
    app_state: AppState = request.app.state.novelgen
    return app_state


async def _served(
    request: Request,
    project_id: Annotated[str, Path(min_length=1, max_length=400, description="The project.", examples=["my-novel"])],
) -> ServedProject:
    return ServedProject(app_state_of(request), project_id)


async def _app_state(request: Request) -> AppState:
    return app_state_of(request)


async def require_access(request: Request) -> None:
    """Reject a write by a read-only caller."""
    route: Any = request.scope.get("route")
    is_read = (
        request.method in ("GET", "HEAD") or READS.items() <= (getattr(route, "openapi_extra", None) or {}).items()
    )
    if request.scope.get("access") == "read" and not is_read:
        raise Refusal(403, "read-only", "this token may only read; send the server's other token")


EVERY_ROUTE: dict[str, Any] = {
    "dependencies": [Depends(require_access)],
    "responses": {
        "default": {
            "description": "What went wrong.",
            "content": {PROBLEM_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
    },
    "generate_unique_id_function": lambda route: route.name,
}
"""Options of all routers. An application takes their routes as they are: to include a router builds each anew."""

Project = Annotated[ServedProject, Depends(_served)]
TheHouse = Annotated[AppState, Depends(_app_state)]

AsOf = Annotated[PositionText | None, Query(description="Only what lies strictly before this position of the story.")]
ChapterNumber = Annotated[
    Chapter,
    Path(description="The chapter; its heading, such as 第8章, will do.", examples=[3]),
    WithJsonSchema({"type": "integer", "minimum": 0, "maximum": GREATEST_INDEX}),
]
"""Described as a number, which is what generated clients can put into a path."""
SceneNumber = Annotated[int, Path(ge=0, le=1_000_000, description="The scene within its chapter.", examples=[1])]
EntityName = Annotated[
    str, Path(min_length=1, max_length=400, description="Id, name or alias; the id where a name holds a slash.")
]
