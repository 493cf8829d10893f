"""The desk for the next chapter: plan, context, text, check, storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from starlette.responses import RedirectResponse, Response

from novelgen.errors import NovelgenError, UnknownEntityError, UserInputError
from novelgen.models.continuity import DraftCheck
from novelgen.models.entity import EntityType
from runtime.doors.http.app_state import READS
from runtime.doors.http.jobs import OVER, Job
from runtime.doors.http.problems import Problem, Refusal
from runtime.files.chapter_names import NEXT
from runtime.page.check import checked_draft, draft_job, draft_text, has_model, start_draft_work, with_waivers
from runtime.page.context import NAMES_OFFERED, PLAN_FIELDS, built_context, context_parts, is_planned
from runtime.page.forms import led_back
from runtime.page.frame import project_address
from runtime.page.visits import Form, Visit, Visited, number_in, problem_in, router
from runtime.story.base import entity_of_name_or_part, place_of_name
from runtime.story.text_placing import StoredPlace, split_title

WRITE_FIELDS = (*PLAN_FIELDS, "title", "text", "with_model")
"""The fields of the view, beside the place of the scene."""

FEWEST_SCENES = 2
"""So many scenes of a text are named one by one, more by the first and the last."""


@router.get("/page/projects/{project_id}/write")
def write_page(visit: Visited, kept: str = "", show: str = "", job: str = "") -> Response:
    """Show an empty or a kept desk, with its context or check."""
    form = visit.blank(*WRITE_FIELDS)
    matching_form = visit.kept_form(kept) if kept else None
    if matching_form is None:
        return _page(visit, form, is_gone=bool(kept))
    form |= {name: value for name, value in matching_form.form.items() if name in form}
    return _show_desk(visit, form, show, kept_text=kept, job=draft_job(visit, job) if job else None)


@router.post("/page/projects/{project_id}/write", openapi_extra=READS)
def write_on(visit: Visited, form: Form) -> Response:
    """Redirect to the desk with the requested context or check."""
    form_values = _fill_form(visit, form)
    show = "check" if form.get("do") == "check" else "context"
    try:
        visit.scene_of(form_values)
        job = None
        if show == "check":
            draft_text(form_values)
            if form_values["with_model"] and has_model(visit):
                job = start_draft_work(visit, form_values, "check")
        elif not is_planned(form_values):
            raise UserInputError("the plan is empty; say at least who appears, where, or what the scene is for")
    except (NovelgenError, Refusal) as error:
        return _page(visit, form_values, problem=problem_in(visit.request, error))
    key = visit.keep_form(form_values)
    if visit.kept_form(key) is None:
        return _show_desk(visit, form_values, show, job=job)
    address = visit.link("write", kept=key, show=show, job="" if job is None else job.job_id)
    return RedirectResponse(f"{address}#beside", status_code=303)


@router.post("/page/projects/{project_id}/write/store")
def store_written(visit: Visited, form: Form) -> Response:
    """Store the text as the next chapter, or where nothing stands; nothing that is stored is replaced."""
    form_values = _fill_form(visit, form)
    try:
        staging = _read_staging(visit, form_values)
        fields: dict[str, Any] = {"at": _free_place(visit, form_values), "title": form_values["title"].strip()}
        text = draft_text(form_values)
        statements = staging.statements
        if statements and (place := visit.story.scenes.store_text(text, **fields, dry_run=True).place):
            statements = statements if place.scenes == 1 else {}
        stored_ingest_report = visit.story.scenes.store_text(text, **fields, **statements)
    except (NovelgenError, Refusal) as error:
        return _page(visit, form_values, problem=problem_in(visit.request, error))
    # What was written is at hand again where the storing is taken back.
    draft = visit.keep_form(form_values)
    undo = "" if stored_ingest_report.change_id is None else str(stored_ingest_report.change_id)
    chapter, _, scene = (stored_ingest_report.place.position if stored_ingest_report.place else "").partition(":")
    address = project_address(visit.project_id, "story", chapter=chapter, scene=scene, draft=draft)
    call_name = "" if stored_ingest_report.place is None else _stored_places(visit, stored_ingest_report.place)
    if staging.statements and not statements:
        return led_back(address, "scene_stored_unstaged", told=call_name, undo=undo)
    if staging.names_without_card:
        names = visit.word("between_names").join(staging.names_without_card)
        return led_back(address, "scene_stored_uncarded", told=names, undo=undo)
    return led_back(address, "scene_stored", told=call_name, undo=undo)


def _stored_places(visit: Visit, place: StoredPlace) -> str:
    """Return where a text was stored, of several scenes the first and the last."""
    first = place.called or place.position
    if place.scenes == 1:
        return first
    chapter, scene = map(int, place.position.split(":"))
    mark = visit.word("between_names") if place.scenes == FEWEST_SCENES else "–"
    return f"{first}{mark}{chapter}:{scene + place.scenes - 1}"


class _Staging(NamedTuple):
    """The author's statement of place and cast at the desk."""

    statements: Mapping[str, Any]
    names_without_card: Sequence[str]


