"""The form of a scene's plan: as the address of a page has it, as a request of a context, and filled from a plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from novelgen.errors import UserInputError
from novelgen.models.context import MemoryContextRequest
from novelgen.models.knowledge import KnowledgeMode
from novelgen.models.plan import ChapterPlan, ScenePlan
from runtime.doors.http.problems import Refusal
from runtime.page.frame import Here
from runtime.page.visits import names_in, number_in, scene_of
from runtime.story.contexts import ContextBounds
from runtime.story.scene_plans import PlannedScene

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

# Full-width separators too: names are listed with them in Chinese.


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
