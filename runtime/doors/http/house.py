"""What the routes of a server share: the open stories, the jobs, and the model that speaks."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request
from langchain_core.language_models import BaseChatModel
from pydantic import BaseModel, ConfigDict, Field

from novelgen.errors import ConfigurationError, InvalidPositionError
from novelgen.models.position import StoryPosition
from runtime.context_chain import configured_chat_model
from runtime.doors.http.jobs import Jobs
from runtime.doors.http.kept_forms import KeptForms
from runtime.doors.http.problems import Refusal
from runtime.doors.http.settings import ServerSettings
from runtime.doors.http.telemetry import Telemetry
from runtime.doors.http.uploads import Uploads
from runtime.stores import MemoryStores
from runtime.story.base import StoryBase
from runtime.story.project_stores import ProjectStores
from runtime.story.projects import StoryProjects
from runtime.story.story import Story

UPLOADS_FOLDER = ".server/uploads"
"""Below the folder of the projects, beside the jobs."""

READS = {"x-novelgen-reads": True}
"""Marks a route that changes nothing although it is no GET: a read-only token opens it."""

LONGEST_SCENE = 2_000_000
"""Characters of a scene or a draft that a request may bring."""

_POSITION = r"^[0-9]{1,7}(:[0-9]{1,7})?$"


class House:
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

    def awaken(self, project_id: str, stores: MemoryStores) -> None:
        """Let a project's vector index start before the first search, whose time its start would use up."""
        if project_id not in self._awake:
            StoryBase(stores, project_id).await_index()
            self._awake.add(project_id)

    def forget(self, project_id: str) -> None:
        """Let go of what is kept of a project that is no more."""
        self.jobs.forget_project(project_id)
        self._awake.discard(project_id)

    def close(self) -> None:
        """End the jobs and close the stores."""
        self.jobs.close()
        self.stores.close()


class ServedProject:
    """A project that a request names; its stores are opened in the thread that uses them."""

    def __init__(self, house: House, project_id: str) -> None:
        self.house = house
        self.project_id = project_id

    @property
    def stores(self) -> MemoryStores:
        """The stores of the project."""
        stores = self.house.stores.of(self.project_id)
        StoryProjects(stores, self.project_id).require_project_files()
        return stores

    @property
    def story(self) -> Story:
        """The story of the project; errors are those of `stores`."""
        stores = self.stores
        self.house.awaken(self.project_id, stores)
        return Story(stores, self.project_id, chat_model=self.house.chat_model)

    def speaking_model(self) -> BaseChatModel:
        """Return the chat model that speaks for characters."""
        model = self.house.chat_model or configured_chat_model(self.stores.settings)
        if model is None:
            raise ConfigurationError(
                "no model that could speak; set NOVELGEN_MODEL to provider:model such as openai:gpt-4.1-mini"
            )
        return model


def house_of(request: Request) -> House:
    """Return what the server holds open."""
    house: House = request.app.state.house
    return house


async def _served(
    request: Request,
    project_id: Annotated[str, Path(min_length=1, max_length=400, description="The project.", examples=["my-novel"])],
) -> ServedProject:
    return ServedProject(house_of(request), project_id)


async def _house(request: Request) -> House:
    return house_of(request)


async def require_access(request: Request) -> None:
    """Refuse a write to who may only read."""
    route: Any = request.scope.get("route")
    is_read = (
        request.method in ("GET", "HEAD") or READS.items() <= (getattr(route, "openapi_extra", None) or {}).items()
    )
    if request.scope.get("access") == "read" and not is_read:
        raise Refusal(403, "read-only", "this token may only read; send the server's other token")


Project = Annotated[ServedProject, Depends(_served)]
TheHouse = Annotated[House, Depends(_house)]

PositionText = Annotated[
    str, Field(pattern=_POSITION, description="`3:2` is on entering scene 2 of chapter 3, `3` on entering chapter 3.")
]
AsOf = Annotated[
    str | None,
    Query(
        pattern=_POSITION,
        description="Only what lies strictly before this position: `3:2` is on entering scene 2 of chapter 3, `3` on "
        "entering chapter 3. Without it: the end of the story.",
        examples=["3:2"],
    ),
]
MomentText = Annotated[
    str,
    Field(
        max_length=40,
        description="`2:5` is turn 5 of session 2; else a time such as `2031-03-01T18:00:00Z`.",
        examples=["2:5"],
    ),
]
ChapterNumber = Annotated[int, Path(ge=0, le=1_000_000, description="The chapter.", examples=[3])]
SceneNumber = Annotated[int, Path(ge=0, le=1_000_000, description="The scene within its chapter.", examples=[1])]
EntityName = Annotated[
    str, Path(min_length=1, max_length=400, description="Id, name or alias; the id where a name holds a slash.")
]
MemoryId = Annotated[str, Path(min_length=1, max_length=400, description="The memory's chunk_id or source_id.")]


class Body(BaseModel):
    """The body of a request; a misspelt field is refused."""

    model_config = ConfigDict(extra="forbid")


def position(text: str | None) -> StoryPosition | None:
    """Return the position that a request names, or None."""
    return None if text is None else StoryPosition(*(int(part) for part in text.split(":")))


def moment(text: str | None) -> tuple[int, int] | datetime | None:
    """Return the moment that a request names, or None."""
    if text is None:
        return None
    if re.fullmatch(r"[0-9]{1,7}:[0-9]{1,7}", text):
        session, turn = text.split(":")
        return int(session), int(turn)
    try:
        told = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidPositionError(
            f"{text!r} is no moment; write session:turn such as 2:5, or a time such as 2031-03-01T18:00:00Z"
        ) from error
    return told if told.tzinfo else told.replace(tzinfo=UTC)
