"""The context of a planned scene: its form, the block as it will be sent, why what is in it, and what a change did."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, Literal, get_args

from starlette.responses import RedirectResponse, Response

from novelgen.context.context_difference import compare_contexts
from novelgen.context.lines import labels_for, render_attribute, render_timeline_entry
from novelgen.context.prompt_block import NEEDS, ContextLine
from novelgen.errors import UserInputError
from novelgen.models.context import (
    ContextDifference,
    ContextReport,
    MemoryContextRequest,
    SceneMemoryContext,
    context_document,
)
from novelgen.models.knowledge import KnowledgeMode
from novelgen.models.plan import ChapterPlan, ScenePlan
from novelgen.models.state import PRESENCE_ATTRIBUTE
from runtime.doors.http.house import READS
from runtime.doors.http.problems import Refusal
from runtime.page.frame import Frame, Here, project_address
from runtime.page.visits import Form, Visit, Visited, names_in, number_in, router, scene_of
from runtime.story.contexts import ContextBounds, ContextLook, ContextOptions
from runtime.story.scene_plans import PlannedScene, read_plan_text

PLAN_FIELDS = (
    "chapter",
    "scene",
    "purpose",
    "characters",
    "location",
    "key_actions",
    "pov",
    "knowledge",
    "memory_budget",
    "state_budget",
    "timeline_budget",
    "top_k",
)
"""The fields of the form, under the names that an address gives them."""

KNOWLEDGE_MODES: tuple[KnowledgeMode, ...] = get_args(KnowledgeMode)

MOST_TOKENS = 1_000_000


def blank_plan(here: Here) -> dict[str, str]:
    """Return the form for the scene that would be written at the page's position."""
    chapter_index, scene_index = here.next_scene
    return {**dict.fromkeys(PLAN_FIELDS, ""), "chapter": str(chapter_index), "scene": str(scene_index)}


def plan_in(given: Mapping[str, str], here: Here) -> dict[str, str]:
    """Return the form as an address or a body fills it; what it leaves out is as in a blank one."""
    return {**blank_plan(here), **{name: given[name] for name in PLAN_FIELDS if name in given}}


def told_fields(form: Mapping[str, str], here: Here) -> dict[str, str]:
    """Return the fields of a form that an address has to tell."""
    blank = blank_plan(here)
    return {name: form[name] for name in PLAN_FIELDS if form[name] != blank[name] or name in ("chapter", "scene")}


def asked_scene(form: dict[str, str]) -> tuple[int, int] | None:
    """Return the scene that a form names, or None where it names none; it may be later than the position."""
    chapter_index, scene_index = number_in(form, "chapter"), number_in(form, "scene")
    return None if chapter_index is None or scene_index is None else (chapter_index, scene_index)


def request_of(form: dict[str, str], here: Here, project_id: str) -> MemoryContextRequest:
    """Return what a form asks for, for a scene that is never later than the page's position."""
    characters = names_in(form["characters"])
    plan = ScenePlan(
        location=form["location"].strip(),
        characters=characters,
        purpose=form["purpose"].strip(),
        key_actions=[each.strip() for each in form["key_actions"].splitlines() if each.strip()],
    )
    if not (plan.location or plan.characters or plan.purpose or plan.key_actions):
        raise UserInputError("the plan is empty; say at least who appears, where, or what the scene is for")
    chapter_index, scene_index = scene_of(form, here)
    return MemoryContextRequest(
        project_id=project_id,
        chapter_index=chapter_index,
        scene_index=scene_index,
        scene_plan=plan,
        pov=form["pov"].strip(),
        knowledge=_knowledge_mode(form["knowledge"]),
        top_k=_tokens_in(form, "top_k", most=10_000),
    )


def bounds_of(form: dict[str, str]) -> ContextBounds:
    """Return the budgets that a form asks for; what is left empty stays as the settings say."""
    names = ("memory_budget", "state_budget", "timeline_budget")
    return ContextBounds(**{name: _tokens_in(form, name, most=MOST_TOKENS) for name in names})


def form_of(planned: PlannedScene) -> dict[str, str]:
    """Return the fields of a form that a plan fills."""
    plan = planned.plan
    told = {
        "chapter": str(planned.chapter_index),
        "scene": str(planned.scene_index),
        "purpose": plan.purpose,
        "characters": ", ".join(plan.characters),
        "location": plan.location,
        "key_actions": "\n".join(plan.key_actions),
        "pov": plan.pov,
    }
    return {name: value for name, value in told.items() if value}


