"""The context of a planned scene: form, block, reasons and changes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import accumulate, groupby, pairwise
from typing import Any, Literal, NamedTuple, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from starlette.responses import RedirectResponse, Response

from novelgen.context.context_difference import compare_contexts
from novelgen.context.labels import labels_for
from novelgen.context.prompt_block import NEEDS, ContextLine
from novelgen.context.rendering import render_attribute, render_timeline_entry
from novelgen.errors import InvalidRequestError, UserInputError
from novelgen.models.context import ContextDifference, MemoryContextRequest, SceneMemoryContext, context_document
from novelgen.models.knowledge import KnowledgeMode
from novelgen.models.plan import ChapterPlan, ScenePlan
from novelgen.models.state import PRESENCE_ATTRIBUTE
from runtime.doors.http.app_state import READS
from runtime.doors.http.problems import Refusal
from runtime.files.file_reading import described
from runtime.page.frame import project_address
from runtime.page.visits import Form, Visit, Visited, router
from runtime.story.contexts import ContextBounds, ContextLook, ContextOptions, StoryContexts
from runtime.story.scene_plans import PlannedScene, StoryScenePlans, read_plan_text

Model = TypeVar("Model", bound=BaseModel)

BUDGETS = ("memory_budget", "state_budget", "timeline_budget")

PLAN_FIELDS = (*("purpose", "characters", "location", "key_actions", "pov", "knowledge", *BUDGETS, "top_k"),)
"""The fields of the form, under the names that an address gives them."""


def plan_in(visit: Visit, form: Mapping[str, str]) -> dict[str, str]:
    """Return the form of an address or body, with blank defaults."""
    blank = visit.blank(*PLAN_FIELDS)
    return blank | {name: form[name] for name in blank if name in form}


def request_of(visit: Visit, form: dict[str, str]) -> MemoryContextRequest:
    """Return the form's request, for a scene up to the page's position."""
    plan = ScenePlan(
        location=form["location"].strip(),
        characters=visit.names_in(form["characters"]),
        purpose=form["purpose"].strip(),
        key_actions=[splitline.strip() for splitline in form["key_actions"].splitlines() if splitline.strip()],
    )
    if not is_planned(form):
        raise UserInputError("the plan is empty; say at least who appears, where, or what the scene is for")
    chapter_index, scene_index = visit.scene_of(form)
    place = {
        "project_id": visit.project_id,
        "chapter_index": chapter_index,
        "scene_index": scene_index,
        "scene_plan": plan,
    }
    return _fill_model(MemoryContextRequest, form, "pov", "knowledge", "top_k", **place)


def bounds_of(form: dict[str, str]) -> ContextBounds:
    """Return the form's budgets, by default those of the settings."""
    return _fill_model(ContextBounds, form, *BUDGETS)


def _fill_model(model: type[Model], form: Mapping[str, str], *names: str, **value: Any) -> Model:
    """Return a model out of fields of a form that are not empty."""
    statements = {name: form[name].strip() for name in names if form[name].strip()}
    try:
        return model.model_validate({**value, **statements})
    except ValidationError as error:
        raise InvalidRequestError(described(error)) from error


def form_of(visit: Visit, planned: PlannedScene) -> dict[str, str]:
    """Return the fields of a form that a plan fills."""
    plan = planned.plan
    fields = {
        **{name: getattr(plan, name) for name in ("purpose", "location", "pov")},
        "chapter": str(planned.chapter_index),
        "scene": str(planned.scene_index),
        "characters": visit.word("between_names").join(plan.characters),
        "key_actions": "\n".join(plan.key_actions),
    }
    return {name: value for name, value in fields.items() if value}


def planned_scene(plan: ScenePlan | ChapterPlan, place: tuple[int, int]) -> PlannedScene:
    """Return the scene that a plan file plans: of a chapter's plan the scene of that number, else its first."""
    if isinstance(plan, ScenePlan):
        number = place[1] if plan.scene_number is None else plan.scene_number
        return PlannedScene(place[0], number, plan)
    if not plan.scenes:
        raise UserInputError(f"the plan of chapter {plan.chapter_number} has no scenes; plan at least one")
    number = place[1] if plan.chapter_number == place[0] else plan.scenes[0].scene_number or 0
    chosen_plan = plan.scene(number) or plan.scenes[0]
    return PlannedScene(plan.chapter_number, chosen_plan.scene_number or 0, chosen_plan, plan)


