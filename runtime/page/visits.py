"""Input of a page visit: position, form and error pages."""

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

from novelgen.errors import NovelgenError
from novelgen.language.name_lists import split_names
from novelgen.models.context import SceneMemoryContext
from novelgen.models.position import END_OF_STORY, StoryPosition
from runtime.doors.http.app_state import EVERY_ROUTE, AsOf, Project, ServedProject, app_state_of
from runtime.doors.http.problems import Problem, Refusal, invalid_request, problem_of
from runtime.doors.http.uploads import KeptForm
from runtime.page.frame import VIEWS, Frame, Here
from runtime.page.typed_again import typed_again
from runtime.search.kept_readings import KeptReadings, last_write_of
from runtime.story.base import chapter_names_of, entity_names
from runtime.story.projects import StoryProjects
from runtime.story.story import Story

FORM_TYPE = "application/x-www-form-urlencoded"

MAX_FORM_FIELDS = 200

MAX_SHOWN = 1000

_PLACE = re.compile(r"[0-9]{1,7}(?::[0-9]{1,7})?")

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
            except (NovelgenError, RequestValidationError, HTTPException) as error:
                problem = problem_in(request, error)
                form = await _form(request) if _is_form(request) else {}
                return typed_again(Frame(request), form, problem) or problem_page(request, problem)

        return handle_for_people


def problem_in(request: Request, error: NovelgenError | RequestValidationError | HTTPException) -> Problem:
    """Return an error's problem for people."""
    if isinstance(error, NovelgenError):
        return problem_of(error, folders=app_state_of(request).secret_folders)
    if isinstance(error, RequestValidationError):
        return invalid_request(error.errors())
    if isinstance(error, Refusal):
        return error.problem
    return Problem(type="", title="", status=error.status_code, detail=str(error.detail))


_WITHIN = {"card": "cards", "who-is-who": "cards", "lore": "cards", "reading": "health"}
"""What lies within a view of another name."""


class Visit(Frame):
    """A visit to a view of a project."""

    def __init__(self, request: Request, served: ServedProject, as_of: StoryPosition | None) -> None:
        super().__init__(request, served.project_id)
        self.served = served
        self.as_of = as_of
        place = request.scope["route"].path.split("/")[4]
        self.view = place if place in VIEWS else _WITHIN.get(place, VIEWS[0])

    def kept(self, answer: Callable[..., Answer], **arguments: Hashable) -> Answer:
        """Return a cached result of a use case at the position.

        It is for use cases that read the database alone; nobody may change what they answer.
        """
        hashables_by_id = {"as_of": self.as_of, **arguments}
        key = (answer.__module__, answer.__qualname__, frozenset(hashables_by_id.items()))
        stores, project_id = self.served.stores, self.served.project_id
        last_write = last_write_of(stores, project_id)
        rendered_answer: Answer = _kept.read(
            stores, project_id, key, last_write=last_write, read=lambda _: answer(**hashables_by_id)
        )
        return rendered_answer

    @cached_property
    def story(self) -> Story:
        """The project's story.

        Its vector index starts with the first search.
        """
        return Story(self.served.stores, self.served.project_id, chat_model=self.served.app_state.chat_model)

    @cached_property
    def project_title(self) -> str:
        """The project's title, or its id where it has none."""
        return StoryProjects(self.served.stores, self.project_id).title_of_project()

    def names_in(self, written: str) -> list[str]:
        """Return the names of a text, between commas of any script or on lines."""
        return split_names([written], self.story.entities.list())

    def names(self) -> dict[str, str]:
        """Return display names of the entities by id, as of the position."""
        return self.kept(self._read_names)

    def _read_names(self, *, as_of: StoryPosition | None) -> dict[str, str]:
        return entity_names(self.served.stores, self.served.project_id, as_of=as_of)

    @cached_property
    def here(self) -> Here:
        """The point of the story as of which the view tells."""
        names = chapter_names_of(self.served.stores, self.served.project_id)
        return Here(self.as_of, tuple(names.places), names)

    def blank(self, *fields: str) -> dict[str, str]:
        """Return a form for the scene that would be written at the position, with these fields empty."""
        chapter_index, scene_index = self.here.next_scene
        return {"chapter": str(chapter_index), "scene": str(scene_index), **dict.fromkeys(fields, "")}

    def asked_scene(self, form: Mapping[str, str]) -> tuple[int, int]:
        """Return the form's scene, or the next one to write."""
        chapter_index, scene_index = number_in(form, "chapter"), number_in(form, "scene")
        return self.here.next_scene if chapter_index is None or scene_index is None else (chapter_index, scene_index)

    def scene_of(self, form: Mapping[str, str]) -> tuple[int, int]:
        """Return the scene that a form is about, never later than the position."""
        asked_place = self.asked_scene(form)
        return asked_place if self.as_of is None else min(asked_place, self.here.next_scene)

    def kept_form(self, key: str) -> KeptForm | None:
        """Return a form of the project that is kept under a key for a while."""
        return self.served.app_state.kept_forms.find(self.served.project_id, key)

    def keep_form(self, form: Mapping[str, str], context: SceneMemoryContext | None = None) -> str:
        """Keep a form, and the context that it gave, and return the key."""
        return self.served.app_state.kept_forms.keep(self.served.project_id, form, context)

    @property
    def until(self) -> StoryPosition:
        """The position with an explicit end.

        There, cards show names with scenes.
        """
        return self.as_of or END_OF_STORY


