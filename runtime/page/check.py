"""The check of a draft: findings, waivers and a proposed repair."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel
from starlette.responses import RedirectResponse, Response

from novelgen.chains.checked_writing_chain import CheckedWriting
from novelgen.errors import NovelgenError, UserInputError
from novelgen.language.normalise import scrub_text
from novelgen.language.sentences import split_sentences
from novelgen.models.continuity import DraftCheck
from runtime.doors.http.app_state import READS, AppState, ServedProject
from runtime.doors.http.jobs import OVER, Job, JobOrder
from runtime.doors.http.problems import Problem, Refusal
from runtime.page.visits import Form, Visit, Visited, place_in, problem_in, router
from runtime.story.base import as_part
from runtime.story.scene_reading import StorySceneStates

DRAFT_FIELDS = ("pov", "text", "with_model")

DRAFT_FILE = "draft.txt"

DraftWork = Literal["check", "repair"]
"""Kinds of jobs on a draft: a model takes its time, minutes at worst."""


def offer_draft_work(app_state: AppState) -> None:
    """Tell the jobs of a server how a draft is checked with a model, and how it is repaired."""

    def work(order: JobOrder) -> BaseModel:
        requested_fields = order.job.arguments
        project = ServedProject(app_state, order.job.project_id)
        text = (order.folder / DRAFT_FILE).read_text(encoding="utf-8")
        if order.job.kind == "check":
            place = {name: requested_fields[name] for name in ("chapter_index", "scene_index")}
            return project.story.check(text, **place, pov=requested_fields["pov"] or None)
        step = project.story.checks.as_runnable(
            writer=project.speaking_model(), repair=True, use_model=requested_fields["with_model"]
        )
        return step.invoke({**requested_fields, "draft": text})

    app_state.jobs.offer("check", work)
    app_state.jobs.offer("repair", work)


@router.get("/page/projects/{project_id}/check")
def check_page(visit: Visited, kept: str = "", stored: str = "") -> Response:
    """Show the draft form, and the findings of a kept draft or a scene."""
    form = visit.blank(*DRAFT_FIELDS)
    if stored:
        return _stored_page(visit, form, stored)
    matching_form = visit.kept_form(kept) if kept else None
    if matching_form is None:
        return _page(visit, form, is_gone=bool(kept))
    form |= matching_form.form
    try:
        check = checked_draft(visit, form)
    except (NovelgenError, Refusal) as error:
        return _page(visit, form, problem=problem_in(visit.request, error))
    return _page(visit, form, check=check, kept_as={"kept": kept})


@router.post("/page/projects/{project_id}/check", openapi_extra=READS)
def check_draft(visit: Visited, form: Form) -> Response:
    """Redirect to a draft's findings, or to the job of a model's check."""
    blank = visit.blank(*DRAFT_FIELDS)
    form_values = blank | {name: form[name] for name in blank if name in form}
    try:
        draft_text(form_values)
        visit.scene_of(form_values)
        if form_values["with_model"] and has_model(visit):
            return _started(visit, form_values, "check")
    except (NovelgenError, Refusal) as error:
        return _page(visit, form_values, problem=problem_in(visit.request, error))
    key = visit.keep_form(form_values)
    if visit.kept_form(key) is None:
        return _page(visit, form_values, check=checked_draft(visit, form_values))
    return RedirectResponse(visit.link("check", kept=key), status_code=303)


@router.get("/page/projects/{project_id}/check/job")
def draft_job_page(visit: Visited, job: str) -> Response:
    """Show the progress and result of a draft's job."""
    matching_job = draft_job(visit, job)
    form = {**visit.blank(*DRAFT_FIELDS), **_draft_of(visit, matching_job)}
    if visit.here.as_of is not None and (int(form["chapter"]), int(form["scene"])) > visit.here.next_scene:
        return _page(visit, form, is_later=True)
    if matching_job.state != "done":
        return _page(
            visit, form, job=matching_job, problem=matching_job.problem if matching_job.state in OVER else None
        )
    if matching_job.kind == "check":
        return _page(
            visit, form, check=with_waivers(visit, DraftCheck.model_validate(matching_job.result)), job=matching_job
        )
    writing = CheckedWriting.model_validate(matching_job.result)
    check = with_waivers(visit, writing.first_check or writing.check)
    return _page(visit, form, check=check, job=matching_job, writing=writing)