def planned_scene(plan: ScenePlan | ChapterPlan, place: tuple[int, int]) -> PlannedScene:
    """Return the scene that a plan file plans: of a chapter's plan the scene of that number, else its first."""
    if isinstance(plan, ScenePlan):
        number = place[1] if plan.scene_number is None else plan.scene_number
        return PlannedScene(place[0], number, plan)
    if not plan.scenes:
        raise UserInputError(f"the plan of chapter {plan.chapter_number} has no scenes; plan at least one")
    number = place[1] if plan.chapter_number == place[0] else plan.scenes[0].scene_number or 0
    chosen = plan.scene(number) or plan.scenes[0]
    return PlannedScene(plan.chapter_number, chosen.scene_number or 0, chosen, plan)


def _knowledge_mode(told: str) -> KnowledgeMode | None:
    for mode in KNOWLEDGE_MODES:
        if told == mode:
            return mode
    if told:
        raise UserInputError(f"{told[:50]!r} is none of {', '.join(KNOWLEDGE_MODES)}")
    return None


def _tokens_in(form: dict[str, str], name: str, *, most: int) -> int | None:
    told = form[name].strip()
    if not told:
        return None
    if not (told.isascii() and told.isdecimal() and len(told) <= 7 and int(told) <= most):
        raise Refusal(
            422, "invalid-request", f"{name} {told[:50]!r} is no number up to {most}; write 2000, or leave it empty"
        )
    return int(told)


LONGEST_ADDRESS = 6000
"""Characters of the plan in an address; servers and proxies refuse much longer ones, so a longer plan is kept here."""

PLANS_OFFERED = 20

NAMES_OFFERED = 400

BAR_WIDTH = 1000
"""Of the picture of the tokens, in its own units."""

NOTABLE_POINTS = 0.1
"""Points from which a part of a score is told by itself."""

ContextFile = Literal["text", "json", "plan"]

FILE_ENDINGS: dict[ContextFile, str] = {"text": "prompt.txt", "json": "memory.json", "plan": "plan.json"}


@dataclass(frozen=True, slots=True)
class Group:
    """Lines of a context that serve one need."""

    need: str
    is_hidden: bool
    lines: tuple[tuple[int, ContextLine], ...]

    @property
    def tokens(self) -> int:
        """Tokens of all lines together."""
        return sum(line.tokens for _, line in self.lines)


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the picture of the tokens."""

    need: str
    tokens: int
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Changed:
    """One thing that came in, went, or is told otherwise."""

    what: str
    was: str = ""
    now: str = ""
    chapter_index: int | None = None
    scene_index: int | None = None


@router.get("/page/projects/{project_id}/context")
def context_page(visit: Visited) -> Response:
    """Show the form of a scene's plan, and with a plan in the address the context that it gives."""
    here = visit.here()
    given = dict(visit.request.query_params)
    form = _form_asked(visit, given, here)
    if "built" not in given:
        return _page(visit, here, form)
    look = _built(visit, form, here)
    shown = visit.keep_form(form, look.context)
    kept = visit.kept_form(given.get("before", ""))
    before = kept.context() if kept is not None else None
    # One of a scene after the page's position tells what must not be seen.
    is_open = before is not None and _is_open(before, here)
    return _page(visit, here, form, look=look, shown=shown, before=before if is_open else None)


@router.post("/page/projects/{project_id}/context", openapi_extra=READS)
def plan_context(visit: Visited, form: Form) -> Response:
    """Lead to the page of a plan: its address holds the plan, so that it can be read again, kept and sent."""
    here = visit.here()
    filled = plan_in(form, here)
    text = form.get("plan_text", "").strip()
    if text:
        place = asked_scene(filled) or here.next_scene
        filled = {**blank_plan(here), **form_of(planned_scene(read_plan_text(text), place))}
    # What is wrong with a form is said where it was sent, not at an address that is wrong from then on.
    request_of(filled, here, visit.served.project_id)
    bounds_of(filled)
    compared = form.get("before", "") if form.get("compare") else ""
    address = _address(visit, filled, here, before=compared)
    return RedirectResponse(f"{address}#result", status_code=303)


@router.post("/page/projects/{project_id}/context/keep")
def keep_context(visit: Visited, form: Form) -> Response:
    """Keep a context, and with it its plan, as a file of the project; then show it."""
    here = visit.here()
    filled = plan_in(form, here)
    look = _built(visit, filled, here, write_file=True)
    report = look.context.report or ContextReport()
    failed = next((each.message for each in report.issues if each.stage == "write"), None)
    if failed is not None:
        raise Refusal(507, "context-write", failed)
    return RedirectResponse(f"{_address(visit, filled, here, stored='yes')}#result", status_code=303)


