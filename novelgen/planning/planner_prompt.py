"""The texts that go into the planner's prompt: background and scene plan."""

from __future__ import annotations

from collections.abc import Iterable

from novelgen.model_calls.prompt_data import NOTHING, as_data
from novelgen.models.plan import ScenePlan
from novelgen.models.request import MemoryContextRequest
from novelgen.text.cjk import StoryLanguage

MAX_PLAN_CHARACTERS = 6000
MAX_BACKGROUND_CHARACTERS = 1500

_LABELS: dict[StoryLanguage, dict[str, str]] = {
    "en": {
        "location": "Place",
        "characters": "Characters",
        "purpose": "Purpose",
        "action": "Action",
        "title": "Story",
        "genre": "Genre",
        "world": "World",
        "chapter": "Chapter",
        "earlier": "Earlier in the chapter",
        "hint": "Remark",
    },
    "zh": {
        "location": "地点",
        "characters": "人物",
        "purpose": "目的",
        "action": "动作",
        "title": "故事",
        "genre": "类型",
        "world": "世界",
        "chapter": "章",
        "earlier": "本章之前各场",
        "hint": "提示",
    },
}


def scene_plan_text(plan: ScenePlan, language: StoryLanguage) -> str:
    """Return the plan as labelled lines, at most MAX_PLAN_CHARACTERS long, in the story's language."""
    labels = _LABELS[language]
    lines = [
        (labels["location"], plan.location),
        (labels["characters"], _joined(plan.characters, language)),
        (labels["purpose"], plan.purpose),
        *((labels["action"], action) for action in plan.key_actions),
    ]
    return _labelled(lines, language, MAX_PLAN_CHARACTERS)


def background_text(request: MemoryContextRequest, language: StoryLanguage) -> str:
    """Return what the request tells beside the plan: settings, chapter up to the scene, hints."""
    labels = _LABELS[language]
    lines = [(labels["hint"], hint) for hint in request.hints]
    if request.chapter_plan is not None:
        number = request.scene_plan.scene_number or request.scene_index
        earlier = [
            scene.purpose for scene in request.chapter_plan.scenes if (scene.scene_number or 0) < number
        ]
        lines.append((labels["chapter"], request.chapter_plan.chapter_title))
        lines += [(labels["earlier"], purpose) for purpose in earlier]
    if request.settings is not None:
        lines.append((labels["title"], request.settings.project_name))
        lines.append((labels["genre"], request.settings.genre))
        lines.append((labels["world"], request.settings.world_description))
    return _labelled(lines, language, MAX_BACKGROUND_CHARACTERS)


def _labelled(lines: Iterable[tuple[str, str]], language: StoryLanguage, max_characters: int) -> str:
    separator = "：" if language == "zh" else ": "
    said = [f"{label}{separator}{as_data(text)}" for label, text in lines if text.strip()]
    return "\n".join(said)[:max_characters] or NOTHING[language]


def _joined(names: Iterable[str], language: StoryLanguage) -> str:
    return ("、" if language == "zh" else ", ").join(names)
