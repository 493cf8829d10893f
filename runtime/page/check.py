"""What a draft contradicts, what is meant so, and a proposal how it could be mended."""

from __future__ import annotations

import re
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import RedirectResponse, Response

from novelgen.chains.checked_writing_chain import CheckedWriting
from novelgen.checking.rules import RULES
from novelgen.errors import NovelgenError, UserInputError
from novelgen.language.scrub import scrub_text
from novelgen.models.continuity import ContinuityIssue, DraftCheck
from novelgen.models.position import StoryPosition
from runtime.doors.http.house import READS, House, ServedProject
from runtime.doors.http.jobs import OVER, Job, JobOrder
from runtime.doors.http.problems import Problem, Refusal, problem_of
from runtime.page.frame import Here, project_address
from runtime.page.passages import changed_passages
from runtime.page.visits import Form, PageRoute, Visit, Visited, scene_of
from runtime.story.continuity import StoryContinuity
from runtime.story.entities import StoryEntities
from runtime.story.scene_reading import StorySceneReading

router = APIRouter(route_class=PageRoute, include_in_schema=False)

DRAFT_FIELDS = ("chapter", "scene", "pov", "text", "with_model")

DRAFT_FILE = "draft.txt"

DraftWork = Literal["check", "repair"]
"""Kinds of jobs on a draft: a model takes its time, minutes at worst."""

_PLACE = re.compile(r"([0-9]{1,7}):([0-9]{1,7})")


def offer_draft_work(house: House) -> None:
    """Tell the jobs of a house how a draft is checked with a model, and how it is repaired."""

    def check(order: JobOrder) -> BaseModel:
        asked = order.job.arguments
        project = ServedProject(house, order.job.project_id)
        return project.story.check(
            (order.folder / DRAFT_FILE).read_text(encoding="utf-8"),
            chapter_index=asked["chapter_index"],
            scene_index=asked["scene_index"],
            pov=asked["pov"] or None,
        )

    def repair(order: JobOrder) -> BaseModel:
        asked = order.job.arguments
        project = ServedProject(house, order.job.project_id)
        step = project.story.check_step(writer=project.speaking_model(), repair=True, use_model=asked["with_model"])
        text = (order.folder / DRAFT_FILE).read_text(encoding="utf-8")
        return step.invoke({**asked, "draft": text})

    house.jobs.offer("check", check)
    house.jobs.offer("repair", repair)


@router.get("/page/projects/{project_id}/check")
def check_page(visit: Visited, kept: str = "", stored: str = "") -> Response:
    """Show the form for a draft; of a draft that is kept, or of a stored scene, also what it contradicts."""
    here = visit.here()
    if stored:
        return _stored_page(visit, here, stored)
    if not kept:
        return _page(visit, here, blank_draft(here))
    found = visit.served.house.kept_forms.find(visit.served.project_id, kept)
    if found is None:
        return _page(visit, here, blank_draft(here), is_gone=True)
    form = {**blank_draft(here), **found.form}
    try:
        check = _checked(visit, here, form)
    except (NovelgenError, Refusal) as error:
        return _page(visit, here, form, problem=_problem(visit, error))
    return _page(visit, here, form, check=check, kept=kept)


@router.post("/page/projects/{project_id}/check", openapi_extra=READS)
def check_draft(visit: Visited, form: Form) -> Response:
    """Lead to what a draft contradicts; where a model shall look at it, to the job that does."""
    here = visit.here()
    filled = {**blank_draft(here), **{name: form[name] for name in DRAFT_FIELDS if name in form}}
    try:
        if not filled["text"].strip():
            raise UserInputError("the draft is empty; paste its text")
        scene_of(filled, here)
        if filled["with_model"] and _has_model(visit):
            return _started(visit, here, filled, "check")
    except (NovelgenError, Refusal) as error:
        return _page(visit, here, filled, problem=_problem(visit, error))
    key = visit.served.house.kept_forms.keep(visit.served.project_id, filled)
    if visit.served.house.kept_forms.find(visit.served.project_id, key) is None:
        return _page(visit, here, filled, check=_checked(visit, here, filled))
    return RedirectResponse(_address(visit, here, "check", kept=key), status_code=303)


