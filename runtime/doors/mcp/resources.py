"""What can be read by address: contexts of scenes, cards, threads and the scenes; never a file's path."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp.types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference

from novelgen.errors import NovelgenError, UserInputError
from novelgen.models.position import StoryPosition
from runtime.doors.mcp import reading
from runtime.doors.mcp.answers import ProjectsAnswer, SceneContextAnswer
from runtime.doors.mcp.arguments import MAX_RESULTS, MAX_SCENES, position
from runtime.doors.mcp.shelf import OpenStory, Shelf

ROOT = "novelgen://projects"

MAX_COMPLETIONS = 100

JSON = "application/json"

Reader = Callable[..., Awaitable[str]]


def add_resources(server: MCPServer[Any], shelf: Shelf) -> None:
    """Let a server offer the resources of a shelf's stories, and complete what their addresses take."""
    offer = _Offer(server, shelf)
    offer.at(
        "{project}/scenes/{chapter}/{scene}/context",
        _context,
        title="Context of a scene",
        description="What the scene at that place must not contradict and should pick up, by the project's own plan of"
        " it; without one call build_scene_context.",
    )
    offer.at(
        "{project}/entities/{name}",
        _card,
        title="Card",
        description="Who a character or what a place or thing is, and how it stands. The name is an id, name or alias.",
        mime_type=JSON,
    )
    offer.at(
        "{project}/threads",
        _threads,
        title="Open threads",
        description="The questions, promises and threats that the story has opened and not ended.",
        mime_type=JSON,
    )
    offer.at(
        "{project}/scenes",
        _scenes,
        title="Stored scenes",
        description="The stored scenes with who was on stage and their summaries.",
        mime_type=JSON,
    )
    if shelf.project_id is None:

        @server.resource(ROOT, name="projects", title="Projects", description="The stories.", mime_type=JSON)
        async def projects() -> str:
            return await _told(shelf, lambda: ProjectsAnswer(projects=shelf.overviews()).as_text())

    @server.completion()
    async def complete(
        reference: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion:
        given = (context.arguments if context else None) or {}
        found = await shelf.run(functools.partial(_completions, shelf, argument.name, given.get("project")))
        wanted = argument.value.casefold()
        fitting = [each for each in found if wanted in each.casefold()]
        return Completion(values=fitting[:MAX_COMPLETIONS], total=len(fitting), has_more=len(fitting) > MAX_COMPLETIONS)


class _Offer:
    """Offers one body at the addresses of all projects, or at that of the only one."""

    def __init__(self, server: MCPServer[Any], shelf: Shelf) -> None:
        self._server = server
        self._shelf = shelf

    def at(
        self, path: str, body: Callable[..., str], *, title: str, description: str, mime_type: str = "text/plain"
    ) -> None:
        """Offer it."""
        shelf = self._shelf
        if shelf.project_id is not None and "{" not in path.replace("{project}", ""):
            address = f"{ROOT}/{path.replace('{project}', _in_address(shelf.project_id))}"

            async def read() -> str:
                return await _told(shelf, lambda: body(shelf.story()))

            self._server.resource(
                address, name=body.__name__[1:], title=title, description=description, mime_type=mime_type
            )(read)
            return
        self._server.resource(
            f"{ROOT}/{path}", name=body.__name__[1:], title=title, description=description, mime_type=mime_type
        )(_READERS[path.count("{")](shelf, body))


def _of_project(shelf: Shelf, body: Callable[..., str]) -> Reader:
    async def read(project: str) -> str:
        return await _told(shelf, lambda: body(shelf.story(project)))

    return read


def _of_entity(shelf: Shelf, body: Callable[..., str]) -> Reader:
    async def read(project: str, name: str) -> str:
        return await _told(shelf, lambda: body(shelf.story(project), name))

    return read


def _of_scene(shelf: Shelf, body: Callable[..., str]) -> Reader:
    async def read(project: str, chapter: str, scene: str) -> str:
        return await _told(shelf, lambda: body(shelf.story(project), chapter, scene))

    return read


_READERS = {1: _of_project, 2: _of_entity, 3: _of_scene}
"""By how much an address takes."""


def _context(here: OpenStory, chapter: str, scene: str) -> str:
    place = position(f"{chapter}:{scene}") or StoryPosition()
    context = here.story.context(place.chapter_index or 0, place.scene_index or 0)
    return SceneContextAnswer.of(context).as_text()


def _card(here: OpenStory, name: str) -> str:
    return reading.get_entity_card(here, entity=name).as_text()


def _threads(here: OpenStory) -> str:
    return reading.list_threads(here, limit=MAX_RESULTS).as_text()


def _scenes(here: OpenStory) -> str:
    return reading.list_scenes(here, limit=MAX_SCENES).as_text()


async def _told(shelf: Shelf, read: Callable[[], str]) -> str:
    try:
        return await shelf.run(read)
    except UserInputError as error:
        raise ResourceNotFoundError(shelf.told(error)) from error
    except NovelgenError as error:
        raise ResourceError(shelf.told(error)) from error


def _completions(shelf: Shelf, argument: str, project: str | None) -> list[str]:
    """Return what an argument could be; nothing where the story that it depends on is not known."""
    try:
        if argument == "project":
            return [each.project_id for each in shelf.overviews()]
        if argument in ("name", "pov"):
            found = shelf.story(project).story.entities("character" if argument == "pov" else None)
            return [each.name for each in found]
    except NovelgenError:
        return []
    return []


def _in_address(project_id: str) -> str:
    return quote(project_id, safe="")