async def _visit(request: Request, served: Project, as_of: AsOf = None) -> Visit:
    position: Any = as_of
    served.app_state.prepare(served.project_id)
    return Visit(request, served, position)


def _is_form(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() == FORM_TYPE


async def _form(request: Request) -> dict[str, str]:
    if not _is_form(request):
        raise Refusal(415, "invalid-request", f"the page sends forms as {FORM_TYPE}")
    body = (await request.body()).decode("utf-8", "replace")
    try:
        form_pairs = parse_qsl(body, keep_blank_values=True, max_num_fields=MAX_FORM_FIELDS)
    except ValueError as error:
        raise Refusal(400, "invalid-request", f"a form of the page has at most {MAX_FORM_FIELDS} fields") from error
    return {name: value.replace("\r\n", "\n") for name, value in form_pairs}


router = APIRouter(route_class=PageRoute, include_in_schema=False, **EVERY_ROUTE)
"""Every page of the page; the modules of its views add to it."""

Visited = Annotated[Visit, Depends(_visit)]
Form = Annotated[dict[str, str], Depends(_form)]
Shown = Annotated[int, Query(ge=1, le=MAX_SHOWN, description="How many to show.")]
Offset = Annotated[int, Query(ge=0, le=10_000_000, description="How many to pass over.")]
Name = Annotated[str, Query(max_length=400)]


def number_in(form: Mapping[str, str], name: str) -> int | None:
    """Return a number of a form, or None where it was left empty."""
    text = form.get(name, "").strip()
    if not text:
        return None
    if not (text.isdecimal() and len(text) <= 7):
        raise Refusal(422, "invalid-request", f"{name} {text[:50]!r} is no number of a chapter or scene; write 3")
    return int(text)


def place_in(form: Mapping[str, str], name: str) -> StoryPosition | None:
    """Return a place of the story of a form, or None where it was left empty."""
    text = form.get(name, "").strip()
    if not text:
        return None
    if not _PLACE.fullmatch(text):
        raise Refusal(422, "invalid-request", f"{name} {text[:50]!r} is no place of the story; write 3:2, or 3")
    return StoryPosition(*map(int, text.split(":")))


def download(content: bytes, project_id: str, suffix: str, kind: str) -> Response:
    """Give a file of a project to be saved."""
    name = quote(f"{project_id}.{suffix}", safe="", errors="replace")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(content, media_type=kind, headers=headers)


def problem_page(request: Request, problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """Return an error page, with a retry where it may help."""
    page = Frame(request).page("problem", status=problem.status, problem=problem)
    page.headers.update(headers or {})
    return page