@router.get("/page/projects/{project_id}/context/download")
def download_context(visit: Visited, file: ContextFile = "json") -> Response:
    """Give the block, the whole context or the plan as a file, as it was shown where that is still kept."""
    here = visit.here()
    given = dict(visit.request.query_params)
    form = _form_asked(visit, given, here)
    kept = visit.kept_form(given.get("shown", ""))
    context = kept.context() if kept is not None and dict(kept.form) == form else None
    if context is None or not _is_open(context, here):
        context = _built(visit, form, here).context
    if file == "text":
        text = context.as_prompt()
    elif file == "json":
        text = _as_json(context_document(context, is_full=True))
    else:
        plan = context.report.scene_plan if context.report else None
        text = _as_json(plan.model_dump(mode="json") if plan else {})
    name = f"scene_{context.chapter_index}_{context.scene_index}_{FILE_ENDINGS[file]}"
    kind = "text/plain" if file == "text" else "application/json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    body = text.encode("utf-8", "replace")
    return Response(body, media_type=f"{kind}; charset=utf-8", headers=headers)


def _page(
    visit: Visit,
    here: Here,
    form: dict[str, str],
    *,
    look: ContextLook | None = None,
    shown: str = "",
    before: SceneMemoryContext | None = None,
) -> Response:
    given = visit.request.query_params
    frame = visit.frame("context", here)
    if shown:
        frame.kept = [("kept", shown), ("built", "yes")]
    asked = asked_scene(form)
    known = visit.story.entities(as_of=visit.as_of)
    own_plans = visit.story.list_own_plans(until=here.next_scene, last=PLANS_OFFERED)[::-1]
    values: dict[str, Any] = {
        "form": form,
        "look": look,
        "shown": shown,
        "modes": KNOWLEDGE_MODES,
        "own_plans": [(each, _address(visit, plan_in(form_of(each), here), here)) for each in own_plans],
        "people": [each.name for each in known if each.entity_type == "character"][:NAMES_OFFERED],
        "locations": [each.name for each in known if each.entity_type == "location"][:NAMES_OFFERED],
        "is_later": asked is not None and here.as_of is not None and asked > here.next_scene,
        "is_stored": bool(given.get("stored")),
        "is_gone": bool(given.get("before") and before is None) or bool(given.get("kept") and not look),
    }
    if look is not None:
        values.update(_told(look, frame))
        values["back"] = _address(visit, form, here, before=shown)
        values["difference"] = _told_difference(before, look.context, frame) if before else None
        fields = told_fields(form, here)
        values["downloads"] = {
            file: frame.link("context/download", file=file, shown=shown, **_kept_or_told(visit, form, fields))
            for file in FILE_ENDINGS
        }
    return frame.page("context", **values)


def _form_asked(visit: Visit, given: Mapping[str, str], here: Here) -> dict[str, str]:
    kept = visit.kept_form(given.get("kept", ""))
    return plan_in(given if kept is None else kept.form, here)


def _built(visit: Visit, form: dict[str, str], here: Here, *, write_file: bool = False) -> ContextLook:
    served = visit.served
    served.house.awaken(served.project_id, served.stores)
    return visit.story.look_at_context(
        request=request_of(form, here, served.project_id),
        options=ContextOptions(model=served.house.chat_model, bounds=bounds_of(form)),
        write_file=write_file,
    )


def _is_open(context: SceneMemoryContext, here: Here) -> bool:
    return here.as_of is None or (context.chapter_index, context.scene_index) <= here.next_scene


def _address(visit: Visit, form: dict[str, str], here: Here, **more: str) -> str:
    return visit.address("context", **_kept_or_told(visit, form, told_fields(form, here)), built="yes", **more)


def _kept_or_told(visit: Visit, form: dict[str, str], told: dict[str, str]) -> dict[str, str]:
    """Return what of a form stands in an address: its fields, or where they are too long a key to them."""
    if len(project_address(visit.served.project_id, "context", **told)) <= LONGEST_ADDRESS:
        return told
    given = visit.request.query_params.get("kept", "")
    found = visit.kept_form(given)
    return {"kept": given if found is not None and dict(found.form) == form else visit.keep_form(form)}


