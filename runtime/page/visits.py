"""What a visit to the page brings: the position in its address, a form in its body, and errors as pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Hashable, Mapping
from functools import cached_property
from typing import Annotated, Any, TypeVar
from urllib.parse import parse_qsl, quote

from fastapi import APIRouter, Depends, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response

from novelgen.errors import ConfigurationError, NovelgenError
from novelgen.models.context import SceneMemoryContext
from novelgen.models.position import StoryPosition
from runtime.doors.http.house import AsOf, Project, ServedProject, house_of
from runtime.doors.http.problems import Problem, Refusal, invalid_request, problem_of
from runtime.doors.http.uploads import KeptForm
from runtime.page.frame import Frame, Here, project_address
from runtime.search.kept_readings import KeptReadings
from runtime.story.extraction import build_extraction_model
from runtime.story.story import Story

FORM_TYPE = "application/x-www-form-urlencoded"

MAX_FORM_FIELDS = 200

MAX_SHOWN = 1000

_PLACE = re.compile(r"[0-9]{1,7}(?::[0-9]{1,7})?")

_BETWEEN_NAMES = re.compile(r"[,，、;；\n]")

_OWN_ADDRESS = re.compile(r"/(?:page/[^\\\s#]*)?")

MAX_KEPT = 16
"""So many answers about an opened project are kept for the next visit, until the project is written to."""

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
Answer = TypeVar("Answer")

_kept: KeptReadings[Any] = KeptReadings(MAX_KEPT)


class PageRoute(APIRoute):
    """Answers errors with a page that a person can read."""

    def get_route_handler(self) -> Handler:
        """Return the handler of the route."""
        handle = super().get_route_handler()

        async def handle_for_people(request: Request) -> Response:
            try:
                return await handle(request)
            except NovelgenError as error:
                folder = house_of(request).stores.settings.projects_dir
                return problem_page(request, problem_of(error, folders=[folder]))
            except RequestValidationError as error:
                return problem_page(request, invalid_request(error.errors()))
            except Refusal as refusal:
                return problem_page(request, refusal.problem)
            except HTTPException as error:
                problem = Problem(type="", title="", status=error.status_code, detail=str(error.detail))
                return problem_page(request, problem)

        return handle_for_people


class Visit:
    """A visit to a view of a project."""

    def __init__(self, request: Request, served: ServedProject, as_of: StoryPosition | None) -> None:
        self.request = request
        self.served = served
        self.as_of = as_of

    def kept(self, answer: Callable[..., Answer], **asked: Hashable) -> Answer:
        """Return what a use case tells of the project as of the position, kept from an earlier visit if it holds.

        It is for use cases that read the database alone; nobody may change what they answer.
        """
        given = {"as_of": self.as_of, **asked}
        told: Answer = _kept.read(
            self.served.stores,
            self.served.project_id,
            (answer.__module__, answer.__qualname__, frozenset(given.items())),
            read=lambda _: answer(self.story, **given),
        )
        return told

    @cached_property
    def story(self) -> Story:
        """The story of the project; its vector index starts with the first search."""
        return Story(self.served.stores, self.served.project_id, chat_model=self.served.house.chat_model)

    def here(self) -> Here:
        """Return the point of the story as of which the view tells."""
        return Here(self.as_of, tuple(self.story.scene_places()))

    def reading_model(self) -> dict[str, Any]:
        """Return the model that reads scenes, and why none can; nothing is asked of it."""
        settings = self.served.stores.settings
        trouble = ""
        try:
            build_extraction_model(settings, self.served.house.chat_model)
        except ConfigurationError as error:
            trouble = str(error)
        return {"model": settings.memory.summarization.model or settings.model or "", "trouble": trouble}

    def kept_form(self, key: str) -> KeptForm | None:
        """Return a form of the project that is kept under a key for a while."""
        return self.served.house.kept_forms.find(self.served.project_id, key)

    def keep_form(self, form: Mapping[str, str], context: SceneMemoryContext | None = None) -> str:
        """Keep a form, and the context that it gave, and return the key."""
        return self.served.house.kept_forms.keep(self.served.project_id, form, context)

    @property
    def standing(self) -> str:
        """The position as an address has it; empty at the end."""
        return "" if self.as_of is None else str(self.as_of)

    def address(self, view: str, /, **query: Any) -> str:
        """Return the address of a view of the project at the position; what is empty is left out of its query."""
        return project_address(self.served.project_id, view, as_of=self.standing, **query)

    def frame(self, view: str, here: Here | None = None) -> Frame:
        """Return the frame of a view's page."""
        return Frame(self.request, self.served.project_id, here or self.here(), view)