LONGEST_ADDRESS = 6000
"""Characters of the plan in an address; servers and proxies refuse much longer ones, so a longer plan is kept here."""

PLANS_OFFERED = 20

NAMES_OFFERED = 400

BAR_WIDTH = 1000
"""Of the picture of the tokens, in its own units."""

MIN_SHOWN_POINTS = 0.1
"""Points from which a part of a score is told by itself."""

ContextFile = Literal["text", "json", "plan"]

FILE_ENDINGS: dict[ContextFile, str] = {"text": "prompt.txt", "json": "memory.json", "plan": "plan.json"}


class Group(NamedTuple):
    """Lines of a context that serve one need, each with its number."""

    need: str
    is_hidden: bool
    lines: list[tuple[int, ContextLine]]
    tokens: int


class Share(NamedTuple):
    """A part of the picture of the tokens."""

    need: str
    tokens: int
    start: float
    width: float


class Changed(NamedTuple):
    """One changed item, with the place of a memory."""

    what: str
    was: str = ""
    now: str = ""
    at: Any = None


@router.get("/page/projects/{project_id}/context")
def context_page(visit: Visited) -> Response:
    """Show the form of a scene's plan, and with a plan in the address the context that it gives."""
    values = dict(visit.request.query_params)
    form = _form_asked(visit, values)
    if "built" not in values:
        return _page(visit, form)
    look = built_context(visit, form)
    shown_text = visit.keep_form(form, look.context)
    kept_form = visit.kept_form(values.get("before", ""))
    before = kept_form.context() if kept_form is not None else None
    # One of a scene after the page's position tells what must not be seen.
    is_open = before is not None and _is_open(visit, before)
    return _page(visit, form, look=look, shown_text=shown_text, before=before if is_open else None)


@router.post("/page/projects/{project_id}/context", openapi_extra=READS)
def plan_context(visit: Visited, form: Form) -> Response:
    """Redirect to a plan's page, with the plan in its address."""
    form_values = plan_in(visit, form)
    text = form.get("plan_text", "").strip()
    if text:
        place = visit.asked_scene(form_values)
        form_values = plan_in(visit, form_of(visit, planned_scene(read_plan_text(text), place)))
    # What is wrong with a form is said where it was sent, not at an address that is wrong from then on.
    request_of(visit, form_values)
    bounds_of(form_values)
    compared = form.get("before", "") if form.get("compare") else ""
    address = _address(visit, form_values, before=compared)
    return RedirectResponse(f"{address}#result", status_code=303)


@router.post("/page/projects/{project_id}/context/keep")
def keep_context(visit: Visited, form: Form) -> Response:
    """Store a context and its plan in the project, then show it."""
    form_values = plan_in(visit, form)
    look = built_context(visit, form_values, write_file=True)
    report = look.context.report
    failed = next((issue.message for issue in report.issues if issue.stage == "write"), None)
    if failed is not None:
        raise Refusal(507, "context-write", failed)
    return RedirectResponse(f"{_address(visit, form_values, stored='yes')}#result", status_code=303)


@router.get("/page/projects/{project_id}/context/download")
def download_context(visit: Visited, file: ContextFile = "json") -> Response:
    """Download the shown block, context or plan."""
    values = dict(visit.request.query_params)
    form = _form_asked(visit, values)
    kept_form = visit.kept_form(values.get("shown", ""))
    context = kept_form.context() if kept_form is not None and dict(kept_form.form) == form else None
    if context is None or not _is_open(visit, context):
        context = built_context(visit, form).context
    if file == "text":
        text = context.as_prompt()
    elif file == "json":
        text = _as_json(context_document(context, is_full=True))
    else:
        plan = context.report.scene_plan
        text = _as_json(plan.model_dump(mode="json") if plan else {})
    name = f"scene_{context.chapter_index}_{context.scene_index}_{FILE_ENDINGS[file]}"
    kind = "text/plain" if file == "text" else "application/json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    body = text.encode("utf-8", "replace")
    return Response(body, media_type=f"{kind}; charset=utf-8", headers=headers)