@router.get("/page/projects/{project_id}/check/job")
def draft_job_page(visit: Visited, job: str) -> Response:
    """Show how far the work on a draft is, and what it came to."""
    here = visit.here()
    found = _job_of(visit, job)
    asked = found.arguments
    text = visit.served.house.jobs.source(found.job_id, DRAFT_FILE).decode("utf-8", "replace")
    form = {
        **blank_draft(here),
        "chapter": str(asked["chapter_index"]),
        "scene": str(asked["scene_index"]),
        "pov": asked["pov"],
        "text": text,
        "with_model": "yes" if asked["with_model"] else "",
    }
    if here.as_of is not None and (asked["chapter_index"], asked["scene_index"]) > here.next_scene:
        return _page(visit, here, form, is_later=True)
    if found.state not in OVER:
        return _page(visit, here, form, job=found)
    if found.state != "done":
        return _page(visit, here, form, job=found, problem=found.problem)
    if found.kind == "check":
        check = _with_waivers(visit, DraftCheck.model_validate(found.result))
        return _page(visit, here, form, check=check, job=found)
    writing = CheckedWriting.model_validate(found.result)
    check = _with_waivers(visit, writing.first_check or writing.check)
    return _page(visit, here, form, check=check, job=found, writing=writing)


@router.post("/page/projects/{project_id}/check/repair", openapi_extra=READS)
def propose_repair(visit: Visited, form: Form) -> Response:
    """Let the chat model change what was found in a draft; it is a proposal, and nothing is stored."""
    here = visit.here()
    filled = {**blank_draft(here), **_found_draft(visit, form)}
    visit.served.speaking_model()
    return _started(visit, here, filled, "repair")


@router.post("/page/projects/{project_id}/check/cancel", openapi_extra=READS)
def cancel_draft_job(visit: Visited, form: Form) -> Response:
    """End the work on a draft after the step at which it is."""
    here = visit.here()
    job = _job_of(visit, form.get("job", ""))
    if job.state not in OVER:
        visit.served.house.jobs.cancel(job.job_id)
    return RedirectResponse(_address(visit, here, "check/job", job=job.job_id), status_code=303)


def blank_draft(here: Here) -> dict[str, str]:
    """Return the form for a draft of the scene that would be written at the page's position."""
    chapter_index, scene_index = here.next_scene
    return {**dict.fromkeys(DRAFT_FIELDS, ""), "chapter": str(chapter_index), "scene": str(scene_index)}


def _stored_page(visit: Visit, here: Here, stored: str) -> Response:
    told = _PLACE.fullmatch(stored)
    if told is None:
        raise UserInputError(f"{stored[:50]!r} is no scene; write chapter:scene such as 3:1")
    place = (int(told[1]), int(told[2]))
    stores, project_id = visit.served.stores, visit.served.project_id
    # One that lies after the position is unknown there, and says so.
    read = StorySceneReading(stores, project_id).read_scene(position=StoryPosition(*place), as_of=visit.as_of)
    form = {**blank_draft(here), "chapter": told[1], "scene": told[2], "text": read.scene.text or ""}
    visit.served.house.awaken(project_id, stores)
    checks = (
        StoryContinuity(stores, project_id)
        .check_stored(chapter_index=place[0], scene_index=place[1], use_model=False)
        .checks
    )
    return _page(visit, here, form, check=checks[0] if checks else None, stored=place)


def _page(
    visit: Visit,
    here: Here,
    form: dict[str, str],
    *,
    check: DraftCheck | None = None,
    problem: Problem | None = None,
    job: Job | None = None,
    writing: CheckedWriting | None = None,
    kept: str = "",
    stored: tuple[int, int] | None = None,
    is_gone: bool = False,
    is_later: bool = False,
) -> Response:
    stores, project_id = visit.served.stores, visit.served.project_id
    known = StoryEntities(stores, project_id).entities(as_of=visit.as_of)
    asked = (int(form["chapter"] or 0), int(form["scene"] or 0)) if form["chapter"].isdecimal() else None
    if check is not None and asked is not None and asked != (check.chapter_index, check.scene_index):
        is_later = True
    kept_as = {"kept": kept, "stored": ":".join(map(str, stored or ())), "job": job.job_id if job else ""}
    frame = visit.frame("check", here)
    frame.kept = [("kept", kept)] if kept else []
    return frame.page(
        "check",
        status=200 if problem is None or job is not None else problem.status,
        form=form,
        text=scrub_text(form["text"]),
        check=check,
        found=[] if check is None else list(enumerate(check.issues, start=1)),
        problem=problem,
        job=job,
        is_over=job is None or job.state in OVER,
        writing=writing,
        repaired=changed_passages(writing.written, writing.draft) if writing and writing.is_repaired else [],
        kept_as={name: value for name, value in kept_as.items() if value},
        stored=stored,
        scenes=visit.kept(StorySceneReading.list_scene_states, with_counts=False),
        is_gone=is_gone,
        is_later=is_later,
        has_model=_has_model(visit),
        people=[each.name for each in known if each.entity_type == "character"],
        names={each.entity_id: each.name for each in known},
        rules_left=[each.__name__ for each in RULES if check and each.__name__ not in check.checked.rules],
        waivers=StoryContinuity(stores, project_id).waived_findings(),
    )