async def _visit(request: Request, served: Project, as_of: AsOf = None) -> Visit:
    position: Any = as_of
    served.house.prepare(served.project_id)
    return Visit(request, served, position)


async def _form(request: Request) -> dict[str, str]:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM_TYPE:
        raise Refusal(415, "invalid-request", f"the page sends forms as {FORM_TYPE}")
    body = (await request.body()).decode("utf-8", "replace")
    try:
        sent = parse_qsl(body, keep_blank_values=True, max_num_fields=MAX_FORM_FIELDS)
    except ValueError as error:
        raise Refusal(400, "invalid-request", f"a form of the page has at most {MAX_FORM_FIELDS} fields") from error
    return {name: value.replace("\r\n", "\n") for name, value in sent}


router = APIRouter(route_class=PageRoute, include_in_schema=False)
"""Every page of the page; the modules of its views add to it."""

Visited = Annotated[Visit, Depends(_visit)]
Form = Annotated[dict[str, str], Depends(_form)]
Known = Annotated[int | None, Query(ge=0, le=10_000_000, description="Where the slider was put.")]


Shown = Annotated[int, Query(ge=1, le=MAX_SHOWN, description="How many to show.")]
Offset = Annotated[int, Query(ge=0, le=10_000_000, description="How many to pass over.")]
Name = Annotated[str, Query(max_length=400)]


def number_in(form: Mapping[str, str], name: str) -> int | None:
    """Return a number of a form, or None where it was left empty."""
    told = form.get(name, "").strip()
    if not told:
        return None
    if not (told.isascii() and told.isdecimal() and len(told) <= 7):
        raise Refusal(422, "invalid-request", f"{name} {told[:50]!r} is no number of a chapter or scene; write 3")
    return int(told)


def place_in(form: Mapping[str, str], name: str) -> StoryPosition | None:
    """Return a place of the story of a form, or None where it was left empty."""
    return place_of(form.get(name, "").strip(), name)


def place_of(told: str, name: str) -> StoryPosition | None:
    """Return the place of the story that somebody wrote, or None where it is empty; raises as `place_in`."""
    if not told:
        return None
    if not _PLACE.fullmatch(told):
        raise Refusal(422, "invalid-request", f"{name} {told[:50]!r} is no place of the story; write 3:2, or 3")
    return StoryPosition(*map(int, told.split(":")))


def names_in(written: str) -> list[str]:
    """Return the names that somebody wrote one after the other, between commas of any script or on lines."""
    return [each.strip() for each in _BETWEEN_NAMES.split(written) if each.strip()]


def download(content: bytes, project_id: str, suffix: str, kind: str) -> Response:
    """Give a file of a project to be saved."""
    name = quote(f"{project_id}.{suffix}", safe="", errors="replace")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(content, media_type=kind, headers=headers)


def own_address(address: str) -> str:
    """Return an address if it is one of the page's own, else that of the first page: nobody is led elsewhere."""
    return address if _OWN_ADDRESS.fullmatch(address) else "/"


def problem_page(request: Request, problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """Return a page that tells what went wrong, and offers to try again where that may help."""
    page = Frame(request).page("problem", status=problem.status, problem=problem)
    page.headers.update(headers or {})
    return page


def scene_of(form: dict[str, str], here: Here) -> tuple[int, int]:
    """Return the scene that a form is about, never later than the page's position."""
    chapter_index, scene_index = number_in(form, "chapter"), number_in(form, "scene")
    if chapter_index is None or scene_index is None:
        return here.next_scene
    asked = (chapter_index, scene_index)
    return asked if here.as_of is None else min(asked, here.next_scene)