def _page(
    visit: Visit,
    form: dict[str, str],
    *,
    look: ContextLook | None = None,
    shown_text: str = "",
    before: SceneMemoryContext | None = None,
) -> Response:
    query_params = visit.request.query_params
    if shown_text:
        visit.narrowed = {"kept": shown_text, "built": "yes"}
    known_entities = visit.story.entities.list(as_of=visit.as_of)
    plans = StoryScenePlans(visit.served.stores, visit.served.project_id)
    own_plans = plans.list_own_plans(until=visit.here.next_scene, last=PLANS_OFFERED)[::-1]
    values: dict[str, Any] = {
        "form": form,
        "look": look,
        "shown": shown_text,
        "modes": get_args(KnowledgeMode),
        "own_plans": [(plan, _address(visit, plan_in(visit, form_of(visit, plan)))) for plan in own_plans],
        "people": [entity.name for entity in known_entities if entity.entity_type == "character"][:NAMES_OFFERED],
        "locations": [entity.name for entity in known_entities if entity.entity_type == "location"][:NAMES_OFFERED],
        "is_later": visit.as_of is not None and visit.asked_scene(form) > visit.here.next_scene,
        "is_stored": bool(query_params.get("stored")),
        "is_gone": bool(query_params.get("before") and before is None) or bool(query_params.get("kept") and not look),
    }
    if look is not None:
        values.update(context_parts(visit, look))
        values["known"] = {name: values[name] for name in ("look", "report", "groups")}
        values["back"] = _address(visit, form, before=shown_text)
        values["difference"] = _told_difference(visit, before, look.context) if before else None
        values["downloads"] = {
            file: visit.link("context/download", file=file, shown=shown_text, **_kept_or_told(visit, form))
            for file in FILE_ENDINGS
        }
    return visit.page("context", **values)


def _form_asked(visit: Visit, values: Mapping[str, str]) -> dict[str, str]:
    kept_form = visit.kept_form(values.get("kept", ""))
    return plan_in(visit, values if kept_form is None else kept_form.form)


def is_planned(form: Mapping[str, str]) -> bool:
    """Return whether a form plans anything."""
    return any(form[name].strip() for name in ("location", "characters", "purpose", "key_actions"))


def built_context(visit: Visit, form: dict[str, str], *, write_file: bool = False) -> ContextLook:
    """Return the context of a form's plan, with the lines of its block."""
    served = visit.served
    served.app_state.awaken(served.project_id, served.stores)
    return StoryContexts(served.stores, served.project_id, chat_model=served.app_state.chat_model).look_at_context(
        request=request_of(visit, form),
        options=ContextOptions(model=served.app_state.chat_model, bounds=bounds_of(form)),
        write_file=write_file,
    )


def _is_open(visit: Visit, context: SceneMemoryContext) -> bool:
    return visit.as_of is None or (context.chapter_index, context.scene_index) <= visit.here.next_scene


def _address(visit: Visit, form: dict[str, str], **more: str) -> str:
    return visit.link("context", **_kept_or_told(visit, form), built="yes", **more)


def _kept_or_told(visit: Visit, form: dict[str, str]) -> dict[str, str]:
    """Return a form's fields for an address, or a key for long ones."""
    texts = {name: value for name, value in form.items() if value}
    if len(project_address(visit.project_id, "context", **texts)) <= LONGEST_ADDRESS:
        return texts
    given_text = visit.request.query_params.get("kept", "")
    matching_form = visit.kept_form(given_text)
    return {
        "kept": given_text if matching_form is not None and dict(matching_form.form) == form else visit.keep_form(form)
    }


def context_parts(visit: Visit, look: ContextLook) -> dict[str, Any]:
    """Return the parts of a context beside its block."""
    report = look.context.report
    numbered_lines = list(enumerate(look.lines, start=1))
    by_need = groupby(numbered_lines, key=lambda pair: (pair[1].need, pair[1].is_hidden))
    groups = [
        Group(*serves, line_pairs, sum(context_line.tokens for _, context_line in line_pairs))
        for serves, lines in by_need
        if (line_pairs := list(lines))
    ]
    context_items = [line.item for line in look.lines if line.item is not None and not line.is_hidden]
    hidden_names = look.context.hidden.names if look.context.hidden else {}
    return {
        "look": look,
        "report": report,
        "groups": groups,
        "shares": _shares(report.tokens_per_need),
        "names": {**hidden_names, **report.names},
        "lowest": min((context_item.score for context_item in context_items), default=None),
        "numbers": {line.item.chunk_id: number for number, line in numbered_lines if line.item is not None},
        "worded": partial(_worded_parts, visit),
        "why_not": partial(_why_not, visit),
    }


