"""From a request and what is known of the story to the plan of what to look up."""

from __future__ import annotations

import time

from pydantic import BaseModel

from novelgen.memory.outline import StoryOutline
from novelgen.models.request import MemoryContextRequest
from novelgen.names.resolver import NameResolver
from novelgen.planning.model_planner import ModelPlanner
from novelgen.planning.retrieval_plan import RetrievalPlan, merge_plans
from novelgen.planning.rules import plan_by_rules
from novelgen.planning.stage import recently_on_stage
from novelgen.text.cjk import StoryLanguage, story_language

PRESENT_SCENES = 8
"""Who was on stage in so many last scenes decides whom an ambiguous name means."""


class PlannedScene(BaseModel):
    """The plan, and the seconds that the model took for its part."""

    plan: RetrievalPlan
    model_time_s: float = 0.0


def known_story(request: MemoryContextRequest, outline: StoryOutline | None) -> StoryOutline:
    """Return the outline, or an empty one where the story could not be read."""
    return outline if outline is not None else StoryOutline(project_id=request.project_id)


def language_of(request: MemoryContextRequest, outline: StoryOutline) -> StoryLanguage:
    """Return the story's language: as its settings say, as stored, else as the plan is written."""
    stated = (request.settings.language if request.settings else "") or outline.language
    if stated:
        return "zh" if stated.lower().startswith(("zh", "cn", "中")) else "en"
    plan = request.scene_plan
    return story_language(" ".join([plan.location, plan.purpose, *plan.key_actions]))


def plan_scene(
    request: MemoryContextRequest, outline: StoryOutline | None, *, planner: ModelPlanner | None
) -> PlannedScene:
    """Plan by rules, and add what a model plans where there is one.

    Args:
        request: The planned scene.
        outline: The story before it; None when it could not be read, so that nobody is known.
        planner: The model's planner, or None.
    """
    story = known_story(request, outline)
    names = NameResolver(story.entities, present_ids=recently_on_stage(story, scenes=PRESENT_SCENES))
    rules = plan_by_rules(
        request.scene_plan,
        entities=story.entities,
        names=names,
        characters=request.characters,
        hints=request.hints,
    )
    if planner is None:
        return PlannedScene(plan=rules)
    started_s = time.monotonic()
    by_model = planner.plan(
        request,
        entities=story.entities,
        names=names,
        language=language_of(request, story),
        touched_ids=rules.entity_ids,
    )
    return PlannedScene(plan=merge_plans(rules, by_model), model_time_s=time.monotonic() - started_s)