@router.post("/page/projects/{project_id}/check/repair", openapi_extra=READS)
def propose_repair(visit: Visited, form: Form) -> Response:
    """Let the chat model propose a repair of a draft, without storing."""
    kept_form = visit.kept_form(form.get("kept", ""))
    if kept_form is None and not form.get("job"):
        raise UserInputError("the draft is no longer kept here; paste it again")
    matches = kept_form.form if kept_form is not None else _draft_of(visit, draft_job(visit, form["job"]))
    visit.served.speaking_model()
    return _started(visit, {**visit.blank(*DRAFT_FIELDS), **matches}, "repair")


@router.post("/page/projects/{project_id}/check/cancel", openapi_extra=READS)
def cancel_draft_job(visit: Visited, form: Form) -> Response:
    """End the work on a draft after the step at which it is."""
    job = draft_job(visit, form.get("job", ""))
    if job.state not in OVER:
        visit.served.app_state.jobs.cancel(job.job_id)
    return RedirectResponse(visit.link("check/job", job=job.job_id), status_code=303)


def _stored_page(visit: Visit, form: dict[str, str], stored_text: str) -> Response:
    position = place_in({"stored": stored_text}, "stored")
    if position is None or position.chapter_index is None or position.scene_index is None:
        raise UserInputError(f"{stored_text[:50]!r} is no scene; write chapter:scene such as 3:1")
    # One that lies after the position is unknown there, and says so.
    reading = visit.story.scenes.read(position=position, as_of=visit.as_of)
    chapter_index, scene_index = position.chapter_index, position.scene_index
    form |= {"chapter": str(chapter_index), "scene": str(scene_index), "text": reading.scene.text or ""}
    checks = visit.story.checks.check_stored(
        chapter_index=chapter_index, scene_index=scene_index, use_model=False
    ).checks
    return _page(visit, form, check=checks[0] if checks else None, kept_as={"stored": str(position)})


def _page(
    visit: Visit,
    form: Mapping[str, str],
    *,
    check: DraftCheck | None = None,
    problem: Problem | None = None,
    job: Job | None = None,
    writing: CheckedWriting | None = None,
    kept_as: Mapping[str, str] | None = None,
    is_gone: bool = False,
    is_later: bool = False,
) -> Response:
    known_entities = visit.story.entities.list(as_of=visit.as_of)
    if check is not None and form["chapter"].isdecimal():
        asked_place = int(form["chapter"] or 0), int(form["scene"] or 0)
        is_later = is_later or asked_place != (check.chapter_index, check.scene_index)
    kept_ids: dict[str, Any] = dict(kept_as or ({"job": job.job_id} if job else {}))
    visit.narrowed = {name: key for name, key in kept_ids.items() if name == "kept"}
    return visit.page(
        "check",
        status=200 if problem is None or job is not None else problem.status,
        form=form,
        text=scrub_text(form["text"]),
        check=check,
        found=[] if check is None else list(enumerate(check.findings, start=1)),
        problem=problem,
        job=job,
        is_over=job is None or job.state in OVER,
        writing=writing,
        repaired=changed_passages(writing.written, writing.draft) if writing and writing.is_repaired else [],
        kept_as=kept_ids,
        scenes=visit.kept(as_part(visit.story, StorySceneStates).list_states, with_counts=False),
        is_gone=is_gone,
        is_later=is_later,
        has_model=has_model(visit),
        people=[entity.name for entity in known_entities if entity.entity_type == "character"],
        names={entity.entity_id: entity.name for entity in known_entities},
        waivers=visit.story.checks.list_waivers(),
    )