def _checked(visit: Visit, here: Here, form: dict[str, str]) -> DraftCheck:
    chapter_index, scene_index = scene_of(form, here)
    visit.served.house.awaken(visit.served.project_id, visit.served.stores)
    return StoryContinuity(visit.served.stores, visit.served.project_id).check(
        text=form["text"],
        chapter_index=chapter_index,
        scene_index=scene_index,
        pov=form["pov"].strip() or None,
        model=visit.served.house.chat_model,
        # A model is asked by a job alone; that there is none is said by the check.
        use_model=bool(form["with_model"]) and not _has_model(visit),
    )


def _has_model(visit: Visit) -> bool:
    house, settings = visit.served.house, visit.served.stores.settings
    return bool(house.chat_model or settings.memory.summarization.model or settings.model)


def _started(visit: Visit, here: Here, form: dict[str, str], work: DraftWork) -> Response:
    chapter_index, scene_index = scene_of(form, here)
    text = scrub_text(form["text"])
    if not text.strip():
        raise UserInputError("the draft is empty; paste its text")
    job = visit.served.house.jobs.start(
        work,
        visit.served.project_id,
        {
            "chapter_index": chapter_index,
            "scene_index": scene_index,
            "pov": form["pov"].strip(),
            "with_model": bool(form["with_model"]),
        },
        source=(DRAFT_FILE, text.encode("utf-8", "replace")),
    )
    return RedirectResponse(_address(visit, here, "check/job", job=job.job_id), status_code=303)


def _job_of(visit: Visit, job_id: str) -> Job:
    """Return a job on a draft of this project."""
    job = visit.served.house.jobs.get(job_id)
    if job.project_id != visit.served.project_id or job.kind not in ("check", "repair"):
        raise Refusal(404, "unknown-job", f"no work on a draft has the id {job_id[:50]!r}; check the draft again")
    return job


def _found_draft(visit: Visit, form: dict[str, str]) -> dict[str, str]:
    """Return the draft that a form of a finding is about."""
    kept = visit.served.house.kept_forms.find(visit.served.project_id, form.get("kept", ""))
    if kept is not None:
        return dict(kept.form)
    if not form.get("job"):
        raise UserInputError("the draft is no longer kept here; paste it again")
    job = _job_of(visit, form["job"])
    asked = job.arguments
    return {
        "chapter": str(asked["chapter_index"]),
        "scene": str(asked["scene_index"]),
        "pov": asked["pov"],
        "with_model": "yes" if asked["with_model"] else "",
        "text": visit.served.house.jobs.source(job.job_id, DRAFT_FILE).decode("utf-8", "replace"),
    }


def _with_waivers(visit: Visit, check: DraftCheck) -> DraftCheck:
    """Return a check of some time ago with what is meant so by now."""
    waivers = StoryContinuity(visit.served.stores, visit.served.project_id).waived_findings()
    notes = {each.issue_id: each.note for each in waivers}
    told: list[ContinuityIssue] = [
        each.model_copy(update={"waived_note": notes.get(each.issue_id)}) for each in (*check.issues, *check.waived)
    ]
    return check.model_copy(
        update={
            "issues": [each for each in told if each.waived_note is None],
            "waived": [each for each in told if each.waived_note is not None],
        }
    )


def _problem(visit: Visit, error: NovelgenError | Refusal) -> Problem:
    if isinstance(error, Refusal):
        return error.problem
    return problem_of(error, folders=[visit.served.house.stores.settings.projects_dir])


def _address(visit: Visit, here: Here, view: str, **query: Any) -> str:
    return project_address(visit.served.project_id, view, as_of=here.query, **query)