def _read_staging(visit: Visit, form: Mapping[str, str]) -> _Staging:
    """Return place and cast of the plan by id, and the names that no card bears.

    The point of view is one of the cast, as in the plan's context.
    """
    entities = visit.story.entities.list()
    names_without_card: list[str] = []

    def ids_of(names: Sequence[str], kind: EntityType) -> list[str]:
        entity_ids = []
        for name in names:
            try:
                is_place = kind == "location"
                entity = place_of_name(name, entities) if is_place else entity_of_name_or_part(name, entities, kind)
                entity_ids.append(entity.entity_id)
            except UnknownEntityError:
                names_without_card.append(name)
        return entity_ids

    names = visit.names_in(form["characters"])
    cast = ids_of([*names, *filter(None, [form["pov"].strip()])] if names else [], "character")
    locations = ids_of(list(filter(None, [form["location"].strip()])), "location")
    # A planned place without a card is none: that of the scene before would be wrong.
    places = locations or ([""] if form["location"].strip() else [])
    statements = ({"cast": cast} if cast else {}) | ({"location": places[0]} if places else {})
    return _Staging(statements, list(dict.fromkeys(names_without_card)))


def _free_place(visit: Visit, form: Mapping[str, str]) -> str:
    """Return the place at which a text is stored."""
    chapter, scene = visit.asked_scene(form)
    if (chapter, scene) == (visit.here.names.next_chapter, 1):
        return NEXT
    scenes = [number for index, number in visit.here.places if index == chapter]
    if scene in scenes:
        raise UserInputError(
            f"scene {chapter}:{scene} is stored already and stays; store this as scene {chapter}:{max(scenes) + 1},"
            " or give another chapter number"
        )
    return f"{chapter}:{scene}" if scenes else str(chapter)


def _fill_form(visit: Visit, form: Mapping[str, str]) -> dict[str, str]:
    """Return the form with its numbers filled in."""
    blank = visit.blank(*WRITE_FIELDS)
    statements = {name: form[name] for name in blank if name in form}
    form_values = blank | {
        name: value for name, value in statements.items() if value.strip() or name not in ("chapter", "scene")
    }
    call_name = form_values["chapter"].strip()
    if call_name and not call_name.isdecimal():
        place = visit.here.names.position_of(call_name)
        form_values["chapter"] = str(place.chapter_index)
        form_values["scene"] = str(place.scene_index or form_values["scene"])
    return form_values


def _show_desk(
    visit: Visit, form: dict[str, str], show: str, *, kept_text: str = "", job: Job | None = None
) -> Response:
    """Show the desk with its context or check."""
    try:
        if job is not None and job.state != "done":
            return _page(visit, form, kept_text=kept_text, job=job, problem=job.problem if job.state in OVER else None)
        if job is not None:
            check = with_waivers(visit, DraftCheck.model_validate(job.result))
            return _page(visit, form, kept_text=kept_text, job=job, check=check)
        if show == "check":
            return _page(visit, form, kept_text=kept_text, check=checked_draft(visit, {**form, "with_model": ""}))
        if is_planned(form):
            return _page(visit, form, kept_text=kept_text, page_fields=context_parts(visit, built_context(visit, form)))
    except (NovelgenError, Refusal) as error:
        return _page(visit, form, kept_text=kept_text, problem=problem_in(visit.request, error))
    return _page(visit, form, kept_text=kept_text)


def _page(
    visit: Visit,
    form: Mapping[str, str],
    *,
    kept_text: str = "",
    page_fields: Mapping[str, Any] | None = None,
    check: DraftCheck | None = None,
    job: Job | None = None,
    problem: Problem | None = None,
    is_gone: bool = False,
) -> Response:
    entities = visit.story.entities.list(as_of=visit.as_of)
    kept_as = {name: key for name, key in (("kept", kept_text), ("job", job.job_id if job else "")) if key}
    visit.narrowed = {"kept": kept_text} if kept_text else {}
    chapter = number_in(form, "chapter")
    return visit.page(
        "write",
        status=200 if problem is None or job is not None else problem.status,
        form=form,
        kept=kept_text,
        known=page_fields,
        text=form["text"],
        title_on_top=split_title(form["text"])[0],
        check=check,
        found=[] if check is None else list(enumerate(check.findings, start=1)),
        job=job,
        is_over=job is None or job.state in OVER,
        problem=problem,
        kept_as=kept_as,
        writing=None,
        repaired=[],
        is_gone=is_gone,
        called="" if chapter is None else visit.here.names.label(chapter),
        has_model=has_model(visit),
        people=[entity.name for entity in entities if entity.entity_type == "character"][:NAMES_OFFERED],
        locations=[entity.name for entity in entities if entity.entity_type == "location"][:NAMES_OFFERED],
        names={entity.entity_id: entity.name for entity in entities},
    )