def _told(look: ContextLook, frame: Frame) -> dict[str, Any]:
    """Return what of a context the page shows beside its block."""
    report = look.context.report or ContextReport()
    numbered = list(enumerate(look.lines, start=1))
    groups = [
        Group(need, is_hidden, tuple(lines))
        for (is_hidden, need), lines in groupby(numbered, key=lambda each: (each[1].is_hidden, each[1].need))
    ]
    chosen = [line.item for line in look.lines if line.item is not None and not line.is_hidden]
    hidden_names = look.context.hidden.names if look.context.hidden else {}
    return {
        "report": report,
        "groups": groups,
        "shares": _shares(report.tokens_per_need),
        "names": {**hidden_names, **report.names},
        "lowest": min((each.score for each in chosen), default=None),
        "numbers": {line.item.chunk_id: number for number, line in numbered if line.item is not None},
        "worded": partial(_worded_parts, frame),
        "why_not": partial(_why_not, frame),
    }


def _shares(tokens_per_need: Mapping[str, int]) -> list[Share]:
    total = sum(tokens_per_need.get(need, 0) for need in NEEDS)
    shares: list[Share] = []
    start = 0.0
    for need in NEEDS:
        tokens = tokens_per_need.get(need, 0)
        if tokens:
            width = BAR_WIDTH * tokens / total
            shares.append(Share(need, tokens, round(start, 1), round(width, 1)))
            start += width
    return shares


def _worded_parts(frame: Frame, parts: Mapping[str, float]) -> list[tuple[str, float]]:
    """Return the parts of a score in words, what weighs most first; those that hardly weigh are put together."""
    telling = sorted(
        ((name, points) for name, points in parts.items() if abs(points) >= NOTABLE_POINTS),
        key=lambda part: -abs(part[1]),
    )
    worded = [(frame.word_of("part", name), points) for name, points in telling]
    rest = sum(parts.values()) - sum(points for _, points in telling)
    return [*worded, (frame.word("part_rest"), rest)] if abs(rest) >= 0.005 else worded


def _why_not(frame: Frame, each: Any) -> str:
    """Return why something was left out, in the page's language."""
    if each.why is None:
        return str(each.reason)
    values = {
        name: frame.word_of("section", str(value)) if name == "section" else value
        for name, value in each.why.values.items()
    }
    told = frame.word(f"left_{each.why.code}", **values)
    if not each.why.lowered_as:
        return told
    parts = frame.word("between_parts").join(frame.word_of("part", name) for name in each.why.lowered_as)
    return frame.word("left_and_lowered", why=told, parts=parts)


def _told_difference(was: SceneMemoryContext, now: SceneMemoryContext, frame: Frame) -> dict[str, Any]:
    """Return what a change did: what came in, went, is told otherwise or moved, and the tokens of both."""
    difference = compare_contexts(was, now)
    changes = [
        *_changed_memories(difference),
        *_changed_states(difference, frame),
        *_changed_timeline(difference, frame),
    ]
    if difference.has_other_end:
        changes.append(Changed("left_off", was=difference.left_off_was, now=difference.left_off_now))
    sections = [
        each
        for each in ("states", "story_so_far", "left_off", "timeline", "memories", "hidden")
        if each in difference.tokens_was or each in difference.tokens_now
    ]
    return {
        "came": [each for each in changes if not each.was],
        "went": [each for each in changes if not each.now],
        "otherwise": [each for each in changes if each.was and each.now],
        "moves": difference.moves,
        "texts": {each.memory_id: each.text for each in (now.report or ContextReport()).items},
        "tokens": [(each, difference.tokens_was.get(each, 0), difference.tokens_now.get(each, 0)) for each in sections],
        "is_same": difference.is_empty,
    }


def _changed_memories(difference: ContextDifference) -> Iterable[Changed]:
    for each in difference.memories:
        yield Changed(
            "memories",
            was=each.was.text if each.was else "",
            now=each.now.text if each.now else "",
            chapter_index=each.chapter_index,
            scene_index=each.scene_index,
        )


def _changed_states(difference: ContextDifference, frame: Frame) -> Iterable[Changed]:
    labels = labels_for(frame.language)
    for each in difference.states:
        name = difference.names.get(each.entity_id, each.entity_id)
        for attribute in each.attributes:
            if attribute.attribute == PRESENCE_ATTRIBUTE:
                continue
            was, now = (
                "" if value is None else render_attribute(attribute.attribute, value, difference.names, labels)
                for value in (attribute.was, attribute.now)
            )
            yield Changed("states", was=was and f"{name} · {was}", now=now and f"{name} · {now}")


def _changed_timeline(difference: ContextDifference, frame: Frame) -> Iterable[Changed]:
    labels = labels_for(frame.language)
    for each in difference.timeline:
        was, now = (
            "" if entry is None else render_timeline_entry(each.section, entry, difference.names, labels=labels)
            for entry in (each.was, each.now)
        )
        yield Changed(each.section, was=was.removeprefix("- "), now=now.removeprefix("- "))


def _as_json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