def _shares(tokens_per_need: Mapping[str, int]) -> list[Share]:
    spent_counts = {need: tokens_per_need[need] for need in NEEDS if tokens_per_need.get(need)}
    ends = list(
        accumulate((BAR_WIDTH * tokens / sum(spent_counts.values()) for tokens in spent_counts.values()), initial=0.0)
    )
    return [
        Share(need, tokens, round(start, 1), round(end - start, 1))
        for (need, tokens), (start, end) in zip(spent_counts.items(), pairwise(ends), strict=True)
    ]


def _worded_parts(visit: Visit, parts: Mapping[str, float]) -> list[tuple[str, float]]:
    """Return score parts in words, the weightiest first and small ones combined."""
    telling = sorted(
        ((name, points) for name, points in parts.items() if abs(points) >= MIN_SHOWN_POINTS),
        key=lambda part: -abs(part[1]),
    )
    score_labels = [(visit.word_of("part", name), points) for name, points in telling]
    rest = sum(parts.values()) - sum(points for _, points in telling)
    return [*score_labels, (visit.word("part_rest"), rest)] if abs(rest) >= 0.005 else score_labels


def _why_not(visit: Visit, item: Any) -> str:
    """Return why something was left out, in the page's language."""
    if item.why is None:
        return str(item.reason)
    values = {
        name: visit.word_of("section", str(value)) if name == "section" else value
        for name, value in item.why.values.items()
    }
    text = visit.word(f"left_{item.why.code}", **values)
    if not item.why.lowered_as:
        return text
    parts = visit.word("between_parts").join(visit.word_of("part", name) for name in item.why.lowered_as)
    return visit.word("left_and_lowered", why=text, parts=parts)


def _told_difference(visit: Visit, was: SceneMemoryContext, now: SceneMemoryContext) -> dict[str, Any]:
    """Return the difference of two contexts, with both token counts."""
    difference = compare_contexts(was, now)
    changes = list(_changes(visit, difference))
    sections = [
        kind
        for kind in ("states", "story_so_far", "left_off", "timeline", "memories", "hidden")
        if kind in difference.tokens_was or kind in difference.tokens_now
    ]
    return {
        "came": [changed for changed in changes if not changed.was],
        "went": [changed for changed in changes if not changed.now],
        "otherwise": [changed for changed in changes if changed.was and changed.now],
        "moves": difference.moves,
        "texts": {context_item.memory_id: context_item.text for context_item in now.report.items},
        "tokens": [
            (section, difference.tokens_was.get(section, 0), difference.tokens_now.get(section, 0))
            for section in sections
        ],
        "is_same": difference.is_empty,
    }


def _changes(visit: Visit, difference: ContextDifference) -> Iterable[Changed]:
    labels, names = labels_for(visit.language), difference.names
    for memory in difference.memories:
        was, now = (
            "" if memory_wording is None else memory_wording.text for memory_wording in (memory.was, memory.now)
        )
        yield Changed("memories", was, now, memory if memory.chapter_index is not None else None)
    for state in difference.states:
        name = names.get(state.entity_id, state.entity_id)
        for attribute in state.attributes:
            if attribute.attribute != PRESENCE_ATTRIBUTE:
                was, now = (
                    "" if value is None else render_attribute(attribute.attribute, value, names, labels)
                    for value in (attribute.was, attribute.now)
                )
                yield Changed("states", was and f"{name} · {was}", now and f"{name} · {now}")
    for entry in difference.timeline:
        was, now = (
            ""
            if fields is None
            else render_timeline_entry(entry.section, fields, names, labels=labels).removeprefix("- ")
            for fields in (entry.was, entry.now)
        )
        yield Changed(entry.section, was, now)
    if difference.has_other_end:
        yield Changed("left_off", difference.left_off_was, difference.left_off_now)


def _as_json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