def checked_draft(visit: Visit, form: Mapping[str, str]) -> DraftCheck:
    """Return a draft's check, by rules alone beside a model."""
    chapter_index, scene_index = visit.scene_of(form)
    return visit.story.check(
        text=form["text"],
        chapter_index=chapter_index,
        scene_index=scene_index,
        pov=form["pov"].strip() or None,
        # A model is asked by a job alone; that there is none is said by the check.
        use_model=bool(form["with_model"]) and not has_model(visit),
    )


def draft_text(form: Mapping[str, str]) -> str:
    """Return the text of a draft, which must not be empty."""
    text = scrub_text(form["text"])
    if not text.strip():
        raise UserInputError("the draft is empty; paste its text")
    return text


def has_model(visit: Visit) -> bool:
    """Return whether a chat model is there to judge a draft."""
    app_state, settings = visit.served.app_state, visit.served.stores.settings
    return bool(app_state.chat_model or settings.memory.summarization.model or settings.model)


def _started(visit: Visit, form: Mapping[str, str], work: DraftWork) -> Response:
    job = start_draft_work(visit, form, work)
    return RedirectResponse(visit.link("check/job", job=job.job_id), status_code=303)


def start_draft_work(visit: Visit, form: Mapping[str, str], work: DraftWork) -> Job:
    """Start the work of a model on a draft."""
    chapter_index, scene_index = visit.scene_of(form)
    text = draft_text(form)
    requested_fields = {"chapter_index": chapter_index, "scene_index": scene_index, "pov": form["pov"].strip()}
    return visit.served.app_state.jobs.start(
        work,
        visit.project_id,
        {**requested_fields, "with_model": bool(form["with_model"])},
        source=(DRAFT_FILE, text.encode("utf-8", "replace")),
    )


def draft_job(visit: Visit, job_id: str) -> Job:
    """Return a job on a draft of this project."""
    job = visit.served.app_state.jobs.get(job_id)
    if job.project_id != visit.project_id or job.kind not in ("check", "repair"):
        raise Refusal(404, "unknown-job", f"no work on a draft has the id {job_id[:50]!r}; check the draft again")
    return job


def _draft_of(visit: Visit, job: Job) -> dict[str, str]:
    """Return the form of the draft that a job works on."""
    requested_fields = job.arguments
    return {
        "chapter": str(requested_fields["chapter_index"]),
        "scene": str(requested_fields["scene_index"]),
        "pov": requested_fields["pov"],
        "with_model": "yes" if requested_fields["with_model"] else "",
        "text": visit.served.app_state.jobs.source(job.job_id, DRAFT_FILE).decode("utf-8", "replace"),
    }


def with_waivers(visit: Visit, check: DraftCheck) -> DraftCheck:
    """Return an earlier check with present waivers."""
    notes = {waiver.finding_id: waiver.note for waiver in visit.story.checks.list_waivers()}
    findings = [
        finding.model_copy(update={"waived_note": notes.get(finding.finding_id)})
        for finding in (*check.findings, *check.waived)
    ]
    return check.model_copy(
        update={
            "findings": [finding for finding in findings if finding.waived_note is None],
            "waived": [finding for finding in findings if finding.waived_note is not None],
        }
    )


class ChangedPassage(NamedTuple):
    """A stretch of two versions of a text."""

    change: Literal["same", "out", "in"]
    text: str


def changed_passages(was: str, now: str) -> list[ChangedPassage]:
    """Return two versions as one text with changed sentences marked."""
    old, new = _sentences(was), _sentences(now)
    passages: list[ChangedPassage] = []
    for tag, old_start, old_end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        went, came = "".join(old[old_start:old_end]), "".join(new[new_start:new_end])
        rendered_changed_passages = (
            [ChangedPassage("same", went)]
            if tag == "equal"
            else [ChangedPassage("out", went), ChangedPassage("in", came)]
        )
        passages += [changed_passage for changed_passage in rendered_changed_passages if changed_passage.text]
    return passages


def _sentences(text: str) -> list[str]:
    """Return a text's sentences with the gaps after them."""
    borders = sorted({0, *(start for start, _ in split_sentences(text)), len(text)})
    return [text[start:end] for start, end in pairwise(borders)]
